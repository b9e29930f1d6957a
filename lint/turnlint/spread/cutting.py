"""Cut work into tasks.

Small files share a task, and a long log of lines is cut at the ends of lines. Only the first records of a
file are read.
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
"""Size of a part in bytes. Measured: 1.94 times one core at 16 MB, less with more and less (two cores, 2026-11)."""
BUNDLE = 4 << 20
_LAST = 16
"""Divisor of `STRETCH` that gives the shortest part."""
_SHARE = 2
"""No part behind the first is longer than the remaining bytes divided by this number for each process."""
_STEP = 1 << 16
_CLOSED = re.compile(rb"[}\]]\r?\n")
"""End of a line that may end a record. A search for each line end would be slow where most lines are blank."""


class Task(Struct, frozen=True):
    """Some sources, or a part of a source, for one process."""

    sources: tuple[Source, ...]
    asked: tuple[int, ...]
    """For each source, the number of its `Question`."""


class Questions:
    """The distinct questions of the sources of a run: a process gets all of them before its first task."""

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
    """Yield the tasks in the order of the sources. A source that cannot be read twice gets a task of its own."""
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
    """Return the parts of a long log in which every line is a conversation of its own; else nothing.

    A user's own rules report a finding outside of all conversations at the end of the file. So such a file
    has only one part.
    """
    if size < 2 * STRETCH or source.path is None or packing_of(source) or asked.options.own_rules:
        return []
    try:
        whole = glance(source, asked.options.format, asked.book.wires)
        ends = [*_line_ends(source.path, size, jobs), size] if whole else []
        with open(source.path, "rb") as file:  # only the first part reports the error
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
    """Yield the offsets of the lines that begin nearest behind each part.

    Parts get shorter towards the end, so that no process waits long for the last part.
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
    """Return the first offset from `at` on at which a record begins, or 0: a split record is not cut."""
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
