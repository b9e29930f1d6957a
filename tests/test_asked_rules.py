"""A rule that is skipped would report nothing.

On every fixture, whole and broken at random, for every provider of its wire, all rules run. Each rule that reports
something must have a trigger there. `test_triggers` and `test_checks` test the same on random conversations.
"""

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from drawn_clauses import drawn_clause
from turnlint import checks, ledger, rulebook
from turnlint.api import Capabilities, Case, Profile
from turnlint.checks import checks_of, suspects
from turnlint.clause import Clause
from turnlint.clauses import UnknownKey
from turnlint.documents.source import Source
from turnlint.engine import Book, Options
from turnlint.extraction import facts_of
from turnlint.facts import TRIGGERS
from turnlint.ledger import Odd
from turnlint.model import Transcript
from turnlint.providers import Chosen, Providers
from turnlint.reading import transcripts

ROOT = Path(__file__).parent.parent / "fixtures"
FIXTURES = sorted(
    path
    for folder in ("rules", "formats", "provider_switch", "profiles")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".json", ".jsonl") and path.stat().st_size < 200_000
)
ENTRIES = [entry for entry in rulebook.load(rulebook.BUILTIN) if entry.check]
PROVIDERS = Providers([rulebook.BUILTIN])
PROJECTION = {
    entry.rule.code: entry.check for entry in ENTRIES if entry.check and entry.rule.fault == "projection"
}
CLAUSES = 20
"""Drawn for each conversation."""


@cache
def profiles_of(wire: str) -> tuple[Profile, ...]:
    every = (version for name in PROVIDERS.names() for version in PROVIDERS.versions(name))
    return tuple(item for item in every if wire in item.wires)


def wrongly_skipped(transcript: Transcript) -> Iterator[str]:
    """The rules that report something in a conversation and would have been skipped."""
    pairs = ledger.read(transcript.messages, transcript.wire)
    facts = facts_of(transcript, pairs)
    bare = Case(transcript, pairs)
    for entry in ENTRIES:
        if entry.rule.fault == "projection" or entry.rule.dead is not bool(transcript.dead):
            continue
        if not entry.is_asked(facts.triggers) and list(entry.check(bare)):  # type: ignore[misc]
            yield entry.rule.name
    model = transcript.request.model if transcript.request else None
    for profile in () if transcript.dead else profiles_of(transcript.wire.speaks):
        for named in (True, False):
            checks = checks_of(Chosen(profile, named=named), transcript.wire.speaks, model)
            case = Case(transcript, pairs, profile, True, named)
            suspected = suspects(facts, checks, named=named)
            for entry in ENTRIES:
                if entry.rule.fault == "projection" and not entry.is_asked(suspected):
                    yield from (f"{entry.rule.name} of {profile.label}" for _ in entry.check(case))  # type: ignore[misc]


def wrongly_satisfied(transcript: Transcript, random: Random) -> Iterator[str]:
    """Drawn clauses that are satisfied by the facts, and whose rules report something."""
    pairs = ledger.read(transcript.messages, transcript.wire)
    facts = facts_of(transcript, pairs)
    wire = transcript.wire.speaks
    model = transcript.request.model if transcript.request else None
    for _ in range(0 if transcript.dead else CLAUSES):
        some = tuple(drawn_clause(random) for _ in range(random.randint(1, 3)))
        profile = Profile(
            name="drawn", title="", wires=(wire,), capabilities=Capabilities(format=wire), clauses=some
        )
        named = random.random() < 0.5
        suspected = suspects(facts, checks_of(Chosen(profile, named=named), wire, model), named=named)
        for code in {item.code for item in some} - suspected:
            case = Case(transcript, pairs, profile, True, named)
            yield from (f"{item.message} {some}" for item in PROJECTION[code](case))


def broken(value: Any, random: Random) -> Any:
    """A record with some of its lists and values changed."""
    value = copy.deepcopy(value)
    for _ in range(random.randint(1, 3)):
        lists: list[list[Any]] = []
        places: list[tuple[Any, Any]] = []
        waiting = [value]
        while waiting:
            one = waiting.pop()
            inside = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
            places += [(one, key) for key, _ in inside]
            inside = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
            waiting += inside
            if isinstance(one, list) and len(one) > 1:
                lists.append(one)
        if lists and random.random() < 0.7:
            some = random.choice(lists)
            piece = some.pop(random.randrange(len(some)))
            if random.random() < 0.7:
                some.insert(random.randrange(len(some) + 1), piece)
            if random.random() < 0.3:
                some.append(copy.deepcopy(piece))
        elif places:
            holder, key = random.choice(places)
            holder[key] = random.choice(
                [None, "", " ", "x y", "null", 5, [], {}, "<tool_call>{}", holder[key]]
            )
    return value


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_skipped_rule_reports_nothing(path: Path, tmp_path: Path) -> None:
    name = path.relative_to(ROOT).parts[1] if path.relative_to(ROOT).parts[0] == "formats" else None
    assert [
        problem
        for transcript in transcripts(Source(str(path), str(path)), name)
        for problem in wrongly_skipped(transcript)
    ] == []
    try:
        lines = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    except ValueError:
        return
    random = Random(path.name)  # noqa: S311 - to be the same every time
    for number in range(3):
        other = tmp_path / f"{number}.jsonl"
        other.write_text("".join(json.dumps(line) + "\n" for line in broken(lines, random)))
        assert [
            problem
            for transcript in transcripts(Source(str(other), str(other)), name)
            for problem in wrongly_skipped(transcript)
        ] == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_rule_reports_nothing_under_a_satisfied_clause(path: Path, tmp_path: Path) -> None:
    name = path.relative_to(ROOT).parts[1] if path.relative_to(ROOT).parts[0] == "formats" else None
    random = Random(path.name)  # noqa: S311 - to be the same every time
    sources = [path]
    try:
        lines = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
        sources.append(tmp_path / "broken.jsonl")
        sources[1].write_text("".join(json.dumps(line) + "\n" for line in broken(lines, random)))
    except ValueError:  # a document over several lines
        pass
    for source in sources:
        for transcript in transcripts(Source(str(source), str(source)), name):
            assert [*wrongly_satisfied(transcript, random)] == []


def test_every_rule_declares_triggers_that_exist() -> None:
    for entry in rulebook.load(rulebook.BUILTIN):
        assert entry.triggers is not None, entry.rule.name
    assert set(Odd.__args__) <= TRIGGERS  # type: ignore[attr-defined]


def test_the_triggers_of_every_rule_are_available_without_loading_it() -> None:
    loaded = {
        item.module.__name__: (item.rule.code, item.rule.triggers, item.rule.state == "preview")
        for item in rulebook.load(rulebook.BUILTIN)
    }
    assert checks.built_in() == loaded


def test_every_kind_of_clause_checks_itself() -> None:
    """A kind without a check would run its rule on each conversation of its provider."""
    bare = [
        subclass for subclass in Clause.__subclasses__() if subclass.is_satisfied_by is Clause.is_satisfied_by
    ]
    assert bare == [UnknownKey]  # `keys` checks all clauses about keys together


def test_a_rule_without_triggers_or_with_an_unknown_trigger_always_runs() -> None:
    assert checks.triggers_of("XX1", None) is None
    assert checks.triggers_of("XX1", frozenset({"open", "nonsense"})) is None
    assert checks.triggers_of("XX1", frozenset({"open", "PR301"})) == {"open", "PR301", "XX1"}


def test_few_rules_run_for_an_open_call() -> None:
    """A table with every rule would pass the tests above."""
    selected = Book(Options()).concerned(frozenset({"open"}))
    assert [entry.rule.name for entry in selected] == ["unanswered-call"]


def test_only_selected_rules_run() -> None:
    selected = Book(Options(select=("ST",))).concerned(frozenset({"open", "duplicate"}))
    assert [entry.rule.name for entry in selected] == ["conflicting-results"]
