"""Budgets of property tests and of crossed tables: small in the usual run, full in the slow pass."""

from collections.abc import Sequence
from itertools import combinations

from hypothesis import settings


def examples(count: int, *, quick: int = 0) -> int:
    """Number of examples of a property: `count` in the slow pass, else the number of the profile or `quick`."""
    usual = settings().max_examples
    return count if usual >= 100 else min(count, quick or usual)


def covering(rows: Sequence[tuple[str, ...]], strength: int) -> set[int]:
    """Numbers of rows that cover all combinations of `strength` values: 1 each value, 2 each pair of values."""
    held = [set(combinations(enumerate(row), min(strength, len(row)))) for row in rows]
    missing = set().union(*held)
    kept = set()
    while missing:
        best = max(range(len(rows)), key=lambda number: len(held[number] & missing))
        kept.add(best)
        missing -= held[best]
    return kept
