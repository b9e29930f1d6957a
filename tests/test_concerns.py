"""Rules that are not asked would have had nothing to say.

This module owns what is promised of the table by which rules are passed over: on every fixture, whole and broken at
random, for every provider that speaks its wire, all rules are asked, and whatever one of them says, it was to be
asked. Tests of `clean` and `fits` hold the same on conversations that are drawn.
"""

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from turnlint import ledger, rulebook
from turnlint.api import Case, Profile
from turnlint.clauses import Clause
from turnlint.clean import concerns
from turnlint.documents.source import Source
from turnlint.engine import Book, Options
from turnlint.fits import doubts
from turnlint.ledger import Odd
from turnlint.model import Transcript
from turnlint.providers import Providers
from turnlint.reading import transcripts
from turnlint.taking import CHECKS

ROOT = Path(__file__).parent.parent / "fixtures"
FIXTURES = sorted(
    path
    for folder in ("rules", "formats", "provider_switch", "profiles")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".json", ".jsonl") and path.stat().st_size < 200_000
)
ENTRIES = [entry for entry in rulebook.load(rulebook.BUILTIN) if entry.check]
SHELF = rulebook.shelf()
PROVIDERS = Providers([rulebook.BUILTIN])


@cache
def profiles_of(wire: str) -> tuple[Profile, ...]:
    every = (one for name in PROVIDERS.names() for one in PROVIDERS.versions(name))
    return tuple(one for one in every if wire in one.wires)


def unasked(transcript: Transcript) -> Iterator[str]:
    """The rules that speak of a conversation and would not have been asked."""
    pairs = ledger.read(transcript.messages, transcript.wire)
    there = frozenset(concerns(transcript, pairs))
    bare = Case(transcript, pairs)
    for entry in ENTRIES:
        if entry.rule.fault == "projection" or entry.rule.dead is not bool(transcript.dead):
            continue
        if not SHELF.concerned(entry.module.__name__, there) and list(entry.check(bare)):  # type: ignore[misc]
            yield entry.rule.name
    for profile in () if transcript.dead else profiles_of(transcript.wire.speaks):
        for named in (True, False):
            case = Case(transcript, pairs, profile, True, named)
            told = frozenset(doubts(case))
            for entry in ENTRIES:
                if entry.rule.fault == "projection" and not SHELF.concerned(entry.module.__name__, told):
                    yield from (f"{entry.rule.name} of {profile.label}" for _ in entry.check(case))  # type: ignore[misc]


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


def test_the_table_names_what_there_is() -> None:
    modules = {entry.module.__name__ for entry in rulebook.load(rulebook.BUILTIN)}
    assert SHELF.concerns.keys() <= modules
    odd = set(Odd.__args__)  # type: ignore[attr-defined]
    codes = {kind.code for kind in Clause.__subclasses__()}
    own = {
        "dead",
        "misfit",
        "empty",
        "dialect",
        "echo",
        "marker",
        "link",
        "arguments",
        "name",
        "id",
        "lifecycle",
    }
    assert frozenset[str]().union(*SHELF.concerns.values()) <= odd | codes | own | {"record"}
    assert set(CHECKS) == set(Clause.__subclasses__())


def test_a_rule_that_is_not_in_the_table_is_always_asked() -> None:
    assert SHELF.concerned("turnlint_rules.state.new", frozenset())


def test_of_an_open_call_few_rules_are_asked() -> None:
    """A table that always says yes would pass the tests above."""
    asked = Book(Options()).concerned(frozenset({"open"}))
    assert [entry.rule.name for entry in asked] == ["unanswered-call"]


def test_only_chosen_rules_are_asked() -> None:
    asked = Book(Options(select=("ST",))).concerned(frozenset({"open", "duplicate"}))
    assert [entry.rule.name for entry in asked] == ["conflicting-results"]
