"""Classify the contents of calls and texts when a record is read.

Every wire needs two results: the kind of a call's arguments, and whether a text contains a call.
"""

import re

import msgspec
from msgspec import Raw, Struct

from turnlint.carrying.raws import QUOTE, written
from turnlint.model import Arguments, Role, Written


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


MARKERS = (
    r"<tool_call>|<tool_calls>|<\|tool_call\|>|<\|tool_call_start\|>|<\|tool_call>call:"
    r"|<\|tool_calls_section_begin\|>|<\|python_tag\|>|\[TOOL_CALLS\]"
    r"|<[｜|]tool[▁_]calls?[▁_]begin[｜|]>|<[｜|]DSML[｜|] ?(?:function_calls|tool_calls|calls)>"
    r"|<minimax:tool_call>|<seed:tool_call>|<xai:function_call name=|<x\.ai:tool_call>"
    r"|<(?:antml:)?function_calls>\s*<(?:antml:)?invoke|<invoke name=|<function=[\w.-]+>"
    r"|<\|START_ACTION\|>|<start_function_call>call:|<\|action_start\|>|✿FUNCTION✿|functools\[\{"
    r"|<\|channel\|>commentary to=functions\."
)
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
"""Every marker contains one of these words. Searching for them is cheap."""


_ANGLE, _SQUARE, _BACKSLASH = b"<[\\"
_CROSS = 0xBF
"""The last byte of `✿`."""


def _may_open(data: bytes) -> bool:
    """Whether a text has the characters that every marker needs. Most texts have none.

    A marker may also be written with escapes. The search for single bytes, given as numbers, comes first because it
    costs almost nothing.
    """
    return (
        _ANGLE in data
        or (_SQUARE in data and (b"TOOL_CALLS" in data or b"functools" in data))
        or (_CROSS in data and b"FUNCTION" in data)
        or (_BACKSLASH in data and b"\\u" in data)
    )


def call_marker(raw: Raw, role: Role) -> str | None:
    """Return the marker of a call in an assistant's text, outside fenced and quoted code."""
    return marker_in(bytes(raw)) if role == "assistant" else None


def marker_in(data: bytes) -> str | None:
    """Return the marker of a call in a raw text of an assistant, outside fenced and quoted code."""
    if not _may_open(data) or data[:1] != b'"' or not any(hint in data for hint in _HINTS):
        return None
    # Compiled at first use: it costs more than the rest of this module, and `re` caches it.
    walk = re.compile(f"(?P<mark>{MARKERS})|(?P<fence>```)|(?P<tick>`)|(?P<line>\n)")
    fenced = quoted = False
    for found in walk.finditer(_text.decode(data)):
        if found["fence"]:
            fenced = not fenced
        elif found["tick"]:
            quoted = not quoted
        elif found["line"]:
            quoted = False
        elif not fenced and not quoted:
            return found["mark"][:40]
    return None
