"""Match results among the calls of a turn, before the window of the turn.

A result that follows its call in the same turn goes before a later result with another text.
"""

from turnlint.ledger.alike import is_copy
from turnlint.ledger.matching import Key, Matching
from turnlint.ledger.values import usable


def prefer_inner(work: Matching) -> None:
    """Match a call with the first real result under its id, if that result is in the turn of the call."""
    inner: dict[Key, int] = {}
    for index in work.unplaced() if work.answer_of else ():
        result = work.results[index].result
        if work.results[index].turn < 0 and usable(result.id) and not result.synthetic and not result.server:
            inner.setdefault((result.id, result.server), index)
    for call, answer in list(work.answer_of.items()) if inner else ():
        asked, answered = work.calls[call], work.results[answer]
        first = inner.get((asked.call.id, asked.call.server))
        if first is None or work.how[call] != "in-place" or is_copy(work.results[first], answered):
            continue
        if asked.seq < work.results[first].seq < answered.seq and work.agree(call, first):
            work.part(call)
            work.contested.discard(first)
            work.match(call, first, work.afterwards)
