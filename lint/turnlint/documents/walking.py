"""The end of a JSON value in a stream, found without parsing.

A walk holds brackets and strings only. Where the window of the stream ends inside the value, the walk reads on and
continues where it stopped, so that the cost is linear in the value.
"""

import re
from typing import Protocol

from msgspec import Struct

_STRUCTURE = rb'["\[\]{}]'
_IN_STRING = rb'["\\]'
_SCALAR = rb'[^\s"\[\]{},]*'


class Window(Protocol):
    """A stream with a sliding window of it."""

    window: bytes
    pos: int

    def more(self) -> bool: ...
    def peek(self, size: int) -> bytes: ...


class Walk(Struct):
    """How far a value was walked, from the place read to.

    When the window runs out inside the value the walk goes on where it stopped, so the cost is linear in the value.
    """

    at: int = 0
    depth: int = 0
    in_string: bool = False
    in_scalar: bool = False

    def on(self, tape: Window) -> None:
        """Walk to the end of the value, reading on as far as it takes; or as far as the limit allows."""
        if not (self.depth or self.in_string or self.in_scalar):
            self.in_scalar = tape.peek(self.at + 1)[self.at :] not in (b'"', b"{", b"[")
            self.at += self.in_scalar
        if self.in_scalar:
            self.at = _past(tape, self.at, _SCALAR)
            return
        while True:
            self.at, self.depth, self.in_string, done = _walk(
                tape.window, tape.pos, self.at, self.depth, self.in_string
            )
            if done or not tape.more():
                return


def _past(tape: Window, at: int, run: bytes) -> int:
    """The end of a run of bytes, wherever the window ends."""
    while True:
        match = re.compile(run).match(tape.window, tape.pos + at)
        at = match.end() - tape.pos if match else at
        if tape.pos + at < len(tape.window) or not tape.more():
            return min(at, len(tape.window) - tape.pos)


def _walk(window: bytes, base: int, at: int, depth: int, in_string: bool) -> tuple[int, int, bool, bool]:
    """Walk on through one window. Returns the place relative to `base`, the state, and whether the value ended."""
    pos = base + at
    inside, outside = re.compile(_IN_STRING), re.compile(_STRUCTURE)
    while match := (inside if in_string else outside).search(window, pos):
        mark = match[0]
        if mark == b"\\":
            if match.end() == len(window):
                return match.start() - base, depth, True, False
            pos = match.end() + 1
            continue
        pos = match.end()
        if mark == b'"':
            in_string = not in_string
            if not in_string and depth <= 0:
                return pos - base, 0, False, True
        elif mark in b"{[":
            depth += 1
        elif depth <= 1:
            return pos - base, 0, False, True
        else:
            depth -= 1
    return len(window) - base, depth, in_string, False
