"""What was let pass without being read.

This module owns that count, and what the engine asks of a scanner beside the scan itself, whose promise stands in
`documents.gate`. It refuses to know any scanner.
"""

from typing import Protocol

from msgspec import Struct, field

from turnlint.documents.gate import Scan
from turnlint.providers import Chosen

Kind = tuple[str, tuple[Chosen, ...]]
"""The wire that a conversation is written on, and the providers it was held against."""


class Passed(Struct):
    """What was vouched for so far."""

    conversations: int = 0
    messages: int = 0
    calls: int = 0
    results: int = 0
    kept_calls: int = 0
    """Results whose call the provider keeps."""
    kinds: dict[Kind, int] = field(default_factory=dict)


class Counting(Protocol):
    """A scanner that tells what it let pass."""

    @property
    def passed(self) -> Passed: ...

    def scan(self, window: bytes, line: int, offset: int, /) -> Scan: ...
