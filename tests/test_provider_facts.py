"""Requests that providers accepted or refused, as recorded in 2026-11: one row for each fact.

Every record is checked alone and in a log of 40 such records.
"""

import json
from collections import Counter
from typing import Any

import pytest

from turnlint.testing import fixed, rows_of

MANY_RECORDS = 40
Json = dict[str, Any]


def gemini(*contents: Json, model: str = "gemini-2.5-flash") -> Json:
    return {"model": model, "contents": [*contents], "generationConfig": {"temperature": 0}}


def turn_of(role: str, *parts: Any) -> Json:
    return {"role": role, "parts": [*parts]}


def chat(*messages: Json, **more: Any) -> Json:
    return {"model": "m", "temperature": 0, **more, "messages": [*messages]}


def items(*some: Json, **more: Any) -> Json:
    return {"model": "gpt-5.1", **more, "input": [{"role": "user", "content": "hi"}, *some]}


HI, GO_ON = turn_of("user", {"text": "hi"}), turn_of("user", {"text": "go on"})
F, G = {"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "g", "args": {}}}
F_DONE = {"functionResponse": {"name": "f", "response": {"output": "1"}}}
G_DONE = {"functionResponse": {"name": "g", "response": {"output": "2"}}}
QUESTION: Json = {"role": "user", "content": "hi"}
REPLY: Json = {"role": "assistant", "content": "yes"}
SYSTEM: Json = {"role": "system", "content": "be brief"}
TOOL: Json = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
CALL: Json = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS: Json = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TWO: Json = {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
SEALED = {**THOUGHT, "encrypted_content": "gAAA"}
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}

TOOLS = {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]}
BLOCK_QUESTION: Json = {"role": "user", "content": [{"text": "hi"}]}
BEGUN: Json = {"role": "assistant", "content": [{"text": "{"}]}
USED: Json = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}]}
USE_DONE: Json = {
    "role": "user",
    "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}],
}


PICTURE: Json = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}


def used_at_once(model: str) -> Json:
    """A result with a status, as the library of Amazon writes it."""
    result = {"toolUseId": "abcdefgh1", "content": [{"text": "ok"}], "status": "success"}
    call = {"toolUse": {"toolUseId": "abcdefgh1", "name": "f", "input": {}}}
    return converse(
        {"role": "user", "content": [{"text": "hi"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"toolResult": result}]},
        modelId=model,
    )


def converse(*messages: Json, **more: Any) -> Json:
    fields = {"modelId": "anthropic.claude-3-haiku-20240307-v1:0", "toolConfig": TOOLS, **more}
    return {**{key: value for key, value in fields.items() if value}, "messages": [*messages]}


def chat_about(model: str) -> Json:
    return {
        "model": model,
        "max_tokens": 9,
        "messages": [QUESTION, {"role": "system", "content": "be brief"}],
    }


TOOL_F: Json = {"name": "f", "input_schema": {"type": "object"}}


def changes(*tools: Json) -> Json:
    """A request whose system message adds a tool."""
    added = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "f"}}
    declared: Json = {"tools": [*tools]} if tools else {}
    return {
        **chat_about("claude-opus-4-8"),
        **declared,
        "messages": [QUESTION, {"role": "system", "content": [added]}],
    }


def briefed(model: str, *more: Json) -> Json:
    return converse(
        BLOCK_QUESTION, {"role": "system", "content": [{"text": "be brief"}]}, *more, modelId=model
    )


def redacted(message: Json, length: int = 0) -> Json:
    """A message with an id as rewritten by a recorder."""
    own = "call_REDACTED_1".ljust(length + 1, "1")
    if "tool_call_id" in message:
        return {**message, "tool_call_id": own}
    return {**message, "tool_calls": [{**CALL, "id": own}]}


REDACTED_USE = (
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu.REDACTED", "name": "f", "input": {}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu.REDACTED", "content": "ok"}]},
)
FACTS: list[tuple[str, str, Json, dict[str, str]]] = [
    # Responses: items that the provider stores
    ("openai-responses", "openai-responses", items(SEALED, ANSWER), {"PR315": "error"}),
    ("openai-responses", "openai-responses", items(SEALED, {**ANSWER, "id": "msg_1"}), {}),
    ("openai-responses", "openai-responses", items(SEALED, ANSWER, model="o3-mini"), {"PR315": "warning"}),
    ("openai-responses", "openai-responses", items(SEALED, ANSWER, store=False), {}),
    ("openai-responses", "openai-responses", items(THOUGHT, ANSWER, store=False), {"PR326": "error"}),
    ("openai-responses", "openai-responses", items({"type": "item_reference", "id": "rs_1"}, store=False), {"PR326": "error"}),
    ("openai-responses", "openai-responses", items({"type": "item_reference", "id": "rs_1"}), {}),
    ("openai-responses", "openai-responses", items(SEALED, ANSWER, previous_response_id="resp_1"), {}),
    ("gemini", "gemini", gemini(HI, turn_of("model", {"text": "x"})), {}),
    ("gemini", "gemini", gemini(HI, turn_of("model", {"text": "x"}), model="gemini-3.7-flash"), {"PR311": "warning"}),
    ("gemini", "vertex", gemini({"role": "narrator", "parts": [{"text": "x"}]}, GO_ON), {"ST103": "error"}),
    ("openai-responses", "openai-responses", items({**SEALED, "id": "id_REDACTED_1"}, {**ANSWER, "id": "msg_REDACTED_1"}), {}),
    ("openai-responses", "openai-responses", items({**SEALED, "id": "id_1"}, {**ANSWER, "id": "msg_1"}), {"PR303": "error"}),
    # Gemini: results are counted if some follow the turn
    ("gemini", "gemini", gemini(HI, turn_of("model", F), GO_ON), {"PA201": "warning"}),
    ("gemini", "vertex", gemini(HI, turn_of("model", F), GO_ON), {"PA201": "warning"}),
    ("gemini", "gemini", gemini(HI, turn_of("model", F, G), turn_of("user", F_DONE), turn_of("model", {"text": "x"}), GO_ON), {"PA201": "error"}),
    ("gemini", "gemini", gemini(HI, turn_of("model", F)), {"PA206": "warning", "PR311": "warning"}),
    ("gemini", "gemini", gemini(HI, turn_of("model", F, G), turn_of("user", F_DONE)), {"PA206": "warning", "PR311": "error"}),
    ("gemini", "gemini", gemini(HI, turn_of("model", F, G), turn_of("user", F_DONE), turn_of("user", G_DONE)), {"PR309": "warning"}),
    ("gemini", "vertex", gemini(HI, turn_of("model", F, G), turn_of("user", F_DONE), turn_of("user", G_DONE)), {"PR309": "error"}),
    ("gemini", "gemini", gemini(turn_of("user", [{"text": "hi"}, {"text": "you"}])), {"ST103": "warning"}),
    ("gemini", "gemini", gemini(HI, {"role": "model"}, GO_ON), {"ST110": "warning", "PR312": "warning"}),
    ("gemini", "gemini", gemini(HI, turn_of("model", F), turn_of("user", F_DONE, {"text": "now"}), model="gemini-3-pro-preview"), {"PR320": "error"}),
    ("gemini", "gemini", gemini(HI, turn_of("model", {**F, "thoughtSignature": "c2ln"}), turn_of("user", F_DONE, {"text": "now"}), model="gemini-3-pro-preview"), {}),
    ("gemini", "gemini", gemini(HI, turn_of("model", {**F, "thoughtSignature": "c2ln"}), turn_of("user", F_DONE, {"text": "now"}), model="gemini-3.7-flash"), {"PR308": "warning"}),
    # A message with an unknown role is not treated as the last one
    ("gemini", "vertex", gemini({"role": "narrator", "parts": [{"text": "x"}]}), {"ST103": "error"}),
    ("anthropic", "anthropic", {"model": "claude-sonnet-5", "max_tokens": 9, "messages": [QUESTION, TOOL]}, {"PA202": "error", "PR310": "error", "ST116": "error"}),
    # Compatible endpoints of others do not take a system message among the messages
    ("anthropic", "deepseek", chat_about("deepseek-v4-pro"), {"PR310": "error"}),
    ("anthropic", "qwen", chat_about("qwen3-max"), {"PR310": "warning"}),
    ("anthropic", "auto", chat_about("deepseek-v4-pro"), {"PR310": "warning"}),
    ("anthropic", "auto", chat_about("claude-opus-4-8"), {}),
    ("anthropic", "anthropic", chat_about("claude-opus-4-7"), {"PR310": "error"}),
    ("anthropic", "anthropic", chat_about("claude-mythos-preview"), {}),
    ("anthropic", "anthropic", {**chat_about("anthropic/claude-sonnet-4.6"), "messages": [QUESTION, {"role": "assistant", "content": "{"}]}, {"PR311": "error"}),
    # Blocks that change the tools need a declared tool
    ("anthropic", "anthropic", changes(TOOL_F), {"PR325": "warning"}),
    ("anthropic", "anthropic", changes({**TOOL_F, "defer_loading": True}), {}),
    ("anthropic", "anthropic", changes(), {}),
    # Converse accepts a system message as Claude's own API does; there is no recording
    ("bedrock", "bedrock", briefed("us.anthropic.claude-opus-4-8-v1:0"), {}),
    ("bedrock", "bedrock", briefed("us.anthropic.claude-opus-4-8-v1:0", BLOCK_QUESTION), {"PR310": "warning"}),
    ("bedrock", "bedrock", briefed("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), {"PR310": "warning"}),
    ("bedrock", "bedrock", briefed("us.amazon.nova-lite-v1:0", BLOCK_QUESTION), {}),
    # Microsoft Foundry refuses it
    ("anthropic", "auto", {"url": "https://x.services.ai.azure.com/anthropic/v1/messages", "request": chat_about("claude-opus-4-8")},
     {"PR310": "warning"}),
    ("anthropic", "auto", {"url": "https://api.anthropic.com/v1/messages", "request": chat_about("claude-opus-4-8")}, {}),
    ("anthropic", "anthropic@foundry", chat_about("claude-opus-4-8"), {"PR310": "warning"}),
    # Bedrock: the text of the refusal names tools, and results were in the turn before
    ("bedrock", "bedrock", converse(BLOCK_QUESTION, BEGUN), {"PR311": "warning"}),
    ("bedrock", "bedrock", converse(BLOCK_QUESTION, USED, USE_DONE, BEGUN), {"PR311": "error"}),
    ("bedrock", "bedrock", converse(BLOCK_QUESTION, BEGUN, toolConfig=None), {}),
    # Chat Completions and similar wires
    ("openai-chat", "xai", chat(QUESTION, {**CALLS, "content": []}, TOOL), {}),
    ("openai-chat", "xai", chat(QUESTION, {"role": "assistant", "content": []}, QUESTION), {"PR318": "error", "ST110": "warning"}),
    ("openai-chat", "groq", chat(QUESTION, {**CALLS, "content": []}, TOOL), {}),
    ("openai-chat", "groq", chat(QUESTION, {"role": "assistant"}), {"PR318": "warning", "ST110": "warning"}),
    ("openai-chat", "groq", chat(QUESTION, {"role": "assistant"}, QUESTION), {"PR318": "error", "ST110": "warning"}),
    ("openai-chat", "groq", chat({**QUESTION, "timestamp": 1}), {"PR317": "error"}),
    ("openai-chat", "glm", chat(QUESTION, CALLS, {"role": "tool", "content": "ok"}), {"ST104": "warning"}),
    ("openai-chat", "glm", chat(QUESTION, TWO, TOOL, {"role": "tool", "content": "ok"}), {"ST104": "error"}),
    ("openai-chat", "mistral", chat(QUESTION, {**CALLS, "tool_calls": [{**CALL, "id": "aaaaaaaaa", "function": {"name": "a b", "arguments": "{}"}}]}, {**TOOL, "tool_call_id": "aaaaaaaaa"}), {"PR306": "warning"}),
    ("openai-chat", "kimi@k3", chat({"role": "system", "content": ""}, QUESTION), {"PR312": "error"}),
    ("openai-chat", "kimi@k3", chat(QUESTION, {**CALLS, "content": [{"type": "text", "text": ""}]}, TOOL), {"PR312": "error"}),
    ("openai-chat", "kimi@k3", chat(QUESTION, CALLS, TOOL, thinking={"type": "enabled"}), {"PR315": "error"}),
    ("openai-chat", "deepseek", chat(QUESTION, CALLS, TOOL, model="deepseek-v4-flash", thinking={"type": "enabled"}), {"PR315": "error"}),
    ("openai-chat", "deepseek", chat(QUESTION, CALLS, TOOL, model="deepseek-chat", thinking={"type": "enabled"}), {"PR315": "warning"}),
    ("openai-chat", "deepseek", chat(QUESTION, CALLS, TOOL, model="deepseek-v4-flash", thinking={"type": "disabled"}), {}),
    ("openai-chat", "vllm", chat(QUESTION, CALLS, {"role": "tool", "content": "ok"}), {"ST104": "warning"}),
    ("openai-chat", "vllm", chat(QUESTION, CALLS, TOOL, {**TOOL, "content": "no"}), {"ST107": "warning"}),
    ("openai-chat", "gemini", chat(QUESTION, CALLS, TOOL, model="gemini-3-pro-preview"), {"PR320": "error"}),
    ("openai-chat", "gemini", chat(QUESTION, CALLS, TOOL, model="gemini-2.5-pro"), {}),
    ("openai-chat", "ollama", chat(), {"PR323": "error"}),
    ("openai-chat", "vllm", chat(), {"PR323": "error"}),
    ("openai-chat", "shared", chat(), {"PR323": "error"}),
    ("openai-chat", "shared", {"messages": []}, {"PR323": "error"}),
    # A record that may be a stored conversation, or a request by which Ollama loads a model
    ("openai-chat", "auto", {"messages": []}, {"PR323": "warning"}),
    ("openai-chat", "auto", {"model": "gpt-4o", "messages": []}, {"PR323": "warning"}),
    ("openai-chat", "auto", {"id": "s1", "title": "x", "messages": []}, {}),
    ("openai-chat", "auto", {"model": "m", "messages": [], "stream": False, "keep_alive": 0}, {"PR323": "warning"}),
    ("openai-chat", "auto", chat(max_tokens=9), {"PR323": "error"}),
    ("bedrock", "bedrock", converse(), {"PR323": "error"}),
    ("bedrock", "bedrock", converse(modelId="arn:aws:bedrock:us-east-1:1:prompt/AB12"), {}),
    ("cohere", "cohere", chat(), {"PR323": "error"}),
    ("ollama", "ollama", chat(), {}),
    ("ollama", "ollama", chat(QUESTION, {"role": "assistant", "content": []}), {"ST103": "error"}),
    ("openai-chat", "ollama", chat({"role": "user", "content": ["hi"]}), {"PR325": "error"}),
    ("openai-chat", "openai", chat({"role": "user", "content": ["hi"]}), {}),
    ("openai-chat", "ollama", chat({"role": "user", "content": [{"type": "file", "file": {"file_data": "x"}}]}), {"PR325": "error"}),
    ("openai-chat", "ollama", chat(QUESTION, {**CALLS, "content": []}, TOOL), {}),
    ("openai-chat", "ollama", chat(QUESTION, {}, QUESTION), {"ST103": "error"}),
    ("ollama", "mistral", chat(QUESTION, {"role": "assistant", "content": "", "tool_calls": [None]}, QUESTION), {"ST103": "error"}),
    ("openai-chat", "ollama", chat(QUESTION, {"role": "assistant", "content": None}, QUESTION), {"PR318": "warning", "ST110": "warning"}),
    ("openai-chat", "openai", chat(), {"PR323": "error"}),
    ("openai-chat", "minimax", chat(), {"PR323": "error"}),
    ("anthropic", "minimax", {"model": "MiniMax-M2", "max_tokens": 9, "messages": []}, {"PR323": "error"}),
    # Google's page on thought signatures: the image models do not check them
    ("gemini", "gemini", gemini(HI, turn_of("model", F), turn_of("user", F_DONE), model="gemini-3-pro-preview"), {"PR320": "error"}),
    ("gemini", "gemini", gemini(HI, turn_of("model", F), turn_of("user", F_DONE), model="gemini-3-pro-image-preview"), {}),
    # Ids that a recorder rewrote are not the sent ones: accepted requests have them
    ("openai-chat", "mistral", chat(QUESTION, redacted(CALLS), redacted(TOOL)), {"PR303": "warning"}),
    ("openai-chat", "openai", chat(QUESTION, redacted(CALLS, 64), redacted(TOOL, 64)), {"PR302": "warning"}),
    ("anthropic", "anthropic", {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [QUESTION, *REDACTED_USE]},
     {"PR301": "warning"}),
    # Perplexity: one refusal, 4 accepted requests with the system message first
    ("openai-chat", "shared", chat(QUESTION, REPLY, SYSTEM, QUESTION, model="sonar"), {"PR310": "warning"}),
    ("openai-chat", "shared", chat(QUESTION, REPLY, SYSTEM, QUESTION, model="perplexity/sonar-pro"), {"PR310": "warning"}),
    ("openai-chat", "shared", chat(SYSTEM, QUESTION, REPLY, QUESTION, model="sonar"), {}),
    ("openai-chat", "shared", chat(QUESTION, REPLY, SYSTEM, QUESTION, model="gpt-4o"), {}),
    ("openai-chat", "shared", chat(QUESTION, REPLY, SYSTEM, QUESTION), {}),
    ("openai-chat", "openai", {"messages": []}, {"PR323": "error"}),
    # Images outside of messages of the user: a result was refused, and an assistant message was reported
    ("openai-chat", "openai", chat({"role": "system", "content": [PICTURE]}, QUESTION, model="gpt-4o"), {"PR325": "warning"}),
    ("openai-chat", "openai", chat({"role": "developer", "content": [PICTURE]}, QUESTION, model="gpt-4o-mini"), {"PR325": "warning"}),
    ("openai-chat", "openai", chat({"role": "system", "content": [PICTURE]}, QUESTION, model="gpt-5"), {"PR325": "warning"}),
    ("openai-chat", "openai", chat({"role": "user", "content": [PICTURE]}, model="gpt-4o"), {}),
    # A status: refused by the first models of Mistral, taken by Pixtral (7defcbf6401ae434)
    *(
        ("bedrock", "bedrock", used_at_once(model), expected)
        for model, expected in (
            ("mistral.mistral-large-2407-v1:0", {"PR317": "error"}),
            ("us.mistral.pixtral-large-2502-v1:0", {}),
            ("mistral.mistral-large-3-675b-instruct", {"PR317": "warning"}),
            ("us.writer.palmyra-x5-v1:0", {"PR317": "error"}),
        )
    ),
]  # fmt: skip


def worst_in(record: Json, wire: str, provider: str, times: int) -> tuple[dict[str, str], Counter[str]]:
    """Each code with its severity and its number of findings."""
    rows = rows_of((json.dumps(record) + "\n").encode() * times, wire, provider)
    rows = [row for row in rows if row.finding.severity != "info"]
    return {row.finding.code: row.finding.severity for row in rows}, Counter(row.finding.code for row in rows)


@pytest.mark.parametrize(("wire", "provider", "record", "expected"), FACTS)
def test_a_fact_holds(wire: str, provider: str, record: Json, expected: dict[str, str]) -> None:
    found, once = worst_in(record, wire, provider, 1)
    assert found == expected
    severities, often = worst_in(record, wire, provider, MANY_RECORDS)
    assert severities == expected
    assert often == {code: MANY_RECORDS * count for code, count in once.items()}


@pytest.mark.parametrize(("wire", "provider", "record", "expected"), FACTS)
def test_a_repair_adds_no_error(wire: str, provider: str, record: Json, expected: dict[str, str]) -> None:
    before = (json.dumps(record) + "\n").encode()
    after = fixed(before, wire, provider)
    assert fixed(after, wire, provider) == after
    found, _ = worst_in(json.loads(after), wire, provider, 1)
    assert found.keys() <= expected.keys()


HALF_WAY: list[tuple[str, str, Json]] = [
    (
        "openai-chat",
        "mistral",
        chat(
            QUESTION,
            {"role": "assistant", "content": "", "tool_call_id": "aaaaaaaaa", "name": "f", "result": "ok"},
        ),
    ),
    (
        "openai-responses",
        "vllm",
        {
            "input": [
                {
                    "type": "function_call",
                    "call_id": "call_incomplete",
                    "name": "f",
                    "arguments": '{"value": ',
                },
                {"type": "function_call_output", "call_id": "call_incomplete", "output": "not run"},
                {"role": "user", "content": "go on"},
            ]
        },
    ),
]
"""Repairs that take several steps."""


@pytest.mark.parametrize(("wire", "provider", "record"), HALF_WAY)
def test_a_repair_is_complete(wire: str, provider: str, record: Json) -> None:
    before = (json.dumps(record) + "\n").encode()
    assert worst_in(record, wire, provider, 1)[0]
    after = fixed(before, wire, provider)
    assert worst_in(json.loads(after), wire, provider, 1)[0] == {}


REWRITTEN: list[tuple[str, str, Json, Json]] = [
    (
        "ollama",
        "ollama",
        {**QUESTION, "content": [], "images": ["iVBORw0KGgo="]},
        {**QUESTION, "content": "", "images": ["iVBORw0KGgo="]},
    ),
    (
        "openai-chat",
        "ollama",
        {**QUESTION, "content": ["hi"]},
        {**QUESTION, "content": [{"type": "text", "text": "hi"}]},
    ),
]


@pytest.mark.parametrize(("wire", "provider", "before", "after"), REWRITTEN)
def test_a_content_is_rewritten_as_the_provider_reads_it(
    wire: str, provider: str, before: Json, after: Json
) -> None:
    data = json.dumps(chat(QUESTION, before, QUESTION)).encode() + b"\n"
    assert json.loads(fixed(data, wire, provider)) == chat(QUESTION, after, QUESTION)


def test_the_reason_is_given_why_a_key_with_a_call_stays() -> None:
    answer = {"role": "assistant", "content": "ok", "tool_call_id": "aaaaaaaaa"}
    call = {**CALLS, "tool_calls": [{**CALL, "id": "aaaaaaaaa"}]}
    record = chat(QUESTION, call, {**TOOL, "tool_call_id": "aaaaaaaaa"}, answer, QUESTION)
    rows = rows_of(json.dumps(record).encode(), "openai-chat", "mistral")
    fixes = [row.finding.fix for row in rows if row.finding.code == "PR317"]
    assert [fix.title for fix in fixes if fix] == [
        "none; the key names call `aaaaaaaaa`, so write a message of role `tool`"
    ]
