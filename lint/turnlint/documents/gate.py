"""Where somebody may look at the lines of a log before they are read.

This module owns what is asked of a scanner, and what it promises. It refuses to know any.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from msgspec import Struct

from turnlint.model import Known

START_BYTES = 8
"""The number of bytes of a line that decide whether it begins a record."""
_SPACE = b" \t\r\n"
_AFTER = b",:]} \t\r\n"
"""The bytes that may follow the end of a string."""


class Span(Struct, gc=False):
    """A line that has to be read."""

    start: int
    end: int
    """Its bytes in the window, without the line end."""
    line: int
    """How many lines of the window stand before it."""
    passed: int
    """How many conversations of the window were accepted before it."""
    known: Known | None = None


class Ended(Struct):
    """Conversations that came to their end while a window was looked at."""

    found: list[Any]


class Scan(Struct):
    """What a scanner says of one window, while it looks at it."""

    spans: Iterable[Span | Ended] = ()
    """In order. What a span holds is read before the next one is asked for."""
    lines: int = 0
    """All lines of the window, once the spans are at their end."""
    passed: int = 0
    """How many conversations it vouches for, by then."""


class Scanner(Protocol):
    """Looks at whole lines first, and tells which of them have to be read.

    It vouches for a line only where reading it would find nothing to say.
    """

    def scan(self, window: bytes, line: int, offset: int, /) -> Scan:
        """The window ends with a line end, or where the log does. It starts with this line, at this byte."""


class Gate(Struct):
    """Where a scanner stands, once it is known which one. Only logs of one record a line come by here."""

    scanner: Scanner | None = None
    passed: int = 0
    """How many conversations it let pass before the record that was given out last."""
    lines: int | None = None
    """How many lines were read, where the log is one of lines."""
    grows: bool = False
    """More lines may follow the last one."""
    left: int | None = None
    """The offset of a split record at the end that is left until it is whole."""
    returned: bool = False
    """A line was met that ends with a carriage return."""


def may_be_split(line: bytes, following: bytes) -> bool:
    """Whether a line may be the first of a split record, from its own bytes and the first bytes of the next line."""
    if line[:1] != b"{" and line.lstrip(_SPACE)[:1] != b"{":
        return False
    if line.rstrip(_SPACE)[-1:] != b"}" or following[:1] not in (b"{", b""):
        return True
    if begins_record(following):
        return False
    plain = line.replace(rb"\\", b"") if rb"\\" in line else line
    if (plain.count(b'"') - plain.count(rb"\"")) % 2:
        return True
    return not following and (line.count(b"{") != line.count(b"}") or line.count(b"[") != line.count(b"]"))


def ends_record(block: bytes, end: int) -> bool:
    """Whether a record ends at a line end, for the usual spelling of it and of the next record."""
    return block[end - 1 : end + 3] == b'}\n{"' and block[end + 3 : end + 4] not in _AFTER


def begins_record(start: bytes) -> bool:
    """Whether a line behind a closing bracket begins a record and continues no other, from its first bytes.

    Inside a string a quotation mark is escaped, or ends the string. Outside, no opening bracket is behind a closing one.
    """
    rest = start.lstrip(b"{[ ")
    return rest != start and rest[:1] == b'"' and len(rest) > 1 and rest[1:2] not in _AFTER
