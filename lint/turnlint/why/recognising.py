"""Recognise an error text among the known texts of all profiles.

Matches are ranked by the provider that the user names, then by likeness, the marks of providers, and the
length of the fixed text.
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
from turnlint.why.fragments import align_part, align_whole, template, words_of
from turnlint.why.peeling import Piece, pieces
from turnlint.why.specific import Literals, literals

FLAGS = re.MULTILINE
_WORD = re.compile(r"[A-Za-z_]+|[^\sA-Za-z_0-9]")
"""Words and punctuation; numbers differ from one error to the next."""
MAX_SHORT_CAUSES = 3
"""Limit of the different causes of a short fragment: with more, it may belong to any text."""
BEFORE, AFTER = 1 << 10, 4 << 10
"""Number of characters before and behind a required run that an expression searches.

The limit bounds the time of a quadratic one.
"""
PLACES = 4
MOST_SEARCHES = 20_000
LEAST_RUN = 6
MARKED = 0.1
"""Bonus for a known text whose provider is identified by marks."""
ALIKE = 0.2
"""Limit of the difference in likeness below which the text of another provider is listed as well."""
MOST_NEAR = 3
LEAST_NEAR = 0.25
MOST_WORDS = 120


class Match(Struct, frozen=True):
    """A known text that was found."""

    profile: Profile
    known: Known
    likeness: float
    """Likeness of the text and the sample, word by word: an expression has only the words that distinguish texts."""
    fixed: int
    """Number of characters that the expression fixes."""
    piece: Piece
    line: str
    """The matched line of the piece."""
    fields: dict[str, str]
    """The groups of the expression: `ids`, `index`, `path`."""


class Recognised(Struct, frozen=True):
    """A recognised error text."""

    best: Match
    alike: tuple[Match, ...]
    """Similar texts of other providers, the nearest first, one for each provider."""
    carriers: tuple[str, ...]
    """Services that passed it on."""
    is_certain: bool = True
    """False where the text has only a part of the known text, or differs in names and numbers."""


class Near(Struct, frozen=True):
    """A known text that resembles an unknown one."""

    profile: Profile
    known: Known
    likeness: float


def heard(text: str, providers: Providers) -> list[Piece]:
    """Return a text and all texts inside it, for the functions below."""
    runs = (_literals(known.pattern).run for _, known in _rows(providers))
    return pieces(text, {run for run in runs if len(run) >= 2 * LEAST_RUN})


def recognise(found: list[Piece], providers: Providers, hint: tuple[str, ...] = ()) -> Recognised | None:
    """Return the known text that matches, if any. `hint` has the providers that the user named."""
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
    if not matches:  # a fragment may belong to several texts: one that a rule explains is more useful
        matches = sorted(_fragments(found, rows), key=lambda match: (not match.known.rules, rank(match)))
    if not matches:
        return None
    best = matches[0]
    alike: dict[str, Match] = {}
    for match in matches:
        if match.likeness >= best.likeness - ALIKE and match.profile.name != best.profile.name:
            alike.setdefault(match.profile.name, match)
    return Recognised(best, tuple(alike.values()), carriers, is_certain)


def dialects_of(found: list[Piece], providers: Providers) -> tuple[str, ...]:
    """Return the providers that may have written an unknown text."""
    return marked([piece.text for piece in found], _profiles(providers))


def nearest(found: list[Piece], providers: Providers) -> list[Near]:
    """Return the known texts with the greatest likeness to an unknown one, word by word."""
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
    """Return each provider in the version that represents it."""
    return [versions[0] for name in providers.names() if (versions := providers.versions(name))]


def _rows(providers: Providers) -> Iterator[tuple[Profile, Known]]:
    """Yield each known text of each provider once, independent of versions."""
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
    """Yield each known text that occurs, in the smallest piece that has it."""
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
    """Yield known texts of which a part occurs, or which occur with other names and numbers."""
    said = [(number, piece, words_of(piece.text)) for number, piece in enumerate(found)]
    short: list[Match] = []
    for profile, known in rows:
        expected = template(known, _says(profile))
        for number, piece, words in said:
            aligned = align_part(words, expected) or align_whole(words, expected)
            if aligned is None or (aligned.is_short and number):
                continue  # a short part is recognised only if it is the whole text that the user gave
            line = " ".join(piece.text.split())[: 4 * BEFORE]
            match = Match(profile, known, aligned.likeness, aligned.characters, piece, line, aligned.values)
            if aligned.is_short:
                short.append(match)
            else:
                yield match
            break
    if len({match.known.rules[:1] for match in short}) <= MAX_SHORT_CAUSES:
        yield from short


def _says(profile: Profile) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clause.says for clause in profile.clauses if clause.says))


def _likeness(sample: str, line: str) -> float:
    from difflib import SequenceMatcher

    found: list[str] = _WORD.findall(line)
    known: list[str] = _WORD.findall(sample)
    return SequenceMatcher(None, found, known, autojunk=False).ratio()


def _windows(text: str, run: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a text that an expression searches: around the run that every match contains."""
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
    """Return the match with the rest of its line."""
    text = match.string
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    return text[max(start, match.start() - 200) : end if end >= 0 else len(text)][: 4 * BEFORE]
