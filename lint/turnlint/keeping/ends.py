"""How much two texts have in common at their ends.

This module owns that comparison, in a time that grows with the texts and not with their square; no character of
UTF-8 is cut. It refuses to know what the texts are, and what becomes of the rest.
"""

from collections.abc import Callable

_STEP = 1 << 12


def common_start(one: bytes, other: bytes) -> int:
    """How many bytes are the same from the start."""
    size = _furthest(min(len(one), len(other)), lambda low, high: one[low:high] == other[low:high])
    while size and (_inside(one, size) or _inside(other, size)):
        size -= 1
    return size


def common_end(one: bytes, other: bytes, most: int) -> int:
    """How many bytes are the same up to the end, of at most so many."""

    def same(low: int, high: int) -> bool:
        return one[len(one) - high : len(one) - low] == other[len(other) - high : len(other) - low]

    size = _furthest(most, same)
    while size and (_inside(one, len(one) - size) or _inside(other, len(other) - size)):
        size -= 1
    return size


def _furthest(most: int, same: Callable[[int, int], bool]) -> int:
    """Up to where two texts are the same: in steps, and the last one by halving."""
    at = 0
    while at + _STEP <= most and same(at, at + _STEP):
        at += _STEP
    low, high = at, min(at + _STEP, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(at, middle) else (low, middle - 1)
    return low


def _inside(data: bytes, at: int) -> bool:
    """Whether a cut here would be inside of a character."""
    return at < len(data) and data[at] & 0xC0 == 0x80
