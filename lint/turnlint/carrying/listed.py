"""Messages that are not read yet, with their places.

This module owns what a body hands over on a wire that does not keep its messages in a plain list: one
text, a list among other things, an answer of many pieces. It refuses to know any wire.
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
    """The body says that what came before is kept elsewhere."""

    def below(self, at: Pointer) -> "Listed":
        """The same for a body that stands somewhere in a record."""
        turns = [((*at, *place), turn) for place, turn in self.turns]
        return Listed(turns, moved(self.misfits, at), self.headless) if at else self


def listed(turns: Iterable[Any], at: Pointer = ()) -> Listed:
    """A plain list."""
    return Listed([((*at, index), turn) for index, turn in enumerate(turns)])


def moved(misfits: Iterable[Misfit], at: Pointer) -> tuple[Misfit, ...]:
    return tuple(structs.replace(one, at=(*at, *one.at)) for one in misfits)


def unlisted(_: Any) -> Listed | None:
    """Of a wire that needs nothing of this."""
    return None


def refers_to_none(_: list[Message]) -> bool:
    """Of a wire whose messages cannot stand for others."""
    return False
