"""Decode a record's bytes into the struct of a format, by the fast decoder where possible.

The fast decoder declares only the fields that rules need, so long texts are skipped. The exact parser parses each
record that the fast decoder may misread. Both give the same struct.
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
    """A record as its format decodes it."""

    record: Record
    value: T | None
    data: bytes = b""
    """The bytes the value was decoded from: the record's own, or those of its readable part."""
    troubles: tuple[Trouble, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    rest: Record | None = None
    """Another record on the same line."""


class Shape(Generic[T]):
    """A struct type with its decoder."""

    def __init__(self, declared: type[T]) -> None:
        self.declared = declared

    @cached_property
    def decoder(self) -> "msgspec.json.Decoder[T]":
        """Return the decoder, made at first use: a format has more shapes than most records use."""
        return msgspec.json.Decoder(self.declared)

    def read(
        self, record: Record, *, plain: bool | None = None, exactly: "Reading | None" = None
    ) -> Decoded[T]:
        """Decode a record. A caller with several shapes passes the result of the plain check as `plain`."""
        data = record.data
        try:
            if census.is_plain(data) if plain is None else plain:
                record.plain = True
                return Decoded(record, self.decoder.decode(data), data)
        except (ValueError, RecursionError):
            pass  # the exact parser reports the fault with its position
        return self._read_exactly(record, exactly)

    def inner(self, data: bytes | msgspec.Raw, at: Pointer = ()) -> tuple[T | None, tuple[Misfit, ...]]:
        """Decode a part of a record whose bytes passed the check; misfits have pointers below `at`."""
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
    """Return the bytes of a part of a decodable record, or none where it is not an object inside objects."""
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
    """Return the text after the first value on the line, if it could be a record of its own."""
    tail = record.data[end:]
    start = len(tail) - len(tail.lstrip())
    if tail[start : start + 1] not in (b"{", b"["):
        return None
    there = Position(record.line, record.column, record.extra)
    there.advance(record.data[: end + start])
    offset = record.offset + end + start
    return Record(there.line, offset, tail[start:], record.prefix, there.column, extra=there.extra)


def value_of(data: bytes) -> Any:
    """Decode a whole JSON text, as far as it can be parsed."""
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        from turnlint.documents import exact

        return exact.parse(data)


def value_at(record: Record, at: Pointer, opened: dict[int, Any]) -> Any:
    """Return the value at a pointer of a record, or none for a released record. `opened` caches decoded records."""
    if not record.data:
        return None
    key = id(record)
    if key not in opened:
        opened[key] = value_of(record.data)
    return below(opened[key], at)


def below(value: Any, at: Pointer) -> Any:
    """Return the value at a pointer below a decoded value, or none if the pointer does not exist."""
    for part in at:
        try:
            value = value[part]
        except (LookupError, TypeError):
            return None
    return value


def normal(text: bytes) -> bytes:
    """Return a JSON text in its normal spelling: sorted keys, no white space, no needless escapes, `1` for `1.0`.

    Bytes that are no JSON text stay unchanged.
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
    """Return the value with integers for whole floats: writers in JavaScript do not distinguish the two."""
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
    """Return an empty list or object without its inner white space, and any other text unchanged."""
    return text[:1] + text[-1:] if text[:1] in (b"[", b"{") and not text[1:-1].strip() else text
