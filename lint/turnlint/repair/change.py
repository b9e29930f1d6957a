"""Describe the changes of a repair, one value per change."""

from hashlib import sha256
from typing import Literal

from msgspec import Struct

from turnlint.model import Fault, Level

What = Literal["moved", "added", "removed", "renamed", "rewritten"]


class Change(Struct, frozen=True):
    """One change to a conversation, at the place of the change."""

    code: str
    rule: str
    fault: Fault
    """Whether the finding is about state, about pairing, or about a provider's constraints."""
    level: Level
    what: What
    message: str
    """The change, in the words of the fix title."""
    finding: str
    """The message of the finding."""
    line: int
    pointer: str
    """The place of the change, in the record before the change."""
    conversation: str | None = None
    conversation_index: int | None = None
    call_id: str | None = None
    tool: str | None = None
    provider: str | None = None
    before_id: str | None = None
    after_id: str | None = None
    before: str | None = None
    """The digest of the old value, if there was one."""
    after: str | None = None
    """The digest of the new value, if there is one."""
    piece: str = ""
    """The kind of the removed piece, as a noun."""
    size: int | None = None
    """The number of removed bytes."""
    lines: int = 0
    """The number of lines that the change joins to one record; 1 where it splits a line between two records."""
    source_path: str | None = None
    source_line: int | None = None
    """The file and the line of a call or a result that was added again."""
    message_index: int | None = None
    """The index of the changed message, in the conversation before the change."""


def digest(data: bytes | None) -> str | None:
    """Return a digest that distinguishes contents without showing them."""
    return None if data is None else sha256(data).hexdigest()
