"""Limit how much of a zstd stream is decompressed at once.

The module walks from block header to block header (RFC 8878, 3.1.1). A few bytes of a block can hold gigabytes, but no
block holds more than 128 KiB. The module decompresses nothing itself.
"""

_MAGIC = b"\x28\xb5\x2f\xfd"
_FIXED = 5
"""The size of the magic number and of the byte that gives the length of the header."""
_HEADER = 3
_RLE = 1
"""A block of this kind (run-length encoding) is one byte and a count of its repetitions."""
MOST = 8
"""The maximum number of blocks that are decompressed at once: 1 MiB."""
_LITTLE = 1 << 9
"""The number of bytes to feed where the format is not recognized."""


class Blocks:
    """The block ends of one frame, found while its bytes pass."""

    def __init__(self) -> None:
        self.head = b""
        """The start of a header that is still incomplete."""
        self.wants = _FIXED
        self.inside = 0
        """The number of remaining bytes of the current block or header part."""
        self.last = False
        self.strange = False

    def room(self, data: bytes) -> int:
        """Return how many of the next bytes may be fed."""
        at, blocks = 0, int(self.inside > 0)  # a block that began before may give its output now
        while at < len(data) and not self.strange:
            if self.inside:
                step = min(self.inside, len(data) - at)
                self.inside -= step
                at += step
                continue
            if self.last:
                return len(data)  # a checksum, and bytes that are not part of the frame
            if blocks == MOST:
                return at
            part = data[at : at + self.wants - len(self.head)]
            self.head += part
            at += len(part)
            if len(self.head) == self.wants:
                blocks += self._pass()
        return min(at + _LITTLE, len(data)) if self.strange else at

    def _pass(self) -> int:
        """Parse a header and go to its content. Returns the number of blocks that it begins."""
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
    """Return how many bytes of a frame's header follow its descriptor byte."""
    single = descriptor >> 5 & 1
    return (not single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
