"""Which known text a refusal is, and whose.

This module owns the choice among the known texts of all profiles: the one that spells out most, the user's hint and
the marks of a dialect counted in. It refuses to look at a transcript.
"""

import re
from collections.abc import Iterator
from functools import cache
from operator import not_
from typing import Any

from msgspec import Struct

from turnlint.profiles import Known, Profile
from turnlint.providers import OWNERS, Providers
from turnlint.why.dialects import SERVICES, carried_by, marked
from turnlint.why.peeling import Piece, pieces
from turnlint.why.specific import Literals, literals

FLAGS = re.MULTILINE
_WORD = re.compile(r"[A-Za-z_]+|[^\sA-Za-z_0-9]")
"""Words and marks; numbers differ from one refusal to the next."""
_NAME = re.compile(r"[^\W_](?:[\w.-]*\w)?")
LEAST_FRAGMENT = 16
LEAST_FRAGMENT_WORDS = 3
"""A shorter part of a text may be of any text."""
BEFORE, AFTER = 1 << 10, 4 << 10
"""What of a text an expression sees around a run that it must find. Even a quadratic one ends."""
PLACES = 4
MOST_SEARCHES = 20_000
LEAST_RUN = 6
MARKED = 0.1
"""How much likelier a known text is whose provider the text gives away by other marks."""
ALIKE = 0.2
"""Another provider says nearly the same where its sample is at most so much less like the text."""
MOST_NEAR = 3
LEAST_NEAR = 0.25
MOST_WORDS = 120


class Match(Struct, frozen=True):
    """A known text that was found."""

    profile: Profile
    known: Known
    likeness: float
    """How like its sample the text is, word by word: expressions find what tells a text from others, no more."""
    fixed: int
    """How many characters of it the expression spells out."""
    piece: Piece
    line: str
    """The piece's line that was found."""
    fields: dict[str, str]
    """What the expression read in it: `ids`, `index`, `path`."""


class Recognised(Struct, frozen=True):
    """A refusal that is known."""

    best: Match
    alike: tuple[Match, ...]
    """What other providers say in nearly the same words, the nearest first, each provider once."""
    carriers: tuple[str, ...]
    """Services that passed it on."""
    is_certain: bool = True
    """False where only a part of the known text is there, or one that differs in names and numbers."""


class Near(Struct, frozen=True):
    """A known text that is like an unknown one."""

    profile: Profile
    known: Known
    likeness: float


def heard(text: str, providers: Providers) -> list[Piece]:
    """A text and all texts inside it, for the questions below."""
    runs = (_literals(known.pattern).run for _, known in _rows(providers))
    return pieces(text, {run for run in runs if len(run) >= 2 * LEAST_RUN})


def recognise(found: list[Piece], providers: Providers, hint: tuple[str, ...] = ()) -> Recognised | None:
    """The known text that this is, if it is one. `hint` are the providers the user named."""
    texts = [piece.text for piece in found]
    dialects = marked(texts, _profiles(providers))

    carriers = carried_by(texts)

    def rank(match: Match) -> tuple[Any, ...]:
        name = match.profile.name
        passed_on = name in carriers and not match.known.rules
        place = dialects.index(name) if name in dialects else len(dialects)
        likely = round(match.likeness + MARKED * (name in dialects), 2)
        own = name in OWNERS.values(), name in carriers or name not in SERVICES
        return name not in hint, passed_on, -likely, place, *map(not_, own), -match.fixed, -len(match.fields)

    rows = list(_rows(providers))
    matches = sorted(_matches(found, rows), key=rank)
    is_certain = bool(matches)
    if not matches:
        matches = sorted(_fragments(found, rows), key=rank)
    if not matches:
        return None
    best = matches[0]
    alike: dict[str, Match] = {}
    for match in matches:
        if match.likeness >= best.likeness - ALIKE and match.profile.name != best.profile.name:
            alike.setdefault(match.profile.name, match)
    return Recognised(best, tuple(alike.values()), carriers, is_certain)


def dialects_of(found: list[Piece], providers: Providers) -> tuple[str, ...]:
    """Who an unknown text may be of."""
    return marked([piece.text for piece in found], _profiles(providers))


def nearest(found: list[Piece], providers: Providers) -> list[Near]:
    """The known texts that an unknown one is most like, word by word."""
    from difflib import SequenceMatcher

    candidates = sorted((piece.text.split() for piece in found), key=len)
    short = [words[:MOST_WORDS] for words in candidates if len(words) > 1][:8]
    near: dict[str, Near] = {}
    for profile, known in _rows(providers):
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(known.sample.split())
        for words in short:
            matcher.set_seq1(words)
            least = max(LEAST_NEAR, near[known.sample].likeness if known.sample in near else 0)
            if (
                matcher.real_quick_ratio() > least
                and matcher.quick_ratio() > least
                and matcher.ratio() > least
            ):
                near[known.sample] = Near(profile, known, matcher.ratio())
    return sorted(near.values(), key=lambda one: -one.likeness)[:MOST_NEAR]


def _profiles(providers: Providers) -> list[Profile]:
    """Every provider, in the version that stands for it."""
    return [versions[0] for name in providers.names() if (versions := providers.versions(name))]


def _rows(providers: Providers) -> Iterator[tuple[Profile, Known]]:
    """Every known text of every provider once, whichever versions have it."""
    for name in providers.names():
        seen = set()
        for profile in providers.versions(name):
            for known in profile.known:
                if known.pattern not in seen:
                    seen.add(known.pattern)
                    yield profile, known


@cache
def _literals(pattern: str) -> Literals:
    return literals(pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, FLAGS)


def _matches(found: list[Piece], rows: list[tuple[Profile, Known]]) -> Iterator[Match]:
    """Each known text that is there, in the smallest piece that has it."""
    searches = 0
    whole = "\n".join(piece.text for piece in found)
    for profile, known in rows:
        fixed = _literals(known.pattern)
        if fixed.run not in whole:
            continue
        met: tuple[Piece, re.Match[str]] | None = None
        for piece in found:
            if fixed.run and fixed.run not in piece.text:
                continue
            for start, end in _windows(piece.text, fixed.run):
                searches += 1
                if searches > MOST_SEARCHES:
                    return
                match = _compiled(known.pattern).search(piece.text, start, end)
                if match and (met is None or len(piece.text) < len(met[0].text)):
                    met = piece, match
                if match:
                    break
        if met:
            fields = {name: value for name, value in met[1].groupdict().items() if value}
            line = _line(met[1])
            yield Match(profile, known, _likeness(known.sample, line), fixed.count, met[0], line, fields)


def _fragments(found: list[Piece], rows: list[tuple[Profile, Known]]) -> Iterator[Match]:
    """Known texts of which a part is there, or which stand in a text with other names and numbers."""
    said = [(piece, words) for piece in found if len(words := _comparable(piece.text)) >= LEAST_FRAGMENT]
    for profile, known in rows:
        sample = _comparable_sample(known.sample)
        for piece, words in said:
            is_part = words.count(" ") >= LEAST_FRAGMENT_WORDS - 1 and words in sample
            if is_part or (len(sample) >= LEAST_FRAGMENT and sample in words):
                line = " ".join(piece.text.split())[: 4 * BEFORE]
                likeness = len(words) / len(sample) if is_part else len(sample) / len(words)
                yield Match(profile, known, likeness, len(words) if is_part else len(sample), piece, line, {})
                break


@cache
def _comparable_sample(sample: str) -> str:
    return _comparable(sample)


def _comparable(text: str) -> str:
    """The words of a text without marks and case; what has a digit in it differs from one refusal to the next."""
    words = _NAME.findall(text[: 4 * BEFORE])
    return " ".join("#" if any(map(str.isdigit, word)) else word.lower() for word in words)


def _likeness(sample: str, line: str) -> float:
    from difflib import SequenceMatcher

    found: list[str] = _WORD.findall(line)
    known: list[str] = _WORD.findall(sample)
    return SequenceMatcher(None, found, known, autojunk=False).ratio()


def _windows(text: str, run: str) -> Iterator[tuple[int, int]]:
    """Where in a text an expression may find something: around the run that it must find."""
    if len(text) <= BEFORE + AFTER or len(run) < LEAST_RUN:
        yield 0, min(len(text), BEFORE + AFTER)
        if len(text) > BEFORE + AFTER:
            yield len(text) - BEFORE - AFTER, len(text)
        return
    place = -1
    for _ in range(PLACES):
        place = text.find(run, place + 1)
        if place < 0:
            return
        yield max(0, place - BEFORE), place + AFTER
    place = text.rfind(run)
    yield max(0, place - BEFORE), place + AFTER


def _line(match: re.Match[str]) -> str:
    """What was found, with the rest of its line."""
    text = match.string
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    return text[max(start, match.start() - 200) : end if end >= 0 else len(text)][: 4 * BEFORE]
