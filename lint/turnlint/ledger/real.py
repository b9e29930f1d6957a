"""Prefer real results to placeholders that a repair wrote, and to results that wait for their content.

The module handles calls whose only result is such a filler while a real result has no call. It skips results that a
later call may explain.
"""

from turnlint.ledger.matching import Key, Matching
from turnlint.ledger.values import How, usable
from turnlint.lifecycle import holds_nothing


def prefer_real(work: Matching) -> None:
    """Match such a call with the first real result that can be its own: by id, or by position without an id."""
    real = [index for index in work.free() if not _is_filler(work, index)]
    if not real:
        return
    filled = [call for call, answer in work.answer_of.items() if _is_filler(work, answer)]
    _by_id(work, real, filled)
    filled = [call for call in filled if _is_filler(work, work.answer_of[call])]
    _by_position(work, [index for index in real if index not in work.placed], filled)


def _is_filler(work: Matching, index: int) -> bool:
    """Whether a result has no content of its own: a repair wrote it, or it waits for its content."""
    result = work.results[index].result
    return result.synthetic or holds_nothing(result)


def _by_id(work: Matching, real: list[int], filled: list[int]) -> None:
    bearers: dict[Key, int] = {}
    for asked in work.calls if filled else ():
        key = asked.call.id, asked.call.server
        bearers[key] = bearers.get(key, 0) + 1
    first: dict[Key, int] = {}
    for index in real:
        other = work.results[index].result
        first.setdefault((other.id, other.server), index)
    for call in filled:
        key = work.calls[call].call.id, work.calls[call].call.server
        result = first.get(key)
        if usable(key[0]) and bearers[key] == 1 and result is not None:
            inside = work.results[result].turn == work.calls[call].turn
            behind: How = "in-place" if inside else work.afterwards
            work.part(call)
            work.match(call, result, behind if work.after(result, call) else "early")


def _by_position(work: Matching, real: list[int], filled: list[int]) -> None:
    """Match the only placeholder of a window with its only real result without an id, which is unambiguous."""
    calls: dict[int, list[int]] = {}
    results: dict[int, list[int]] = {}
    for call in filled:
        # A placeholder without an id is matched by its position again in every run.
        by_id = usable(work.results[work.answer_of[call]].result.id)
        if by_id and not work.calls[call].call.server:
            calls.setdefault(work.calls[call].turn, []).append(call)
    known = {asked.call.id for asked in work.calls}
    for index in real:
        other = work.results[index]
        if other.turn >= 0 and not other.result.server and other.result.id not in known:
            results.setdefault(other.turn, []).append(index)
    free = (work.results[index] for index in real)
    unknown = (one.seq for one in free if usable(one.result.id) and one.result.id not in known)
    last = max(unknown, default=-1)
    for turn, some in calls.items():
        beside = results.get(turn, [])
        if (
            len(some) == len(beside) == 1
            and not usable(work.results[beside[0]].result.id)
            and work.after(beside[0], some[0])
            and work.agree(some[0], beside[0])
            and work.calls[some[0]].seq > last  # a later result with an unknown id may belong to the call
            and not work.parted(some[0], beside[0])
        ):
            work.part(some[0])
            work.match(some[0], beside[0], "by-position")
