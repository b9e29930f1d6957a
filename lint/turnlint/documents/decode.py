"""A record's bytes into a format's lean struct, by the fast way where it is open.

This module owns the choice between the two readings. The fast one declares only what rules read,
so long texts are skipped, not kept; whatever it cannot vouch for is read again exactly, and
both end in the same struct. It refuses to know any format.
"""

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from turnlint.documents import census
from turnlint.documents.columns import Position
from turnlint.documents.trouble import Trouble
from turnlint.model import Misfit, Pointer, Record

if TYPE_CHECKING:
    from turnlint.documents.exact import Reading

T = TypeVar("T")
_encode = msgspec.json.Encoder(order="sorted").encode
_WHOLE = re.compile(rb"\d\.0|\d[eE]").search
"""Whether a text may hold a float that is whole."""
MAX_EXACT = 2**53
"""The smallest integer from which several integers have one float."""


class Decoded(Struct, Generic[T]):
    """A record as its format sees it."""

    record: Record
    value: T | None
    data: bytes = b""
    """The bytes the value was decoded from: the record's own, or those of its readable part."""
    troubles: tuple[Trouble, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    rest: Record | None = None
    """Another record that stands on the same line."""


class Shape(Generic[T]):
    """A struct type with its decoder."""

    def __init__(self, declared: type[T]) -> None:
        self.declared = declared

    @cached_property
    def decoder(self) -> "msgspec.json.Decoder[T]":
        """Made when it is first needed: a format has more shapes than most records show."""
        return msgspec.json.Decoder(self.declared)

    def read(
        self, record: Record, *, plain: bool | None = None, exactly: "Reading | None" = None
    ) -> Decoded[T]:
        """Decode a record; a caller with several shapes passes what is known of its bytes."""
        data = record.data
        try:
            if census.is_plain(data) if plain is None else plain:
                record.plain = True
                return Decoded(record, self.decoder.decode(data), data)
        except (ValueError, RecursionError):
            pass  # the exact reading says what it is, with its place
        return self._read_exactly(record, exactly)

    def inner(self, data: bytes | msgspec.Raw, at: Pointer = ()) -> tuple[T | None, tuple[Misfit, ...]]:
        """Decode a part of a record whose bytes have been vouched for; misfits name places below `at`."""
        try:
            return self.decoder.decode(data), ()
        except (ValueError, RecursionError):
            decoded = self._read_exactly(Record(1, 0, bytes(data)))
            wrong = (msgspec.structs.replace(one, at=(*at, *one.at)) for one in decoded.misfits)
            return decoded.value, tuple(wrong)

    def _read_exactly(self, record: Record, known: "Reading | None" = None) -> Decoded[T]:
        from turnlint.documents import exact, fit

        reading = known or exact.read(record.data)
        troubles = tuple(reading.troubles)
        if not reading.whole:
            return Decoded(record, None, b"", troubles)
        value, misfits = fit.fit(reading.value, self.declared)
        data = fit.encode(value)
        try:
            decoded: Any = None if data is None else self.decoder.decode(data)
        except (ValueError, RecursionError):
            decoded = None
        if decoded is None:
            troubles += (
                Trouble("too-deep", 0, len(record.data), (), "nested deeper than the parser allows"),
            )
        rest = _rest_of(record, reading.end)
        return Decoded(record, decoded, data or b"", troubles, tuple(misfits), rest)


def dig(data: bytes, at: Pointer) -> bytes | None:
    """The bytes of a part of a decodable record, or nothing where it is not an object inside objects."""
    for key in at:
        try:
            members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        except (ValueError, RecursionError):
            return None
        raw = members.get(str(key))
        if raw is None or bytes(memoryview(raw)[:1]) != b"{":
            return None
        data = bytes(raw)
    return data


def _rest_of(record: Record, end: int) -> Record | None:
    """What follows the first value on the line, where it could be a record of its own."""
    tail = record.data[end:]
    start = len(tail) - len(tail.lstrip())
    if tail[start : start + 1] not in (b"{", b"["):
        return None
    there = Position(record.line, record.column, record.extra)
    there.advance(record.data[: end + start])
    offset = record.offset + end + start
    return Record(there.line, offset, tail[start:], record.prefix, there.column, extra=there.extra)


def value_of(data: bytes) -> Any:
    """All of a JSON text, decoded as far as it can be read."""
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        from turnlint.documents import exact

        return exact.parse(data)


def value_at(record: Record, at: Pointer, opened: dict[int, Any]) -> Any:
    """The value at a place of a record; nothing if the record was released. `opened` keeps the decoded records."""
    if not record.data:
        return None
    key = id(record)
    if key not in opened:
        opened[key] = value_of(record.data)
    return below(opened[key], at)


def below(value: Any, at: Pointer) -> Any:
    """The value at a place below a decoded value; nothing if the place does not exist."""
    for part in at:
        try:
            value = value[part]
        except (LookupError, TypeError):
            return None
    return value


def normal(text: bytes) -> bytes:
    """The value of a JSON text in one spelling: sorted keys, no white space, no needless escapes, `1` for `1.0`.

    Bytes that are no JSON text stay as they are.
    """
    is_string = text[:1] == b'"'
    if is_string and b"\\" not in text:
        return text  # A string without escapes has one spelling.
    try:
        value = msgspec.json.decode(text)
        return _encode(_with_integers(value) if not is_string and _WHOLE(text) else value)
    except (ValueError, RecursionError):
        return text


def _with_integers(value: Any) -> Any:
    """The value with integers for floats that are whole: writers in JavaScript make no difference between the two."""
    if isinstance(value, dict):
        return {key: _with_integers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_integers(one) for one in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT
    return int(value) if whole else value


def are_equal(one: bytes, other: bytes) -> bool:
    """Whether two JSON texts have the same value, in any spelling."""
    return one == other or normal(one) == normal(other)


def without_space(text: bytes) -> bytes:
    """An empty list or object without the white space in it; any other text as it is."""
    return text[:1] + text[-1:] if text[:1] in (b"[", b"{") and not text[1:-1].strip() else text
