"""Define the steps of a repair.

A rule describes the repair of its finding by these values about messages and pieces, without bytes. `repair`
resolves conflicts of steps and encodes them for a format.
"""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from turnlint.model import Omitted, Pointer, Role


class Piece(Struct, frozen=True, gc=False):
    """The position of a call, a result or another block; an empty pointer below the message means all of it."""

    message: int
    at: "Pointer" = ()


class Settle(Struct, frozen=True):
    """Move the result to the place of the results of its call."""

    call: Piece
    result: Piece


class Close(Struct, frozen=True):
    """Add a placeholder result for the call."""

    call: Piece
    pending: bool = False
    """Whether nothing follows the call, so that it may still get a result: then only a user can request this step."""


class Recall(Struct, frozen=True):
    """Add the call of the result again, from a place that still has it."""

    result: Piece
    call: "Omitted"


class Restore(Struct, frozen=True):
    """Add the result of the call again, from a place that still has it."""

    call: Piece
    result: "Omitted"


class Drop(Struct, frozen=True):
    """Remove a piece; the journal keeps it."""

    piece: Piece


class Name(Struct, frozen=True):
    """Give a call or a result the id of the other."""

    piece: Piece
    id: str


class Rename(Struct, frozen=True):
    """Give a call, or a result without a call, a new valid id, and its results as well."""

    piece: Piece


class Sort(Struct, frozen=True):
    """Reorder these results into this order."""

    results: tuple[Piece, ...]


class Apart(Struct, frozen=True):
    """Move all blocks that are no results into a message of their own behind this one."""

    message: int


class Split(Struct, frozen=True):
    """Split the message at its results, and put each result into a message of results."""

    message: int


class Unmix(Struct, frozen=True):
    """Move the calls of a message of another role into messages of the model, each before its result."""

    message: int


class Shift(Struct, frozen=True):
    """Move a block to another place of its list: before the block of this index."""

    piece: Piece
    before: int


class Join(Struct, frozen=True):
    """Append the blocks of a message to an earlier one."""

    message: int
    onto: int


class Move(Struct, frozen=True):
    """Move a message before the one of this index."""

    message: int
    before: int


class Say(Struct, frozen=True):
    """Add a message with a few neutral words before the one of this index."""

    before: int
    role: "Role"
    text: str


class Translate(Struct, frozen=True):
    """Rewrite a message in the encoding of another wire for this one."""

    message: int


class Put(Struct, frozen=True):
    """Write a JSON value, in place of an existing one or as a new member of its object."""

    at: "Pointer"
    """Pointer in the record of the message, or in that of the finding."""
    data: bytes
    message: int | None = None


class Relink(Struct, frozen=True):
    """Change the parent of the finding's record, so that more of the session is read."""

    at: "Pointer"
    parent: str | None


class Take(Struct, frozen=True):
    """Remove a member or an element; the journal keeps it."""

    at: "Pointer"
    message: int | None = None


class Patch(Struct, frozen=True):
    """Replace bytes of the finding's record, where there is no JSON yet to have pointers."""

    start: int
    end: int
    data: bytes


Step = (
    Settle
    | Close
    | Recall
    | Restore
    | Drop
    | Name
    | Rename
    | Sort
    | Apart
    | Split
    | Unmix
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
