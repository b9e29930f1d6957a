"""What a repair does to a conversation, one step at a time.

This module owns the vocabulary in which a rule says how its finding is repaired: values about messages and
pieces, before anyone asks for bytes. It refuses to know how a format spells any of it, and what is done where
two steps meet; `repair` knows that.
"""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from turnlint.model import Pointer, Role


class Piece(Struct, frozen=True, gc=False):
    """A call, a result or another block, by its place; nothing below the message stands for all of it."""

    message: int
    at: "Pointer" = ()


class Settle(Struct, frozen=True):
    """The result goes where results of its call belong."""

    call: Piece
    result: Piece


class Close(Struct, frozen=True):
    """The call gets a result that says that none is known."""

    call: Piece
    pending: bool = False
    """Nothing follows it, so that it may still be answered: that is done only when it was asked for."""


class Drop(Struct, frozen=True):
    """A piece goes; the journal keeps it."""

    piece: Piece


class Name(Struct, frozen=True):
    """A call or a result gets the id that the other one has."""

    piece: Piece
    id: str


class Rename(Struct, frozen=True):
    """The call, or the result that answers none, gets an id that will do, and its results with it."""

    piece: Piece


class Sort(Struct, frozen=True):
    """These results take each other's places, so that they stand in this order."""

    results: tuple[Piece, ...]


class Apart(Struct, frozen=True):
    """What is no result goes into a message of its own behind this one."""

    message: int


class Split(Struct, frozen=True):
    """The message becomes several at its results, each of them in a message of results."""

    message: int


class Shift(Struct, frozen=True):
    """A block goes to another place of its list: before that of this index."""

    piece: Piece
    before: int


class Join(Struct, frozen=True):
    """The blocks of a message go to the end of an earlier one."""

    message: int
    onto: int


class Move(Struct, frozen=True):
    """A message goes before the one of this index."""

    message: int
    before: int


class Say(Struct, frozen=True):
    """A message that says a few neutral words is put before the one of this index."""

    before: int
    role: "Role"
    text: str


class Translate(Struct, frozen=True):
    """A message that is written for another wire is written for this one."""

    message: int


class Put(Struct, frozen=True):
    """A JSON value is written, in place of what is there or as a new member of its object."""

    at: "Pointer"
    """In the record of the message, or in that of the finding."""
    data: bytes
    message: int | None = None


class Relink(Struct, frozen=True):
    """The record of the finding names another one as the one before it, so that more of the session is read."""

    at: "Pointer"
    parent: str | None


class Take(Struct, frozen=True):
    """A member or an element goes; the journal keeps it."""

    at: "Pointer"
    message: int | None = None


class Patch(Struct, frozen=True):
    """Bytes of the finding's record are replaced, where there is no JSON yet that could have places."""

    start: int
    end: int
    data: bytes


Step = (
    Settle
    | Close
    | Drop
    | Name
    | Rename
    | Sort
    | Apart
    | Split
    | Shift
    | Join
    | Move
    | Say
    | Translate
    | Put
    | Relink
    | Take
    | Patch
)
