"""Read single values of a record without decoding the rest.

Values stay raw, so that numbers, texts and the order of keys are those of the record.
"""

from collections.abc import Collection, Container, Mapping
from typing import Any

from msgspec import Raw, json

from turnlint.model import Pointer

Object = dict[str, Raw]
_objects = json.Decoder(Object)
_lists = json.Decoder(list[Raw])


class Values:
    """The values of one record. Each object and list on the way to a value is decoded once."""

    def __init__(self, data: bytes) -> None:
        self._levels: dict[Pointer, Object | list[Raw] | None] = {}
        self._root = Raw(data)

    def at(self, pointer: Pointer) -> Raw | None:
        """Return the value at a pointer; nothing if there is none. Raises `ValueError` for damaged JSON."""
        if not pointer:
            return self._root
        level = self._level(pointer[:-1])
        key = pointer[-1]
        if isinstance(level, dict):
            return level.get(key) if isinstance(key, str) else None
        if isinstance(level, list) and isinstance(key, int) and -len(level) <= key < len(level):
            return level[key]
        return None

    def object_at(self, pointer: Pointer) -> Mapping[str, Raw]:
        """Return the object at a pointer; an empty one if there is no object."""
        level = self._level(pointer)
        return level if isinstance(level, dict) else {}

    def _level(self, pointer: Pointer) -> Object | list[Raw] | None:
        if pointer not in self._levels:
            value = self.at(pointer)
            self._levels[pointer] = None if value is None else container(value)
        return self._levels[pointer]


def container(value: Raw) -> Object | list[Raw] | None:
    """Decode one level of an object or a list; nothing for any other value."""
    start = bytes(memoryview(value)[:64]).lstrip()[:1]
    if start == b"{":
        return _objects.decode(value)
    return _lists.decode(value) if start == b"[" else None


def members(value: Raw | None) -> Object:
    """Return the members of an object; an empty one for any other value."""
    found = container(value) if value is not None else None
    return found if isinstance(found, dict) else {}


def items(value: Raw | None) -> list[Raw]:
    """Return the items of a list; none for any other value."""
    found = container(value) if value is not None else None
    return found if isinstance(found, list) else []


def is_text(value: Raw | None) -> bool:
    return value is not None and bytes(memoryview(value)[:64]).lstrip()[:1] == b'"'


def decode(value: Raw) -> Any:
    return json.decode(value)


def without(object_: Mapping[str, Raw], names: Container[str]) -> Object:
    """Return an object without some keys, and without keys whose value is null."""
    return {key: value for key, value in object_.items() if key not in names and bytes(value) != b"null"}


def rest_of(object_: Mapping[str, Raw], taken: Collection[Pointer]) -> dict[str, Any]:
    """Return an object without the values at some pointers, without nulls and without empty lists.

    A list with such a value is left out as a whole: its items are blocks.
    """
    below: dict[str, set[Pointer]] = {}
    for at in taken:
        if at and isinstance(at[0], str):
            below.setdefault(at[0], set()).add(at[1:])
    found: dict[str, Any] = {}
    for key, value in object_.items():
        inner = below.get(key)
        if inner is None and bytes(value) not in (b"null", b"[]"):
            found[key] = value
        elif inner and () not in inner and (rest := rest_of(members(value), inner)):
            found[key] = rest
    return found
