"""Test the wire of Bedrock's Converse: reading its blocks, and records of other formats."""

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitrary_json import VALUES
from budgets import examples
from turnlint import carriers, ledger, testing
from turnlint.cli.lint import command as lint
from turnlint.lifecycle import state_of
from turnlint.model import Blank, Call, Message, Other, Record, Result, Text, Thinking, Transcript
from turnlint.notation import write

ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus"))
CARRIER = carriers.carrier("bedrock")
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
CONFIG = {"tools": [{"toolSpec": {"name": "run", "inputSchema": {"json": {"type": "object"}}}}]}


def use(identifier: Any = "t1", **more: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": identifier, "name": "run", "input": {}, **more}}


def used(identifier: Any = "t1", *content: Any, **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": identifier, "content": list(content) or [{"text": "done"}], **more}}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def model(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


USER = user({"text": "go"})
TEXT_REPLY = model({"text": "so it is"})


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"modelId": "m", "messages": list(messages), "inferenceConfig": {}, "toolConfig": CONFIG, **more}


def transcripts(*records: Any) -> list[Transcript]:
    decoded = (
        CARRIER.shape.read(Record(line, 0, json.dumps(record).encode()))
        for line, record in enumerate(records, 1)
    )
    return [item for item in CARRIER.read(decoded) if isinstance(item, Transcript)]


def only(record: Any) -> Transcript:
    (transcript,) = transcripts(record)
    return transcript


def message(turn: Any) -> Message:
    (found,) = only(body(turn)).messages
    return found


def piece(turn: Any) -> Any:
    (found,) = message(turn).blocks
    return found


def codes(record: Any, format_name: str | None = "bedrock") -> list[tuple[str, str]]:
    rows = testing.rows_of(json.dumps(record).encode() + b"\n", format_name)
    return [(row.finding.code, row.finding.severity) for row in rows]


def test_a_call_and_its_result_are_read() -> None:
    call, result = piece(model(use(input={"a": 1}))), piece(user(used(status="success")))
    assert (call.id, call.name, call.body, call.arguments, call.written) == (
        "t1",
        "run",
        b'{"a": 1}',
        "object",
        "object",
    )
    assert (call.at, call.keys.id, call.needs_id, call.server) == (
        ("content", 0),
        ("toolUse", "toolUseId"),
        True,
        False,
    )
    assert (result.id, result.name, result.error, result.parts, result.written) == (
        "t1",
        None,
        False,
        ("text",),
        "list",
    )


@pytest.mark.parametrize(
    ("content", "more", "parts", "error", "state"),
    [
        ([{"text": "x"}, {"text": "y"}], {}, ("text",), None, "complete"),
        ([{"json": {"a": 1}}, {"text": "x"}], {}, ("json", "text"), None, "complete"),
        ([{"json": [1]}, {"json": "x"}], {}, ("json-other",), None, "complete"),
        ([{"image": {}}, {"document": {}}, {"video": {}}, {"searchResult": {}}], {}, ("image", "document", "video", "searchResult"), None, "complete"),
        ([{"text": "no such file"}], {"status": "error"}, ("text",), True, "error"),
        ([{"text": "Tool call interrupted or cancelled"}], {"status": "error"}, ("text",), True, "cancelled"),
    ],
)  # fmt: skip
def test_the_content_of_a_result_is_read(
    content: list[Any], more: Any, parts: Any, error: Any, state: str
) -> None:
    result = piece(user(used("t1", *content, **more)))
    assert (result.parts, result.error, state_of(result)) == (parts, error, state)


def test_a_result_written_by_a_repair_is_recognized() -> None:
    assert piece(user(used("t1", {"text": "No result provided"}))).synthetic
    assert not piece(user(used("t1", {"text": "No"}, {"text": "result provided"}))).synthetic


def test_thoughts_texts_and_empty_blocks() -> None:
    found = message(
        model(
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
            {"reasoningContent": {"reasoningText": {"text": "", "signature": ""}}},
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": 5}}},
            {"reasoningContent": {"redactedContent": "c2ln"}},
            {"text": "so "},
            {"text": " "},
            {"text": ""},
            {"text": None},
        )
    )
    kind = "reasoningContent"
    assert found.blocks == (
        Thinking(("content", 0), kind, words=True, signature="given"),
        Thinking(("content", 1), kind, words=False, signature="blank"),
        Thinking(("content", 2), kind, words=True, signature="unfit"),
        Thinking(("content", 3), kind, words=False, cipher=True),
        Text(("content", 4), trailing=True),
    )
    assert found.blanks == tuple(Blank(("content", index), 5, white=index == 5) for index in (5, 6, 7))


def test_other_blocks_are_kept_by_their_names() -> None:
    names = [
        "image",
        "document",
        "video",
        "audio",
        "guardContent",
        "cachePoint",
        "citationsContent",
        "searchResult",
    ]
    found = message(user(*({name: {}} for name in names)))
    assert found.blocks == tuple(Other(("content", index), name) for index, name in enumerate(names))


def test_tools_that_the_service_runs_answer_inside_the_turn() -> None:
    call, answers = use("s1", type="server_tool_use"), used("s1", type="nova_grounding_result")
    assert codes(body(USER, model(call, answers, {"text": "so"}), USER)) == []
    assert codes(body(USER, model(call, {"text": "so"}), USER)) == [("PA209", "error")]
    assert codes(body(USER, model(use()), user(used(type="any")), TEXT_REPLY)) == []


def test_the_parts_of_the_request_are_read() -> None:
    tools = [
        {"toolSpec": {"name": "run"}},
        {"cachePoint": {"type": "default"}},
        {"systemTool": {"name": "nova_grounding"}},
    ]
    request = only(body(USER, toolConfig={"tools": tools, "toolChoice": {"any": {}}})).request
    assert request is not None
    assert (request.whole, request.model, request.forced) == (True, "m", True)
    assert [(tool.name, tool.kind) for tool in request.tools or ()] == [
        ("run", "function"),
        ("nova_grounding", "systemTool"),
    ]
    thinks = only(
        body(USER, additionalModelRequestFields={"thinking": {"type": "enabled", "budget_tokens": 1024}})
    )
    assert thinks.request is not None
    assert thinks.request.thinking == "budget"


def log(request: Any, answered: Any, operation: str = "Converse") -> dict[str, Any]:
    return {
        "schemaType": "ModelInvocationLog", "requestId": "r-1", "operation": operation, "modelId": "m",
        "input": {"inputContentType": "application/json", "inputBodyJson": request, "inputTokenCount": 3},
        "output": {"outputContentType": "application/json", "outputBodyJson": answered, "outputTokenCount": 4},
    }  # fmt: skip


REPLY = {"output": {"message": TEXT_REPLY}, "stopReason": "end_turn"}


def test_an_invocation_log_is_a_request_with_its_response() -> None:
    request = {"messages": [USER, model(use()), user(used())], "toolConfig": CONFIG}
    found = only(log(request, REPLY))
    assert (found.id, len(found.messages), found.open_end) == ("r-1", 4, True)
    assert found.messages[1].at == ("input", "inputBodyJson", "messages", 1)
    assert found.messages[3].at == ("output", "outputBodyJson", "output", "message")
    assert found.request is not None
    assert (found.request.model, [tool.name for tool in found.request.tools or ()]) == ("m", ["run"])
    assert codes(log(request, REPLY), None) == []
    assert codes(log({"messages": [USER, model(use()), USER]}, REPLY), None) == [("PA201", "error")]


def test_a_logged_request_of_another_wire_is_read_by_that_wire() -> None:
    message = {"anthropic_version": "bedrock-2023-05-31", "messages": [{"role": "user", "content": "go"}]}
    answered = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "so"}],
        "stop_reason": "end_turn",
    }
    found, _ = carriers.best_for([Record(1, 0, json.dumps(log(message, answered, "InvokeModel")).encode())])
    assert found is not None
    assert found.name == "anthropic"


UNSOUND: dict[str, tuple[list[Any], list[tuple[str, str]]]] = {
    "fewer results than calls": ([model(use(), use("t2")), user(used()), TEXT_REPLY], [("PA201", "error")]),
    "more results than calls": ([model(use()), user(used(), used("t2")), TEXT_REPLY], [("PA202", "error")]),
    "a user message in place of the result": ([model(use()), USER], [("PA201", "error")]),
    "no ids": ([model(use(None)), user(used(None)), TEXT_REPLY], [("ST104", "error"), ("ST104", "error")]),
    "an echo of the call": ([model(use()), user(use(), used()), TEXT_REPLY], [("ST114", "error")]),
    "a call inside a result": ([model(use()), user(used("t1", use())), TEXT_REPLY], [("ST114", "error")]),
    "a call that is the user's": ([user(use()), user(used()), TEXT_REPLY], [("ST103", "error")]),
    "arguments in a text": ([model(use(input="{}")), user(used()), TEXT_REPLY], [("ST106", "error")]),
    "arguments that are not there": ([model({"toolUse": {"toolUseId": "t1", "name": "run"}}), user(used()), TEXT_REPLY], [("ST106", "error")]),
    "a result in a text": ([model(use()), user({"toolResult": {"toolUseId": "t1", "content": "x"}}), TEXT_REPLY], [("ST103", "error")]),
    "a block of Anthropic's": ([model({"type": "tool_use", "id": "t1", "name": "run", "input": {}}), user(used()), TEXT_REPLY], [("ST116", "error")]),
    "a message of Chat Completions": ([model(use()), {"role": "tool", "tool_call_id": "t1", "content": "x"}, TEXT_REPLY], [("ST116", "error")]),
    "an unknown role": ([{"role": "narrator", "content": [{"text": "x"}]}], [("ST103", "error")]),
    "an empty text": ([model({"text": ""}), USER], [("ST110", "warning")]),
}  # fmt: skip


@pytest.mark.parametrize(("messages", "expected"), UNSOUND.values(), ids=UNSOUND)
def test_unsound_messages_have_findings(messages: list[Any], expected: list[tuple[str, str]]) -> None:
    assert codes(body(USER, *messages)) == expected


SOUND: dict[str, list[Any]] = {
    "results in two messages": [model(use(), use("t2")), user(used()), user(used("t2")), TEXT_REPLY],
    "a turn in two messages": [TEXT_REPLY, model(use()), model(use("t2")), user(used("t2"), used()), TEXT_REPLY],
    "two users in a row": [USER, model(use()), user(used()), USER],
    "a cache point and nothing else": [model(use(), {"cachePoint": {"type": "default"}}), user(used(), {"cachePoint": {"type": "default"}})],
    "text after the results": [model(use()), user(used(), {"text": "and?"}), TEXT_REPLY],
}  # fmt: skip


@pytest.mark.parametrize("messages", SOUND.values(), ids=SOUND)
def test_sound_messages_have_no_finding(messages: list[Any]) -> None:
    assert codes(body(USER, *messages)) == []


HOSTILE: list[Any] = [
    None, [], "go", {"role": 5, "content": 5}, {"role": "user", "content": None}, {"role": "user", "content": {"text": "x"}},
    user(None), user("go"), user([]), user({}), user({"text": 5}), user({"text": {"a": 1}}), user({"image": None}), user({"image": "x"}),
    model({"toolUse": []}), model({"toolUse": "run"}), model({"toolUse": {"toolUseId": 5, "name": [], "input": "x"}}),
    user({"toolResult": 5}), user({"toolResult": {"toolUseId": {}, "content": 5, "status": 5, "type": 5}}),
    user({"toolResult": {"content": [None, 5, "x", {}, {"json": None}, {"toolUse": 5}]}}),
    model({"reasoningContent": {"reasoningText": []}}), model({"reasoningContent": {"reasoningText": {"text": 5, "signature": {}}}}),
    model({"reasoningContent": "hm"}), user({"type": "tool_use"}), user({"type": 5}), {"role": "tool", "tool_calls": 5, "tool_call_id": {}},
    model({**use(), **used(), "text": "x"}),
]  # fmt: skip


@pytest.mark.parametrize("turn", HOSTILE, ids=lambda turn: json.dumps(turn)[:60])
def test_no_shape_crashes_the_reader(turn: Any) -> None:
    for record in (
        body(turn, USER),
        [turn],
        {"messages": turn},
        {"output": {"message": turn}},
        log(turn, {"output": turn}),
    ):
        codes(record)


ANY_BLOCK = st.one_of(
    VALUES,
    st.dictionaries(
        st.sampled_from(["text", "toolUse", "toolResult", "reasoningContent", "image", "name"]),
        VALUES,
        max_size=3,
    ),
    st.sampled_from([{"text": "go"}, use(), used(), use(None), used(None)]),
)
ANY_MESSAGE = st.fixed_dictionaries(
    {"content": st.lists(ANY_BLOCK, max_size=4)},
    optional={"role": st.one_of(st.sampled_from(["user", "assistant", "system"]), VALUES)},
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(ANY_MESSAGE, max_size=6))
def test_every_call_and_result_is_read_once(messages: list[dict[str, Any]]) -> None:
    """For any messages, each block that is visibly a call or a result is read as one."""
    found = only(body(*messages))
    expected = Counter(
        name
        for message in messages
        for block in message["content"]
        if isinstance(block, dict)
        for name in ("toolUse", "toolResult")
        if isinstance(block.get(name), dict)
    )
    read = Counter(
        block.kind
        for message in found.messages
        for block in message.blocks
        if isinstance(block, (Call, Result))
    )
    echoes = [place for message in found.messages for place in message.inner_calls if len(place) == 2]
    assert read + Counter(toolUse=len(echoes)) == expected


SNIFFS: list[tuple[str, Any, str | None]] = [
    ("a request", body(USER), "bedrock"),
    ("messages alone", {"messages": [USER, TEXT_REPLY]}, "bedrock"),
    ("a bare array", [USER, model(use()), user(used())], "bedrock"),
    ("one message a line", {"session_id": "1", **USER}, "bedrock"),
    ("a response", REPLY, "bedrock"),
    ("a pair", {"request": {"messages": [USER]}, "response": REPLY}, "bedrock"),
    ("blocks with types are Anthropic's", {"messages": [user({"type": "tool_result", "tool_use_id": "t", "content": "x"})]}, "anthropic"),
    ("texts are anyone's", {"messages": [{"role": "user", "content": "go"}]}, "openai-chat"),
    ("messages with a meta are another's", [{**USER, "meta": {}}, {**model({"tool_call": {}}), "meta": {}}], None),
    ("parts are Gemini's", [{"role": "user", "parts": [{"text": "go"}]}], "gemini"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "expected"), [sniff[1:] for sniff in SNIFFS], ids=[sniff[0] for sniff in SNIFFS]
)
def test_the_score_of_a_record_for_this_wire(record: Any, expected: str | None) -> None:
    found, _ = carriers.best_for([Record(1, 0, json.dumps(record).encode())])
    assert (found.name if found else None) == expected


def test_an_example_is_written_on_this_wire() -> None:
    written = write(
        """
        system         Be brief.
        user           Read a and b.
        assistant      I read both.
          think        Two files.
          server-call  s1 nova_grounding {"query": "a"}
          server-result  s1 nova_grounding found
          call         c1 read {"path": "a"}
          call         c2 read {"path": "b"}
          result       c1 one
          result       c2 (read) error: no such file
        assistant      One.
        """,
        "bedrock",
    )
    assert testing.rows_of(written.data, "bedrock") == []
    transcript = only(written.record)
    assert transcript.request is not None
    assert transcript.request.whole
    assert [tool.name for tool in transcript.request.tools or ()] == ["nova_grounding", "read"]
    results = [
        block for message in transcript.messages for block in message.blocks if isinstance(block, Result)
    ]
    assert [(result.id, result.server, result.error) for result in results] == [
        ("s1", True, None),
        ("c1", False, None),
        ("c2", False, True),
    ]


def exchanges() -> Iterator[dict[str, Any]]:
    with gzip.open(CORPUS / "exchanges_dev.jsonl.gz", "rt", encoding="utf-8", errors="surrogatepass") as file:
        yield from (item for item in map(json.loads, file) if item.get("wire") == "bedrock-converse")


@needs_corpus
def test_recorded_requests_are_read_whole_and_carry_no_error() -> None:
    accepted = [exchange["request"] for exchange in exchanges() if exchange["expect"] == "clean"]
    lines = [json.dumps(item).encode() for item in accepted]
    for line, found in zip(lines, (transcripts(item) for item in accepted), strict=True):
        (transcript,) = found
        kinds = Counter(type(block) for message in transcript.messages for block in message.blocks)
        assert (kinds[Call], kinds[Result]) == (line.count(b'"toolUse":'), line.count(b'"toolResult":'))
        book = ledger.read(transcript.messages, transcript.wire)
        assert book.tidy
    rows = testing.rows_of(b"\n".join(lines) + b"\n", None)
    assert len(accepted) == 397
    # Two have a text where the service's model has a list only.
    assert [(row.finding.code, row.finding.severity) for row in rows] == [("ST103", "warning")] * 2


@needs_corpus
def test_the_sample_of_invocation_logs_is_read() -> None:
    data = (CORPUS / "format_samples" / "bedrock_invocation_log.jsonl").read_bytes()
    found = [carriers.best_for([Record(1, 0, line)])[0] for line in data.splitlines()]
    assert [item.name if item else None for item in found] == ["bedrock", "anthropic", "anthropic"]
    assert testing.rows_of(data, None) == []
    (transcript,) = transcripts(json.loads(data.splitlines()[0]))
    assert [type(block) for block in transcript.messages[1].blocks] == [Thinking, Text, Call]
    assert len(transcript.messages) == 4


@needs_corpus
def test_reported_cases_are_flagged() -> None:
    """Two of them are sound in themselves and wrong for the provider only."""
    flagged = {}
    for line in (
        (CORPUS / "issue_cases.jsonl").read_text(encoding="utf-8", errors="surrogatepass").splitlines()
    ):
        case = json.loads(line)
        if case["id"].startswith("bed-"):
            flagged[case["id"]] = [code for code, _ in codes({"messages": case["messages"]})]
    assert flagged == {
        "bed-001-exceeds": ["PA202"],
        "bed-003-empty-error-result": [],
        "bed-005-id-over-64": [],
    }


@pytest.mark.parametrize("count", [1, 40])
def test_a_cache_point_may_be_beside_a_text_in_its_block(count: int, tmp_path: Path) -> None:
    """Nova's own schema has it there."""
    block = {"text": "hi", "cachePoint": {"type": "default"}}
    body = {"schemaVersion": "messages-v1", "inferenceConfig": {"maxTokens": 9}}
    log = tmp_path / "a.jsonl"
    log.write_text((json.dumps({**body, "messages": [user(block)]}) + "\n") * count)
    run = CliRunner().invoke(lint, [str(log), "--output-format", "json"])
    summary = json.loads(run.stdout)["summary"]
    assert (run.exit_code, summary["conversations"], summary["findings"]["warning"]) == (0, count, 0)
