"""Symbolic places to bytes, lines and columns.

This module owns the step from locations to places: everything that is wanted of one record is found
in one walk over it. It refuses to know rules and sinks.
"""

from collections.abc import Iterable, Iterator

from turnlint.documents.locate import locate_all
from turnlint.model import Finding, Location, Pointer, Record
from turnlint.rows import Place


def as_pointer(parts: Pointer) -> str:
    """A JSON Pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


class Placer:
    """Places for many locations; ask for all of a record's before using any of them."""

    def __init__(self, locations: Iterable[Location]) -> None:
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
        for key, (start, end, at) in sorted(found.items(), key=lambda item: item[1][0]):
            line, column = count.to(start)
            self.places[key] = Place(line, column, record.offset + start, record.offset + end, as_pointer(at))


def _key(location: Location) -> tuple[int, Pointer, int | None]:
    return id(location.record), location.at, location.start


class _Counter:
    """Lines and columns of offsets that come in rising order: each byte is counted once."""

    def __init__(self, record: Record) -> None:
        self.data = record.data
        self.pos = 0
        self.line = record.line
        self.column = record.column

    def to(self, offset: int) -> tuple[int, int]:
        piece = self.data[self.pos : offset]
        if newlines := piece.count(b"\n"):
            self.line += newlines
            self.column = 1
            piece = piece[piece.rindex(b"\n") + 1 :]
        self.column += len(piece) if piece.isascii() else len(piece.decode(errors="replace"))
        self.pos = offset
        return self.line, self.column


def locations_of(finding: Finding) -> Iterator[Location]:
    yield finding.where
    for related in finding.related:
        yield related.where
