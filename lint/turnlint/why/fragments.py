"""Compare a fragment of an error text with the samples of the known texts.

A template is a sample in which each variable word is a field: a value that the pattern captures, the value of a
`{field}` in the text of a clause, an id, or a word with a digit. A field accepts any value; the fixed words decide.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct

from turnlint.profiles import Known

MAX_CHARACTERS = 4 << 10
"""Number of characters of a text that are compared."""
MAX_PART_WORDS = 400
"""Limit of the words of a text that may be a part of a template."""
MAX_QUOTED_TOKENS = 12
MIN_WORDS, MIN_CHARACTERS = 3, 16
"""Least number of fixed words, and of their characters with spaces, in a fragment."""
MIN_SHORT_CHARACTERS = 12
MIN_CONTENT_WORDS = 2
"""Least number of fixed words in a fragment that are not `FUNCTION_WORDS`."""
_FUNCTION_WORDS = (
    "a an and are as at be been but by can cannot could did do does for from had has have if in into is it its must "
    "no not of on only or should so than that the their them then there these they this those to too was were which "
    "will with without you your"
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_NAME = re.compile(r"[^\W_](?:[\w.-]*\w)?")
_TOKEN = re.compile(r"\S+")
_ID = re.compile(r"\b(?:call|toolu|tooluse|srvtoolu|fc|rs|msg|resp)_(?!ids?\b)\w+")
_FIELD = re.compile(r"\{\w+\}")
_QUOTES = "'\"`"


class Slot(Struct, frozen=True):
    """A field of a template."""

    name: str = ""
    """Name of the group of the pattern that captures it."""


class Template(Struct, frozen=True):
    """The words of a sample, with its fields."""

    parts: tuple[str | Slot, ...]
    fixed: frozenset[str]
    characters: int
    """Number of characters of all words, with spaces: a short sample is more like a fragment than a long one."""
    core: tuple[int, int]
    """Range of the parts that the pattern matches: the words that distinguish the text."""


class Words(Struct, frozen=True):
    """The words of a text, for comparison."""

    words: tuple[str, ...]
    """Words in lower case; a token of punctuation is an empty word."""
    ends: tuple[tuple[int, ...], ...]
    """For each word, the places where a value that starts there may end."""
    spans: tuple[tuple[int, int], ...]
    text: str


class Aligned(Struct, frozen=True):
    """A fragment that agrees with a template."""

    likeness: float
    characters: int
    is_short: bool
    """Whether it has too few words to be recognised inside another text."""
    values: dict[str, str]


class _State(Struct, frozen=True):
    """A prefix of a text that agrees with a part of a template."""

    fixed: tuple[int, ...] = ()
    values: tuple[tuple[str, int, int], ...] = ()


def words_of(text: str) -> Words:
    text = text[:MAX_CHARACTERS]
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    tokens: list[tuple[int, int, str]] = []
    """First word, end and text of each token."""
    for token in _TOKEN.finditer(text):
        first = len(words)
        for match in _NAME.finditer(token[0]):
            words.append(match[0].lower())
            spans.append((token.start() + match.start(), token.start() + match.end()))
        if len(words) == first:
            words.append("")
            spans.append(token.span())
        tokens.append((first, len(words), token[0]))
    ends: list[tuple[int, ...]] = []
    for number, (first, end, token_text) in enumerate(tokens):
        ends += [(end, *_later_ends(tokens, number, token_text))] * (end - first)
    return Words(tuple(words), tuple(ends), tuple(spans), text)


def _later_ends(tokens: list[tuple[int, int, str]], number: int, first: str) -> Iterator[int]:
    """Yield the ends of a value of several tokens: a quoted text, or a list with commas."""
    quote = next((mark for mark in _QUOTES if first.count(mark) == 1), "")
    for _, end, token in tokens[number + 1 : number + 1 + MAX_QUOTED_TOKENS] if quote else ():
        if quote in token:
            yield end
            break
    while first.endswith(",") and number + 1 < len(tokens):
        number += 1
        _, end, first = tokens[number]
        yield end


@cache
def template(known: Known, says: tuple[str, ...] = ()) -> Template:
    """Return the template of a known text. `says` has the texts of the clauses of the same provider."""
    sample = known.sample
    match = re.search(known.pattern, sample, re.MULTILINE)
    fields = [(start, end, "") for start, end in _spans_of_fields(sample, says)]
    fields += [(*one.span(), "") for one in _ID.finditer(sample)]
    if match:
        fields += [(*match.span(name), name) for name in match.re.groupindex if match.span(name)[0] >= 0]
    fields.sort(key=lambda one: (one[2] != "ids", not one[2]))
    parts: list[str | Slot] = []
    core: list[int] = []
    for token in _TOKEN.finditer(sample):
        in_field = False
        for found in _NAME.finditer(token[0]):
            start, end = token.start() + found.start(), token.start() + found.end()
            name = next((name for first, last, name in fields if first < end and start < last), None)
            in_field = in_field or name is not None or any(map(str.isdigit, found[0]))
            if not in_field:
                parts.append(found[0].lower())
            elif not parts or not isinstance(parts[-1], Slot):
                parts.append(Slot(name or ""))
            if match and match.start() < end and start < match.end():
                core.append(len(parts) - 1)
    fixed = [part for part in parts if isinstance(part, str)]
    characters = sum(1 + (1 if any(map(str.isdigit, word)) else len(word)) for word in _NAME.findall(sample))
    return Template(tuple(parts), frozenset(fixed), characters, (core[0], core[-1] + 1) if core else (0, 0))


def _spans_of_fields(sample: str, says: Iterable[str]) -> Iterator[tuple[int, int]]:
    for text in says:
        if _FIELD.search(text):
            match = _expression(text).search(sample)
            if match:
                yield from (match.span(number) for number in range(1, match.re.groups + 1))


@cache
def _expression(says: str) -> re.Pattern[str]:
    """Return an expression for a clause's text, in which each field is a group."""
    fixed = [re.escape(one.replace("{{", "{").replace("}}", "}").rstrip(".")) for one in _FIELD.split(says)]
    return re.compile(r"(\S*?)".join(fixed) if fixed[-1] else r"(\S*?)".join(fixed[:-1]) + r"(\S*)")


def align_part(text: Words, known: Template) -> Aligned | None:
    """Return how a text agrees with a part of a template."""
    size = len(text.words)
    if size > MAX_PART_WORDS or len(known.fixed.intersection(text.words)) < min(2, size - 1):
        return None
    starts = {place: _State() for place in range(len(known.parts))}
    found = [_aligned(state, text, known) for state in _reached(text, known.parts, 0, starts, is_part=True)]
    return max((one for one in found if one), key=lambda one: one.likeness, default=None)


def align_whole(text: Words, known: Template) -> Aligned | None:
    """Return how a template agrees with a part of a text."""
    if not known.fixed or not known.fixed.issubset(text.words):
        return None
    first = next(place for place, part in enumerate(known.parts) if isinstance(part, str))
    last = max(place for place, part in enumerate(known.parts) if isinstance(part, str))
    parts = known.parts[: last + 1]
    for start, word in enumerate(text.words):
        if word == parts[first]:
            for state in _reached(text, parts, start, {first: _State()}, is_part=False):
                aligned = _aligned(state, text, known)
                if aligned and not aligned.is_short:
                    return Aligned(
                        known.characters / len(text.text), aligned.characters, False, aligned.values
                    )
    return None


def _reached(
    text: Words, parts: tuple[str | Slot, ...], start: int, places: dict[int, _State], is_part: bool
) -> Iterator[_State]:
    """Yield the states at the end of the text, or at the end of the template."""
    size = len(text.words)
    states: dict[int, dict[int, _State]] = {start: places}
    for at in range(start, size):
        if not states:
            return
        here = states.pop(at, {})
        for place in range(len(parts)):  # in order, since an empty value leads to the next place
            state = here.get(place)
            if state is None:
                continue
            edges = (at == 0 and is_part, at == size - 1 and is_part)
            for end, after, further in _steps(text, at, parts[place], place, state, edges):
                if after == len(parts) and (end == size or not is_part):
                    yield further
                elif after < len(parts):
                    _keep(here if end == at else states.setdefault(end, {}), after, further)
    yield from states.get(size, {}).values()


def _steps(
    text: Words, at: int, part: str | Slot, place: int, state: _State, edges: tuple[bool, bool]
) -> Iterator[tuple[int, int, _State]]:
    """Yield where a comparison may continue: the word, the part of the template, and the state."""
    if isinstance(part, Slot):
        yield at, place + 1, state
        for end in text.ends[at]:
            yield end, place + 1, _State(state.fixed, (*state.values, (part.name, at, end)))
    elif _agrees(part, text.words[at], *edges):
        yield at + 1, place + 1, _State((*state.fixed, place), state.values)
    elif not text.words[at]:
        yield at + 1, place, state


def _keep(states: dict[int, _State], place: int, state: _State) -> None:
    if place not in states or len(states[place].fixed) < len(state.fixed):
        states[place] = state


def _agrees(fixed: str, word: str, is_first: bool, is_last: bool) -> bool:
    """Whether a word is the fixed one; the first and the last word of a fragment may be cut."""
    if fixed == word:
        return True
    return len(word) > 1 and ((is_last and fixed.startswith(word)) or (is_first and fixed.endswith(word)))


def _aligned(state: _State, text: Words, known: Template) -> Aligned | None:
    """Return the agreement where the fixed words suffice."""
    fixed = [str(known.parts[place]) for place in state.fixed]
    characters = len(" ".join(fixed))
    content = sum(word not in FUNCTION_WORDS for word in fixed)
    if content < MIN_CONTENT_WORDS or characters < MIN_SHORT_CHARACTERS:
        return None
    is_short = len(fixed) < MIN_WORDS or characters < MIN_CHARACTERS
    values = [
        (name, text.text[text.spans[at][0] : text.spans[end - 1][1]])
        for name, at, end in state.values
        if end > at
    ]
    if is_short:
        first, end = known.core
        is_core = first <= state.fixed[0] and state.fixed[-1] < end
        if not is_core or any(value.isalpha() for _, value in values):
            return None  # a plain word beside a few fixed ones may belong to any sentence
    return Aligned(
        characters / known.characters, characters, is_short, {name: value for name, value in values if name}
    )
