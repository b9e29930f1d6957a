"""The only door from a transcript to a terminal or a log.

This module owns what may pass: characters that draw something and draw it where they stand. A
transcript is written by models, tools and strangers; it holds terminal escapes, marks that turn text
around, and lines that a CI runner takes for its commands. It refuses to know layouts.
"""

import re
from unicodedata import category, combining, east_asian_width

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Letters and marks by category that nonetheless draw nothing (Unicode, Default_Ignorable_Code_Point)."""
_RUNNER = re.compile(r"##(?=\[|vso\[|teamcity\[)", re.IGNORECASE)
"""Beginnings of commands that build runners look for anywhere in a line, not only at its start."""


def visible(text: str) -> str:
    r"""The text with everything that draws nothing, or draws elsewhere, shown as `\u{…}`."""
    if not (text.isascii() and text.isprintable()):
        text = "".join(_named(char) if category(char) in _HIDDEN else char for char in text)
        text = _IGNORABLE.sub(lambda match: _named(match[0]), text)
    return _RUNNER.sub("\\\\u{23}#", text) if "##" in text else text


def _named(char: str) -> str:
    return f"\\u{{{ord(char):x}}}"


def in_json(text: str) -> str:
    """A JSON text without what a runner looks for. Where two `#` stand, they stand inside a string."""
    return text.replace("##", "#\\u0023")


def line_start(text: str) -> str:
    """A visible text that may stand at the start of a line: a runner's `::command` must not."""
    shown = visible(text)
    return f"./{shown}" if shown.lstrip().startswith(("::", "##")) else shown


def columns(text: str) -> int:
    """How many columns of a terminal a visible text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def clip(text: str, width: int) -> str:
    """At most so many columns of a visible text."""
    if columns(text) <= width:
        return text
    kept: list[str] = []
    used = 0
    for char in text:
        used += columns(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"
