"""Inspect raw JSON values without decoding them.

The functions return whether a value is present, its kind, or its text. Most texts are never decoded for that.
"""

from msgspec import Raw, json

from turnlint.documents.decode import without_space
from turnlint.model import Content, Written

NOTHING = Raw()
_string = json.Decoder(str)
_HEADS = tuple(bytes((byte,)) for byte in range(256))
QUOTE, _LIST, NULL = b'"[n'
_PLAIN = frozenset(range(0x21, 0x7F)) - {QUOTE, 0x5C}
"""Bytes that are one visible character each."""
_SPACE = b" \t\r\n"
SHORT = 64
"""A longer text is taken for more than white space."""


def given(raw: Raw) -> bool:
    """Whether the key was present."""
    return raw is not NOTHING and memoryview(raw).nbytes > 0


def head(raw: Raw) -> bytes:
    """Return the first byte, which shows the kind: `"`, `{`, `[`, `n` for null; empty where the key was absent."""
    view = memoryview(raw)
    return _HEADS[view[0]] if view.nbytes else b""


def start(raw: Raw, size: int) -> bytes:
    return bytes(memoryview(raw)[:size])


def string(raw: Raw | None) -> str | None:
    """Return a string's text; none for any other kind."""
    return _string.decode(raw) if raw is not None and raw is not NOTHING and head(raw) == b'"' else None


def is_blank(raw: Raw) -> bool:
    """Whether a value is absent, null, an empty array, or a text of only white space."""
    if raw is NOTHING:
        return True
    view = memoryview(raw)
    if view.nbytes > 2 and view[0] == _LIST and view[1] in _SPACE:
        return without_space(bytes(raw)) == b"[]"
    if view.nbytes > SHORT or (view.nbytes > 2 and view[0] == QUOTE and view[1] in _PLAIN):
        return False
    data = bytes(raw)
    if data in (b"", b"null", b"[]"):
        return True
    return data[:1] == b'"' and not _string.decode(data).strip()


KINDS: dict[bytes, Written] = {b"": "absent", b"n": "null", b'"': "text", b"{": "object", b"[": "list"}


def written(raw: Raw) -> Written:
    """Return the JSON kind of a raw value."""
    return "absent" if raw is NOTHING else KINDS.get(head(raw), "other")


def content_of(raw: Raw) -> Content:
    """Return the kind of a message's content, without inspecting its parts."""
    if raw is NOTHING:
        return "absent"
    view = memoryview(raw)
    first = view[0] if view.nbytes else 0
    if first == QUOTE:
        return "text" if view.nbytes > SHORT or not is_blank(raw) else "blank"
    if first == _LIST:
        return "parts" if view[1] not in b"] \t\n\r" or bytes(raw)[1:-1].strip() else "no-parts"
    return "null" if first == NULL else "other" if first else "absent"


def trails(text: memoryview) -> bool:
    """Whether a text ends in white space. False for a value of another kind."""
    last = text[-2] if text.nbytes > 2 and text[0] == QUOTE else 0
    return last == 0x20 or (last in b"ntr" and text[-3] == 0x5C)


def is_white(raw: Raw) -> bool:
    """Whether a blank value is a text of white space. Nulls, empty texts and empty lists are empty."""
    view = memoryview(raw)
    return view.nbytes > 2 and view[0] == QUOTE
