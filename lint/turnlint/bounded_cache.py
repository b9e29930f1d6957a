"""Cache that is cleared when it reaches a limit of its size."""

from typing import TypeVar

K = TypeVar("K")
T = TypeVar("T")


class BoundedCache(dict[K, T]):
    """Values by their keys, cleared before there are too many items or bytes."""

    def __init__(self, max_items: int, max_bytes: int) -> None:
        super().__init__()
        self.max_items = max_items
        self.max_bytes = max_bytes
        """Limit of the sizes that `put` was given, in bytes or letters. A single larger item is kept alone."""
        self.size = 0

    def has_room(self, size: int) -> bool:
        return len(self) < self.max_items and self.size + size <= self.max_bytes

    def put(self, key: K, value: T, size: int) -> T:
        """Add a value that has this size, and return it."""
        if not self.has_room(size):
            self.clear()
            self.size = 0
        self.size += size
        self[key] = value
        return value
