"""Read released records once more.

The second reading goes forward only. In a file that supports seeking, it takes a bounded group of records at a time. If
the file changed meanwhile, a record gets the current bytes, and its positions stay inside them.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import IO, TypeVar

from turnlint.documents.source import Source, open_named, open_source
from turnlint.errors import SourceError
from turnlint.model import Record

T = TypeVar("T")
GROUP = 500
MAX_GROUP_BYTES = 1 << 22
"""A group with at least one item ends beyond this number of bytes."""
_STEP = 1 << 20
_MAX_GAP_BYTES = 1 << 12
"""Lines with at most this many bytes between them are read by one call."""


def release(record: Record) -> None:
    """Release the bytes of a record, or set them aside where its source cannot be read again."""
    data = _raw(record) if record.breaks else record.data
    record.data, record.size, record.spare = b"", len(data), data if record.once else b""


def _raw(record: Record) -> bytes:
    from turnlint.documents.breaks import raw_bytes  # few logs have a split record

    return raw_bytes(record)


def _joined(data: bytes, record: Record) -> bytes:
    from turnlint.documents.breaks import join

    return join(data, record.breaks)


def reread(source: Source, items: list[T], records_of: Callable[[T], Iterable[Record]]) -> Iterator[list[T]]:
    """Yield the items in groups, in file order, while the bytes of their records are in memory."""

    def first(item: T) -> int:
        return min(record.offset for record in records_of(item))

    ordered = sorted(items, key=first)
    if not source.again:
        groups = _groups(ordered, records_of)
        yield from _with_bytes(groups, records_of, lambda record: record.spare)
        return
    with open_source(source) as stream:
        entered = Entered(stream)
        whole = _groups(ordered, records_of) if entered.anywhere else iter([ordered])
        yield from _with_bytes(whole, records_of, lambda record: entered.read(record.offset, record.size))


def _groups(ordered: list[T], records_of: Callable[[T], Iterable[Record]]) -> Iterator[list[T]]:
    """Yield the items in groups of limited number and size."""
    group: list[T] = []
    size = 0
    for item in ordered:
        group.append(item)
        size += sum(record.size for record in records_of(item))
        if len(group) == GROUP or size > MAX_GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _with_bytes(
    groups: Iterable[list[T]], records_of: Callable[[T], Iterable[Record]], read: Callable[[Record], bytes]
) -> Iterator[list[T]]:
    """Yield groups of items, each while its released records have their bytes, read at rising offsets."""
    for group in groups:
        same = [record for item in group for record in records_of(item) if not record.data]
        gone = {record.offset: record for record in same}
        data = {offset: read(record) for offset, record in sorted(gone.items())}
        for record in same:
            found = data[record.offset]
            record.data = _joined(found, record) if record.breaks else found
        try:
            yield group
        finally:  # also where the caller stops early
            for record in same:
                record.data = b""


class BlockReader:
    """The bytes of a source at any place, read in large blocks. Raises `SourceError`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.start = 0
        self.block = source.data or b""

    def read(self, start: int, size: int) -> bytes:
        """Return bytes at an offset, fewer at the end of the source."""
        at = start - self.start
        if self.source.data is None and not 0 <= at <= at + size <= len(self.block):
            self._read_at(start, max(size, _STEP))
            at = 0
        return self.block[at : at + size]

    def _read_at(self, start: int, size: int) -> None:
        path = self.source.path
        try:
            with open_source(self.source) if path is None else open_named(path, 0) as stream:
                stream.seek(start)
                self.start, self.block = start, stream.read(size)
        except OSError as error:
            raise SourceError(self.source.name, (error.strerror or "cannot be read").lower()) from None


def read_lines(source: Source, places: list[tuple[int, int, int]]) -> Iterator[Record]:
    """Read lines at rising places, each a line number, an offset and a size. Raises `SourceError`."""
    try:
        # A buffer of a megabyte for each conversation takes seven times as long (30 MB of recorded messages).
        path = source.path if source.data is None else None
        with open_source(source) if path is None else open_named(path, 0) as stream:
            for start, end, group in _neighbouring(places):
                stream.seek(start)
                block = stream.read(end - start)
                for line, offset, size in group:
                    yield Record(line, offset, block[offset - start : offset - start + size])
    except OSError as error:
        raise SourceError(source.name, (error.strerror or "cannot be read").lower()) from None


def _neighbouring(
    places: list[tuple[int, int, int]],
) -> Iterator[tuple[int, int, list[tuple[int, int, int]]]]:
    """Yield the places that one call reads, with the start and the end of their block."""
    start = end = 0
    group: list[tuple[int, int, int]] = []
    for place in places:
        _, offset, size = place
        if group and not (end <= offset <= end + _MAX_GAP_BYTES and offset + size - start <= _STEP):
            yield start, end, group
            group = []
        if not group:
            start = offset
        group.append(place)
        end = offset + size
    if group:
        yield start, end, group


class Entered:
    """A stream that is read at rising offsets: a plain file by seeking, a compressed one by reading up to them."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.anywhere = type(stream).__name__ == "BufferedReader"
        self.start = 0
        self.last = b""
        """The last bytes that were read, from `start`.

        The next record may begin inside them, where a line end is missing.
        """

    def read(self, place: int, size: int) -> bytes:
        if self.anywhere:
            self.stream.seek(place)
            return self.stream.read(size)
        while (ahead := place - self.stream.tell()) > 0 and self.stream.read(min(_STEP, ahead)):
            pass
        again = self.last[place - self.start :][:size] if self.start <= place < self.stream.tell() else b""
        data = again + self.stream.read(size - len(again))
        if not again or len(data) > len(again):
            self.start, self.last = place, data
        return data


def endings(source: Source, places: Iterable[int]) -> dict[int, bytes]:
    """Return the line end at each offset of a source, if there is one. No two offsets are one byte apart."""
    found: dict[int, bytes] = {}
    with open_source(source) as stream:
        entered = Entered(stream)
        for place in sorted(set(places)):
            piece = entered.read(place, 2)
            found[place] = piece if piece == b"\r\n" else piece[:1] if piece[:1] == b"\n" else b""
    return found
