"""Place results directly after their turn, in the order of its calls.

The module covers wires on which a result is a message and those on which it is a block. Results that are already in
place stay there. Other modules pair results with calls.
"""

from itertools import count
from typing import Any

from msgspec import Struct

from turnlint.carrying.lines import long_digest
from turnlint.carrying.saying import TIMES
from turnlint.documents.edit import Piece
from turnlint.ledger import Answered, Asked, Interaction
from turnlint.model import Call, Result
from turnlint.repair.sheet import Sheet


class Wanted(Struct):
    """The results to put after one turn, by the occurrence number of the call."""

    moves: dict[int, Answered] = {}
    """Results from other positions."""
    closes: set[int] = set()
    """Calls whose result is unknown, which get a placeholder."""
    given: dict[int, bytes] = {}
    """Results from other files and replaced messages, as written."""

    def __contains__(self, seq: int) -> bool:
        return seq in self.moves or seq in self.closes or seq in self.given


def arrange(sheet: Sheet, turn: int, wanted: Wanted) -> set[int]:
    """Put results after a turn. Returns the calls for which that was possible."""
    window = _Window(sheet, turn, wanted)
    done = window.inside()
    if not window.todo or sheet.host(window.end) is None:
        return done
    return done | (window.blocks() if window.by_block and not window.alone else window.messages())


def placeholder(sheet: Sheet, asked: Asked) -> bytes | None:
    """Return a placeholder result in the spelling of the format; none if the format has none."""
    assert sheet.writer is not None
    value = sheet.writer.write_result(asked.call, [sheet.writer.placeholder_text], True)
    return None if value is None else sheet.written(value, asked.message)


class _Window:
    """The present and the requested results after a turn."""

    def __init__(self, sheet: Sheet, turn: int, wanted: Wanted) -> None:
        self.sheet = sheet
        self.wanted = wanted
        self.interactions = sheet.turns[turn]
        self.by_block = sheet.writer is not None and bool(sheet.writer.blocks_key)
        self.alone = sheet.writer is not None and sheet.writer.one_result_per_message
        self.new = {
            one.asked.seq: placeholder(sheet, one.asked) if sheet.writer else None
            for one in self.interactions
            if one.asked.seq in wanted.closes
        }
        self.new.update(wanted.given)
        self.todo = [one for one in self.interactions if self._can(one.asked.seq)]
        self.numbers = {one.asked.seq for one in self.todo}
        self.end = self._end()

    def _end(self) -> int:
        """Return the last message of the turn: the last call's, or an assistant message between it and results."""
        last = max(one.asked.message for one in self.interactions)
        answers = [one.answer.message for one in self.interactions if one.answer and self._stays(one)]
        following = min(answers, default=last + 1) - 1
        between = self.sheet.messages[last + 1 : following + 1]
        return following if between and all(one.role == "assistant" for one in between) else last

    def _can(self, seq: int) -> bool:
        """Whether a result can be placed: foreign pieces need a translation first; some results cannot be invented."""
        move = self.wanted.moves.get(seq)
        return bool(move.result.at) is self.by_block if move else self.new.get(seq) is not None

    def inside(self) -> set[int]:
        """Write placeholders inside their calls, in formats that store results there."""
        if self.sheet.writer is None or not self.sheet.writer.result_pointer_in_call:
            return set()
        done, rest = set[int](), []
        for one in self.todo:
            # The same call may also be a plain part, which has no key for a result.
            holders = [call for call in (one.asked.call, *one.asked.call.also) if len(call.keys.id) == 1]
            if one.asked.seq not in self.wanted.closes or not holders:
                rest.append(one)
            elif self._fill(one.asked.message, holders[0]):
                done.add(one.asked.seq)
        self.todo, self.numbers = rest, {one.asked.seq for one in rest}
        return done

    def _fill(self, index: int, call: Call) -> bool:
        """Write a placeholder inside its call, before any other value there. Return whether that is possible."""
        sheet, writer = self.sheet, self.sheet.writer
        assert writer is not None
        below = (*call.at, *writer.result_pointer_in_call)
        there, value = sheet.value(index, below), writer.write_result(call, [writer.placeholder_text], True)
        edits = sheet.edits(index)
        if there and isinstance(there, list) and isinstance(value, list):
            for one in value:
                edits.add(sheet.place(index, below), 0, sheet.written(one, index))
        elif there or not edits.put(sheet.place(index, below), sheet.written(value, index)):
            return False
        for key, said in writer.placeholder_mark.items():
            place = sheet.place(index, (*call.at, key))
            if edits.put(place, sheet.written(said, index)):
                sheet.changes.along.append((sheet.cell(index), place))
        sheet.filled.add(index)
        return True

    def _stays(self, one: Interaction) -> bool:
        """Whether a call's result is in place, and stays."""
        answer = one.answer
        if answer is None or one.asked.seq in self.wanted or one.how not in ("in-place", "by-position"):
            return False
        return not self.sheet.goes(answer.message, answer.result.at)

    def messages(self) -> set[int]:
        """Put each result as a message after the result of the previous call, or after the turn."""
        done: set[int] = set()
        behind = self.end
        reach = self._reach()
        for one in self.interactions:
            answer, seq = one.answer, one.asked.seq
            if seq in self.numbers:
                done |= {seq} if self._put(one, behind) else set()
            elif answer is not None and answer.message <= reach and self._stays(one):
                behind = max(behind, answer.message)
        return done

    def _put(self, one: Interaction, behind: int) -> bool:
        """Put the result of a call after a message, as a message of its own."""
        sheet, seq = self.sheet, one.asked.seq
        move, new = self.wanted.moves.get(seq), self.new.get(seq)
        if move is not None and (not self.by_block or self._is_whole(move)):
            return sheet.move(move.message, behind=behind)
        if not self.by_block:
            return new is not None and sheet.add(new, behind=behind, asking=one.asked.message)
        assert sheet.writer is not None
        near = one.asked.message if move is None else move.message
        piece = sheet.holder([self._piece(seq)], near, sheet.writer.result_message_keys)
        return sheet.add(piece, behind=behind, asking=one.asked.message)

    def _is_whole(self, move: Answered) -> bool:
        """Whether a result is the only content of its message, in a role that may have results."""
        message = self.sheet.messages[move.message]
        alone = message.role != "assistant" and len(message.blocks) == 1
        return alone and not message.blanks and not message.inner_calls

    def _reach(self) -> int:
        """Return the last of the messages directly after the turn that have only results."""
        messages = self.sheet.messages
        at = self.end + 1
        while at < len(messages) and messages[at].blocks:
            if not all(isinstance(block, Result) for block in messages[at].blocks):
                break
            at += 1
        return at - 1

    def blocks(self) -> set[int]:
        """Put results as blocks beside those directly after the turn, or into a message of their own."""
        sheet, writer = self.sheet, self.sheet.writer
        assert writer is not None
        answers = ((one.asked.seq, one.answer) for one in self.interactions if self._stays(one))
        standing = {seq: answer for seq, answer in answers if answer and self._is_listed(answer)}
        if standing:
            self._join(standing)
            return self.numbers
        source = self._whole_message()
        # A message that is in place, but whose role cannot have results, gets a new one.
        there = source == self.end + 1
        if source is not None and not there and sheet.move(source, behind=self.end):
            return self.numbers
        closed = all(seq in self.wanted.closes for seq in self.numbers)
        mark = writer.placeholder_mark if closed and not writer.result_pointer_in_call else {}
        pieces = [self._piece(one.asked.seq) for one in self.todo]
        shell = {**self._shell(), **writer.result_message_keys, **mark}
        sheet.add(sheet.holder(pieces, self.end, shell), behind=self.end)
        return self.numbers

    def _shell(self) -> dict[str, Any]:
        """Return the keys of a message in a list besides its role and its blocks, if it has an id.

        A message that is a record gets these keys when all records are made.
        """
        sheet, near = self.sheet, self.sheet.messages[self.end]
        assert sheet.writer is not None
        key, host = sheet.writer.id_and_parent_keys[0], sheet.host(self.end)
        if not key or host is None or host.list is None:
            return {}
        known = sheet.standing_ids
        made = (sheet.writer.new_id(long_digest(f"{near.id}|{number}".encode())) for number in count())
        value = sheet.value(self.end)
        times = {name: value[name] for name in value if name in TIMES} if isinstance(value, dict) else {}
        new = next(one for one in made if one not in known)
        known.add(new)
        return {key: new, **times}

    def _is_listed(self, answer: Answered) -> bool:
        """Whether a result is in a list of blocks after the turn."""
        assert self.sheet.writer is not None
        return answer.message > self.end and answer.result.at[:-1] == (self.sheet.writer.blocks_key,)

    def _join(self, standing: dict[int, Answered]) -> None:
        """Insert blocks among those in place, each after the result of the previous call."""
        sheet = self.sheet
        assert sheet.writer is not None
        target, at = min(answer.message for answer in standing.values()), 0
        for one in self.interactions:
            seq = one.asked.seq
            if seq in self.numbers:
                blocks = sheet.place(target, (sheet.writer.blocks_key,))
                sheet.edits(target).add(blocks, at, self._piece(seq))
                sheet.filled.add(target)
            elif seq in standing:
                answer = standing[seq]
                here = (answer.message, int(answer.result.at[-1]) + 1)
                target, at = max((target, at), here)

    def _piece(self, seq: int) -> Piece:
        move = self.wanted.moves.get(seq)
        if move is not None:
            return self.sheet.lift(move.message, move.result.at)
        new = self.new[seq]
        assert new is not None, "this format has no result for this kind of call"
        return new

    def _whole_message(self) -> int | None:
        """Return the message that has exactly these results in this order, so that it can be moved as a whole."""
        moves = [self.wanted.moves.get(one.asked.seq) for one in self.todo]
        sources = {move.message for move in moves if move is not None}
        if None in moves or len(sources) != 1:
            return None
        (source,) = sources
        message = self.sheet.messages[source]
        if message.blanks or message.inner_calls or source in self.sheet.dropped:
            return None
        if message.role == "assistant":
            return None  # only a message of another role may have results
        same = [block.at for block in message.blocks] == [
            move.result.at for move in moves if move is not None
        ]
        return source if same else None
