"""Sketch a record of an unknown format: its keys and the kinds of its values.

A sketch is bounded: few levels, few items, few keys, and only short texts, which may be the name of a kind.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Raw, Struct, json

from turnlint.model import Record

DEPTH = 6
MOST_ITEMS = 32
MOST_KEYS = 200
LONGEST_WORD = 64
LONGEST_DAMAGED = 1 << 20
"""Maximum size of a record with invalid JSON that is sketched."""

_KINDS = {b'"': "string", b"{": "object", b"[": "array", b"n": "null", b"t": "boolean", b"f": "boolean"}
_members = json.Decoder(dict[str, Raw])
_items = json.Decoder(list[Raw])


class Sketch(Struct):
    kind: str
    keys: dict[str, "Sketch"] = {}
    items: tuple["Sketch", ...] = ()
    word: str = ""
    """A short text, which may name the kind of the value around it."""
    count: int = 0
    """The number of all its keys."""


def sketch(record: Record) -> Sketch | None:
    """A record's outline, or nothing where it is no JSON."""
    data = record.data.strip()
    try:
        return _sketch(data, DEPTH)
    except (ValueError, RecursionError):
        return _from_damaged(data)


def _from_damaged(data: bytes) -> Sketch | None:
    if len(data) > LONGEST_DAMAGED or data[:1] not in (b"{", b"["):
        return None
    from turnlint.documents import exact, fit

    reading = exact.read(data)
    again = fit.encode(reading.value) if reading.whole else None
    try:
        return None if again is None else _sketch(again, DEPTH)
    except (ValueError, RecursionError):
        return None


def _sketch(data: Any, depth: int) -> Sketch:
    first = bytes(memoryview(data)[:1])
    kind = _KINDS.get(first, "number")
    if kind == "object" and depth:
        members = _members.decode(data)
        some = list(members.items())[:MOST_KEYS]
        return Sketch(kind, {key: _sketch(raw, depth - 1) for key, raw in some}, count=len(members))
    if kind == "array" and depth:
        return Sketch(kind, items=tuple(_sketch(raw, depth - 1) for raw in _items.decode(data)[:MOST_ITEMS]))
    if kind == "string" and len(memoryview(data)) <= LONGEST_WORD:
        return Sketch(kind, word=json.decode(data, type=str))
    if depth == DEPTH:  # not decoded before: it may be any text
        json.decode(data)
    return Sketch(kind)


@lru_cache(1024)
def _steps_of(path: str) -> tuple[str, ...]:
    return tuple(path.replace("[]", ".[]").strip(".").split("."))


def found(outline: Sketch, path: str) -> Iterator[Sketch]:
    """The values at a path: keys with dots between them, `[]` for the items of an array, bare at the start for its own."""
    here = [outline]
    for step in _steps_of(path):
        if step == "[]":
            here = [item for one in here for item in one.items]
        else:
            here = [one.keys[step] for one in here if step in one.keys]
    yield from here


def kind_of(data: bytes) -> str:
    """The JSON kind of a value by its first byte."""
    return _KINDS.get(data[:1], "number")
