"""How work is cut up.

This module owns the sizes: small files go together, and a long log of lines is cut where lines end. It refuses to
read what it cuts, beyond the first records of a file.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from msgspec import Struct, structs

from turnlint.documents.gate import START_BYTES, begins_record
from turnlint.documents.source import Source, packing_of, size_of
from turnlint.errors import SourceError
from turnlint.reading import glance
from turnlint.spread.here import Of, Question
from turnlint.spread.worth import MOST_FILES

STRETCH = 16 << 20
"""Measured: 1.94 times one core at 16 MB, less with more and less (two cores, 2026-11)."""
BUNDLE = 4 << 20
_LAST = 16
"""The last stretches are so many times as short,"""
_SHARE = 2
"""and none behind the first is more than one in so many of what is left for each process."""
_STEP = 1 << 16
_CLOSED = re.compile(rb"[}\]]\r?\n")
"""The end of a line that may end a record. A search for each line end would be slow where most lines are blank."""


class Task(Struct, frozen=True):
    """Some sources, or one part of one, for one process."""

    sources: tuple[Source, ...]
    asked: tuple[int, ...]
    """The number of what is asked of each."""


class Questions:
    """What is asked of the sources of a run, each once: a process is told of all before it gets any task."""

    def __init__(self, of: Of) -> None:
        self.of = of
        self.all: list[Question] = []

    def task(self, sources: Sequence[Source]) -> Task:
        return Task(tuple(sources), tuple(map(self._number, sources)))

    def _number(self, source: Source) -> int:
        found = self.of(source)
        for number, one in enumerate(self.all):
            if one is found:
                return number
        self.all.append(found)
        return len(self.all) - 1


def cut(sources: Iterable[Source], questions: Questions, jobs: int) -> Iterator[Task]:
    """The tasks, in the order of the sources. What cannot be read twice is left to whoever asks."""
    bundle: list[Source] = []
    weight = 0
    for source in sources:
        size = size_of(source)
        parts = _parts(source, size, questions.of(source), jobs)
        if bundle and (parts or source.path is None or weight + size > BUNDLE or len(bundle) >= MOST_FILES):
            yield questions.task(bundle)
            bundle, weight = [], 0
        if parts or source.path is None:
            yield from (questions.task([part]) for part in parts or [source])
        else:
            bundle.append(source)
            weight += size
    if bundle:
        yield questions.task(bundle)


def _parts(source: Source, size: int, asked: Question, jobs: int) -> list[Source]:
    """A long log of lines in parts, where every line is a conversation of its own; else nothing.

    What a user's own rules find in no conversation is told of at the end of the file, so there has to be but one.
    """
    if size < 2 * STRETCH or source.path is None or packing_of(source) or asked.options.own_rules:
        return []
    try:
        whole = glance(source, asked.options.format, asked.book.wires)
        ends = [*_line_ends(source.path, size, jobs), size] if whole else []
        with open(source.path, "rb") as file:  # the first part, and no other, will say so
            returned = file.readline(STRETCH).endswith(b"\r\n")
    except (SourceError, OSError):
        return []
    if whole is None:
        return []
    starts = [0, *ends[:-1]]
    return [
        structs.replace(
            source,
            part=structs.replace(whole, start=start, end=end, returned=returned and start > 0),
        )
        for start, end in zip(starts, ends, strict=True)
    ]


def _line_ends(path: str, size: int, jobs: int) -> Iterator[int]:
    """Where lines begin that are nearest behind each stretch.

    Towards the end they are shorter and shorter: nobody waits long for whoever has the last one.
    """
    least = STRETCH // _LAST
    with open(path, "rb") as file:
        at = STRETCH
        while at < size - least // 2:
            at = next_record(file, at)
            if not at:
                return
            yield at
            at += max(least, min(STRETCH, (size - at) // (_SHARE * jobs)))


def next_record(file: IO[bytes], at: int) -> int:
    """Return the first offset from a place on at which a record begins, or 0: a split record is not cut."""
    file.seek(at)
    window = b""
    while piece := file.read(_STEP):
        window += piece
        for closed in _CLOSED.finditer(window):
            start = closed.end()
            if start + START_BYTES > len(window):
                break
            if begins_record(window[start : start + START_BYTES]):
                return at + start
        kept = window[-START_BYTES - 2 :]
        at += len(window) - len(kept)
        window = kept
    return 0
