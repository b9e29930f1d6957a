"""The count of accepted conversations, and the interface of a scanner that has one."""

from typing import Protocol

from msgspec import Struct, field

from turnlint.documents.gate import Scan
from turnlint.providers import Chosen

Kind = tuple[str, tuple[Chosen, ...]]
"""The wire of a conversation, and the providers whose clauses were applied."""


class Passed(Struct):
    """The count of accepted conversations and their content."""

    conversations: int = 0
    messages: int = 0
    calls: int = 0
    results: int = 0
    kept_calls: int = 0
    """Results whose call the provider keeps."""
    model_last: int = 0
    """Requests to a Gemini model that they do not name, which end with a message of the model."""
    kinds: dict[Kind, int] = field(default_factory=dict)

    def add(self, messages: int, calls: int, results: int, kept_calls: int) -> None:
        """Count an accepted conversation."""
        self.conversations += 1
        self.messages += messages
        self.calls += calls
        self.results += results
        self.kept_calls += kept_calls


class Counting(Protocol):
    """A scanner that counts what it accepts."""

    @property
    def passed(self) -> Passed: ...

    decides_at_once: bool

    def scan(self, window: bytes, line: int, offset: int, /) -> Scan: ...
