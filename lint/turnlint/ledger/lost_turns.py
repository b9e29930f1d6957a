"""Leave an early result apart from a later call that reuses the id of a lost turn.

A history that was truncated begins with the results of a turn whose calls are gone. A later call may reuse the id of such
a result. An orphan beside the result shows that the turn is lost.
"""

from bisect import bisect_left

from turnlint.ledger.alike import NEAR
from turnlint.ledger.matching import Matching


def part_lost_turns(work: Matching) -> None:
    """Take early results of lost turns from their calls.

    The decision depends on pairs alone and not on ids, so that it is the same after ids are renamed.
    """
    early = [(call, work.answer_of[call]) for call, how in work.how.items() if how == "early"]
    for call, result in [pair for pair in early if _is_of_lost_turn(work, *pair)]:
        work.part(call)
        work.contest((), (result,))


def _is_of_lost_turn(work: Matching, call: int, result: int) -> bool:
    """Whether another turn is between a result and its call, and an orphan is beside its early result."""
    own = work.results[result]
    following = bisect_left(work.calls, own.seq, key=lambda one: one.seq)
    before = work.calls[following - 1] if following else None
    start, end = before.seq if before else -1, work.calls[following].seq
    asking = before.message if before else -1

    def is_in_window(index: int) -> bool:
        """Whether a result is not behind a call in its own message and not in a message of the assistant."""
        answered = work.results[index]
        return (
            not answered.result.server
            and answered.message != asking
            and not _is_spoken(work, answered.message)
        )

    if work.calls[following].turn == work.calls[call].turn or not is_in_window(result):
        return False
    return any(
        one not in work.placed
        and start < work.results[one].seq < end
        and is_in_window(one)
        and not work.speaks_between(min(one, result), max(one, result))
        for one in range(max(0, result - NEAR), min(len(work.results), result + NEAR + 1))
    )


def _is_spoken(work: Matching, message: int) -> bool:
    """Whether a message is of the assistant."""
    at = bisect_left(work.speaking, message)
    return at < len(work.speaking) and work.speaking[at] == message
