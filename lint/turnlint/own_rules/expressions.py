"""Regular expressions that no text can slow down.

This module owns the finding of an expression in a text in one pass, whatever both are: transcripts are written by
strangers, and a search that goes back over its steps can be made to take for ever. It reads the syntax of Python's
`re`, without what cannot be done so: references back, and looking ahead or behind.
"""

import re
import warnings
from functools import lru_cache
from importlib import import_module
from typing import Any

from msgspec import Struct

LARGEST = 2000
"""Nodes of an expression once its counted repeats are written out."""
MOST_KEPT = 200_000
"""How much is remembered of a search; then it is worked out anew, so that memory is bounded too."""
_LAST = "\n\n"
"""A line end with which the text ends: `$` stands before it as well."""
_NAMES = {
    "GROUPREF": "a reference back", "GROUPREF_EXISTS": "a reference back", "ASSERT": "looking ahead or behind",
    "ASSERT_NOT": "looking ahead or behind", "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive repeat",
}  # fmt: skip


class BadExpression(Exception):  # noqa: N818 - what a user wrote, and the sentence says what is wrong
    """An expression that cannot be used."""


class _Node(Struct):
    """One step: a character that `item` allows, or a place that it names, or neither; then on to any of `then`."""

    op: str
    item: Any = None
    flags: int = 0
    then: tuple[int, ...] = ()


class _State(Struct, eq=False):
    """Where a search may be, after a character of some kind."""

    nodes: frozenset[int]
    before: str
    steps: dict[str, "_State"] = {}


@lru_cache(maxsize=256)
def expression(text: str) -> "Expression":
    return Expression(text)


class Expression:
    """An expression, ready to be looked for. Raises `BadExpression`."""

    def __init__(self, text: str) -> None:
        self.nodes: list[_Node] = []
        parser: Any = import_module("re._parser")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = parser.parse(text)
        except re.error as error:
            place = f" at character {error.pos + 1}" if error.pos is not None else ""
            raise BadExpression(f"is not a valid regular expression: {error.msg}{place}") from None
        except (RecursionError, OverflowError):
            raise BadExpression("is too large for a regular expression") from None
        flags = _known(int(tree.state.flags))
        self.end = self._node("MATCH")
        try:
            self.start = self._sequence(list(tree), flags, self.end)
        except RecursionError:
            raise BadExpression("is too large for a regular expression") from None
        self.first = self._first()
        self.literal, self.any_case = _literal(list(tree), flags)
        self.found = _State(frozenset({-1}), "")
        self._forget()

    def is_in(self, text: str) -> bool:
        """Whether it is found anywhere in a text."""
        if not self._may_be_in(text):
            return False
        state, at, last = self.idle[""], 0, len(text) - 1
        while at <= last:
            if self.first and not state.nodes:
                found = self.first.search(text, at)
                if found is None:
                    return False
                if found.start() > at:
                    at = found.start()
                    state = self.idle[_kind(text[at - 1])]
            char = text[at] if at < last or text[at] != "\n" else _LAST
            following = state.steps.get(char)
            if following is None:
                following = self._step(state, char)
            if following is self.found:
                return True
            state, at = following, at + 1
        return self._step(state, "") is self.found

    def _may_be_in(self, text: str) -> bool:
        """Whether the characters that every match has are there: most texts are done with that."""
        if self.any_case:
            return not text.isascii() or self.literal in text.lower()
        return self.literal in text

    # From an expression to nodes, from its end to its start.

    def _node(self, op: str, item: Any = None, flags: int = 0, then: tuple[int, ...] = ()) -> int:
        if len(self.nodes) >= LARGEST:
            raise BadExpression("is too large after its repeats are expanded")
        self.nodes.append(_Node(op, item, flags, then))
        return len(self.nodes) - 1

    def _sequence(self, items: list[Any], flags: int, then: int) -> int:
        for op, argument in reversed(items):
            then = self._item(str(op), argument, flags, then)
        return then

    def _item(self, op: str, argument: Any, flags: int, then: int) -> int:
        if op in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"):
            return self._node(op, argument, flags, (then,))
        if op == "SUBPATTERN":
            _, added, removed, inner = argument
            return self._sequence(list(inner), _known((flags | added) & ~removed), then)
        if op == "BRANCH":
            ways = tuple(self._sequence(list(one), flags, then) for one in argument[1])
            return self._node("SPLIT", then=ways)
        if op in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = argument
            return self._repeat(least, most, list(inner), flags, then)
        raise BadExpression(f"{_NAMES.get(op, op.lower())} is not supported: its run time is not bounded")

    def _repeat(self, least: int, most: Any, items: list[Any], flags: int, then: int) -> int:
        if most == import_module("re._constants").MAXREPEAT:
            loop = self._node("SPLIT")
            self.nodes[loop].then = (self._sequence(items, flags, loop), then)
            then = loop
        else:
            for _ in range(int(most) - least):
                then = self._node("SPLIT", then=(self._sequence(items, flags, then), then))
        for _ in range(least):
            then = self._sequence(items, flags, then)
        return then

    def _first(self) -> re.Pattern[str] | None:
        """What it can begin with, where that is a few characters: all else is passed over at once."""
        chars = set()
        waiting, seen = [self.start], set()
        while waiting:
            number = waiting.pop()
            node = self.nodes[number]
            if number in seen:
                continue
            seen.add(number)
            if node.op == "SPLIT":
                waiting += node.then
            elif node.op == "LITERAL" and not node.flags & re.IGNORECASE:
                chars.add(re.escape(chr(node.item)))
            else:
                return None
        return re.compile(f"[{''.join(sorted(chars))}]") if chars else None

    # From states to states.

    def _forget(self) -> None:
        self.count = 0
        self.known: dict[tuple[frozenset[int], str], _State] = {}
        self.idle = {kind: self._state(frozenset(), kind) for kind in ("", "\n", "w", " ")}

    def _state(self, nodes: frozenset[int], before: str) -> _State:
        return self.known.setdefault((nodes, before), _State(nodes, before))

    def _step(self, state: _State, char: str) -> _State:
        """Where a search is after one more character; `found` where the expression ends before it."""
        reached = self._reached(state, char)
        if self.end in reached:
            return self.found
        passed = {
            then for one in reached if _takes(self.nodes[one], char[:1]) for then in self.nodes[one].then
        }
        if self.count >= MOST_KEPT:
            self._forget()
        self.count += 1 + len(passed)
        following = self._state(frozenset(passed), _kind(char[:1]))
        state.steps[char] = following
        return following

    def _reached(self, state: _State, char: str) -> set[int]:
        """All nodes that can be had without a character, from where the search is and from the start."""
        waiting, reached = [*state.nodes, self.start], set[int]()
        while waiting:
            number = waiting.pop()
            if number in reached:
                continue
            reached.add(number)
            node = self.nodes[number]
            if node.op == "SPLIT" or (node.op == "AT" and _stands(node, state.before, char)):
                waiting += node.then
        return reached


def _literal(items: list[Any], flags: int) -> tuple[str, bool]:
    """The longest run of plain characters that every match has, and whether their case does not matter."""
    runs, any_case = [""], bool(flags & re.IGNORECASE)
    for op, argument in items:
        if str(op) == "LITERAL" and (not any_case or argument < 128):
            runs[-1] += chr(argument)
        else:
            runs.append("")
    longest = max(runs, key=len)
    return longest.lower() if any_case else longest, any_case


def _known(flags: int) -> int:
    if flags & (re.ASCII | re.LOCALE):
        raise BadExpression("the flags a and L are not supported")
    return flags


def _kind(char: str) -> str:
    """All that a place asks about the character beside it."""
    return char if char in ("", "\n") else "w" if char.isalnum() or char == "_" else " "


def _stands(node: _Node, before: str, char: str) -> bool:
    place, lines = str(node.item), bool(node.flags & re.MULTILINE)
    if place in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
        return not before or (lines and place == "AT_BEGINNING" and before == "\n")
    if place in ("AT_END", "AT_END_STRING"):
        return not char or (place == "AT_END" and (char == _LAST or (lines and char == "\n")))
    return ((before == "w") != (_kind(char[:1]) == "w")) is (place == "AT_BOUNDARY")


def _takes(node: _Node, char: str) -> bool:
    if not char or node.op in ("SPLIT", "AT", "MATCH"):
        return False
    if node.op == "ANY":
        return char != "\n" or bool(node.flags & re.DOTALL)
    spellings = {char, char.lower(), char.upper()} if node.flags & re.IGNORECASE else {char}
    if node.op == "NOT_LITERAL":
        return all(len(one) != 1 or ord(one) != node.item for one in spellings)
    if node.op == "LITERAL":
        return any(len(one) == 1 and _is_literal(node, one) for one in spellings)
    negated = bool(node.item) and str(node.item[0][0]) == "NEGATE"
    inside = any(len(one) == 1 and any(_is_of(part, one) for part in node.item) for one in spellings)
    return inside is not negated


def _is_literal(node: _Node, char: str) -> bool:
    wanted = chr(node.item)
    return char == wanted or (bool(node.flags & re.IGNORECASE) and char in (wanted.lower(), wanted.upper()))


def _is_of(part: Any, char: str) -> bool:
    op, argument = str(part[0]), part[1]
    if op == "LITERAL":
        return ord(char) == int(argument)
    if op == "RANGE":
        return int(argument[0]) <= ord(char) <= int(argument[1])
    if op != "CATEGORY":
        return False
    name = str(argument).removeprefix("CATEGORY_")
    wanted = not name.startswith("NOT_")
    kind = name.removeprefix("NOT_")
    is_so = char.isdecimal() if kind == "DIGIT" else char.isspace() if kind == "SPACE" else _kind(char) == "w"
    return is_so is wanted
