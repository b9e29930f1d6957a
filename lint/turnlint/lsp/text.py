"""Convert between byte offsets and positions of an editor.

Lines end as in editors, and columns count UTF-16 code units.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import AnyStr

from turnlint.documents.columns import measure

Position = tuple[int, int]
"""A line and a UTF-16 code unit in it, both counted from 0."""

_ENDS = re.compile("\r\n?|\n")
_BYTE_ENDS = re.compile(b"\r\n?|\n")


class Text:
    """An immutable text.

    Its bytes and lines are computed on first use: of many changes in a row only the last is linted.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def data(self) -> bytes:
        """Return the bytes.

        A lone surrogate is replaced by another character of one UTF-16 unit, so that columns stay right.
        """
        try:
            return self.text.encode()
        except UnicodeEncodeError:
            return self.text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()

    @cached_property
    def is_whole(self) -> bool:
        """Whether the bytes represent the whole text."""
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
        """Return the positions of byte offsets.

        Each byte of a line is counted once, independent of the number of offsets.
        """
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
        """Return the text with the part between two positions replaced."""
        first, last = sorted((self._index(start), self._index(end)))
        return Text(self.text[:first] + words + self.text[last:])

    def _index(self, position: Position) -> int:
        """Return the index of a position. A position behind the end of its line, or of all lines, means that end."""
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
    """Yield the starts of lines that all end the same; ten times as fast as a pattern (2026-11)."""
    at = 0
    while at >= 0:
        yield at
        at = text.find(end, at) + 1 or -1
