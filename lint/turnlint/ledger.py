"""Who answers whom. The only place where a call meets a result.

House rules of this file: a call and a result are *occurrences*, never ids; an id may stand for
many of both. Matching goes from the surest evidence to the weakest, each occurrence at most once:

1. inside its own turn's window, the first open call with the result's id;
2. the nearest earlier turn that still has that id open, in order where the numbers agree;
3. a result that stands before its call, when that call is the only one it can belong to;
4. without a usable id, by position inside the window, names agreeing where both have one; so too a
   result whose id no call bears, where it is the call that lost its id;
5. what is left is a duplicate, where an answered call with its id stands before it, or an orphan.

Where a window holds exactly the results of its own turn and of earlier ones that still wait for the
same id, rule 2 goes before rule 1: the first asked is the first answered.

What a turn and its window are differs by wire and arrives as data (`Wire`). Nothing here knows a
wire by name, a provider, or how anything is spelled.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from turnlint.model import Call, Message, Result, State, Wire

How = Literal["in-place", "late", "early", "by-position"]

MISSING = frozenset({"", "null"})
"""Ids that say nothing: `null` as a text is what SDKs write for an id they were not given (mistral-common 1.13.0)."""

REDACTED = frozenset({"REDACTED", "<REDACTED>", "[REDACTED]", "***", "<UUID>", "XXX", "xxx"})
"""What log scrubbers put where an id was. Such an id names nothing, so it pairs nothing."""


def is_redacted(identifier: str | None) -> bool:
    return identifier is not None and (identifier in REDACTED or identifier.upper() in REDACTED)


def is_missing(identifier: str | None) -> bool:
    return identifier is None or identifier in MISSING


def usable(identifier: str | None) -> bool:
    """True for an id that can tell one call from another."""
    return not is_missing(identifier) and not is_redacted(identifier)


class Asked(Struct, gc=False):
    """A call at its place: the occurrence."""

    seq: int
    turn: int
    message: int
    call: Call


class Answered(Struct, gc=False):
    """A result at its place. `turn` is the turn whose window it stands in, -1 outside every window."""

    seq: int
    turn: int
    message: int
    result: Result


class Interaction(Struct):
    """A call, and the result that answers it where one does."""

    asked: Asked
    answer: Answered | None = None
    how: How | None = None
    pending: bool = False
    """Nothing follows the open call: it may still be answered."""

    @property
    def state(self) -> State:
        return self.answer.result.state if self.answer else "pending"


class Ledger(Struct):
    """Every occurrence of a transcript in exactly one place."""

    interactions: tuple[Interaction, ...]
    duplicates: tuple[tuple[Answered, Interaction], ...]
    """Results whose call is already answered, with that call."""
    orphans: tuple[Answered, ...]
    tidy: bool
    """Every turn answered at once, in place, once, with distinct ids: pairing rules have nothing to say."""

    @property
    def unanswered(self) -> Iterator[Interaction]:
        return (i for i in self.interactions if i.answer is None and not i.pending)

    @property
    def pending(self) -> Iterator[Interaction]:
        return (i for i in self.interactions if i.answer is None and i.pending)


Key = tuple[str | None, bool]
"""An id, and whether it is the provider's own tool: the two never answer each other."""


class _Matching(Struct):
    """The working state of one pass. Indices into `calls` and `results` stand for occurrences."""

    calls: list[Asked] = []
    results: list[Answered] = []
    answer_of: dict[int, int] = {}
    """Call to result."""
    how: dict[int, How] = {}
    spare: list[int] = []
    """Results the windows could not place; some find their call later and are then in `placed`."""
    placed: set[int] = set()
    strayed: dict[str, int] = {}
    """By id, the last result that found no place when it came."""
    interrupted: bool = False
    """Something was said in a window before its last result."""
    last_turn_message: int = -1
    """The last message that is part of the last turn or holds nothing but its results."""

    def match(self, call: int, result: int, how: How) -> None:
        self.answer_of[call] = result
        self.how[call] = how
        self.placed.add(result)

    def open(self, call: int) -> bool:
        return call not in self.answer_of

    def unplaced(self) -> list[int]:
        return sorted(index for index in self.spare if index not in self.placed)

    def after(self, result: int, call: int) -> bool:
        return self.results[result].seq > self.calls[call].seq


def read(messages: Iterable[Message], wire: Wire) -> Ledger:
    """Pair a conversation: one pass over the messages, then the few pieces the pass left over."""
    work = _Matching()
    count = _walk(messages, wire, work)
    if work.spare:
        _match_elsewhere(work)
        _match_by_position(work)
    return _close(work, count)


def _walk(messages: Iterable[Message], wire: Wire, work: _Matching) -> int:
    """Rule 1. Collect occurrences turn by turn and match each window as it ends. Returns how many messages."""
    window, joins = wire.window, wire.joins
    turn = index = -1
    turn_calls: list[int] = []
    turn_results: list[int] = []
    asking = waiting = False  # in the assistant part of a turn; in its window
    spoken = False  # something other than a result stood in this window
    earlier_open: dict[str, list[int]] = {}
    for index, message in enumerate(messages):
        role = message.role
        if role == "assistant":
            if not (joins and asking):
                _end_window(work, turn_calls, turn_results, earlier_open)
                turn, turn_calls, turn_results = turn + 1, [], []
            asking, waiting, spoken = True, False, False
        elif role in window:
            asking, waiting = False, bool(turn_calls)
        else:
            _end_window(work, turn_calls, turn_results, earlier_open)
            turn_calls, turn_results = [], []
            asking = waiting = False
        for block in message.blocks:
            if type(block) is Call:
                if not asking:  # a call outside an assistant message opens a turn of its own
                    _end_window(work, turn_calls, turn_results, earlier_open)
                    turn, turn_calls, turn_results = turn + 1, [], []
                    asking, waiting, spoken = True, False, False
                turn_calls.append(len(work.calls))
                work.calls.append(Asked(len(work.calls) + len(work.results), turn, index, block))
            elif type(block) is Result:
                inside = bool(turn_calls) and (asking if block.server else waiting)
                answered = Answered(len(work.calls) + len(work.results), turn if inside else -1, index, block)
                (turn_results if inside else work.spare).append(len(work.results))
                if not inside and block.id and not block.server:
                    work.strayed[block.id] = len(work.results)
                work.results.append(answered)
                work.interrupted |= inside and spoken
            else:
                spoken |= waiting
        if turn_calls and (asking or (waiting and message.blocks and not spoken)):
            work.last_turn_message = index
    _end_window(work, turn_calls, turn_results, earlier_open)
    return index + 1


def _end_window(
    work: _Matching, turn_calls: list[int], turn_results: list[int], earlier_open: dict[str, list[int]]
) -> None:
    """Match the results of one window with the calls of its turn."""
    if not turn_calls:
        return
    slots: dict[Key, deque[int]] = {}
    for index in turn_calls:
        call = work.calls[index].call
        if usable(call.id):
            slots.setdefault((call.id, call.server), deque()).append(index)
    own: dict[str, list[tuple[int, int]]] = {}
    excess: dict[str, list[int]] = {}
    for index in turn_results:
        result = work.results[index].result
        queue = slots.get((result.id, result.server))
        if queue and work.after(index, queue[0]):
            call_index = queue.popleft()
            work.match(call_index, index, "in-place")
            if result.id in earlier_open and not result.server:
                own.setdefault(result.id, []).append((call_index, index))
        else:
            work.spare.append(index)
            if result.id in own and not result.server:
                excess.setdefault(result.id, []).append(index)
    for identifier, extra in excess.items():
        _share_in_order(work, own[identifier], earlier_open[identifier], extra)
    for index in turn_results:
        result = work.results[index].result
        if index not in work.placed and result.id and not result.server:
            work.strayed[result.id] = index
    for index in turn_calls:
        call = work.calls[index].call
        if call.id and not call.server and work.open(index) and usable(call.id):
            earlier_open.setdefault(call.id, []).append(index)


def _share_in_order(
    work: _Matching, own: list[tuple[int, int]], earlier: list[int], extra: list[int]
) -> None:
    """Turns wait for one id and this window holds exactly their results: the first asked is the first answered.

    Unless a result with the id came in the meantime: then whoever asked first has that one.
    """
    identifier = work.results[extra[0]].result.id or ""
    strayed = work.strayed.get(identifier)
    if len(earlier) != len(extra) or (strayed is not None and work.after(strayed, earlier[0])):
        return
    results = sorted([result for _, result in own] + extra)
    late = len(earlier)
    for call, result in zip(earlier, results[:late], strict=True):
        work.match(call, result, "late")
    for (call, _), result in zip(own, results[late:], strict=True):
        work.match(call, result, "in-place")
    earlier.clear()


def _match_elsewhere(work: _Matching) -> None:
    """Rules 2 and 3, for the ids that have both an open call and an unplaced result."""
    wanted: dict[Key, list[int]] = {}
    for index in work.unplaced():
        result = work.results[index].result
        if usable(result.id):
            wanted.setdefault((result.id, result.server), []).append(index)
    waiting: dict[Key, list[int]] = {}
    for index, asked in enumerate(work.calls):
        key = (asked.call.id, asked.call.server)
        if key in wanted and work.open(index):
            waiting.setdefault(key, []).append(index)
    first: dict[Key, int] = {}
    for index, asked in enumerate(work.calls):
        first.setdefault((asked.call.id, asked.call.server), index)
    for key, calls in waiting.items():
        _match_one_id(work, calls, wanted[key], first[key])


def _match_one_id(work: _Matching, calls: list[int], results: list[int], first: int) -> None:
    """`first` is the first call that bears the id at all, answered or not: what follows it may repeat its answer."""
    if len(calls) == len(results) and all(map(work.after, results, calls)):
        for call, result in zip(calls, results, strict=True):
            work.match(call, result, "late")
        return
    opened: list[deque[int]] = []  # open calls before the result at hand, by turn, the nearest turn last
    following = 0
    early: list[int] = []
    for result in results:
        while following < len(calls) and work.after(result, calls[following]):
            call = calls[following]
            if opened and work.calls[opened[-1][0]].turn == work.calls[call].turn:
                opened[-1].append(call)
            else:
                opened.append(deque([call]))
            following += 1
        if not opened:
            early.append(result)
            continue
        work.match(opened[-1].popleft(), result, "late")
        if not opened[-1]:
            opened.pop()
    alone = len(early) == 1 and not opened and following == len(calls) - 1
    if alone and not work.after(early[0], first) and not work.after(results[-1], calls[following]):
        work.match(calls[following], early[0], "early")


def _match_by_position(work: _Matching) -> None:
    """Rule 4. A result without a usable id takes the next open call of its window.

    So does a result whose id no call bears, where the call has no usable id itself: the name was
    lost at the other end.
    """
    spare = [index for index in work.unplaced() if work.results[index].turn >= 0]
    turns = {work.results[index].turn for index in spare}
    known = {asked.call.id for asked in work.calls}
    open_calls = [index for index, asked in enumerate(work.calls) if asked.turn in turns and work.open(index)]
    lines = _Queues(work, open_calls)
    for index in spare:
        if not usable(work.results[index].result.id):
            lines.place(index)
    lines = _Queues(work, [i for i in open_calls if work.open(i) and not usable(work.calls[i].call.id)])
    for index in spare:
        identifier = work.results[index].result.id
        if usable(identifier) and identifier not in known:
            lines.place(index)


class _Queues:
    """Open calls of each turn in order, and by name, so that each placing costs the same however many wait."""

    def __init__(self, work: _Matching, calls: list[int]) -> None:
        self.work = work
        self.queues: dict[tuple[int, bool, str | None], deque[int]] = {}
        self.any: dict[tuple[int, bool], deque[int]] = {}
        for index in calls:
            asked = work.calls[index]
            side = (asked.turn, asked.call.server)
            self.any.setdefault(side, deque()).append(index)
            self.queues.setdefault((*side, asked.call.name or None), deque()).append(index)

    def place(self, result: int) -> None:
        answered = self.work.results[result]
        side = (answered.turn, answered.result.server)
        name = answered.result.name
        lines = (
            [self.queues.get((*side, name)), self.queues.get((*side, None))] if name else [self.any.get(side)]
        )
        heads = [line[0] for line in lines if line and self._drop_taken(line)]
        heads = [call for call in heads if self.work.after(result, call)]
        if heads:
            self.work.match(min(heads), result, "by-position")

    def _drop_taken(self, line: deque[int]) -> bool:
        while line and not self.work.open(line[0]):
            line.popleft()
        return bool(line)


def _close(work: _Matching, count: int) -> Ledger:
    """Rule 5, and whether there was anything but a tidy conversation."""
    tail_open = work.last_turn_message == count - 1
    last_turn = work.calls[-1].turn if work.calls else -1
    interactions: list[Interaction] = []
    tidy = not work.spare and not work.interrupted
    seen: set[str | None] = set()
    for index, asked in enumerate(work.calls):
        answer = work.answer_of.get(index)
        how = work.how.get(index)
        waiting = answer is None and tail_open and asked.turn == last_turn
        interactions.append(
            Interaction(asked, None if answer is None else work.results[answer], how, waiting)
        )
        call = asked.call
        if how != "in-place" or call.id in seen:
            tidy = False
        elif answer is not None:
            name = work.results[answer].result.name
            tidy = tidy and (not name or name == call.name)
        seen.add(call.id)
    spare = work.unplaced()
    duplicates, orphans = _sort_out_spares(work, spare, interactions) if spare else ((), ())
    return Ledger(tuple(interactions), duplicates, orphans, tidy)


def _sort_out_spares(
    work: _Matching, spare: list[int], interactions: list[Interaction]
) -> tuple[tuple[tuple[Answered, Interaction], ...], tuple[Answered, ...]]:
    """A spare result repeats the nearest answered call with its id before it, or it answers nothing."""
    duplicates: list[tuple[Answered, Interaction]] = []
    orphans: list[Answered] = []
    latest: dict[Key, Interaction] = {}
    asked_so_far = 0
    for index in spare:
        answered = work.results[index]
        while asked_so_far < len(interactions) and interactions[asked_so_far].asked.seq < answered.seq:
            interaction = interactions[asked_so_far]
            asked_so_far += 1
            if interaction.answer is not None and usable(interaction.asked.call.id):
                latest[interaction.asked.call.id, interaction.asked.call.server] = interaction
        original = latest.get((answered.result.id, answered.result.server))
        if original is None:
            orphans.append(answered)
        else:
            duplicates.append((answered, original))
    return tuple(duplicates), tuple(orphans)
