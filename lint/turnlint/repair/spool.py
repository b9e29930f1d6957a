"""A list that moves to a temporary file when it gets long, for reports on files with many repairs."""

from collections.abc import Iterable, Iterator
from typing import IO, Generic, TypeVar

T = TypeVar("T")

MAX_ITEMS_IN_MEMORY = 10_000
ITEMS_PER_BATCH = 1_000


class Spool(Generic[T]):
    """Values in their order. They are added at the end and read from the start, as often as needed."""

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._last: list[T] = []
        """The values that are not in the file."""
        self._file: IO[bytes] | None = None
        self._batches = 0
        self._length = 0
        self.extend(values)

    def append(self, value: T) -> None:
        """Add a value."""
        self._last.append(value)
        self._length += 1
        if len(self._last) > MAX_ITEMS_IN_MEMORY:
            self._move()

    def extend(self, values: Iterable[T]) -> None:
        """Add some values."""
        for value in values:
            self.append(value)

    def _move(self) -> None:
        """Move the values in memory to the end of the file. Few runs need what this imports."""
        from pickle import dump

        if self._file is None:
            from tempfile import TemporaryFile

            self._file = TemporaryFile(prefix="turnlint-")  # noqa: SIM115 - it is read until the report is written
        self._file.seek(0, 2)
        for start in range(0, len(self._last), ITEMS_PER_BATCH):
            dump(self._last[start : start + ITEMS_PER_BATCH], self._file)
            self._batches += 1
        self._last = []

    def __iter__(self) -> Iterator[T]:
        if self._batches:
            from pickle import load
        place = 0
        for _ in range(self._batches):
            assert self._file is not None
            self._file.seek(place)  # another reader may have moved it
            values: list[T] = load(self._file)  # noqa: S301 - the file has no name, so that only this process has it
            place = self._file.tell()
            yield from values
        yield from self._last

    def __len__(self) -> int:
        return self._length
