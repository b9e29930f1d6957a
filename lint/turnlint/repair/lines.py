"""Make records for new messages in logs with one message per record.

A new record gets the keys of its neighbour that keep it in the same conversation: grouping keys, a time, an id that
derives from its position, and the links of a log whose messages name their parents.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any, TypeGuard

from turnlint.carrying.envelope import GROUPS, OWN_IDS, PARENT_IDS
from turnlint.carrying.lines import digest, long_digest
from turnlint.carrying.saying import TIMES
from turnlint.documents.decode import value_of
from turnlint.documents.edit import Built, Moved, Piece, encode, part
from turnlint.model import Message, Pointer
from turnlint.repair.sheet import Sheet
from turnlint.repair.trees import Step, Tree
from turnlint.repair.unit import Fresh

IN_STEP = {"replacement_history": "replacement_history_metadata"}
"""Lists of messages, each with the list beside it that has one object per message.

Codex rejects a file where their lengths differ.
"""


def link(sheet: Sheet) -> None:
    """Make records of the added messages, and link each message to the one that now precedes it."""
    _keep_in_step(sheet)
    if sheet.judged.transcript.links:
        _link_tree(sheet)
        return
    messages, changes = sheet.messages, sheet.changes
    names = _Names(sheet)
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
        identifier, piece = _record(sheet, fresh, last, names, made)
        changes.put[cell][number] = piece
        last = identifier or last


def _keep_in_step(sheet: Sheet) -> None:
    """Apply the insertions, removals and moves in a list of messages to the list beside it."""
    standing = ((message.record.offset, message.at[:-1]) for message in sheet.messages)
    for cell, at in dict.fromkeys(one for one in standing if one[1] and one[1][-1] in IN_STEP):
        edits, twin = sheet.changes.of(cell), (*at[:-1], IN_STEP[str(at[-1])])
        listed, beside = (_length(sheet.unit.cells[cell].data, one) for one in (at, twin))
        if listed is None or listed != beside:
            continue
        for one in [one for one in edits.erase if one[:-1] == at]:
            edits.take((*twin, one[-1]))
            sheet.changes.along.append((cell, (*twin, one[-1])))
        edits.insert[twin] = [
            (index, Moved(cell, (*twin, piece.at[-1])) if _is_of(piece, cell, at) else b"{}")
            for index, piece in edits.insert.get(at, ())
        ]


def _length(data: bytes, at: Pointer) -> int | None:
    found = value_of(part(data, at) or b"null")
    return len(found) if isinstance(found, list) else None


def _is_of(piece: Piece, cell: int, at: Pointer) -> TypeGuard[Moved]:
    return isinstance(piece, Moved) and piece.record == cell and piece.at[:-1] == at


def _link_tree(sheet: Sheet) -> None:
    """Link the records of a session, where a record that names its parent need not be a message."""
    changes = sheet.changes
    steps: list[Step] = []
    fresh: list[tuple[int, int, Fresh, str]] = []
    names = _Names(sheet)
    for place, index in _in_order(sheet):
        if index is None:
            new = changes.put[place[0]][place[1]]
            assert isinstance(new, Fresh)
            identifier = names.mint(new)
            fresh.append((*place, new, identifier))
            steps.append(Step(identifier, new=True))
        else:
            steps.append(Step(sheet.messages[index].id, new=place[1] >= 0))
    if all(not step.new for step in steps) and len(steps) == len(sheet.messages):
        return
    parents = Tree(sheet).relink(steps)
    for cell, number, new, identifier in fresh:
        changes.put[cell][number] = _framed(sheet, new, identifier, parents[identifier])


Standing = tuple[tuple[int, int], int | None]


def _in_order(sheet: Sheet) -> Iterator[Standing]:
    """Yield the messages in their final order, each after its ancestors: a user may have moved lines."""
    heads: dict[int, list[Standing]] = {}
    tails: dict[int, list[Standing]] = {}
    index_of = {message.record.offset: index for index, message in enumerate(sheet.messages)}
    last = min(index_of.values(), default=0)
    for place, index in sheet.order():
        cell, number = place
        if number < 0 and index is not None:
            last = index
        elif cell not in index_of and cell + 1 in index_of:
            heads.setdefault(index_of[cell + 1], []).append((place, index))
            continue
        tails.setdefault(index_of.get(cell, last), []).append((place, index))
    for index in _from_the_root(sheet, [index_of[cell] for cell in sorted(index_of)]):
        yield from heads.get(index, ())
        yield from tails.get(index, ())


def _from_the_root(sheet: Sheet, order: list[int]) -> Iterator[int]:
    """Yield messages in this order, but none before one of its ancestors. Each record is visited once."""
    named = {sheet.messages[index].id: index for index in order}
    parents = {link.id: link.parent for link in sheet.judged.transcript.links}
    seen: set[str | None] = set()
    done: set[int] = set()
    for index in order:
        path: list[str | None] = []
        at = sheet.messages[index].id
        while at is not None and at not in seen:
            seen.add(at)
            path.append(at)
            at = parents.get(at)
        for one in (*(named[one] for one in reversed(path) if one in named), index):
            if one not in done:
                done.add(one)
                yield one


class _Names:
    """Unused ids for added messages, derived from their position."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.tried: dict[str | None, count[int]] = {}
        """The next number for each neighbour's id; a hostile log may put all added messages beside one."""

    def mint(self, fresh: Fresh) -> str:
        assert self.sheet.writer is not None
        near = self.sheet.messages[fresh.near].id
        for number in self.tried.setdefault(near, count()):
            found = self.sheet.writer.new_id(long_digest(f"{near}|{number}".encode()))
            if found not in self.sheet.standing_ids:
                self.sheet.standing_ids.add(found)
                return found
        raise AssertionError("there is always a next number")


def _framed(sheet: Sheet, fresh: Fresh, identifier: str | None, parent: str | None) -> Piece:
    """Return a record in its format, from the records beside it and of the call that it answers."""
    writer, message, data = sheet.writer, sheet.messages[fresh.near], sheet.data(fresh.near)
    assert writer is not None
    assert writer.has_record_frame
    asking = value_of(sheet.data(fresh.asking)) if fresh.asking is not None else None
    if fresh.goes_on and writer.has_continued_frame and identifier is not None:
        near = value_of(data)
        said = {"message": value_of(fresh.like)} if fresh.like else {}
        outer, inner = writer.continued_frame({**near, **said}, identifier)
    else:
        outer, inner = writer.record_frame(value_of(data), asking)
    own, above = writer.id_and_parent_keys
    if own and identifier is not None:
        outer = {**({above: parent} if above else {}), **outer, own: identifier}
    piece = _joined(fresh.piece, inner, data)
    if not message.at:
        return _joined(piece, outer, data)
    text = encode({**outer, str(message.at[-1]): 0}, data)
    return Built((text[:-2], piece, b"}"))


def _joined(piece: Piece, more: dict[str, Any], near: bytes) -> Piece:
    """Return an object with more members."""
    if not more:
        return piece
    parts = piece.parts if isinstance(piece, Built) else (piece,)
    first = parts[0]
    assert isinstance(first, bytes), "a message begins with its brace"
    comma = b", " if b", " in encode([0, 0], near) else b","
    return Built((encode(more, near)[:-1] + comma + first[1:], *parts[1:]))


def _relinked(sheet: Sheet, index: int, last: str | None) -> str | None:
    """Link a message to its new parent, if it named the message that preceded it."""
    message = sheet.messages[index]
    was = sheet.messages[index - 1].id if index else message.parent
    if message.parent_at and message.parent == was and last != was:
        sheet.edits(index).put(message.parent_at, sheet.written(last, index))
        sheet.changes.linked[sheet.cell(index), message.parent_at] = last
    return message.id


def _record(
    sheet: Sheet, fresh: Fresh, parent: str | None, names: _Names, number: int
) -> tuple[str | None, Piece]:
    """Return a record for a message, modelled on the record beside it."""
    message = sheet.messages[fresh.near]
    data = sheet.data(fresh.near)
    if sheet.writer is not None and sheet.writer.has_record_frame:
        # A log whose records name no parent.
        named = names.mint(fresh) if sheet.writer.id_and_parent_keys[0] and message.id else None
        return None, _framed(sheet, fresh, named, None)
    shell, identifier = _shell(message, data, parent, number, sheet.standing_ids)
    if message.at:
        text = encode({**shell, str(message.at[-1]): 0}, data)
        return identifier, Built((text[:-2], fresh.piece, b"}"))
    return identifier, _joined(fresh.piece, shell, data)


def _shell(
    message: Message, data: bytes, parent: str | None, number: int, known: set[str | None]
) -> tuple[dict[str, Any], str | None]:
    """Return the keys of a record outside its message, and the id among them."""
    record = value_of(data)  # the record may have values that strict parsers reject, such as NaN
    shell = {key: record[key] for key in record if key in GROUPS or key in TIMES}
    link_key = next((key for key in PARENT_IDS if key in record), None)
    # An item's own id is no id of its record, unless others name it as their parent.
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
