"""What `lint` and `fix` give back.

This module owns those frozen values. It refuses to compute them.
"""

from typing import Generic, TypeVar

from msgspec import Struct

from turnlint.model import Fault, Level, Severity
from turnlint.repair.change import What

T = TypeVar("T")


class Related(Struct, frozen=True):
    """Another place that belongs to the story."""

    note: str
    pointer: str


class Repair(Struct, frozen=True):
    """What `fix` would do, and how much is given up for it."""

    level: Level
    title: str


class Finding(Struct, frozen=True):
    """One thing that is wrong, in one place. The names are those of the JSON report."""

    code: str
    rule: str
    fault: Fault
    severity: Severity
    message: str
    pointer: str
    """A JSON Pointer into what was given."""
    message_index: int | None = None
    conversation_index: int | None = None
    """Which conversation it is in, where several were given."""
    call_id: str | None = None
    tool: str | None = None
    provider: str | None = None
    provider_error: str | None = None
    """What the provider would answer, where that is known."""
    fix: Repair | None = None
    """Nothing where nobody but a person can repair it."""
    related: tuple[Related, ...] = ()

    def __str__(self) -> str:
        from turnlint.report.escape import visible

        here = f" at {self.provider}" if self.fault == "projection" and self.provider else ""
        said = (
            f"{self.code}[{self.severity}] {self.rule}{here}: {self.message} ({self.pointer or 'the whole'})"
        )
        return visible(said)


class Change(Struct, frozen=True):
    """One change of a repair. The names are those of the JSON report."""

    code: str
    rule: str
    level: Level
    what: What
    message: str
    """What was done."""
    finding: str
    """What was wrong."""
    pointer: str
    """Where it was made, in the conversation as it was then."""
    message_index: int | None = None
    conversation_index: int | None = None
    call_id: str | None = None
    tool: str | None = None
    provider: str | None = None
    before_id: str | None = None
    after_id: str | None = None


class Fixed(Struct, Generic[T], frozen=True):
    """What became of a conversation."""

    value: T
    """Lists and dicts, in the shape that was given; the same as before where nothing was to be done."""
    changes: tuple[Change, ...] = ()
    left: tuple[Finding, ...] = ()
    """What is still wrong: not repaired by anybody but a person, or not with these options."""
    unverified: tuple[str, ...] = ()
    """Why a conversation was left as it is although there was something to do."""
