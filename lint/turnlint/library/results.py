"""Define the results of `lint` and `fix`."""

from typing import Generic, TypeVar

from msgspec import Struct

from turnlint.model import Fault, Level, Severity
from turnlint.repair.change import What

T = TypeVar("T")


class Related(Struct, frozen=True):
    """Another position that explains the finding."""

    note: str
    pointer: str


class Repair(Struct, frozen=True):
    """The repair that `fix` would do, and its level."""

    level: Level
    title: str


class Finding(Struct, frozen=True):
    """One error in one position. The names are those of the JSON report."""

    code: str
    rule: str
    fault: Fault
    severity: Severity
    message: str
    pointer: str
    """A JSON Pointer into the input."""
    message_index: int | None = None
    conversation_index: int | None = None
    """The conversation with the finding, where the input has several."""
    call_id: str | None = None
    tool: str | None = None
    provider: str | None = None
    provider_error: str | None = None
    """Error message that the provider would return, where it is known."""
    fix: Repair | None = None
    """Nothing where only a person can repair it."""
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
    """The change."""
    finding: str
    """The finding that the change repairs."""
    pointer: str
    """Position of the change in the conversation at that time."""
    message_index: int | None = None
    conversation_index: int | None = None
    call_id: str | None = None
    tool: str | None = None
    provider: str | None = None
    before_id: str | None = None
    after_id: str | None = None


class Fixed(Struct, Generic[T], frozen=True):
    """The result of a repair."""

    value: T
    """Lists and dicts in the shape of the input; equal to the input where there was nothing to repair."""
    changes: tuple[Change, ...] = ()
    left: tuple[Finding, ...] = ()
    """Remaining findings: only a person can repair them, or the options do not allow it."""
    unverified: tuple[str, ...] = ()
    """Reasons why a conversation with a possible repair is unchanged."""
