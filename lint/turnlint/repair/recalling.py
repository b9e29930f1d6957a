"""Add calls again that a compaction removed, each before its result.

A call goes into the turn of its result, if that turn has other calls. Else it gets a message of its own.
"""

from collections.abc import Iterator
from json import dumps
from math import inf
from typing import Any

from msgspec import Struct, field

from turnlint.documents.decode import value_of
from turnlint.documents.locate import Span, locate_all
from turnlint.ledger import Asked, Interaction
from turnlint.model import Finding, Omitted, Pointer, Result
from turnlint.repair.sheet import Sheet
from turnlint.repair.spelling import spell_call
from turnlint.repair.splitting import SPEAKER
from turnlint.steps import Recall

Wanted = tuple[Finding, Recall]
_MARK = "\0call"
"""The place of the calls in a new message; no message has this text."""


class Sources:
    """The bytes of removed pieces, at the places that still have them. Each record is parsed once."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.places: dict[int, list[Pointer]] = {}
        for one in sheet.judged.transcript.omitted:
            if one.path is None:
                self.places.setdefault(one.record.offset, []).extend((one.at, one.place))
        self.spans: dict[int, dict[Pointer, Span]] = {}

    def message(self, kept: Omitted) -> bytes | None:
        """Return the bytes of the message that still has a piece."""
        return kept.message if kept.path is not None else self._at(kept.record.offset, kept.at)

    def piece(self, kept: Omitted) -> bytes | None:
        """Return the bytes of a piece."""
        return kept.raw if kept.path is not None else self._at(kept.record.offset, kept.place)

    def _at(self, cell: int, at: Pointer) -> bytes | None:
        data = self.sheet.unit.cells[cell].data
        if cell not in self.spans:
            self.spans[cell] = locate_all(data, self.places[cell])
        found, start, end = self.spans[cell][at]
        return data[start:end] if found == at else None


class _Group(Struct):
    """Calls of one new message, and the range of messages with their results."""

    first: int
    last: int
    ids: set[str]
    members: list[tuple[Wanted, bytes]] = field(default_factory=list)


def recall(sheet: Sheet, wanted: list[Wanted], sources: Sources) -> Iterator[tuple[Wanted, bytes]]:
    """Add the calls of some results, and yield those that were added with their bytes."""
    groups: list[_Group] = []
    turns = _Turns(sheet)
    known: set[str | None] = set()
    for one in sorted(wanted, key=lambda one: one[1].result.message):
        step = one[1]
        near, kept = step.result.message, step.call
        wire = sheet.judged.transcript.wire
        piece = spell_call(kept, sources.piece(kept), sheet.writer, wire, sheet.style(near))
        if piece is None or kept.piece.id in known or sheet.goes(near, step.result.at):
            continue
        known.add(kept.piece.id)
        if _join_turn(sheet, turns, step, piece):
            yield one, piece
        else:
            _group(turns, groups, one, piece)
    for group in groups:
        if _add(sheet, group, sources):
            yield from group.members


class _Turns:
    """The calls to whose turns results belong. Each message is visited once."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        asked: dict[int, list[Interaction]] = {}
        for one in sheet.judged.pairs.interactions:
            if not one.asked.call.server:
                asked.setdefault(one.asked.message, []).append(one)
        self.asked = asked
        self.beside: dict[int, Asked | None] = {}
        self.pure: dict[int, bool] = {}
        """Whether a message has results only."""
        self.speakers: dict[int, int] = {}
        self.turns: dict[int, tuple[Asked, frozenset[str | None], float]] = {}
        """For each message with calls the last call, all ids, and the last message with a result."""

    def mate(self, step: Recall) -> Asked | None:
        """Return the last call of the turn to which a result belongs, if that turn has other calls."""
        index = step.result.message
        if index not in self.beside:
            self.beside[index] = self._beside(index)
        mate = self.beside[index]
        if mate is not None:
            return mate
        before = self._speaker(index)
        if before not in self.asked:
            return None
        if before not in self.turns:
            turn = self.asked[before]
            last = max(inf if one.answer is None else one.answer.message for one in turn)
            self.turns[before] = turn[-1].asked, frozenset(one.asked.call.id for one in turn), last
        asked, ids, last = self.turns[before]
        # A result that is still to come, or comes later, belongs to the same turn.
        return asked if last >= index or not ids.isdisjoint(step.call.beside) else None

    def is_results(self, index: int) -> bool:
        if index not in self.pure:
            message = self.sheet.messages[index]
            self.pure[index] = message.role != "assistant" and all(
                isinstance(one, Result) for one in message.blocks
            )
        return self.pure[index]

    def _beside(self, index: int) -> Asked | None:
        """Return the last call with a result in a message."""
        results = (one for one in self.sheet.messages[index].blocks if isinstance(one, Result))
        found = (self.sheet.asked_of.get((index, one.at)) for one in results)
        mates = [one for one in found if one is not None and one.message < index]
        return max(mates, key=lambda one: one.seq, default=None)

    def _speaker(self, index: int) -> int:
        """Return the message before a run of messages with results only."""
        before, run = index - 1, [index] if self.is_results(index) else []
        while before >= 0 and before not in self.speakers:
            if not self.sheet.messages[before].blocks or not self.is_results(before):
                break
            run.append(before)
            before -= 1
        found = self.speakers.get(before, before)
        self.speakers.update(dict.fromkeys(run, found))
        return found


def _join_turn(sheet: Sheet, turns: _Turns, step: Recall, piece: bytes) -> bool:
    """Add a call to the message of other calls whose turn has its result. Return whether there is one."""
    index, at = step.result.message, step.result.at
    if sheet.messages[index].role == "assistant":
        # A mixed content: it is split at its results in the next round.
        if not at or not isinstance(at[-1], int):
            return False
        sheet.edits(index).add(sheet.place(index, at)[:-1], at[-1], piece)
        return True
    asked = turns.mate(step)
    if asked is None:
        return False
    place = sheet.place(asked.message, asked.call.at)
    if not asked.call.at:
        return sheet.add(piece, behind=asked.message)
    if not isinstance(place[-1], int):
        return False
    sheet.edits(asked.message).add(place[:-1], place[-1] + 1, piece)
    return True


def _group(turns: _Turns, groups: list[_Group], one: Wanted, piece: bytes) -> None:
    """Add a call to the group of its message, or to a new group."""
    index, kept = one[1].result.message, one[1].call
    last = groups[-1] if groups else None
    if last is not None and index != last.last:
        follows = index == last.last + 1 and turns.is_results(last.last) and turns.is_results(index)
        last = last if follows and not kept.beside.isdisjoint(last.ids) else None
    if last is None:
        last = _Group(index, index, set())
        groups.append(last)
    last.last = index
    last.ids.add(kept.piece.id or "")
    last.members.append((one, piece))


def _add(sheet: Sheet, group: _Group, sources: Sources) -> bool:
    """Add a message with some calls before their results. Return whether that is possible."""
    writer, near = sheet.writer, group.first
    assert writer is not None
    if writer.calls_are_messages:
        done = [sheet.add(piece, before=near, goes_on=True) for _, piece in group.members]
        return all(done)
    kept = group.members[0][0][1].call
    shell = writer.write_message("assistant", [], [_MARK])
    source = sources.message(kept)
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
