"""The working state of one pairing.

This module owns what is known while a conversation is walked: occurrences by number, who answers whom so
far, and what found no place. It refuses to decide.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from msgspec import Struct

from turnlint.ledger.values import Answered, Asked, How

Key = tuple[str | None, bool]
"""An id, and whether it is the provider's own tool: the two never answer each other."""


class Matching(Struct):
    """The working state of one pass. Indices into `calls` and `results` stand for occurrences."""

    calls: list[Asked] = []
    results: list[Answered] = []
    answer_of: dict[int, int] = {}
    """Call to result."""
    how: dict[int, How] = {}
    spare: list[int] = []
    """Results the windows could not place; some find their call later and are then in `placed`."""
    placed: set[int] = set()
    shared: set[Key] = set()
    """Ids that several calls of one turn bear."""
    contested: set[int] = set()
    """Results that fit several calls equally well, and so get none of them."""
    disputed: set[int] = set()
    """The calls that they fit."""
    copies: set[int] = set()
    """Open calls that repeat another call: they wait for no result of their own."""
    mixed: frozenset[int] = frozenset()
    """Messages that hold calls beside results, and those of the same role directly behind them."""
    speaking: tuple[int, ...] = ()
    """The messages of the assistant, in order."""
    lost_turns: frozenset[int] = frozenset()
    """Turns with a call that has no id."""
    lost_results: dict[int, list[int]] = {}
    """The results without an id in the window of each turn, but for placeholders and the provider's own tools."""
    early: list[tuple[int, int]] = []
    """Calls with a result before them that they get unless one behind them is theirs."""
    open_calls: dict[int, int] = {}
    """How many calls of a turn had no result when a result before its call was looked at."""
    interrupted: bool = False
    """Something was said in a window before its last result."""
    last_turn_message: int = -1
    """The last message that is part of the last turn or holds nothing but its results."""
    afterwards: How = "late"
    """What a result after its window is: nothing special on a wire where it may stand anywhere after its call."""

    gaps: list[int] = []
    """Messages before which a record cannot be read."""

    def parted(self, call: int, result: int) -> bool:
        """Whether a record between the messages of a call and of a result cannot be read."""
        return bisect_right(self.gaps, self.calls[call].message) < bisect_right(
            self.gaps, self.results[result].message
        )

    def match(self, call: int, result: int, how: How) -> None:
        self.answer_of[call] = result
        self.how[call] = how
        self.placed.add(result)

    def part(self, call: int) -> None:
        """Take its result from a call again."""
        result = self.answer_of.pop(call)
        del self.how[call]
        self.placed.discard(result)
        self.spare.append(result)

    def agree(self, call: int, result: int) -> bool:
        """Whether the names of a call and a result do not contradict each other."""
        asked, answered = self.calls[call].call.name, self.results[result].result.name
        return not asked or not answered or asked == answered

    def contest(self, calls: Iterable[int], results: Iterable[int]) -> None:
        """Leave calls and results apart, since more than one reading is possible."""
        self.disputed.update(calls)
        self.contested.update(results)

    def open(self, call: int) -> bool:
        return call not in self.answer_of

    def unplaced(self) -> list[int]:
        return sorted({index for index in self.spare if index not in self.placed})

    def free(self) -> list[int]:
        """The results without a call that may still get one."""
        return [index for index in self.unplaced() if index not in self.contested]

    def free_calls(self) -> list[int]:
        """The calls without a result that may still get one."""
        return [
            index
            for index in range(len(self.calls))
            if index not in self.answer_of and index not in self.disputed and index not in self.copies
        ]

    def has_content(self, call: int) -> bool:
        """Whether a call has a name or arguments: an entry such as `{}` or `null` is no evidence of a call."""
        asked = self.calls[call].call
        return bool(asked.name or asked.body)

    def speaks_between(self, first: int, last: int) -> bool:
        """Whether a message of the assistant stands between two results."""
        start, end = (bisect_left(self.speaking, self.results[one].message) for one in (first, last))
        return start < end

    def after(self, result: int, call: int) -> bool:
        return self.results[result].seq > self.calls[call].seq
