"""The text of a document, as an editor counts it.

This module owns positions: lines that end as editors end them, and code units of UTF-16 within a line, from the bytes
that the engine counts and back. It refuses to know what a text says.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

from turnlint.documents.columns import measure

Position = tuple[int, int]
"""A line and a code unit of UTF-16 in it, both counted from 0."""

_ENDS = re.compile("\r\n|\n|\r")
_BYTE_ENDS = re.compile(b"\r\n|\n|\r")


class Text:
    """A text that does not change, and its bytes."""

    def __init__(self, text: str) -> None:
        try:
            self.data = text.encode()
        except UnicodeEncodeError:
            # A lone surrogate is no character and has no bytes. It keeps its one unit, and columns stay right.
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            self.data = text.encode()
            self.is_whole = False
        else:
            self.is_whole = True
            """What its bytes say is all that it says."""
        self.text = text

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(end.end() for end in _ENDS.finditer(self.text))]

    @cached_property
    def _byte_lines(self) -> list[int]:
        return [0, *(end.end() for end in _BYTE_ENDS.finditer(self.data))]

    def positions(self, offsets: Iterable[int]) -> dict[int, Position]:
        """Where some bytes stand. Each byte of a line is counted once, however many are asked for."""
        found: dict[int, Position] = {}
        line, at, unit = 0, 0, 0
        for offset in sorted(set(offsets)):
            end = min(offset, len(self.data))
            here = bisect_right(self._byte_lines, end) - 1
            if here != line:
                line, at, unit = here, self._byte_lines[here], 0
            width, (_, more) = measure(self.data[at:end])
            unit += width + more
            at = end
            found[offset] = (line, unit)
        return found

    def changed(self, start: Position, end: Position, words: str) -> "Text":
        """The text with other words between two positions."""
        first, last = sorted((self._index(start), self._index(end)))
        return Text(self.text[:first] + words + self.text[last:])

    def _index(self, position: Position) -> int:
        """A position that is behind the end of its line, or of all lines, means that end."""
        line, unit = position
        if line >= len(self._lines):
            return len(self.text)
        start = self._lines[line]
        words = self.text[start : self._lines[line + 1] if line + 1 < len(self._lines) else None]
        words = words.rstrip("\r\n")
        if words.isascii():
            return start + min(unit, len(words))
        return start + len(words.encode("utf-16-le")[: 2 * unit].decode("utf-16-le", "ignore"))
