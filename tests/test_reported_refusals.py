"""Refusals that public issues report: the findings, and what a repair writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from turnlint import testing
from turnlint.cli.why_found import explain, look

Body = dict[str, Any]
SYSTEMS = [{"role": "system", "content": text} for text in ("A", 'B"é', "C")]
USER = {"role": "user", "content": "hi"}
REPLY = {"role": "assistant", "content": "yes"}
CONVERSE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
CALLED = [{"role": "user", "content": [{"text": "hi"}]}, {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}]}, {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "x"}]}}]}]  # fmt: skip


def fixed(body: Body, wire: str, provider: str) -> Body:
    done: Body = json.loads(testing.fixed(json.dumps(body).encode() + b"\n", wire, provider))
    return done


@pytest.mark.parametrize("count", [2, 3])
def test_system_messages_in_a_row_become_one_with_all_texts(count: int) -> None:
    body = {"model": "MiniMax-M2.5", "stream": True, "messages": [*SYSTEMS[:count], USER]}
    found = fixed(body, "openai-chat", "minimax")["messages"]
    assert found == [
        {"role": "system", "content": "\n\n".join(one["content"] for one in SYSTEMS[:count])},
        USER,
    ]


def test_a_late_system_message_is_moved_and_joined() -> None:
    body = {"model": "MiniMax-M2.5", "stream": True, "messages": [SYSTEMS[0], USER, REPLY, SYSTEMS[1], USER]}
    found = fixed(body, "openai-chat", "minimax")["messages"]
    assert found == [{"role": "system", "content": 'A\n\nB"é'}, USER, REPLY, USER]


def test_a_system_message_with_another_key_is_not_joined() -> None:
    named = {**SYSTEMS[1], "name": "n"}
    body = {"model": "MiniMax-M2.5", "stream": True, "messages": [SYSTEMS[0], named, USER]}
    found = fixed(body, "openai-chat", "minimax")["messages"]
    assert found == [SYSTEMS[0], {**named, "role": "user"}, USER]


@pytest.mark.parametrize("key", ["thinking", "reasoning_config"])
def test_the_setting_for_thinking_is_found_where_bedrock_has_it(key: str) -> None:
    other = {"anthropic_beta": ["x"]}
    setting = {key: {"type": "enabled", "budget_tokens": 1024}}
    tools = {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]}
    body = {
        "modelId": CONVERSE, "messages": CALLED, "toolConfig": tools, "additionalModelRequestFields": {**other, **setting},
    }  # fmt: skip
    assert fixed(body, "bedrock", "bedrock") == {**body, "additionalModelRequestFields": other}


def test_thinking_that_is_on_by_default_is_disabled_and_not_only_removed() -> None:
    messages = [
        USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]},
    ]  # fmt: skip
    body = {
        "model": "deepseek-v4-pro", "max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"name": "f", "input_schema": {"type": "object"}}], "messages": messages,
    }  # fmt: skip
    assert fixed(body, "anthropic", "deepseek") == {**body, "thinking": {"type": "disabled"}}


def test_an_id_beside_a_call_moves_into_it_and_an_empty_part_goes() -> None:
    contents = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "id": "a"}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "f", "response": {}, "id": "a"}, "id": "a"}, {}],
        },
    ]
    found = fixed({"generationConfig": {}, "contents": contents}, "gemini", "gemini")["contents"]
    assert found[1]["parts"] == [{"functionCall": {"name": "f", "args": {}, "id": "a"}}]
    assert found[2]["parts"] == [{"functionResponse": {"name": "f", "response": {}, "id": "a"}}]


def test_a_content_of_only_an_empty_part_gets_a_text() -> None:
    contents = [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{}]}, {"role": "user", "parts": [{"text": "go"}]}]  # fmt: skip
    found = fixed({"generationConfig": {}, "contents": contents}, "gemini", "gemini")["contents"]
    assert all({} not in content["parts"] and content["parts"] for content in found)


def test_an_empty_item_id_is_removed() -> None:
    reasoning = {"type": "reasoning", "id": "", "summary": [], "encrypted_content": "gAAAA"}
    body = {"model": "gpt-5.4", "store": False, "input": [USER, reasoning, REPLY, USER]}
    found = fixed(body, "openai-responses", "openai-responses")["input"]
    assert found == [USER, {key: value for key, value in reasoning.items() if key != "id"}, REPLY, USER]


def test_gpt_oss_takes_a_text_or_reasoning_beside_a_call_but_not_both() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    called = {"role": "assistant", "content": "I look", "reasoning_content": "hm", "tool_calls": [call]}
    messages = [USER, called, {"role": "tool", "tool_call_id": "a", "content": "x"}]
    body = {"model": "gpt-oss-20b", "stream": True, "messages": messages}
    found = fixed(body, "openai-chat", "vllm")["messages"][1]
    assert found == {key: value for key, value in called.items() if key != "reasoning_content"}
    for sound in ({**called, "content": ""}, {**called, "reasoning_content": ""}):
        body["messages"] = [USER, sound, messages[2]]
        assert fixed(body, "openai-chat", "vllm") == body


def test_a_text_that_another_service_passes_on_is_looked_up_in_its_wire(tmp_path: Path) -> None:
    path = tmp_path / "request.jsonl"
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    body = {"modelId": CONVERSE, "messages": CALLED, "additionalModelRequestFields": thinking}
    path.write_text(json.dumps(body) + "\n")
    text = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
    looked = look(explain(text, (), ()), str(path), None, ())
    assert [one.row.finding.code for one in looked.shown] == ["PR314"]
    assert looked.providers == ("auto",)
