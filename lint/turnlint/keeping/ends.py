"""Compare two texts at their ends.

The time grows with the length of the texts and not with its square. No UTF-8 character is cut.
"""

from collections.abc import Callable

_STEP = 1 << 12


def common_start(one: bytes, other: bytes) -> int:
    """Return the number of equal bytes at the start."""
    size = _furthest(min(len(one), len(other)), lambda low, high: one[low:high] == other[low:high])
    while size and (_inside(one, size) or _inside(other, size)):
        size -= 1
    return size


def common_end(one: bytes, other: bytes, most: int) -> int:
    """Return the number of equal bytes at the end, up to a limit."""

    def same(low: int, high: int) -> bool:
        return one[len(one) - high : len(one) - low] == other[len(other) - high : len(other) - low]

    size = _furthest(most, same)
    while size and (_inside(one, len(one) - size) or _inside(other, len(other) - size)):
        size -= 1
    return size


def _furthest(most: int, same: Callable[[int, int], bool]) -> int:
    """Return the length of the common part: search in steps, and bisect the last one."""
    at = 0
    while at + _STEP <= most and same(at, at + _STEP):
        at += _STEP
    low, high = at, min(at + _STEP, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(at, middle) else (low, middle - 1)
    return low


def _inside(data: bytes, at: int) -> bool:
    """Whether an offset is inside of a character."""
    return at < len(data) and data[at] & 0xC0 == 0x80
