"""What can be wrong with bytes before anyone asks what they mean.

This module owns the kinds of damage a reader can name. It refuses to judge them: how bad each is,
and what to do, is a rule's business.
"""

from typing import Literal

from msgspec import Struct

from turnlint.model import Pointer, Record

Kind = Literal[
    "bad-escape",
    "bad-number",
    "big-integer",
    "blank-line",
    "byte-order-mark",
    "carriage-returns",
    "compressed-badly",
    "control-character",
    "duplicate-key",
    "duplicate-keys",
    "huge-record",
    "invalid-utf-8",
    "joined-records",
    "lone-surrogate",
    "not-a-number",
    "python-literal",
    "split-record",
    "stray",
    "syntax",
    "too-deep",
    "too-long",
    "too-many",
    "torn",
    "trailing-comma",
    "utf-16",
]


class Trouble(Struct, frozen=True):
    """One piece of damage: what, in which record, at which bytes of it, under which pointer."""

    kind: Kind
    start: int
    end: int
    at: Pointer = ()
    detail: str = ""
    first: tuple[int, int] | None = None
    """The span this one repeats, for a duplicate key."""


class Damage(Struct, frozen=True):
    """A trouble with its record."""

    record: Record
    trouble: Trouble
