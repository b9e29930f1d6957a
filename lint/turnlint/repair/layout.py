"""Convert repaired records to patches of the lines of their file.

The module decides which lines stay, which are removed, and which are inserted. It moves as few lines as possible and
uses the line ends of the file.
"""

from bisect import bisect_left
from collections.abc import Iterator

from turnlint.documents.reread import endings
from turnlint.documents.source import Source
from turnlint.keeping.patches import Patch as Bytes
from turnlint.repair.unit import Cell, Unit


def line_patches(source: Source, before: Unit, after: Unit) -> Iterator[Bytes]:
    """Yield the patches for the lines of a conversation."""
    place = {id(cell.origin): number for number, cell in enumerate(before.cells)}
    kept, followers, leading = _layout(after, place)
    gone = [cell for number, cell in enumerate(before.cells) if number not in kept]
    needed = [cell for number, cell in enumerate(before.cells) if number not in kept or followers.get(number)]
    # The first line has a line end to use for those without one: the last of a file, and a new one before all others.
    ends = endings(source, [_end(cell) for cell in (*before.cells[:1], *needed)])
    usual = next((end for end in ends.values() if end), b"\n")
    first = min(kept, default=-1)
    for cell in gone:
        assert cell.origin is not None
        instead = b"".join(data + usual for data in leading) if not kept and cell is gone[0] else b""
        yield Bytes(cell.origin.offset, _end(cell) + len(ends[_end(cell)]), instead)
    for number, cell in enumerate(before.cells):
        assert cell.origin is not None
        if number not in kept:
            continue
        behind = b"".join(usual + data for data in followers.get(number, ()))
        front = b"".join(data + usual for data in leading) if number == first else b""
        data = front + kept[number] + behind
        if data != cell.data:
            yield Bytes(cell.origin.offset, _end(cell), data)


def _layout(
    after: Unit, place: dict[int, int]
) -> tuple[dict[int, bytes], dict[int, list[bytes]], list[bytes]]:
    """Return the records that stay, the lines inserted after each of them, and those before all."""
    kept: dict[int, bytes] = {}
    followers: dict[int, list[bytes]] = {}
    leading: list[bytes] = []
    last = -1
    stay = _rising([place.get(id(cell.origin), -1) for cell in after.cells])
    for cell in after.cells:
        number = place.get(id(cell.origin), -1)
        if number in stay:
            kept[number] = cell.data
            last = number
        elif last >= 0:
            followers.setdefault(last, []).append(cell.data)
        else:
            leading.append(cell.data)
    return kept, followers, leading


def _rising(numbers: list[int]) -> set[int]:
    """Return the largest set of numbers that keep their old order; the others were moved."""
    tops: list[int] = []
    last_at: list[int] = []
    before: dict[int, int | None] = {}
    for index, number in enumerate(numbers):
        if number < 0:
            continue
        at = bisect_left(tops, number)
        before[index] = last_at[at - 1] if at else None
        tops[at : at + 1] = [number]
        last_at[at : at + 1] = [index]
    stay: set[int] = set()
    step: int | None = last_at[-1] if last_at else None
    while step is not None:
        stay.add(numbers[step])
        step = before[step]
    return stay


def _end(cell: Cell) -> int:
    assert cell.origin is not None
    return cell.origin.offset + len(cell.data)
