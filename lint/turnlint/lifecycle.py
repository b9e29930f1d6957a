"""How far a tool call got, read from every mark a wire has.

This module owns the inference and the words that tools write when they fill a gap. It refuses to
know where a call or its result stands.
"""

from turnlint.model import State

PLACEHOLDERS: tuple[bytes, ...] = (
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

_CANCELLED = (b"cancel", b"interrupt", b"aborted", b"rejected by user")


_OPENERS = (
    b'"', b'[{"type":"text","text":"', b'[{"type": "text", "text": "', b'{"output":"', b'{"output": "', b'{"error":"',
    b'{"error": "',
)  # fmt: skip


def is_placeholder(body: bytes) -> bool:
    """True for a result that some repair wrote: its text opens with one of the known sentences."""
    if body == b'"aborted"':
        return True
    opener = max((one for one in _OPENERS if body.startswith(one)), key=len, default=b"")
    return body.startswith(PLACEHOLDERS, len(opener))


def ending(body: bytes, *, failed: bool, there: bool = True, complete: bool = True) -> State:
    """Infer the state of a call from its result; no single mark decides alone."""
    if failed:
        head = body[:400].lower()
        return "cancelled" if any(word in head for word in _CANCELLED) else "error"
    return "complete" if there or complete else "pending"
