"""Find the ids of calls and results after a repair.

A repair moves, joins and removes blocks. This module finds the calls and results of the first state in the last state:
by their content, in their order. A result follows its call.
"""

from collections.abc import Callable, Container, Iterator, Sequence

from msgspec import Struct

from turnlint.engine import Judged
from turnlint.ids import Projection, entries_after
from turnlint.ids.turns import short
from turnlint.ledger import Ledger
from turnlint.model import Call, Result, Transcript
from turnlint.repeats import removed_copies

Occurrence = tuple[int, int]
"""The number of a conversation, and the number of a call or a result among those of the conversation."""
Key = Callable[[int, Call | Result], tuple[object, ...]]
"""Returns the content that identifies a call or a result, from the number of its conversation and from itself."""

CALL_KEYS: tuple[Key, ...] = (
    lambda number, one: (number, one.name, short(one.body)),
    lambda _, one: (one.name, short(one.body)),
    lambda number, one: (number, short(one.body)),
    lambda number, one: (number, one.name),
)
RESULT_KEYS: tuple[Key, ...] = (
    lambda number, one: (number, one.id, short(one.body)),
    lambda number, one: (number, short(one.body)),
    lambda _, one: (short(one.body),),
)
"""The most specific key first: a repair may rewrite names and arguments, and may join conversations."""


class Traced(Struct, frozen=True):
    """The id of a call or a result after a repair."""

    id: str | None
    place: Occurrence | None = None
    """Its occurrence after the repair, if it is still there."""


IdMap = dict[int, list[Traced]]
"""The calls and results of conversations in their order, by the number of the conversation."""


class _State:
    """The calls and results of some conversations."""

    def __init__(self, judged: Sequence[Judged]) -> None:
        self.blocks: dict[Occurrence, Call | Result] = {}
        self.results: dict[Occurrence, Occurrence] = {}
        """The result of each call that has one."""
        self.copies: dict[Occurrence, Occurrence] = {}
        """The calls that a repair removes as copies, with the calls that they repeat."""
        for number, one in enumerate(judged):
            pairs = one.pairs
            blocks = (block for message in one.transcript.messages for block in message.blocks)
            found = (block for block in blocks if isinstance(block, Call | Result))
            self.blocks |= {(number, at): block for at, block in enumerate(found)}
            for pair in pairs.interactions:
                if pair.answer is not None:
                    self.results[number, pair.asked.seq] = number, pair.answer.seq
            for copy in removed_copies(pairs):
                self.copies[number, copy.again.asked.seq] = number, copy.first.asked.seq

    def grouped(
        self, kind: type[Call | Result], key: Key, known: Container[Occurrence]
    ) -> dict[tuple[object, ...], list[Occurrence]]:
        """Return the calls or the results that are not known, by their keys."""
        groups: dict[tuple[object, ...], list[Occurrence]] = {}
        for occurrence, block in self.blocks.items():
            if isinstance(block, kind) and occurrence not in known:
                groups.setdefault(key(occurrence[0], block), []).append(occurrence)
        return groups


def trace(start: Sequence[Judged], end: Sequence[Judged], first: int) -> IdMap:
    """Return the ids after a repair of some conversations, of which the first has the number `first`."""
    was, now = _State(start), _State(end)
    found: dict[Occurrence, Occurrence] = {}
    for key in CALL_KEYS:
        found |= _pairs(was, now, Call, key, found)
    for copy, original in was.copies.items():
        if copy not in found and original in found:
            found[copy] = found[original]
    for call, result in was.results.items():
        place = found.get(call)
        if place in now.results:
            found[result] = now.results[place]
    for key in RESULT_KEYS:
        found |= _pairs(was, now, Result, key, found)
    ids: IdMap = {first + number: [] for number in range(len(start))}
    for occurrence, block in was.blocks.items():
        place = found.get(occurrence)
        here = None if place is None else (first + place[0], place[1])
        identifier = block.id if place is None else now.blocks[place].id
        ids[first + occurrence[0]].append(Traced(identifier, here))
    return ids


def _pairs(
    was: _State, now: _State, kind: type[Call | Result], key: Key, found: dict[Occurrence, Occurrence]
) -> Iterator[tuple[Occurrence, Occurrence]]:
    """Yield the pairs that one key finds. Copies that a repair removed find no partner."""
    later = now.grouped(kind, key, {*found.values()})
    for name, some in was.grouped(kind, key, found).items():
        places = later.get(name, [])
        own = [one for one in some if one not in was.copies] if len(places) < len(some) else some
        yield from zip(own, places, strict=False)


def followed(first: IdMap, second: IdMap) -> IdMap:
    """Return the ids after two repairs, the second of which repaired what the first one wrote."""

    def follow(one: Traced) -> Traced:
        number, at = one.place or (-1, 0)
        later = second.get(number, [])
        return later[at] if at < len(later) else one

    return {**second, **{number: [*map(follow, some)] for number, some in first.items()}}


def projection_after(
    transcript: Transcript, pairs: Ledger, target: str, traced: Sequence[Traced] | None
) -> Projection:
    """Return the ids of a conversation after its repair; each id is unchanged if nothing was repaired."""
    if traced is None:
        blocks = (block for message in transcript.messages for block in message.blocks)
        new = [block.id for block in blocks if isinstance(block, Call | Result)]
    else:
        new = [one.id for one in traced]
    return Projection(target, tuple(entries_after(transcript, pairs, new)))
