"""Wires whose logs of one message a line are scanned natively."""

from collections.abc import Callable

from msgspec import Struct

from turnlint.model import Transcript
from turnlint.providers import Chosen
from turnlint.scan.terms import Shapes

Choose = Callable[[Transcript], tuple[Chosen, ...]]


class Wire(Struct, frozen=True):
    """The plain shapes of a wire that the native scanner accepts."""

    keys: frozenset[str]
    """Keys of a message."""
    roles: frozenset[str]
    shapes: Shapes


_SAID = frozenset({"role", "content"})
_CHAT_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_BLOCK_ROLES = frozenset({"user", "assistant"})
_CHAT_EXTRAS = frozenset({"name", "tool_calls", "refusal", "audio", "function_call"})
WIRES = {
    "openai-chat": Wire(
        _SAID | _CHAT_EXTRAS | {"tool_call_id"},
        _CHAT_ROLES,
        Shapes(
            arguments="text",
            result="tool",
            alone=False,
            keys={
                **dict.fromkeys(_CHAT_ROLES, _SAID),
                "assistant": _SAID | {"tool_calls"},
                "tool": _SAID | {"tool_call_id"},
                "call": frozenset({"id", "type", "function"}),
                "function": frozenset({"name", "arguments"}),
            },
            extras=_CHAT_EXTRAS,
            lax=frozenset({"absent", "blank", "blank-result", "parts", "media", "author"}),
        ),
    ),
    "anthropic": Wire(
        _SAID,
        _BLOCK_ROLES,
        Shapes(
            arguments="object",
            result="tool_result",
            alone=True,
            keys={
                **dict.fromkeys(_BLOCK_ROLES, _SAID),
                "text": frozenset({"type", "text"}),
                "tool_use": frozenset({"type", "id", "name", "input"}),
                "tool_result": frozenset({"type", "tool_use_id", "content", "is_error"}),
            },
            lax=frozenset({"media", "list-result", "cache"}),
        ),
    ),
}
