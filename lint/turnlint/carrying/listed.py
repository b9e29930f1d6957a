"""Hold messages that are not read yet, with their pointers.

A wire uses this where its messages are no plain list: one text, a list among other values, an answer of many parts.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from turnlint.model import Message, Misfit, Pointer

Placed = list[tuple[Pointer, Any]]


class Listed(Struct, frozen=True):
    """The messages of a body."""

    turns: Placed
    misfits: tuple[Misfit, ...] = ()
    headless: bool = False
    """Whether the body refers to earlier messages that are stored elsewhere."""

    def below(self, at: Pointer) -> "Listed":
        """Return the same messages for a body below a pointer of a record."""
        turns = [((*at, *place), turn) for place, turn in self.turns]
        return Listed(turns, moved(self.misfits, at), self.headless) if at else self


def listed(turns: Iterable[Any], at: Pointer = ()) -> Listed:
    """Return the messages of a plain list."""
    return Listed([((*at, index), turn) for index, turn in enumerate(turns)])


def moved(misfits: Iterable[Misfit], at: Pointer) -> tuple[Misfit, ...]:
    return tuple(structs.replace(one, at=(*at, *one.at)) for one in misfits)


def unlisted(_: Any) -> Listed | None:
    """Return none, for a wire whose bodies need no such list."""
    return None


def refers_to_none(_: list[Message]) -> bool:
    """Return false, for a wire whose messages cannot refer to others."""
    return False
