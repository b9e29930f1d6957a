"""Findings to what people and programs read, one module a format.

This package owns outputs. A sink takes events and writes text through `escape`, the only door to a
terminal or a log. It refuses to look at conversations.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from turnlint.engine import Event, Tally

FORMATS = ("text", "concise", "json", "jsonl")
MODULES = {"text": "text", "concise": "concise", "json": "machine", "jsonl": "machine"}

Write = Callable[[str], object]


class Look(Protocol):
    """How the text for people is to look."""

    @property
    def width(self) -> int: ...
    @property
    def color(self) -> bool: ...
    @property
    def statistics(self) -> bool: ...


class Sink(Protocol):
    """Somewhere findings go."""

    def take(self, event: Event) -> None: ...
    def finish(self, tally: Tally, *, complete: bool) -> None: ...


def open_sink(name: str, write: Write, look: Look) -> Sink:
    module = import_module(f"turnlint.report.{MODULES[name]}")
    sink: Sink = module.open_sink(name, write, look)
    return sink
