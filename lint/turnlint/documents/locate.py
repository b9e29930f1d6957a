"""From pointers to bytes.

This module owns one walk down a JSON text: along all the pointers that are asked for at once,
skipping what is not, so that a thousand places cost no more than one. It runs only for what a report
shows. It refuses to judge the text; where that is damaged, it says how far it came.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from msgspec import Raw, json

from turnlint.model import Pointer

_SPACE = re.compile(rb"[ \t\n\r]*")
_STRUCTURE = re.compile(rb'["\[\]{}]')
_SCALAR = re.compile(rb"[^\s,\]}]+")
_IN_STRING = re.compile(rb'["\\]')

_object = json.Decoder(dict[str, Raw])
_array = json.Decoder(list[Raw])

Span = tuple[Pointer, int, int]
"""How much of a pointer exists, and the bytes of the value there."""

_HERE = object()
_END = object()


def locate(data: bytes, pointer: Pointer) -> Span:
    return locate_all(data, [pointer])[pointer]


def locate_all(data: bytes, pointers: Iterable[Pointer]) -> dict[Pointer, Span]:
    """Find each pointer, or the deepest part of it that exists."""
    wanted = list(dict.fromkeys(pointers))
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
        _walk(data, _skip_space(data, 0), (), tree, spans)
    found: dict[Pointer, Span] = {}
    for pointer in wanted:
        depth = len(pointer)
        while pointer[:depth] not in spans:
            depth -= 1
        found[pointer] = (pointer[:depth], *spans[pointer[:depth]])
    return found


class _Unusual(Exception):  # noqa: N818 - control flow inside this file
    """A text that cannot be passed in strides."""


def _stride(data: bytes, tree: dict[Any, Any]) -> dict[Pointer, tuple[int, int]]:
    """The same as a walk, by strides over whole values whose sizes a decoder knows.

    It decodes each value on the way and keeps its parts raw. A key that stands twice leaves the decoder with fewer
    members than there are; then the strides do not end where the value does, or meet a key out of turn.
    """
    spans: dict[Pointer, tuple[int, int]] = {}
    waiting = [((), tree, _skip_space(data, 0), len(data.rstrip(b" \t\n\r")))]
    while waiting:
        path, branch, start, end = waiting.pop()
        spans[path] = start, end
        if not any(key is not _HERE for key in branch) or data[start : start + 1] not in (b"{", b"["):
            if not path:  # nobody vouches for the text
                raise _Unusual
            continue
        for key, at, after in _parts(data, start, end):
            if key in branch:
                waiting.append(((*path, key), branch[key], at, after))  # type: ignore[arg-type]
    return spans


def _parts(data: bytes, start: int, end: int) -> Iterator[tuple[str | int, int, int]]:
    """Keys or indices of a value that is whole, each with the bytes of what stands there."""
    is_object = data[start : start + 1] == b"{"
    decoded: Any = (_object if is_object else _array).decode(data[start:end])
    pos, comma = _skip_space(data, start + 1), True
    for key, raw in decoded.items() if is_object else enumerate(decoded):
        if not comma:
            raise _Unusual
        if is_object:
            after = string_end(data, pos)
            if data[pos : pos + 1] != b'"' or _key_of(data[pos:after]) != key:
                raise _Unusual
            pos = _skip_space(data, after)
            if data[pos : pos + 1] != b":":
                raise _Unusual
            pos = _skip_space(data, pos + 1)
        after = pos + len(memoryview(raw))
        yield key, pos, after
        pos = _skip_space(data, after)
        comma = data[pos : pos + 1] == b","
        pos = _skip_space(data, pos + 1) if comma else pos
    if pos + 1 != end or (comma and decoded):
        raise _Unusual


def _walk(
    data: bytes, start: int, path: Pointer, branch: dict[Any, Any], spans: dict[Pointer, tuple[int, int]]
) -> int:
    """Note the span of the value at `start` and of all below it that is wanted. Returns its end.

    Recursion is as deep as the pointers asked for, never as the text; what a child's walk has passed
    is not passed again.
    """
    inside = {key: below for key, below in branch.items() if key is not _HERE}
    head = data[start : start + 1]
    if not inside or head not in (b"{", b"["):
        spans[path] = (start, value_end(data, start))
        return spans[path][1]
    parts = _members(data, start) if head == b"{" else _elements(data, start)
    below: dict[str | int, dict[Pointer, tuple[int, int]]] = {}
    key, value = next(parts)
    while key is not _END:
        passed = None
        if key in inside:
            below[key] = {}  # a key that comes again replaces what was found under it
            passed = _walk(data, value, (*path, key), inside[key], below[key])
        key, value = parts.send(passed)
    for found in below.values():
        spans.update(found)
    spans[path] = (start, value)
    return value


def _skip_space(data: bytes, pos: int) -> int:
    match = _SPACE.match(data, pos)
    assert match is not None
    return match.end()


def string_end(data: bytes, pos: int) -> int:
    """The byte after the string that opens at `pos`; the end of the data where it never closes."""
    pos += 1
    while match := _IN_STRING.search(data, pos):
        if match[0] == b'"':
            return match.end()
        pos = match.end() + 1
    return len(data)


def value_end(data: bytes, pos: int) -> int:
    head = data[pos : pos + 1]
    if head == b'"':
        return string_end(data, pos)
    if head not in (b"{", b"["):
        match = _SCALAR.match(data, pos)
        return match.end() if match else pos
    depth = 0
    while match := _STRUCTURE.search(data, pos):
        mark = match[0]
        if mark == b'"':
            pos = string_end(data, match.start())
            continue
        pos = match.end()
        depth += 1 if mark in b"{[" else -1
        if not depth:
            return pos
    return len(data)


_Steps = Generator[tuple[Any, int], int | None, None]
"""Keys or indices, each with the start of its value; last, a mark with the end of the whole."""


def _members(data: bytes, pos: int) -> _Steps:
    pos = _skip_space(data, pos + 1)
    while data[pos : pos + 1] == b'"':
        end = string_end(data, pos)
        key = _key_of(data[pos:end])
        pos = _skip_space(data, end)
        if data[pos : pos + 1] != b":":
            break
        pos = _skip_space(data, pos + 1)
        passed = yield key, pos
        pos = _skip_space(data, value_end(data, pos) if passed is None else passed)
        if data[pos : pos + 1] != b",":
            break
        pos = _skip_space(data, pos + 1)
    yield _END, pos + (data[pos : pos + 1] == b"}")


def _key_of(raw: bytes) -> str:
    if b"\\" not in raw:
        return raw[1:-1].decode(errors="replace")
    from json import loads  # a key with escapes is rare enough to pay for the import

    try:
        return str(loads(raw, strict=False))
    except ValueError:
        return raw[1:-1].decode(errors="replace")


def _elements(data: bytes, pos: int) -> _Steps:
    pos = _skip_space(data, pos + 1)
    index = 0
    while pos < len(data) and data[pos : pos + 1] not in (b"]", b"}"):
        passed = yield index, pos
        index += 1
        pos = _skip_space(data, value_end(data, pos) if passed is None else passed)
        if data[pos : pos + 1] != b",":
            break
        pos = _skip_space(data, pos + 1)
    yield _END, pos + (data[pos : pos + 1] == b"]")
