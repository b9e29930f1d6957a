"""How much of a zstd stream may be unpacked at once.

This module owns the walk from block to block (RFC 8878, 3.1.1): a few of their bytes can hold gigabytes, but no block
holds more than 128 KiB. It refuses to unpack anything.
"""

_MAGIC = b"\x28\xb5\x2f\xfd"
_FIXED = 5
"""The magic number, and the byte that says how long the header is."""
_HEADER = 3
_RLE = 1
"""A block of this kind is one byte, however often that is repeated."""
MOST = 8
"""So many blocks are unpacked at once, which is 1 MiB."""
_LITTLE = 1 << 9
"""So much where no blocks are to be seen."""


class Blocks:
    """Where the blocks of one frame end, as its bytes come by."""

    def __init__(self) -> None:
        self.head = b""
        """The beginning of a header whose rest has not come yet."""
        self.wants = _FIXED
        self.inside = 0
        """How much of what is being passed is still to come."""
        self.last = False
        self.strange = False

    def room(self, data: bytes) -> int:
        """How many of the bytes that come next may be fed."""
        at, blocks = 0, int(self.inside > 0)  # what began before may come out now
        while at < len(data) and not self.strange:
            if self.inside:
                step = min(self.inside, len(data) - at)
                self.inside -= step
                at += step
                continue
            if self.last:
                return len(data)  # a checksum, and what the frame does not hold
            if blocks == MOST:
                return at
            part = data[at : at + self.wants - len(self.head)]
            self.head += part
            at += len(part)
            if len(self.head) == self.wants:
                blocks += self._pass()
        return min(at + _LITTLE, len(data)) if self.strange else at

    def _pass(self) -> int:
        """Go on behind a header. Returns how many blocks it begins."""
        head, self.head = self.head, b""
        if self.wants == _FIXED:
            self.wants = _HEADER
            self.strange = not head.startswith(_MAGIC)
            self.inside = _more(head[-1])
            return 0
        said = int.from_bytes(head, "little")
        self.last = bool(said & 1)
        self.inside = 1 if said >> 1 & 3 == _RLE else said >> 3
        return 1


def _more(descriptor: int) -> int:
    """How much of a frame's header is behind the byte that tells it."""
    single = descriptor >> 5 & 1
    return (not single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
