"""Plain values as the YAML of a settings file.

This module owns that spelling: what is written is read as the same value, and no text draws elsewhere on a terminal. It
refuses to read, and to know what a key means.
"""

import re
from collections.abc import Iterator
from json import dumps
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./@-]*( [A-Za-z0-9_./@-]+)*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def lines_of(value: Any, indent: str = "") -> Iterator[str]:
    """A mapping or a list, a line an entry; small lists and mappings inside stand on one line."""
    for key, one in value.items() if isinstance(value, dict) else ((None, one) for one in value):
        head = "-" if key is None else f"{scalar(key)}:"
        if _is_small(one):
            yield f"{indent}{head} {inline(one)}"
            continue
        inside = list(lines_of(one, indent + "  "))
        if key is None:
            yield f"{indent}- {inside[0].lstrip()}"
            yield from inside[1:]
        else:
            yield f"{indent}{head}"
            yield from inside


def inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    text = value if isinstance(value, str) else None
    if text is None or not _PLAIN.fullmatch(text) or text.lower() in _WORDS:
        return dumps(value)
    return text


def _is_small(value: Any) -> bool:
    if isinstance(value, dict):
        return len(value) <= 1 and not any(isinstance(one, dict | list) for one in value.values())
    return not isinstance(value, list) or not any(isinstance(one, dict | list) for one in value)
