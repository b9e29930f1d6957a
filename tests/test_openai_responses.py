"""The wire of OpenAI's Responses: reading its items."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitrary_json import VALUES
from budgets import examples
from turnlint import carriers, ledger, testing
from turnlint.counting import count
from turnlint.events import Tally
from turnlint.model import Call, Message, Other, Record, Result, Text, Thinking, Transcript
from turnlint.notation import write

CARRIER = carriers.carrier("openai-responses")

USER = {"role": "user", "content": "go"}
TEXT_REPLY = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "so it is", "annotations": []}]}  # fmt: skip
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "run",
    "arguments": '{"a": 1}',
    "status": "completed",
}
OUTPUT = {"type": "function_call_output", "id": "fco_1", "call_id": "c1", "output": "done"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
REPLY = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "gpt-5.1",
    "output": [THOUGHT, CALL],
}


def body(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-5.1", "store": False, "input": list(items), **more}


def transcripts(*records: Any) -> list[Transcript]:
    decoded = (
        CARRIER.shape.read(Record(line, 0, json.dumps(record).encode()))
        for line, record in enumerate(records, 1)
    )
    return [item for item in CARRIER.read(decoded) if isinstance(item, Transcript)]


def messages(*items: Any) -> tuple[Message, ...]:
    (transcript,) = transcripts(body(*items))
    return transcript.messages


def codes(*items: Any, **more: Any) -> list[tuple[str, str]]:
    rows = testing.rows_of(json.dumps(body(*items, **more)).encode() + b"\n", "openai-responses")
    return [(row.finding.code, row.finding.severity) for row in rows]


def facts(piece: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(piece, name) for name in names}


def test_each_item_is_a_message() -> None:
    found = messages(USER, THOUGHT, CALL, OUTPUT, TEXT_REPLY, {"role": "developer", "content": "terse"})
    assert [(item.role, item.kind, item.item, item.written_role) for item in found] == [
        ("user", "message", None, "user"),
        ("assistant", "reasoning", "rs_1", ""),
        ("assistant", "function_call", "fc_1", ""),
        ("tool", "function_call_output", "fco_1", ""),
        ("assistant", "message", "msg_1", "assistant"),
        ("system", "message", None, "developer"),
    ]
    assert [item.at for item in found] == [("input", index) for index in range(6)]
    assert [item.content for item in found] == ["text", "absent", "absent", "absent", "parts", "text"]
    assert isinstance(found[4].blocks[0], Text)


def test_a_call_has_two_separate_ids() -> None:
    (call,) = messages(CALL)[0].blocks
    assert isinstance(call, Call)
    names = ("at", "id", "name", "body", "arguments", "written", "kind", "item", "server", "needs_id")
    assert facts(call, *names) == {
        "at": (), "id": "c1", "name": "run", "body": b'{"a": 1}', "arguments": "object", "written": "text",
        "kind": "function_call", "item": "fc_1", "server": False, "needs_id": True,
    }  # fmt: skip
    assert call.keys.id == ("call_id",)


def test_the_content_of_an_output_is_read() -> None:
    parts = [
        {"type": "input_text", "text": "a"},
        {"type": "input_image", "image_url": "x"},
        {"type": "input_text", "text": "b"},
    ]
    (result,) = messages({**OUTPUT, "output": parts})[0].blocks
    assert isinstance(result, Result)
    assert facts(result, "id", "item", "kind", "written", "parts", "error", "needs_id") == {
        "id": "c1", "item": "fco_1", "kind": "function_call_output", "written": "list",
        "parts": ("input_text", "input_image"), "error": None, "needs_id": True,
    }  # fmt: skip


ARGUMENTS: list[tuple[dict[str, Any], str, str]] = [
    ({**CALL, "arguments": ""}, "nothing", "text"),
    ({**CALL, "arguments": {"a": 1}}, "object", "object"),
    ({**CALL, "arguments": '{"a": '}, "torn", "text"),
    ({**CALL, "arguments": "[1]"}, "other", "text"),
    ({"type": "function_call", "call_id": "c1", "name": "run"}, "nothing", "absent"),
    ({"type": "custom_tool_call", "call_id": "c1", "name": "run", "input": "{not json"}, "free", "text"),
    ({"type": "computer_call", "call_id": "c1", "action": {"type": "wait"}}, "free", "object"),
    ({"type": "computer_call", "call_id": "c1", "actions": [{"type": "wait"}]}, "free", "list"),
]


@pytest.mark.parametrize(("item", "arguments", "written"), ARGUMENTS)
def test_the_kind_and_the_spelling_of_arguments(item: dict[str, Any], arguments: str, written: str) -> None:
    (call,) = messages(item)[0].blocks
    assert isinstance(call, Call)
    assert (call.arguments, call.written) == (arguments, written)


PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "function_call": ({"call_id": "c1", "name": "f", "arguments": "{}"}, {"call_id": "c1", "output": ""}, "f"),
    "custom_tool_call": ({"call_id": "c1", "name": "g", "input": ""}, {"call_id": "c1", "output": ""}, "g"),
    "computer_call": ({"call_id": "c1", "action": {}}, {"call_id": "c1", "output": {"type": "computer_screenshot"}}, "computer"),
    "local_shell_call": ({"id": "lsh_1", "call_id": "c1", "action": {}}, {"id": "c1", "output": "x"}, "local_shell"),
    "shell_call": ({"call_id": "c1", "action": {}}, {"call_id": "c1", "output": [{"stdout": ""}]}, "shell"),
    "apply_patch_call": ({"call_id": "c1", "operation": {}}, {"call_id": "c1", "status": "completed"}, "apply_patch"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PAIRS)
def test_a_call_and_its_output_are_paired(kind: str) -> None:
    call_item, answered, name = PAIRS[kind]
    call, output = {"type": kind, **call_item}, {"type": f"{kind}_output", **answered}
    assert codes(USER, call, output, TEXT_REPLY) == []
    assert codes(USER, call, USER) == [("PA201", "error")]
    assert codes(USER, output, TEXT_REPLY) == [("PA202", "error")]
    (block,) = messages(call)[0].blocks
    assert isinstance(block, Call)
    assert (block.name, block.kind) == (name, kind)


def test_a_search_for_tools_and_an_approval_pair_by_their_own_keys() -> None:
    search = {"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {}}
    found = {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": []}
    request = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}"}
    response = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": False}
    assert codes(USER, search, found, request, response, TEXT_REPLY) == []
    assert codes(USER, search, request, USER) == [("PA201", "error")] * 2


HOSTED = [
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}},
    {"type": "file_search_call", "id": "fs_1", "queries": []},
    {"type": "code_interpreter_call", "id": "ci_1", "container_id": "cntr_1", "code": "1"},
    {"type": "image_generation_call", "id": "ig_1", "result": ""},
    {"type": "mcp_call", "id": "mcp_1", "name": "f", "arguments": "{}", "server_label": "s", "output": "x"},
    {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
    {"type": "tool_search_call", "id": "tsc_1", "call_id": None, "execution": "server", "arguments": {}},
    {"type": "tool_search_output", "id": "tso_1", "call_id": "c9", "execution": "server", "tools": []},
    {"type": "program", "id": "pg_1", "call_id": "c8", "code": "1", "fingerprint": "x"},
    {"type": "compaction", "encrypted_content": "x"},
    {"type": "compaction_trigger"},
    {"type": "never_heard_of_call", "id": "x_1", "call_id": "c7"},
]


@pytest.mark.parametrize("item", HOSTED, ids=lambda item: str(item["type"]))
def test_server_side_items_need_no_output(item: dict[str, Any]) -> None:
    assert codes(USER, item, TEXT_REPLY) == []
    (block,) = messages(item)[0].blocks
    assert isinstance(block, Other)
    assert block.kind == item["type"]


THOUGHTS: list[tuple[dict[str, Any], bool, bool]] = [
    (THOUGHT, False, False),
    ({**THOUGHT, "encrypted_content": "gAAA"}, False, True),
    (
        {**THOUGHT, "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": None},
        True,
        False,
    ),
    ({**THOUGHT, "content": [{"type": "reasoning_text", "text": "hm"}]}, True, False),
    ({**THOUGHT, "summary": [{"type": "summary_text", "text": " "}, 5]}, False, False),
]


@pytest.mark.parametrize(("item", "words", "cipher"), THOUGHTS)
def test_the_texts_and_the_cipher_of_a_thought(item: dict[str, Any], words: bool, cipher: bool) -> None:
    (block,) = messages(item)[0].blocks
    assert block == Thinking((), "reasoning", words, cipher=cipher, item="rs_1")


def test_consecutive_items_of_the_model_are_one_turn() -> None:
    (transcript,) = transcripts(
        body(USER, THOUGHT, CALL, {**CALL, "call_id": "c2"}, OUTPUT, {**OUTPUT, "call_id": "c2"})
    )
    pairs = ledger.read(transcript.messages, transcript.wire)
    assert [(interaction.asked.turn, interaction.how) for interaction in pairs.interactions] == [
        (0, "in-place"),
        (0, "in-place"),
    ]
    assert pairs.tidy


def test_an_output_may_be_anywhere_after_its_call_but_not_before() -> None:
    assert codes(USER, CALL, TEXT_REPLY, USER, OUTPUT, TEXT_REPLY) == []
    assert codes(USER, OUTPUT, CALL, TEXT_REPLY) == [("PA204", "error")]


def test_a_name_may_replace_the_id_of_an_output() -> None:
    named = {"type": "function_call_output", "call_id": None, "name": "run", "output": "done"}
    assert codes(USER, CALL, named, TEXT_REPLY) == []
    assert codes(USER, CALL, {**named, "name": None}, TEXT_REPLY) == [("ST104", "error")]


ELSEWHERE: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("a previous response", {"previous_response_id": "resp_0"}, []),
    ("a conversation by id", {"conversation": "conv_1"}, []),
    ("a conversation as an object", {"conversation": {"id": "conv_1"}}, []),
    ("a reference", {}, [{"type": "item_reference", "id": "fc_1"}]),
    ("a reference without a type", {}, [{"id": "fc_1"}]),
]


@pytest.mark.parametrize(
    ("more", "items"), [item[1:] for item in ELSEWHERE], ids=[item[0] for item in ELSEWHERE]
)
def test_an_output_for_a_call_that_the_provider_stores_is_counted(
    more: dict[str, Any], items: list[Any]
) -> None:
    assert codes(*items, OUTPUT, USER, **more) == []
    (transcript,) = transcripts(body(*items, OUTPUT, **more))
    assert transcript.headless
    tally = Tally()
    count(tally, transcript, ledger.read(transcript.messages, transcript.wire))
    assert tally.noted == {"kept-calls": 1}


def test_an_output_needs_its_call_if_the_provider_stores_none() -> None:
    nulls = {"previous_response_id": None, "conversation": None}
    assert codes(OUTPUT, USER, **nulls) == [("PA202", "error")]
    (transcript,) = transcripts(body(OUTPUT, **nulls))
    assert not transcript.headless


def test_an_input_may_be_one_text() -> None:
    (transcript,) = transcripts(body(input="go"))
    (message,) = transcript.messages
    assert facts(message, "role", "at", "kind", "content", "empty") == {
        "role": "user", "at": ("input",), "kind": "message", "content": "text", "empty": False,
    }  # fmt: skip
    assert message.blocks == (Text(()),)
    assert [
        row.place.pointer for row in testing.rows_of(b'{"model": "m", "input": ""}', "openai-responses")
    ] == ["/input"]


def test_a_response_is_one_answer_to_its_request() -> None:
    (pair,) = transcripts({"request": body(USER), "response": REPLY})
    assert [message.at for message in pair.messages] == [
        ("request", "input", 0),
        ("response", "output", 0),
        ("response", "output", 1),
    ]
    assert (pair.headless, pair.open_end) == (False, True)
    (alone,) = transcripts(REPLY)
    assert [message.kind for message in alone.messages] == ["reasoning", "function_call"]
    assert (alone.headless, alone.open_end) == (True, True)
    (line,) = transcripts({"custom_id": "1", "response": {"status_code": 200, "body": REPLY}, "error": None})
    assert line.messages[0].at == ("response", "body", "output", 0)
    assert transcripts({"request": {}, "response": {**REPLY, "output": []}}) == []


def test_other_parts_of_a_request_are_read() -> None:
    tools = [{"type": "function", "name": "run", "parameters": {}}, {"type": "web_search"}]
    (transcript,) = transcripts(body(USER, tools=tools, tool_choice="required"))
    request = transcript.request
    assert request is not None
    assert (request.model, request.forced, request.whole) == ("gpt-5.1", True, True)
    assert [(tool.name, tool.kind) for tool in request.tools or ()] == [
        ("run", "function"),
        (None, "web_search"),
    ]


def test_items_on_lines_are_one_conversation_per_key() -> None:
    custom = {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "select"}
    items = [USER, THOUGHT, custom, TEXT_REPLY]
    one, other = transcripts(*({"session_id": key, **item} for item in items for key in ("a", "b")))
    assert (one.id, other.id) == ("a", "b")
    assert [message.kind for message in one.messages][1:] == ["reasoning", "custom_tool_call", "message"]


LEFT_OVER: list[tuple[str, Any, str]] = [
    ("a message with calls", {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]}, "openai-chat"),
    ("a block", {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "run", "input": {}}]}, "anthropic"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "dialect"), [entry[1:] for entry in LEFT_OVER], ids=[entry[0] for entry in LEFT_OVER]
)
def test_a_call_of_another_wire_is_paired_with_its_output(item: Any, dialect: str) -> None:
    (block,) = messages(item)[0].blocks
    assert isinstance(block, Call)
    assert block.dialect == dialect
    assert codes(USER, item, OUTPUT, TEXT_REPLY) == [("ST116", "error")]


def test_a_result_of_another_wire_is_paired_with_its_call() -> None:
    assert codes(USER, CALL, {"role": "tool", "tool_call_id": "c1", "content": "done"}, TEXT_REPLY) == [
        ("ST116", "error")
    ]
    assert codes(
        USER, CALL, {"type": "function_call_output", "tool_call_id": "c1", "output": "done"}, TEXT_REPLY
    ) == [("ST116", "error")]
    assert codes(USER, {**TEXT_REPLY, "tool_calls": None}) == []


HOSTILE: list[tuple[Any, list[str]]] = [
    (body(input=None), []),
    (body(input=7), ["/input"]),
    (body("go"), ["/input/0"]),
    (body([USER]), ["/input/0"]),
    (body(None, USER), ["/input/0"]),
    (body({}), ["/input/0"]),
    (body({**USER, "content": 7}), ["/input/0/content"]),
    (body({**USER, "content": [7, "x"]}), ["/input/0/content/0", "/input/0/content/1"]),
    (body({**USER, "role": 7}), ["/input/0/role", "/input/0"]),
    (body({"type": 7, "call_id": "c1"}), ["/input/0/type", "/input/0"]),
    (body({**CALL, "call_id": 7}, OUTPUT), ["/input/0/call_id"]),
    (body(CALL, {**OUTPUT, "output": {"a": 1}}), []),
    (body(CALL, {**OUTPUT, "output": None}), []),
    (body({**THOUGHT, "summary": {"text": "hm"}}, TEXT_REPLY), []),
    ({**REPLY, "output": "words"}, []),
    ({**REPLY, "output": [7, CALL]}, ["/output/0"]),
]


@pytest.mark.parametrize(("record", "places"), HOSTILE)
def test_a_value_of_a_wrong_kind_is_reported_at_its_position(record: Any, places: list[str]) -> None:
    rows = testing.rows_of(json.dumps(record).encode() + b"\n", "openai-responses")
    assert sorted(row.place.pointer for row in rows if row.finding.code == "ST103") == sorted(places)


WHOLE = body(
    USER, THOUGHT, CALL, OUTPUT, TEXT_REPLY, HOSTED[6], *({"type": kind, **call} for kind, (call, _, _) in PAIRS.items()),
    instructions="x", conversation="conv_1",
)  # fmt: skip
KEYS = sorted({key for item in WHOLE["input"] for key in item})


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE["input"]) - 1), st.sampled_from(KEYS), VALUES), max_size=4)
)
def test_wrong_kinds_anywhere_break_nothing(changes: list[tuple[int, str, Any]]) -> None:
    items = [dict(item) for item in WHOLE["input"]]
    for index, key, value in changes:
        items[index][key] = value
    for record in ({**WHOLE, "input": items}, {**REPLY, "output": items}, items):
        (transcript,) = transcripts(record)
        assert len(transcript.messages) == len(items)
        ledger.read(transcript.messages, transcript.wire)


@settings(max_examples=examples(200), deadline=None)
@given(VALUES, VALUES)
def test_anything_under_the_keys_breaks_nothing(call: Any, answered: Any) -> None:
    record = Record(
        1,
        0,
        json.dumps({"model": "m", "input": call, "output": answered, "conversation": answered}).encode(),
    )
    decoded = CARRIER.shape.read(record)
    list(CARRIER.read([decoded]))
    CARRIER.sniff(decoded)


def test_an_example_is_written_as_items() -> None:
    written = write(
        """
        system     Be brief.
        user       Paris?
        assistant
          think    I look.
          call     c1 get_weather {"city": "Paris"}   <- PA201
        user       Well?
        assistant                                     <- ST110
        """,
        "openai-responses",
    )
    kinds = [item.get("type") or item["role"] for item in written.record["input"]]
    assert kinds == ["system", "user", "reasoning", "function_call", "user", "assistant"]
    assert [(item.code, item.at) for item in written.expected] == [
        ("PA201", ("input", 3)),
        ("ST110", ("input", 5)),
    ]
    rows = testing.rows_of(written.data, "openai-responses")
    assert sorted(row.finding.code for row in rows) == ["PA201", "ST110"]
