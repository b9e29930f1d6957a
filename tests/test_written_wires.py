"""The wire of a record is the wire in which `fix` writes."""

import json
from typing import Any, get_args

import pytest

import turnlint
from turnlint.model import Level

CALLS = [{"id": name, "function": {"name": "look", "arguments": "{}"}} for name in ("c1", "c2")]
CONTENTS = [[{"text": "18 degrees"}], [{"document": {"data": "18 degrees"}}], "18 degrees"]


@pytest.mark.parametrize("provider", ["auto", "bedrock", "cohere", "openai"])
@pytest.mark.parametrize("level", get_args(Level))
@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("model", [{"model": "command-a-03-2025"}, {}])
def test_chat_calls_beside_parts_without_a_type_stay_chat_calls(
    model: dict[str, str], content: Any, level: Level, provider: str
) -> None:
    record = {
        **model,
        "messages": [
            {"role": "user", "content": [{"text": "Look twice."}]},
            {
                "role": "assistant",
                "tool_plan": "I look.",
                "tool_calls": CALLS,
                "content": [{"text": "Well."}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": content},
            {"role": "assistant", "content": [{"text": "Done."}]},
        ],
    }
    fixed = json.dumps(turnlint.fix(record, provider=provider, level=level).value)
    assert "toolUse" not in fixed
    assert "toolResult" not in fixed
    assert "18 degrees" in fixed
