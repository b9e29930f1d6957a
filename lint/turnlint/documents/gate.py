"""Where somebody may look at the lines of a log before they are read.

This module owns what is asked of a scanner, what it promises, and whether what was compiled for one is there to help
others. It refuses to know any.
"""

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any, Protocol

from msgspec import Struct


class Span(Struct, gc=False):
    """A line that has to be read."""

    start: int
    end: int
    """Its bytes in the window, without the line end."""
    line: int
    """How many lines of the window stand before it."""
    passed: int
    """How many conversations of the window were vouched for before it."""


class Ended(Struct):
    """Conversations that came to their end while a window was looked at."""

    found: list[Any]


class Scan(Struct):
    """What a scanner says of one window, while it looks at it."""

    spans: Iterable[Span | Ended] = ()
    """In order. What a span holds is read before the next one is asked for."""
    lines: int = 0
    """All lines of the window, once the spans are at their end."""
    passed: int = 0
    """How many conversations it vouches for, by then."""


class Scanner(Protocol):
    """Looks at whole lines first, and tells which of them have to be read.

    It vouches for a line only where reading it would find nothing to say.
    """

    def scan(self, window: bytes, line: int, offset: int, /) -> Scan:
        """The window ends with a line end, or where the log does. It starts with this line, at this byte."""


class Gate(Struct):
    """Where a scanner stands, once it is known which one. Only logs of one record a line come by here."""

    scanner: Scanner | None = None
    passed: int = 0
    """How many conversations it let pass before the record that was given out last."""
    lines: int | None = None
    """How many lines were read, where the log is one of lines."""
    returned: bool = False
    """A line was met that ends with a carriage return."""


def loaded() -> ModuleType | None:
    """What was compiled, once somebody has loaded it to look at much. Where little is read it is done without."""
    return sys.modules.get("turnlint.scan._native")
