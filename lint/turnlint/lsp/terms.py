"""Define the settings that the caller of the server supplies for a document."""

from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct

from turnlint.documents.source import Source
from turnlint.engine import Book, Event, Options
from turnlint.model import Level
from turnlint.repair.choosing import Policy


class Terms(Struct, frozen=True):
    """The settings for one document."""

    options: Options
    book: Book
    policy: Policy
    """The limits of a repair."""
    sift: Callable[[Iterable[Event]], Iterable[Event]]
    """Function that removes known findings."""


class House(Protocol):
    """Source of the settings for documents. They are cached until `forget`."""

    def forget(self) -> None:
        """Discard cached settings, which may have changed."""
        ...

    def to_lint(self, source: Source) -> Terms | None:
        """Return the settings to lint a source; nothing if they exclude it. Raises `SettingsError`."""
        ...

    def to_fix(self, source: Source, rule: str | None, level: Level | None = None) -> Terms:
        """Return the settings to repair findings of one rule or of all, at the chosen level.

        Raises `SettingsError`.
        """
        ...
