"""Join a record that line breaks split over several lines.

A log has one record a line. A writer that does not escape line breaks, or a tool that wraps lines, splits a record.
The lines are joined only if together they are exactly one JSON object and none of them is an object by itself.
"""

import re
from collections.abc import Sequence
from typing import Literal

from turnlint.documents.tokens import (
    COLON,
    END,
    MARK,
    NOTHING,
    OPEN_STRING,
    SCALAR,
    VALUE,
    VALUE_OR_END,
    Grammar,
    find_closing_quote,
    find_scalar_end,
    tokenize,
)
from turnlint.documents.trouble import Damage, Trouble
from turnlint.model import Break, Record

MAX_LINES = 10_000
MAX_BYTES = 1 << 25
"""The maximum number of lines and of bytes of a split record."""
MIN_OPAQUE_CHARACTERS = 64
"""No text in a natural language has so many letters and digits without a space."""

Outcome = Literal["open", "whole", "failed"]

_SCALARS = re.compile(
    rb"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|-?Infinity|NaN|True|False|None|undefined"
)
_CUT_UNICODE = re.compile(rb"\\u[0-9A-Fa-f]{0,3}$")
_HIGH_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9A-Fa-f]{2}$")
_LOW_SURROGATE = re.compile(rb"\\u[dD][c-fC-F][0-9A-Fa-f]{2}")
_HEX = re.compile(rb"[0-9A-Fa-f]*")
_OPAQUE = re.compile(rb"[A-Za-z0-9+/=_\-]*+")
_NAMING = re.compile(
    rb"(?:id|ids|uuid|key|parent|conversation|thread|session|type|role|from|author|sender|speaker|name|tool|model|kind"
    rb"|status|state|object|event|method|format|encoding|subtype|level|timestamp|ts|time|date|created|version|signature)$"
    rb"|.*(?:_(?:id|ids|uuid|type|name|reason|at|signature)|(?:Id|ID|Uuid|Type|Name|Reason|At|Signature))$"
)
"""Keys of ids, names, types and times: their values have no line breaks."""
_IDENTIFYING = re.compile(rb"(?i:ids?|uuid|role|type|signature)$")
"""Keys whose values have no space. A name or a time may have one."""
MIN_INDENTATION = 2
"""One space may belong to a name or to a key."""


class _Text:
    """A JSON object that grows, parsed up to its end without building values."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.at = 0
        """The number of parsed bytes."""
        self.grammar = Grammar()
        self.in_string = False
        self.scalar_to = 0
        """The end of a scalar that more bytes may continue, or 0."""
        self.start = 0
        """The start of the open string."""
        self.key = b""
        """The last key."""
        self.is_naming: bool | None = None
        """Whether the values of this key have no line breaks. It is cached, since the check of a long key is slow."""
        self.opaque_to = 0
        """The end of the part of the open string that has only letters and digits; -1 where other characters follow."""
        self.inner: _Text | None = None
        """The open string parsed as a JSON object (such as arguments), up to the last line break."""
        self.inner_to = 0

    @property
    def is_done(self) -> bool:
        return self.grammar.expects == NOTHING and self.at == len(self.data)

    @property
    def is_key(self) -> bool:
        """Whether the last string is a key."""
        return self.grammar.expects == COLON

    def feed(self, piece: bytes) -> bool:
        """Parse more bytes. Returns false for a syntax error, also for bytes after the object."""
        self.data += piece
        if self.in_string and not self._finish_string():
            return True
        grammar, size = self.grammar, len(self.data)
        if self.scalar_to:
            self.scalar_to = find_scalar_end(self.data, self.scalar_to)
            if self.scalar_to == size:
                return True
            self.scalar_to = 0
        for kind, start, end in tokenize(self.data, self.at):
            if kind == END or (kind == SCALAR and end == size):
                self.at = start
                self.scalar_to = end if kind == SCALAR else 0
                return kind == END or (grammar.expects in (VALUE, VALUE_OR_END) and bool(grammar.closers))
            head = self.data[start]
            if not (grammar.closers or head == 0x7B) or not grammar.accept(kind, head):
                return False
            if kind == SCALAR:
                if _SCALARS.fullmatch(self.data, start, end) is None:
                    return False
            elif kind == OPEN_STRING:
                self._begin_string(start + 1)
                return True
            elif kind != MARK and grammar.expects == COLON:
                self.key, self.is_naming = bytes(self.data[start + 1 : end - 1]), None
        raise AssertionError  # the last token is the end

    def _begin_string(self, start: int) -> None:
        self.start = self.opaque_to = self.inner_to = start
        self.inner = None
        self.at = find_closing_quote(self.data, start)
        self.in_string = True

    def _finish_string(self) -> bool:
        self.at = find_closing_quote(self.data, self.at)
        if self.at == len(self.data) or self.data[self.at] != 0x22:
            return False
        if self.is_key:
            self.key, self.is_naming = bytes(self.data[self.start : self.at]), None
        self.at += 1
        self.in_string = False
        return True

    def written(self, line_end: bytes, following: bytes) -> tuple[bytes, int]:
        """Return the replacement of a line break here, and the length of the indentation to remove with it.

        A tool that wraps lines may indent them. In a key, an id or a number the indentation would change the value.
        """
        if self.scalar_to:
            return b"", _indentation(following)
        if not self.in_string:
            return b"", 0
        if self.is_key:
            return b"", _indentation(following, least=MIN_INDENTATION)
        if self.is_naming is None:
            self.is_naming = _NAMING.match(self.key) is not None
        if self.is_naming:
            least = 1 if _IDENTIFYING.search(self.key) else MIN_INDENTATION
            return b"", _indentation(following, least=least)
        if self._is_cut(following):
            return b"", 0
        indentation = _indentation(following, least=MIN_INDENTATION)
        rest = following[indentation:]
        if (indentation and self._is_cut(rest)) or self._is_opaque(rest):
            return b"", indentation
        if self._is_in_object():
            assert self.inner is not None
            written, indentation = self.inner.written(line_end, following)
            return written.replace(b"\\", rb"\\"), indentation
        return line_end.replace(b"\r", rb"\r").replace(b"\n", rb"\n"), 0

    def _is_in_object(self) -> bool:
        """Whether the open string is a JSON object so far."""
        if self.inner_to == self.start:
            self.inner = _Text() if self.data[self.start : self.start + 1] == b"{" else None
        if self.inner is not None:
            text = _decoded(bytes(self.data[self.inner_to :]))
            is_object = text is not None and self.inner.feed(text) and not self.inner.is_done
            self.inner = self.inner if is_object else None
        self.inner_to = len(self.data)
        return self.inner is not None

    def _is_cut(self, following: bytes) -> bool:
        """Whether the line break is inside an escape or a character."""
        if self.at < len(self.data) or following[:1] in _CONTINUATIONS:
            return True
        tail = bytes(self.data[max(self.start, len(self.data) - 6) :])
        cut = _CUT_UNICODE.search(tail)
        if cut and not self._is_escaped(len(tail) - cut.start()):
            digits = _HEX.match(following)
            return digits is not None and len(tail) - cut.start() - 2 + len(digits[0]) >= 4
        high = _HIGH_SURROGATE.search(tail)
        return bool(high and not self._is_escaped(6) and _LOW_SURROGATE.match(following))

    def _is_escaped(self, back: int) -> bool:
        """Whether a backslash this many bytes before the end is itself escaped."""
        end = at = len(self.data) - back
        while at > self.start and self.data[at - 1] == 0x5C:
            at -= 1
        return (end - at) % 2 == 1

    def _is_opaque(self, following: bytes) -> bool:
        """Whether the string is a signature, encoded data or a long id."""
        if self.opaque_to < self.start:
            return False
        match, rest = _OPAQUE.match(self.data, self.opaque_to), _OPAQUE.match(following)
        assert match is not None
        assert rest is not None
        self.opaque_to = match.end() if match.end() == len(self.data) else -1
        ends = rest.end() == len(following) or following[rest.end() :][:1] in (b'"', b"\r")
        length = len(self.data) - self.start + rest.end()
        return self.opaque_to >= self.start and ends and length >= MIN_OPAQUE_CHARACTERS


_CONTINUATIONS = frozenset(bytes((one,)) for one in range(0x80, 0xC0))


def _decoded(piece: bytes) -> bytes | None:
    """Return a part of a string without its escapes, where all of them are valid."""
    from json import loads

    try:
        return str(loads(b'"' + piece + b'"', strict=False)).encode(errors="surrogatepass")
    except ValueError:
        return None


def _indentation(line: bytes, least: int = 1) -> int:
    """Return the number of spaces and tabs before a line; 0 for fewer than the least, unless a tab is among them."""
    count = len(line) - len(line.lstrip(b" \t"))
    return count if count >= least or b"\t" in line[:count] else 0


def is_object(line: bytes) -> bool:
    """Whether a line is a JSON object with members, so that it belongs to no other."""
    if b'"' not in line or line.lstrip()[:1] != b"{" or line.rstrip()[-1:] != b"}":
        return False
    text = _Text()
    return text.feed(line) and text.is_done


class Split:
    """The first lines of a record that may be split."""

    def __init__(self, line: bytes, number: int, offset: int, limit: int = MAX_BYTES) -> None:
        self.limit = min(limit, MAX_BYTES)
        self.lines = [(line, number, offset)]
        self.end = offset + len(line) + 1
        """The offset of the next line."""
        self.text = _Text()
        self.breaks: list[Break] = []
        self.breaks_in_text = 0
        """The number of line breaks in strings."""
        self.breaks_in_names = 0
        """The number of line breaks in keys, ids and other values that normally have none."""
        self.is_open = (
            len(line) <= self.limit and self.text.feed(line.removesuffix(b"\r")) and not self.text.is_done
        )

    def add(self, line: bytes, number: int, offset: int) -> Outcome:
        """Add the next line."""
        before = self.lines[-1][0]
        contiguous = offset == self.end
        self.lines.append((line, number, offset))
        self.end = offset + len(line) + 1
        too_long = len(self.lines) > MAX_LINES or self.end - self.lines[0][2] > self.limit
        if not contiguous or too_long or is_object(line):
            return "failed"
        old = b"\r\n" if before.endswith(b"\r") else b"\n"
        self.breaks_in_text += self.text.in_string
        new, indentation = self.text.written(old, line)
        self.breaks_in_names += self.text.in_string and not new
        self.breaks.append(Break(len(self.text.data), old + line[:indentation], new))
        if not self.text.feed(new + line[indentation:].removesuffix(b"\r")):
            return "failed"
        return "whole" if self.text.is_done else "open"

    def joined(self, column: int, extra: tuple[int, int]) -> Record:
        """Return the record without its line breaks."""
        _, number, offset = self.lines[0]
        data = bytes(self.text.data)
        return Record(number, offset, data, (), column, extra=extra, breaks=tuple(self.breaks))


def is_split_log(lines: Sequence[bytes]) -> bool:
    """Whether these lines begin a log whose first record is split, and no document that spans lines."""
    split: Split | None = None
    joined = breaks = in_text = in_names = offset = 0
    for number, line in enumerate(lines):
        if split is not None:
            outcome = split.add(line, 0, offset)
            if outcome == "failed":
                # No document has two objects in a row without a comma between them.
                return all(is_object(one) for one in lines[number : number + 2]) and number + 1 < len(lines)
            if outcome == "whole":
                breaks += len(split.breaks)
                in_text += split.breaks_in_text
                in_names += split.breaks_in_names
                split, joined = None, joined + 1
        elif line.strip():
            if is_object(line):
                return joined > 0
            split = Split(line, 0, offset)
            if not split.is_open:
                return False
        offset += len(line) + 1
    # A document has its line breaks between its members. A tool that wraps lines breaks them at any place.
    return joined > 0 and (in_text * 2 >= breaks or (in_names > 0 and joined > 1))


def damage_of(record: Record) -> Damage:
    """Return the damage of a record that was joined."""
    first = record.breaks[0]
    detail = f"{len(record.breaks) + 1:,} lines"
    return Damage(record, Trouble("split-record", first.at, first.at + len(first.new), (), detail))
