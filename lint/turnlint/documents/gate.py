"""Define the interface of a scanner, which checks the lines of a log before they are parsed."""

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
    """A line that has to be parsed."""

    start: int
    end: int
    """The end of its bytes in the window, without the line end."""
    line: int
    """The number of lines of the window before it."""
    passed: int
    """The number of conversations of the window that were accepted before it."""
    known: Known | None = None


class Ended(Struct):
    """Conversations that ended while a window was scanned."""

    found: list[Any]


class Scan(Struct):
    """The result of a scanner for one window, filled while it scans."""

    spans: Iterable[Span | Ended] = ()
    """The spans in order. The content of a span is parsed before the next span is computed."""
    lines: int = 0
    """The number of lines of the window, once all spans are consumed."""
    passed: int = 0
    """The number of conversations that the scanner accepted, once all spans are consumed."""


class Scanner(Protocol):
    """A first check of whole lines, which selects the lines that have to be parsed.

    A scanner accepts a line only where parsing it would give no finding.
    """

    decides_at_once: bool
    """Whether it decides on each record alone, and keeps none for a conversation of several records."""

    def scan(self, window: bytes, line: int, offset: int, /) -> Scan:
        """Scan a window that ends with a line end or at the end of the log. It starts at this line and offset."""


class Gate(Struct):
    """The state of the scanner of a log, once a scanner is chosen. Only logs of one record per line have a scanner."""

    scanner: Scanner | None = None
    passed: int = 0
    """The number of conversations that the scanner accepted before the last record that was yielded."""
    lines: int | None = None
    """The number of parsed lines, if the log consists of lines."""
    grows: bool = False
    """Whether more lines may follow the last one."""
    left: int | None = None
    """The offset of a split record at the end that is not parsed until it is complete."""
    returned: bool = False
    """Whether a line with a carriage return at its end was found."""


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
    """Whether a line after a closing bracket begins a record and continues no other, from its first bytes.

    Inside a string a quotation mark is escaped, or ends the string. Outside, no opening bracket follows a closing one.
    """
    rest = start.lstrip(b"{[ ")
    return rest != start and rest[:1] == b'"' and len(rest) > 1 and rest[1:2] not in _AFTER
