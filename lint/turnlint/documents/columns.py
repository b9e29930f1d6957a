"""How wide bytes are, in each unit that columns are counted in.

This module owns that count: characters, bytes and the code units of UTF-16. It refuses to know who counts in which.
"""

Extra = tuple[int, int]
"""By how much bytes, and code units of UTF-16, are more than characters."""


def measure(piece: bytes) -> tuple[int, Extra]:
    """The characters of a piece of a line, and the extra. What is no UTF-8 counts as it would be shown."""
    if piece.isascii():
        return len(piece), (0, 0)
    text = piece.decode(errors="replace")
    units = len(text.encode("utf-16-le")) // 2
    return len(text), (len(piece) - len(text), units - len(text))


def more(one: Extra, other: Extra) -> Extra:
    return one[0] + other[0], one[1] + other[1]
