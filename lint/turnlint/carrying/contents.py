"""What stands inside calls and texts, judged once while a record is read.

This module owns two judgements that every wire needs: what a call's arguments are, and whether a
text hides a call. It refuses to know where a wire keeps either.
"""

import re

import msgspec
from msgspec import Raw, Struct

from turnlint.carrying.raws import string
from turnlint.model import Arguments, Role


class _AnyObject(Struct):
    pass


_object = msgspec.json.Decoder(_AnyObject)

Judged = tuple[bytes, Arguments]
"""The arguments' bytes, and what they are."""


def arguments_in_text(raw: Raw) -> Judged:
    """Arguments on a wire that carries JSON inside a string; some loggers leave the object itself there."""
    text = string(raw)
    if text is None:
        return arguments_in_place(raw)
    data = text.encode()
    return data, _judge(data)


def arguments_in_place(raw: Raw, *, required: bool = False) -> Judged:
    """Arguments on a wire that carries them as JSON, and may insist on an object even for none."""
    data = bytes(raw)
    if data in (b"", b"null"):
        return data, "unfit" if required else "nothing"
    return data, "object" if data[:1] == b"{" else "unfit"


def _judge(text: bytes) -> Arguments:
    try:
        _object.decode(text)
    except (ValueError, RecursionError):
        pass
    else:
        return "object"
    if text.strip() in (b"", b"null"):
        return "nothing"
    from turnlint.documents import exact

    reading = exact.read(text)
    if not reading.whole:
        return "torn" if reading.troubles[-1].kind == "torn" else "broken"
    if any(trouble.kind != "duplicate-key" for trouble in reading.troubles):
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
"""Every marker holds one of these, and looking for them is cheap."""


def call_marker(raw: Raw, role: Role) -> str | None:
    """The mark with which an assistant's text opens a call of its own, outside fenced and quoted code."""
    if role != "assistant":
        return None
    data = bytes(raw)
    if data[:1] != b'"' or not any(hint in data for hint in _HINTS):
        return None
    # Compiled late: it costs more than all else in this module, and `re` keeps it.
    walk = re.compile(f"(?P<mark>{MARKERS})|(?P<fence>```)|(?P<tick>`)|(?P<line>\n)")
    fenced = quoted = False
    for found in walk.finditer(string(raw) or ""):
        if found["fence"]:
            fenced = not fenced
        elif found["tick"]:
            quoted = not quoted
        elif found["line"]:
            quoted = False
        elif not fenced and not quoted:
            return found["mark"][:40]
    return None
