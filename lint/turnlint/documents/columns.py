"""Measure the width of bytes in characters, bytes and UTF-16 code units."""

Extra = tuple[int, int]
"""The number of bytes, and of UTF-16 code units, beyond the number of characters."""


SHORT = 16
"""Lines with fewer bytes on average are mostly blank."""
PARTS, PART_BYTES = 16, 256


def measure(piece: bytes) -> tuple[int, Extra]:
    """Return the number of characters of a piece of a line, and the extra. Invalid UTF-8 counts as it is displayed."""
    if piece.isascii():
        return len(piece), (0, 0)
    text = piece.decode(errors="replace")
    units = len(text.encode("utf-16-le")) // 2
    return len(text), (len(piece) - len(text), units - len(text))


class Position:
    """A line, and a column in it in each unit. Both count from 1."""

    def __init__(self, line: int = 1, column: int = 1, extra: Extra = (0, 0)) -> None:
        self.line = line
        self.column = column
        """The column in characters."""
        self.extra = extra

    def advance(self, piece: bytes) -> None:
        """Advance over bytes."""
        if newlines := piece.count(b"\n"):
            self.line += newlines
            self.column, self.extra = 1, (0, 0)
            piece = piece[piece.rindex(b"\n") + 1 :]
        width, (octets, units) = measure(piece)
        self.column += width
        self.extra = self.extra[0] + octets, self.extra[1] + units


def has_short_lines(block: bytes) -> bool:
    """Whether most lines in one of a few parts of a block are blank. Counting each line end costs as much as parsing."""
    step = max(len(block) // PARTS, PART_BYTES)
    parts = (block[at : at + PART_BYTES] for at in range(0, len(block) - PART_BYTES, step))
    return any(len(part) < SHORT * part.count(b"\n") for part in parts)
