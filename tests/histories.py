"""Short histories in the messages of Chat Completions, as an application has them in memory."""

from typing import Any


def call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}


def calling(*call_ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [call(identifier) for identifier in call_ids]}


def answer(call_id: str, content: Any = "18 °C") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


USER = {"role": "user", "content": "How is the weather?"}
SOUND = [USER, calling("c1"), answer("c1"), {"role": "assistant", "content": "Fine."}]
APART = [USER, calling("c1"), USER, answer("c1")]
ORPHAN = [USER, answer("c9")]
UNANSWERED = [USER, calling("c1"), USER]


def codes(found: Any) -> list[str]:
    return [item.code for item in found]
