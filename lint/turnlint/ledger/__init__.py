"""Pair tool calls with results. All pairing is in this package.

A call and a result are *occurrences*, never ids; an id may belong to many of both. Matching goes from the strongest
evidence to the weakest, each occurrence at most once:

1. inside its own turn's window, the first open call with the result's id;
2. an earlier turn that still has that id open;
3. a result before its call, when that call is the only one it can belong to; of several the first;
4. an id that differs in white space at the ends or in its Unicode form only;
5. without a usable id, by position inside the window, where as many results as open calls are left and no name
   contradicts; so too a result whose id no call has, where the call lost its id; and outside the window where one
   open call and one such result are left;
6. any other result is a duplicate, where an answered call with its id precedes it, or an orphan.

Where several calls share an id, names, turns and numbers must leave one reading (`sharing`). A result with new content
goes before a copy of another (equal, or the same text truncated or extended): the copy loses its call.

The turn and its window differ by wire and arrive as data (`Wire`). The package contains no wire by name, no provider
and no spelling.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from turnlint.ledger.matching import Key, Matching
from turnlint.ledger.values import (
    MISSING,
    ODD,
    REDACTED,
    Answered,
    Asked,
    How,
    Interaction,
    Ledger,
    Odd,
    has_redaction,
    is_adoptable,
    is_missing,
    is_redacted,
    is_scrubbed,
    usable,
)
from turnlint.model import Call, Gap, Message, Result, Wire

__all__ = [
    "MISSING",
    "ODD",
    "REDACTED",
    "Answered",
    "Asked",
    "How",
    "Interaction",
    "Ledger",
    "Odd",
    "has_redaction",
    "is_adoptable",
    "is_missing",
    "is_redacted",
    "is_scrubbed",
    "read",
    "usable",
]


def read(
    messages: Iterable[Message], wire: Wire, answer_at: int | None = None, gaps: Sequence[Gap] = ()
) -> Ledger:
    """Pair a conversation in one pass over the messages, then pair the few pieces that are left.

    A recorded answer that begins at `answer_at` is a new turn after a request that ends with an open call. No result
    gets its call by position alone where one of the `gaps` is between them.
    """
    work = Matching(afterwards="in-place" if wire.anywhere else "late")
    count = _walk(messages, wire, work, answer_at)
    if not work.calls:
        return _close(work, count, taken=False)
    taken = len({asked.call.id for asked in work.calls}) < len(work.calls)
    open_ends = work.spare or work.shared or len(work.answer_of) < len(work.calls)
    if open_ends or (taken and not all(work.agree(*pair) for pair in work.answer_of.items())):
        # Most conversations have no pieces left, and most runs need none of these modules.
        from turnlint.ledger.sharing import match_shared

        if isinstance(messages, Sequence):
            work.mixed = frozenset(_beside_calls(messages))
            work.speaking = tuple(index for index, one in enumerate(messages) if one.role == "assistant")
        match_shared(work)
    if gaps and work.spare and type(messages) is tuple:
        places = [*accumulate((one.record.offset for one in messages), max)]
        ends = ((bisect_left(places, one.offset), bisect_left(places, one.until)) for one in gaps)
        work.gaps = [place for start, end in ends for place in range(start, end + 1)]
    if work.spare:
        from turnlint.ledger.copies import prefer_fresh
        from turnlint.ledger.inner import prefer_inner
        from turnlint.ledger.lost_turns import part_lost_turns
        from turnlint.ledger.positions import match_by_position, match_last
        from turnlint.ledger.real import prefer_real

        for call, result in work.early:
            if work.open(call):
                work.match(call, result, "early")
        match_by_position(work, counts=wire.counts, idless=wire.idless)
        match_last(work, idless=wire.idless)
        prefer_real(work)
        prefer_inner(work)
        prefer_fresh(work)
        part_lost_turns(work)
    return _close(work, count, taken=taken)


def _beside_calls(messages: Iterable[Message]) -> Iterator[int]:
    """The messages that hold calls beside results, and those of the same role directly behind them."""
    role = None
    for index, message in enumerate(messages):
        role = message.role if message.inner_calls or message.role == role else None
        if role is not None:
            yield index


def _walk(messages: Iterable[Message], wire: Wire, work: Matching, answer_at: int | None) -> int:
    """Apply rule 1: collect occurrences by turn, and match each window at its end. Returns the number of messages."""
    window, joins = wire.window, wire.joins
    turn = index = -1
    turn_calls: list[int] = []
    turn_results: list[int] = []
    asking = waiting = False  # in the assistant part of a turn; in its window
    spoken = False  # whether this window had something other than a result
    for index, message in enumerate(messages):
        role = message.role
        if role == "assistant":
            is_next = index == answer_at and any(not work.calls[one].call.server for one in turn_calls)
            if not (joins and asking) or is_next:
                _end_window(work, turn_calls, turn_results)
                turn, turn_calls, turn_results = turn + 1, [], []
            asking, waiting, spoken = True, False, False
        elif role in window:
            asking, waiting = False, bool(turn_calls)
        else:
            _end_window(work, turn_calls, turn_results)
            turn_calls, turn_results = [], []
            asking = waiting = False
        for block in message.blocks:
            if type(block) is Call:
                if not asking:  # a call outside an assistant message opens a turn of its own
                    _end_window(work, turn_calls, turn_results)
                    turn, turn_calls, turn_results = turn + 1, [], []
                    asking, waiting, spoken = True, False, False
                turn_calls.append(len(work.calls))
                work.calls.append(Asked(len(work.calls) + len(work.results), turn, index, block))
            elif type(block) is Result:
                inside = bool(turn_calls) and (asking if block.server else waiting)
                answered = Answered(len(work.calls) + len(work.results), turn if inside else -1, index, block)
                (turn_results if inside else work.spare).append(len(work.results))
                work.results.append(answered)
                work.interrupted |= inside and spoken
            else:
                spoken |= waiting
        if turn_calls and (asking or (waiting and message.blocks and not spoken)):
            work.last_turn_message = index
    _end_window(work, turn_calls, turn_results)
    return index + 1


def _end_window(work: Matching, turn_calls: list[int], turn_results: list[int]) -> None:
    """Match the results of one window with the calls of its turn."""
    if not turn_calls or (len(turn_calls) == len(turn_results) and _in_step(work, turn_calls, turn_results)):
        return
    slots: dict[Key, deque[int]] = {}
    for index in turn_calls:
        call = work.calls[index].call
        if usable(call.id):
            slots.setdefault((call.id, call.server), deque()).append(index)
    work.shared.update(key for key, queue in slots.items() if len(queue) > 1)
    for index in turn_results:
        result = work.results[index].result
        queue = slots.get((result.id, result.server))
        if queue and work.after(index, queue[0]):
            work.match(queue.popleft(), index, "in-place")
        else:
            work.spare.append(index)


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


def _close(work: Matching, count: int, *, taken: bool) -> Ledger:
    """Apply rule 6, and collect all irregularities."""
    tail_open = work.last_turn_message == count - 1
    last_turn = work.calls[-1].turn if work.calls else -1
    calls, results, answer_of = work.calls, work.results, work.answer_of
    odd: set[Odd] = set()
    if taken:
        odd.add("taken")
    numbers = range(len(calls))
    answers = [results[answer_of[index]] if index in answer_of else None for index in numbers]
    interactions = list(map(Interaction, calls, answers, map(work.how.get, numbers)))
    for one in interactions:
        if one.is_open:
            one.pending = tail_open and one.asked.turn == last_turn
            odd.add("pending" if one.pending else "open")
        if one.answer is not None:
            result = one.answer.result
            if result.name and result.name != one.asked.call.name:
                odd.add("renamed")
            if result.id != one.asked.call.id and usable(result.id) and usable(one.asked.call.id):
                odd.add("respelled")
            if one.how == "in-place" or one.how is None:
                continue
            odd.add(one.how)
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
    """Divide spare results into repetitions of an earlier answered call with their id, and orphans.

    Of several such calls the result belongs to the one whose result it repeats, else to the nearest.
    """
    from turnlint.ledger.alike import NEAR, is_copy, is_same_call

    duplicates: list[tuple[Answered, Interaction]] = []
    orphans: list[Answered] = []
    earlier: dict[Key, list[Interaction]] = {}
    unanswered: dict[Key, Call] = {}
    asked_so_far = 0
    ids = {work.results[index].result.id for index in spare}
    calls = (one.asked.call for one in interactions)
    named = {(call.id, call.name) for call in calls if call.id in ids}
    for index in spare:
        answered = work.results[index]
        while asked_so_far < len(interactions) and interactions[asked_so_far].asked.seq < answered.seq:
            interaction = interactions[asked_so_far]
            asked_so_far += 1
            key = interaction.asked.call.id, interaction.asked.call.server
            if interaction.answer is None:
                unanswered[key] = interaction.asked.call
                known = earlier.get(key)
                if known and not is_same_call(known[-1].asked.call, interaction.asked.call):
                    del earlier[key]
            elif usable(interaction.asked.call.id):
                earlier.setdefault(key, []).append(interaction)
        known = earlier.get((answered.result.id, answered.result.server), [])
        name = answered.result.name
        if name and (answered.result.id, name) in named:
            known = [one for one in known if one.asked.call.name == name]
        if known and index not in work.contested:
            copies = (one for one in known[:-NEAR:-1] if one.answer and is_copy(answered, one.answer))
            again = next(copies, None)
            other = unanswered.get((answered.result.id, answered.result.server))
            if again is None and other and not is_same_call(other, known[-1].asked.call):
                orphans.append(answered)  # it may be the result of the call without one
            else:
                duplicates.append((answered, again or known[-1]))
        else:
            orphans.append(answered)
    return tuple(duplicates), tuple(orphans)
