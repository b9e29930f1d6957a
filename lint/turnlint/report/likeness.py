"""Two lists laid side by side.

This module owns finding what has no like on the other side, in a time that does not grow with the square of the
lists. It refuses to know what is in them.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

_CELLS = 64 * 64
_BUDGET = 400_000
"""How many pairs are compared one by one, in one gap and in all."""
_DEPTH = 8

Gap = tuple[int, int, int, int]
"""From which to which item of the one list, and of the other."""


def gaps(one: Sequence[bytes], other: Sequence[bytes]) -> list[Gap]:
    """What has no like on the other side, in order."""
    budget = _BUDGET
    found: list[Gap] = []
    waiting = [(0, len(one), 0, len(other), 0)]
    while waiting:
        a, b, c, d, depth = waiting.pop()
        while a < b and c < d and one[a] == other[c]:
            a, c = a + 1, c + 1
        while a < b and c < d and one[b - 1] == other[d - 1]:
            b, d = b - 1, d - 1
        if a == b or c == d:
            found += [(a, b, c, d)] if a < b or c < d else []
        elif (b - a) * (d - c) <= min(_CELLS, budget):
            budget -= (b - a) * (d - c)
            found += ((a + i, a + j, c + k, c + m) for i, j, k, m in _one_by_one(one[a:b], other[c:d]))
        elif depth < _DEPTH and (anchors := _anchors(one[a:b], other[c:d])):
            edges = [(-1, -1), *anchors, (b - a, d - c)]
            waiting += ((a + i + 1, a + k, c + j + 1, c + m, depth + 1) for (i, j), (k, m) in pairwise(edges))
        else:
            found.append((a, b, c, d))
    return sorted(found)


def _anchors(one: Sequence[bytes], other: Sequence[bytes]) -> list[tuple[int, int]]:
    """Items that both sides have once, as many as stand in the same order."""
    ours, theirs = Counter(one), Counter(other)
    there = {item: j for j, item in enumerate(other) if theirs[item] == 1}
    pairs = [(i, there[item]) for i, item in enumerate(one) if ours[item] == 1 and item in there]
    tops: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        place = bisect_left(tops, j)
        before.append(at[place - 1] if place else -1)
        tops[place : place + 1] = [j]
        at[place : place + 1] = [index]
    chain: list[tuple[int, int]] = []
    index = at[-1] if at else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _one_by_one(one: Sequence[bytes], other: Sequence[bytes]) -> Iterator[Gap]:
    """What is left between the longest common part of two short lists."""
    best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            same = one[i] == other[j]
            best[i][j] = best[i + 1][j + 1] + 1 if same else max(best[i + 1][j], best[i][j + 1])
    i = j = x = y = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            if i > x or j > y:
                yield x, i, y, j
            i, j = i + 1, j + 1
            x, y = i, j
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    if x < len(one) or y < len(other):
        yield x, len(one), y, len(other)
