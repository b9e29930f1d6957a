"""A compressed file, unpacked by a process beside this one.

This module owns that process and the memory that both share. It is a process, not a thread: two threads would wait
for each other at every piece. It refuses to know how anything is packed.
"""

import os
from contextlib import suppress
from mmap import mmap
from typing import Self

from turnlint.apart import fork, wait
from turnlint.documents.source import PIECE, Damaged, Unpacked

_SLOTS = 4
"""So many pieces wait at most. Each is copied once on either side: through a pipe it would be twice, by the kernel."""
_LENGTH = 4
_WORDS = 1 << 12


class Ahead:
    """What another stream gives, read ahead of whoever asks for it."""

    def __init__(self, stream: Unpacked) -> None:
        self.slots = mmap(-1, _SLOTS * PIECE)
        self.filled, fills = os.pipe()
        freed, self.frees = os.pipe()
        self.said, tells = os.pipe()

        def life() -> None:
            for end in (self.filled, self.frees, self.said):
                os.close(end)
            _pump(stream, self.slots, freed, fills, tells)

        self.process = fork(life)
        for end in (freed, fills, tells):
            os.close(end)
        stream.__exit__(None, None, None)
        self.slot = 0
        self.start = self.end = 0
        """What is left of the piece at hand, in its slot."""
        self.position = 0
        self.code: int | None = None

    def read(self, size: int, /) -> bytes:
        """What is left of a piece, up to that size; nothing at the end."""
        if self.start == self.end and not self._take():
            return b""
        at = self.slot * PIECE + self.start
        piece = self.slots[at : at + min(size, self.end - self.start)]
        self.start += len(piece)
        self.position += len(piece)
        if self.start == self.end:
            self.slot = (self.slot + 1) % _SLOTS
            with suppress(BrokenPipeError):  # it has nothing more to fill, and is gone
                os.write(self.frees, b"\0")
        return piece

    def tell(self) -> int:
        return self.position

    def _take(self) -> bool:
        """Wait for the next piece. Raises `Damaged` where there is none because something is wrong."""
        if self.code is not None:
            return False
        self.start, self.end = 0, int.from_bytes(os.read(self.filled, _LENGTH), "little")
        if self.end:
            return True
        damage = os.read(self.said, _WORDS).decode(errors="replace")
        if damage or self._ended():
            raise Damaged(damage or "decompression was stopped")
        return False

    def _ended(self) -> int:
        if self.code is None:
            self.code = wait(self.process)
        return self.code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for end in (self.filled, self.frees, self.said):
            os.close(end)
        self._ended()
        self.slots.close()


def _pump(stream: Unpacked, slots: mmap, freed: int, fills: int, tells: int) -> None:
    """The life of the process."""
    free, slot = _SLOTS, 0
    while piece := stream.next():
        if not free:
            free = len(os.read(freed, _SLOTS))
        if not free:
            break  # nobody reads on
        slots[slot * PIECE : slot * PIECE + len(piece)] = piece
        os.write(fills, len(piece).to_bytes(_LENGTH, "little"))
        free, slot = free - 1, (slot + 1) % _SLOTS
    if stream.damage:
        os.write(tells, stream.damage.encode())
