"""Rule 4: results that no id leads to their call.

This module owns matching by position, by name, and, where a wire counts only, by number. It refuses to
look outside the window of a turn.
"""

from collections import Counter, deque

from turnlint.ledger.matching import Matching
from turnlint.ledger.values import usable


def match_by_position(work: Matching, *, counts: bool) -> None:
    """Rule 4. A result without a usable id takes the next open call of its window.

    So does a result whose id no call bears, where the call has no usable id itself: the name was
    lost at the other end. And where only the count matters, whatever is left takes what is left.
    """
    spare = [index for index in work.unplaced() if work.results[index].turn >= 0]
    turns = {work.results[index].turn for index in spare}
    known = {asked.call.id for asked in work.calls}
    open_calls = [index for index, asked in enumerate(work.calls) if asked.turn in turns and work.open(index)]
    lines = _Queues(work, open_calls)
    nameless = [index for index in spare if not usable(work.results[index].result.id)]
    for index in _in_order(work, nameless, open_calls):
        lines.place(index)
    lines = _Queues(work, [i for i in open_calls if work.open(i) and not usable(work.calls[i].call.id)])
    for index in spare:
        identifier = work.results[index].result.id
        if usable(identifier) and identifier not in known:
            lines.place(index)
    if counts:
        _match_by_count(work, spare, open_calls)


def _in_order(work: Matching, results: list[int], calls: list[int]) -> list[int]:
    """As they stand; but where there are more than open calls, of a turn or of a tool, placeholders wait for the rest."""
    room: Counter[tuple[int, str | None]] = Counter()
    for index in calls:
        asked = work.calls[index]
        room.update({(asked.turn, None), (asked.turn, asked.call.name)})
    for index in results:
        answered = work.results[index]
        room.subtract({(answered.turn, None), (answered.turn, answered.result.name)})
    waits = {
        index
        for index in results
        if work.results[index].result.synthetic
        and min(room[work.results[index].turn, name] for name in (None, work.results[index].result.name)) < 0
    }
    return sorted(results, key=lambda index: (index in waits, index)) if waits else results


def _match_by_count(work: Matching, spare: list[int], calls: list[int]) -> None:
    """What names kept apart, where a turn has as many results without ids as open calls without."""
    left: dict[int, tuple[list[int], list[int]]] = {}
    for call in calls:
        one = work.calls[call].call
        if work.open(call) and not one.server and not usable(one.id):
            left.setdefault(work.calls[call].turn, ([], []))[0].append(call)
    for result in spare:
        other = work.results[result].result
        if result not in work.placed and not other.server and not usable(other.id):
            left.setdefault(work.results[result].turn, ([], []))[1].append(result)
    for asked, answers in left.values():
        if len(asked) == len(answers) and all(map(work.after, answers, asked)):
            for call, result in zip(asked, answers, strict=True):
                work.match(call, result, "by-position")


def match_last(work: Matching) -> None:
    """One call is open, and one result that names none is left: there is nothing else to be its own.

    Before its call it must bear the tool's name.
    """
    results = [index for index in work.unplaced() if not usable(work.results[index].result.id)]
    results = [index for index in results if not work.results[index].result.server]
    calls = [index for index, asked in enumerate(work.calls) if work.open(index) and not asked.call.server]
    if len(results) != 1 or len(calls) != 1 or not work.agree(calls[0], results[0]):
        return
    if work.after(results[0], calls[0]):
        work.match(calls[0], results[0], work.afterwards)
    elif work.results[results[0]].result.name and work.calls[calls[0]].call.name:
        work.match(calls[0], results[0], "early")


class _Queues:
    """Open calls of each turn in order, and by name, so that each placing costs the same however many wait."""

    def __init__(self, work: Matching, calls: list[int]) -> None:
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
