"""Differences of two lists, in a time that does not grow with the square of their length.

`difflib` compares short lists. On long ones it needs minutes, so they are first cut at items that both have once.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

MAX_PAIRS = 64 * 64
"""Limit of the pairs of items of two lists that `difflib` compares."""
MAX_PAIRS_IN_ALL = 400_000
MAX_DEPTH = 8

Gap = tuple[int, int, int, int]
"""Start and end in the first list, then in the second one."""


def find_gaps(one: Sequence[bytes | str], other: Sequence[bytes | str]) -> list[Gap]:
    """Return the parts of two lists that differ, in order. The elements between them are equal."""
    pairs = MAX_PAIRS_IN_ALL
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
        elif (b - a) * (d - c) <= min(MAX_PAIRS, pairs):
            pairs -= (b - a) * (d - c)
            matcher = SequenceMatcher(None, one[a:b], other[c:d], autojunk=False)
            found += (
                (a + i, a + j, c + k, c + m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"
            )
        elif depth < MAX_DEPTH and (anchors := _find_anchors(one[a:b], other[c:d])):
            edges = [(-1, -1), *anchors, (b - a, d - c)]
            waiting += ((a + i + 1, a + k, c + j + 1, c + m, depth + 1) for (i, j), (k, m) in pairwise(edges))
        else:
            found.append((a, b, c, d))
    return sorted(found)


def _find_anchors(one: Sequence[bytes | str], other: Sequence[bytes | str]) -> list[tuple[int, int]]:
    """Return the places of items that both lists have once, as many as are in the same order."""
    ours, theirs = Counter(one), Counter(other)
    there = {item: j for j, item in enumerate(other) if theirs[item] == 1}
    pairs = [(i, there[item]) for i, item in enumerate(one) if ours[item] == 1 and item in there]
    # The longest increasing run, by the last item of the best run of each length.
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
