"""Hold the state of pairing one conversation.

The state has the occurrences by number, the matches so far, and the results without a call. Other modules decide.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from msgspec import Struct

from turnlint.ledger.values import Answered, Asked, How

Key = tuple[str | None, bool]
"""An id, and whether the tool is the provider's own: the two kinds never match each other."""


class Matching(Struct):
    """The state of pairing. Indices into `calls` and `results` identify occurrences."""

    calls: list[Asked] = []
    results: list[Answered] = []
    answer_of: dict[int, int] = {}
    """The result of each matched call."""
    how: dict[int, How] = {}
    spare: list[int] = []
    """Results that no window could match. Those that get a call later are also in `placed`."""
    placed: set[int] = set()
    shared: set[Key] = set()
    """Ids that several calls of one turn have."""
    contested: set[int] = set()
    """Results that fit several calls equally well, and so get none of them."""
    disputed: set[int] = set()
    """The calls that contested results fit."""
    copies: set[int] = set()
    """Open calls that repeat another call: they wait for no result of their own."""
    mixed: frozenset[int] = frozenset()
    """Messages that hold calls beside results, and those of the same role directly behind them."""
    speaking: tuple[int, ...] = ()
    """The messages of the assistant, in order."""
    lost_turns: frozenset[int] = frozenset()
    """Turns with a call that has no id."""
    lost_results: dict[int, list[int]] = {}
    """The results without an id in the window of each turn, except placeholders and the provider's own tools."""
    early: list[tuple[int, int]] = []
    """Calls with the earlier result that they get unless a later result matches them."""
    open_calls: dict[int, int] = {}
    """The number of open calls of a turn when an early result was checked."""
    interrupted: bool = False
    """Whether a window had other content before its last result."""
    last_turn_message: int = -1
    """The last message that belongs to the last turn or has only its results."""
    afterwards: How = "late"
    """The label of a result after its window: normal on a wire where results may be anywhere after their call."""

    hints: dict[int, str] = {}
    """Names of tools in the ids of results without a name."""
    gaps: list[int] = []
    """Indices of messages before which a record is not readable."""

    def parted(self, call: int, result: int) -> bool:
        """Whether a record between the messages of a call and of a result is not readable."""
        return bisect_right(self.gaps, self.calls[call].message) < bisect_right(
            self.gaps, self.results[result].message
        )

    def match(self, call: int, result: int, how: How) -> None:
        self.answer_of[call] = result
        self.how[call] = how
        self.placed.add(result)

    def part(self, call: int) -> None:
        """Remove the match of a call."""
        result = self.answer_of.pop(call)
        del self.how[call]
        self.placed.discard(result)
        self.spare.append(result)

    def agree(self, call: int, result: int) -> bool:
        """Whether the names of a call and a result do not contradict each other."""
        asked, answered = self.calls[call].call.name, self.name_of(result)
        return not asked or not answered or asked == answered

    def name_of(self, result: int) -> str | None:
        """Return the name of the tool in a result, or in its id."""
        return self.results[result].result.name or self.hints.get(result)

    def contest(self, calls: Iterable[int], results: Iterable[int]) -> None:
        """Exclude calls and results from matching, since more than one reading is possible."""
        self.disputed.update(calls)
        self.contested.update(results)

    def open(self, call: int) -> bool:
        return call not in self.answer_of

    def unplaced(self) -> list[int]:
        return sorted({index for index in self.spare if index not in self.placed})

    def free(self) -> list[int]:
        """Return the results without a call that may still get one."""
        return [index for index in self.unplaced() if index not in self.contested]

    def free_calls(self) -> list[int]:
        """Return the calls without a result that may still get one."""
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
        """Whether a message of the assistant is between two results."""
        start, end = (bisect_left(self.speaking, self.results[one].message) for one in (first, last))
        return start < end

    def after(self, result: int, call: int) -> bool:
        return self.results[result].seq > self.calls[call].seq
