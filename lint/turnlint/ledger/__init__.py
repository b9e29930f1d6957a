"""Who answers whom. The only place where a call meets a result.

House rules of this file: a call and a result are *occurrences*, never ids; an id may stand for
many of both. Matching goes from the surest evidence to the weakest, each occurrence at most once:

1. inside its own turn's window, the first open call with the result's id;
2. the nearest earlier turn that still has that id open, in order where the numbers agree;
3. a result that stands before its call, when that call is the only one it can belong to; of several the
   first;
4. without a usable id, by position inside the window, names agreeing where both have one; so too a
   result whose id no call bears, where it is the call that lost its id; and outside it where one open
   call and one such result are all that is left, behind it or under the tool's name before it;
5. what is left is a duplicate, where an answered call with its id stands before it, or an orphan.

Where several calls share an id, a result that says something new goes before one that repeats another (equal,
or the same text cut short or with something added): the copy gives its call up.

Where a window holds exactly the results of its own turn and of earlier ones that still wait for the
same id, rule 2 goes before rule 1: the first asked is the first answered.

What a turn and its window are differs by wire and arrives as data (`Wire`). Nothing here knows a
wire by name, a provider, or how anything is spelled.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from types import ModuleType

from turnlint.compiled import loaded
from turnlint.ledger.matching import Key, Matching
from turnlint.ledger.values import (
    MISSING,
    REDACTED,
    Answered,
    Asked,
    How,
    Interaction,
    Ledger,
    Odd,
    is_missing,
    is_redacted,
    usable,
)
from turnlint.model import Call, Message, Result, Wire

__all__ = [
    "MISSING",
    "REDACTED",
    "Answered",
    "Asked",
    "How",
    "Interaction",
    "Ledger",
    "Odd",
    "is_missing",
    "is_redacted",
    "read",
    "usable",
]


def read(messages: Iterable[Message], wire: Wire) -> Ledger:
    """Pair a conversation: one pass over the messages, then the few pieces the pass left over."""
    work = Matching(afterwards="in-place" if wire.anywhere else "late")
    native = loaded() if type(messages) is tuple else None
    count = _walk(messages, wire, work) if native is None else _walk_natively(native, messages, wire, work)
    if work.spare:
        # Most conversations leave nothing over, and most runs need none of these.
        from turnlint.ledger.copies import prefer_fresh
        from turnlint.ledger.positions import match_by_position, match_last
        from turnlint.ledger.real import prefer_real

        _match_elsewhere(work)
        match_by_position(work, counts=wire.counts)
        match_last(work)
        prefer_real(work)
        prefer_fresh(work)
    return _close(work, count)


def _walk(messages: Iterable[Message], wire: Wire, work: Matching) -> int:
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


def _walk_natively(native: ModuleType, messages: Iterable[Message], wire: Wire, work: Matching) -> int:
    """The same, where what does it was compiled."""
    parts = work.calls, work.results, work.spare, work.strayed, work.answer_of, work.how, work.placed
    work.last_turn_message, work.interrupted = native.walk(
        messages, wire.window, wire.joins, _KIT, work, _end_window, parts
    )
    return len(messages)  # type: ignore[arg-type]


_KIT = Call, Result, Asked, Answered, "role", "blocks", "id", "server", "in-place"
"""In the order of `native/pairing.c`."""


def _end_window(
    work: Matching, turn_calls: list[int], turn_results: list[int], earlier_open: dict[str, list[int]]
) -> None:
    """Match the results of one window with the calls of its turn."""
    if not turn_calls or (len(turn_calls) == len(turn_results) and _in_step(work, turn_calls, turn_results)):
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


def _in_step(work: Matching, turn_calls: list[int], turn_results: list[int]) -> bool:
    """Match a window whose results answer its calls one by one in their order, as most do."""
    calls, results = work.calls, work.results
    seen: set[str | None] = set()
    for call_index, index in zip(turn_calls, turn_results, strict=True):
        asked, answered = calls[call_index], results[index]
        call, result = asked.call, answered.result
        identifier = call.id
        if (
            identifier != result.id
            or call.server is not result.server
            or answered.seq < asked.seq
            or identifier in seen
            or not usable(identifier)
        ):
            return False
        seen.add(identifier)
    for call_index, index in zip(turn_calls, turn_results, strict=True):
        work.match(call_index, index, "in-place")
    return True


def _share_in_order(work: Matching, own: list[tuple[int, int]], earlier: list[int], extra: list[int]) -> None:
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
        work.match(call, result, work.afterwards)
    for (call, _), result in zip(own, results[late:], strict=True):
        work.match(call, result, "in-place")
    earlier.clear()


def _match_elsewhere(work: Matching) -> None:
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


def _match_one_id(work: Matching, calls: list[int], results: list[int], first: int) -> None:
    """`first` is the first call that bears the id at all, answered or not: what follows it may repeat its answer."""
    if len(calls) == len(results) and all(map(work.after, results, calls)):
        for call, result in zip(calls, results, strict=True):
            work.match(call, result, work.afterwards)
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
        work.match(opened[-1].popleft(), result, work.afterwards)
        if not opened[-1]:
            opened.pop()
    # What only stands in for a result does not keep the one real result from its call.
    early = [index for index in early if not work.results[index].result.synthetic] or early
    alone = bool(early) and not opened and following == len(calls) - 1
    if alone and not work.after(early[0], first) and not work.after(results[-1], calls[following]):
        work.match(calls[following], early[0], "early")


def _close(work: Matching, count: int) -> Ledger:
    """Rule 5, and whether there was anything but a tidy conversation."""
    tail_open = work.last_turn_message == count - 1
    last_turn = work.calls[-1].turn if work.calls else -1
    calls, results, answer_of = work.calls, work.results, work.answer_of
    odd: set[Odd] = set()
    if len({asked.call.id for asked in calls}) < len(calls):
        odd.add("taken")
    numbers = range(len(calls))
    answers = [results[answer_of[index]] if index in answer_of else None for index in numbers]
    interactions = list(map(Interaction, calls, answers, map(work.how.get, numbers)))
    for one in interactions:
        if one.answer is not None:
            name = one.answer.result.name
            if name and name != one.asked.call.name:
                odd.add("renamed")
            if one.how == "in-place" or one.how is None:
                continue
            odd.add(one.how)
        else:
            one.pending = tail_open and one.asked.turn == last_turn
            odd.add("pending" if one.pending else "open")
        if one.asked.call.server:
            odd.add("server")
    tidy = not (odd or work.spare or work.interrupted)
    spare = work.unplaced() if work.spare else ()
    duplicates, orphans = _sort_out_spares(work, spare, interactions) if spare else ((), ())
    if duplicates:
        odd.add("duplicate")
    if orphans:
        odd.add("orphan")
    if any(results[index].result.server for index in spare):
        odd.add("server")
    return Ledger(tuple(interactions), duplicates, orphans, tidy, frozenset(odd))


def _sort_out_spares(
    work: Matching, spare: Sequence[int], interactions: list[Interaction]
) -> tuple[tuple[tuple[Answered, Interaction], ...], tuple[Answered, ...]]:
    """A spare result repeats an answered call with its id before it, or it answers nothing.

    Of several such calls it is the one whose result it repeats, else the nearest.
    """
    from turnlint.ledger.copies import NEAR, is_copy

    duplicates: list[tuple[Answered, Interaction]] = []
    orphans: list[Answered] = []
    earlier: dict[Key, list[Interaction]] = {}
    asked_so_far = 0
    for index in spare:
        answered = work.results[index]
        while asked_so_far < len(interactions) and interactions[asked_so_far].asked.seq < answered.seq:
            interaction = interactions[asked_so_far]
            asked_so_far += 1
            if interaction.answer is not None and usable(interaction.asked.call.id):
                key = interaction.asked.call.id, interaction.asked.call.server
                earlier.setdefault(key, []).append(interaction)
        known = earlier.get((answered.result.id, answered.result.server), [])
        if known:
            again = (one for one in known[:-NEAR:-1] if one.answer and is_copy(answered, one.answer))
            duplicates.append((answered, next(again, known[-1])))
        else:
            orphans.append(answered)
    return tuple(duplicates), tuple(orphans)
