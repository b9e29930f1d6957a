"""The bytes of a record that line breaks split: as they are in its file, and joined."""

from collections.abc import Iterable, Iterator

from turnlint.model import Break, Record


def raw_bytes(record: Record) -> bytes:
    """Return the bytes of a record as they are in its file."""
    if not record.breaks:
        return record.data
    pieces, at = [], 0
    for one in record.breaks:
        pieces += [record.data[at : one.at], one.old]
        at = one.at + len(one.new)
    return b"".join((*pieces, record.data[at:]))


def join(data: bytes, breaks: Iterable[Break]) -> bytes:
    """Return the bytes of a record without its line breaks."""
    pieces, at, moved = [], 0, 0
    for one in breaks:
        start = one.at + moved
        pieces += [data[at:start], one.new]
        at = start + len(one.old)
        moved += len(one.old) - len(one.new)
    return b"".join((*pieces, data[at:]))


def raw_offset(record: Record, offset: int) -> int:
    """Return the offset in the file's bytes of a record for one in its data."""
    moved = 0
    for one in record.breaks:
        if offset < one.at + len(one.new) or (offset == one.at and not one.new):
            return min(offset, one.at) + moved
        moved += len(one.old) - len(one.new)
    return offset + moved


def line_ends(record: Record) -> Iterator[tuple[int, Break]]:
    """Yield the line breaks of a record, each with its offset in the file's bytes of the record."""
    moved = 0
    for one in record.breaks:
        yield one.at + moved, one
        moved += len(one.old) - len(one.new)
