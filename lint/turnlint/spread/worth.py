"""Decide whether the sources of a run are worth several processes."""

import os
from collections.abc import Iterable

from turnlint.documents.source import COMPRESSED, Source, size_of

MOST_FILES = 64
"""Number of files in one task, at most."""
WORTH = 24 << 20
"""Least number of bytes for several processes.

Fewer bytes take less time than the start of a process: 30 milliseconds where most lines are sound (2026-11).
"""
_SWELLS = 4
"""Approximate ratio of the sizes of a log, unpacked and packed."""


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
