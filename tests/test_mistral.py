"""Mistral's wire: its additions to Chat Completions, and records of other formats."""

import json
from pathlib import Path
from typing import Any

import pytest

from kin import (
    CORPUS,
    NEEDS_CORPUS,
    battered,
    call_in,
    exchanges,
    judged,
    messages,
    result_in,
    sniffed,
    transcripts,
)
from turnlint import carriers, ledger
from turnlint.model import Other, Record, Text, Thinking
from turnlint.notation import write

MODEL = "mistral-large-latest"
USER = {"role": "user", "content": "go"}
REPLY = {"role": "assistant", "content": "so it is"}
TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}]


def call(arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"id": "a1B2c3D4e", "function": {"name": "run", "arguments": arguments}, **more}


def calling(*calls: dict[str, Any], key: str = "tool_calls") -> dict[str, Any]:
    return {"role": "assistant", "content": "", key: list(calls)}


def answer(key: str = "tool_call_id", **more: Any) -> dict[str, Any]:
    return {"role": "tool", key: "a1B2c3D4e", "content": "done", **more}


@pytest.mark.parametrize(
    ("arguments", "written", "judged_as"),
    [('{"a": 1}', "text", "object"), ({"a": 1}, "object", "object"), ('{"a": ', "text", "torn"), ("", "text", "nothing"),
     (["a"], "list", "unfit")],
)  # fmt: skip
def test_arguments_are_a_text_or_an_object(arguments: Any, written: str, judged_as: str) -> None:
    _, calling_message, _ = messages("mistral", USER, calling(call(arguments)), answer())
    found = call_in(calling_message)
    assert (found.written, found.arguments, found.kind) == (written, judged_as, "function")


def test_the_keys_of_either_sdk_are_read_and_have_pointers() -> None:
    (transcript,) = transcripts(
        "mistral",
        {"messages": [USER, calling(call(), key="toolCalls"), answer("toolCallId", name="run"), REPLY]},
    )
    read_call, answered = call_in(transcript.messages[1]), result_in(transcript.messages[2])
    assert (*read_call.at, *read_call.keys.name) == ("toolCalls", 0, "function", "name")
    assert (answered.id, answered.keys.id, answered.name) == ("a1B2c3D4e", ("toolCallId",), "run")
    assert ledger.read(transcript.messages, transcript.wire).tidy


def test_of_two_spellings_that_of_the_api_is_read() -> None:
    _, answered = messages("mistral", USER, {**answer(), "toolCallId": "other"})
    assert result_in(answered).id == "a1B2c3D4e"


def test_chunks_of_a_content_are_distinguished() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    silent = {
        "type": "thinking",
        "thinking": [{"type": "text", "text": " "}, {"type": "reference", "reference_ids": [1]}],
    }
    thinking_chunk = {"type": "thinking", "thinking": "hm"}
    page = {"type": "document_url", "document_url": "https://example.com/a.pdf"}
    image = {"type": "image_url", "image_url": "https://example.com/a.png"}
    source = {"type": "reference", "reference_ids": [1]}
    content = [thought, silent, thinking_chunk, {"type": "text", "text": "so "}, source, page, image]
    (message,) = messages("mistral", {"role": "assistant", "content": content})
    assert message.blocks == (
        Thinking(("content", 0), "thinking", words=True),
        Thinking(("content", 1), "thinking", words=False),
        Thinking(("content", 2), "thinking", words=True),
        Text(("content", 3), trailing=True),
        Other(("content", 4), "reference"),
        Other(("content", 5), "document_url"),
        Other(("content", 6), "image_url"),
    )


def test_a_prefix_is_kept_and_a_sample_may_end_on_its_call() -> None:
    *_, last = messages("mistral", USER, {**REPLY, "prefix": True})
    assert last.prefix
    (sample,) = transcripts("mistral", {"messages": [USER, calling(call())], "tools": TOOLS})
    (request,) = transcripts("mistral", {"messages": [USER, calling(call())], "tools": TOOLS, "model": MODEL})
    assert (sample.open_end, request.open_end) == (True, False)


def test_a_role_of_openai_belongs_to_another_dialect() -> None:
    message, _ = messages("mistral", {"role": "developer", "content": "terse"}, USER)
    assert (message.role, message.dialect) == ("system", "openai-chat")


THOUGHT = {
    "role": "assistant",
    "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}],
}
SNIFFS: list[tuple[str, Any, str | None]] = [
    ("a hosted model", {"model": MODEL, "messages": [USER]}, "mistral"),
    ("a hosted model by its month", {"model": "ministral-8b-2410", "messages": [USER]}, "mistral"),
    ("a hosted model with calls", {"model": "open-mistral-nemo", "messages": [USER, calling(call()), answer()]}, "mistral"),
    ("a response of a hosted model", {"model": "codestral-2501", "choices": [{"message": REPLY}]}, "mistral"),
    ("a hosted model in a pair", {"request": {"model": "devstral-medium-latest", "messages": [USER]}}, "mistral"),
    ("sent to the platform", {"url": "https://api.mistral.ai/v1/chat/completions", "request": {"messages": [USER]}}, "mistral"),
    ("a key of its own", {"model": "m", "messages": [USER], "safe_prompt": False}, "mistral"),
    ("a prefix", {"messages": [USER, calling(call()), answer(), {**REPLY, "prefix": True}]}, "mistral"),
    ("a bare array with a prefix", [USER, {**REPLY, "prefix": True}], "mistral"),
    ("thoughts in chunks", {"messages": [USER, THOUGHT]}, "mistral"),
    ("thoughts in chunks on a line", THOUGHT, "mistral"),
    ("a document", {"messages": [{"role": "user", "content": [{"type": "document_url", "document_url": "x"}]}]}, "mistral"),
    ("a model under a name that Ollama has", {"model": "mistral-small3.1", "messages": [USER]}, "openai-chat"),
    ("a model with a common name", {"model": "mistral-small", "messages": [USER]}, "openai-chat"),
    ("a model behind a router", {"model": "mistralai/mistral-large-2411", "messages": [USER]}, "openai-chat"),
    ("a model on a bench", {"model": "mistral-7b-instruct-v0.3", "messages": [USER, calling(call()), answer()]}, "openai-chat"),
    ("another's model", {"model": "gpt-4.1", "messages": [USER, calling(call()), answer()]}, "openai-chat"),
    ("a prefix for DeepSeek", {"model": "deepseek-chat", "messages": [USER, {**REPLY, "prefix": True}]}, "openai-chat"),
    ("a prefix with DeepSeek's thoughts", [USER, {**REPLY, "prefix": True, "reasoning_content": "hm"}], "openai-chat"),
    ("a platform and no chat", {"host": "api.mistral.ai", "status": 200}, None),
    ("thoughts of Anthropic's", {"messages": [USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}]}, "anthropic"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "expected"), [case[1:] for case in SNIFFS], ids=[case[0] for case in SNIFFS]
)
def test_only_its_own_keys_identify_a_record(record: Any, expected: str | None) -> None:
    assert sniffed(record) == expected


def test_a_name_of_a_model_is_no_chat() -> None:
    assert sniffed({"model": MODEL, "input": "embed this"}) != "mistral"


def test_a_log_of_many_models_is_not_taken_for_a_log_of_one_platform(tmp_path: Path) -> None:
    plain = {"model": "gpt-4.1", "messages": [USER, REPLY]}
    rows, tally = judged([{"model": MODEL, "messages": [USER]}, *[plain] * 9], None, tmp_path)
    assert (rows, tally.conversations) == ([], 10)


def test_no_shape_crashes_the_reader(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": [{"type": "document_url", "document_url": "x"}]},
        {**calling(call({"a": 1}, type="function")), "content": THOUGHT["content"], "prefix": False},
        answer(name="run"),
        calling(call(), key="toolCalls"),
        answer("toolCallId"),
        {"role": "assistant", "content": [{"type": "reference", "reference_ids": [1]}], "prefix": True},
    ]
    records = list(battered({"model": MODEL, "messages": messages, "tools": TOOLS}))
    assert len(records) > 400
    for format_name in ("mistral", None):
        rows, tally = judged(records, format_name, tmp_path)
        assert tally.conversations > len(records) / 2
        assert {"malformed-message", "orphan-result", "missing-call-id"} <= {row.finding.rule for row in rows}


def test_an_example_is_written_on_it() -> None:
    record = write(
        'user a\nassistant\n  think hm\n  call c1 run {"a": 1}\n  result c1 (run) error: no\n', "mistral"
    ).record
    assert record["model"] == MODEL
    assert [tool["function"]["name"] for tool in record["tools"]] == ["run"]
    assert [message["role"] for message in record["messages"]] == ["user", "assistant", "tool"]
    (transcript,) = transcripts("mistral", record)
    assert [type(block).__name__ for block in transcript.messages[1].blocks] == ["Thinking", "Call"]
    assert (result_in(transcript.messages[2]).name, record["messages"][2]["content"]) == ("run", "no")


@NEEDS_CORPUS
@pytest.mark.parametrize("format_name", ["mistral", "openai-chat"])
def test_requests_that_the_platform_accepted_are_read_whole_and_without_error(
    format_name: str, tmp_path: Path
) -> None:
    requests = [exchange["request"] for exchange in exchanges(lambda item: item["provider"] == "mistral")]
    rows, tally = judged(requests, format_name, tmp_path)
    messages = [message for request in requests for message in request["messages"]]
    assert len(requests) > 600
    assert (tally.conversations, tally.messages) == (len(requests), len(messages))
    assert tally.calls == sum(len(message.get("tool_calls") or ()) for message in messages)
    assert tally.results == sum(message["role"] == "tool" for message in messages)
    assert {row.finding.severity for row in rows} <= {"warning"}
    assert {row.finding.rule for row in rows} == {"call-left-in-text"}
    assert tally.noted["foreign-names"] >= 15


@pytest.mark.slow
@NEEDS_CORPUS
def test_no_request_that_another_server_accepted_is_taken_for_it() -> None:
    others = exchanges(lambda item: item["wire"] == "openai-chat" and item["provider"] != "mistral")
    assert len(others) > 8000
    kin = [carriers.carrier(name) for name in ("mistral", "ollama", "cohere")]
    for other in others:
        record = Record(1, 0, json.dumps(other["request"]).encode())
        assert all(carriers.score(carrier, record) <= 0 for carrier in kin), other["id"]
    own = exchanges(lambda item: item["provider"] == "mistral" and item["model"] == MODEL)
    assert {sniffed(item["request"]) for item in own} == {"mistral"}


@NEEDS_CORPUS
def test_a_sample_for_fine_tuning_does_not_show_its_platform(tmp_path: Path) -> None:
    """It has no model, and OpenAI's samples look the same."""
    text = (CORPUS / "format_samples" / "mistral_finetune.jsonl").read_text(encoding="utf-8")
    samples = [json.loads(line) for line in text.splitlines()]
    assert {sniffed(sample) for sample in samples} == {"openai-chat"}
    rows, tally = judged(samples, "mistral", tmp_path)
    assert (rows, tally.calls, tally.results) == ([], 1, 1)
