"""Repair under corruption on every wire and in every form of file, judged by code that knows nothing of the linter.

This module owns the run, the table of what went wrong, and the smallest conversation that still goes wrong. As a
program:

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
        """Changes made to cases when they were repaired for the first time."""

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
    """One conversation, broken or not."""
    return with_random(wire, Random(seed), host, number=number)  # noqa: S311 - the same ones in every run


def with_random(wire: str, rng: Random, host: str, *, number: int = 0, sound: bool = False) -> Case:
    spelling = WIRES[wire]
    while True:
        talk = Maker(rng, spelling.traits(rng)).talk()
        done = [] if sound else broken(talk, rng)
        case = Case(spelling, talk, done, style(rng, pretty=host == "document"), number)
        if case.messages():
            return case


def judged(
    case: Case, host: str, level: Level, before: bytes, after: bytes, messages: list[Value]
) -> Iterator[str]:
    """What is wrong with one repair."""
    turns = [case.wire.read(one) for one in messages]
    if level == "lossy":
        if reason := unsound(case.wire.name, turns):
            yield f"unsound: {reason}"
        yield from dict.fromkeys(kept(case.wire, Before(case.talk), turns))
    else:
        spelled = [case.wire.read(one.value) for one in case.messages()]
        yield from dict.fromkeys(beyond(level, spelled, turns))
    if not case.done and before != after:
        yield "clean changed"
    if host == "linked":
        if not links(messages):
            yield "links broken"
    elif in_order(untouched(case, raw_messages(case, host)), after):
        yield "untouched message changed"


def whose(data: bytes, host: str, cases: list[Case]) -> Callable[[int], int]:
    """From a line of a file to the number of the case."""
    if host in ("keyed", "linked"):
        lines = data.split(b"\n")
        return lambda line: int(lines[line - 1].split(b"s-", 1)[1].split(b'"')[0])
    if host == "document":
        return lambda _: cases[0].number
    return lambda line: cases[line - 1 - (host == "records")].number


def trial(fixer: Fixer, host: str, data: bytes, cases: list[Case]) -> dict[int, list[str]]:
    """What is wrong with the repair of each of the cases in a file."""
    found: dict[int, list[str]] = defaultdict(list)
    try:
        after, fixed = fixer.fix(data, host)
        again, _ = fixer.fix(after, host)
    except Exception as error:  # noqa: BLE001 - a crash is a finding too
        if len(cases) == 1:
            return {cases[0].number: [f"crash: {type(error).__name__}: {error}"[:90]]}
        for one in cases:
            for part, some in files([one], host):
                found.update(trial(fixer, host, part, some))
        return found
    fixer.edits += len(fixed.changes)
    owner = whose(data, host, cases)
    failed = set()
    for failure in fixed.failures:
        failed.add(owner(failure.line))
        found[owner(failure.line)].append(f"failure: {failure.reason}"[:110])
    old, new, newer = (cut(one, host, cases) for one in (data, after, again))
    for case in cases:
        if case.number in failed:
            continue
        now, messages = new[case.number]
        found[case.number] += judged(case, host, fixer.policy.level, old[case.number][0], now, messages)
        if newer[case.number][0] != now:
            found[case.number].append("not idempotent")
    if fixer.policy.level != "lossy":
        return found
    owner = whose(after, host, cases)
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
        for at in reversed(range(len(case.talk))):
            less = Case(
                case.wire, [*case.talk[:at], *case.talk[at + 1 :]], case.done, case.style, case.number
            )
            if has(less):
                case, again = less, True
        for at in reversed(range(len(case.talk))):
            for number in reversed(range(len(case.talk[at].pieces))):
                talk = deepcopy(case.talk)
                del talk[at].pieces[number]
                talk = [one for one in talk if one.pieces]
                if has(less := Case(case.wire, talk, case.done, case.style, case.number)):
                    case, again = less, True
                    break
    return case


class Told(NamedTuple):
    wire: str
    host: str
    fault: str
    times: int
    seed: str
    first: Case
    level: Level


def run(
    wire: str, host: str, seed: int, count: int, level: Level = "lossy", edits: Counter[str] | None = None
) -> Iterator[Told]:
    seeds = [f"{seed} {wire} {number}" for number in range(count)]
    cases = [make(wire, one, host, number) for number, one in enumerate(seeds)]
    faults: Counter[str] = Counter()
    first: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        fixer = Fixer(wire, folder, level)
        for data, some in files(cases, host):
            for number, told in sorted(trial(fixer, host, data, some).items()):
                for fault in told:
                    faults[fault] += 1
                    best = first.setdefault(fault, number)
                    if len(cases[number].done) < len(cases[best].done):
                        first[fault] = number
        if edits is not None:
            edits[wire] += fixer.edits
    for fault, times in faults.most_common():
        yield Told(wire, host, fault, times, seeds[first[fault]], cases[first[fault]], level)


def shown(told: Told) -> str:
    with tempfile.TemporaryDirectory() as folder:
        fixer = Fixer(told.wire, folder, told.level)
        case = smaller(fixer, told.host, told.first, told.fault) if told.first.done else told.first
        ((data, _),) = files([case], told.host)
        after = fixer.fix(data, told.host)[0].decode()
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
    asked = parser.parse_args()
    bad = 0
    edits: Counter[str] = Counter()
    for wire in asked.wire or WIRES:
        met: Counter[str] = Counter()
        for host in asked.host or HOSTS:
            told = list(run(wire, host, asked.seed, asked.n, asked.level, edits))
            hard = [one for one in told if not one.fault.endswith("(unsure)")]
            bad += bool(hard)
            line = "; ".join(f"{one.fault} {one.times}" for one in told)
            sys.stdout.write(f"{wire:17}{host:9} n {asked.n}  {line or 'nothing wrong'}\n")
            sys.stdout.flush()
            for one in told:
                met[one.fault] += 1
                if asked.show and met[one.fault] == 1 and len(met) <= asked.show:
                    sys.stdout.write(f"  {one.fault} (seed {one.seed!r})\n{shown(one)}\n")
    sys.stdout.write(f"{sum(edits.values()):,} edits\n")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
