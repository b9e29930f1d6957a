"""Convert steps to edits.

The module defines the effect of each kind of step on a conversation. Other modules choose the steps and find the bytes.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import structs

from turnlint.case import Case
from turnlint.documents.decode import below
from turnlint.documents.edit import Moved, Piece, encode
from turnlint.ledger import Answered, Asked, usable
from turnlint.lifecycle import PARTIAL, lifecycle_of
from turnlint.model import Call, Finding, Omitted, Pointer, Result
from turnlint.profiles import Profile
from turnlint.repair.change import Change, What
from turnlint.repair.choosing import Chosen
from turnlint.repair.names import Names, Renamed
from turnlint.repair.recalling import Sources, recall
from turnlint.repair.recalling import Wanted as Lacking
from turnlint.repair.sheet import Sheet, id_place
from turnlint.repair.spelling import spell_result
from turnlint.repair.splitting import split, unmix
from turnlint.repair.telling import Tale
from turnlint.repair.translating import translate
from turnlint.repair.windows import Wanted, arrange
from turnlint.steps import (
    Apart,
    Close,
    Drop,
    Join,
    Move,
    Name,
    Patch,
    Put,
    Recall,
    Relink,
    Rename,
    Restore,
    Say,
    Settle,
    Shift,
    Sort,
    Split,
    Step,
    Take,
    Translate,
    Unmix,
)  # fmt: skip
from turnlint.steps import Piece as Place
from turnlint.text import describe_call, quote_name

NUMBERS = frozenset({"message", "onto", "before"})
"""Fields of steps that are message indices. The target of a shifted block is none."""


DIRECT = 2
"""The length of the pointer of a piece in the list of its message."""
_SHELL = ("role", "type", "status")
"""Keys of a message without content of their own."""


class Maker:
    """Makes the steps of one conversation."""

    def __init__(
        self, sheet: Sheet, names: Names, profiles: Mapping[str, tuple[Profile, ...]], usual: Profile,
        done: set[Any],
    ) -> None:  # fmt: skip
        self.sheet = sheet
        self.names = names
        self.profiles = profiles
        self.usual = usual
        """The profile whose ids are made where no provider requires any."""
        self.case = Case(sheet.judged.transcript, sheet.judged.pairs)
        self.done = done
        """Steps that were made in conversations which share records with this one."""
        self.tale = Tale(sheet)
        self.tell = self.tale.tell
        self.turns: dict[int, Wanted] = {}
        self.joined: set[int] = set()
        """Messages onto which others were joined; more may follow."""
        self.kept = Sources(sheet)
        self.omitted: list[Lacking] = []
        """Results whose calls are added again."""
        self.renames: set[Place] = set()
        self.sources: dict[int, tuple[str, int]] = {}
        """For each result from another place, the file and the line."""
        self.asked_for: dict[int, Finding] = {}
        """For each call, the finding for which its result is moved or added."""

    def make(self, chosen: list[Chosen]) -> list[Change]:
        self.renames = {step.piece for _, step in chosen if isinstance(step, Rename)}
        # Removals come first: no result is moved or added for a removed call. New ids come next: a result without an id
        # gets the new id of its call.
        for finding, step in sorted(chosen, key=lambda one: _turn(one[1])):
            key = self._key(step)
            if key not in self.done:
                self.done.add(key)
                HANDS[type(step)](self, finding, step)
        self._arrange()
        self._recall()
        for index in self.sheet.settle():
            done = "remove the message, which contains only thinking blocks"
            self.tell(self.tale.first[index], "removed", index, done=done)
        return self.tale.with_digests()

    def _key(self, step: Step) -> Any:
        """Return a key of a step that depends on its effect and its places, not on message indices."""

        def place(value: Any) -> Any:
            if isinstance(value, Place):
                return self._number(value.message), value.at
            if isinstance(value, Omitted):
                return value.piece.id, value.record.line
            return tuple(map(place, value)) if isinstance(value, tuple) else value

        fields = structs.asdict(step)
        own = (
            (name, self._number(value) if name in NUMBERS else place(value)) for name, value in fields.items()
        )
        return type(step).__name__, tuple(own)

    def _number(self, index: int | None) -> Any:
        if index is None or index >= len(self.sheet.messages):
            return index
        return self.sheet.cell(index), self.sheet.place(index)

    @property
    def told(self) -> list[bytes]:
        return self.tale.told

    # Pairing.

    def settle(self, finding: Finding, step: Settle) -> None:
        asked = self.sheet.call(step.call.message, step.call.at)
        answered = self.sheet.results.get((step.result.message, step.result.at))
        if not asked or not answered or not self._waits(asked) or self._is_answered(asked, answered):
            return
        if self.case.has_own_call(answered):
            return  # no rule moves a result away from a call that may be its own
        if asked.call.server:
            self._reunite(finding, asked, answered)
        else:
            self.asked_for[asked.seq] = finding
            self.turns.setdefault(asked.turn, Wanted()).moves[asked.seq] = answered

    def close(self, finding: Finding, step: Close) -> None:
        asked = self.sheet.call(step.call.message, step.call.at)
        # A call that is about to get its first id gets its result in the next round, with that id. A call that needs an
        # id and is no object cannot get one: a result for it would have no id either.
        if asked and self._waits(asked) and self._can_be_answered(asked, step.call):
            self.asked_for[asked.seq] = finding
            if self._complete(finding, asked):
                return
            self.turns.setdefault(asked.turn, Wanted()).closes.add(asked.seq)

    def _complete(self, finding: Finding, asked: Asked) -> bool:
        """Complete the pending result of a call in its place. Return whether there is one; its content stays."""
        sheet = self.sheet
        answer = sheet.interaction_at[asked.message, asked.call.at].answer
        if answer is None or sheet.writer is None or sheet.goes(answer.message, answer.result.at):
            return False
        lifecycle, index, at = lifecycle_of(answer.result), answer.message, answer.result.at
        result = sheet.value(index, at)
        if lifecycle.state != "pending" or not isinstance(result, dict):
            return False
        said = PARTIAL if lifecycle.is_partial else sheet.writer.placeholder_text
        done = f"complete the pending result of {describe_call(asked.call)}"
        values = sheet.writer.completed_values(result, said)
        for number, (place, value) in enumerate(values.items()):
            if below(result, place) != value:
                what: What = "rewritten" if number else "added"
                self._write(finding, index, (*at, *place), sheet.written(value, index), what, done)
        return bool(values)

    def _can_be_answered(self, asked: Asked, place: Place) -> bool:
        if usable(asked.call.id):
            return True
        if place in self.renames:
            return False
        raw = self.sheet.raw(asked.message, asked.call.at) if asked.call.needs_id else b"{"
        return raw is not None and raw.startswith(b"{")

    def _waits(self, asked: Asked) -> bool:
        """Whether a call stays and no result was requested for it yet."""
        return asked.seq not in self.asked_for and not self.sheet.goes(asked.message, asked.call.at)

    def _is_answered(self, asked: Asked, answered: Answered) -> bool:
        """Whether another result of the call stays."""
        answer = self.sheet.interaction_at[asked.message, asked.call.at].answer
        other = answer is not None and answer.seq != answered.seq
        return other and answer is not None and not self.sheet.goes(answer.message, answer.result.at)

    def _reunite(self, finding: Finding, asked: Asked, answered: Answered) -> None:
        """Move a result of the provider's own tool after its call: the provider answers it in the same message."""
        sheet = self.sheet
        place = sheet.place(asked.message, asked.call.at)
        if not answered.result.at or not place or not isinstance(place[-1], int):
            return
        piece = sheet.lift(answered.message, answered.result.at)
        sheet.edits(asked.message).add(place[:-1], place[-1] + 1, piece)
        sheet.filled.add(asked.message)
        self.tell(finding, "moved", answered.message, answered.result.at)

    def _arrange(self) -> None:
        for turn, wanted in sorted(self.turns.items()):
            done = arrange(self.sheet, turn, wanted)
            for one in self.sheet.turns[turn]:
                if one.asked.seq not in done:
                    continue
                finding, call = self.asked_for[one.asked.seq], one.asked.call
                answer = wanted.moves.get(one.asked.seq)
                if answer is None:
                    self.tell(
                        finding,
                        "added",
                        one.asked.message,
                        call.at,
                        done=f"add a result for {describe_call(call)}",
                        after=wanted.given.get(one.asked.seq),
                        source=self.sources.get(one.asked.seq, (None, None)),
                    )
                else:
                    self.tell(finding, "moved", answer.message, answer.result.at)

    def recall(self, finding: Finding, step: Recall) -> None:
        self.omitted.append((finding, step))

    def _recall(self) -> None:
        for (finding, step), piece in recall(self.sheet, self.omitted, self.kept) if self.omitted else ():
            kept = step.call
            source = kept.path or self.sheet.unit.name, kept.record.line
            self.tell(finding, "added", step.result.message, step.result.at, after=piece, source=source)

    def restore(self, finding: Finding, step: Restore) -> None:
        sheet, near, kept = self.sheet, step.call.message, step.result
        asked = sheet.call(near, step.call.at)
        if asked is None or not self._waits(asked):
            return
        wire = sheet.judged.transcript.wire
        raw = self.kept.piece(kept)
        data = spell_result(kept, raw, sheet.writer, wire, sheet.style(near), asked.call)
        if data is not None:
            self.asked_for[asked.seq] = finding
            self.turns.setdefault(asked.turn, Wanted()).given[asked.seq] = data
            self.sources[asked.seq] = kept.path or sheet.unit.name, kept.record.line

    def drop(self, finding: Finding, step: Drop) -> None:
        index, at = step.piece.message, step.piece.at
        if self._drop(step.piece):
            self.tell(finding, "removed", index, at)
            if answered := self.sheet.results.get((index, at)):
                for place in self.sheet.messages[index].calls_in(answered.result):
                    self.tell(finding, "removed", index, place, done="remove the call inside the result")

    def _drop(self, piece: Place) -> bool:
        sheet = self.sheet
        asked = sheet.call(piece.message, piece.at)
        for twin in asked.call.also if asked else ():
            sheet.drop(piece.message, twin.at)
            sheet.changes.along.append((sheet.cell(piece.message), sheet.place(piece.message, twin.at)))
        return sheet.drop(piece.message, piece.at)

    # Ids.

    def name(self, finding: Finding, step: Name) -> None:
        sheet, index = self.sheet, step.piece.message
        asked, answered = sheet.call(index, step.piece.at), sheet.results.get((index, step.piece.at))
        block = asked.call if asked else answered.result if answered else None
        place = id_place(block) if block else None
        if block is not None and place is not None:
            what = "call" if asked else "result"
            self._write(finding, index, place, sheet.written(step.id, index), "renamed",
                        f"give the {what} the id {quote_name(step.id)}", (block.id, step.id))  # fmt: skip

    def rename(self, finding: Finding, step: Rename) -> None:
        for profile in self.profiles.get(finding.provider or "", (self.usual,)):
            for one in self.names.rename(step.piece.message, step.piece.at, profile):
                self._renamed(finding, one)

    def _renamed(self, finding: Finding, one: Renamed) -> None:
        self.tell(finding, "renamed", one.message, one.at, done=one.done, ids=(one.old, one.new))

    # Values and bytes.

    def put(self, finding: Finding, step: Put) -> None:
        if step.message is not None:
            self._write(finding, step.message, step.at, step.data, "rewritten")
        else:
            self._put(finding, step.at, step.data)

    def relink(self, finding: Finding, step: Relink) -> None:
        near = self.sheet.unit.cells[finding.where.record.offset].data
        self._put(finding, step.at, encode(step.parent, near))

    def _put(self, finding: Finding, at: Pointer, data: bytes) -> None:
        if self.sheet.changes.of(finding.where.record.offset).put(at, data):
            self.tale.tell_at(finding, "rewritten", at, after=data)

    def _write(
        self, finding: Finding, index: int, below: Pointer, data: bytes, what: What, done: str | None = None,
        ids: tuple[str | None, str | None] = (None, None),
    ) -> None:  # fmt: skip
        if self.sheet.edits(index).put(self.sheet.place(index, below), data):
            self.tell(finding, what, index, below, done=done, after=data, ids=ids)

    def take(self, finding: Finding, step: Take) -> None:
        if step.message is None:
            if self.sheet.changes.of(finding.where.record.offset).take(step.at):
                self.tale.tell_at(finding, "removed", step.at)
        elif self.sheet.edits(step.message).take(self.sheet.place(step.message, step.at)):
            self.tell(finding, "removed", step.message, step.at)

    # Messages.

    def sort(self, finding: Finding, step: Sort) -> None:
        """Exchange the positions of results, in the file or in one list."""
        sheet = self.sheet
        hosts = [sheet.host(one.message) for one in step.results if not one.at]
        if len(hosts) == len(step.results) and all(host and host.list is None for host in hosts):
            self._sort_records(finding, step)
            return
        places = [sheet.place(one.message, one.at) for one in step.results]
        lists = {(sheet.cell(one.message), at[:-1]) for one, at in zip(step.results, places, strict=True)}
        if len(lists) != 1 or not all(at and isinstance(at[-1], int) for at in places):
            return
        ((cell, inside),) = lists
        edits = sheet.changes.of(cell)
        if any(at in edits.erase for at in places):
            return
        for now, at in zip(sorted(places), places, strict=True):
            edits.add(inside, int(now[-1]), Moved(cell, at))
            edits.take(at)
        self.tell(finding, "moved", step.results[0].message, step.results[0].at)

    def _sort_records(self, finding: Finding, step: Sort) -> None:
        sheet = self.sheet
        cells = [sheet.cell(one.message) for one in step.results]
        if sheet.changes.gone.isdisjoint(cells):
            sheet.changes.gone.update(cells)
            for now, cell in zip(sorted(cells), cells, strict=True):
                sheet.changes.put.setdefault(now - 1, []).append(Moved(cell, ()))
            self.tell(finding, "moved", step.results[0].message)

    def apart(self, finding: Finding, step: Apart) -> None:
        sheet = self.sheet
        message = sheet.messages[step.message]
        rest = [block.at for block in (*message.blocks, *message.blanks) if not isinstance(block, Result)]
        if (
            sheet.writer is None
            or not rest
            or sheet.host(step.message) is None
            or step.message in sheet.dropped
        ):
            return
        pieces: list[Piece] = [
            sheet.lift(step.message, at)
            for at in sorted(rest, key=lambda at: [(isinstance(part, str), part) for part in at])
        ]
        sheet.add(sheet.holder(pieces, step.message, sheet.writer.result_message_keys), behind=step.message)
        self.tell(finding, "moved", step.message)

    def split(self, finding: Finding, step: Split) -> None:
        if split(self.sheet, step.message):
            self.tell(finding, "moved", step.message, done="split the message at its results")

    def unmix(self, finding: Finding, step: Unmix) -> None:
        message, known = self.sheet.messages[step.message], self.case.known_calls
        own = [place for place in message.inner_calls if len(place) == DIRECT]
        calls = [one for one in own if known.repeated(self.case.said(step.message, one)) is None]
        calls += (one.at for one in message.blocks if isinstance(one, Call) and len(one.at) == DIRECT)
        if unmix(self.sheet, step.message, frozenset(calls)):
            self.tell(finding, "moved", step.message)

    def shift(self, finding: Finding, step: Shift) -> None:
        sheet = self.sheet
        at = sheet.place(step.piece.message, step.piece.at)
        edits = sheet.edits(step.piece.message)
        if edits.take(at):
            edits.add(at[:-1], step.before, Moved(sheet.cell(step.piece.message), at))
            self.tell(finding, "moved", step.piece.message, step.piece.at)

    def join(self, finding: Finding, step: Join) -> None:
        """Append the blocks of a message to those of an earlier one, if both have a list of blocks."""
        sheet = self.sheet
        key = sheet.writer.blocks_key if sheet.writer else ""
        target, source = sheet.value(step.onto, (key,)), sheet.value(step.message, (key,))
        busy = {step.onto, step.message} & {*sheet.dropped, *(sheet.filled - self.joined)}
        if not key or not isinstance(target, list) or not isinstance(source, list) or busy:
            return
        foreign = [name for name in sheet.value(step.message) if name not in (*_SHELL, key)]
        if foreign and finding.fix and finding.fix.level != "lossy":
            return
        list_at = sheet.place(step.onto, (key,))
        for index in range(len(source)):
            piece = Moved(sheet.cell(step.message), sheet.place(step.message, (key, index)))
            sheet.edits(step.onto).add(list_at, len(target), piece)
        sheet.remove(step.message)
        sheet.filled |= {step.onto, step.message}
        self.joined.add(step.onto)
        self.tell(finding, "moved", step.message)
        for name in foreign:
            self.tell(finding, "removed", step.message, (name,), done=f"remove the key {quote_name(name)}")

    def move(self, finding: Finding, step: Move) -> None:
        last = len(self.sheet.messages) - 1
        place = {"before": step.before} if step.before <= last else {"behind": last}
        if not (step.message == last < step.before) and self.sheet.move(step.message, **place):
            self.tell(finding, "moved", step.message)

    def say(self, finding: Finding, step: Say) -> None:
        sheet = self.sheet
        value = sheet.writer.write_message(step.role, [step.text], []) if sheet.writer else None
        last = step.before >= len(sheet.messages)
        near = len(sheet.messages) - 1 if last else step.before
        if value is None:
            return
        piece = sheet.written(value, near)
        if sheet.add(piece, behind=near) if last else sheet.add(piece, before=near):
            self.tell(finding, "added", near, after=piece)

    def translate(self, finding: Finding, step: Translate) -> None:
        if translate(self.sheet, step.message):
            self.tell(finding, "rewritten", step.message)


def _turn(step: Step) -> int:
    return 0 if isinstance(step, Drop) else 1 if isinstance(step, Rename) else 2


def _no_patch(_: Maker, __: Finding, ___: Any) -> None:
    """Do nothing: bytes of damaged records are repaired before there is a conversation."""


HANDS: dict[type, Callable[[Maker, Finding, Any], None]] = {
    Settle: Maker.settle,
    Close: Maker.close,
    Recall: Maker.recall,
    Restore: Maker.restore,
    Drop: Maker.drop,
    Name: Maker.name,
    Rename: Maker.rename,
    Sort: Maker.sort,
    Apart: Maker.apart,
    Split: Maker.split,
    Unmix: Maker.unmix,
    Shift: Maker.shift,
    Join: Maker.join,
    Move: Maker.move,
    Say: Maker.say,
    Translate: Maker.translate,
    Put: Maker.put,
    Relink: Maker.relink,
    Take: Maker.take,
    Patch: _no_patch,
}
