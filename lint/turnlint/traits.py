"""What there is in a conversation, each kind of thing once.

This module owns one pass over messages, calls and results, from which questions about all of them are answered
without another: clauses of providers ask many. It refuses to know any of them.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from turnlint.ledger import Ledger, usable
from turnlint.model import Call, Content, Message, Result, Text, Thinking, Written

Labels = frozenset[str]
_START: Labels = frozenset({"start"})


class Traits(Struct, dict=True):
    """The kinds of things, and those that are seldom met as lists."""

    messages: Sequence[Message]
    calls: list[Call]
    results: list[Result]
    """Every result, in no order."""
    joins: bool = False
    """Consecutive messages of the assistant are one turn."""
    roles: set[str] = set()
    """As they are written."""
    contents: dict[Content, list[Message]] = {}
    """Messages by what their content is."""
    marks: set[str] = set()
    """Whether any message has a `name`, an `item`, `reasoning`, a `prefix`, a list of `no-calls`, says nothing at all
    or has a text that does (`hollow`), or follows on another of the assistant (`twice`)."""
    labels: list[Labels] = []
    """For each message its role, and whether there are calls and results in it."""
    thoughts: list[tuple[Message, int, Thinking]] = []
    """With their places among the blocks of their messages."""

    @cached_property
    def ids(self) -> set[str]:
        """Of calls and results but the provider's own, as far as they can be told from nothing."""
        both: list[Call | Result] = [*self.calls, *self.results]
        return {one.id for one in both if one.id is not None and not one.server and usable(one.id)}

    @cached_property
    def longest_id(self) -> int:
        return max(map(len, self.ids), default=0)

    @cached_property
    def names(self) -> dict[bool, set[str]]:
        """Of tools that are called: of the provider's own, and of the caller's."""
        found: dict[bool, set[str]] = {True: set(), False: set()}
        for call in self.calls:
            found[call.server].add(call.name or "")
        return found

    @cached_property
    def result_names(self) -> set[str]:
        return {result.name for result in self.results if result.name}

    @cached_property
    def forms(self) -> set[tuple[tuple[str, ...], Written]]:
        """What results hold, and how it is written."""
        return {(result.parts, result.written) for result in self.results}

    @cached_property
    def steps(self) -> set[tuple[Labels, Labels]]:
        """What comes after what, turn by turn."""
        turns = self.labels if self._are_apart else [labels for labels, _ in self._turns()]
        return set(pairwise([_START, *turns]))

    @cached_property
    def answers(self) -> set[tuple[Labels, Labels]]:
        """The same for results, which follow on what was last said: a chunk of a stream may say nothing."""
        if self._are_apart:
            return self.steps
        turns = list(self._turns())
        return {(_START, turns[0][0]), *((before[1], here[0]) for before, here in pairwise(turns))}

    @property
    def _are_apart(self) -> bool:
        return not self.joins or "twice" not in self.marks

    def _turns(self) -> Iterator[tuple[Labels, Labels]]:
        """What a turn is, and what was said last in it."""
        whole: Labels = frozenset()
        last: Labels | None = None
        before: str | None = None
        for message, labels in zip(self.messages, self.labels, strict=True):
            role = message.role
            if role == before == "assistant":
                whole |= labels
            else:
                if before is not None:
                    yield whole, last or whole
                whole, last, before = labels, None, role
            if any(type(block) is not Thinking for block in message.blocks):
                last = labels
        if before is not None:
            yield whole, last or whole


def traits_of(messages: Sequence[Message], ledger: Ledger, *, joins: bool) -> Traits:
    calls = [interaction.asked.call for interaction in ledger.interactions]
    answers = [one.answer.result for one in ledger.interactions if one.answer is not None]
    answers += [again.result for again, _ in ledger.duplicates]
    answers += [orphan.result for orphan in ledger.orphans]
    found = Traits(messages, calls, answers, joins)
    roles, contents, marks, labels = found.roles, found.contents, found.marks, found.labels
    known: dict[tuple[str, bool, bool], Labels] = {}
    before = ""
    for message in messages:
        some = contents.get(message.content)
        if some is None:
            contents[message.content] = [message]
        else:
            some.append(message)
        blocks = message.blocks
        if not blocks or message.blanks:
            marks.add("hollow")
        role = message.role
        if role == before == "assistant":
            marks.add("twice")
        before = role
        if message.name is not None:
            marks.add("name")
        if message.item is not None:
            marks.add("item")
        if message.reasoning != "absent" or message.kind == "reasoning":
            marks.add("reasoning")
        if message.prefix:
            marks.add("prefix")
        if message.no_calls:
            marks.add("no-calls")
        called = answered = False
        for place, block in enumerate(blocks):
            kind = type(block)
            if kind is Text:
                continue
            if kind is Call:
                called = True
            elif kind is Result:
                answered = True
            elif kind is Thinking:
                found.thoughts.append((message, place, block))  # type: ignore[arg-type]
            if getattr(block, "item", None) is not None:
                marks.add("item")
        key = message.written_role, called, answered
        label = known.get(key)
        if label is None:
            label = known[key] = _label(*key)
            roles.add(message.written_role)
        labels.append(label)
    return found


def _label(role: str, called: bool, answered: bool) -> Labels:
    return frozenset((role, "call" if called else role, "result" if answered else role))
