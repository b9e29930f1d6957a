"""Add calls again that a compaction removed, each before its result.

A call goes into the turn of its result, if that turn has other calls. Else it gets a message of its own.
"""

from collections.abc import Iterator
from json import dumps
from typing import Any

from msgspec import Struct, field

from turnlint.documents.decode import value_of
from turnlint.documents.edit import part
from turnlint.ledger import Asked
from turnlint.model import Finding, Omitted, Pointer, Result
from turnlint.repair.sheet import Sheet
from turnlint.repair.spelling import spell_call
from turnlint.repair.splitting import SPEAKER
from turnlint.steps import Recall

Wanted = tuple[Finding, Recall]
_MARK = "\0call"
"""The place of the calls in a new message; no message has this text."""


class _Group(Struct):
    """Calls of one new message, and the range of messages with their results."""

    first: int
    last: int
    ids: set[str]
    members: list[tuple[Wanted, bytes]] = field(default_factory=list)


def recall(sheet: Sheet, wanted: list[Wanted]) -> Iterator[tuple[Wanted, bytes]]:
    """Add the calls of some results, and yield those that were added with their bytes."""
    groups: list[_Group] = []
    for one in sorted(wanted, key=lambda one: one[1].result.message):
        piece = _piece(sheet, one[1].call, one[1].result.message)
        if piece is None or sheet.goes(one[1].result.message, one[1].result.at):
            continue
        if _join_turn(sheet, one[1], piece):
            yield one, piece
        else:
            _group(sheet, groups, one, piece)
    for group in groups:
        if _add(sheet, group):
            yield from group.members


def source_of(sheet: Sheet, kept: Omitted) -> bytes | None:
    """Return the bytes of the message that still has a piece."""
    return kept.data or part(sheet.unit.cells[kept.record.offset].data, kept.at)


def _piece(sheet: Sheet, kept: Omitted, near: int) -> bytes | None:
    """Return a call in the spelling of the conversation; none where it has none for the call."""
    wire = sheet.judged.transcript.wire
    return spell_call(kept, source_of(sheet, kept), sheet.writer, wire, sheet.style(near))


def _join_turn(sheet: Sheet, step: Recall, piece: bytes) -> bool:
    """Add a call to the message of other calls whose turn has its result. Return whether there is one."""
    index, at = step.result.message, step.result.at
    if sheet.messages[index].role == "assistant":
        # A mixed content: it is split at its results in the next round.
        if not at or not isinstance(at[-1], int):
            return False
        sheet.edits(index).add(sheet.place(index, at)[:-1], at[-1], piece)
        return True
    asked = _mate(sheet, step)
    if asked is None:
        return False
    place = sheet.place(asked.message, asked.call.at)
    if not asked.call.at:
        return sheet.add(piece, behind=asked.message)
    if not isinstance(place[-1], int):
        return False
    sheet.edits(asked.message).add(place[:-1], place[-1] + 1, piece)
    return True


def _mate(sheet: Sheet, step: Recall) -> Asked | None:
    """Return the last call of the turn to which a result belongs, if that turn has other calls."""
    index = step.result.message
    beside = [
        sheet.asked_of.get((index, one.at)) for one in sheet.messages[index].blocks if isinstance(one, Result)
    ]
    mates = [one for one in beside if one is not None and one.message < index]
    if not mates:
        before = _last_speaker(sheet, index)
        turn = [one for one in sheet.judged.pairs.interactions if one.asked.message == before]
        shares = any(one.asked.call.id in step.call.beside for one in turn)
        waits = any(one.answer is None or one.answer.message >= index for one in turn)
        mates = [one.asked for one in turn if (shares or waits) and not one.asked.call.server]
    return max(mates, key=lambda one: one.seq, default=None)


def _last_speaker(sheet: Sheet, index: int) -> int:
    """Return the message before a run of messages with results only."""
    before = index - 1
    while before >= 0 and sheet.messages[before].blocks and _is_results(sheet, before):
        before -= 1
    return before


def _is_results(sheet: Sheet, index: int) -> bool:
    message = sheet.messages[index]
    return message.role != "assistant" and all(isinstance(one, Result) for one in message.blocks)


def _group(sheet: Sheet, groups: list[_Group], one: Wanted, piece: bytes) -> None:
    """Add a call to the group of its message, or to a new group."""
    index, kept = one[1].result.message, one[1].call
    last = groups[-1] if groups else None
    if last is not None and index != last.last:
        follows = index == last.last + 1 and _is_results(sheet, last.last) and _is_results(sheet, index)
        last = last if follows and not kept.beside.isdisjoint(last.ids) else None
    if last is None:
        last = _Group(index, index, set())
        groups.append(last)
    last.last = index
    last.ids |= {kept.piece.id or ""}
    if all(other[1].call.piece.id != kept.piece.id for other, _ in last.members):
        last.members.append((one, piece))


def _add(sheet: Sheet, group: _Group) -> bool:
    """Add a message with some calls before their results. Return whether that is possible."""
    writer, near = sheet.writer, group.first
    assert writer is not None
    if writer.calls_are_messages:
        done = [sheet.add(piece, before=near, goes_on=True) for _, piece in group.members]
        return all(done)
    kept = group.members[0][0][1].call
    shell = writer.write_message("assistant", [], [_MARK])
    source = source_of(sheet, kept)
    if shell is None and source is not None and writer.has_record_frame:
        shell = _copied(sheet, value_of(source), kept.piece.at, near)
    if shell is None:
        return False
    mark = dumps(_MARK).encode()
    head, found, tail = sheet.written(shell, near).partition(mark)
    if not found:
        return False
    pieces = b", ".join(piece for _, piece in group.members)
    return sheet.add(head + pieces + tail, before=near, goes_on=True, like=source or b"")


def _copied(sheet: Sheet, message: Any, at: Pointer, near: int) -> Any:
    """Return a message of the same format with the mark in place of its blocks, without the keys of its frame."""
    if not isinstance(message, dict) or len(at) != 2 or not isinstance(at[0], str) or sheet.writer is None:
        return None
    if sheet.writer.has_continued_frame:
        own = {key: message[key] for key in message if key in SPEAKER}
    else:
        _, framed = sheet.writer.record_frame(value_of(sheet.data(near)), None)
        own = {key: message[key] for key in message if key not in framed}
    return {**own, at[0]: [_MARK]}
