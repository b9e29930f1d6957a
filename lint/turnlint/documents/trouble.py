"""Define the kinds of damage to the bytes of a record.

Rules decide how severe each kind is, and how to repair it.
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
    """One damaged place: its kind, its bytes in the record, and the pointer there."""

    kind: Kind
    start: int
    end: int
    at: Pointer = ()
    detail: str = ""
    first: tuple[int, int] | None = None
    """For a duplicate key, the span of the first key."""


class Damage(Struct, frozen=True):
    """A trouble with its record."""

    record: Record
    trouble: Trouble
