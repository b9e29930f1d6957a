"""Choose the messages around a finding, and the text for each block.

The sink escapes the texts and lays them out.
"""

from collections.abc import Iterator

from msgspec import Struct, json

from turnlint.documents.locate import locate_all
from turnlint.model import (
    Blank,
    Block,
    Call,
    Finding,
    Message,
    Other,
    Pointer,
    Record,
    Result,
    Text,
    Transcript,
)
from turnlint.rows import Cell, Line, Mark
from turnlint.text import truncate

AROUND = 1
MOST_CELLS = 6
MOST_LINES = 7
LENGTHS = {"none": 0, "excerpt": 200, "full": 100_000}
"""Limit of the bytes of a content, for each amount of content."""
LONGEST_NAME = 120


class Plan(Struct):
    """The messages to show, and the records that they need."""

    transcript: Transcript
    finding: Finding
    messages: tuple[int, ...]

    def contents(self) -> Iterator[tuple[Record, Pointer]]:
        """Yield the positions whose content is shown."""
        for index in self.messages:
            message = self.transcript.messages[index]
            for block in message.blocks[:MOST_CELLS]:
                below = _content_at(block)
                if below is not None:
                    yield message.record, (*message.at, *below)

    def records(self) -> Iterator[Record]:
        return (self.transcript.messages[index].record for index in self.messages)


def plan(transcript: Transcript, finding: Finding) -> Plan | None:
    """Choose the messages: that of the finding, the related ones, and one on each side."""
    if finding.message_index is None:
        return None
    here = finding.message_index
    last = len(transcript.messages) - 1
    told = [related.message for related in finding.related if related.message is not None]
    near = range(max(0, here - AROUND), min(last, here + AROUND) + 1)
    chosen = sorted({*near, *told[: MOST_LINES - 3]})
    return Plan(transcript, finding, tuple(chosen))


def draw(wanted: Plan, *, longest: int) -> tuple[Line, ...]:
    """Return lines with at most `longest` bytes of each content, and without content for 0."""
    excerpts = _excerpts(wanted, longest) if longest else {}
    return tuple(_line(wanted, index, excerpts) for index in wanted.messages)


def _excerpts(wanted: Plan, longest: int) -> dict[tuple[int, Pointer], str]:
    by_record: dict[int, tuple[Record, list[Pointer]]] = {}
    for record, pointer in wanted.contents():
        by_record.setdefault(id(record), (record, []))[1].append(pointer)
    return {
        (key, pointer): _excerpt(record.data, start, end, longest)
        for key, (record, pointers) in by_record.items()
        for pointer, (_, start, end) in locate_all(record.data, pointers).items()
    }


def _excerpt(data: bytes, start: int, end: int, longest: int) -> str:
    piece = data[start : min(end, start + longest)].decode(errors="replace")
    if piece.startswith('"') and end - start <= longest:
        try:
            return f'"{json.decode(piece, type=str)}"'
        except ValueError:
            return piece
    return piece + ("…" if end - start > longest else "")


def _content_at(block: Block | Blank) -> Pointer | None:
    if isinstance(block, Result):
        return (*block.at, *block.keys.body)
    if isinstance(block, Text):
        return block.at if block.at == ("content",) else (*block.at, "text")
    return None


def _line(wanted: Plan, index: int, excerpts: dict[tuple[int, Pointer], str]) -> Line:
    message = wanted.transcript.messages[index]
    pieces = _pieces(message)
    shown = pieces[:MOST_CELLS]
    places = [*(block.at for block in shown), *message.inner_calls]
    told = _marks(wanted, index)
    marks = _by_place(told, places)
    pointed = {at for at, _ in told}
    cells: list[Cell] = []
    for number, block in enumerate(shown):
        below = _content_at(block)
        excerpt = excerpts.get((id(message.record), (*message.at, *below))) if below is not None else None
        cells += _cells(block, marks.get(number, ()), excerpt, pointed)
    if len(pieces) > len(shown):
        cells.append(Cell(f"… {len(pieces) - len(shown)} more"))
    cells += [Cell("a call", marks.get(len(shown) + n, ())) for n in range(len(message.inner_calls))]
    if not cells:
        cells = [Cell("(nothing)" if message.empty else "(not shown)")]
    if -1 in marks:  # a mark that belongs to no block is under the first
        cells[0] = Cell(cells[0].text, (*cells[0].marks, *marks[-1]), cells[0].excerpt)
    return Line(index, truncate(message.written_role or message.role, LONGEST_NAME), tuple(cells))


def _pieces(message: Message) -> list[Block | Blank]:
    """Return the blocks of a message, with the blank texts in their places."""
    pieces: list[Block | Blank] = []
    blanks = list(message.blanks)
    for number, block in enumerate(message.blocks):
        while blanks and blanks[0].before <= number:
            pieces.append(blanks.pop(0))
        pieces.append(block)
    return [*pieces, *blanks]


def _marks(wanted: Plan, index: int) -> list[tuple[Pointer, Mark]]:
    """Return the positions in this message that need a mark, relative to the message, with their notes."""
    message = wanted.transcript.messages[index]
    finding = wanted.finding
    depth = len(message.at)
    own = (
        [(finding.where.at[depth:], Mark(finding.label, main=True))] if finding.message_index == index else []
    )
    told = [related for related in finding.related if related.message == index]
    return own + [(related.where.at[depth:], Mark(related.note, main=False)) for related in told]


def _by_place(marks: list[tuple[Pointer, Mark]], places: list[Pointer]) -> dict[int, tuple[Mark, ...]]:
    """Assign each mark to the innermost position that contains it, or to -1."""
    found: dict[int, tuple[Mark, ...]] = {}
    for at, mark in marks:
        holding = [number for number, place in enumerate(places) if at and at[: len(place)] == place]
        number = max(holding, key=lambda one: len(places[one]), default=-1)
        found[number] = (*found.get(number, ()), mark)
    return found


def _cells(
    block: Block | Blank, marks: tuple[Mark, ...], excerpt: str | None, pointed: set[Pointer]
) -> Iterator[Cell]:
    if isinstance(block, Call):
        yield Cell(f"{_id(block.id)} {truncate(block.name or '(no name)', LONGEST_NAME)}", marks)
    elif isinstance(block, Result):
        says_name = block.name and (not block.id or (*block.at, *block.keys.name) in pointed)
        yield Cell(
            _id(block.id) + (f" ({truncate(block.name or '', LONGEST_NAME)})" if says_name else ""), marks
        )
        yield Cell(excerpt or "", excerpt=True) if excerpt is not None else Cell("(content)")
    elif isinstance(block, Text):
        yield Cell(excerpt, marks, excerpt=True) if excerpt is not None else Cell("(text)", marks)
    elif isinstance(block, Blank):
        yield Cell('" "' if block.white else '""', marks)
    else:
        yield Cell(truncate(block.kind, LONGEST_NAME) if isinstance(block, Other) else "thinking", marks)


def _id(identifier: str | None) -> str:
    if identifier is None:
        return "(no id)"
    return truncate(identifier, LONGEST_NAME) or '""'
