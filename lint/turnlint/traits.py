"""What there is in a conversation, each kind of thing once.

This module owns one pass over messages, calls and results, from which questions about all of them are answered
without another: clauses of providers ask many. It refuses to know any of them.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from turnlint.ledger import Ledger, usable
from turnlint.ledger.values import LONGEST_WORD
from turnlint.model import (
    ANSWERED,
    CALLED,
    CONTENTS,
    SILENT,
    SPEAKERS,
    Call,
    Content,
    Message,
    Outline,
    Result,
    Text,
    Thinking,
    Written,
)
from turnlint.once import once

Labels = frozenset[str]
Turn = tuple[Labels, Labels]
"""What a turn is, and what was said last in it."""
Summary = tuple[bytes, frozenset[tuple[int, int]] | frozenset[tuple[bytes, bytes]]]
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
    contents: set[tuple[Content, str, bool]] = set()
    """What contents are, with the roles of their messages as they are written, and whether these have calls."""
    marks: set[str] = set()
    """Whether any message has a `name`, an `item`, `reasoning`, a `prefix`, a list of `no-calls`, says nothing at all
    or has a text that does (`hollow`), or follows on another of the assistant (`twice`)."""
    labels: list[Labels] = []
    """For each message its role, and whether there are calls and results in it."""
    thoughts: list[tuple[Message, int, Thinking]] = []
    """With their places among the blocks of their messages."""
    letters: bytes = b""
    """The outline, where there is one. Then there are no labels."""
    taken: dict[str, bool] = {}
    """Expressions that were asked for, and whether all ids are such."""

    @once
    def ids(self) -> set[str]:
        """Of calls and results but the provider's own, as far as they can be told from nothing."""
        if self.letters:  # all are the caller's own
            found = {one.id for one in self.calls}
            found.update([one.id for one in self.results])
        else:
            found = {one.id for one in self.calls if not one.server}
            found.update([one.id for one in self.results if not one.server])
        return {one for one in found if one is not None and (len(one) > LONGEST_WORD or usable(one))}

    @once
    def longest_id(self) -> int:
        return max(map(len, self.ids), default=0)

    @once
    def names(self) -> dict[bool, set[str]]:
        """Of tools that are called: of the provider's own, and of the caller's."""
        if self.letters:
            return {True: set(), False: {call.name or "" for call in self.calls}}
        found: dict[bool, set[str]] = {True: set(), False: set()}
        for call in self.calls:
            found[call.server].add(call.name or "")
        return found

    @once
    def result_names(self) -> set[str]:
        return set() if self.letters else {result.name for result in self.results if result.name}

    @once
    def forms(self) -> set[tuple[tuple[str, ...], Written]]:
        """What results hold, and how it is written."""
        return {(result.parts, result.written) for result in self.results}

    @once
    def steps(self) -> set[tuple[Labels, Labels]]:
        """What comes after what, turn by turn."""
        if self.letters:
            return {(before, here) for (before, _), (here, _) in self._outlined}
        turns = self.labels if self._are_apart else [labels for labels, _ in self._turns()]
        return set(pairwise([_START, *turns]))

    @once
    def answers(self) -> set[tuple[Labels, Labels]]:
        """The same for results, which follow on what was last said: a chunk of a stream may say nothing."""
        if self.letters:
            return {(before, here) for (_, before), (here, _) in self._outlined}
        if self._are_apart:
            return self.steps
        turns = list(self._turns())
        return {(_START, turns[0][0]), *((before[1], here[0]) for before, here in pairwise(turns))}

    @once
    def _outlined(self) -> Collection[tuple[Turn, Turn]]:
        """The same of both kinds, by the outline."""
        first, pairs = self._pairs
        found = {((_START, _START), _turn_of(first))}
        for before, here in pairs:
            found.add((_turn_of(_as_bytes(before)), _turn_of(_as_bytes(here))))
        return found

    @once
    def _pairs(self) -> Summary:
        """The letters of the first turn, and those of turns that follow on each other."""
        letters = self.letters
        if self._are_apart:
            return letters[:1], frozenset(pairwise(letters))
        turns = _joined().findall(letters)
        return turns[0], frozenset(pairwise(turns))

    @property
    def summary(self) -> Summary | None:
        """What the outline says of roles, contents and turns; nothing where that is long."""
        return self._pairs if len(self.letters) < _LONG else None

    @property
    def first(self) -> Labels:
        """Of the first message."""
        return _label_of(self.letters[0]) if self.letters else self.labels[0]

    def speaks(self, some: Collection[str]) -> bool:
        """Whether any message has one of these labels."""
        labels = map(_label_of, set(self.letters)) if self.letters else self.labels
        return not all(one.isdisjoint(some) for one in labels)

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


def traits_of(
    messages: Sequence[Message], ledger: Ledger, *, joins: bool, outline: Outline | None = None
) -> Traits:
    calls = [interaction.asked.call for interaction in ledger.interactions]
    answers = [one.answer.result for one in ledger.interactions if one.answer is not None]
    answers += [again.result for again, _ in ledger.duplicates]
    answers += [orphan.result for orphan in ledger.orphans]
    found = Traits(messages, calls, answers, joins)
    return _traits_by(outline, found) if outline is not None else _look(found)


def _look(found: Traits) -> Traits:
    messages = found.messages
    roles, contents, marks, labels = found.roles, found.contents, found.marks, found.labels
    known: dict[tuple[str, bool, bool], Labels] = {}
    before = ""
    for message in messages:
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
        contents.add((message.content, message.written_role, called))
    return found


def _traits_by(outline: Outline, found: Traits) -> Traits:
    """What a pass would find, by the letters that stand for messages."""
    letters = found.letters = outline.letters
    roles, contents, marks = _kinds_of(frozenset(letters))
    found.roles, found.contents = set(roles), set(contents)
    found.marks = {*marks, "twice"} if _twice().search(letters) else set(marks)
    return found


@lru_cache(maxsize=1024)
def _kinds_of(letters: frozenset[int]) -> tuple[set[str], set[tuple[Content, str, bool]], set[str]]:
    """Roles, contents and marks."""
    roles = {SPEAKERS[letter & _ROLE] for letter in letters}
    contents = {
        (CONTENTS[letter >> 5 & 3], SPEAKERS[letter & _ROLE], bool(letter & CALLED)) for letter in letters
    }
    return roles, contents, {"hollow"} if any(letter & SILENT for letter in letters) else set()


_ROLE = 7
_LONG = 512


@lru_cache
def _assistants() -> bytes:
    said = (letter for letter in range(256) if letter & _ROLE == SPEAKERS.index("assistant"))
    return b"".join(re.escape(bytes((letter,))) for letter in said)


# Compiled with the first outline: a small run, which has none, does without.
@lru_cache
def _twice() -> re.Pattern[bytes]:
    return re.compile(b"[%b]{2}" % _assistants())


@lru_cache
def _joined() -> re.Pattern[bytes]:
    return re.compile(b"(?s)[%b]+|." % _assistants())


@lru_cache(maxsize=256)
def _label_of(letter: int) -> Labels:
    return _label(SPEAKERS[letter & _ROLE], bool(letter & CALLED), bool(letter & ANSWERED))


def _as_bytes(letters: int | bytes) -> bytes:
    return bytes((letters,)) if isinstance(letters, int) else letters


def _turn_of(letters: bytes) -> Turn:
    """What a turn is, and what was said last in it."""
    return (_known_turn if len(letters) < _FEW else _read_turn)(letters)


def _read_turn(letters: bytes) -> Turn:
    whole: Labels = frozenset().union(*map(_label_of, letters))
    last = next((_label_of(letter) for letter in reversed(letters) if not letter & SILENT), whole)
    return whole, last


_FEW = 16
"""Of turns of so few messages it is kept what they are."""
_known_turn = lru_cache(maxsize=1024)(_read_turn)


def _label(role: str, called: bool, answered: bool) -> Labels:
    return frozenset((role, "call" if called else role, "result" if answered else role))
