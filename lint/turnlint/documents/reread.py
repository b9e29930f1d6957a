"""Records that were let go, read once more.

This module owns the second look at a source: forward only, a bounded group at a time where the file
can be entered anywhere. A file that changed meanwhile gives what it now holds; places in it stay
inside its bytes.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from turnlint.documents.source import Source, open_source
from turnlint.model import Record

T = TypeVar("T")
GROUP = 500
_STEP = 1 << 20


def reread(source: Source, items: list[T], records_of: Callable[[T], Iterable[Record]]) -> Iterator[list[T]]:
    """Yield the items in groups, in file order, while the bytes of their records are at hand."""

    def first(item: T) -> int:
        return min(record.offset for record in records_of(item))

    ordered = sorted(items, key=first)
    with open_source(source) as stream:
        size = GROUP if _can_seek(stream) else len(ordered)
        for start in range(0, len(ordered), size):
            group = ordered[start : start + size]
            gone = {record.offset: record for item in group for record in records_of(item) if not record.data}
            same = [record for item in group for record in records_of(item) if not record.data]
            data = {offset: _read_at(stream, offset, record.size) for offset, record in sorted(gone.items())}
            for record in same:
                record.data = data[record.offset]
            yield group
            for record in same:
                record.data = b""


def _can_seek(stream: object) -> bool:
    return type(stream).__name__ == "BufferedReader"


def _read_at(stream: object, offset: int, size: int) -> bytes:
    """A plain file is entered at the place; a compressed one is read on to it."""
    from typing import IO, cast

    opened = cast("IO[bytes]", stream)
    if _can_seek(stream):
        opened.seek(offset)
    else:
        while (ahead := offset - opened.tell()) > 0 and opened.read(min(_STEP, ahead)):
            pass
    return opened.read(size)


def endings(source: Source, places: Iterable[int]) -> dict[int, bytes]:
    """The line end that stands at each place of a source, if one does. No two places are one byte apart."""
    found: dict[int, bytes] = {}
    with open_source(source) as stream:
        for place in sorted(set(places)):
            piece = _read_at(stream, place, 2)
            found[place] = piece if piece == b"\r\n" else piece[:1] if piece[:1] == b"\n" else b""
    return found
