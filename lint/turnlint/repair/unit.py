"""Hold the records that are repaired together: those of one conversation, or of several that share records.

A unit has the text of those records while it changes, and parses it again.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from turnlint.carrying.carrier import Carrier
from turnlint.documents.edit import Edits, Moved, Piece, apply
from turnlint.documents.trouble import Damage
from turnlint.errors import UnrepairableError
from turnlint.model import Gap, Pointer, Record, Transcript
from turnlint.reading import again


class Cell(Struct, frozen=True):
    """The current text of one record."""

    data: bytes
    origin: Record | None
    """The original record of the file, or none for an added record."""


class Fresh(Struct, frozen=True):
    """A message that becomes a record, beside a message that is a record."""

    near: int
    piece: Piece
    asking: int | None = None
    """The message whose call it answers, if it is a result."""
    goes_on: bool = False
    """Whether it has blocks of the assistant from the message beside it."""
    like: bytes = b""
    """The bytes of an earlier message that it repeats in part, if that is not the message beside it."""


class Unit(Struct, frozen=True):
    """Records that are parsed, judged and repaired together, in order."""

    name: str
    carrier: Carrier
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...] = ()
    """The unreadable records between its records, with their offsets in the file."""

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
        # A record that was split from one of these has an offset inside it, not the number of a cell.
        if not {id(record) for record in read} <= {id(record) for record in records}:
            raise UnrepairableError("several records are on one line; split them first")
        return Reading(transcripts, damages)

    def _gaps(self) -> Iterator[Gap]:
        """Yield the unreadable records, each with the number of the first cell after it as its offset."""
        places = [cell.origin.offset if cell.origin else -1 for cell in self.cells]
        for gap in self.gaps:
            number = next((at for at, place in enumerate(places) if place > gap.offset), len(places))
            until = next((at for at, place in enumerate(places) if place > gap.until), len(places))
            yield structs.replace(gap, offset=number, until=until)


class Reading(Struct, frozen=True):
    """The content of a unit. A record's offset is the number of its cell."""

    transcripts: tuple[Transcript, ...]
    damages: tuple[Damage, ...]


class Changes(Struct):
    """The changes to a unit: inside its records, and among them."""

    edits: dict[int, Edits] = {}
    gone: set[int] = set()
    """Cells that are removed or moved."""
    put: dict[int, list[Piece | Fresh]] = {}
    """The records inserted after each cell, by the number of the cell, or -1 for the start."""
    patches: dict[int, list[tuple[int, int, bytes]]] = {}
    linked: dict[tuple[int, Pointer], str | None] = {}
    """Changed links, with the record that each now names."""
    along: list[tuple[int, Pointer]] = []
    """Places that change along with a reported change: the object around a piece, a link, a copy of a call."""

    def of(self, cell: int) -> Edits:
        return self.edits.setdefault(cell, Edits())


def changed(unit: Unit, changes: Changes) -> Unit:
    """Return the unit with the changes made."""
    texts = [patched(cell.data, changes.patches.get(number, ())) for number, cell in enumerate(unit.cells)]
    edits = {**changes.edits}
    # A record built of pieces of others is computed as the only element of a list of its own.
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
    """Replace ranges of bytes. Of overlapping ranges the first applies."""
    if not patches:
        return data
    out, pos = [], 0
    for start, end, new in sorted(patches):
        if start < pos:
            continue
        out += [data[pos:start], new]
        pos = end
    return b"".join((*out, data[pos:]))


def sole_record(transcript: Transcript) -> Record | None:
    """Return the record that contains all of a conversation, if its bytes are in memory."""
    if transcript.beside:
        return None
    if not transcript.messages:
        return transcript.request.record if transcript.request else None
    record = transcript.messages[0].record
    alone = all(message.record is record for message in transcript.messages)
    inside = (
        len(transcript.messages) > 1 or transcript.request is not None or len(transcript.messages[0].at) > 0
    )
    return record if alone and record.data and inside else None


def own_bytes(record: Record, starts: Iterable[int]) -> bytes:
    """Return the bytes of a record without those of the next, where the line end between them is missing."""
    size = min((one - record.offset for one in starts if one > record.offset), default=len(record.data))
    return record.data[:size]
