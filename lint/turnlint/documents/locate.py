"""Find the bytes of the values at pointers of a JSON text.

One walk covers all requested pointers and skips the rest, so that a thousand places cost no more than one. It runs only
for places that a report shows. Where the text is damaged, the result is the deepest place that the walk reached.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Raw, json

from turnlint.compiled import loaded
from turnlint.documents.tokens import SPACE, TEXT, Items, decode_key, find_value_end, skip_space
from turnlint.model import Pointer

_NEXT_KEY = re.compile(rb'%b[{,]%b"(%b)"%b:%b' % (SPACE, SPACE, TEXT, SPACE, SPACE), re.DOTALL)

_object = json.Decoder(dict[str, Raw])
_array = json.Decoder(list[Raw])

Span = tuple[Pointer, int, int]
"""The existing part of a pointer, and the bytes of the value there."""

MAX_PLACES_NOT_KEPT = 3
"""Up to this number of places in a text, each is found by a walk of its own: a log has many texts with few places."""
_HERE = object()


def locate(data: bytes, pointer: Pointer) -> Span:
    return locate_all(data, [pointer])[pointer]


def locate_all(data: bytes, pointers: Iterable[Pointer], *, plain: bool = False) -> dict[Pointer, Span]:
    """Find each pointer, or the deepest part of it that exists. A text known to be plain needs fewer checks."""
    wanted = list(dict.fromkeys(pointers))
    native = loaded() if plain else None
    if native is not None and (places := native.places(data, wanted)) is not None:
        return {
            pointer: (pointer[:depth], start, end)
            for pointer, (depth, start, end) in zip(wanted, places, strict=True)
        }
    tree: dict[Any, Any] = {}
    for pointer in wanted:
        branch = tree
        for part in pointer:
            branch = branch.setdefault(part, {})
        branch[_HERE] = True
    try:
        spans = _stride(data, tree)
    except (_Unusual, ValueError, RecursionError):
        spans = {}
        _walk(data, skip_space(data, 0), (), tree, spans)
    found: dict[Pointer, Span] = {}
    for pointer in wanted:
        depth = len(pointer)
        while pointer[:depth] not in spans:
            depth -= 1
        found[pointer] = (pointer[:depth], *spans[pointer[:depth]])
    return found


class PlaceFinder:
    """A cache of places in several texts, with one walk per text. Texts with few places are not cached."""

    def __init__(self) -> None:
        self.wanted: dict[int, list[Pointer]] = {}
        """The requested pointers, by the number of the text."""
        self.spans: dict[int, dict[Pointer, Span]] = {}

    def add(self, text: int, pointer: Pointer) -> None:
        """Register a place for a later `find`."""
        self.wanted.setdefault(text, []).append(pointer)
        self.spans.pop(text, None)

    def find(self, text: int, data: bytes, pointer: Pointer) -> Span:
        """Return the span of a pointer, or of the deepest part of it that exists."""
        if text not in self.spans:
            wanted = self.wanted.get(text, ())
            if len(wanted) <= MAX_PLACES_NOT_KEPT:
                return locate(data, pointer)
            self.spans[text] = locate_all(data, wanted)
        return self.spans[text].get(pointer, ((), 0, 0))


class _Unusual(Exception):  # noqa: N818 - control flow inside this file
    """A text that strides cannot cover."""


def _stride(data: bytes, tree: dict[Any, Any]) -> dict[Pointer, tuple[int, int]]:
    """Find the spans that `_walk` would find, by strides over whole values whose sizes a decoder gives.

    It decodes each value on the path and keeps its parts raw. Of a duplicate key the decoder keeps only one member.
    Then the strides do not end at the end of the value, or they meet a key out of order.
    """
    spans: dict[Pointer, tuple[int, int]] = {}
    waiting: list[tuple[Pointer, dict[Any, Any], int, int]] = [
        ((), tree, skip_space(data, 0), len(data.rstrip(b" \t\n\r")))
    ]
    while waiting:
        path, branch, start, end = waiting.pop()
        spans[path] = start, end
        opening = data[start : start + 1]
        if len(branch) == (_HERE in branch) or opening not in _INSIDE:
            if not path:  # the text was not checked
                raise _Unusual
            continue
        for key, at, after in _INSIDE[opening](data, start, end, branch):
            waiting.append(((*path, key), branch[key], at, after))
    return spans


_Part = tuple[str | int, int, int]
"""A key or an index, and the bytes of its value."""


def _members_of(data: bytes, start: int, end: int, branch: Mapping[Any, Any]) -> list[_Part]:
    """Return the requested members of a complete object."""
    found: list[_Part] = []
    pos = start
    for key, raw in _object.decode(data[start:end]).items():
        match = _NEXT_KEY.match(data, pos)
        if match is None or (match[1] != key.encode() and decode_key(match[1]) != key):
            raise _Unusual
        at = match.end()
        pos = at + len(memoryview(raw))
        if key in branch:
            found.append((key, at, pos))
    if pos + 1 != end and skip_space(data, pos + (pos == start)) + 1 != end:
        raise _Unusual
    return found


def _elements_of(data: bytes, start: int, end: int, branch: Mapping[Any, Any]) -> list[_Part]:
    """Return the requested elements of an array.

    Where all commas before an element are written alike, the bytes before it are the elements before it, joined again.
    """
    decoded = _array.decode(data[start:end])
    wanted = sorted([key for key in branch if type(key) is int and 0 <= key < len(decoded)])
    if not wanted:
        return []
    found: list[_Part] = []
    pos, done = skip_space(data, start + 1), 0
    first = pos + len(memoryview(decoded[0]))
    comma = data[first : skip_space(data, skip_space(data, first) + 1)] if wanted[-1] else b""
    for index in wanted:
        if index > done:
            before = comma.join([*decoded[done:index], b""])
            if not data.startswith(before, pos):
                raise _Unusual
            # The last comma may have more white space after it than the first.
            pos, done = skip_space(data, pos + len(before)), index
        found.append((index, pos, pos + len(memoryview(decoded[index]))))
    return found


_INSIDE = {b"{": _members_of, b"[": _elements_of}


def _walk(
    data: bytes, start: int, path: Pointer, branch: dict[Any, Any], spans: dict[Pointer, tuple[int, int]]
) -> int:
    """Record the span of the value at `start` and of all requested places below it. Returns its end.

    The recursion is as deep as the pointers, never as the text. Bytes that a child's walk has passed are not parsed
    again.
    """
    inside = {key: below for key, below in branch.items() if key is not _HERE}
    if not inside or data[start : start + 1] not in (b"{", b"["):
        spans[path] = (start, find_value_end(data, start))
        return spans[path][1]
    items = Items(data, start)
    below: dict[str | int, dict[Pointer, tuple[int, int]]] = {}
    for key, _, value in items:
        if key in inside:
            below[key] = {}  # a duplicate key replaces the places below the earlier one
            items.known_end = _walk(data, value, (*path, key), inside[key], below[key])
    for found in below.values():
        spans.update(found)
    spans[path] = (start, items.end)
    return items.end
