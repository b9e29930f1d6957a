"""Would this provider take it as it is, and if not, which of its rules may say why?

This module owns one look over a paired conversation for each clause of a profile, the fast path of projection:
where it says yes, the rule of that clause is silent, so it need not be loaded or asked. It may name a rule that
turns out to have nothing to say, never leave out one that has; a test holds it to that on arbitrary input.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from turnlint.case import Case
from turnlint.clauses import (
    ArgumentsEncoding,
    ContentKey,
    EmptyContent,
    IdCharset,
    IdCollision,
    IdForm,
    IdLength,
    IdUnique,
    NameForm,
    OverLimit,
    ResultContent,
    RoleOrder,
    ThinkingForm,
    ThoughtSignature,
    UnknownKey,
)
from turnlint.keys import Strict, by_place
from turnlint.profiles import Profile
from turnlint.taking import CHECKS, Check, ids_of, known_keys, unlike

_ANYWHERE = (IdCharset, IdLength, IdForm, IdCollision, IdUnique, NameForm, OverLimit)
"""What holds of a conversation on any wire; the others are about how it is spelled."""
Asked = tuple[str, Check, Any]
"""The code of a rule, what looks for it, and what at."""


class Alike(Struct):
    """Questions whose answers are the same for all conversations that are alike in one thing."""

    asked: tuple[Asked, ...]
    by: Callable[[Case], object] | None = None
    """That thing; nothing where it is not known of a conversation, or there is none."""
    met: dict[Any, frozenset[str]] = {}
    """What was found, by that thing."""


class Known(Struct):
    """What there is to look at, by profile, wire and model, and what was found. Whoever keeps it keeps the profiles too."""

    held: dict[tuple[int, str, str | None], tuple[Alike, ...]] = {}
    count: int = 0
    """Of answers, in all that is held."""

    def look(self, case: Case, profile: Profile) -> tuple[Alike, ...]:
        request = case.transcript.request
        model = request.model if request else None
        if model is not None and len(model) > LONGEST_NAME:
            return _held(case, profile)
        key = id(profile), case.transcript.wire.speaks, model
        held = self.held.get(key)
        if held is None:
            self._make_room()
            held = self.held[key] = _held(case, profile)
        return held

    def note(self, alike: Alike, thing: object, found: frozenset[str]) -> None:
        self._make_room()
        alike.met[thing] = found

    def _make_room(self) -> None:
        self.count += 1
        if self.count > MOST_MET:
            self.held.clear()
            self.count = 0


MOST_MET = 1000
"""So many models, and conversations that are not alike, are kept in all."""
MOST_NAMES = 64
MOST_TURNS = 64
LONGEST_NAME = 100
"""Nobody calls so many tools, or any by so long a name, or says so many kinds of turns: what they were found to be is not
kept, for they would be, too."""


def fits(case: Case) -> bool:
    """True where no projection rule has anything to say."""
    return not doubts(case)


def doubts(case: Case, known: Known | None = None) -> set[str]:
    """The codes of the rules whose clauses may not be kept. What is `known` is kept for the next conversation."""
    profile = case.profile
    if profile is None:
        return set()
    known = known or Known()
    found: set[str] = set()
    for alike in known.look(case, profile):
        thing = alike.by(case) if alike.by else None
        if thing in alike.met:
            found |= alike.met[thing]
            continue
        here: set[str] = set()
        for code, check, clause in alike.asked:
            if code not in here and not check(case, clause):
                here.add(code)
        if thing is not None:
            known.note(alike, thing, frozenset(here))
        found |= here
    return found


def _letters(case: Case) -> object:
    summary = case.traits.summary if case.transcript.outline is not None else None
    return summary if summary is not None and len(summary[1]) < MOST_TURNS else None


def _names(case: Case) -> object:
    names = frozenset(case.traits.result_names), *map(frozenset, case.traits.names.values())
    few = sum(map(len, names)) < MOST_NAMES
    return names if few and all(len(name) <= LONGEST_NAME for some in names for name in some) else None


def _is_by_names(clause: Any) -> bool:
    return isinstance(clause, NameForm) and clause.of in ("call", "server", "result")


def _is_by_letters(clause: Any) -> bool:
    """Whether what a clause asks is the same for all conversations on a wire whose outlines are alike.

    Pieces that an outline stands for are of one kind each: calls with an object of arguments, results of one text.
    """
    if isinstance(clause, EmptyContent):
        return clause.what not in ("error-result", "result-list")
    if isinstance(clause, ThinkingForm):
        return clause.what not in ("turn-start", "forced-tool")
    if isinstance(clause, ContentKey):
        return clause.what in ("content", "calls", "call-type")
    if isinstance(clause, ArgumentsEncoding):
        return clause.wants != "no-empty-key"
    if isinstance(clause, IdLength | IdForm | IdUnique | NameForm):
        return clause.of in ("item", "author")
    return isinstance(clause, RoleOrder | ThoughtSignature | ResultContent)


def _held(case: Case, profile: Profile) -> tuple[Alike, ...]:
    held: list[Asked] = []
    for code, clauses in profile.by_code.items():
        here = [
            one
            for one in clauses
            if case.holds(one) and (case.spelled or one.wires or isinstance(one, _ANYWHERE))
        ]
        held += [
            (code, CHECKS.get(type(one), unlike), ids_of(case) if isinstance(one, IdCollision) else one)
            for one in here
            if not isinstance(one, UnknownKey)
        ]
        keys = by_place(one for one in here if isinstance(one, UnknownKey))
        if keys:
            held.append((code, known_keys, Strict(keys)))
    by_letters = tuple(one for one in held if _is_by_letters(one[2]))
    by_names = tuple(one for one in held if _is_by_names(one[2]))
    others = tuple(one for one in held if one not in (*by_letters, *by_names))
    return Alike(by_letters, _letters), Alike(by_names, _names), Alike(others)
