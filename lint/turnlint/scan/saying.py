"""Whether a text has words. The native scanner asks it for texts that a short look does not settle."""

from msgspec import json

_text = json.Decoder(str).decode


def says_something(text: bytes) -> bool:
    """Whether a JSON text holds more than white space."""
    first = text[1]
    return (0x22 < first < 0x7F and first != 0x5C) or bool(_text(text).strip())
