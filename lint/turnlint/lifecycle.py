"""How far a tool call got, read from every mark a wire has.

This module owns the inference and the words that tools write when they fill a gap. It refuses to
know where a call or its result stands.
"""

import re

from turnlint.model import State

UNKNOWN = "No result of this call was recorded: it is not known whether it ran, and with what outcome."
"""What a repair writes for a result it does not have. It names no cause, for none is known."""

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
"""Sentences that agents write for a result they do not have (read from their sources, 2026-11)."""

_FIRST = frozenset(one[:1] for one in PLACEHOLDERS)
_CANCELLED = (b"cancel", b"interrupt", b"aborted", b"rejected by user")


_OPENER = re.compile(
    rb'\s*(?:\{\s*"(?:output|error)"\s*:\s*|\[\s*\{\s*(?:"type"\s*:\s*"text"\s*,\s*)?"text"\s*:\s*)?"'
)
"""What stands before the text of a result, as a text, in an object or in the first of some parts."""


def is_placeholder(body: bytes) -> bool:
    """True for a result that some repair wrote: its text opens with one of the known sentences."""
    if body == b'"aborted"':
        return True
    if body[1:2] not in _FIRST and body[:1] == b'"':
        return False
    opener = _OPENER.match(body)
    return opener is not None and body.startswith(PLACEHOLDERS, opener.end())


def ending(body: bytes, *, failed: bool, there: bool = True, complete: bool = True) -> State:
    """Infer the state of a call from its result; no single mark decides alone."""
    if failed:
        head = body[:400].lower()
        return "cancelled" if any(word in head for word in _CANCELLED) else "error"
    return "complete" if there or complete else "pending"
