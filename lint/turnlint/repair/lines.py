"""Messages that are records of their own.

This module owns what a new record takes over from its neighbour, so that it belongs to the same conversation:
the keys by which records are grouped, a time, an id that follows from its place, and the links of a log whose
messages name their parents. It refuses to know what a message says.
"""

from collections.abc import Iterator
from typing import Any

from turnlint.carrying.envelope import GROUPS, OWN_IDS, PARENT_IDS
from turnlint.carrying.lines import digest
from turnlint.carrying.saying import TIMES
from turnlint.documents.decode import value_of
from turnlint.documents.edit import Built, Moved, Piece, encode
from turnlint.model import Message
from turnlint.repair.sheet import Sheet
from turnlint.repair.unit import Fresh


def link(sheet: Sheet) -> None:
    """Make records of what was added, and let each message name the one that now stands before it."""
    messages, changes = sheet.messages, sheet.changes
    last = messages[0].parent if messages else None
    made = 0
    for place, index in _order(sheet):
        if index is not None:
            last = _relinked(sheet, index, last)
            continue
        cell, number = place
        fresh = changes.put[cell][number]
        assert isinstance(fresh, Fresh)
        made += 1
        identifier, piece = _record(sheet, fresh, last, made)
        changes.put[cell][number] = piece
        last = identifier or last


def _order(sheet: Sheet) -> Iterator[tuple[tuple[int, int], int | None]]:
    """The conversation as it will stand: the messages by their numbers, and the places of what is added."""
    changes = sheet.changes
    index_of = {message.record.offset: index for index, message in enumerate(sheet.messages)}
    for cell in range(-1, len(sheet.unit.cells)):
        if cell in index_of and cell not in changes.gone:
            yield (cell, -1), index_of[cell]
        for number, piece in enumerate(changes.put.get(cell, ())):
            if isinstance(piece, Moved):
                if piece.record in index_of:
                    yield (cell, number), index_of[piece.record]
            elif isinstance(piece, Fresh):
                yield (cell, number), None


def _relinked(sheet: Sheet, index: int, last: str | None) -> str | None:
    """Let a message name its new parent, if it named the message that stood before it."""
    message = sheet.messages[index]
    was = sheet.messages[index - 1].id if index else message.parent
    if message.parent_at and message.parent == was and last != was:
        sheet.edits(index).put(message.parent_at, sheet.written(last, index))
        sheet.changes.along.append((sheet.cell(index), message.parent_at))
    return message.id


def _record(sheet: Sheet, fresh: Fresh, parent: str | None, number: int) -> tuple[str | None, Piece]:
    """A record for a message, modelled on the one beside which it will stand."""
    message = sheet.messages[fresh.near]
    data = sheet.data(fresh.near)
    shell, identifier = _shell(message, data, parent, number)
    if message.at:
        text = encode({**shell, str(message.at[-1]): 0}, data)
        return identifier, Built((text[:-2], fresh.piece, b"}"))
    if not shell:
        return identifier, fresh.piece
    parts = fresh.piece.parts if isinstance(fresh.piece, Built) else (fresh.piece,)
    first = parts[0]
    assert isinstance(first, bytes), "a message begins with its brace"
    comma = b", " if b", " in encode([0, 0], data) else b","
    return identifier, Built((encode(shell, data)[:-1] + comma + first[1:], *parts[1:]))


def _shell(
    message: Message, data: bytes, parent: str | None, number: int
) -> tuple[dict[str, Any], str | None]:
    """The keys of a record that are not its message's, and the id among them."""
    record = value_of(data)  # which may hold what strict readers refuse, a NaN
    shell = {key: record[key] for key in record if key in GROUPS or key in TIMES}
    link_key = next((key for key in PARENT_IDS if key in record), None)
    # An item's own id is no name of its record, but where others name it as their parent.
    named = message.id is not None and (link_key is not None or not message.kind)
    own = next((key for key in OWN_IDS if isinstance(record.get(key), str)), None) if named else None
    if own is None:
        return shell, None
    like, dash, _ = (message.item or "").partition("_")
    identifier = f"{like + dash if dash else 'fixed-'}{digest(f'{message.id}|{number}'.encode())}"
    shell[own] = identifier
    if link_key:
        shell[link_key] = parent
    return shell, identifier
