"""Sessions of Gemini CLI: the part that would be replayed, and the CLI's loader after a repair."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gemini_cli_sessions import (
    CARRIER,
    HEAD,
    blocks,
    call,
    codes,
    data_of,
    every,
    fixed,
    gemini,
    lines_of,
    messages,
    pieces,
    response,
    tool,
    user,
)
from turnlint import carriers, ledger, testing
from turnlint.documents.source import Source
from turnlint.lifecycle import state_of
from turnlint.model import Call, Other, Record, Result, Text, Thinking, Transcript
from turnlint.reading import transcripts as transcripts_of

ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus"))
FIXTURES = sorted((ROOT / "fixtures" / "formats" / "gemini-cli").glob("*.json*"))
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")

# The replayed messages.


def test_a_message_that_is_appended_again_keeps_its_position() -> None:
    found = messages(user("u1", "a"), gemini("a1"), user("u2", "b"), gemini("a1", "c"))
    assert [(item.id, item.role, item.record.line) for item in found] == [
        ("u1", "user", 2), ("a1", "assistant", 5), ("u2", "user", 4),
    ]  # fmt: skip


def test_copies_of_a_message_are_no_findings() -> None:
    again = gemini("a1", "b", tool("c1", response()))
    data = data_of(user("u1", "a"), gemini("a1", "b"), again, again, gemini("a1", "b", *again["toolCalls"]))
    assert testing.rows_of(data, "gemini-cli") == []


def test_a_rewind_removes_a_message_and_all_after_it() -> None:
    read = every(user("u1", "a"), gemini("a1", "b"), user("u2", "c"), {"$rewindTo": "a1"}, user("u3", "d"))
    live, dead = read
    assert [message.id for message in live.messages] == ["u1", "u3"]
    assert [message.id for message in dead.messages] == ["a1", "u2"]
    assert dead.dead == "removed by the rewind at line 5"


def test_a_rewind_to_an_unknown_message_removes_all() -> None:
    live, dead = every(user("u1", "a"), {"$rewindTo": "u9"}, user("u2", "b"))
    assert [message.id for message in live.messages] == ["u2"]
    assert "line 3 names a message that does not exist" in dead.dead


def test_a_replaced_history_replaces_all_before_it() -> None:
    new = {
        "$set": {"messages": [user("k1", "summary"), user("u1", "a"), {"type": "user", "content": "no id"}]}
    }
    live, dead = every(user("u1", "a"), gemini("a1", "b"), new, gemini("a2", "c"))
    assert [(message.id, message.at) for message in live.messages] == [
        ("k1", ("$set", "messages", 0)), ("u1", ("$set", "messages", 1)), ("a2", ()),
    ]  # fmt: skip
    assert [message.id for message in dead.messages] == ["a1"]
    assert dead.dead == "replaced by the history at line 4"


def test_a_message_abandoned_twice_is_reported_once() -> None:
    again = {"$set": {"messages": [user("u1", "a")]}}
    read = every(user("u1", "a"), again, {"$rewindTo": "u1"}, user("u2", "b"))
    assert [item.dead for item in read[1:]] == ["removed by the rewind at line 4"]


def test_metadata_only_identify_the_session() -> None:
    (found,) = every(
        {"$set": {"sessionId": "s2", "lastUpdated": "t"}}, user("u1", "a"), {"$set": {"summary": "x"}}
    )
    assert found.id == "s2"
    assert len(found.beside) == 4


def test_all_records_of_a_session_determine_the_replayed_messages() -> None:
    (found,) = every(user("u1", "a"), {"$set": {"summary": "x"}}, gemini("a1", "b"))
    assert [record.line for record in found.beside] == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["info", "warning", "error"])
def test_display_messages_are_no_turns(kind: str) -> None:
    shown = {
        "id": "i1",
        "timestamp": "t",
        "type": kind,
        "content": [{"text": "Request cancelled."}, response()],
    }
    assert [message.id for message in messages(user("u1", "a"), shown)] == ["u1"]


@pytest.mark.parametrize(
    "text", ["/chat save x", "?", " \n/stats", "", "  ", "<session_context>\nx", "<hook_context>"]
)
def test_messages_that_the_cli_does_not_send_again_are_no_turns(text: str) -> None:
    assert [message.id for message in messages(user("u1", "a"), user("u2", text), user("u3", "", text))] == [
        "u1"
    ]


def test_a_response_before_a_command_is_sent() -> None:
    assert pieces(user("u1", response("c9"), "/etc")) == [("Result", "c9")]


def test_a_message_of_an_unknown_type_is_reported() -> None:
    data = data_of(user("u1", "a"), {"id": "x", "type": "narrator", "content": "b"})
    assert codes(data) == [("ST103", 3)]


# One message.


def test_a_text_may_replace_its_parts() -> None:
    as_text, as_part, mixed = (
        [(block.at, type(block)) for block in blocks({**user("u1"), "content": content})]
        for content in ("a", {"text": "a"}, ["a", {"text": "b"}])
    )
    assert as_text == as_part == [(("content",), Text)]
    assert mixed == [(("content", 0), Text), (("content", 1), Text)]


def test_a_call_and_its_result_are_in_one_message() -> None:
    calling, answer = messages(gemini("a1", "b", tool("c1", response())))
    assert (calling.role, answer.role) == ("assistant", "tool")
    _, call_ = calling.blocks
    (result,) = answer.blocks
    assert isinstance(call_, Call)
    assert isinstance(result, Result)
    assert (call_.at, call_.id, call_.body, call_.also) == (("toolCalls", 0), "c1", b'{"a":1}', ())
    assert (result.at, result.id, result.parts) == (("toolCalls", 0, "result", 0), "c1", ("json",))


@pytest.mark.parametrize("own", ["c1", None, "content_call_1"])
def test_a_call_in_both_places_is_one_call(own: str | None) -> None:
    found = [
        block
        for block in blocks(gemini("a1", [call(own)], tool("c1", response())))
        if isinstance(block, Call)
    ]
    assert [(item.at, item.id, [twin.at for twin in item.also]) for item in found] == [
        (("content", 0), own, [("toolCalls", 0)])
    ]


def test_copies_of_calls_of_one_tool_are_matched_by_id_first() -> None:
    record = gemini("a1", [call("c2"), call("c1")], tool("c1", response()), tool("c2", response("c2")))
    found = [(block.id, block.also[0].id) for block in blocks(record) if isinstance(block, Call)]
    assert found == [("c2", "c2"), ("c1", "c1")]


def test_thoughts_of_the_content_take_precedence() -> None:
    beside = {"thoughts": [{"subject": "a", "description": "b"}]}
    thinking = [
        [block.at for block in blocks(gemini("a1", content, **beside)) if isinstance(block, Thinking)]
        for content in ("so", [{"text": "so"}], [{"text": "hm", "thought": True}, {"text": "so"}], [call()])
    ]
    assert thinking == [[("thoughts", 0)], [("thoughts", 0)], [("content", 0)], []]


@pytest.mark.parametrize("result", [None, [], "", False])
def test_a_call_without_a_result_is_pending(result: Any) -> None:
    assert pieces(gemini("a1", "", tool("c1") | {"result": result})) == [("Call", "c1")]


@pytest.mark.parametrize(
    ("result", "at"),
    [
        (response(), ("toolCalls", 0, "result")),
        ("done", ("toolCalls", 0, "result")),
        ({"output": "done"}, ("toolCalls", 0, "result")),
        (["see:", response()], ("toolCalls", 0, "result", 1)),
    ],
)
def test_a_result_may_have_other_spellings(result: Any, at: tuple[Any, ...]) -> None:
    found = blocks(gemini("a1", "", tool("c1") | {"result": result}))
    assert [(item.at, item.id) for item in found if isinstance(item, Result)] == [(at, "c1")]


def test_a_result_of_another_kind_is_reported() -> None:
    data = data_of(gemini("a1", "", tool("c1") | {"result": 5}), user("u1", "a"))
    assert codes(data) == [("PA201", 2), ("ST103", 2)]
    assert testing.fixed(data, "gemini-cli") == data


def test_results_of_parallel_calls_stored_with_each_call_are_no_duplicates() -> None:
    both = [response("c1"), {"inlineData": {"mimeType": "image/png", "data": "x"}}, response("c2", "more")]
    record = gemini("a1", "", tool("c1", *both), tool("c2", *both))
    found = messages(record)[1].blocks
    assert [(block.at, type(block)) for block in found] == [
        (("toolCalls", 0, "result", 0), Result), (("toolCalls", 0, "result", 1), Other),
        (("toolCalls", 1, "result", 2), Result),
    ]  # fmt: skip


@pytest.mark.parametrize("own", ["c7", None])
def test_a_result_belongs_to_the_call_that_stores_it(own: str | None) -> None:
    record = gemini("a1", "", tool("c1", response(own)))
    assert codes(data_of(record, gemini("a2", "so"))) == [("ST104", 2)]
    assert fixed(record)[0]["toolCalls"][0]["result"] == [response("c1")]


def test_the_status_of_a_call_is_read() -> None:
    refused = {"functionResponse": {"id": "c1", "name": "run", "response": {"error": "no"}}}
    states = [
        [
            state_of(block)
            for block in blocks(gemini("a1", "", tool("c1", part, status=status)))
            if isinstance(block, Result)
        ]
        for part, status in (
            (response(), "success"),
            (refused, "cancelled"),
            (refused, "success"),
            (response(), "executing"),
        )
    ]
    assert states == [["complete"], ["cancelled"], ["error"], ["pending"]]


# Results that are stored twice.


def test_a_response_that_repeats_a_stored_result_is_no_duplicate() -> None:
    record = gemini("a1", "", tool("c1", response()), tool("c2", response("c2")))
    again = user("r1", response(), response("c2", "masked"))
    assert pieces(record, again, gemini("a2", "so")) == [
        ("Call", "c1"), ("Call", "c2"), ("Result", "c1"), ("Result", "c2"),
    ]  # fmt: skip
    assert codes(data_of(record, again, user("a1_response", response()), gemini("a2", "so"))) == []


def test_other_content_of_a_repeated_message_is_kept() -> None:
    found = messages(gemini("a1", "", tool("c1", response())), user("r1", response(), "and now this"))
    assert [block.at for block in found[-1].blocks] == [("content", 1)]


def test_the_response_is_the_result_if_the_call_stores_none() -> None:
    session = [gemini("a1", "", tool("c1")), user("r1", response())]
    assert pieces(*session) == [("Call", "c1"), ("Result", "c1")]
    assert codes(data_of(*session, gemini("a2", "so"))) == []


def test_a_response_in_a_later_turn_is_a_duplicate() -> None:
    session = [
        gemini("a1", "", tool("c1", response())),
        gemini("a2", "so"),
        user("r1", response()),
        gemini("a3", "b"),
    ]
    assert codes(data_of(*session)) == [("PA205", 4)]
    assert [item["id"] for item in fixed(*session)] == ["a1", "a2", "a3"]


def test_without_ids_the_name_of_a_tool_identifies_a_repeated_result() -> None:
    record = gemini("a1", [call(None)], tool("c1", response(None)))
    assert pieces(record, user("r1", response(None))) == [("Call", None), ("Result", None)]
    half = gemini("a1", [call(None), call("c2")], tool("c1", response(None)))
    assert len(pieces(half, user("r1", response(None)))) == 4


# Recognition.


@needs_corpus
@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("gemini_cli_chat", "gemini-cli"), ("gemini_cli_chat_legacy", "gemini-cli"),
        ("gemini_cli_checkpoint", "gemini"), ("gemini_cli_checkpoint_broken", "gemini"),
    ],
)  # fmt: skip
def test_samples_are_recognized(name: str, wire: str) -> None:
    path = str(CORPUS / "format_samples" / f"{name}.jsonl")
    assert {item.wire.name for item in transcripts_of(Source(name, path))} == {wire}


@needs_corpus
def test_files_of_other_formats_are_not_recognized() -> None:
    """Contents exported by the CLI, recorded answers of its tests, and the logs of all other formats."""
    paths = [*(CORPUS / "format_samples").glob("*.jsonl"), *(CORPUS / "logs").rglob("*.json*")]
    taken = [path.name for path in paths if path.stat().st_size < 1 << 20 and _is_recognized(path)]
    assert sorted(taken) == ["gemini_cli_chat.jsonl", "gemini_cli_chat_legacy.jsonl"]


def _is_recognized(path: Path) -> bool:
    with path.open("rb") as file:
        head = [
            Record(number, 0, line) for number, line in enumerate(file, 1) if number <= 20 and line.strip()
        ]
    found, _ = carriers.best_for(head)
    return found is CARRIER


@needs_corpus
def test_every_call_of_the_samples_is_read_once() -> None:
    path = CORPUS / "format_samples" / "gemini_cli_chat.jsonl"
    records = {item["id"]: item for item in lines_of(path.read_bytes()) if "id" in item}
    expected = Counter(tool["id"] for record in records.values() for tool in record.get("toolCalls", ()))
    read = [*transcripts_of(Source("x", str(path)))]
    calls = Counter(
        interaction.asked.call.id
        for each in read
        for interaction in ledger.read(each.messages, each.wire).interactions
        if interaction.answer
    )
    assert calls == expected
    assert sum(calls.values()) == 2


@pytest.mark.parametrize(
    "record",
    [
        {"type": "gemini", "id": "p1", "apiKey": "x"},
        {
            "type": "user",
            "uuid": "a",
            "parentUuid": None,
            "sessionId": "s",
            "message": {"role": "user", "parts": []},
        },
        {"sessionId": "s", "messages": [{"role": "user", "content": "a"}]},
        {"$set": {"price": 5}},
        {
            "v": 1,
            "seq": 1,
            "ts": "t",
            "type": "session_start",
            "payload": {"sessionId": "s", "projectHash": "p"},
        },
        [{"sessionId": "s", "messageId": 0, "type": "user", "message": "a", "timestamp": "t"}],
    ],
)
def test_other_records_are_not_recognized(record: Any) -> None:
    found, sure = carriers.best_for([Record(1, 0, json.dumps(record).encode())])
    assert found is not CARRIER or not sure


def test_sessions_from_before_the_line_format_may_be_collected_on_lines() -> None:
    whole = [{**HEAD, "sessionId": name, "messages": [user(f"u{name}", "a")]} for name in "xy"]
    data = b"".join(json.dumps(item).encode() + b"\n" for item in whole)
    found = CARRIER.read(
        CARRIER.shape.read(Record(n, n * 1000, line)) for n, line in enumerate(data.splitlines(), 1)
    )
    assert [(item.id, len(item.messages)) for item in found if isinstance(item, Transcript)] == [
        ("x", 1),
        ("y", 1),
    ]
