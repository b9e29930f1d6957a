"""Prefer results with new content to copies of other results.

The comparison applies where calls share an id and a result with that id has no call. Among results of one call it does
not choose, since no evidence shows which is right.
"""

from collections import deque

from turnlint.ledger.alike import NEAR, is_copy
from turnlint.ledger.matching import Key, Matching
from turnlint.ledger.values import Answered, How, usable


def prefer_fresh(work: Matching) -> None:
    """Match results with new content to calls of their id that have no result, or only a copy."""
    spare: dict[Key, list[int]] = {}
    for index in work.free():
        result = work.results[index].result
        if usable(result.id) and not result.synthetic:
            spare.setdefault((result.id, result.server), []).append(index)
    calls: dict[Key, list[int]] = {}
    for index, asked in enumerate(work.calls if spare else ()):
        key = asked.call.id, asked.call.server
        if key in spare:
            calls.setdefault(key, []).append(index)
    for key, some in calls.items():
        if len(some) > 1:
            _share(work, some, spare[key])


def _share(work: Matching, calls: list[int], spare: list[int]) -> None:
    said: list[Answered] = []
    copies: list[int] = []
    for call in calls:
        answer = work.answer_of.get(call)
        if answer is not None and not _is_new(work.results[answer], said):
            copies.append(call)
    fresh = [index for index in spare if _is_new(work.results[index], said)]
    following = deque(fresh)
    for call in copies:
        while following and not _is_likelier(work, following[0], call):
            following.popleft()
        if following:
            later = following.popleft()
            inside = work.results[later].turn == work.calls[call].turn
            how: How = "in-place" if inside else work.afterwards
            work.part(call)
            work.match(call, later, how)


def _is_likelier(work: Matching, result: int, call: int) -> bool:
    """Whether a result after a call has a better position than the copy that the call has."""
    turn = work.calls[call].turn
    inside, has_place = (work.results[one].turn == turn for one in (result, work.answer_of[call]))
    return work.after(result, call) and (inside or not has_place)


def _is_new(one: Answered, said: list[Answered]) -> bool:
    """Whether a result has new content; if so, add it to `said`."""
    if any(is_copy(one, other) for other in said[-NEAR:]):
        return False
    said.append(one)
    return True
