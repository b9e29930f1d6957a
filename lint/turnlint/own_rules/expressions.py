r"""Search for regular expressions in a time that grows with the text alone.

The syntax is that of `re`, without back references and lookaround. `re` itself tries one alternative after another. It
needs 20 s for `ignore.*previous.*instructions` in a hostile text of 32 KiB, and 10 s for `\s+$` in 64 KiB (2026-11).
This search follows all alternatives at once. `re` validates the expression, and decides which characters and positions
each part of it matches.
"""

import re
import warnings
from functools import lru_cache

from msgspec import Struct

from turnlint.errors import ExpressionError

MAX_NODES = 2000
"""Limit of an expression after its counted repeats are written out."""
MAX_CACHED_NODES = 200_000
"""Limit of the cache of states. A full cache is cleared."""
_LAST = "\n\n"
"""Key of a line end at the end of the text: `$` also matches before it."""
_FLAGS = {one: getattr(re, one.upper()) for one in "aiLmsux"}
_HEX = "[0-9a-fA-F]"
_ATOM = rf"""
  \((?P<open>\?(?P<syntax>\#[^)]*\)|P<\w+>|(?P<on>[aiLmsux]*)(?:-(?P<off>[imsx]+))?(?P<scope>[:)])|P=|<?[=!]|[>(]))?
| (?P<close>\))
| (?P<bar>\|)
| (?P<repeat>[*+?]|\{{(?:(?P<least>\d+)(?P<comma>,(?P<most>\d*))?|,(?P<limit>\d*))\}})(?P<how>[?+]?)
| (?P<place>[\^$]|\\[AbBZz])
| (?P<char>\[\^?\]?(?:\\.|[^\]\\])*\]
  | \\(?:x{_HEX}{{2}}|u{_HEX}{{4}}|U{_HEX}{{8}}|N\{{[^}}]*\}}|0[0-7]{{0,2}}|[1-3][0-7]{{2}}|[^1-9])
  | [^\\])
| (?P<reference>\\\d\d?)
"""
_TOKEN = re.compile(_ATOM, re.VERBOSE | re.DOTALL)
_VERBOSE_TOKEN = re.compile(rf"(?P<space>\s+|\#[^\n]*)|{_ATOM}", re.VERBOSE | re.DOTALL)
_UNSUPPORTED = {
    "P=": "a reference back", "(": "a reference back", ">": "an atomic group",
    **dict.fromkeys(("=", "!", "<=", "<!"), "looking ahead or behind"),
}  # fmt: skip


class _Char(Struct, frozen=True):
    """Part of an expression that matches one character."""

    source: str
    flags: int


class _Place(Struct, frozen=True):
    """Part of an expression that matches a place between characters."""

    source: str
    flags: int


class _Group(Struct, frozen=True):
    ways: list[list["_Part"]]


class _Repeat(Struct, frozen=True):
    part: "_Part"
    least: int
    most: int | None


_Part = _Char | _Place | _Group | _Repeat


class _Node(Struct):
    """State of the automaton, with its next states. It matches one character, a position or nothing."""

    pattern: re.Pattern[str] | None = None
    is_place: bool = False
    then: tuple[int, ...] = ()


class _State(Struct, eq=False):
    """Nodes that a search may be at, after a character of some kind."""

    nodes: frozenset[int]
    before: str
    steps: dict[str, "_State"] = {}


@lru_cache(maxsize=256)
def expression(text: str) -> "Expression":
    return Expression(text)


class Expression:
    """A compiled expression. Raises `ExpressionError` if it is invalid, unsupported or too large."""

    def __init__(self, text: str) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                flags = re.compile(text).flags
        except re.error as error:
            place = f" at character {error.pos + 1}" if error.pos is not None else ""
            raise ExpressionError(f"is not a valid regular expression: {error.msg}{place}") from None
        except (RecursionError, OverflowError):
            raise ExpressionError("is too large for a regular expression") from None
        parts = _parse(text, _supported(flags))
        self.nodes: list[_Node] = []
        self.end = self._add(_Node())
        try:
            self.start = self._add_sequence(parts, self.end)
        except RecursionError:
            raise ExpressionError("is too large for a regular expression") from None
        self.first = self._first()
        self.literal, self.ignores_case = _longest_literal(parts, flags)
        self.found = _State(frozenset({-1}), "")
        self._clear()

    def is_in(self, text: str) -> bool:
        """Whether the text contains a match."""
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
        """Whether the text contains the characters that every match has. Most texts do not."""
        if self.ignores_case:
            return not text.isascii() or self.literal in text.lower()
        return self.literal in text

    # Conversion of an expression to nodes, from its end to its start.

    def _add(self, node: _Node) -> int:
        if len(self.nodes) >= MAX_NODES:
            raise ExpressionError("is too large after its repeats are expanded")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _add_sequence(self, parts: list[_Part], then: int) -> int:
        for part in reversed(parts):
            then = self._add_part(part, then)
        return then

    def _add_part(self, part: _Part, then: int) -> int:
        if isinstance(part, _Group):
            ways = tuple(self._add_sequence(way, then) for way in part.ways)
            return ways[0] if len(ways) == 1 else self._add(_Node(then=ways))
        if isinstance(part, _Repeat):
            return self._add_repeat(part, then)
        return self._add(_Node(_compiled(part.source, part.flags), isinstance(part, _Place), (then,)))

    def _add_repeat(self, repeat: _Repeat, then: int) -> int:
        if repeat.most is None:
            loop = self._add(_Node())
            self.nodes[loop].then = (self._add_part(repeat.part, loop), then)
            then = loop
        else:
            for _ in range(repeat.most - repeat.least):
                then = self._add(_Node(then=(self._add_part(repeat.part, then), then)))
        for _ in range(repeat.least):
            before, then = then, self._add_part(repeat.part, then)
            if then == before:  # an empty group
                break
        return then

    def _first(self) -> re.Pattern[str] | None:
        """Return a pattern of the first characters of all matches; none if a match can begin without a character."""
        chars = []
        waiting, seen = [self.start], set()
        while waiting:
            number = waiting.pop()
            node = self.nodes[number]
            if number in seen:
                continue
            seen.add(number)
            if node.is_place or number == self.end:
                return None
            if node.pattern is None:
                waiting += node.then
            else:
                on = "".join(one for one, flag in _FLAGS.items() if one in "is" and node.pattern.flags & flag)
                chars.append(f"(?{on}:{node.pattern.pattern})")
        return _compiled("|".join(chars), 0)

    # Transitions between states.

    def _clear(self) -> None:
        self.count = 0
        self.known: dict[tuple[frozenset[int], str], _State] = {}
        self.idle = {kind: self._state(frozenset(), kind) for kind in ("", "\n", "w", " ")}

    def _state(self, nodes: frozenset[int], before: str) -> _State:
        return self.known.setdefault((nodes, before), _State(nodes, before))

    def _step(self, state: _State, char: str) -> _State:
        """Return the state after one more character; `found` if a match ends before it."""
        reached = self._reached(state, char)
        if self.end in reached:
            return self.found
        passed = {then for one in reached if self._takes(one, char[:1]) for then in self.nodes[one].then}
        if self.count >= MAX_CACHED_NODES:
            self._clear()
        self.count += 1 + len(passed)
        following = self._state(frozenset(passed), _kind(char[:1]))
        state.steps[char] = following
        return following

    def _takes(self, number: int, char: str) -> bool:
        node = self.nodes[number]
        return node.pattern is not None and not node.is_place and node.pattern.fullmatch(char) is not None

    def _reached(self, state: _State, char: str) -> set[int]:
        """Return all nodes that need no character, from the state and from the start."""
        around = state.before + (char[:1] if char in ("", _LAST) else char + " ")
        waiting, reached = [*state.nodes, self.start], set[int]()
        while waiting:
            number = waiting.pop()
            if number in reached:
                continue
            reached.add(number)
            node = self.nodes[number]
            if node.pattern is None or (node.is_place and node.pattern.match(around, len(state.before))):
                waiting += node.then
        return reached


def _parse(text: str, flags: int) -> list[_Part]:
    """Parse a valid expression."""
    stack: list[tuple[int, list[list[_Part]]]] = [(flags, [[]])]
    at = 0
    while at < len(text):
        flags, ways = stack[-1]
        token = (_VERBOSE_TOKEN if flags & re.VERBOSE else _TOKEN).match(text, at)
        assert token, "the expression is valid"
        at = token.end()
        part: _Part | None = None
        if token["reference"]:
            raise _unsupported("a reference back")
        if token["char"]:
            part = _Char(token["char"], flags)
        elif token["place"]:
            part = _Place(token["place"], flags)
        elif token["repeat"]:
            part = _repeat(ways[-1].pop(), token)
        elif token["bar"]:
            ways.append([])
        elif token["close"]:
            _, ways = stack.pop()
            part, ways = _Group(ways), stack[-1][1]
        elif token[0].startswith("("):
            if (syntax := token["syntax"] or "") in _UNSUPPORTED:
                raise _unsupported(_UNSUPPORTED[syntax])
            if token["scope"] != ")" and not syntax.startswith("#"):
                on, off = (sum(_FLAGS[one] for one in token[name] or "") for name in ("on", "off"))
                stack.append((_supported((flags | on) & ~off), [[]]))
        if part is not None:
            ways[-1].append(part)
    _, ways = stack.pop()
    return ways[0] if len(ways) == 1 else [_Group(ways)]


def _repeat(part: _Part, token: re.Match[str]) -> _Repeat:
    if token["how"] == "+":
        raise _unsupported("a possessive repeat")
    if token["repeat"] in "*+?":
        return _Repeat(part, int(token["repeat"] == "+"), 1 if token["repeat"] == "?" else None)
    least = int(token["least"] or 0)
    most = token["most"] if token["comma"] else token["limit"]
    if token["least"] and not token["comma"]:
        return _Repeat(part, least, least)
    return _Repeat(part, least, int(most) if most else None)


def _longest_literal(parts: list[_Part], flags: int) -> tuple[str, bool]:
    """Return the longest run of plain characters that every match has, and whether their case does not matter."""
    runs, ignores_case = [""], bool(flags & re.IGNORECASE)
    for part in parts:
        if isinstance(part, _Char) and len(part.source) == 1 and part.source != "." \
                and (not ignores_case or part.source.isascii()):  # fmt: skip
            runs[-1] += part.source
        else:
            runs.append("")
    longest = max(runs, key=len)
    return longest.lower() if ignores_case else longest, ignores_case


def _supported(flags: int) -> int:
    if flags & (re.ASCII | re.LOCALE):
        raise ExpressionError("the flags a and L are not supported")
    return flags


def _unsupported(name: str) -> ExpressionError:
    return ExpressionError(f"{name} is not supported: its run time is not bounded")


@lru_cache(maxsize=1024)
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(source, flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL))


def _kind(char: str) -> str:
    """Return one representative of all characters that positions do not distinguish."""
    return char if char in ("", "\n") else "w" if char.isalnum() or char == "_" else " "
