"""What is repaired together: the records of one conversation, or of several that share records.

This module owns the text of those records while it changes, and reading it again. It refuses to know what is
changed, and why.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from turnlint.carrying.carrier import Carrier
from turnlint.documents.edit import Edits, Moved, Piece, apply
from turnlint.documents.trouble import Damage
from turnlint.errors import UnrepairableError
from turnlint.model import Gap, Pointer, Record, Transcript
from turnlint.reading import again


class Cell(Struct, frozen=True):
    """One record as it is now."""

    data: bytes
    origin: Record | None
    """The record of the file that it was, or nothing where it was added."""


class Fresh(Struct, frozen=True):
    """A message that will be a record, beside another that is one."""

    near: int
    piece: Piece
    asking: int | None = None
    """The message whose call it answers, where it answers one."""
    goes_on: bool = False
    """It holds blocks of the assistant from the message beside which it will stand."""


class Unit(Struct, frozen=True):
    """Records that are read, judged and repaired together, in order."""

    name: str
    carrier: Carrier
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...] = ()
    """The unreadable records among those that it was read from, with their offsets in the file."""

    def read(self) -> "Reading":
        records = [
            Record(
                cell.origin.line if cell.origin else 1,
                number,
                cell.data,
                cell.origin.prefix if cell.origin else (),
            )
            for number, cell in enumerate(self.cells)
        ]
        items = again(self.name, self.carrier, records, self.carrier.name)
        gaps = tuple(self._gaps())
        transcripts = tuple(
            structs.replace(item, gaps=gaps) for item in items if isinstance(item, Transcript)
        )
        damages = tuple(item for item in items if isinstance(item, Damage))
        read = [one.record for said in transcripts for one in said.messages]
        read += [record for said in transcripts for record in said.beside]
        read += [damage.record for damage in damages]
        # A record that was parted from one of these has a place in that for its offset, which is no cell's number.
        if not {id(record) for record in read} <= {id(record) for record in records}:
            raise UnrepairableError("several records are on one line; split them first")
        return Reading(transcripts, damages)

    def _gaps(self) -> Iterator[Gap]:
        """The unreadable records, each with the number of the first cell behind it for its offset."""
        places = [cell.origin.offset if cell.origin else -1 for cell in self.cells]
        for gap in self.gaps:
            number = next((at for at, place in enumerate(places) if place > gap.offset), len(places))
            until = next((at for at, place in enumerate(places) if place > gap.until), len(places))
            yield structs.replace(gap, offset=number, until=until)


class Reading(Struct, frozen=True):
    """What a unit holds. A record's offset is the number of its cell."""

    transcripts: tuple[Transcript, ...]
    damages: tuple[Damage, ...]


class Changes(Struct):
    """What is to be changed in a unit: inside its records, and among them."""

    edits: dict[int, Edits] = {}
    gone: set[int] = set()
    """Cells that go, or go elsewhere."""
    put: dict[int, list[Piece | Fresh]] = {}
    """By the number of a cell, or -1 for none, what comes behind it as a record of its own."""
    patches: dict[int, list[tuple[int, int, bytes]]] = {}
    linked: dict[tuple[int, Pointer], str | None] = {}
    """Places that name another record now, and which."""
    along: list[tuple[int, Pointer]] = []
    """Places that change with another one that is told of: the shell of a piece, a link, the same call once more."""

    def of(self, cell: int) -> Edits:
        return self.edits.setdefault(cell, Edits())


def changed(unit: Unit, changes: Changes) -> Unit:
    """The unit with the changes made."""
    texts = [patched(cell.data, changes.patches.get(number, ())) for number, cell in enumerate(unit.cells)]
    edits = {**changes.edits}
    # A record that is built of others' pieces is worked out as the one element of a list of its own.
    lists: dict[int, int] = {}
    for new in (
        one for pieces in changes.put.values() for one in pieces if not isinstance(one, Moved | Fresh)
    ):
        lists[id(new)] = len(texts)
        edits[len(texts)] = Edits(insert={(): [(0, new)]})
        texts.append(b"[]")
    edited = apply(texts, edits)
    now = [edited.get(number, text) for number, text in enumerate(texts)]
    cells: list[Cell] = []
    for number in range(-1, len(unit.cells)):
        if number >= 0 and number not in changes.gone:
            cells.append(_cell(unit.cells[number], now[number]))
        for piece in changes.put.get(number, ()):
            if isinstance(piece, Moved):
                cells.append(_cell(unit.cells[piece.record], now[piece.record]))
            elif data := now[lists[id(piece)]][1:-1]:
                cells.append(Cell(data, None))
    return Unit(unit.name, unit.carrier, tuple(cells), unit.gaps)


def _cell(cell: Cell, data: bytes) -> Cell:
    return cell if cell.data == data else Cell(data, cell.origin)


def patched(data: bytes, patches: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Bytes replaced, none of them twice."""
    if not patches:
        return data
    out, pos = [], 0
    for start, end, new in sorted(patches):
        if start < pos:
            continue
        out += [data[pos:start], new]
        pos = end
    return b"".join((*out, data[pos:]))
