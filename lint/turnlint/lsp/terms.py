"""What the server has to be told by whoever starts it.

This module owns that contract: what holds for a document, and that it may be unusable. It refuses to know files of
settings and command lines.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct

from turnlint.documents.source import Source
from turnlint.engine import Book, Event, Options
from turnlint.model import Level
from turnlint.repair.choosing import Policy


class Terms(Struct, frozen=True):
    """What holds for one document."""

    options: Options
    book: Book
    policy: Policy
    """How far a repair may go."""
    sift: Callable[[Iterable[Event]], Iterable[Event]]
    """Takes out what is known already."""


class House(Protocol):
    """Who knows the settings of a document. They are worked out once, until they are forgotten."""

    def forget(self) -> None:
        """What was read of settings may have changed."""
        ...

    def to_lint(self, source: Source) -> Terms | None:
        """Nothing for what the settings exclude. Raises `SettingsError`."""
        ...

    def to_fix(self, source: Source, rule: str | None, level: Level | None = None) -> Terms:
        """The same for a repair, of one rule's findings or of all, at a level that the user chose. Raises `SettingsError`."""
        ...
