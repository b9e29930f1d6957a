"""Match results without a usable id (rule 5).

The module matches by position, by name, and, where a wire only counts, by number. It matches only where as many open
calls as results without a call are left and nothing contradicts. Otherwise another reading is as likely.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice, pairwise, takewhile

from turnlint.completions import content_of
from turnlint.ledger.alike import NEAR, is_copy, normal_form
from turnlint.ledger.matching import Matching
from turnlint.ledger.sharing import fresh_of
from turnlint.ledger.values import Answered, usable

_WORDS = re.compile(r"[\w-]+").findall
Numbers = list[int]
Pairs = list[tuple[int, int]]


def match_by_position(work: Matching, *, counts: bool, idless: bool) -> None:
    """Match the open calls of a turn with the results in its window that have no call's id."""
    work.hints = _hints(work)
    _match_inside(work)
    known = _forms(work)
    results: dict[tuple[int, bool], Numbers] = {}
    outside: list[Answered] = []
    asking = {asked.turn for asked in work.calls if not asked.call.server}
    first = {asked.turn: number for number, asked in reversed([*enumerate(work.calls)])} if work.gaps else {}
    for index in work.free():
        answered = work.results[index]
        identifier = answered.result.id
        lost = not usable(identifier) or normal_form(identifier or "") not in known
        parted = bool(first) and answered.turn >= 0 and work.parted(first[answered.turn], index)
        is_asked = answered.result.server or answered.turn in asking
        if answered.turn >= 0 and lost and is_asked and not parted:
            results.setdefault((answered.turn, answered.result.server), []).append(index)
        elif lost:
            outside.append(answered)
    if not results:
        return
    calls: dict[tuple[int, bool], Numbers] = {}
    for index in work.free_calls():
        asked = work.calls[index]
        calls.setdefault((asked.turn, asked.call.server), []).append(index)
    busy = _asking_messages(work, outside)
    open_ones = (work.calls[index] for index in work.disputed if work.open(index))
    disputed = {(asked.turn, asked.call.server) for asked in open_ones}
    inner = _inner_results(work)
    parts: dict[int, int] = {}
    for asked in work.calls if inner else ():
        if asked.message in inner:
            parts[asked.turn] = inner[asked.message]
    filled = _filled_calls(work)
    contested = [work.results[index] for index in work.contested if index not in work.placed]
    unknown = [one for one in outside if usable(one.result.id)] + contested
    extra = list(unknown)
    for side, some in results.items():
        real = [work.results[index] for index in some if not work.results[index].result.synthetic]
        named = [one for one in real if usable(one.result.id)]
        unknown += named
        waiting = len(calls.get(side, ())) + len(filled.get(side, ()))
        extra += named if len(real) > waiting else []
    last = max(unknown, key=lambda one: one.seq, default=None)
    last_extra = max(extra, key=lambda one: one.seq, default=None)
    windows: list[tuple[Numbers, Numbers, Numbers]] = []
    for side, some in results.items():
        own, answers = calls.get(side), some
        # A later result with an id that no call has may be the answer of a call whose id is known. A call that lost its
        # id may be the call of each result that is not the only one of another call.
        doubt = side in disputed or side[0] in busy
        if own and not doubt and not (idless and _is_even(work, own, some)):
            # A repair splits the turn at a result inside it, and the results of its window belong to the last part.
            parted = work.calls[own[0]].seq < parts.get(side[0], -1)
            # A call beside a result may be the call of that result.
            beside = any(work.results[index].message in work.mixed for index in some)
            doubt = parted or beside or _has_more_behind(work, own, some, outside)
        doubt = doubt or (bool(own) and _may_be_for_filled(work, filled.get(side, []), some))
        if doubt or any(_may_be_later(work, index, side, last, last_extra) for index in own or ()):
            # Only a placeholder of a repair can match such a call, or a call of a turn with results among its calls.
            answers = [index for index in some if work.results[index].result.synthetic]
        if own:
            full = _calls_of(work, own, answers)
            for call, result in _paired(work, full, answers) or _paired_by_name(work, full, answers):
                work.match(call, result, "by-position")
            windows.append((own, full, answers))
    loose = _last_by_name(work) if counts and windows else {}
    for own, full, answers in windows:
        if counts:
            _match_by_count(work, full, answers, loose)
        _match_empty(work, [call for call in own if work.open(call) and not work.has_content(call)], answers)


def _hints(work: Matching) -> dict[int, str]:
    """Return the called names in the ids of results that no call has, such as `functions.NAME:0`."""
    names = {asked.call.name for asked in work.calls} - {None, ""}
    ids = {asked.call.id for asked in work.calls}
    found: dict[int, str] = {}
    for index in work.free():
        result = work.results[index].result
        if not result.name and result.id and result.id not in ids:
            words = names.intersection(_WORDS(result.id))
            if len(words) == 1:
                found[index] = str(words.pop())
    return found


def _calls_of(work: Matching, calls: Numbers, results: Numbers) -> Numbers:
    """Return the calls with content, or all calls, such as `{}` too, if a repair wrote a placeholder for each."""
    written = all(work.results[index].result.synthetic for index in results)
    if written and len(calls) == len(results):
        return calls
    return [call for call in calls if work.has_content(call)]


def _filled_calls(work: Matching) -> dict[tuple[int, bool], Numbers]:
    """Return the calls whose only result is a placeholder, by turn."""
    found: dict[tuple[int, bool], Numbers] = {}
    for call, result in work.answer_of.items():
        if work.results[result].result.synthetic:
            asked = work.calls[call]
            found.setdefault((asked.turn, asked.call.server), []).append(call)
    return found


def _may_be_for_filled(work: Matching, filled: Numbers, results: Numbers) -> bool:
    """Whether a real result may be the answer of a call for which a repair wrote a placeholder."""
    return any(
        work.agree(call, index)
        for index in results
        if not work.results[index].result.synthetic
        for call in filled[:NEAR]
    )


def _match_inside(work: Matching) -> None:
    """Match results inside an assistant message with equally many calls directly before them, all without ids."""
    speaking = frozenset(work.speaking)
    lost = [
        index
        for index in work.free()
        if (one := work.results[index]).message in speaking
        and one.turn < 0
        and not one.result.server
        and not usable(one.result.id)
    ]
    messages = {work.results[index].message for index in lost}
    pieces: dict[int, list[tuple[int, int, bool]]] = {}
    for call, asked in enumerate(work.calls if lost else ()):
        lost_id = not usable(asked.call.id) and not asked.call.server
        if asked.message in messages and work.open(call) and lost_id:
            pieces.setdefault(asked.message, []).append((asked.seq, call, True))
    for index in lost:
        pieces.setdefault(work.results[index].message, []).append((work.results[index].seq, index, False))
    for some in pieces.values():
        runs = [
            (is_call, [number for _, number, _ in run])
            for is_call, run in groupby(sorted(some), lambda one: one[2])
        ]
        for (is_call, calls), (_, results) in pairwise(runs):
            if is_call and len(calls) == len(results):
                for call, result in _in_order(work, calls, results):
                    work.match(call, result, work.afterwards)


def _match_empty(work: Matching, calls: Numbers, results: Numbers) -> None:
    """Match calls without content, such as `{}`, with the placeholders that a repair wrote for them."""
    written = [one for one in results if work.results[one].result.synthetic and one not in work.placed]
    for call, result in zip(calls, written, strict=False):
        if work.after(result, call):
            work.match(call, result, "by-position")


def _is_even(work: Matching, calls: Numbers, results: Numbers) -> bool:
    """Whether a window has as many results that need no ids as calls: a provider without ids pairs these."""
    return len(calls) == len(results) and not any(work.results[one].result.needs_id for one in results)


def _has_more_behind(work: Matching, calls: Numbers, results: Numbers, outside: list[Answered]) -> bool:
    """Whether a result between the window and the next call may be the answer of a call of the window."""
    first = work.results[results[0]].seq
    following = islice(work.calls, bisect_right(work.calls, first, key=lambda one: one.seq), None)
    end = next((one.seq for one in following if not one.call.server), None)
    start = bisect_right(outside, first, key=lambda one: one.seq)
    behind = takewhile(lambda one: end is None or one.seq < end, islice(outside, start, None))
    names = {work.calls[call].call.name for call in calls}
    return any(
        (not one.result.name or not names.isdisjoint((one.result.name, None)))
        and not one.result.synthetic
        and not any(is_copy(one, work.results[index]) for index in results[-NEAR:])
        for one in behind
    )


def _may_be_later(
    work: Matching, call: int, side: tuple[int, bool], last: Answered | None, last_extra: Answered | None
) -> bool:
    """Whether a result after the window of a turn may be the answer of a call of that turn."""
    asked = work.calls[call]
    later = last_extra if not usable(asked.call.id) else last
    return later is not None and later.turn != side[0] and asked.seq < later.seq


def _asking_messages(work: Matching, results: list[Answered]) -> set[int]:
    """Return the turns whose own messages contain one of these results."""
    messages = {answered.message for answered in results}
    return {asked.turn for asked in work.calls if asked.message in messages} if messages else set()


def _inner_results(work: Matching) -> dict[int, int]:
    """Return the position of the last result of the caller's own tools in each assistant message that has one."""
    speaking = frozenset(work.speaking)
    return {one.message: one.seq for one in work.results if one.message in speaking and not one.result.server}


def _paired(work: Matching, calls: Numbers, results: Numbers) -> Pairs:
    """Return pairs of equally many calls and results, real results first, each after its call, no other name."""
    for some in _choices(work, results):
        if len(some) == len(calls) and (pairs := _in_order(work, calls, some)):
            return pairs
    # Placeholders have no content of their own. Where an earlier repair left more than one for a call, those with the
    # names of the calls are chosen, else the last ones.
    written = [index for index in results if work.results[index].result.synthetic]
    if not len(written) > len(calls) > 0:
        return []
    names = {work.calls[call].call.name for call in calls}
    named = [index for index in written if work.results[index].result.name in names]
    return _in_order(work, calls, named if len(named) == len(calls) else written[-len(calls) :])


def _choices(work: Matching, results: Numbers) -> Iterator[Numbers]:
    """Yield candidate lists: real results, real results without copies, all results, placeholders."""
    written = [index for index in results if work.results[index].result.synthetic]
    real = [index for index in results if not work.results[index].result.synthetic]
    yield real
    if len({work.results[index].result.id for index in real}) == 1:
        fresh = fresh_of(work, real)
        if len(fresh) == len({content_of(work.results[index].result.body) for index in real}):
            yield fresh
    if written:
        yield results
        yield written


def _in_order(work: Matching, calls: Numbers, results: Numbers) -> Pairs:
    """Match results with names to calls of that name, and the others to the remaining calls, each in order."""
    lost = any(usable(work.calls[call].call.id) for call in calls)
    if lost and any(usable(work.results[result].result.id) for result in results):
        return []  # an id that no call has may belong to a call with an id of its own
    pairs: Pairs = []
    waiting = _by(calls, lambda call: work.calls[call].call.name)
    nameless: Numbers = []
    for result in results:
        name = work.name_of(result)
        if not name:
            nameless.append(result)
        elif waiting.get(name):
            pairs.append((waiting[name].popleft(), result))
        elif waiting.get(None):
            pairs.append((waiting[None].popleft(), result))
        else:
            return []
    left = sorted(call for some in waiting.values() for call in some)
    pairs += zip(left, nameless, strict=True)
    step = {*zip(calls, results, strict=True)}
    if any(pair[1] in work.hints and pair not in step for pair in pairs):
        return []  # a name in an id contradicts the order
    return pairs if all(work.after(result, call) for call, result in pairs) else []


def _paired_by_name(work: Matching, calls: Numbers, results: Numbers) -> Pairs:
    """Match by tool where the total numbers differ: tools with as many results as calls, if all have names."""
    asked = _by(calls, lambda call: work.calls[call].call.name)
    answers = _by(results, work.name_of)
    if None in asked or None in answers:
        return []
    return [
        pair for name in asked if name in answers for pair in _paired(work, [*asked[name]], [*answers[name]])
    ]


def _by(numbers: Iterable[int], name_of: Callable[[int], str | None]) -> dict[str | None, deque[int]]:
    found: dict[str | None, deque[int]] = {}
    for number in numbers:
        found.setdefault(name_of(number) or None, deque()).append(number)
    return found


def _last_by_name(work: Matching) -> dict[str | None, int]:
    """Return the position of the last result of each name that has neither an id nor a call."""
    found: dict[str | None, int] = {}
    for index in work.free():
        answered = work.results[index]
        if not (usable(answered.result.id) or answered.result.synthetic or answered.result.server):
            found[answered.result.name] = answered.seq
    return found


def _match_by_count(work: Matching, calls: Numbers, results: Numbers, loose: dict[str | None, int]) -> None:
    """Match by number and order where names differ, if a turn has as many results without ids as open calls.

    A later result in `loose` with the name of a call may be the result of that call.
    """
    step = {*zip(calls, results, strict=False)}
    left = [one for one in calls if work.open(one) and not usable(work.calls[one].call.id)]
    answers = [one for one in results if one not in work.placed and not usable(work.results[one].result.id)]
    names = {asked.call.name for asked in work.calls} if left and answers else set()
    if any(work.results[one].result.name in names for one in answers):
        return
    if any(loose.get(asked.call.name or "", -1) > asked.seq for asked in map(work.calls.__getitem__, left)):
        return
    pairs = list(zip(left, answers, strict=False))
    server = any(work.calls[call].call.server for call in left)
    agree = all(pair in step and work.after(pair[1], pair[0]) for pair in pairs)
    if len(left) == len(answers) and not server and agree:
        for call, result in pairs:
            work.match(call, result, "by-position")


def _forms(work: Matching) -> set[str]:
    """Return the ids of all calls in their normal form."""
    return {normal_form(asked.call.id) for asked in work.calls if asked.call.id} - {""}


def match_last(work: Matching, *, idless: bool) -> None:
    """One call is open, and one result that names no call is left, both without an id.

    No other call is between them, or, where a wire needs no ids, the call is the only one of the tool's name.
    """
    known = _forms(work)
    lost = [
        index
        for index in work.free()
        if not (said := work.results[index].result).server
        if not usable(said.id) or normal_form(said.id or "") not in known
    ]
    calls = [index for index in work.free_calls() if not work.calls[index].call.server]
    if len(lost) != 1 or len(calls) != 1 or not work.agree(calls[0], lost[0]):
        return
    (call,), (result,) = calls, lost
    asked, answered = work.calls[call], work.results[result]
    if usable(asked.call.id) or usable(answered.result.id) or not work.after(result, call):
        return
    if work.parted(call, result) or not (answered.result.synthetic or work.has_content(call)):
        return
    between = (one for one in work.calls if one.turn > asked.turn and one.seq < answered.seq)
    name = answered.result.name
    alone = idless and name and sum(one.call.name == name for one in work.calls) == 1
    if alone or (answered.turn < 0 and not any(between)):
        work.match(call, result, work.afterwards)
