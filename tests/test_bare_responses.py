"""Issue 17: a bare response, the body that a provider answers, is recognized, read and checked on every wire."""

import json
from pathlib import Path
from typing import Any

import pytest

from commands import run_cli

CHAT_CALL = {"id": "call_1", "type": "function", "function": {"name": "count", "arguments": '{"upto": 3}'}}
CHAT = {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}
BARE_CALL = {"type": "tool_use", "id": "toolu_1", "name": "count", "input": {"upto": 3}}
ITEM = {"type": "function_call", "call_id": "call_1", "name": "count", "arguments": '{"upto": 3}'}
PART = {"functionCall": {"name": "count", "args": {"upto": 3}}}
OLLAMA = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"function": {"name": "count", "arguments": {"upto": 3}}}],
}
BEDROCK = {
    "role": "assistant",
    "content": [{"toolUse": {"toolUseId": "t1", "name": "count", "input": {"upto": 3}}}],
}

RESPONSES: dict[str, tuple[str, Any]] = {
    "anthropic-content": ("anthropic", {"content": [BARE_CALL]}),
    "anthropic-thinking": ("anthropic", {"content": [{"type": "thinking", "thinking": "a", "signature": "c2ln"}, BARE_CALL]}),
    "anthropic-search": (
        "anthropic",
        {"content": [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, BARE_CALL,
        ]},
    ),
    "anthropic-role": ("anthropic", {"role": "assistant", "content": [BARE_CALL], "stop_reason": "tool_use"}),
    "anthropic-whole": (
        "anthropic",
        {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [BARE_CALL],
         "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 5}},
    ),
    "chat": ("openai-chat", {"choices": [{"message": CHAT}]}),
    "chat-without-role": ("openai-chat", {"choices": [{"message": {"tool_calls": [CHAT_CALL]}}]}),
    "chat-legacy": (
        "openai-chat",
        {"choices": [{"message": {"role": "assistant", "content": None,
                                  "function_call": {"name": "count", "arguments": "{}"}}, "finish_reason": "function_call"}]},
    ),
    "responses": ("openai-responses", {"output": [ITEM]}),
    "responses-whole": ("openai-responses", {"id": "resp_1", "object": "response", "status": "completed", "output": [ITEM]}),
    "gemini": ("gemini", {"candidates": [{"content": {"parts": [PART]}}]}),
    "gemini-whole": ("gemini", {"candidates": [{"content": {"role": "model", "parts": [PART]}, "finishReason": "STOP"}]}),
    "bedrock": ("bedrock", {"output": {"message": BEDROCK}}),
    "bedrock-whole": ("bedrock", {"output": {"message": BEDROCK}, "stopReason": "tool_use", "usage": {"inputTokens": 1}}),
    "cohere": ("cohere", {"id": "c", "message": {**CHAT, "tool_plan": "I count."}, "finish_reason": "TOOL_CALL"}),
    "cohere-v1": (
        "cohere-v1",
        {"text": "I count.", "generation_id": "g", "finish_reason": "COMPLETE",
         "tool_calls": [{"name": "count", "parameters": {"upto": 3}}]},
    ),
    "ollama": ("ollama", {"model": "llama3.2", "created_at": "2026-01-01T00:00:00Z", "message": OLLAMA, "done": True}),
    "ollama-message": ("ollama", {"message": OLLAMA}),
    "anthropic-in-a-list": ("anthropic", [{"role": "assistant", "content": [BARE_CALL]}]),
    "responses-items": ("openai-responses", [{"type": "reasoning", "id": "rs_1", "summary": []}, ITEM]),
    "gemini-content": ("gemini", {"role": "model", "parts": [PART]}),
    "bedrock-message": ("bedrock", BEDROCK),
    "mistral": (
        "mistral",
        {"object": "chat.completion", "model": "mistral-small-latest",
         "choices": [{"index": 0, "message": {**CHAT, "prefix": False, "tool_calls": [{**CHAT_CALL, "id": "Abcdefgh1"}]}}]},
    ),
}  # fmt: skip
"""Each response has one call for the client; the name of its format is beside it."""


@pytest.mark.parametrize("indent", [None, 2], ids=["line", "document"])
def test_a_bare_response_is_recognized_and_linted_without_findings(
    tmp_path: Path, indent: int | None
) -> None:
    for name, (_, body) in RESPONSES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(body, indent=indent) + "\n")
    linted = run_cli("lint", ".", "--output-format", "jsonl", cwd=tmp_path, text=True)
    rows = [json.loads(line) for line in linted.stdout.splitlines()]
    assert (linted.returncode, [row for row in rows if "code" in row]) == (0, []), linted.stdout
    told = json.loads(run_cli("inspect", ".", "--output-format", "json", cwd=tmp_path, text=True).stdout)
    found = {
        Path(one["path"]).stem: (
            *one["content"]["formats"],
            one["content"]["counts"]["calls"] - one["content"]["counts"]["server_calls"],
        )
        for one in told["files"]
    }
    assert found == {name: (wire, 1) for name, (wire, _) in RESPONSES.items()}


def test_a_bare_response_in_a_log_of_messages_is_one_of_them(tmp_path: Path) -> None:
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"}]}
    lines = ({"role": "user", "content": "Count."}, {"role": "assistant", "content": [BARE_CALL]})
    for name, some in (("answered", (*lines, result)), ("open", lines)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in some))
    linted = run_cli("lint", ".", "--output-format", "concise", cwd=tmp_path, text=True)
    assert [line.split(": ")[1].split("[")[0] for line in linted.stdout.splitlines()] == ["PA206"], (
        linted.stdout
    )


@pytest.mark.parametrize(
    "body",
    [
        {"content": [{"type": "text", "text": "a result of a tool"}], "isError": False},
        {"content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"}]},
        {"content": []},
        {"content": [{"type": "tool_use"}, "text"]},
    ],
    ids=["tool-of-mcp", "result", "empty", "strange"],
)
def test_other_bodies_with_a_content_are_no_response(tmp_path: Path, body: dict[str, Any]) -> None:
    (tmp_path / "body.json").write_text(json.dumps(body))
    assert run_cli("lint", "body.json", cwd=tmp_path).returncode == 3
