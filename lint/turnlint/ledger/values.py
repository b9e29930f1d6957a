"""What a ledger is made of.

This module owns occurrences and what became of them, and which ids can tell one call from another. It
refuses to pair anything.
"""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from turnlint.model import Call, Result, State

How = Literal["in-place", "late", "early", "by-position"]

Odd = Literal[
    "open", "pending", "late", "early", "by-position", "taken", "renamed", "respelled", "server", "duplicate", "orphan"
]  # fmt: skip
"""A call without a result, and one that may still get it; one whose result stands elsewhere, three ways; one under an
id that was taken, or with a result of another name, or of another spelling of the id; one of the provider's own that is any of this; a result too many;
one that answers nothing."""

MISSING = frozenset({"", "null"})
"""Ids that say nothing: `null` as a text is what SDKs write for an id they were not given (mistral-common 1.13.0)."""

REDACTED = frozenset({"REDACTED", "<REDACTED>", "[REDACTED]", "***", "<UUID>", "XXX", "xxx"})
"""What log scrubbers put where an id was. Such an id names nothing, so it pairs nothing."""
LONGEST_WORD = max(map(len, MISSING | REDACTED))
"""No id that is longer says nothing: capitals are never fewer than what they are made from."""


def is_redacted(identifier: str | None) -> bool:
    return identifier is not None and (identifier in REDACTED or identifier.upper() in REDACTED)


def has_redaction(identifier: str | None) -> bool:
    """Whether a recorder wrote a part of an id, as in `call_REDACTED_1`: another id was sent (dc90fbcfd081105b)."""
    return identifier is not None and "REDACTED" in identifier.upper()


def is_scrubbed(identifier: str) -> bool:
    """Whether a scrubber wrote words where the id of a record was, as in `[trimmed for fixture]`."""
    in_brackets = identifier.startswith(("[", "<")) and identifier.endswith(("]", ">"))
    return in_brackets or is_redacted(identifier)


def is_missing(identifier: str | None) -> bool:
    return identifier is None or identifier in MISSING


def usable(identifier: str | None) -> bool:
    """True for an id that can tell one call from another."""
    if identifier is not None and len(identifier) > LONGEST_WORD:
        return True
    return not is_missing(identifier) and not is_redacted(identifier)


class Asked(Struct, gc=False):
    """A call at its place: the occurrence."""

    seq: int
    turn: int
    message: int
    call: Call


class Answered(Struct, gc=False):
    """A result at its place. `turn` is the turn whose window it stands in, -1 outside every window."""

    seq: int
    turn: int
    message: int
    result: Result


class Interaction(Struct):
    """A call, and the result that answers it where one does."""

    asked: Asked
    answer: Answered | None = None
    how: How | None = None
    pending: bool = False
    """Nothing follows the open call: it may still be answered."""

    @property
    def state(self) -> State:
        return self.answer.result.state if self.answer else "pending"


class Ledger(Struct):
    """Every occurrence of a transcript in exactly one place."""

    interactions: tuple[Interaction, ...]
    duplicates: tuple[tuple[Answered, Interaction], ...]
    """Results whose call is already answered, with that call."""
    orphans: tuple[Answered, ...]
    tidy: bool
    """Every turn answered at once, in place, once, with distinct ids: pairing rules have nothing to say."""
    odd: frozenset[Odd] = frozenset()
    """What there is at all, so that nobody looks for what there is not."""

    @property
    def unanswered(self) -> Iterator[Interaction]:
        return (i for i in self.interactions if i.answer is None and not i.pending)

    @property
    def pending(self) -> Iterator[Interaction]:
        return (i for i in self.interactions if i.answer is None and i.pending)
