"""What is worked out once.

This module owns a property that keeps what it gave, and a table of what was worked out that never holds too much. The
property does what that of `functools` does, without a lock around it: in Python 3.11 that costs a microsecond for each, and
a conversation has a dozen. It refuses to know what is kept.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

K = TypeVar("K")
T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - it is used like the one of the standard library
    """Computed when it is first asked for, and then an attribute like any other."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, one: None, _: type) -> Self: ...
    @overload
    def __get__(self, one: object, _: type | None = None) -> T: ...
    def __get__(self, one: Any, _: type | None = None) -> Self | T:
        if one is None:
            return self
        found = one.__dict__[self.name] = self.compute(one)
        return found


class Kept(dict[K, T]):
    """What was found, by what it was found for. Before it is too much all of it is let go, to be found again."""

    def __init__(self, most: int, room: int) -> None:
        super().__init__()
        self.most = most
        self.room = room
        """So much may be kept beside one that is larger: bytes, or letters."""
        self.held = 0

    def has_room(self, size: int) -> bool:
        return len(self) < self.most and self.held + size <= self.room

    def keep(self, key: K, found: T, size: int) -> T:
        if not self.has_room(size):
            self.clear()
            self.held = 0
        self.held += size
        self[key] = found
        return found
