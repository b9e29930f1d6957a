"""Infer the state of a tool call from all marks of its result.

The module also has the sentences that tools write for missing results.
"""

import re
from functools import cache

from turnlint.model import State

UNKNOWN = "No result of this call was recorded: it is not known whether it ran, and with what outcome."
"""Text of a placeholder result. It names no cause, since none is known."""

PLACEHOLDERS: tuple[bytes, ...] = (
    UNKNOWN.encode(),
    b"[openclaw] missing tool result in session history",
    b"[System: Tool execution skipped/interrupted",
    b"[Tool execution was interrupted]",
    b"[migration] Tool result missing in legacy conversation history",
    b"Error: this tool call was not executed, or its result was lost",
    b"No result provided",
    b"The tool call was interrupted before a result was produced",
    b"The tool execution result was lost due to context management truncation",
    b"Tool call interrupted or cancelled",
    b"Tool canceled by user",
    b"Tool execution aborted",
    b"Tool execution result was not recorded",
    b"Tool execution skipped - ",
    b"Tool execution was interrupted before",
    b"Tool was interrupted.",
)
"""Sentences that agents write for a missing result (read from their sources, 2026-11)."""

_CANCELLED = (b"cancel", b"interrupt", b"aborted", b"rejected by user")


@cache
def _opener() -> re.Pattern[bytes]:
    """Return a pattern for the bytes before the text of a result.

    They are white space, or the start of an object or of the first of some parts.
    """
    return re.compile(
        rb'\s*(?:\{\s*"(?:output|error)"\s*:\s*|\[\s*\{\s*(?:"type"\s*:\s*"text"\s*,\s*)?"text"\s*:\s*)?"'
    )


def is_placeholder(body: bytes) -> bool:
    """Whether a repair wrote a result: its text starts with one of the known sentences."""
    if body == b'"aborted"':
        return True
    if body.startswith(b'"'):
        return body.startswith(PLACEHOLDERS, 1)
    opener = _opener().match(body)
    return opener is not None and body.startswith(PLACEHOLDERS, opener.end())


def ending(body: bytes, *, failed: bool, there: bool = True, complete: bool = True) -> State:
    """Infer the state of a call from its result; no single mark decides alone."""
    if failed:
        head = body[:400].lower()
        return "cancelled" if any(word in head for word in _CANCELLED) else "error"
    return "complete" if there or complete else "pending"
