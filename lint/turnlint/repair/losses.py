"""Verify that a repair loses no text and no number, except those that its changes report.

This last check is independent of the other modules. It handles only JSON scalars.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from json import dumps, loads
from typing import Any

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:\s*+:)?|-?\d[\d.eE+-]*|true', re.DOTALL)
_WORDS = frozenset(
    dumps(word).encode()
    for word in (
        "", "user", "assistant", "model", "tool", "function", "human", "ai", "system", "developer", "text", "message",
        "tool_result", "tool_response", "tool_use", "tool_call", "input_text", "output_text",
    )
)  # fmt: skip
"""Roles and types, which disappear with the object around a moved piece."""


def scalars(data: bytes) -> Counter[bytes]:
    """Return every text that is no key, every number and every `true`, as written."""
    return Counter(token for token in _TOKEN.findall(data) if not token.endswith(b":"))


def lost(before: Iterable[bytes], after: Iterable[bytes], told: Iterable[bytes]) -> bool:
    """Whether a scalar is missing that no change reports."""
    gone = _all(before) - _all(after)
    if not gone:
        return False
    gone -= _all(told)
    return any(word not in _WORDS for word in gone)


def _all(texts: Iterable[bytes]) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    for text in texts:
        found.update(scalars(text))
    return found


def says_all(before: bytes, after: Iterable[bytes]) -> bool:
    """Whether rewritten text still has every value, in any spelling: arguments may be JSON in a text."""
    try:
        values = Counter(_values(loads(before, object_pairs_hook=list, parse_int=str, parse_float=str)))
        for text in after:
            values.subtract(_values(loads(text, object_pairs_hook=list, parse_int=str, parse_float=str)))
    except (ValueError, RecursionError):
        return False
    return all(count <= 0 for count in values.values())


_SHELL = frozenset({"role", "speaker", "type", "status"})


def _values(value: Any) -> Iterator[str]:
    """Yield texts, numbers and `true` values, and the keys inside JSON texts. Objects are lists of pairs."""
    if isinstance(value, tuple):
        key, inner = value
        if key not in _SHELL or inner == "error":
            yield from _values(inner)
    elif isinstance(value, list):
        for one in value:
            yield from _values(one)
    elif value is True:
        yield "true"
    elif isinstance(value, str) and value:
        try:
            inner = loads(value, object_pairs_hook=list, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            inner = value
        if isinstance(inner, list):
            yield from _values(inner)
        else:
            yield value
