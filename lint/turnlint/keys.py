"""The keys of a message as it is written, and which of them a provider does not know.

This module owns the walk through a message to everything whose keys a provider checks, and the check
against its lists. It refuses to know any provider's keys, and what follows from an unknown one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from turnlint.clauses import UnknownKey
from turnlint.model import Pointer

Place = tuple[str, Pointer, Mapping[str, Any]]
"""What kind of thing it is, where below its message, and the thing."""
Strange = tuple[UnknownKey, str, Pointer]
"""The clause that a key offends, the kind of thing it stands in, and where below the message it stands."""


LEFTOVERS = frozenset({
    "annotations", "audio", "cache_control", "call_id", "citations", "content", "created", "created_at", "createdAt",
    "extra_content", "finish_reason", "function_call", "id", "images", "index", "input", "is_error", "metadata", "model",
    "name", "namespace", "parentUuid", "prefix", "provider_specific_fields", "reasoning", "reasoning_content",
    "reasoning_details", "reasoning_signature", "refusal", "role", "sender", "signature", "status", "stop_reason", "text",
    "thinking", "thinking_blocks", "thought", "thoughtSignature", "thought_signature", "timestamp", "tool_call_id",
    "tool_calls", "tool_name", "tool_plan", "tool_use_id", "ts", "turn_id", "type", "usage", "uuid",
})  # fmt: skip
"""Keys that clients and other providers are known to leave behind. A key of nobody's is not named in a report: it may
be what somebody said."""


def strange(message: Any, role: str, clauses: Mapping[str, list[UnknownKey]]) -> Iterator[Strange]:
    """The keys of a message that some clause does not take. The clauses come by their place."""
    if not isinstance(message, dict):
        return
    for place, below, thing in _places(message):
        for clause in clauses.get(place, ()):
            if clause.roles and role not in clause.roles:
                continue
            for key in thing:
                if key in clause.refused or (clause.known and key not in clause.known):
                    yield clause, place, (*below, key)


def by_place(clauses: Iterator[UnknownKey]) -> dict[str, list[UnknownKey]]:
    found: dict[str, list[UnknownKey]] = {}
    for clause in clauses:
        found.setdefault(clause.place, []).append(clause)
    return found


def _places(message: Mapping[str, Any]) -> Iterator[Place]:
    kind = message.get("type")
    if not isinstance(kind, str) or "role" in message:
        yield "message", (), message
    else:
        yield kind, (), message
    for key in ("content", "parts"):
        for number, part in _objects(message.get(key)):
            yield from _part((key, number), part)
    for number, call in _objects(message.get("tool_calls")):
        yield "call", ("tool_calls", number), call
        if isinstance(call.get("function"), dict):
            yield "function", ("tool_calls", number, "function"), call["function"]


def _part(at: Pointer, part: Mapping[str, Any]) -> Iterator[Place]:
    kind = part.get("type")
    if isinstance(kind, str):
        yield kind, at, part
        return
    yield "part", at, part
    for key, inner in part.items():
        if isinstance(inner, dict):
            yield key, (*at, key), inner


def _objects(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield number, item
