"""Find the end of a JSON value in a stream without parsing it.

Where the window of the stream ends inside the value, the walk reads more and continues where it stopped. The cost is
linear in the value.
"""

import re
from typing import Protocol

from turnlint.documents.tokens import Skipper

_SCALAR = re.compile(rb'[^\s"\[\]{},]*+')
"""Text between values is one value, with its colons."""


class Window(Protocol):
    """A stream with a sliding window of it."""

    window: bytes
    pos: int

    def more(self) -> bool: ...
    def peek(self, size: int) -> bytes: ...


class Walk(Skipper):
    """The progress of a walk over a value, from the position of the stream."""

    at: int = 0
    in_scalar: bool = False

    def on(self, tape: Window) -> None:
        """Walk to the end of the value, reading more as needed, up to the limit."""
        if not (self.depth or self.in_string or self.in_scalar):
            head = tape.peek(self.at + 1)[self.at :]
            self.in_string = head == b'"'
            self.in_scalar = head not in (b'"', b"{", b"[")
            self.at += self.in_string or self.in_scalar
        while True:
            if self.in_scalar:
                match = _SCALAR.match(tape.window, tape.pos + self.at)
                self.at = (match.end() if match else len(tape.window)) - tape.pos
                is_done = tape.pos + self.at < len(tape.window)
            else:
                self.at = self.skip(tape.window, tape.pos + self.at) - tape.pos
                is_done = self.is_done
            if is_done or not tape.more():
                return
