"""Messages that are records of their own.

This module owns what a new record takes over from its neighbour, so that it belongs to the same conversation:
the keys by which records are grouped, a time, an id that follows from its place, and the links of a log whose
messages name their parents. It refuses to know what a message says.
"""

from itertools import count
from typing import Any

from turnlint.carrying.envelope import GROUPS, OWN_IDS, PARENT_IDS
from turnlint.carrying.lines import digest, long_digest
from turnlint.carrying.saying import TIMES
from turnlint.documents.decode import value_of
from turnlint.documents.edit import Built, Piece, encode
from turnlint.model import Message
from turnlint.repair.sheet import Sheet
from turnlint.repair.trees import Step, Tree
from turnlint.repair.unit import Fresh


def link(sheet: Sheet) -> None:
    """Make records of what was added, and let each message name the one that now stands before it."""
    if sheet.judged.transcript.links:
        _link_tree(sheet)
        return
    messages, changes = sheet.messages, sheet.changes
    last = messages[0].parent if messages else None
    made = 0
    for place, index in sheet.order():
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


def _link_tree(sheet: Sheet) -> None:
    """The same for a session, where what names its parent need not be a message."""
    changes = sheet.changes
    steps: list[Step] = []
    fresh: list[tuple[int, int, Fresh, str]] = []
    known = {link.id for link in sheet.judged.transcript.links}
    for place, index in sheet.order():
        if index is None:
            new = changes.put[place[0]][place[1]]
            assert isinstance(new, Fresh)
            identifier = _minted(sheet, new, known)
            fresh.append((*place, new, identifier))
            steps.append(Step(identifier, new=True))
        else:
            steps.append(Step(sheet.messages[index].id, new=place[1] >= 0))
    if all(not step.new for step in steps) and len(steps) == len(sheet.messages):
        return
    parents = Tree(sheet).relink(steps)
    for cell, number, new, identifier in fresh:
        changes.put[cell][number] = _framed(sheet, new, identifier, parents[identifier])


def _minted(sheet: Sheet, fresh: Fresh, known: set[str | None]) -> str:
    """An id that follows from the place, and that nobody has."""
    assert sheet.splice is not None
    message, number = sheet.messages[fresh.near], 0
    while True:
        found = sheet.splice.mint(long_digest(f"{message.id}|{number}".encode()))
        if found not in known:
            known.add(found)
            return found
        number += 1


def _framed(sheet: Sheet, fresh: Fresh, identifier: str | None, parent: str | None) -> Piece:
    """A record as its format has them, from those beside which it will stand and to whose call it belongs."""
    splice, message, data = sheet.splice, sheet.messages[fresh.near], sheet.data(fresh.near)
    assert splice is not None
    assert splice.around is not None
    asking = value_of(sheet.data(fresh.asking)) if fresh.asking is not None else None
    outer, inner = splice.around(value_of(data), asking)
    own, above = splice.names
    if own and identifier is not None:
        outer = {**({above: parent} if above else {}), **outer, own: identifier}
    piece = _joined(fresh.piece, inner, data)
    if not message.at:
        return _joined(piece, outer, data)
    text = encode({**outer, str(message.at[-1]): 0}, data)
    return Built((text[:-2], piece, b"}"))


def _joined(piece: Piece, more: dict[str, Any], near: bytes) -> Piece:
    """An object with more members."""
    if not more:
        return piece
    parts = piece.parts if isinstance(piece, Built) else (piece,)
    first = parts[0]
    assert isinstance(first, bytes), "a message begins with its brace"
    comma = b", " if b", " in encode([0, 0], near) else b","
    return Built((encode(more, near)[:-1] + comma + first[1:], *parts[1:]))


def _relinked(sheet: Sheet, index: int, last: str | None) -> str | None:
    """Let a message name its new parent, if it named the message that stood before it."""
    message = sheet.messages[index]
    was = sheet.messages[index - 1].id if index else message.parent
    if message.parent_at and message.parent == was and last != was:
        sheet.edits(index).put(message.parent_at, sheet.written(last, index))
        sheet.changes.linked[sheet.cell(index), message.parent_at] = last
    return message.id


def _record(sheet: Sheet, fresh: Fresh, parent: str | None, number: int) -> tuple[str | None, Piece]:
    """A record for a message, modelled on the one beside which it will stand."""
    message = sheet.messages[fresh.near]
    data = sheet.data(fresh.near)
    known = {message.id for message in sheet.messages}
    if sheet.splice is not None and sheet.splice.around is not None:
        # A log whose records name nobody before them.
        named = _minted(sheet, fresh, known) if sheet.splice.names[0] and message.id else None
        return None, _framed(sheet, fresh, named, None)
    shell, identifier = _shell(message, data, parent, number, known)
    if message.at:
        text = encode({**shell, str(message.at[-1]): 0}, data)
        return identifier, Built((text[:-2], fresh.piece, b"}"))
    return identifier, _joined(fresh.piece, shell, data)


def _shell(
    message: Message, data: bytes, parent: str | None, number: int, known: set[str | None]
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
    digests = (digest(f"{message.id}|{one}".encode()) for one in count(number))
    made = (f"{like + dash if dash else 'fixed-'}{one}" for one in digests)
    identifier = next(one for one in made if one not in known)
    shell[own] = identifier
    if link_key:
        shell[link_key] = parent
    return shell, identifier
