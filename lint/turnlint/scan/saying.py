"""Texts that nobody has to read again.

This module owns two questions about texts as they are written: is there more in them than white space, and could
a call stand in one as text? It refuses to know wires. Its answers err towards reading.
"""

from msgspec import Raw, json

from turnlint.carrying.contents import call_marker

_LONGEST_BLANK = 64
"""No longer text is taken for blank, as `carrying.raws` has it."""
_FLOWER = "✿".encode()
_ESCAPED = b"\\u"
_WHITE = (b" ", b"\\n", b"\\t", b"\\r")
_text = json.Decoder(str).decode


def all_say_something(texts: list[bytes]) -> bool:
    """Whether none of some JSON texts is blank. Each is known to be a text."""
    if min(map(len, texts)) > _LONGEST_BLANK:
        return True
    short = [text for text in texts if len(text) <= _LONGEST_BLANK]
    return all(map(says_something, short))


def says_something(text: bytes) -> bool:
    """Most texts begin with a letter, and are not built to find that out."""
    first = text[1]
    return (0x22 < first < 0x7F and first != 0x5C) or bool(_text(text).strip())


def may_hold_calls(texts: list[bytes]) -> bool:
    """Whether a call stands in one of some texts of an assistant.

    Each mark of one holds one of a few characters. Most texts hold none of those, and asking for a single byte is
    cheap.
    """
    whole = b"".join(texts)
    if b"<" in whole or b"[" in whole or _FLOWER in whole or (b"\\" in whole and _ESCAPED in whole):
        return any(call_marker(Raw(text), "assistant") for text in texts)
    return False


def trails(text: bytes) -> bool:
    """Whether a text may end in white space."""
    return text[:-1].endswith(_WHITE)
