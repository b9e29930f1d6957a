"""Classify the contents of calls and texts when a record is read.

Every wire needs two results: the kind of a call's arguments, and whether a text contains a call.
"""

from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw, Struct

from turnlint.carrying.raws import QUOTE, written
from turnlint.model import Arguments, Role, Written
from turnlint.packages import GRAMMARS, additions

if TYPE_CHECKING:
    from turnlint.carrying.grammars import Marked


class _AnyObject(Struct):
    pass


_object = msgspec.json.Decoder(_AnyObject)
_text = msgspec.json.Decoder(str)

Judged = tuple[bytes, Arguments]
"""The bytes of the arguments, and their kind."""


def arguments_in_text(raw: Raw) -> Judged:
    """Classify arguments that are JSON inside a string. Some loggers record the object itself."""
    return written_arguments(raw)[:2]


def written_arguments(raw: Raw) -> tuple[bytes, Arguments, Written]:
    """Classify arguments that are JSON inside a string, and return their JSON kind too."""
    view = memoryview(raw)
    if not view.nbytes or view[0] != QUOTE:
        return (*arguments_in_place(raw), written(raw))
    data = _text.decode(raw).encode()
    try:
        _object.decode(data)
    except (ValueError, RecursionError):
        return data, _judge(data), "text"
    return data, "object", "text"


def arguments_in_place(raw: Raw, *, required: bool = False) -> Judged:
    """Classify arguments that are plain JSON. If `required`, absent arguments are unfit."""
    data = bytes(raw)
    if data in (b"", b"null"):
        return data, "unfit" if required else "nothing"
    return data, "object" if data[:1] == b"{" else "unfit"


def _judge(text: bytes) -> Arguments:
    """Classify a text that is no plain object."""
    if text.strip() in (b"", b"null"):
        return "nothing"
    from turnlint.documents import exact

    reading = exact.read(text)
    if not reading.whole:
        return "torn" if reading.troubles[-1].kind == "torn" else "broken"
    if any(trouble.kind not in ("duplicate-key", "duplicate-keys") for trouble in reading.troubles):
        return "broken"
    return "object" if isinstance(reading.value, dict) else "other"


_HINTS = (
    b"tool",
    b"TOOL_CALLS",
    b"function",
    b"FUNCTION",
    b"invoke",
    b"DSML",
    b"python_tag",
    b"ACTION",
    b"action_start",
)
"""Every mark of a built-in grammar contains one of these words. Searching for them is cheap."""


_ANGLE, _SQUARE, _BACKSLASH = b"<[\\"
_CROSS = 0xBF
"""The last byte of `✿`."""


def _has_hint(data: bytes) -> bool:
    """Whether a text may have a mark of a built-in grammar. Most texts have none."""
    return _may_open(data) and any(hint in data for hint in _HINTS)


def _may_open(data: bytes) -> bool:
    """Whether a text has the characters that every mark needs. Most texts have none.

    A mark may also be written with escapes. The search for single bytes, given as numbers, comes first because it
    costs almost nothing.
    """
    return (
        _ANGLE in data
        or (_SQUARE in data and (b"TOOL_CALLS" in data or b"functools" in data))
        or (_CROSS in data and b"FUNCTION" in data)
        or (_BACKSLASH in data and b"\\u" in data)
    )


@cache
def _has_more_grammars() -> bool:
    """Whether another package has a grammar, whose marks may be anything."""
    return bool(additions(GRAMMARS))


def call_mark(raw: Raw, role: Role) -> "Marked | None":
    """Return the mark of a call in an assistant's text, outside fenced and quoted code."""
    return mark_in(bytes(raw)) if role == "assistant" else None


def mark_in(data: bytes) -> "Marked | None":
    """Return the mark of a call in a raw text of an assistant, outside fenced and quoted code."""
    if data[:1] != b'"' or not (_has_hint(data) or _has_more_grammars()):
        return None
    from turnlint.carrying import grammars  # few texts need the expressions, which take time to compile

    return grammars.mark_in(_text.decode(data))
