"""The text that a finding predicts is the text with which the provider refuses such a request.

Each text was recorded, or is quoted in a public issue that its clause cites. The records are made up.
"""

import json
from typing import Any

import pytest

from test_provider_facts import (
    BLOCK_QUESTION,
    CALL,
    CALLS,
    F_DONE,
    GO_ON,
    HI,
    QUESTION,
    REPLY,
    SYSTEM,
    TOOL,
    USED,
    F,
    Json,
    chat,
    converse,
    gemini,
    turn_of,
)
from turnlint import testing

FOUR = {**CALLS, "tool_calls": [{**CALL, "id": f"c{number}"} for number in range(1, 5)]}
USE = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
DONE = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
TEXT = {"type": "text", "text": "yes"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
FILED = {
    "role": "user",
    "content": [
        {
            "toolResult": {
                "toolUseId": "t1",
                "content": [{"document": {"name": "d", "format": "pdf", "source": {}}}],
            }
        }
    ],
}
NINE = {**CALLS, "tool_calls": [{**CALL, "id": "aaaaaaaaa"}]}
NO_ID = {**CALLS, "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]}
NO_CALL_ID = {"role": "tool", "content": "ok"}
_OPEN = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The "
    "following tool_call_ids did not have response messages: "
)
_NOT_AFTER = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` "
_NOT_AFTER += "block must have a corresponding `tool_result` block in the next message."

_ROLE = 'messages: Unexpected role "{}". Allowed roles are "user" or "assistant"'


def request_of(*messages: Json, **more: Any) -> Json:
    return {"model": "claude-sonnet-4-5", "max_tokens": 64, **more, "messages": [*messages]}


def of_user(*blocks: Json) -> Json:
    return {"role": "user", "content": [*blocks]}


def of_model(*blocks: Json) -> Json:
    return {"role": "assistant", "content": [*blocks]}


def texts(record: Json, wire: str, provider: str, code: str) -> set[str | None]:
    rows = testing.rows_of(json.dumps(record).encode(), wire, provider)
    return {row.finding.provider_error for row in rows if row.finding.code == code}


UPLOADED = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}


def request_with_file(mime: str) -> Json:
    """A request with a file in a tool's result."""
    file = {"type": "input_file", "filename": "x", "file_data": f"data:{mime};base64,AAAA"}
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": [file]}
    return {"model": "gpt-5-mini", "input": [QUESTION, call, output]}


TEXTS: list[tuple[str, str, Json, str, str]] = [
    # A text names all open calls of the turn, for any reason that a call is open.
    ("openai-chat", "openai", chat(QUESTION, FOUR, TOOL, QUESTION, {**TOOL, "tool_call_id": "c4"}, QUESTION), "PA201", _OPEN + "c2, c3, c4"),
    ("openai-chat", "openai", chat(QUESTION, FOUR, TOOL, QUESTION, {**TOOL, "tool_call_id": "c4"}, QUESTION), "PA203", _OPEN + "c2, c3, c4"),
    ("openai-chat", "openai", chat(QUESTION, FOUR, TOOL), "PA206", _OPEN + "c2, c3, c4"),
    ("openai-chat", "openai", chat(QUESTION, FOUR, TOOL), "PR311", _OPEN + "c2, c3, c4"),
    (
        "anthropic", "anthropic", request_of(QUESTION, of_model(USE, {**USE, "id": "toolu_2"}, {**USE, "id": "toolu_3"}), of_user(DONE), QUESTION),
        "PA201", _NOT_AFTER.format("toolu_2, toolu_3"),
    ),
    (
        "anthropic", "deepseek", request_of(QUESTION, of_model(TEXT, USE), QUESTION), "PA201",
        "messages.1.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    # A server tool's call and its result are refused in different words.
    (
        "anthropic", "anthropic", request_of(QUESTION, of_model(SEARCH, TEXT), QUESTION), "PA209",
        "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block",
    ),
    (
        "anthropic", "anthropic", request_of(QUESTION, of_model(TEXT, FOUND), QUESTION), "PA209",
        ("messages.1.content.1: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each "
        "`web_search_tool_result` block must have a corresponding `server_tool_use` block before it."),
    ),
    (
        "gemini", "gemini", gemini(HI, turn_of("model", F), turn_of("user", F_DONE), model="gemini-3-pro-preview"), "PR320",
        ("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
        "and missing thought_signature may lead to degraded model performance. Additional data, function call "
        "`default_api:f` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more "
        "details."),
    ),
    (
        "gemini", "vertex", gemini(HI, turn_of("model", F), turn_of("user", F_DONE), model="gemini-3-pro-preview"), "PR320",
        ("Unable to submit request because function call `default_api:f` in the 2. content block is missing a "
        "`thought_signature`. Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"),
    ),
    (
        "gemini", "vertex", gemini(), "PR323",
        ("Unable to submit request because at least one contents field is required. Learn more: "
        "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"),
    ),
    (
        "gemini", "vertex", gemini(HI, {"role": "model"}, GO_ON), "PR312",
        ("Unable to submit request because it must include at least one parts field, which describes the prompt input. Learn "
        "more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"),
    ),
    (
        "openai-responses", "openai-responses", {"model": "gpt-5", "input": []}, "PR323",
        "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.",
    ),
    (
        "cohere", "cohere", chat({**QUESTION, "name": "x"}), "PR317",
        ("unknown field: parameter name is not a valid field. For proper usage, please refer to "
        "https://docs.cohere.com/reference/chat"),
    ),
    (
        "bedrock", "bedrock", converse(BLOCK_QUESTION, USED, FILED, modelId="us.amazon.nova-2-lite-v1:0"), "PR321",
        ("The model returned the following errors: Malformed input request: #/messages/2/content/0: extraneous key "
        "[toolResult] is not permitted, please reformat your input and try again."),
    ),
    ("openai-chat", "ollama", chat(), "PR323", "[] is too short - 'messages'"),
    ("openai-chat", "ollama", chat({"role": "user", "content": ["hi", {"type": "image_url"}]}), "PR325", "invalid message format"),
    ("openai-chat", "mistral", chat(QUESTION, NINE, NO_CALL_ID), "ST104", "Tool call id has to be defined."),
    (
        "openai-chat", "mistral", chat(QUESTION, NO_ID, {**TOOL, "tool_call_id": "aaaaaaaaa"}), "ST104",
        "Tool call id has to be defined in serving mode.",
    ),
    ("openai-chat", "mistral@v3", chat(), "PR323", "Conversation must have at least one message"),
    (
        "openai-chat", "deepseek", chat(QUESTION, CALLS, NO_CALL_ID), "ST104",
        ("Failed to deserialize the JSON body into the target type: messages[2]: missing field `tool_call_id` at line 1 "
        "column …"),
    ),
    ("anthropic", "anthropic", request_of(QUESTION, {"role": "assistant", "content": [USE]}, TOOL), "PR310",
     _ROLE.format("tool") + ". For instructions on how to use tools, see "
     "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview."),
    ("anthropic", "anthropic", request_of(QUESTION, {"role": "developer", "content": "x"}), "PR310", _ROLE.format("developer")),
    ("openai-chat", "shared", chat(QUESTION, REPLY, SYSTEM, QUESTION, model="sonar"), "PR310",
     "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s)."),
    ("openai-chat", "mistral", chat({"role": "user", "content": {"type": "text"}}, QUESTION), "ST103",
     ('[{"type": "string_type", "loc": ["body", "messages", 0, "user", "content", "str"], "msg": "Input should be a valid '
     'string", "input": …}, {"type": "list_type", "loc": ["body", "messages", 0, "user", "content", "list[tagged-union['
     'TextChunk,ImageURLChunk,DocumentURLChunk,ReferenceChunk,BBoxChunk,FileURLChunk,AudioChunk]]"], "msg": "Input should be '
     'a valid list", "input": …}]')),
    ("openai-chat", "mistral", chat({"role": "system", "content": {"secret": "x"}}, QUESTION), "ST103",
     ('[{"type": "string_type", "loc": ["body", "messages", 0, "system", "content", "str"], "msg": "Input should be a valid '
     'string", "input": …}, {"type": "list_type", "loc": ["body", "messages", 0, "system", "content", "list[tagged-union[…]]"]'
     ', "msg": "Input should be a valid list", "input": …}]')),
    # Bedrock's own validation, before the request reaches Claude
    ("anthropic", "anthropic", request_of({"role": "user", "content": {"x": 1}}, anthropic_version="bedrock-2023-05-31"), "ST103",
     ('Malformed input request: #: subject must not be valid against schema {"required":["messages"]}#/messages/0/content: '
     'expected type: String, found: JSONObject#/messages/0/content: expected type: JSONArray, found: JSONObject, please '
     'reformat your input and try again.')),
    ("anthropic", "anthropic", request_of({"role": "user", "content": {"x": 1}}), "ST103", "messages.0.content: Input should be a valid list"),
    ("anthropic", "anthropic", request_of(QUESTION, of_model(USE), of_user({**DONE, "content": [TEXT, UPLOADED]})), "PR321",
     ("messages.2.content.0.tool_result.content.1.image.source: Input tag 'file' found using 'type' does not match any of "
     "the expected tags: 'base64', 'url'")),
    ("openai-responses", "openai-responses", request_with_file("audio/wav"), "PR321",
     ("Invalid file data: 'input[2].output[0].file_data'. Expected a base64-encoded data URL with a valid file MIME type "
     "(e.g. 'data:text/plain;base64,SGVsbG8sIFdvcmxkIQ=='), but got unsupported MIME type 'audio/wav'. Please see "
     "https://platform.openai.com/docs/assistants/tools/file-search#supported-files for supported file types.")),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "provider", "record", "code", "text"), TEXTS)
def test_a_text_is_that_of_the_provider(wire: str, provider: str, record: Json, code: str, text: str) -> None:
    assert texts(record, wire, provider, code) == {text}


def test_an_empty_id_is_not_called_a_missing_field() -> None:
    empty = {**NO_CALL_ID, "tool_call_id": ""}
    assert texts(chat(QUESTION, CALLS, empty), "openai-chat", "deepseek", "ST104") == {None}


def test_a_long_list_of_open_calls_is_whole() -> None:
    ids = [f"call_{number:024}" for number in range(128)]
    calls = {**CALLS, "tool_calls": [{**CALL, "id": identifier} for identifier in ids]}
    assert texts(chat(QUESTION, calls, QUESTION), "openai-chat", "openai", "PA201") == {
        _OPEN + ", ".join(ids)
    }


@pytest.mark.parametrize(
    ("record", "wire"),
    [
        (request_with_file("application/pdf"), "openai-responses"),
        (request_of(QUESTION, of_model(USE), of_user({**DONE, "content": [UPLOADED]}), betas=["files-api-2025-04-14"]), "anthropic"),
        (request_of(of_user(UPLOADED)), "anthropic"),
    ],
)  # fmt: skip
def test_a_source_that_was_accepted_is_no_finding(record: Json, wire: str) -> None:
    provider = "anthropic" if wire == "anthropic" else "openai-responses"
    assert texts(record, wire, provider, "PR321") == set()


def test_a_source_is_found_among_many_records() -> None:
    """The scanner of long logs leaves such records to the rules."""
    record = request_of(QUESTION, of_model(USE), of_user({**DONE, "content": [UPLOADED]}))
    data = (json.dumps(record) + "\n").encode() * 40
    assert sum(row.finding.code == "PR321" for row in testing.rows_of(data, "anthropic", "anthropic")) == 40
    data = (json.dumps(request_with_file("audio/mpeg")) + "\n").encode() * 40
    rows = testing.rows_of(data, "openai-responses", "openai-responses")
    assert sum(row.finding.code == "PR321" for row in rows) == 40
