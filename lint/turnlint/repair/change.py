"""What a repair did, one value a change.

This module owns what is told of a change. It refuses to know how it was made.
"""

from hashlib import sha256
from typing import Literal

from msgspec import Struct

from turnlint.model import Fault, Level

What = Literal["moved", "added", "removed", "renamed", "rewritten"]


class Change(Struct, frozen=True):
    """One change to a conversation, at the place where it was made."""

    code: str
    rule: str
    fault: Fault
    """Whether it was about state, about who answers whom, or about what a provider takes."""
    level: Level
    what: What
    message: str
    """What was done, in the words that say what to do."""
    finding: str
    """What was wrong."""
    line: int
    pointer: str
    """Where it was made, in the record as it was then."""
    conversation: str | None = None
    conversation_index: int | None = None
    call_id: str | None = None
    tool: str | None = None
    provider: str | None = None
    before_id: str | None = None
    after_id: str | None = None
    before: str | None = None
    """The digest of what stood there, where something did."""
    after: str | None = None
    """The digest of what stands there now, where something does."""
    piece: str = ""
    """What kind of piece was removed, as a noun."""
    size: int | None = None
    """How many bytes stood there, where something was removed."""
    message_index: int | None = None
    """The message where it was made, as the conversation was then."""


def digest(data: bytes | None) -> str | None:
    """What tells one content from another without showing it."""
    return None if data is None else sha256(data).hexdigest()
