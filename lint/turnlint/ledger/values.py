"""Define the values of a ledger: occurrences, their matches, and usable ids."""

from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import Struct

from turnlint.lifecycle import Lifecycle, holds_nothing, lifecycle_of
from turnlint.model import Call, Result, State

How = Literal["in-place", "late", "early", "by-position"]

Odd = Literal[
    "open", "pending", "late", "early", "by-position", "taken", "renamed", "respelled", "server", "duplicate", "orphan"
]  # fmt: skip
"""The irregularities of a conversation.

- `open`, `pending`: a call without a result, and one that may still get its result.
- `late`, `early`, `by-position`: a call whose result is elsewhere.
- `taken`: a call with an id that an earlier call has.
- `renamed`, `respelled`: a call with a result of another name or of another spelling of the id.
- `server`: an irregular call or result of the provider's own tools.
- `duplicate`, `orphan`: a surplus result, and a result without a call.
"""
ODD: frozenset[str] = frozenset(get_args(Odd))

MISSING = frozenset({"", "null"})
"""Ids without a value: SDKs write `null` as a text for an id they did not get (mistral-common 1.13.0)."""

REDACTED = frozenset({"REDACTED", "<REDACTED>", "[REDACTED]", "***", "<UUID>", "XXX"})
"""Replacements of ids by log scrubbers, in upper case. Such an id identifies nothing, so it matches nothing."""
LONGEST_WORD = max(map(len, MISSING | REDACTED))
"""The length above which an id is usable: `upper` never makes a text shorter."""


def is_redacted(identifier: str | None) -> bool:
    return identifier is not None and identifier.upper() in REDACTED


def has_redaction(identifier: str | None) -> bool:
    """Whether a recorder replaced a part of an id, as in `call_REDACTED_1`: another id was sent (dc90fbcfd081105b)."""
    return identifier is not None and "REDACTED" in identifier.upper()


def is_scrubbed(identifier: str) -> bool:
    """Whether a scrubber replaced the id of a record by words, as in `[trimmed for fixture]`."""
    in_brackets = identifier.startswith(("[", "<")) and identifier.endswith(("]", ">"))
    return in_brackets or is_redacted(identifier)


def is_missing(identifier: str | None) -> bool:
    return identifier is None or identifier in MISSING


def usable(identifier: str | None) -> bool:
    """Whether an id can distinguish calls."""
    if identifier is not None and len(identifier) > LONGEST_WORD:
        return True
    return not is_missing(identifier) and not is_redacted(identifier)


def is_adoptable(identifier: str | None) -> bool:
    """Whether a call without an id may get this id of its result: white space is no name of a call."""
    return usable((identifier or "").strip())


class Asked(Struct, gc=False):
    """An occurrence of a call."""

    seq: int
    turn: int
    message: int
    call: Call


class Answered(Struct, gc=False):
    """An occurrence of a result. `turn` is the turn of its window, or -1 outside every window."""

    seq: int
    turn: int
    message: int
    result: Result


class Interaction(Struct):
    """A call with its result, if it has one."""

    asked: Asked
    answer: Answered | None = None
    how: How | None = None
    pending: bool = False
    """Whether nothing follows the open call, so that it may still get its result."""

    @property
    def is_open(self) -> bool:
        """Whether the call has no result, or one that holds nothing and waits for its content."""
        return self.answer is None or holds_nothing(self.answer.result)

    @property
    def lifecycle(self) -> Lifecycle:
        return lifecycle_of(self.answer.result if self.answer else None)

    @property
    def state(self) -> State:
        return self.lifecycle.state


class Ledger(Struct):
    """Every occurrence of a transcript in exactly one place."""

    interactions: tuple[Interaction, ...]
    duplicates: tuple[tuple[Answered, Interaction], ...]
    """Results whose call has another result already, with that call."""
    orphans: tuple[Answered, ...]
    tidy: bool
    """Whether every call has one result, in place and immediately, with distinct ids: pairing rules have no finding."""
    odd: frozenset[Odd] = frozenset()
    """The irregularities of the conversation, so that checks for absent ones are skipped."""

    @property
    def unanswered(self) -> Iterator[Interaction]:
        return (i for i in self.interactions if i.is_open and not i.pending)

    @property
    def pending(self) -> Iterator[Interaction]:
        return (i for i in self.interactions if i.is_open and i.pending)
