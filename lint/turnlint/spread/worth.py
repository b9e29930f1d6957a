"""Is there enough to do for several processes?

This module owns that question, which every run asks. It refuses to know how work is cut up.
"""

import os
from collections.abc import Iterable

from turnlint.documents.source import COMPRESSED, Source, size_of

MOST_FILES = 64
"""So many files go together at most, however small they are."""
WORTH = 24 << 20
"""Less than that is done before a second process is up: where most lines are sound, in 30 milliseconds (2026-11)."""
_SWELLS = 4
"""About so many times as long are logs once they are unpacked."""


def is_worth_it(sources: Iterable[Source]) -> bool:
    size = 0
    for count, source in enumerate(sources):
        size += size_of(source) * (_SWELLS if is_packed(source) else 1)
        if size >= WORTH or count >= 8 * MOST_FILES:
            return True
    return False


def is_packed(source: Source) -> bool:
    return source.name.lower().endswith(COMPRESSED)


def cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
