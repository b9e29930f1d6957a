"""Convert locations to byte offsets, lines and columns, in one pass over each record."""

from collections.abc import Iterable, Iterator
from types import ModuleType

from turnlint.compiled import loaded
from turnlint.documents.breaks import raw_bytes, raw_offset
from turnlint.documents.columns import Position
from turnlint.documents.locate import locate_all
from turnlint.model import Finding, Location, Pointer, Record
from turnlint.rows import Place, Point


def as_pointer(parts: Pointer) -> str:
    """Return a JSON Pointer (RFC 6901)."""
    text = "/".join(map(str, parts))
    if "~" not in text and text.count("/") == len(parts) - 1:
        return f"/{text}"
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


Key = tuple[int, Pointer, int | None]


class Placer:
    """The places of many locations; give all locations of a record at once.

    Of the locations in `besides`, only the bytes are needed.
    """

    def __init__(
        self, locations: Iterable[Location], *, spans: bool = False, besides: Iterable[Location] = ()
    ) -> None:
        self.spans = spans
        self.places: dict[Key, Place] = {}
        self.found: dict[tuple[int, Pointer], tuple[int, int]] = {}
        by_record: dict[int, tuple[Record, list[Location], list[Pointer]]] = {}
        for location in locations:
            record = location.record
            if id(record) not in by_record:
                by_record[id(record)] = (record, [], [])
            by_record[id(record)][1].append(location)
        for location in besides:
            by_record.setdefault(id(location.record), (location.record, [], []))[2].append(location.at)
        for record, some, others in by_record.values():
            self._place(record, some, others)

    def __getitem__(self, location: Location) -> Place:
        return self.places[_key(location)]

    def bytes_of(self, location: Location) -> bytes:
        """Return the bytes of a location in `besides`."""
        start, end = self.found[id(location.record), location.at]
        return location.record.data[start:end]

    def _place(self, record: Record, locations: list[Location], others: list[Pointer]) -> None:
        native = loaded() if record.plain and not self.spans and not record.breaks else None
        if native is None or not self._place_natively(native, record, locations, others):
            self._place_exactly(record, locations, others)

    def _place_natively(
        self, native: ModuleType, record: Record, locations: list[Location], others: list[Pointer]
    ) -> bool:
        """Do the same for a plain record whose locations are all pointers; return whether that was possible."""
        pointers = [location.at for location in locations if location.start is None]
        found = native.places(record.data, pointers + others) if len(pointers) == len(locations) else None
        if found is None:
            return False
        key, offset, prefix, places = id(record), record.offset, record.prefix, self.places
        for pointer, (_, start, end) in zip(others, found[len(pointers) :], strict=True):
            self.found[key, pointer] = start, end
        count = _Counter(record)
        for (depth, start, end), at in sorted(zip(found, pointers, strict=False), key=_start):
            here = count.to(start)
            there = at if depth == len(at) else at[:depth]
            text = as_pointer((*prefix, *there) if prefix else there)
            places[key, at, None] = Place(here.line, here.column, offset + start, offset + end, text)
        return True

    def _place_exactly(self, record: Record, locations: list[Location], others: list[Pointer]) -> None:
        pointers = [location.at for location in locations if location.start is None]
        offset, prefix = record.offset, record.prefix
        spans = (
            locate_all(record.data, [*pointers, *others], plain=record.plain) if pointers or others else {}
        )
        for pointer in others:
            self.found[id(record), pointer] = spans[pointer][1:]
        found: dict[Key, tuple[int, int, Pointer]] = {}
        for location in locations:
            if location.start is None:
                at, start, end = spans[location.at]
            else:
                at, start = location.at, location.start
                end = start if location.end is None else location.end
            if record.breaks:
                start, end = raw_offset(record, start), raw_offset(record, end)
            found[_key(location)] = (start, end, (*prefix, *at) if prefix else at)
        wanted = {
            offset
            for start, end, _ in found.values()
            for offset in ((start, end) if self.spans else (start,))
        }
        count = _Counter(record, all_units=self.spans)
        points = {offset: count.to(offset) for offset in sorted(wanted)}
        for key, (start, end, at) in found.items():
            here = points[start]
            span = (here, points[end]) if self.spans else None
            self.places[key] = Place(
                here.line, here.column, offset + start, offset + end, as_pointer(at), span
            )


def _start(found: tuple[tuple[int, int, int], Pointer]) -> int:
    return found[0][1]


def _key(location: Location) -> Key:
    return id(location.record), location.at, location.start


class _Counter(Position):
    """Positions of offsets in ascending order: each byte is counted once."""

    def __init__(self, record: Record, *, all_units: bool = False) -> None:
        super().__init__(record.line, record.column, record.extra)
        self.data = raw_bytes(record) if record.breaks else record.data
        self.native = loaded() if record.plain and not record.breaks and not all_units else None
        """The native module, which counts characters only."""
        self.pos = 0

    def to(self, offset: int) -> Point:
        if self.native is not None:
            lines, width = self.native.measure(self.data, self.pos, offset)
            self.line, self.column = self.line + lines, (1 if lines else self.column) + width
        else:
            self.advance(self.data[self.pos : offset])
        self.pos = offset
        octets, units = self.extra
        return Point(self.line, self.column, self.column + octets, self.column + units)


def locations_of(finding: Finding) -> Iterator[Location]:
    yield finding.where
    for related in finding.related:
        yield related.where
