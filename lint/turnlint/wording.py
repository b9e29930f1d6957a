"""Format a provider's error text, with positions in the spelling of that provider.

The texts themselves are in the profiles.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from turnlint.model import Message, Pointer, Wire
from turnlint.profiles import Paths
from turnlint.text import truncate

FIELDS = frozenset({
    "path", "index", "block", "id", "ids", "name", "length", "most", "role", "after", "kind", "key", "count", "prefix",
    "next", "place", "first", "behind", "hint",
})  # fmt: skip
"""Fields of a text. A field without a value is written as `…`."""

PLACES = frozenset({"path", "index", "block", "next", "place", "first", "behind"})
"""Fields for positions: on a foreign wire, the position in the request is unknown."""

_LISTS = {"gemini": "contents", "openai-responses": "input", "cohere-v1": "chat_history"}
_KEYS = r"(?<=[a-z])(?=[A-Z])"


class _Fields(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "…"


LONGEST, LONGEST_LIST = 200, 4000
"""Limit of the characters of a field, and of a list of ids: 128 calls with ids of OpenAI's length have about 4,000."""
_MOST = {"ids": LONGEST_LIST}


def told(says: str, fields: Mapping[str, object]) -> str | None:
    """Return a text with its fields filled in; nothing where the provider has none."""
    if not says:
        return None
    short = {
        name: value
        if isinstance(value := fields[name], int)
        else truncate(str(value), _MOST.get(name, LONGEST))
        for name in left_open(says)
        if name in fields
    }
    return says.format_map(_Fields(short))


@lru_cache(maxsize=512)
def left_open(says: str) -> tuple[str, ...]:
    """Return the fields of a text, perhaps with some that it does not have."""
    return tuple(name for name in sorted(FIELDS) if f"{{{name}" in says)


def in_request(message: Message, index: int, below: Pointer, wire: Wire) -> Pointer:
    """Return a position in the request for this conversation."""
    key = _LISTS.get(wire.speaks, "messages")
    listed = message.at[-2:-1] == (key,) and isinstance(message.at[-1], int)
    return (key, message.at[-1] if listed else index, *below)


def path(place: Pointer, style: Paths, kind: str = "") -> str:
    """Return a position in the spelling of a provider."""
    if place[:1] == ("tools",) and style == "dots":
        place = (*place[:2], "custom", *place[2:])  # the type at Anthropic of a tool of the caller's own
    if style == "brackets":
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
        return text.lstrip(".")
    if style == "members":
        parts = [f"{part + 1}.member" if isinstance(part, int) else part for part in place]  # litellm 24668
        return ".".join(parts)
    if style == "google":
        text = "".join(f"[{p}]" if isinstance(p, int) else f".{re.sub(_KEYS, '_', p).lower()}" for p in place)
        first, dot, rest = text.lstrip(".").partition(".")
        return f"* GenerateContentRequest.{first}{dot}{rest}"
    return ".".join(str(part) for part in _named(place, kind))


def _named(place: Pointer, kind: str) -> Pointer:
    """Return a position below a block, with the block's type after its index."""
    for depth, part in enumerate(place):
        if part == "content" and len(place) > depth + 2 and isinstance(place[depth + 1], int) and kind:
            return (*place[: depth + 2], kind, *place[depth + 2 :])
    return place
