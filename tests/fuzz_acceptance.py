"""Check the summary of `fix --provider X --level lossy`: accepted, or not accepted with the remaining errors.

Each case is a conversation of `fuzz_pairs`, in half of the cases with further faults in its JSON. `lint --provider X`
checks the repaired bytes. As a program:

    python tests/fuzz_acceptance.py [--form NAME]... [--provider NAME]... [--seed N] [--n N] [--show N]
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple

import fuzz_promises
from breaking_wires import WIRES
from fuzz_pairs import FORMS, PROVIDERS, data_of, make
from turnlint.aggregation import aggregate
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Event, Options, lint
from turnlint.keeping.patches import patched
from turnlint.repair.choosing import Policy
from turnlint.repair.outcome import Fixed
from turnlint.repair.passes import fix
from turnlint.report.accepted import Terms, acceptances
from turnlint.report.repaired import Done
from turnlint.rows import Row


class Case(NamedTuple):
    """The bytes of a log, its format, and the provider that receives it."""

    form: str
    provider: str
    data: bytes


class Answer(NamedTuple):
    """The output of a run of `fix`."""

    fixed: Fixed
    after: bytes
    left: list[Row]
    """Errors that `lint` finds afterwards."""


@lru_cache(maxsize=512)
def terms(form: str, provider: str) -> tuple[Options, Book, Policy]:
    options = Options(format=form, providers=(provider,))
    return options, Book(options), Policy(level="lossy", named=frozenset((provider,)))


def case_of(form: str, provider: str, number: int, seed: int) -> Case:
    name = f"{seed} {form} {provider} {number}"
    data = data_of(make(form, name))
    rng = Random(f"{name} faults")  # noqa: S311 - the same in every run
    if rng.random() < 0.5:
        records = [json.loads(line) for line in data.splitlines()]
        # Faults of a request are faults of its messages: a request without its list of messages has another format.
        inner = records[0][WIRES[form].key] if form in WIRES else records[1:]
        for _ in range(rng.choice((1, 1, 2))):
            fuzz_promises.broken(inner, rng)
        if form not in WIRES:
            records[1:] = inner
        data = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    return Case(form, provider, data)


def repaired(case: Case) -> Answer:
    options, book, policy = terms(case.form, case.provider)

    def judged(source: Source) -> Iterator[Event]:
        for event in lint(source, options, book):
            assert not isinstance(event, Crash), event
            yield event

    source = Source("transcript", None, data=case.data)
    fixed = fix(source, options, book, policy, None, lambda result: aggregate(judged(result)))
    after = b"".join(patched(source, fixed.patches)) if fixed.patches else case.data
    rows = [
        item
        for item in aggregate(judged(Source("transcript", None, data=after)))
        if isinstance(item, Row) and item.finding.severity == "error"
    ]
    return Answer(fixed, after, rows)


def wrong(case: Case, answer: Answer) -> Iterator[str]:
    """False statements in the output or in the exit code of a run."""
    fixed, left = answer.fixed, answer.left
    if fixed.foreign or fixed.problem:
        return
    if bool(left) != bool(fixed.after["error"]):
        yield "the exit code is not true"
    verdicts = [*acceptances([Done("transcript", fixed)], Terms(providers=(case.provider,)))]
    if len(verdicts) != 1:
        yield f"{len(verdicts)} answers"
    missing = Counter(f"{item.finding.code} {item.finding.rule}" for item in left)
    for verdict in verdicts:
        if verdict.accepted is None and not verdict.reason:
            yield "unknown without a reason"
        if verdict.accepted and left:
            yield f"accepted with {sorted(missing)}"
        if verdict.accepted is None and left:
            yield f"unknown with {sorted(missing)}"
        if verdict.accepted is False and verdict.missing != missing:
            yield f"missing is {sorted(verdict.missing)}, not {sorted(missing)}"
    noted = {item.line for item in (*fixed.failures, *fixed.notes, *fixed.unmade)}
    for row in left:
        if row.finding.fix and row.finding.fix.is_done_here and not noted:
            yield f"not made and not noted: {row.finding.code} {row.finding.fix.title}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Break and repair conversations, and lint the accepted ones."
    )
    parser.add_argument("--form", action="append", choices=FORMS, help="only this one; may be given again")
    parser.add_argument(
        "--provider", action="append", choices=PROVIDERS, help="only this one; may be given again"
    )
    parser.add_argument("--seed", type=int, default=20261119)
    parser.add_argument("--n", type=int, default=40, help="conversations for each format and provider")
    parser.add_argument("--show", type=int, default=1, help="how many cases of each fault are named")
    arguments = parser.parse_args()
    faults: Counter[str] = Counter()
    rest: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    count = dirty = refused = 0
    for form in arguments.form or FORMS:
        for provider in arguments.provider or PROVIDERS:
            for number in range(arguments.n):
                case = case_of(form, provider, number, arguments.seed)
                name = f"case_of({form!r}, {provider!r}, {number}, {arguments.seed})"
                count += 1
                try:
                    answer = repaired(case)
                    problems = [*wrong(case, answer)]
                except Exception as error:  # noqa: BLE001 - a crash is a finding too
                    problems = [f"crash: {type(error).__name__}: {error}"[:90]]
                else:
                    dirty += bool(answer.left)
                    refused += bool(answer.fixed.failures)
                    rest.update({f"{item.finding.code} {item.finding.rule}" for item in answer.left})
                for one in problems:
                    faults[one] += 1
                    where.setdefault(one, []).append(name)
    sys.stdout.write(f"{count} conversations, {dirty} not accepted, {refused} refused\n")
    for one, times in rest.most_common():
        sys.stdout.write(f"{times:6} not accepted for {one}\n")
    for one, times in faults.most_common():
        sys.stdout.write(f"{times:6} {one}\n")
        for name in where[one][: arguments.show]:
            sys.stdout.write(f"         {name}\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
