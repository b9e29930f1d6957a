"""Repair broken conversations on every wire and in every form of file, with checks independent of the linter.

Runs the cases, tabulates the faults, and finds the smallest conversation with each fault. As a program:

    python tests/fuzz_wires.py [--wire NAME]... [--host NAME]... [--level NAME] [--seed N] [--n N] [--show N]
"""

import argparse
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import NamedTuple

from breaking import Maker, broken
from breaking_files import HOSTS, Case, cut, files, raw_messages, style
from breaking_judge import Before, beyond, in_order, kept, links, unsound, untouched
from breaking_wires import WIRES, Value
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Options, lint
from turnlint.keeping.patches import patched
from turnlint.model import Level
from turnlint.repair.choosing import LEVELS, Policy
from turnlint.repair.fixing import fix
from turnlint.repair.outcome import Fixed
from turnlint.rows import Row


class Fixer:
    """Repairs files for one wire and its provider."""

    def __init__(self, wire: str, folder: str, level: Level = "lossy") -> None:
        provider = WIRES[wire].provider
        self.options = Options(format=wire, providers=() if provider == "none" else (provider,))
        self.book = Book(self.options)
        self.policy = Policy(level=level, named=frozenset(() if provider == "none" else (provider,)))
        self.folder = folder
        self.edits = 0
        """Changes to cases in their first repair."""

    def source(self, data: bytes, host: str) -> Source:
        path = os.path.join(self.folder, "case.json" if host in ("document", "records") else "case.jsonl")
        with open(path, "wb") as file:
            file.write(data)
        return Source(path, path)

    def fix(self, data: bytes, host: str) -> tuple[bytes, Fixed]:
        source = self.source(data, host)
        fixed = fix(source, self.options, self.book, self.policy)
        assert fixed.problem is None, fixed.problem
        return b"".join(patched(source, fixed.patches)), fixed

    def lint(self, data: bytes, host: str) -> Iterator[Row]:
        for event in lint(self.source(data, host), self.options, self.book):
            assert not isinstance(event, Crash), event
            if isinstance(event, Row):
                yield event


def make(wire: str, seed: str, host: str, number: int = 0) -> Case:
    """One conversation, broken or sound."""
    return with_random(wire, Random(seed), host, number=number)  # noqa: S311 - the same ones in every run


def with_random(wire: str, rng: Random, host: str, *, number: int = 0, sound: bool = False) -> Case:
    spelling = WIRES[wire]
    while True:
        conversation = Maker(rng, spelling.traits(rng)).conversation()
        done = [] if sound else broken(conversation, rng)
        case = Case(spelling, conversation, done, style(rng, pretty=host == "document"), number)
        if case.messages():
            return case


def judged(
    case: Case, host: str, level: Level, before: bytes, after: bytes, messages: list[Value]
) -> Iterator[str]:
    """Faults in one repair."""
    turns = [case.wire.read(message) for message in messages]
    if level == "lossy":
        if reason := unsound(case.wire.name, turns):
            yield f"unsound: {reason}"
        yield from dict.fromkeys(kept(case.wire, Before(case.conversation), turns))
    else:
        spelled = [case.wire.read(message.value) for message in case.messages()]
        yield from dict.fromkeys(beyond(level, spelled, turns))
    if not case.done and before != after:
        yield "clean changed"
    if host == "linked":
        if not links(messages):
            yield "links broken"
    elif in_order(untouched(case, raw_messages(case, host)), after):
        yield "untouched message changed"


def case_of_line(data: bytes, host: str, cases: list[Case]) -> Callable[[int], int]:
    """Map a line of a file to the number of the case."""
    if host in ("keyed", "linked"):
        lines = data.split(b"\n")
        return lambda line: int(lines[line - 1].split(b"s-", 1)[1].split(b'"')[0])
    if host == "document":
        return lambda _: cases[0].number
    return lambda line: cases[line - 1 - (host == "records")].number


def trial(fixer: Fixer, host: str, data: bytes, cases: list[Case]) -> dict[int, list[str]]:
    """Faults in the repair of each of the cases in a file."""
    found: dict[int, list[str]] = defaultdict(list)
    try:
        after, fixed = fixer.fix(data, host)
        again, _ = fixer.fix(after, host)
    except Exception as error:  # noqa: BLE001 - a crash is a finding too
        if len(cases) == 1:
            return {cases[0].number: [f"crash: {type(error).__name__}: {error}"[:90]]}
        for entry in cases:
            for part, some in files([entry], host):
                found.update(trial(fixer, host, part, some))
        return found
    fixer.edits += len(fixed.changes)
    owner = case_of_line(data, host, cases)
    failed = set()
    for failure in fixed.failures:
        failed.add(owner(failure.line))
        found[owner(failure.line)].append(f"failure: {failure.reason}"[:110])
    old, new, newer = (cut(item, host, cases) for item in (data, after, again))
    for case in cases:
        if case.number in failed:
            continue
        now, messages = new[case.number]
        found[case.number] += judged(case, host, fixer.policy.level, old[case.number][0], now, messages)
        if newer[case.number][0] != now:
            found[case.number].append("not idempotent")
    if fixer.policy.level != "lossy":
        return found
    owner = case_of_line(after, host, cases)
    errors = {
        (owner(row.place.line), row.finding.code, row.finding.rule)
        for row in fixer.lint(after, host)
        if row.finding.severity == "error"
    }
    for number, code, rule in sorted(errors):
        if number not in failed:
            found[number].append(f"error left: {code} {rule}")
    return found


def smaller(fixer: Fixer, host: str, case: Case, fault: str) -> Case:
    """The smallest conversation that still has the fault."""

    def has(one: Case) -> bool:
        if not one.messages():
            return False
        ((data, some),) = files([one], host)
        return fault in trial(fixer, host, data, some).get(one.number, [])

    again = True
    while again:
        again = False
        for at in reversed(range(len(case.conversation))):
            less = Case(
                case.wire,
                [*case.conversation[:at], *case.conversation[at + 1 :]],
                case.done,
                case.style,
                case.number,
            )
            if has(less):
                case, again = less, True
        for at in reversed(range(len(case.conversation))):
            for number in reversed(range(len(case.conversation[at].pieces))):
                conversation = deepcopy(case.conversation)
                del conversation[at].pieces[number]
                conversation = [item for item in conversation if item.pieces]
                if has(less := Case(case.wire, conversation, case.done, case.style, case.number)):
                    case, again = less, True
                    break
    return case


class Report(NamedTuple):
    wire: str
    host: str
    fault: str
    times: int
    seed: str
    first: Case
    level: Level


def run(
    wire: str, host: str, seed: int, count: int, level: Level = "lossy", edits: Counter[str] | None = None
) -> Iterator[Report]:
    seeds = [f"{seed} {wire} {number}" for number in range(count)]
    cases = [make(wire, item, host, number) for number, item in enumerate(seeds)]
    faults: Counter[str] = Counter()
    first: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        fixer = Fixer(wire, folder, level)
        for data, some in files(cases, host):
            for number, report in sorted(trial(fixer, host, data, some).items()):
                for fault in report:
                    faults[fault] += 1
                    best = first.setdefault(fault, number)
                    if len(cases[number].done) < len(cases[best].done):
                        first[fault] = number
        if edits is not None:
            edits[wire] += fixer.edits
    for fault, times in faults.most_common():
        yield Report(wire, host, fault, times, seeds[first[fault]], cases[first[fault]], level)


def shown(report: Report) -> str:
    with tempfile.TemporaryDirectory() as folder:
        fixer = Fixer(report.wire, folder, report.level)
        case = smaller(fixer, report.host, report.first, report.fault) if report.first.done else report.first
        ((data, _),) = files([case], report.host)
        after = fixer.fix(data, report.host)[0].decode()
        return f"    {case.done}\n    before:\n{data.decode()}    after:\n{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Break conversations on every wire, repair and judge them.")
    parser.add_argument("--wire", action="append", choices=WIRES, help="only this one; may be given again")
    parser.add_argument(
        "--host", action="append", choices=HOSTS, help="only this form of file; may be given again"
    )
    parser.add_argument("--level", choices=LEVELS, default="lossy")
    parser.add_argument("--seed", type=int, default=20261118)
    parser.add_argument("--n", type=int, default=600, help="conversations for each wire and form")
    parser.add_argument(
        "--show", type=int, default=0, help="for how many faults of a wire the smallest case is shown"
    )
    arguments = parser.parse_args()
    bad = 0
    edits: Counter[str] = Counter()
    for wire in arguments.wire or WIRES:
        met: Counter[str] = Counter()
        for host in arguments.host or HOSTS:
            report = list(run(wire, host, arguments.seed, arguments.n, arguments.level, edits))
            hard = [item for item in report if not item.fault.endswith("(unsure)")]
            bad += bool(hard)
            line = "; ".join(f"{item.fault} {item.times}" for item in report)
            sys.stdout.write(f"{wire:17}{host:9} n {arguments.n}  {line or 'nothing wrong'}\n")
            sys.stdout.flush()
            for entry in report:
                met[entry.fault] += 1
                if arguments.show and met[entry.fault] == 1 and len(met) <= arguments.show:
                    sys.stdout.write(f"  {entry.fault} (seed {entry.seed!r})\n{shown(entry)}\n")
    sys.stdout.write(f"{sum(edits.values()):,} edits\n")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
