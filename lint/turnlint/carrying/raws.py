"""JSON values kept as written.

This module owns how a carrier looks at a value it did not decode: whether it is there, what it begins
with, whether it is a name. Texts are never built for that.
"""

from msgspec import Raw, json

from turnlint.model import Content, Written

NOTHING = Raw()
_string = json.Decoder(str)


def given(raw: Raw) -> bool:
    """True where the key was there at all."""
    return len(memoryview(raw)) > 0


def head(raw: Raw) -> bytes:
    """The first byte, which says the kind: `"`, `{`, `[`, `n` for null; empty where the key was not there."""
    return bytes(memoryview(raw)[:1])


def start(raw: Raw, size: int) -> bytes:
    return bytes(memoryview(raw)[:size])


def string(raw: Raw | None) -> str | None:
    """A string's text; nothing for any other kind."""
    return _string.decode(raw) if raw is not None and head(raw) == b'"' else None


def is_blank(raw: Raw) -> bool:
    """Absent, null, an empty array, or a text of nothing but white space."""
    if len(memoryview(raw)) > 64:
        return False
    data = bytes(raw)
    if data in (b"", b"null", b"[]"):
        return True
    return data[:1] == b'"' and not _string.decode(data).strip()


_KINDS: dict[bytes, Written] = {b"": "absent", b"n": "null", b'"': "text", b"{": "object", b"[": "list"}


def written(raw: Raw) -> Written:
    """The JSON kind of a value as it stands."""
    return _KINDS.get(head(raw), "other")


def content_of(raw: Raw) -> Content:
    """What a message's content is, without looking at its parts."""
    kind = written(raw)
    if kind == "text":
        return "blank" if is_blank(raw) else "text"
    if kind == "list":
        return "no-parts" if is_blank(raw) or not bytes(raw)[1:-1].strip() else "parts"
    return kind if kind in ("absent", "null") else "other"


_SPACE = (b" ", b"\\n", b"\\t", b"\\r")


def trails(raw: Raw) -> bool:
    """Whether a text ends in white space."""
    return bytes(memoryview(raw)[-3:-1]).endswith(_SPACE)


def is_white(raw: Raw) -> bool:
    """Whether a blank text has white space in it, rather than nothing."""
    return len(memoryview(raw)) > 2
