"""A request that ends on an open call lacks a result, even if its record has the answer too."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from turnlint.cli.fix import command as fix
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.rows import Row

Pair = tuple[dict[str, Any], dict[str, Any]]
QUESTION = {"role": "user", "content": "What is the weather in Paris?"}
ANSWER = "It is 18 degrees."
CHAT_CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
ANTHROPIC_CALL = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
BEDROCK_CALL = {"toolUse": {"toolUseId": "tooluse_1", "name": "get_weather", "input": {}}}
PAIRS: dict[str, Pair] = {
    "openai-chat": (
        {"messages": [QUESTION, {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}]},
        {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": ANSWER}}]},
    ),
    "openai-responses": (
        {"input": [QUESTION, {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{}"}]},
        {
            "object": "response",
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}
            ],
        },
    ),
    "anthropic": (
        {"max_tokens": 100, "messages": [QUESTION, {"role": "assistant", "content": [ANTHROPIC_CALL]}]},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ),
    "bedrock": (
        {
            "messages": [
                {"role": "user", "content": [{"text": "What is the weather?"}]},
                {"role": "assistant", "content": [BEDROCK_CALL]},
            ]
        },
        {"output": {"message": {"role": "assistant", "content": [{"text": ANSWER}]}}, "stopReason": "end_turn"},
    ),
}  # fmt: skip
SERVER_CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
SERVER_RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
BOOK = Book(Options())


def found(record: dict[str, Any], times: int = 1) -> list[str]:
    data = json.dumps(record).encode() + b"\n"
    events = lint(Source("log.jsonl", None, data=data * times), BOOK.options, BOOK)
    return [event.finding.rule for event in events if isinstance(event, Row)]


@pytest.mark.parametrize("wire", PAIRS)
@pytest.mark.parametrize("times", [1, 40])
def test_a_call_that_the_answer_follows_lacks_its_result(wire: str, times: int) -> None:
    request, response = PAIRS[wire]
    rules = found({"request": request, "response": response}, times)
    assert rules.count("unanswered-call") == times
    assert "block-after-call" not in rules


@pytest.mark.parametrize("wire", PAIRS)
def test_a_call_in_the_answer_itself_is_open(wire: str) -> None:
    request, response = PAIRS[wire]
    (key,) = {"messages", "input"} & request.keys()
    sent = {**request, key: request[key][:1]}
    assert "unanswered-call" not in found({"request": sent, "response": response})


def test_an_answer_may_continue_with_a_call_of_the_provider() -> None:
    sent = {"max_tokens": 100, "messages": [QUESTION, {"role": "assistant", "content": [SERVER_CALL]}]}
    answer = {
        "type": "message",
        "role": "assistant",
        "content": [SERVER_RESULT, {"type": "text", "text": "ok"}],
    }
    assert found({"request": sent, "response": answer}) == []


@pytest.mark.parametrize("wire", PAIRS)
def test_a_repaired_request_has_the_result_before_the_answer(wire: str, tmp_path: Path) -> None:
    request, response = PAIRS[wire]
    log, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    log.write_text(json.dumps({"request": request, "response": response}) + "\n")
    assert CliRunner().invoke(fix, [str(log), "-o", str(out)]).exit_code == 0
    written = json.loads(out.read_text())
    (key,) = {"messages", "input"} & request.keys()
    assert written["response"] == response
    assert len(written["request"][key]) == len(request[key]) + 1
