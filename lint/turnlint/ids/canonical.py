"""Make canonical ids, and change their prefix for two wires.

The module handles single ids. It cannot detect that two calls have the same parts.
"""

import re
from base64 import urlsafe_b64encode
from hashlib import sha256

HISTORY, OPENAI, ANTHROPIC = "hist_tool_", "call_", "toolu_"
LENGTH = 24
"""The number of characters after the prefix: 144 bits of the digest."""

PROJECTED = (HISTORY.encode(), b'id":""', b'id": ""', b'Id":""', b'Id": ""')
"""Bytes of a log whose ids a named provider may get in another form: internal ids, and empty ones."""

_CANONICAL = re.compile(rf"{HISTORY}[A-Za-z0-9_-]+")


def canonical_id(
    provider: str | None,
    raw_id: str | None,
    tool_name: str | None,
    turn_key: str | None,
    call_index: int | None,
) -> str:
    """Return the id of a call, from its position and its original id. A canonical id is returned unchanged.

    An absent part counts as an empty text. The parts are joined with `|` and not escaped: two calls whose parts contain
    it may give one text. A caller with both calls has to detect that.
    """
    if raw_id is not None and is_canonical(raw_id):
        return raw_id
    return hashed(provider, raw_id, tool_name, turn_key, call_index)


def hashed(*parts: str | int | None) -> str:
    """Return a canonical id of any parts."""
    joined = "|".join("" if part is None else str(part) for part in parts)
    digest = sha256(joined.encode("utf-8", "surrogatepass")).digest()
    return HISTORY + urlsafe_b64encode(digest).decode()[:LENGTH]


def is_canonical(identifier: str | None) -> bool:
    """Whether an id is one of a stored history: with its prefix, and safe for all providers, whatever its length."""
    return identifier is not None and _CANONICAL.fullmatch(identifier) is not None


def is_internal(identifier: str | None) -> bool:
    """Whether an id has the prefix of stored histories."""
    return identifier is not None and identifier.startswith(HISTORY)


def is_empty(identifier: str | None) -> bool:
    """Whether an id is a text without a character, or of white space only."""
    return identifier is not None and not identifier.strip()


def to_openai(identifier: str) -> str:
    """Return the id with the prefix of OpenAI's wire; the rest is unchanged."""
    if identifier.startswith(OPENAI):
        return identifier
    return OPENAI + identifier.removeprefix(HISTORY if identifier.startswith(HISTORY) else ANTHROPIC)


def to_history(identifier: str) -> str:
    """Return the id with the prefix of stored histories; the rest is unchanged."""
    if identifier.startswith(HISTORY):
        return identifier
    return HISTORY + identifier.removeprefix(OPENAI if identifier.startswith(OPENAI) else ANTHROPIC)
