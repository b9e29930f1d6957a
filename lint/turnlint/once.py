"""What is computed once for a value.

This module owns a property that keeps what it gave. It does what that of `functools` does, without a lock around it: in
Python 3.11 that costs a microsecond for each, and a conversation has a dozen.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - it is used like the one of the standard library
    """Computed when it is first asked for, and then an attribute like any other."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    def __get__(self, one: Any, _: type | None = None) -> T:
        found = one.__dict__[self.name] = self.compute(one)
        return found
