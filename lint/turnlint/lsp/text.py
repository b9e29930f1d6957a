"""The text of a document, as an editor counts it.

This module owns positions: lines that end as editors end them, and code units of UTF-16 within a line, from the bytes
that the engine counts and back. It refuses to know what a text says.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import AnyStr

from turnlint.documents.columns import measure

Position = tuple[int, int]
"""A line and a code unit of UTF-16 in it, both counted from 0."""

_ENDS = re.compile("\r\n?|\n")
_BYTE_ENDS = re.compile(b"\r\n?|\n")


class Text:
    """A text that does not change.

    Its bytes and lines are worked out when they are asked for: of many changes in a row only the last is looked at.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def data(self) -> bytes:
        """The bytes. A lone surrogate has none: another character stands for it, of one unit too, so that columns stay right."""
        try:
            return self.text.encode()
        except UnicodeEncodeError:
            return self.text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()

    @cached_property
    def is_whole(self) -> bool:
        """What its bytes say is all that it says."""
        return self.data.decode() == self.text

    @cached_property
    def _lines(self) -> list[int]:
        if "\r" in self.text:
            return [0, *(end.end() for end in _ENDS.finditer(self.text))]
        return list(_starts(self.text, "\n"))

    @cached_property
    def _byte_lines(self) -> list[int]:
        if b"\r" in self.data:
            return [0, *(end.end() for end in _BYTE_ENDS.finditer(self.data))]
        return list(_starts(self.data, b"\n"))

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
        units = words.encode("utf-16-le", "surrogatepass")
        return start + len(units[: 2 * unit].decode("utf-16-le", "surrogatepass"))


def _starts(text: AnyStr, end: AnyStr) -> Iterator[int]:
    """Where lines start that all end alike; ten times as quick as a pattern (2026-11)."""
    at = 0
    while at >= 0:
        yield at
        at = text.find(end, at) + 1 or -1
