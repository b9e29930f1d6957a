"""Find the differences of two JSON texts.

The comparison pairs values that both texts have in the same order, from the outside in. So a value that was
added, removed or moved is one difference. The differences are exact to the byte, also in damaged texts, where
only the cuts are less good. The time grows with the length of the texts, not with its square.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from turnlint.documents.tokens import Items, find_string_end, find_value_end, skip_space
from turnlint.keeping.ends import common_end, common_start
from turnlint.report.sequence_diff import find_gaps

_LEVELS = 24
"""Deeper differences are merged into one."""
_LONG = 80
"""A longer string is not shown as a whole where only a part of it changed."""
_WORTH = 40
_BETWEEN = b", \t\r\n:"
_LARGE = 1 << 12
_UNIT = re.compile(rb'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[^"\[\]{},]++)++[\[\]{},]?\s*|[\[\]{},]\s*', re.DOTALL)

Span = tuple[int, int, int, int]
"""Start and end in the old text, then in the new one."""


class _Part(Struct, frozen=True, gc=False):
    """An element of a list, a member of an object, or one of several values in sequence."""

    key: bytes
    start: int
    """Offset of the value."""
    end: int


def differences(old: bytes, new: bytes) -> list[Span]:
    """Return the ranges in which two texts differ, in order."""
    if old == new:
        return []
    same = sorted(_same(old, new))
    found: list[Span] = []
    a = c = 0
    for i, j, k in [*same, (len(old), len(new), 0)]:
        if i < a or j < c:
            continue  # damaged texts only: overlapping ranges are no common part
        if i > a or j > c:
            found += _exact(old, new, (a, i, c, j))
        a, c = i + k, j + k
    return found


# Equal ranges.


def _same(old: bytes, new: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield equal ranges: the offset in each text, and the length."""
    waiting = list(_of_parts(old, new, list(_row(old)), list(_row(new)), 0))
    while waiting:
        a, b, c, d, level = waiting.pop()
        if old[a:b] == new[c:d]:
            yield a, c, b - a
            continue
        mark = old[a : a + 1]
        if mark == new[c : c + 1] and mark in (b"{", b"[") and level < _LEVELS:
            yield a, c, 1
            if old[b - 1 : b] == new[d - 1 : d] and b - a > 1 < d - c:
                yield b - 1, d - 1, 1
            waiting += _of_parts(old, new, list(_parts(old, a)), list(_parts(new, c)), level + 1)


_Pair = tuple[int, int, int, int, int]


def _of_parts(old: bytes, new: bytes, ours: list[_Part], theirs: list[_Part], level: int) -> Iterator[_Pair]:
    """Yield pairs of values that correspond, and of keys."""
    keyed = bool(ours and ours[0].key and theirs and theirs[0].key)
    one = [part.key if keyed else old[part.start : part.end] for part in ours]
    other = [part.key if keyed else new[part.start : part.end] for part in theirs]
    i = j = 0
    for a, b, c, d in [*find_gaps(one, other), (len(one), len(one), len(other), len(other))]:
        while i < a:
            yield from _pair(ours[i], theirs[j], level)
            i, j = i + 1, j + 1
        if not keyed:
            for left, right in _kin(old, new, ours[a:b], theirs[c:d], level):
                yield from _pair(left, right, level)
        i, j = b, d


def _pair(one: _Part, other: _Part, level: int) -> Iterator[_Pair]:
    if one.key:
        yield one.start - len(one.key), one.start, other.start - len(other.key), other.start, level
    yield one.start, one.end, other.start, other.end, level


def _kin(
    old: bytes, new: bytes, ours: Sequence[_Part], theirs: Sequence[_Part], level: int
) -> Iterator[tuple[_Part, _Part]]:
    """Yield pairs of elements that correspond: they start the same, or have many equal members."""
    pairs = list(zip(ours, theirs, strict=False)) if len(ours) == len(theirs) else []
    if pairs and (level == 0 or all(_are_kin(old, new, one, other) for one, other in pairs)):
        yield from pairs
        return
    one, other = [_first(old, part) for part in ours], [_first(new, part) for part in theirs]
    i = j = 0
    for a, b, c, d in [*find_gaps(one, other), (len(one), len(one), len(other), len(other))]:
        yield from zip(ours[i:a], theirs[j:c], strict=False)
        i, j = b, d


def _are_kin(old: bytes, new: bytes, one: _Part, other: _Part) -> bool:
    mark = old[one.start : one.start + 1]
    if mark != new[other.start : other.start + 1] or mark != b"{":
        return mark == new[other.start : other.start + 1]
    left, right = list(_parts(old, one.start)), list(_parts(new, other.start))
    if len(left) == len(right) == 1:
        return left[0].key == right[0].key
    has = {(part.key, old[part.start : part.end]) for part in left}
    both = sum((part.key, new[part.start : part.end]) in has for part in right)
    return 2 * both >= min(len(left), len(right))


def _first(data: bytes, part: _Part) -> bytes:
    """Return the start of a value: its first member, or the whole value."""
    first = next(_parts(data, part.start), None) if data[part.start : part.start + 1] == b"{" else None
    return first.key + data[first.start : first.end] if first else data[part.start : part.end]


def _row(data: bytes) -> Iterator[_Part]:
    """Yield the values of a sequence, such as the lines of a log."""
    pos = skip_space(data, 0)
    while pos < len(data):
        end = find_value_end(data, pos)
        if end <= pos:
            return
        yield _Part(b"", pos, end)
        pos = skip_space(data, end)


def _parts(data: bytes, start: int) -> Iterator[_Part]:
    """Yield the elements of a list or the members of an object.

    The key of a member includes the bytes up to the value.
    """
    items = Items(data, start)
    for _, first, value in items:
        end = items.known_end = find_value_end(data, value)
        if end <= value:
            return
        yield _Part(data[first:value], value, end)


# Different ranges.


def _exact(old: bytes, new: bytes, span: Span) -> Iterator[Span]:
    """Yield the differences in a range, without the equal bytes at its ends."""
    a, b, c, d = span
    while a < b and c < d and old[a] == new[c] and old[a] in _BETWEEN:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1] and old[b - 1] in _BETWEEN:
        b, d = b - 1, d - 1
    if min(b - a, d - c) > _LARGE and not _is_text(old, a, b):
        yield from _unit_by_unit(old, new, (a, b, c, d))
        return
    if min(b - a, d - c) > 0 and max(b - a, d - c) > _LONG and _is_text(old, a, b) and _is_text(new, c, d):
        start, end = _within(old[a:b], new[c:d])
        a, b, c, d = a + start, b - end, c + start, d - end
    if a < b or c < d:
        yield a, b, c, d


def _is_text(data: bytes, start: int, end: int) -> bool:
    return data[start : start + 1] == b'"' and find_string_end(data, start) == end


def _unit_by_unit(old: bytes, new: bytes, span: Span) -> Iterator[Span]:
    """Yield the differences of two long ranges that are no values, or whose values are nested too deeply."""
    a, b, c, d = span
    ours, theirs = _UNIT.findall(old, a, b), _UNIT.findall(new, c, d)
    left, right = _places(a, ours), _places(c, theirs)
    for i, j, k, m in find_gaps(ours, theirs):
        yield left[i], left[j], right[k], right[m]


def _places(start: int, units: Sequence[bytes]) -> list[int]:
    """Return the offset of each unit, and the end of the last one."""
    places = [start]
    for unit in units:
        places.append(places[-1] + len(unit))
    return places


def _within(one: bytes, other: bytes) -> tuple[int, int]:
    """Return the lengths of the equal start and end of two strings; no character is cut."""
    start = common_start(one, other)
    escape = one.rfind(b"\\", max(0, start - 6), start)
    start = escape if escape >= 0 else start
    end = common_end(one, other, min(len(one), len(other)) - start)
    end = min(end - _rest_of_escape(text, start, len(text) - end) for text in (one, other))
    end = max(0, end)
    return (start, end) if start + end >= _WORTH else (0, 0)


def _rest_of_escape(data: bytes, start: int, at: int) -> int:
    """Return the number of bytes of an escape behind a cut."""
    escape = data.rfind(b"\\", max(start, at - 5), at)
    size = 6 if data[escape + 1 : escape + 2] == b"u" else 2
    return max(0, escape + size - at) if escape >= 0 else 0
