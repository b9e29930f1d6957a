"""Find the formats whose typical keys a file has.

The table serves files of unknown formats only. The carriers decide the format of a file, with closer checks.
"""

from collections.abc import Sequence
from fractions import Fraction

from turnlint.inspecting.facts import Near
from turnlint.neighbours.sketch import Sketch, found

MOST = 3
LEAST = 2
"""Least number of keys in common: one is chance, since an `id` or a `type` is everywhere."""


def _request(key: str, *turn: str) -> tuple[tuple[str, ...], ...]:
    """Return the layouts of a wire: its messages under a key, in an array without a key, one on each line."""
    return ((key, *(f"{key}[].{one}" for one in turn)), tuple(f"[].{one}" for one in turn), turn)


TELLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "openai-chat": _request("messages", "role", "content", "tool_calls[].function"),
    "anthropic": _request("messages", "role", "content[].type", "content[].tool_use_id"),
    "gemini": _request("contents", "role", "parts[].text", "parts[].functionCall"),
    "bedrock": _request("messages", "role", "content[].text", "content[].toolUse"),
    "openai-responses": _request("input", "type", "call_id", "arguments"),
    "claude-code": (("type", "uuid", "parentUuid", "sessionId", "message.content"),),
    "codex": (("timestamp", "type", "payload.type"),),
    "gemini-cli": (
        ("sessionId", "projectHash", "startTime"),
        ("id", "timestamp", "type", "content", "toolCalls"),
    ),
    "pi": (("type", "id", "parentId", "message.role"), ("type", "id", "cwd", "version")),
    "langchain": (*_request("messages", "type", "data.content"), *_request("messages", "lc", "kwargs.content")),
    "sharegpt": _request("conversations", "from", "value"),
    "canonical": _request("history", "speaker", "blocks"),
    "mistral": _request("messages", "role", "content", "toolCalls"),
    "ollama": _request("messages", "role", "content", "tool_name"),
    "cohere": _request("chat_history", "role", "message"),
}  # fmt: skip
"""By format: its layouts, each with keys that a whole conversation has. The more common formats come first.

A format without a row here is read all the same, but is never named as near.
"""
_SHARED = {
    key: sum(any(key in layout for layout in layouts) for layouts in TELLS.values())
    for layouts in TELLS.values()
    for layout in layouts
    for key in layout
}
"""Number of formats that have a key: a common key is weak evidence."""


def nearest(outlines: Sequence[Sketch]) -> tuple[Near, ...]:
    """Return the nearest formats by their keys; each one has a key that those before it do not have."""
    present = {key for key in _SHARED if any(_has(outline, key) for outline in outlines)}
    near = (
        max((_near(name, one, present) for one in layouts), key=lambda each: each[0])
        for name, layouts in TELLS.items()
    )
    told: list[Near] = []
    for _, one in sorted(near, key=lambda each: -each[0]):
        if len(one.has) >= LEAST and not any(set(one.has) <= set(other.has) for other in told):
            told.append(one)
    return tuple(told[:MOST])


def _has(outline: Sketch, key: str) -> bool:
    return next(found(outline, key), None) is not None


def _near(name: str, layout: tuple[str, ...], present: set[str]) -> tuple[Fraction, Near]:
    has = tuple(key for key in layout if key in present)
    lacks = tuple(key for key in layout if key not in present)
    weight = sum((Fraction(1, _SHARED[key]) for key in has), Fraction(0))
    return weight / sum(Fraction(1, _SHARED[key]) for key in layout), Near(name, has, lacks)
