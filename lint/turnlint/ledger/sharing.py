"""Match calls and results that share one id, where more than one reading is possible.

The evidence is turns, numbers and names. A result that fits several calls equally well stays without a call, and so do
those calls: a placeholder is better than a result under another call.
"""

from bisect import bisect_left
from collections import Counter
from itertools import islice, pairwise, takewhile

from turnlint.completions import content_of
from turnlint.ledger.alike import NEAR, is_copy, is_same_call, normal_form
from turnlint.ledger.matching import Key, Matching
from turnlint.ledger.values import How, usable
from turnlint.model import Call, Result

Numbers = list[int]


def match_shared(work: Matching) -> None:
    """Match again the ids with an open call and a result without a call, and those that several calls share.

    Ids that differ only in white space at the ends or in the Unicode form are one id.
    """
    loose = {_key(work.results[index].result) for index in work.unplaced()}
    calls: dict[Key, Numbers] = {}
    open_ones: set[Key] = set()
    for index, asked in enumerate(work.calls):
        if usable(asked.call.id) and usable((key := _key(asked.call))[0]):
            calls.setdefault(key, []).append(index)
            if work.open(index):
                open_ones.add(key)
    _contest_blank(work)
    shared = {(normal_form(identifier or ""), server) for identifier, server in work.shared}
    wanted = {
        key: some
        for key, some in calls.items()
        if key in shared
        or ((key in open_ones) + (key in loose) + (len(some) > 1)) > 1
        or (len(some) > 1 and not all(work.agree(call, work.answer_of[call]) for call in some))
    }
    results: dict[Key, Numbers] = {key: [] for key in wanted}
    for index, answered in enumerate(work.results if wanted else ()):
        key = _key(answered.result)
        if key in results:
            results[key].append(index)
    call_of = {result: call for call, result in work.answer_of.items()} if wanted else {}
    lost = (one.turn for one in work.calls if not usable(one.call.id)) if wanted else ()
    work.lost_turns = frozenset(lost)
    for index in work.unplaced() if wanted else ():
        result, turn = work.results[index].result, work.results[index].turn
        if turn >= 0 and not usable(result.id) and not (result.synthetic or result.server):
            work.lost_results.setdefault(turn, []).append(index)
    for key, some in wanted.items():
        if len({work.calls[call].call.id for call in some}) > 1:
            # Of two ids with one normal form, an exact id matches inside a window where no name contradicts. There is
            # no other match.
            names = {work.calls[call].call.name for call in some}
            _part_crowded(work, some, results[key])
            for call in some:
                answer = work.answer_of.get(call)
                if (
                    answer is not None
                    and not work.agree(call, answer)
                    and work.results[answer].result.name in names
                ):
                    work.part(call)
            work.contest(filter(work.open, some), (one for one in results[key] if one not in work.placed))
            continue
        for call in some:
            if not work.open(call):
                work.part(call)
        turns = Counter(work.calls[call].turn for call in some)
        crowded = frozenset(turn for turn, count in turns.items() if count > 1)
        for numbers, answers in _by_name(work, some, results[key]):
            whole = len(numbers) == len(some)
            _Group(work, numbers, answers, call_of, whole=whole, crowded=crowded).match()


def _part_crowded(work: Matching, calls: Numbers, results: Numbers) -> None:
    """Unmatch the calls of a turn that share an id, unless each has a result and no result of the id is left."""
    shared: dict[tuple[int, str | None], Numbers] = {}
    for call in calls:
        shared.setdefault((work.calls[call].turn, work.calls[call].call.id), []).append(call)
    is_spare = any(result not in work.placed for result in results)
    for some in shared.values():
        if len(some) > 1 and (is_spare or any(map(work.open, some))):
            for call in some:
                if not work.open(call):
                    work.part(call)


def _contest_blank(work: Matching) -> None:
    """Contest the calls of a turn that share an id of white space, unless as many results have exactly that id."""
    for key in work.shared:
        if usable(normal_form(key[0] or "")):
            continue
        calls = [at for at, one in enumerate(work.calls) if (one.call.id, one.call.server) == key]
        results = [at for at, one in enumerate(work.results) if (one.result.id, one.result.server) == key]
        if len(calls) != len(results):
            for call in calls:
                if not work.open(call):
                    work.part(call)
            work.contest(calls, results)


def _key(piece: Call | Result) -> Key:
    return normal_form(piece.id or ""), piece.server


def _by_name(work: Matching, calls: Numbers, results: Numbers) -> list[tuple[Numbers, Numbers]]:
    """Group the calls and results of one id by name, if each result has the name of a call.

    Names that contradict the turns leave no certain reading.
    """
    named: dict[str | None, tuple[Numbers, Numbers]] = {}
    for call in calls:
        named.setdefault(work.calls[call].call.name or None, ([], []))[0].append(call)
    known = [work.results[result].result.name in named for result in results]
    if len(named) == 1 or None in named or not any(known):
        return [(calls, results)]
    if not all(known):
        if _is_crossed(work, calls, results):
            work.contest(calls, results)
            return []
        return [(calls, results)]
    rivals = _crossed_alone(work, calls, results)
    work.contest((), rivals)
    for result in results:
        if result not in rivals:
            named[work.results[result].result.name][1].append(result)
    counts = [(len(fresh_of(work, some)), len(own)) for own, some in named.values()]
    if any(count > own for count, own in counts) and any(count < own for count, own in counts):
        work.contest(calls, results)
        return []
    return [*named.values()]


def _is_crossed(work: Matching, calls: Numbers, results: Numbers) -> bool:
    """Whether a result is in the window of one call and has the name of another."""
    turns: dict[int, set[str | None]] = {}
    for call in calls:
        turns.setdefault(work.calls[call].turn, set()).add(work.calls[call].call.name)
    names = {work.calls[call].call.name for call in calls}
    for result in results:
        answered = work.results[result]
        own = turns.get(answered.turn)
        if own and answered.result.name in names and answered.result.name not in own:
            return True
    return False


def _crossed_alone(work: Matching, calls: Numbers, results: Numbers) -> frozenset[int]:
    """Return the results in the window of a call with another name that has no result of its own name there."""
    asked: dict[int, set[str | None]] = {}
    answered: dict[int, set[str | None]] = {}
    for call in calls:
        asked.setdefault(work.calls[call].turn, set()).add(work.calls[call].call.name)
    for result in results:
        answered.setdefault(work.results[result].turn, set()).add(work.results[result].result.name)
    return frozenset(
        result
        for result in results
        if (one := work.results[result]).turn in asked
        and one.result.name not in asked[one.turn]
        and asked[one.turn] - answered[one.turn]
    )


def fresh_of(work: Matching, results: Numbers) -> Numbers:
    """Return the results with new content; placeholders only where all results are placeholders."""
    real = [index for index in results if not work.results[index].result.synthetic]
    fresh: Numbers = []
    for index in real or results:
        one = work.results[index]
        if not any(is_copy(one, work.results[other]) for other in fresh[-NEAR:]):
            fresh.append(index)
    return fresh


class _Group:
    """The calls and the results of one id, both in order."""

    def __init__(
        self,
        work: Matching,
        calls: Numbers,
        results: Numbers,
        call_of: dict[int, int],
        *,
        whole: bool,
        crowded: frozenset[int],
    ) -> None:
        self.work = work
        self.calls = calls
        self.results = results
        self.own = frozenset(results)
        self.call_of = call_of
        """The calls of results as exact ids match them inside their windows."""
        self.whole = whole
        """Whether no other call has the id."""
        self.crowded = crowded
        """Turns with several calls of the id."""
        self.waiting: Numbers = []
        """Open calls before the current result."""
        self.following = 0
        """The number of calls before the current result."""
        self.doubted: set[int] = set()
        """Turns with a call that several results may answer."""
        self.filled: Numbers = []
        """Calls before the current result whose only result is a placeholder."""
        first = work.calls[calls[0]].call
        self.alike = all(is_same_call(first, work.calls[call].call) for call in calls[1:])
        """Whether all calls are copies of one call."""
        self.names = {work.calls[call].call.name for call in calls}
        self.suffices = len(calls) > 1 and len(fresh_of(work, results)) <= len(calls)
        """Whether there is a call for each result, so that no result is surplus."""

    def match(self) -> None:
        turns = {self.work.calls[call].turn for call in self.calls}
        early: Numbers = []
        for run in self._runs(turns):
            self._wait_for(run[0])
            if not self.waiting and not self.following:
                early += run
            elif self.waiting:
                self._match_run(run)
        self._match_early(early)
        if self.alike and len(self.calls) > 1 and not all(map(self.work.open, self.calls)):
            self.work.copies.update(filter(self.work.open, self.calls))

    def _runs(self, turns: set[int]) -> list[Numbers]:
        """Return the results in groups: those of one window, or those outside all windows with no call between them.

        Results among the calls of a turn come after those of its window.
        """
        work, following = self.work, 0
        runs: list[tuple[int, int, Numbers]] = []
        for result in self.results:
            while following < len(self.calls) and work.after(result, self.calls[following]):
                following += 1
            turn = work.results[result].turn
            turn = turn if turn in turns else -1
            if runs and runs[-1][:2] == (turn, following):
                runs[-1][2].append(result)
            else:
                runs.append((turn, following, [result]))
        for at in range(1, len(runs)):
            (before, first, _), (turn, second, _) = runs[at - 1], runs[at]
            if before < 0 <= turn and first == second > 0 and work.calls[self.calls[first - 1]].turn == turn:
                runs[at - 1], runs[at] = runs[at], runs[at - 1]
        return self._whole_runs(runs)

    def _whole_runs(self, runs: list[tuple[int, int, Numbers]]) -> list[Numbers]:
        """Join results that a user message in a window separates, if they are as many as the calls of the turn."""
        work, whole = self.work, [run for _, _, run in runs[:1]]
        for (before, first, _), (turn, second, run) in pairwise(runs):
            behind = before >= 0 > turn and first == second and whole[-1][-1] < run[0]
            if behind and not work.speaks_between(whole[-1][-1], run[-1]):
                both = [*whole[-1], *run]
                calls = self.calls[max(0, first - len(both) - 1) : first]
                own = sum(work.calls[call].turn == before for call in calls)
                if own == len(fresh_of(work, both)) > len(fresh_of(work, whole[-1])):
                    whole[-1] += run
                    continue
            whole.append(run)
        return whole

    def _wait_for(self, result: int) -> None:
        while self.following < len(self.calls) and self.work.after(result, self.calls[self.following]):
            self.waiting.append(self.calls[self.following])
            self.following += 1

    def _match_run(self, run: Numbers) -> None:
        work, waiting = self.work, self.waiting
        turn = work.results[run[0]].turn
        count = 0
        while count < len(waiting) and work.calls[waiting[-1 - count]].turn == turn:
            count += 1
        fresh = fresh_of(work, run)
        real = not work.results[fresh[0]].result.synthetic
        if real and self.filled and not count:
            self._contest(run)  # it may be the result of a call with a placeholder
        elif count and turn in self.doubted and not self.alike:
            self._contest(run)  # another call of the turn may be its call
        elif self.alike and count <= len(run) <= len(waiting):
            self._take(waiting[-len(run) :], run)
        elif count:
            self._match_window(run, fresh, count)
        elif len(self.calls) > 1 and work.results[run[0]].turn in work.lost_turns:
            self._contest(run)  # the call of its turn that lost its id may have had the same id
        elif self._is_far(run) and not self.alike:
            self._contest(run)  # it may be the result of a call that no longer exists
        elif self._is_passed_over() and not self.alike:
            self._contest(run)  # the later call has a result in its window: the two results may be swapped
        elif len(waiting) == 1 or self.alike:
            self._take(waiting[-len(fresh) :], fresh)
        elif self._is_whole(run, fresh):
            self._take(list(waiting), run if len(run) == len(waiting) else fresh)
        else:
            self._contest(run)

    def _is_far(self, run: Numbers) -> bool:
        """Whether a later turn with calls is between an open call and late results, and calls share the id."""
        calls = self.work.calls
        last = bisect_left(calls, self.work.results[run[0]].seq, key=lambda one: one.seq) - 1
        return len(self.calls) > 1 and calls[last].turn > calls[self.waiting[-1]].turn

    def _is_whole(self, run: Numbers, fresh: Numbers) -> bool:
        """Whether results after a window are as many as the calls of the turn, with no assistant message between."""
        work, waiting = self.work, self.waiting
        turns = {work.calls[call].turn for call in waiting}
        together = not work.speaks_between(run[0], run[-1])
        return len(waiting) in (len(run), len(fresh)) and len(turns) == 1 and together

    def _is_passed_over(self) -> bool:
        """Whether a result was matched with a call after an open call."""
        later = self.calls[bisect_left(self.calls, self.waiting[0]) : self.following]
        return any(not self.work.open(call) for call in later)

    def _match_window(self, run: Numbers, fresh: Numbers, count: int) -> None:
        """Match the results in the window of a turn; `count` of the open calls belong to that turn."""
        waiting = self.waiting
        own = waiting[-count:]
        copies = len(fresh) < len(run)
        is_sure = self.alike and self.whole
        if not is_sure and any(self.work.results[index].message in self.work.mixed for index in run):
            self._contest(run)  # a call beside the results may be the call of one of them
        elif len(own) > 1 and not self.alike and not all(map(self._is_of_assistant, own)):
            self._contest(run)  # a call in a message of another role is no evidence of the order
        elif self._has_rivals(run, count):
            self._contest(run)  # one of them answers another call
        elif len(run) == count and not (
            copies and (len(run) < len(self.results) or not self._are_equal(run))
        ):
            self._take(own, run)
        elif len(fresh) == count or (
            not (self.suffices and len(fresh) > count)  # one of them may be the result of a later call
            and self._is_one_call(own, alone=len(waiting) == count, fresh=fresh)
        ):
            self._take(own, fresh)
        else:
            self._contest(run)

    def _has_rivals(self, run: Numbers, count: int) -> bool:
        """Whether more results than the open calls of a turn have new content before the next call, where calls differ.

        An open call of an earlier turn may have any of them.
        """
        work, calls = self.work, self.calls
        if self.alike or work.results[run[0]].turn not in self.crowded:
            return False
        following = calls[self.following] if self.following < len(calls) else None
        start = bisect_left(self.results, run[0])
        later = islice(self.results, start, None)
        rivals = [*takewhile(lambda one: following is None or not work.after(one, following), later)]
        return len(fresh_of(work, rivals)) > count

    def _is_of_assistant(self, call: int) -> bool:
        speaking, message = self.work.speaking, self.work.calls[call].message
        at = bisect_left(speaking, message)
        return at < len(speaking) and speaking[at] == message

    def _are_equal(self, run: Numbers) -> bool:
        """Whether each result that repeats another has its whole text."""
        bodies = {content_of(self.work.results[index].result.body) for index in run}
        return len(bodies) == len(fresh_of(self.work, run))

    def _is_one_call(self, calls: Numbers, *, alone: bool, fresh: Numbers) -> bool:
        """Whether the calls of a turn are copies of one call, and no other call is open."""
        if not alone and len(fresh) != 1:
            return False
        first = self.work.calls[calls[0]].call
        same = self.alike or all(is_same_call(first, self.work.calls[call].call) for call in calls[1:])
        return same and (alone or len(calls) > 1)

    def _take(self, calls: Numbers, results: Numbers) -> None:
        """Match in order as far as both lists go, if nothing contradicts. `calls` are the last of the open calls."""
        work = self.work
        if self._is_misnamed(calls, results) or self._is_out_of_order(calls, results):
            self._contest(results)
            return
        start = len(self.waiting) - len(calls)
        count = min(len(calls), len(results))
        for call, result in zip(calls, results, strict=False):
            inside = work.results[result].turn == work.calls[call].turn
            how: How = "in-place" if inside else work.afterwards
            work.match(call, result, how)
            if work.results[result].result.synthetic:
                self.filled.append(call)
        del self.waiting[start : start + count]

    def _is_misnamed(self, calls: Numbers, results: Numbers) -> bool:
        """Whether a result has the name of another call than the one with which the order matches it."""
        if len(self.names) == 1:
            return False
        for call, result in zip(calls, results, strict=False):
            name = self.work.results[result].result.name
            if name and name in self.names and name != self.work.calls[call].call.name:
                return True
        return False

    def _is_out_of_order(self, calls: Numbers, results: Numbers) -> bool:
        """Whether a result between two results belongs to a call of the turn that is not between their calls."""
        if self.alike:
            return False
        work = self.work
        pairs = zip(pairwise(calls), pairwise(results), strict=False)
        for (call, next_call), (result, next_result) in pairs:
            turn = work.calls[call].turn
            if turn != work.calls[next_call].turn:
                continue
            near = {*range(result + 1, next_result)[:NEAR], *range(result + 1, next_result)[-NEAR:]}
            others = [self.call_of[one] for one in near if one in self.call_of and one not in self.own]
            if any(work.calls[one].turn == turn and not call < one < next_call for one in others):
                return True
        return False

    def _contest(self, run: Numbers) -> None:
        self.doubted.update(self.work.calls[call].turn for call in self.waiting)
        self.work.contest(self.waiting, run)
        self.waiting = []

    def _match_early(self, early: Numbers) -> None:
        """Match a result before its call, if that is the only call of the id and it has no other result."""
        work = self.work
        # A placeholder does not keep the only real result from its call.
        early = [index for index in early if not work.results[index].result.synthetic] or early
        if early and self.whole and self.alike and work.open(self.calls[0]):
            open_calls = [call for call in self.calls if work.open(call)]
            if len(open_calls) == 1 and self._may_be_behind(open_calls[0]):
                work.early.append((open_calls[0], early[0]))
            elif len(open_calls) == 1:
                work.match(open_calls[0], early[0], "early")

    def _may_be_behind(self, call: int) -> bool:
        """Whether as many results without ids follow a turn as it has open calls: one may belong to this call."""
        work, asked = self.work, self.work.calls[call]
        lost = work.lost_results.get(asked.turn, ())
        if asked.call.server or not any(work.agree(call, result) for result in lost):
            return False
        if asked.turn not in work.open_calls:
            first = bisect_left(work.calls, asked.turn, key=lambda one: one.turn)
            same = takewhile(lambda one: work.calls[one].turn == asked.turn, range(first, len(work.calls)))
            work.open_calls[asked.turn] = sum(
                work.open(one) and not work.calls[one].call.server for one in same
            )
        return work.open_calls[asked.turn] == len(lost)
