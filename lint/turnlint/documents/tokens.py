"""The tokens of a JSON text: where brackets, strings and scalars start and end, and which token may follow.

All modules that walk over JSON bytes use this one. The cost of a walk is linear in the bytes, without recursion. The
text may be damaged: then a walk ends early, and no function raises.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

SPACE = rb"[ \t\n\r]*+"
TEXT = rb'[^"\\]*+(?:\\.[^"\\]*+)*+'
"""A string without its quotes, in patterns with the flag DOTALL."""
_IN_SCALAR = rb'[^\s"\[\]{},:]'

MARK: Final = 1
"""A bracket, a comma or a colon."""
PLAIN_STRING: Final = 2
"""A string without escapes and control characters."""
OTHER_STRING: Final = 3
OPEN_STRING: Final = 4
"""A string that the text does not close."""
SCALAR: Final = 5
"""A number or a word, valid or not."""
NO_TOKEN: Final = 6
"""White space that JSON does not have."""
END: Final = 7
_TOKEN = re.compile(
    SPACE
    + rb'(?:([\[\]{},:])|("[^"\\\x00-\x1f]*+")|("%b")|(".*+)|(%b++)|([\v\f])|(\Z))' % (TEXT, _IN_SCALAR),
    re.DOTALL,
)
"""The numbers of its groups are the kinds."""
_SPACE = re.compile(SPACE)
_TEXT = re.compile(TEXT, re.DOTALL)
_SCALAR_REST = re.compile(_IN_SCALAR + b"*+")
_TO_SEPARATOR = re.compile(rb"[^\s,\]}]*+")
"""A scalar of an item. Where a separator lacks, it includes what follows."""
_TO_BRACKETS = re.compile(rb'(?:[^"\[\]{}]++|"%b")*+([\[{]*+)([\]}]*+)' % TEXT, re.DOTALL)
_COMMA = re.compile(SPACE + b"(,?)" + SPACE)
_KEY = re.compile(b'"(%b)"%b:%b' % (TEXT, SPACE, SPACE), re.DOTALL)

Token = tuple[int, int, int]
"""A kind, a start and an end."""

VALUE: Final = 0
VALUE_OR_END: Final = 1
"""In an array, also after a comma: the strict parser reports a comma before a closing bracket."""
KEY_OR_END: Final = 2
COLON: Final = 3
COMMA_OR_END: Final = 4
NOTHING: Final = 5


def tokenize(data: bytes | bytearray, pos: int = 0) -> Iterator[Token]:
    """Yield the tokens from a position on. The last one is the end of the text."""
    for match in _TOKEN.finditer(data, pos):
        kind = match.lastindex or END
        start, end = match.span(kind)
        yield kind, start, end
        if kind == END:
            return


class Grammar:
    """Which token may come next in a JSON text."""

    def __init__(self) -> None:
        self.expects: int = VALUE
        self.closers = bytearray()
        """The closing brackets of the containers that are open."""

    def accept(self, kind: int, head: int) -> bool:
        """Go on by a token with this first byte. Returns false where no such token may follow."""
        expects = self.expects
        if kind == MARK:
            if head == 0x2C:  # ,
                if expects != COMMA_OR_END:
                    return False
                self.expects = KEY_OR_END if self.closers[-1] == 0x7D else VALUE_OR_END
            elif head == 0x3A:  # :
                if expects != COLON:
                    return False
                self.expects = VALUE
            elif head in b"{[":
                if expects > VALUE_OR_END:
                    return False
                self.closers.append(head + 2)
                self.expects = KEY_OR_END if head == 0x7B else VALUE_OR_END
            else:
                if expects not in (COMMA_OR_END, KEY_OR_END, VALUE_OR_END) or self.closers[-1] != head:
                    return False
                self.closers.pop()
                self.expects = COMMA_OR_END if self.closers else NOTHING
        elif expects <= VALUE_OR_END and kind <= SCALAR:
            self.expects = COMMA_OR_END if self.closers else NOTHING
        elif expects == KEY_OR_END and kind <= OPEN_STRING:
            self.expects = COLON
        else:
            return False
        return True


def skip_space(data: bytes, pos: int) -> int:
    match = _SPACE.match(data, pos)
    return match.end() if match else pos


def find_closing_quote(data: bytes | bytearray, pos: int) -> int:
    """Return the position of the quote that closes a string, from a position inside the string.

    Where none does, it is the end of the text, or the position of a single backslash there.
    """
    match = _TEXT.match(data, pos)
    return match.end() if match else pos


def find_string_end(data: bytes, pos: int) -> int:
    """Return the end of the string that starts at `pos`, or the end of the text where nothing closes it."""
    end = find_closing_quote(data, pos + 1)
    return end + 1 if data[end : end + 1] == b'"' else len(data)


def find_scalar_end(data: bytes | bytearray, pos: int) -> int:
    """Return the end of a scalar from a position inside the scalar."""
    match = _SCALAR_REST.match(data, pos)
    return match.end() if match else pos


def find_value_end(data: bytes, pos: int) -> int:
    """Return the end of the value that starts at `pos`, or the end of the text where nothing closes it."""
    head = data[pos : pos + 1]
    if head == b'"':
        return find_string_end(data, pos)
    if head in (b"{", b"["):
        skipper = Skipper()
        end = skipper.skip(data, pos)
        return end if skipper.is_done else len(data)
    match = _TO_SEPARATOR.match(data, pos)
    return match.end() if match else pos


class Skipper(Struct):
    """Finds the end of a string or a container, of which more bytes may follow."""

    depth: int = 0
    in_string: bool = False
    is_done: bool = False

    def skip(self, data: bytes, pos: int) -> int:
        """Return the end of the value, or the position from which to continue with more bytes."""
        while not self.is_done:
            if self.in_string:
                pos = find_closing_quote(data, pos)
                if data[pos : pos + 1] != b'"':
                    break
                pos += 1
                self.in_string, self.is_done = False, not self.depth
                continue
            match = _TO_BRACKETS.match(data, pos)
            assert match is not None
            (opening, closing), pos = match.span(1), match.end()
            self.depth += closing - opening
            if pos - closing >= self.depth:
                self.is_done = True
                return closing + self.depth
            self.depth -= pos - closing
            if pos == len(data):
                break
            if pos == opening:  # at a string that ends in later bytes
                pos += 1
                self.in_string = True
        return pos


class Items:
    """The members of an object or the elements of an array."""

    def __init__(self, data: bytes, start: int) -> None:
        self.data = data
        self.start = start
        self.is_object = data[start : start + 1] == b"{"
        self.known_end: int | None = None
        """The end of the last value, where the caller has found it. It spares a second walk over the value."""
        self.end = start
        """After the walk: the end of the container, or the position where damage ended the walk."""
        self.is_sound = False
        """The walk came to the closing bracket."""

    def __iter__(self) -> Iterator[tuple[str | int, int, int]]:
        """Yield the key or index of each item, its start, which is that of its key, and the start of its value."""
        data, is_object = self.data, self.is_object
        pos = skip_space(data, self.start + 1)
        name: str | int = 0
        index, is_sound = 0, True
        while pos < len(data):
            start = pos
            if is_object:
                match = _KEY.match(data, pos)
                if match is None:
                    if data[pos] == 0x22:
                        pos, is_sound = skip_space(data, find_string_end(data, pos)), False
                    break
                name, pos = decode_key(match[1]), match.end()
            elif data[pos] in b"]}":
                break
            else:
                name, index = index, index + 1
            self.known_end = None
            yield name, start, pos
            comma = _COMMA.match(
                data, find_value_end(data, pos) if self.known_end is None else self.known_end
            )
            assert comma is not None
            pos = comma.end()
            if not comma[1]:
                break
        is_closed = data[pos : pos + 1] == (b"}" if is_object else b"]")
        self.end = pos + is_closed
        self.is_sound = is_sound and is_closed


def decode_key(text: bytes) -> str:
    """Return a key from its bytes between the quotes."""
    if b"\\" not in text:
        return text.decode(errors="replace")
    from json import loads  # a key with escapes is rare enough to pay for the import

    try:
        return str(loads(b'"%b"' % text, strict=False))
    except ValueError:
        return text.decode(errors="replace")
