"""Edit one conversation: find messages and blocks in the records, and insert, remove and move them."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from msgspec import Struct

from turnlint.carrying.envelope import OWN_IDS
from turnlint.carrying.saying import says_something
from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import value_of
from turnlint.documents.edit import Built, Edits, Moved, Piece, Style, encode, part, style_of
from turnlint.documents.locate import Span, locate_all
from turnlint.engine import Judged
from turnlint.ledger import Answered, Asked, Interaction
from turnlint.model import Blank, Block, Call, Message, Pointer, Result, Thinking
from turnlint.repair.unit import Changes, Fresh, Unit


class Host(Struct, frozen=True):
    """The container of a message: a list of its record, or the file, where the message is a record."""

    cell: int
    list: Pointer | None
    index: int = 0


class Sheet:
    """The conversation, and the changes to its records so far."""

    def __init__(self, judged: Judged, unit: Unit, changes: Changes, writer: MessageWriter | None) -> None:
        self.judged = judged
        self.unit = unit
        self.changes = changes
        self.writer = writer
        self.dropped: dict[int, set[Pointer]] = {}
        """For each message, the blocks that are removed or moved."""
        self.filled: set[int] = set()
        """Messages that got new content, so that they stay."""
        self.removed: set[int] = set()
        """Messages that are removed or moved."""
        self.spans: dict[int, dict[Pointer, Span]] = {}
        self.styles: dict[int, Style] = {}

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.judged.transcript.messages

    def cell(self, index: int) -> int:
        return self.messages[index].record.offset

    def edits(self, index: int) -> Edits:
        return self.changes.of(self.cell(index))

    def data(self, index: int) -> bytes:
        return self.unit.cells[self.cell(index)].data

    def host(self, index: int) -> Host | None:
        """Return the container of a message, if other messages may be inserted beside it."""
        transcript = self.judged.transcript
        at = self.messages[index].at
        request = transcript.request
        if at and isinstance(at[-1], int):
            inside = request is None or (bool(request.key) and at[:-1] == (*request.at, request.key))
            return Host(self.cell(index), at[:-1], at[-1]) if inside else None
        if request is not None:
            return None
        return Host(self.cell(index), None) if not self.messages[index].record.prefix else None

    def place(self, index: int, below: Pointer = ()) -> Pointer:
        return (*self.messages[index].at, *below)

    def raw(self, index: int, below: Pointer = ()) -> bytes | None:
        """Return the bytes of a message, or of a value below it. Only the message is parsed for that."""
        cell = self.cell(index)
        if cell not in self.spans:
            self.spans[cell] = locate_all(self.data(index), self.places[cell])
        at, start, end = self.spans[cell][self.messages[index].at]
        return part(self.data(index)[start:end], below) if at == self.messages[index].at else None

    def value(self, index: int, below: Pointer = ()) -> Any:
        """Return a message, or a value below it, decoded as far as possible."""
        data = self.raw(index, below)
        return None if data is None else value_of(data)

    def written(self, value: Any, near: int) -> bytes:
        """Encode a new value in the style of the record beside it."""
        return encode(value, self.style(near))

    def style(self, near: int) -> Style:
        """Return the style of the record of a message."""
        cell = self.cell(near)
        if cell not in self.styles:
            self.styles[cell] = style_of(self.unit.cells[cell].data)
        return self.styles[cell]

    @cached_property
    def standing_ids(self) -> set[str | None]:
        """Return the ids of all records and messages of the unit, also of those without content.

        An agent that loads the log keeps only one of two records with the same id.
        """
        pattern = rb'"(?:%s)"\s*:\s*"([^"\\]+)"' % "|".join(OWN_IDS).encode()
        found = (
            one.decode(errors="replace") for cell in self.unit.cells for one in re.findall(pattern, cell.data)
        )
        return {*found, *(message.id for message in self.messages)}

    # Messages.

    def order(self) -> Iterator[tuple[tuple[int, int], int | None]]:
        """Yield the messages in their final order by index, and the positions of added messages.

        A position is the number of a cell and the index among the pieces after it; -1 for a record that stays.
        """
        changes = self.changes
        inside: dict[int, list[int]] = {}
        for index, message in enumerate(self.messages):
            inside.setdefault(message.record.offset, []).append(index)
        for cell in range(-1, len(self.unit.cells)):
            if cell not in changes.gone:
                yield from (((cell, -1), index) for index in inside.get(cell, ()))
            for number, piece in enumerate(changes.put.get(cell, ())):
                if isinstance(piece, Moved):
                    yield from (((cell, number), index) for index in inside.get(piece.record, ()))
                elif isinstance(piece, Fresh):
                    yield (cell, number), None

    def add(
        self, piece: Piece, *, behind: int | None = None, before: int | None = None, asking: int | None = None,
        goes_on: bool = False, like: bytes = b"",
    ) -> bool:  # fmt: skip
        """Insert a new message beside another. Return whether that is possible."""
        near = behind if behind is not None else before
        assert near is not None, "a message is put beside another"
        host = self.host(near)
        if host is None:
            return False
        if host.list is not None:
            self.changes.of(host.cell).add(host.list, host.index + (behind is not None), piece)
            return True
        there = host.cell - (behind is None)
        self.changes.put.setdefault(there, []).append(Fresh(near, piece, asking, goes_on, like))
        return True

    def move(self, index: int, *, behind: int | None = None, before: int | None = None) -> bool:
        """Move a message beside another one. Return whether that is possible."""
        near = behind if behind is not None else before
        assert near is not None, "a message is put beside another"
        source, target = self.host(index), self.host(near)
        if source is None or target is None:
            return False
        if source.list is not None and (source.cell, source.list) == (target.cell, target.list):
            edits = self.changes.of(source.cell)
            self.removed.add(index)
            if edits.take((*source.list, source.index)):
                piece = Moved(source.cell, (*source.list, source.index))
                edits.add(source.list, target.index + (behind is not None), piece)
            return True
        if source.list is None and target.list is None:
            self.removed.add(index)
            if source.cell not in self.changes.gone:
                self.changes.gone.add(source.cell)
                there = target.cell - (behind is None)
                self.changes.put.setdefault(there, []).append(Moved(source.cell, ()))
            return True
        return False

    def remove(self, index: int) -> bool:
        """Remove a message. Return whether that is possible."""
        host = self.host(index)
        if host is None:
            return False
        self.removed.add(index)
        if host.list is None:
            self.changes.gone.add(host.cell)
            self.changes.along.append((host.cell, ()))
        else:
            self.edits(index).take((*host.list, host.index))
        return True

    # Blocks.

    def drop(self, index: int, block: Pointer) -> bool:
        """Remove a block from its message; `settle` handles what remains of the message."""
        if not block:
            return self.remove(index)
        self.dropped.setdefault(index, set()).add(block)
        return self.edits(index).take(self.place(index, block))

    def goes(self, index: int, block: Pointer) -> bool:
        """Whether a piece is removed from its place."""
        return index in self.removed or block in self.dropped.get(index, ())

    def lift(self, index: int, block: Pointer) -> Moved:
        """Remove a block, or a whole message, and return it for another place."""
        if block:
            self.drop(index, block)
        else:
            self.remove(index)
        return Moved(self.cell(index), self.place(index, block))

    def holder(self, pieces: Iterable[Piece], near: int, more: Any) -> Built:
        """Return a new message for some blocks, in the style of the record beside it."""
        assert self.writer is not None
        key = self.writer.blocks_key
        shell = self.written({**more, key: [0, 0]}, near)
        head, _, tail = shell.rpartition(b"0")
        start, _, comma = head.rpartition(b"0")
        parts: list[bytes | Moved | Built] = [start]
        for number, piece in enumerate(pieces):
            parts += [comma, piece] if number else [piece]
        return Built((*parts, tail))

    def settle(self) -> list[int]:
        """Clean up messages that lost blocks: remove empty lists of calls, and messages without content.

        No provider accepts thoughts without the content that followed them. Returns the messages whose thoughts were
        removed.
        """
        thoughts = []
        for index, gone in self.dropped.items():
            message = self.messages[index]
            left = [block for block in _all(message) if block.at not in gone]
            said = [block for block in left if not isinstance(block, Blank)]
            hollow = index not in self.filled and all(isinstance(block, Thinking) for block in said)
            if (
                hollow
                and not self._says_more(index, {*gone, *(block.at for block in left)})
                and self.remove(index)
            ):
                self.changes.along.append((self.cell(index), self.place(index)))
                thoughts += [index] if said or message.reasoning == "text" else []
                continue
            lists = {at[:-1] for at in gone if len(at) > 1 and isinstance(at[-1], int)}
            twins = (twin for block in left if isinstance(block, Call) for twin in block.also)
            standing = {one.at[:-1] for one in (*left, *twins)}
            for one in lists:
                if one[-1] == "tool_calls" and one not in standing:
                    self.edits(index).take(self.place(index, one))
        return thoughts

    def _says_more(self, index: int, blocks: set[Pointer]) -> bool:
        """Whether a message has content beside some of its blocks, under any key."""
        message = self.value(index)
        if not isinstance(message, dict):
            return True
        for at in sorted(blocks, key=lambda at: [(isinstance(key, str), key) for key in at], reverse=True):
            _cut(message, at)
        return says_something({key: value for key, value in message.items() if key != "reasoning_content"})

    # Turns.

    @cached_property
    def places(self) -> dict[int, list[Pointer]]:
        """Return the pointers of the messages of each record."""
        found: dict[int, list[Pointer]] = {}
        for message in self.messages:
            found.setdefault(message.record.offset, []).append(message.at)
        return found

    @cached_property
    def turns(self) -> dict[int, list[Interaction]]:
        found: dict[int, list[Interaction]] = {}
        for one in self.judged.pairs.interactions:
            found.setdefault(one.asked.turn, []).append(one)
        return found

    @cached_property
    def interaction_at(self) -> dict[tuple[int, Pointer], Interaction]:
        return {(one.asked.message, one.asked.call.at): one for one in self.judged.pairs.interactions}

    def call(self, index: int, at: Pointer) -> Asked | None:
        found = self.interaction_at.get((index, at))
        return found.asked if found else None

    @cached_property
    def asked_of(self) -> dict[tuple[int, Pointer], Asked]:
        """Return the call of each result."""
        pairs = ((one.asked, one.answer) for one in self.judged.pairs.interactions)
        return {(answer.message, answer.result.at): asked for asked, answer in pairs if answer is not None}

    @cached_property
    def results(self) -> dict[tuple[int, Pointer], Answered]:
        pairs = self.judged.pairs
        answers = [one.answer for one in pairs.interactions if one.answer is not None]
        others = [again for again, _ in pairs.duplicates]
        every = (*answers, *others, *pairs.orphans)
        return {(one.message, one.result.at): one for one in every}


def _all(message: Message) -> list[Block | Blank]:
    return [*message.blocks, *message.blanks]


def _cut(value: Any, at: Pointer) -> None:
    """Remove a place from a decoded value."""
    for key in at[:-1]:
        value = value[key]
    del value[at[-1]]


def id_place(piece: Call | Result) -> Pointer | None:
    """Return the pointer of the id of a call or a result; none where the wire has no key for it."""
    return None if piece.keys.id == piece.keys.name else (*piece.at, *piece.keys.id)
