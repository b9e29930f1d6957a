"""Find the findings of a conversation that match an error text.

The module extracts ids and positions from the text and compares them with each finding.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct

from turnlint.documents.source import Source, open_source
from turnlint.errors import DecompressionError, SourceError
from turnlint.rows import Row
from turnlint.why.recognising import Match

MOST_READ = 256 << 20
_INDEX = re.compile(
    r"\b(?:messages?|input|contents)(?:\.\[|\[|\.| ?at index | index | at position )(\d{1,7})\b|"
    r"\b(?:at|message) (?:position|index) (\d{1,7})\b",
)
_ID = re.compile(
    r"(?<![\w.:-])(?:call|toolu|tooluse|srvtoolu|mcptoolu|chatcmpl-tool|fc|functions\.[\w.-]{1,80}:\d|rs|msg)"
    r"[_-]?[A-Za-z0-9_|=-]{3,120}(?<![_-])"
)
_LENGTH = re.compile(r"\bwith length (\d{1,9})\b")
MOST_IDS = 20
CUT = 8
"""Number of characters that identify an id: people shorten ids in quotes."""


class Clues(Struct, frozen=True):
    """The ids and positions in a text."""

    text: str
    ids: tuple[str, ...] = ()
    indices: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.ids or self.indices or self.lengths)


class Agreed(Struct, frozen=True, order=True):
    """How well a finding matches a text; a greater value is a better match."""

    words: bool = False
    """Whether the provider's text for the finding equals this text."""
    id: bool = False
    length: bool = False
    index: bool = False
    nearly: bool = False
    """Whether it is one message off: some providers count the call's message, some the one after."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reasons as words for people."""
        told = (
            (self.words, "the exact text"),
            (self.id, "the call id"),
            (self.length, "the length of the id"),
            (self.index, "the position"),
            (self.nearly and not self.index, "the position (off by one)"),
        )
        return tuple(word for holds, word in told if holds)


def clues_of(match: Match) -> Clues:
    """Return the ids and positions in a recognised text."""
    named = [part.strip(" .`'\"[]") for part in re.split(r"[,\s]+", match.fields.get("ids", ""))]
    ids = dict.fromkeys([one for one in named if one] + _ID.findall(match.line))
    numbers = [number for groups in _INDEX.findall(match.line) for number in groups if number]
    if match.fields.get("index", "").isdigit():
        numbers.insert(0, match.fields["index"])
    indices = tuple(dict.fromkeys(map(int, numbers)))
    lengths = tuple(map(int, _LENGTH.findall(match.line)))
    return Clues(match.line, tuple(ids)[:MOST_IDS], indices, lengths)


def agreement(row: Row, clues: Clues) -> Agreed:
    """Return how well a finding matches the ids and positions of a text."""
    finding = row.finding
    indices = _indices(row)
    return Agreed(
        words=_same(finding.provider_error, clues.text),
        id=bool(finding.call_id) and _names(finding.call_id or "", clues),
        length=bool(finding.call_id) and len(finding.call_id or "") in clues.lengths,
        index=any(index in indices for index in clues.indices),
        nearly=any(index + step in indices for index in clues.indices for step in (-1, 1)),
    )


def _indices(row: Row) -> set[int]:
    """Return the numbers that a provider may give the message: as the conversation counts, and as the request does."""
    found = {row.finding.message_index} if row.finding.message_index is not None else set()
    parts = row.place.pointer.split("/")
    for key, number in pairwise(parts):
        if key in ("messages", "input", "contents", "history") and number.isdigit():
            found.add(int(number))
    return {index for index in found if index is not None}


def _names(identifier: str, clues: Clues) -> bool:
    if identifier in clues.ids or any(len(one) >= CUT and identifier.startswith(one) for one in clues.ids):
        return True
    if len(identifier) < 3:
        return False
    return re.search(rf"(?<![\w-]){re.escape(identifier)}(?![\w-])", clues.text) is not None


def _same(told: str | None, text: str) -> bool:
    if not told or "…" in told:
        return False
    mine, theirs = " ".join(told.split()).rstrip("."), " ".join(text.split())
    return bool(mine) and mine in theirs


def standing_in(source: Source, words: Iterable[str]) -> set[str]:
    """Return the ids that occur in a file. If it cannot be read twice, return all of them."""
    wanted = {word: word.encode("utf-8", "surrogatepass") for word in words}
    if not source.again or not wanted:
        return set(wanted)
    found: set[str] = set()
    longest = max(map(len, wanted.values()))
    kept, count = b"", 0
    try:
        with open_source(source) as stream:
            while (piece := stream.read(1 << 20)) and count < MOST_READ:
                count += len(piece)
                kept = kept[-longest:] + piece
                found |= {word for word, data in wanted.items() if data in kept}
    except DecompressionError:
        pass
    except (SourceError, OSError):
        return set(wanted)
    return found
