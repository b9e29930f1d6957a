"""Parse one JSON text slowly and exactly.

The module defines the grammar of JSON and the ways in which loggers break it. Where the meaning is plain (a raw newline
in a string, `NaN`, an extra comma), the parser notes the fault and continues. Where it would have to guess, it stops.
It does not recurse, so no input can exhaust the stack.
"""

import re
from functools import lru_cache
from typing import Any

from msgspec import Struct, json, structs

from turnlint.documents.tokens import (
    COLON,
    COMMA_OR_END,
    KEY_OR_END,
    MARK,
    OTHER_STRING,
    PLAIN_STRING,
    SCALAR,
    Grammar,
    find_string_end,
    skip_space,
    tokenize,
)
from turnlint.documents.trouble import Kind, Trouble
from turnlint.model import Pointer

DEEPEST = 1000
"""Python's parser and most others fail at about this depth; orjson at 1,024 (measured 2026-11)."""

MAX_TROUBLES = 100_000
"""Each damaged place takes 1.7 kB until its finding is shown. A record with more is not parsed further."""
MAX_DUPLICATES = 100
"""The number of duplicate keys of a record that have a finding each."""

_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LOOSE_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]*)?")
_WORD = re.compile(rb"-?[A-Za-z_]+")
_HEX_DIGITS = b"0123456789abcdefABCDEF"
_HEX = re.compile(rb"[0-9a-fA-F]{4}")
_text = json.Decoder(str)
_ESCAPES = {
    0x22: '"', 0x5C: "\\", 0x2F: "/", 0x62: "\b", 0x66: "\f", 0x6E: "\n", 0x72: "\r", 0x74: "\t",
}  # fmt: skip
_WORDS: dict[bytes, tuple[Any, Kind | None]] = {
    b"true": (True, None),
    b"false": (False, None),
    b"null": (None, None),
    b"NaN": (None, "not-a-number"),
    b"Infinity": (None, "not-a-number"),
    b"-Infinity": (None, "not-a-number"),
    b"-NaN": (None, "not-a-number"),
    b"True": (True, "python-literal"),
    b"False": (False, "python-literal"),
    b"None": (None, "python-literal"),
    b"undefined": (None, "python-literal"),
}


class Reading(Struct):
    """The result: the value, if the text was parsed to its end, and all faults on the way."""

    value: Any
    whole: bool
    """Whether the text was parsed to the end of its value."""
    end: int
    """The offset after the value."""
    troubles: list[Trouble]


class _Stop(Exception):  # noqa: N818 - control flow inside this file, never seen outside
    pass


class _Frame(Struct, gc=False):
    container: Any
    key: str | int
    keys: dict[str, int] | None
    """The start of each key of an object."""

    def add(self, value: Any) -> None:
        if self.keys is None:
            self.container.append(value)
        else:
            self.container[self.key] = value

    def go_on(self, step: int = 1) -> None:
        """Go to the next element of an array, at the comma before it."""
        if isinstance(self.key, int):
            self.key += step


@lru_cache(maxsize=1)
def read(data: bytes) -> Reading:
    """Parse one JSON value from the start of `data`. The last result is cached: callers must not change it.

    Framing, the choice of a format and the decoder parse the same damaged record one after another.
    """
    return _Reader(data).read()


def parse(data: bytes) -> Any:
    """Return the value at the start of `data`, in containers that the caller may change."""
    return _Reader(data).read().value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.pos = 0
        self.stack: list[_Frame] = []
        self.troubles: list[Trouble] = []
        self.path: Pointer = ()
        self.duplicates = 0
        self.more_duplicates: int | None = None
        """The index of the trouble that counts the other duplicates."""
        self.path_frame: _Frame | None = None
        """The frame of `path`, referenced so that no later frame has its identity."""

    def read(self) -> Reading:
        reading = self._read()
        self._count_duplicates()
        return reading

    def _read(self) -> Reading:
        try:
            value = self._parse()
        except _Stop:
            return Reading(None, False, self.pos, self.troubles)
        end = self.pos
        self.pos = skip_space(self.data, end)
        if self.pos < len(self.data):
            if not isinstance(value, (dict, list)):  # a number or a word before other text is no record
                self._note("syntax", self.pos, self.pos + 1, "expected an object or a list")
                return Reading(None, False, end, self.troubles)
            self._note("joined-records", self.pos, self.pos + 1)
        return Reading(value, True, end, self.troubles)

    def _path(self) -> Pointer:
        """Return the current pointer. All faults at one place share a tuple: a string may hold a million faults."""
        if not self.stack:
            return ()
        frame = self.stack[-1]
        if frame is not self.path_frame or frame.key != self.path[-1]:
            self.path_frame, self.path = frame, tuple(one.key for one in self.stack)
        return self.path

    def _note(self, kind: Kind, start: int, end: int, detail: str = "") -> None:
        if len(self.troubles) >= MAX_TROUBLES:
            self.troubles.append(
                Trouble("too-many", start, end, self._path(), f"{MAX_TROUBLES:,} damaged places")
            )
            raise _Stop
        self.troubles.append(Trouble(kind, start, min(end, len(self.data)), self._path(), detail))

    def _note_duplicate(self, key: str, start: int, first: int) -> None:
        """Note a duplicate key. Beyond `MAX_DUPLICATES`, duplicates are only counted."""
        self.duplicates += 1
        if self.duplicates <= MAX_DUPLICATES:
            span = (first, find_string_end(self.data, first))
            self.troubles.append(Trouble("duplicate-key", start, self.pos, self._path(), key, span))
        elif self.duplicates == MAX_DUPLICATES + 1:
            self.more_duplicates = len(self.troubles)
            self.troubles.append(Trouble("duplicate-keys", start, self.pos, self._path()))

    def _count_duplicates(self) -> None:
        """Add the number of keys that were only counted."""
        if self.more_duplicates is not None:
            noted = self.troubles[self.more_duplicates]
            count = f"{self.duplicates - MAX_DUPLICATES:,}"
            self.troubles[self.more_duplicates] = structs.replace(noted, detail=count)

    def _stop(self, kind: Kind, detail: str) -> _Stop:
        if self.pos >= len(self.data):
            within = detail if kind == "torn" and detail else self._container_name()
            kind, detail = "torn", f"ends inside {within}"
        path = self._path()
        if self.stack and self.stack[-1].keys is not None and self.stack[-1].key not in self.stack[-1].keys:
            path = path[:-1]
        self.troubles.append(Trouble(kind, self.pos, min(self.pos + 1, len(self.data)), path, detail))
        return _Stop()

    def _container_name(self) -> str:
        if not self.stack:
            return "a value"
        return "an object" if self.stack[-1].keys is not None else "a list"

    def _parse(self) -> Any:
        data, stack, grammar = self.data, self.stack, Grammar()
        comma = 0
        for kind, start, end in tokenize(data):
            self.pos = start
            expects, head = grammar.expects, data[start] if start < end else 0
            if not grammar.accept(kind, head):
                raise self._unexpected(expects, head)
            if kind != MARK:
                if expects == KEY_OR_END:
                    self._add_key(stack[-1], kind, start, end)
                    continue
                value = self._scalar(start, end) if kind == SCALAR else self._text(kind, start, end)
                if self.pos < end and stack:
                    raise self._unexpected(COMMA_OR_END, head)
            elif head in b"{[":
                self._push(is_object=head == 0x7B)
                continue
            elif head in b",:":
                if head == 0x2C:
                    comma = start
                    stack[-1].go_on()
                continue
            else:
                if expects != COMMA_OR_END and stack[-1].container:
                    stack[-1].go_on(-1)
                    self._note("trailing-comma", comma, comma + 1)
                value = stack.pop().container
                self.pos = end
            if not stack:
                return value
            stack[-1].add(value)
        raise AssertionError  # no value ends after the end of the text

    def _unexpected(self, expects: int, head: int) -> _Stop:
        if expects == COMMA_OR_END:
            return self._stop("syntax", f"expected `,` or `{']' if self.stack[-1].keys is None else '}'}`")
        if expects == COLON:
            return self._stop("syntax", "expected `:` after the key")
        if expects != KEY_OR_END:
            return self._stop("syntax", "expected a value")
        if head == 0x27:
            return self._stop("python-literal", "a key in single quotes")
        return self._stop("syntax", "expected a key in double quotes")

    def _push(self, *, is_object: bool) -> None:
        if len(self.stack) >= DEEPEST:
            raise self._stop("too-deep", f"nested deeper than {DEEPEST} levels")
        self.stack.append(_Frame({}, "", {}) if is_object else _Frame([], 0, None))

    def _add_key(self, frame: _Frame, kind: int, start: int, end: int) -> None:
        key = self._text(kind, start, end)
        frame.key = key
        assert frame.keys is not None
        if key in frame.keys:
            self._note_duplicate(key, start, frame.keys[key])
        frame.keys[key] = start

    def _text(self, kind: int, start: int, end: int) -> str:
        """Decode a string. Most strings need no check of their single bytes."""
        try:
            if kind == PLAIN_STRING:
                text = self.data[start + 1 : end - 1].decode()
            elif kind == OTHER_STRING:
                text = _text.decode(self.data[start:end])
            else:
                return self._string()
        except ValueError:
            return self._string()
        self.pos = end
        return text

    def _scalar(self, start: int, end: int) -> Any:
        text = self.data[start:end]
        if len(text) < 19 and text.isdigit() and (text[0] != 0x30 or len(text) == 1):
            self.pos = end
            return int(text)
        word = _WORD.match(text)
        if word and word[0] in _WORDS:
            value, kind = _WORDS[word[0]]
            if kind:
                self._note(kind, start, start + word.end(), word[0].decode())
            self.pos = start + word.end()
            return value
        loose = _LOOSE_NUMBER.match(self.data, start)
        if loose:
            return self._number(_NUMBER.match(self.data, start), loose)
        if text[0] == 0x27:
            raise self._stop("python-literal", "a string in single quotes")
        self._stop_at_end_of_word()
        raise self._stop("syntax", "expected a value")

    def _stop_at_end_of_word(self) -> None:
        """Stop as torn if the text ends inside a word or after a sign."""
        rest = self.data[self.pos : self.pos + 10]
        if self.pos + len(rest) == len(self.data) and any(word.startswith(rest) for word in _WORDS):
            self.pos = len(self.data)
            raise self._stop("torn", "")

    def _number(self, strict: re.Match[bytes] | None, loose: re.Match[bytes]) -> Any:
        start, self.pos = loose.span()
        text = loose[0]
        if strict is None or strict.end() != loose.end():
            if self.pos == len(self.data) and self.stack:
                raise self._stop("torn", "")
            self._note("bad-number", start, self.pos)
            return 0
        if strict[1] or strict[2]:
            value = float(text)
            if value in (float("inf"), float("-inf")):
                self._note("big-integer", start, self.pos, "a number beyond the range of a double")
                return 0
            return value
        if len(text) < 19 or (-(2**63) <= (number := int(text[:40])) < 2**64 and len(text) <= 40):
            return int(text)
        self._note("big-integer", start, self.pos, f"an integer of {len(text.lstrip(b'-'))} digits")
        return float(number)

    def _string(self) -> str:
        data = self.data
        start = self.pos
        pos = start + 1
        parts: list[str] = []
        while True:
            match = _PLAIN.match(data, pos)
            assert match is not None
            if match.end() > pos:
                parts.append(self._utf8(pos, match.end()))
            pos = match.end()
            byte = data[pos] if pos < len(data) else -1
            if byte == 0x22:
                self.pos = pos + 1
                return parts[0] if len(parts) == 1 else "".join(parts)
            self.pos = pos
            if byte == -1:
                raise self._stop("torn", "a string")
            if byte == 0x5C:
                parts.append(self._escape())
            else:
                self._note("control-character", pos, pos + 1, f"\\x{byte:02x}")
                parts.append(chr(byte))
                self.pos += 1
            pos = self.pos

    def _utf8(self, start: int, end: int) -> str:
        piece = self.data[start:end]
        try:
            return piece.decode()
        except UnicodeDecodeError as error:
            self._note(
                "invalid-utf-8", start + error.start, start + error.end, f"\\x{piece[error.start]:02x}"
            )
            return piece.decode(errors="replace")

    def _escape(self) -> str:
        """Decode an escape. A pair of surrogates is one character; half a pair is a fault."""
        data, start = self.data, self.pos
        if start + 1 >= len(data):
            self.pos = len(data)
            raise self._stop("torn", "a string")
        plain = _ESCAPES.get(data[start + 1])
        if plain is not None:
            self.pos = start + 2
            return plain
        digits = _HEX.match(data, start + 2) if data[start + 1] == 0x75 else None
        if digits is None:
            self._stop_if_cut(start)
            self._note("bad-escape", start, start + 2)
            self.pos = start + 2
            return "\ufffd"
        unit = int(digits[0], 16)
        self.pos = digits.end()
        if not 0xD800 <= unit <= 0xDFFF:
            return chr(unit)
        low = _HEX.match(data, self.pos + 2) if data[self.pos : self.pos + 2] == b"\\u" else None
        if unit < 0xDC00 and low and 0xDC00 <= (second := int(low[0], 16)) <= 0xDFFF:
            self.pos = low.end()
            return chr(0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00))
        if unit < 0xDC00:
            self._stop_if_cut(self.pos)
        self._note("lone-surrogate", start, digits.end(), f"\\u{digits[0].decode().lower()}")
        return "\ufffd"

    def _stop_if_cut(self, at: int) -> None:
        """Stop as torn if the end of the text cuts an escape: that is no separate fault."""
        rest = self.data[at : at + 6]
        if len(rest) < 6 and b"\\u".startswith(rest[:2]) and not rest[2:].strip(_HEX_DIGITS):
            self.pos = len(self.data)
            raise self._stop("torn", "a string")
