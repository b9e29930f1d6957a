"""A rule that is not asked would report nothing.

On every fixture, whole and broken at random, for every provider of its wire, all rules are asked. Each rule that reports
something has a trigger there. `test_triggers` and `test_checks` hold the same on conversations that are drawn.
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
    every = (one for name in PROVIDERS.names() for one in PROVIDERS.versions(name))
    return tuple(one for one in every if wire in one.wires)


def unasked(transcript: Transcript) -> Iterator[str]:
    """The rules that speak of a conversation and would not have been asked."""
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


def unsuspected(transcript: Transcript, random: Random) -> Iterator[str]:
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
        for code in {one.code for one in some} - suspected:
            case = Case(transcript, pairs, profile, True, named)
            yield from (f"{one.message} {some}" for one in PROJECTION[code](case))


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
def test_a_rule_that_is_not_asked_is_silent(path: Path, tmp_path: Path) -> None:
    name = path.relative_to(ROOT).parts[1] if path.relative_to(ROOT).parts[0] == "formats" else None
    assert [said for one in transcripts(Source(str(path), str(path)), name) for said in unasked(one)] == []
    try:
        lines = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    except ValueError:
        return
    random = Random(path.name)  # noqa: S311 - to be the same every time
    for number in range(3):
        other = tmp_path / f"{number}.jsonl"
        other.write_text("".join(json.dumps(line) + "\n" for line in broken(lines, random)))
        assert [
            said for one in transcripts(Source(str(other), str(other)), name) for said in unasked(one)
        ] == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_rule_is_silent_about_any_clause_that_is_satisfied(path: Path, tmp_path: Path) -> None:
    name = path.relative_to(ROOT).parts[1] if path.relative_to(ROOT).parts[0] == "formats" else None
    random = Random(path.name)  # noqa: S311 - to be the same every time
    sources = [path]
    try:
        lines = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
        sources.append(tmp_path / "broken.jsonl")
        sources[1].write_text("".join(json.dumps(line) + "\n" for line in broken(lines, random)))
    except ValueError:  # a document over several lines
        pass
    for one in sources:
        for transcript in transcripts(Source(str(one), str(one)), name):
            assert [*unsuspected(transcript, random)] == []


def test_every_rule_declares_triggers_that_exist() -> None:
    for entry in rulebook.load(rulebook.BUILTIN):
        assert entry.triggers is not None, entry.rule.name
    assert set(Odd.__args__) <= TRIGGERS  # type: ignore[attr-defined]


def test_the_triggers_of_every_rule_are_known_without_loading_it() -> None:
    loaded = {
        one.module.__name__: (one.rule.code, one.rule.triggers, one.rule.state == "preview")
        for one in rulebook.load(rulebook.BUILTIN)
    }
    assert checks.built_in() == loaded


def test_every_kind_of_clause_checks_itself() -> None:
    """A kind without a check would send each conversation of its provider through its rule."""
    bare = [one for one in Clause.__subclasses__() if one.is_satisfied_by is Clause.is_satisfied_by]
    assert bare == [UnknownKey]  # `keys` checks all clauses about keys together


def test_a_rule_without_triggers_or_with_an_unknown_one_is_always_asked() -> None:
    assert checks.triggers_of("XX1", None) is None
    assert checks.triggers_of("XX1", frozenset({"open", "nonsense"})) is None
    assert checks.triggers_of("XX1", frozenset({"open", "PR301"})) == {"open", "PR301", "XX1"}


def test_of_an_open_call_few_rules_are_asked() -> None:
    """A table that always says yes would pass the tests above."""
    asked = Book(Options()).concerned(frozenset({"open"}))
    assert [entry.rule.name for entry in asked] == ["unanswered-call"]


def test_only_chosen_rules_are_asked() -> None:
    asked = Book(Options(select=("ST",))).concerned(frozenset({"open", "duplicate"}))
    assert [entry.rule.name for entry in asked] == ["conflicting-results"]
