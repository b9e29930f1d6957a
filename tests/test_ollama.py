"""Ollama's own wire: objects for arguments, names for ids, answers in pieces, and records of other formats."""

import json
from pathlib import Path
from typing import Any

import pytest

from kin import NEEDS_CORPUS, battered, call_in, exchanges, judged, messages, result_in, sniffed, transcripts
from turnlint import ledger
from turnlint.model import Other, Text, Thinking
from turnlint.notation import write

MODEL = "llama3.3"
USER = {"role": "user", "content": "go"}
REPLY = {"role": "assistant", "content": "so it is"}
OPTIONS = {"num_ctx": 4096}
TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}]


def call(name: str = "run", arguments: Any = None, **more: Any) -> dict[str, Any]:
    return {**more, "function": {"name": name, "arguments": {} if arguments is None else arguments}}


def calling(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(calls), **more}


def answer(name: str = "run", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_name": name, "content": "done", **more}


def piece(done: bool = False, **fields: Any) -> dict[str, Any]:
    return {
        "model": MODEL,
        "created_at": "2026-10-02T09:00:00Z",
        "message": {"role": "assistant", **fields},
        "done": done,
    }


def test_nothing_needs_an_id_and_results_are_paired_by_name() -> None:
    history = (USER, calling(call("read"), call("write")), answer("write"), answer("read"), REPLY)
    (transcript,) = transcripts("ollama", {"model": MODEL, "messages": history})
    pairs = ledger.read(transcript.messages, transcript.wire)
    assert [pair.answer.message if pair.answer else None for pair in pairs.interactions] == [3, 2]
    assert [(pair.asked.call.needs_id, pair.asked.call.kind) for pair in pairs.interactions] == [
        (False, "function")
    ] * 2


def test_an_existing_id_is_kept() -> None:
    _, calling_message, named, numbered = messages(
        "ollama", USER, calling(call(id="call_1")), answer(), answer(tool_call_id="call_1")
    )
    assert (call_in(calling_message).id, call_in(calling_message).needs_id) == ("call_1", True)
    assert (result_in(named).id, result_in(named).needs_id) == (None, False)
    assert (result_in(numbered).id, result_in(numbered).needs_id) == ("call_1", True)


@pytest.mark.parametrize(
    ("key", "expected"),
    [({"tool_name": "run"}, ("tool_name",)), ({"name": "run"}, ("name",)), ({}, ("tool_name",))],
)
def test_a_result_has_its_name_under_either_key(key: dict[str, str], expected: tuple[str]) -> None:
    _, _, answered = messages("ollama", USER, calling(call()), {"role": "tool", "content": "done", **key})
    assert (result_in(answered).name, result_in(answered).keys.name) == (
        next(iter(key.values()), None),
        expected,
    )


@pytest.mark.parametrize(
    ("arguments", "written", "judged_as"),
    [
        ({"a": 1}, "object", "object"),
        ('{"a": 1}', "text", "object"),
        ([1], "list", "unfit"),
        ("{", "text", "torn"),
    ],
)
def test_arguments_keep_their_spelling(arguments: Any, written: str, judged_as: str) -> None:
    _, calling_message, _ = messages("ollama", USER, calling(call(arguments=arguments)), answer())
    assert (call_in(calling_message).written, call_in(calling_message).arguments) == (written, judged_as)


def test_thoughts_and_images_are_beside_the_content() -> None:
    user, thinking = messages(
        "ollama",
        {"role": "user", "content": "", "images": ["aGk=", "aGk="]},
        {**calling(call()), "content": "so", "thinking": "hm"},
    )
    assert user.blocks == (Other(("images", 0), "image"), Other(("images", 1), "image"))
    assert thinking.blocks[:2] == (Thinking(("thinking",)), Text(("content",)))
    assert not user.empty


def test_content_in_parts_is_malformed_and_still_read(tmp_path: Path) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "go"}]}
    assert isinstance(messages("ollama", message)[0].blocks[0], Text)
    rows, _ = judged([{"model": MODEL, "messages": [message]}], "ollama", tmp_path)
    assert [(row.finding.code, row.finding.severity, row.place.pointer) for row in rows] == [
        ("ST103", "error", "/messages/0/content")
    ]


def test_any_role_is_accepted(tmp_path: Path) -> None:
    control, strange = {"role": "control", "content": "thinking"}, {"role": "narrator", "content": "once"}
    rows, _ = judged([{"model": MODEL, "messages": [control, strange, USER]}], "ollama", tmp_path)
    assert [(row.finding.code, row.finding.severity, row.finding.where.at) for row in rows] == [
        ("ST103", "warning", ("messages", 1, "role"))
    ]


def test_a_whole_answer_follows_its_request_or_is_alone() -> None:
    alone, pair = transcripts(
        "ollama",
        piece(True, content="", tool_calls=[call()]),
        {"request": {"model": MODEL, "messages": [USER]}, "response": piece(True, content="so")},
    )
    assert (len(alone.messages), alone.open_end, alone.headless) == (1, True, True)
    assert [message.at for message in pair.messages] == [("request", "messages", 0), ("response", "message")]


def test_the_pieces_of_an_answer_are_one_conversation() -> None:
    first, second, third = transcripts(
        "ollama",
        piece(content=""), piece(content="I"), piece(content=" look"), piece(content="", tool_calls=[call("read")]),
        piece(content="", tool_calls=[call("write")]), piece(True, content=""),
        piece(content="and"), {"model": MODEL, "messages": [USER]},
    )  # fmt: skip
    assert [message.record.line for message in first.messages] == [2, 4, 5]
    assert first.wire.joins
    pairs = ledger.read(first.messages, first.wire)
    assert [pair.pending for pair in pairs.interactions] == [True, True]
    assert [message.record.line for message in second.messages] == [7]
    assert [message.record.line for message in third.messages] == [8]


def test_an_empty_answer_has_no_message() -> None:
    (transcript,) = transcripts("ollama", piece(content=""), piece(True, content=""))
    assert [message.empty for message in transcript.messages] == [True]


def test_pieces_without_content_have_only_their_calls(tmp_path: Path) -> None:
    (transcript,) = transcripts("ollama", *[piece(content="word ")] * 500, piece(True, content=""))
    assert len(transcript.messages) == 1
    rows, tally = judged([*[piece(content="word ")] * 500, piece(True, content="")], None, tmp_path)
    assert (rows, tally.conversations) == ([], 1)


SNIFFS: list[tuple[str, Any, str | None]] = [
    ("options", {"model": MODEL, "messages": [USER], "options": OPTIONS}, "ollama"),
    ("how long a model is kept", {"model": MODEL, "messages": [USER], "keep_alive": "5m"}, "ollama"),
    ("whether it thinks", {"model": MODEL, "messages": [USER], "think": False}, "ollama"),
    ("calls and options", {"model": MODEL, "messages": [USER, calling(call(id="1", type="function")), answer()], "options": OPTIONS}, "ollama"),
    ("ids, a type and the name of the tool", {"model": MODEL, "messages": [USER, calling(call(id="1", type="function")), answer(tool_call_id="1")]}, "ollama"),
    ("calls without a type", {"model": MODEL, "messages": [USER, calling(call())]}, "ollama"),
    ("a result by its tool's name", [USER, calling(call(type="function")), answer()], "ollama"),
    ("images beside a content", {"messages": [{**USER, "images": ["aGk="]}]}, "ollama"),
    ("a whole answer", piece(True, content="so"), "ollama"),
    ("a piece of an answer", piece(content="so"), "ollama"),
    ("a pair", {"request": {"model": MODEL, "messages": [USER]}, "response": piece(True, content="so")}, "ollama"),
    ("sent to its own door", {"url": "http://localhost:11434/api/chat", "request": {"model": MODEL, "messages": [USER]}}, "ollama"),
    ("sent to its other door", {"url": "http://localhost:11434/v1/chat/completions", "request": {"model": MODEL, "messages": [USER]}}, "openai-chat"),
    ("no key of its own", {"model": "llama3.1:8b", "stream": False, "messages": [USER], "tools": TOOLS}, "openai-chat"),
    ("a training sample", {"messages": [USER, calling(call(type="function")), {"role": "tool", "name": "run", "content": "done"}]}, "openai-chat"),
    ("options of something else", {"model": MODEL, "messages": [USER], "options": {"retries": 3}}, "openai-chat"),
    ("a message that is done", {"message": USER, "done": True}, "openai-chat"),
    ("a thing to do", {"model": "m", "created_at": "2026", "message": "buy milk", "done": True}, None),
    ("an answer of Chat Completions", {"model": MODEL, "created": 1, "choices": [{"message": REPLY}]}, "openai-chat"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "expected"), [case[1:] for case in SNIFFS], ids=[case[0] for case in SNIFFS]
)
def test_only_its_own_keys_identify_a_record(record: Any, expected: str | None) -> None:
    assert sniffed(record) == expected


def test_no_shape_crashes_the_reader(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "go", "images": ["aGk="]},
        calling(call(arguments={"a": 1}), call(id="c1", type="function"), thinking="hm"),
        answer(),
        answer(tool_call_id="c1"),
    ]
    record = {"model": MODEL, "options": OPTIONS, "messages": messages, "tools": TOOLS}
    records = [
        *battered(record),
        *battered(piece(content="so", thinking="hm", tool_calls=[call()])),
        *battered(piece(True)),
    ]
    assert len(records) > 500
    for format_name in ("ollama", None):
        rows, tally = judged(records, format_name, tmp_path)
        assert tally.conversations > len(records) / 2
        assert {"malformed-message", "orphan-result", "unreadable-arguments"} <= {
            row.finding.rule for row in rows
        }


def test_an_example_is_written_on_it() -> None:
    text = 'user a\nassistant\n  think hm\n  call c1 read {}\n  call c2 write {"a": 1}\n  result c2 done\n  result c1 (look) done\n'
    record = write(text, "ollama").record
    assert [message.get("tool_name") for message in record["messages"]] == [None, None, "write", "look"]
    assert [call["function"]["arguments"] for call in record["messages"][1]["tool_calls"]] == [{}, {"a": 1}]
    assert (record["model"], len(record["tools"])) == (MODEL, 2)
    (transcript,) = transcripts("ollama", record)
    assert [type(block).__name__ for block in transcript.messages[1].blocks] == ["Thinking", "Call", "Call"]


def test_without_ids_a_result_gets_the_name_of_the_next_call() -> None:
    record = write(
        "user a\nassistant\n  call - read {}\n  call - write {}\n  result - x\n  result - y\n", "ollama"
    ).record
    assert [message.get("tool_name") for message in record["messages"][2:]] == ["read", "write"]
    assert "id" not in json.dumps(record["messages"])


@NEEDS_CORPUS
def test_accepted_requests_are_read_whole_and_without_error(tmp_path: Path) -> None:
    found = exchanges(lambda item: item["wire"] == "ollama")
    requests = [item["request"] for item in found]
    rows, tally = judged(requests, "ollama", tmp_path)
    messages = [message for request in requests for message in request["messages"]]
    assert len(requests) > 90
    assert (tally.conversations, tally.messages) == (len(requests), len(messages))
    assert tally.calls == sum(len(message.get("tool_calls") or ()) for message in messages)
    assert tally.results == sum(message["role"] == "tool" for message in messages)
    assert [
        (row.finding.rule, found[row.place.line - 1]["id"]) for row in rows if row.finding.severity == "error"
    ] == []


@NEEDS_CORPUS
def test_its_answers_are_recognized_without_their_requests(tmp_path: Path) -> None:
    answers = [
        exchange["response"]
        for exchange in exchanges(lambda item: item["wire"] == "ollama")
        if exchange["response"]
    ]
    assert len(answers) > 50
    assert {sniffed(answer) for answer in answers} == {"ollama"}
    rows, tally = judged(answers, None, tmp_path)
    assert (rows, tally.messages) == ([], len(answers))
    assert tally.calls == sum(len(answer["message"].get("tool_calls") or ()) for answer in answers) > 5
