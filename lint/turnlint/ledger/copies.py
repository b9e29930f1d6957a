"""Which of too many results repeat another.

This module owns that one comparison, for where more results bear an id than calls do: what only repeats is
the last to find a call, so that nothing that was said once is pushed out. It refuses to pair anything.
"""

from collections import deque
from collections.abc import Iterable, Mapping

from turnlint.ledger.matching import Key, Matching
from turnlint.ledger.values import Answered


def copies_among(work: Matching, results: Iterable[int], slots: Mapping[Key, deque[int]]) -> set[int]:
    """In one window where calls share an id: the results that are too many because they repeat another."""
    by_id: dict[Key, list[int]] = {}
    for index in results:
        key = work.results[index].result.id, work.results[index].result.server
        if len(slots.get(key, ())) > 1:
            by_id.setdefault(key, []).append(index)
    found: set[int] = set()
    for key, some in by_id.items():
        found |= copies_of(work, some, len(some) - len(slots[key]))
    return found


def copies_of(work: Matching, results: list[int], most: int) -> set[int]:
    """Those of one id's results that repeat an earlier one, where they are just as many as are too many.

    Anything else would be a guess at which of them are the answers.
    """
    if most <= 0:
        return set()
    bodies = [work.results[index].result.body for index in results]
    first: dict[bytes, int] = {}
    for number, body in enumerate(bodies):
        first.setdefault(body, number)
    found: set[int] = set()
    for number, body in enumerate(bodies):
        near = bodies[max(0, number - NEAR) : number]
        if first[body] < number or any(_repeats(body, one) for one in near):
            found.add(results[number])
    return found if len(found) == most else set()


NEAR = 16
"""With how many results before it one is compared, so that ten thousand under one id cost no more than their number."""


def is_copy(one: Answered, other: Answered) -> bool:
    """Whether one result says what the other does."""
    return one.result.body == other.result.body or _repeats(one.result.body, other.result.body)


def _repeats(body: bytes, other: bytes) -> bool:
    """Whether one text begins with all of the other."""
    short, long = sorted((body, other), key=len)
    return short[:1] == b'"' and len(short) > 2 and long.startswith(short[:-1])
