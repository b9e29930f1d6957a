"""One id: the canonical one, and the prefixes that stand before it on two wires.

This module owns the spelling of canonical ids and the change of a prefix. It refuses to look at a
conversation, so it cannot tell whether two calls were given the same words.
"""

import re
from base64 import urlsafe_b64encode
from hashlib import sha256

HISTORY, OPENAI, ANTHROPIC = "hist_tool_", "call_", "toolu_"
LENGTH = 24
"""How many characters follow the prefix: 144 bits of the digest."""

_CANONICAL = re.compile(rf"{HISTORY}[A-Za-z0-9_-]{{{LENGTH}}}")


def canonical_id(
    provider: str | None,
    raw_id: str | None,
    tool_name: str | None,
    turn_key: str | None,
    call_index: int | None,
) -> str:
    """The id of a call, from where it stands and what it was called. A canonical id comes back as it is.

    What is not there counts as an empty text. The parts are joined with `|` and not escaped: two calls
    whose parts contain it may join to one text, which is for whoever sees both calls to notice.
    """
    if raw_id is not None and is_canonical(raw_id):
        return raw_id
    return hashed(provider, raw_id, tool_name, turn_key, call_index)


def hashed(*parts: str | int | None) -> str:
    """A canonical id of any parts."""
    joined = "|".join("" if part is None else str(part) for part in parts)
    digest = sha256(joined.encode("utf-8", "surrogatepass")).digest()
    return HISTORY + urlsafe_b64encode(digest).decode()[:LENGTH]


def is_canonical(identifier: str | None) -> bool:
    return identifier is not None and _CANONICAL.fullmatch(identifier) is not None


def to_openai(identifier: str) -> str:
    """The id with the prefix of OpenAI's wire; what follows the prefix stays to the letter."""
    if identifier.startswith(OPENAI):
        return identifier
    return OPENAI + identifier.removeprefix(HISTORY if identifier.startswith(HISTORY) else ANTHROPIC)


def to_history(identifier: str) -> str:
    """The id with the prefix of stored histories; what follows the prefix stays to the letter."""
    if identifier.startswith(HISTORY):
        return identifier
    return HISTORY + identifier.removeprefix(OPENAI if identifier.startswith(OPENAI) else ANTHROPIC)
