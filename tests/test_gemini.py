"""Test the wire of Gemini's generateContent: reading its contents, and records of other formats."""

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitrary_json import VALUES
from budgets import examples
from turnlint import carriers, ledger, testing
from turnlint.lifecycle import state_of
from turnlint.model import Blank, Call, Message, Other, Record, Result, Text, Thinking, Transcript
from turnlint.notation import write

ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus"))
CARRIER = carriers.carrier("gemini")
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")

TEXT = {"text": "go"}
CALL = {"functionCall": {"id": "c1", "name": "run", "args": {"a": 1}}}
RESULT = {"functionResponse": {"id": "c1", "name": "run", "response": {"output": "done"}}}
IDLESS = {"functionCall": {"name": "run", "args": {}}}
ANSWER = {"functionResponse": {"name": "run", "response": {"output": "done"}}}


def content(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


USER = content("user", TEXT)
REPLY = content("model", {"text": "so it is"})


def body(*contents: Any, **more: Any) -> dict[str, Any]:
    return {"contents": list(contents), "generationConfig": {}, **more}


def transcripts(*records: Any) -> list[Transcript]:
    decoded = (
        CARRIER.shape.read(Record(line, 0, json.dumps(record).encode()))
        for line, record in enumerate(records, 1)
    )
    return [item for item in CARRIER.read(decoded) if isinstance(item, Transcript)]


def only(record: Any) -> Transcript:
    (transcript,) = transcripts(record)
    return transcript


def message(role: str, *parts: Any) -> Message:
    (found,) = only(body(content(role, *parts))).messages
    return found


def piece(role: str, part: Any) -> Any:
    (found,) = message(role, part).blocks
    return found


def codes(record: Any) -> list[tuple[str, str]]:
    rows = testing.rows_of(json.dumps(record).encode() + b"\n", "gemini")
    return [(row.finding.code, row.finding.severity) for row in rows]


def response(value: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": "run", "response": value, **more}}


def test_a_call_and_its_result_are_read_in_both_cases() -> None:
    call, result = piece("model", CALL), piece("user", RESULT)
    assert (call.id, call.name, call.body) == ("c1", "run", b'{"a": 1}')
    assert (call.arguments, call.written, call.keys.body) == ("object", "object", ("functionCall", "args"))
    assert (result.id, result.name, result.body) == ("c1", "run", b'{"output": "done"}')
    snake = piece("model", {"function_call": CALL["functionCall"], "thought_signature": "c2ln"})
    assert (snake.id, snake.keys.id, snake.signature) == ("c1", ("function_call", "id"), "given")
    other = piece("user", {"function_response": RESULT["functionResponse"]})
    assert (other.id, other.keys.id) == ("c1", ("function_response", "id"))


def test_ids_are_required_only_if_the_calls_have_them() -> None:
    assert [piece("model", item).needs_id for item in (CALL, IDLESS)] == [True, False]
    assert [piece("user", item).needs_id for item in (RESULT, ANSWER)] == [True, False]
    assert codes(body(USER, content("model", IDLESS), content("user", ANSWER), REPLY)) == []


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("c2ln", "given"), ("", "blank"), (None, "absent"), (5, "unfit"), ("skip_thought_signature_validator", "bypass"),
        ("context_engineering_is_the_way_to_go", "bypass"),
        ("c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=", "bypass"),
    ],
)  # fmt: skip
def test_the_size_of_a_signature_is_read(signature: Any, expected: str) -> None:
    assert piece("model", {**CALL, "thoughtSignature": signature}).signature == expected


def test_thoughts_texts_and_empty_parts() -> None:
    found = message(
        "model",
        {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
        {"thought": True, "thoughtSignature": "c2ln"},
        {"text": "", "thoughtSignature": "c2ln"},
        {"text": "so "},
        {"text": " "},
        {"text": ""},
        {},
        {"text": None, "functionCall": None},
    )
    assert found.blocks == (
        Thinking(("parts", 0), "thought", words=True, signature="given"),
        Thinking(("parts", 1), "thought", words=False, signature="given"),
        Thinking(("parts", 2), "thought", words=False, signature="given"),
        Text(("parts", 3), trailing=True),
    )
    assert found.blanks == tuple(
        Blank(("parts", index), 4, white=index == 4, hollow=index > 5) for index in (4, 5, 6, 7)
    )


@pytest.mark.parametrize(
    ("value", "more", "error", "parts"),
    [
        ({"output": "x"}, {}, None, ("json",)),
        ({"error": "no such file"}, {}, True, ("json",)),
        ({"output": "x", "error": None}, {}, None, ("json",)),
        ({"output": "x", "error": ""}, {}, None, ("json",)),
        (["x"], {}, None, ("json-other",)),
        (None, {}, None, ()),
        (
            {"a": 1},
            {"parts": [{"inlineData": {"mimeType": "image/png", "data": ""}}, {"file_data": {"mime_type": "application/pdf"}},
                       {"inlineData": {"mimeType": "audio/wav"}}, {"text": "x"}]},
            None,
            ("json", "image", "document", "audio", "text"),
        ),
    ],
)  # fmt: skip
def test_the_content_of_a_result_is_read(
    value: Any, more: Any, error: bool | None, parts: tuple[str, ...]
) -> None:
    result = piece("user", response(value, **more))
    assert (result.error, result.parts) == (error, parts)


def test_a_cancelled_result_is_no_plain_error() -> None:
    cancelled = piece("user", response({"error": "[Operation Cancelled] Reason: User cancelled"}))
    assert state_of(cancelled) == "cancelled"
    assert state_of(piece("user", response({"error": "no such file"}))) == "error"
    assert piece("user", response({"error": "No result provided"})).synthetic


def test_server_side_calls_are_not_paired() -> None:
    found = message(
        "model",
        {"executableCode": {"language": "PYTHON", "code": "1", "id": "x"}, "thoughtSignature": "c2ln"},
        {"code_execution_result": {"outcome": "OUTCOME_OK", "id": "x"}},
        {"fileData": {"fileUri": "f"}},
    )
    assert [block.kind for block in found.blocks if isinstance(block, Other)] == [
        "executableCode", "codeExecutionResult", "fileData",
    ]  # fmt: skip
    assert len(found.blocks) == 3


ROLES = [("user", "user"), ("model", "assistant"), ("function", "tool"), (None, "user"), ("", "user")]


@pytest.mark.parametrize(("written", "role"), ROLES)
def test_roles_are_read_as_by_the_servers(written: str | None, role: str) -> None:
    (found,) = only(body({"role": written, "parts": [TEXT]})).messages
    assert (found.role, found.dialect) == (role, None)
    assert codes(body({"role": written, "parts": [TEXT]})) == []


@pytest.mark.parametrize(
    ("role", "neutral", "expected"),
    [("assistant", "assistant", [("ST116", "error")]), ("system", "system", [("ST103", "error")]),
     ("moderator", "other", [("ST103", "error")])],
)  # fmt: skip
def test_other_roles_are_named(role: str, neutral: str, expected: list[tuple[str, str]]) -> None:
    record = body(USER, {"role": role, "parts": [TEXT]})
    assert only(record).messages[1].role == neutral
    assert codes(record) == expected


def test_a_single_object_may_replace_a_list() -> None:
    record = {"contents": {"parts": {"text": "go"}}, "generation_config": {}}
    (found,) = only(record).messages
    assert (found.role, found.at, found.content, found.blocks[0].at) == (
        "user",
        ("contents",),
        "parts",
        ("parts",),
    )
    assert codes({"contents": {"parts": ANSWER}}) == [("PA202", "error")]


def test_tools_are_found_in_every_spelling() -> None:
    named = {"functionDeclarations": [{"name": "run"}]}
    snake = {"function_declarations": [{"name": "run"}], "google_search": {}}
    for tools, expected in (
        ([named], [("run", "function")]),
        (named, [("run", "function")]),
        ([snake], [("run", "function"), (None, "google_search")]),
        ([{"codeExecution": {}}], [(None, "codeExecution")]),
    ):
        request = only(body(USER, tools=tools)).request
        assert request is not None
        assert request.whole
        assert [(tool.name, tool.kind) for tool in request.tools or ()] == expected


def test_earlier_contents_may_be_in_a_cache() -> None:
    assert only(body(content("function", ANSWER), cachedContent="cachedContents/1")).headless
    assert only(body(content("function", ANSWER), cached_content="cachedContents/1")).headless
    assert not only(body(USER)).headless


def test_a_tuning_sample_may_end_on_the_call_it_teaches_and_a_batch_line_has_a_key() -> None:
    calling = content("model", IDLESS)
    tools = [{"functionDeclarations": [{"name": "run"}]}]
    assert codes({"contents": [USER, calling], "tools": tools}) == []
    assert codes(body(USER, calling, tools=tools)) == [("PA206", "warning")]
    assert only({"key": "row-7", "request": body(USER)}).id == "row-7"


def test_a_response_has_the_role_model_and_may_be_cut_short() -> None:
    cut = {"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}
    found = transcripts({"candidates": [{"content": {"parts": [CALL]}}, cut]})
    assert [[message.role for message in each.messages] for each in found] == [["assistant"], ["assistant"]]
    blocked = {"promptFeedback": {"blockReason": "OTHER"}}
    for answer in ({"candidates": [{"content": content("model", CALL)}]}, {"candidates": [cut]}, blocked):
        assert codes({"request": body(USER), "response": answer}) == []


UNSOUND: dict[str, tuple[list[Any], list[tuple[str, str]]]] = {
    "fewer results than calls": (  # the evidence does not show which of the two calls the result belongs to
        [content("model", IDLESS, IDLESS), content("user", ANSWER), REPLY], [("PA201", "error"), ("PA201", "error"), ("PA202", "error")],
    ),
    "more results than calls": ([content("model", IDLESS), content("user", ANSWER, ANSWER), REPLY], [("PA202", "error")]),
    "results of no call": ([content("user", ANSWER), REPLY], [("PA202", "error")]),
    "a user message in place of the response": ([content("model", IDLESS), USER], [("PA201", "error")]),
    "an echo of the call": ([content("model", CALL), content("user", CALL, RESULT), REPLY], [("ST114", "error")]),
    "a call inside a result": (
        [content("model", CALL), content("user", {"functionResponse": {**RESULT["functionResponse"], "parts": [CALL]}}), REPLY],
        [("ST114", "error")],
    ),
    "a call that is the user's": ([content("user", CALL), content("user", RESULT), REPLY], [("ST103", "warning")]),
    "a result that is the model's": ([content("model", CALL), content("model", RESULT), REPLY], [("ST103", "warning")]),
    "names in another order": (
        [content("model", IDLESS, {"functionCall": {"name": "look", "args": {}}}),
         content("user", {"functionResponse": {"name": "look", "response": {}}}, ANSWER), REPLY],
        [("PA208", "warning")],
    ),
    "a name that no tool has": (
        [content("model", IDLESS), content("user", {"functionResponse": {"name": "5f0c", "response": {}}}), REPLY],
        [],
    ),
    "arguments in a text": ([content("model", {"functionCall": {"name": "run", "args": "{}"}}), content("user", ANSWER)], [("ST106", "error")]),
    "a response that is no object": ([content("model", IDLESS), content("user", response("done"))], [("ST103", "error")]),
}  # fmt: skip


@pytest.mark.parametrize(("contents", "expected"), UNSOUND.values(), ids=UNSOUND)
def test_unsound_contents_have_findings(contents: list[Any], expected: list[tuple[str, str]]) -> None:
    assert codes(body(USER, *contents)) == expected


SOUND: dict[str, list[Any]] = {
    "results in the role function": [content("model", IDLESS), content("function", ANSWER), REPLY],
    "results in two contents": [content("model", IDLESS, IDLESS), content("user", ANSWER), content("user", ANSWER), REPLY],
    "a streamed turn in several contents": [REPLY, content("model", CALL), content("model", IDLESS), content("user", ANSWER, RESULT), REPLY],
    "two users in a row": [USER, content("model", CALL), content("user", RESULT), USER],
    "no arguments": [content("model", {"functionCall": {"name": "run"}}), content("user", ANSWER), REPLY],
    "ids on some calls only": [content("model", CALL, IDLESS), content("user", ANSWER, RESULT), REPLY],
    "an id that only the result bears": [content("model", IDLESS), content("user", RESULT), REPLY],
}  # fmt: skip


@pytest.mark.parametrize("contents", SOUND.values(), ids=SOUND)
def test_sound_contents_have_no_finding(contents: list[Any]) -> None:
    assert codes(body(USER, *contents)) == []


def test_messages_of_chat_completions_are_read_among_contents() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    record = body(USER, message, {"role": "tool", "tool_call_id": "c1", "content": "x"})
    assert codes(record) == [("ST116", "error"), ("ST116", "error")]
    assert [message.role for message in only(record).messages] == ["user", "assistant", "tool"]


HOSTILE: list[Any] = [
    {"role": "user", "parts": None}, {"role": "user", "parts": "go"}, {"role": "user", "parts": 5}, {"role": 5, "parts": []},
    None, [], "go", content("user", None), content("user", "go"), content("user", []), content("model", {"functionCall": [CALL]}),
    content("model", {"functionCall": {"id": 5, "name": None, "args": "x"}}), content("model", {"functionCall": "run"}),
    content("user", {"functionResponse": []}), content("user", {"functionResponse": {"id": {}, "name": 3, "response": 3}}),
    content("user", {"functionResponse": {"name": "run", "response": {}, "parts": [3, None, {"functionCall": {}}]}}),
    content("user", {"functionResponse": {"name": "run", "response": {}, "parts": {}}}), content("model", {"text": 5}),
    content("model", {"text": {"a": 1}, "thought": "true"}), content("user", {"inlineData": None}), content("user", {"type": "tool_use"}),
    content("model", {"functionCall": CALL["functionCall"], "functionResponse": RESULT["functionResponse"], "text": "x"}),
    {"role": "user", "parts": [{"functionResponse": {"response": {"error": 5}}}]}, {"content": [{"type": 5}]}, {"tool_calls": 5},
]  # fmt: skip


@pytest.mark.parametrize("turn", HOSTILE, ids=lambda turn: json.dumps(turn)[:60])
def test_no_shape_crashes_the_reader(turn: Any) -> None:
    for record in (body(turn, USER), [turn], {"contents": turn}, {"candidates": turn}):
        codes(record)
    codes({"candidates": [{"content": turn}]})


ANY_PART = st.one_of(
    VALUES,
    st.dictionaries(
        st.sampled_from(["text", "functionCall", "function_response", "thought", "thoughtSignature", "inlineData", "type"]),
        VALUES,
        max_size=3,
    ),
    st.sampled_from([TEXT, CALL, RESULT, IDLESS, ANSWER]),
)  # fmt: skip
ANY_CONTENT = st.fixed_dictionaries(
    {"parts": st.one_of(st.lists(ANY_PART, max_size=4), ANY_PART)},
    optional={"role": st.one_of(st.sampled_from(["user", "model", "function", "system"]), VALUES)},
)  # fmt: skip


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(ANY_CONTENT, max_size=6))
def test_every_call_and_result_is_read_once(contents: list[dict[str, Any]]) -> None:
    """For any contents, each part that is visibly a call or a result is read as one."""
    found = only(body(*contents)).messages
    lists = [
        content["parts"] if isinstance(content["parts"], list) else [content["parts"]] for content in contents
    ]
    names = {"functionCall": Call, "functionResponse": Result, "function_response": Result}
    parts = [part for parts in lists for part in parts if isinstance(part, dict)]
    expected = Counter(names[name] for part in parts for name in names if isinstance(part.get(name), dict))
    read = Counter(
        type(block)
        for item in found
        for block in item.blocks
        if isinstance(block, (Call, Result)) and block.dialect is None
    )
    beside = sum(len(place) < 3 for item in found for place in item.inner_calls)
    assert read + Counter({Call: beside}) == expected


SNIFFS: list[tuple[str, Any, str | None]] = [
    ("a request", body(USER), "gemini"),
    ("a bare array", [USER, REPLY], "gemini"),
    ("one content a line", {"conversation_id": "1", **USER}, "gemini"),
    ("a response", {"candidates": [{"content": REPLY}]}, "gemini"),
    ("a batch line", {"key": "1", "request": {"contents": [USER]}}, "gemini"),
    ("a single content", {"contents": {"parts": {"text": "go"}}}, "gemini"),
    ("a list inside the list of parts", body({"role": "user", "parts": [[{"text": "go"}]]}), "gemini"),
    ("parts with types in a list", [{"role": "user", "parts": [[{"type": "text", "text": "go"}]]}], None),
    ("speakers are canonical", {"contents": [{"speaker": "human", "blocks": []}]}, "canonical"),
    ("parts with types are another's", [{"role": "user", "parts": [{"type": "text", "text": "go"}]}], None),
    ("parts of messages with kinds are another's", [{"kind": "request", "parts": [{"content": "go", "part_kind": "user-prompt"}]}], None),
    ("a line with a type is an event of a session", {"type": "user", "uuid": "u", "message": USER}, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "expected"), [sniff[1:] for sniff in SNIFFS], ids=[sniff[0] for sniff in SNIFFS]
)
def test_the_score_of_a_record_for_this_wire(record: Any, expected: str | None) -> None:
    found, _ = carriers.best_for([Record(1, 0, json.dumps(record).encode())])
    assert (found.name if found else None) == expected


def test_an_array_of_chunks_is_a_list_of_records() -> None:
    assert carriers.holds_records(b'{"candidates": []}')


def test_an_example_is_written_on_this_wire() -> None:
    written = write(
        """
        system     Be brief.
        user       Read a and b.
        assistant  I read both.
          think    Two files.
          call     c1 read {"path": "a"}
          call     - read {"path": "b"}
          result   c1 one
          result   - (read) error: no such file
        assistant  One.
        """,
        "gemini",
    )
    assert testing.rows_of(written.data, "gemini") == []
    transcript = only(written.record)
    assert transcript.request is not None
    assert transcript.request.whole
    assert [tool.name for tool in transcript.request.tools or ()] == ["read"]
    results = [
        block for message in transcript.messages for block in message.blocks if isinstance(block, Result)
    ]
    assert [(result.id, result.name, result.error) for result in results] == [
        ("c1", "read", None),
        (None, "read", True),
    ]


def exchanges() -> Iterator[dict[str, Any]]:
    with gzip.open(CORPUS / "exchanges_dev.jsonl.gz", "rt", encoding="utf-8", errors="surrogatepass") as file:
        yield from (item for item in map(json.loads, file) if item.get("wire") == "gemini")


@needs_corpus
def test_recorded_requests_are_read_whole_and_carry_no_error() -> None:
    accepted = [exchange["request"] for exchange in exchanges() if exchange["expect"] == "clean"]
    lines = [json.dumps(item).encode() for item in accepted]
    for line, found in zip(lines, (transcripts(item) for item in accepted), strict=True):
        (transcript,) = found
        kinds = Counter(type(block) for message in transcript.messages for block in message.blocks)
        assert kinds[Call] == line.count(b'"functionCall":') + line.count(b'"function_call":')
        assert kinds[Result] == line.count(b'"functionResponse":') + line.count(b'"function_response":')
        book = ledger.read(transcript.messages, transcript.wire)
        assert not book.orphans
        assert all(interaction.answer for interaction in book.interactions)
    rows = testing.rows_of(b"\n".join(lines) + b"\n", None)
    assert len(accepted) == 1670
    # A client names its results by ids of its own: the servers count results, and the summary counts such names.
    assert [row.finding.rule for row in rows] == []


@needs_corpus
@pytest.mark.parametrize(
    ("name", "messages", "expected"),
    [
        ("gemini_generate_content_pair", 4, []),
        ("gemini_cli_checkpoint", 4, []),
        ("gemini_cli_checkpoint_broken", 4, ["PA201"]),
        ("stream_gemini_chunks", 2, []),
    ],
)
def test_samples_of_this_wire_are_found(name: str, messages: int, expected: list[str]) -> None:
    data = (CORPUS / "format_samples" / f"{name}.jsonl").read_bytes()
    found, _ = carriers.best_for([Record(1, 0, data.splitlines()[0])])
    assert found is not None
    assert found.name == "gemini"
    records = [json.loads(line) for line in data.splitlines()]
    assert sum(len(transcript.messages) for transcript in transcripts(*records)) == messages
    assert [row.finding.code for row in testing.rows_of(data, None)] == expected


@needs_corpus
def test_reported_cases_are_flagged() -> None:
    seen = 0
    for line in (
        (CORPUS / "issue_cases.jsonl").read_text(encoding="utf-8", errors="surrogatepass").splitlines()
    ):
        case = json.loads(line)
        if case["id"].startswith("gem-"):
            seen += 1
            assert codes({"contents": case["messages"]}), case["id"]
    assert seen == 3
