"""Symbolic places to bytes, lines and columns.

This module owns the step from locations to places: everything that is wanted of one record is found
in one walk over it. It refuses to know rules and sinks.
"""

from collections.abc import Iterable, Iterator

from turnlint.documents.columns import measure, more
from turnlint.documents.locate import locate_all
from turnlint.model import Finding, Location, Pointer, Record
from turnlint.rows import Place, Point


def as_pointer(parts: Pointer) -> str:
    """A JSON Pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


class Placer:
    """Places for many locations; ask for all of a record's before using any of them."""

    def __init__(self, locations: Iterable[Location], *, spans: bool = False) -> None:
        self.spans = spans
        self.places: dict[tuple[int, Pointer, int | None], Place] = {}
        by_record: dict[int, tuple[Record, list[Location]]] = {}
        for location in locations:
            by_record.setdefault(id(location.record), (location.record, []))[1].append(location)
        for record, some in by_record.values():
            self._place(record, some)

    def __getitem__(self, location: Location) -> Place:
        return self.places[_key(location)]

    def _place(self, record: Record, locations: list[Location]) -> None:
        pointers = [location.at for location in locations if location.start is None]
        spans = locate_all(record.data, pointers) if pointers else {}
        found: dict[tuple[int, Pointer, int | None], tuple[int, int, Pointer]] = {}
        for location in locations:
            if location.start is None:
                at, start, end = spans[location.at]
            else:
                at, start = location.at, location.start
                end = start if location.end is None else location.end
            found[_key(location)] = (start, end, (*record.prefix, *at))
        count = _Counter(record)
        ends = {end for _, end, _ in found.values()} if self.spans else set()
        points = {
            offset: count.to(offset) for offset in sorted({start for start, _, _ in found.values()} | ends)
        }
        for key, (start, end, at) in found.items():
            here = points[start]
            span = (here, points[end]) if self.spans else None
            offsets = record.offset + start, record.offset + end
            self.places[key] = Place(here.line, here.column, *offsets, as_pointer(at), span)


def _key(location: Location) -> tuple[int, Pointer, int | None]:
    return id(location.record), location.at, location.start


class _Counter:
    """Lines and columns of offsets that come in rising order: each byte is counted once."""

    def __init__(self, record: Record) -> None:
        self.data = record.data
        self.pos = 0
        self.line = record.line
        self.column = record.column
        self.extra = record.extra

    def to(self, offset: int) -> Point:
        piece = self.data[self.pos : offset]
        if newlines := piece.count(b"\n"):
            self.line += newlines
            self.column, self.extra = 1, (0, 0)
            piece = piece[piece.rindex(b"\n") + 1 :]
        width, extra = measure(piece)
        self.column += width
        self.extra = more(self.extra, extra)
        self.pos = offset
        return Point(self.line, self.column, self.column + self.extra[0], self.column + self.extra[1])


def locations_of(finding: Finding) -> Iterator[Location]:
    yield finding.where
    for related in finding.related:
        yield related.where
