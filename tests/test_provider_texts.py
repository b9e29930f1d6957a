"""The text that a finding predicts is the text with which the provider refuses such a request.

Each text was recorded, or is quoted in a public issue that its clause cites. The records are made up.
"""

import json
from typing import Any

import pytest

from test_provider_facts import ASK, CALL, CALLS, TOOL, Json, chat
from turnlint import testing

FOUR = {**CALLS, "tool_calls": [{**CALL, "id": f"c{number}"} for number in range(1, 5)]}
USE = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
DONE = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
_OPEN = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The "
    "following tool_call_ids did not have response messages: "
)
_NOT_AFTER = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` "
_NOT_AFTER += "block must have a corresponding `tool_result` block in the next message."


def talk(*messages: Json, **more: Any) -> Json:
    return {"model": "claude-sonnet-4-5", "max_tokens": 64, **more, "messages": [*messages]}


def of_user(*blocks: Json) -> Json:
    return {"role": "user", "content": [*blocks]}


def of_model(*blocks: Json) -> Json:
    return {"role": "assistant", "content": [*blocks]}


def texts(record: Json, wire: str, provider: str, code: str) -> set[str | None]:
    rows = testing.rows_of(json.dumps(record).encode(), wire, provider)
    return {row.finding.provider_error for row in rows if row.finding.code == code}


TEXTS: list[tuple[str, str, Json, str, str]] = [
    # A text names all open calls of the turn, whatever keeps each of them open.
    ("openai-chat", "openai", chat(ASK, FOUR, TOOL, ASK, {**TOOL, "tool_call_id": "c4"}, ASK), "PA201", _OPEN + "c2, c3, c4"),
    ("openai-chat", "openai", chat(ASK, FOUR, TOOL, ASK, {**TOOL, "tool_call_id": "c4"}, ASK), "PA203", _OPEN + "c2, c3, c4"),
    ("openai-chat", "openai", chat(ASK, FOUR, TOOL), "PA206", _OPEN + "c2, c3, c4"),
    ("openai-chat", "openai", chat(ASK, FOUR, TOOL), "PR311", _OPEN + "c2, c3, c4"),
    (
        "anthropic", "anthropic", talk(ASK, of_model(USE, {**USE, "id": "toolu_2"}, {**USE, "id": "toolu_3"}), of_user(DONE), ASK),
        "PA201", _NOT_AFTER.format("toolu_2, toolu_3"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "provider", "record", "code", "text"), TEXTS)
def test_a_text_is_that_of_the_provider(wire: str, provider: str, record: Json, code: str, text: str) -> None:
    assert texts(record, wire, provider, code) == {text}


def test_a_long_list_of_open_calls_is_whole() -> None:
    ids = [f"call_{number:024}" for number in range(128)]
    calls = {**CALLS, "tool_calls": [{**CALL, "id": one} for one in ids]}
    assert texts(chat(ASK, calls, ASK), "openai-chat", "openai", "PA201") == {_OPEN + ", ".join(ids)}
