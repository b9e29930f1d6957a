"""Sessions of pi and OpenClaw: their replayed and abandoned parts, and their repairs."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from turnlint import carriers, testing
from turnlint.lifecycle import state_of
from turnlint.model import Call, Message, Other, Record, Result, Text, Thinking, Transcript

ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus"))
SAMPLES = CORPUS / "format_samples"
LOGS = CORPUS / "logs"
CARRIER = carriers.carrier("pi")
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
Entry = dict[str, Any]
TIME = "2026-06-02T14:11:20.000Z"


def header(version: int | None = 3, name: str = "s") -> Entry:
    message = {"type": "session", "id": name, "timestamp": TIME, "cwd": "/home/user/p"}
    return message if version is None else {**message, "version": version}


def entry(kind: str, name: str, parent: str | None, **more: Any) -> Entry:
    return {"type": kind, "id": name, "parentId": parent, "timestamp": TIME, **more}


def user(name: str, parent: str | None, text: str = "go", **more: Any) -> Entry:
    message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1, **more}
    return entry("message", name, parent, message=message)


def tool(identifier: Any = "t1", **more: Any) -> Entry:
    return {"type": "toolCall", "id": identifier, "name": "run", "arguments": {}, **more}


def answer(name: str, parent: str | None, *content: Any, stop: str = "stop") -> Entry:
    blocks = [{"type": "text", "text": item} if isinstance(item, str) else item for item in content]
    message = {"role": "assistant", "content": blocks, "stopReason": stop, "timestamp": 2}
    return entry("message", name, parent, message=message)


def result(name: str, parent: str | None, identifier: Any = "t1", **more: Any) -> Entry:
    message = {
        "role": "toolResult", "toolCallId": identifier, "toolName": "run", "content": [{"type": "text", "text": "x"}],
        "isError": False, "timestamp": 3, **more,
    }  # fmt: skip
    return entry("message", name, parent, message=message)


def compacted(name: str, parent: str | None, kept: str | None, kind: str = "compaction") -> Entry:
    return entry(kind, name, parent, summary="so far", firstKeptEntryId=kept, tokensBefore=9)


def lines(*entries: Entry) -> bytes:
    return b"".join(json.dumps(entry, separators=(",", ":")).encode() + b"\n" for entry in entries)


def read(*entries: Any) -> list[Transcript]:
    decoded = (
        CARRIER.shape.read(Record(number, number * 10, json.dumps(entry).encode()))
        for number, entry in enumerate(entries, 1)
    )
    return [item for item in CARRIER.read(decoded) if isinstance(item, Transcript)]


def live(*entries: Any) -> list[str | None]:
    return [message.id for item in read(*entries) if not item.dead for message in item.messages]


def dead(*entries: Any) -> list[tuple[str, list[str | None]]]:
    return [(item.dead, [message.id for message in item.messages]) for item in read(*entries) if item.dead]


def only(message: Any) -> Message:
    (found,) = read(header(), entry("message", "a", None, message=message))
    return found.messages[0]


def fixed(*entries: Entry) -> list[Entry]:
    return [json.loads(line) for line in testing.fixed(lines(*entries), "pi").splitlines()]


def codes(*entries: Entry, format_name: str | None = "pi") -> list[tuple[str, str, int]]:
    rows = testing.rows_of(lines(*entries), format_name)
    return [(row.finding.code, row.finding.severity, row.place.line) for row in rows]


def test_a_call_a_thought_and_a_result_are_read() -> None:
    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": "c2ln"}
    hidden = {"type": "thinking", "thinking": "", "thinkingSignature": "c2ln", "redacted": True}
    read_message = only(answer("a", None, thought, hidden, "I run it.", tool(arguments={"a": 1}))["message"])
    first, second, text, call = read_message.blocks
    assert (read_message.role, read_message.at, read_message.record.line) == ("assistant", ("message",), 2)
    assert first == Thinking(("content", 0), "thinking", words=True, signature="given")
    assert second == Thinking(("content", 1), "thinking", words=False, signature="given", cipher=True)
    assert text == Text(("content", 2))
    assert isinstance(call, Call)
    assert (call.id, call.name, call.body, call.arguments, call.kind) == (
        "t1",
        "run",
        b'{"a": 1}',
        "object",
        "toolCall",
    )
    parts = [{"type": "text", "text": "no"}, {"type": "image", "data": "", "mimeType": "image/png"}]
    answered = only(result("a", None, content=parts, isError=True)["message"])
    (block,) = answered.blocks
    assert isinstance(block, Result)
    assert (answered.role, block.at, block.id, block.name) == ("tool", (), "t1", "run")
    assert (block.error, state_of(block), block.parts, block.synthetic) == (
        True,
        "error",
        ("text", "image"),
        False,
    )


def test_a_placeholder_of_pi_is_recognized() -> None:
    text = [{"type": "text", "text": "No result provided"}]
    (block,) = only(result("a", None, content=text, isError=True)["message"]).blocks
    assert isinstance(block, Result)
    assert block.synthetic


@pytest.mark.parametrize("kind", ["toolCall", "toolUse", "tool_use"])
def test_calls_of_other_writers_are_calls(kind: str) -> None:
    (call,) = only(
        answer("a", None, {"type": kind, "id": "t1", "name": "run", "input": {"a": 1}})["message"]
    ).blocks
    assert isinstance(call, Call)
    assert (call.id, call.body, call.keys.body, call.dialect) == ("t1", b'{"a": 1}', ("input",), None)


@pytest.mark.parametrize(
    ("arguments", "buffer", "expected"),
    [
        ({"a": 1}, None, "object"),
        ({"a": 1}, '{"a": 1}', "object"),
        ({"a": 1}, '{"a": 1, "b": "un', "torn"),
        ({}, "", "object"),
        ("{}", None, "unfit"),
        (None, None, "unfit"),
        ({"a": 1}, {"a": 1}, "object"),
    ],
)
def test_the_rest_of_a_stream_shows_truncated_arguments(arguments: Any, buffer: Any, expected: str) -> None:
    more = {} if buffer is None else {"partialJson": buffer}
    (call,) = only(answer("a", None, tool(arguments=arguments, **more))["message"]).blocks
    assert isinstance(call, Call)
    assert call.arguments == expected


@pytest.mark.parametrize(
    ("message", "role", "place"),
    [
        ({"role": "bashExecution", "command": "ls", "output": "a"}, "user", ("command",)),
        ({"role": "custom", "customType": "x", "content": "hi"}, "user", ("content",)),
        ({"role": "hookMessage", "content": [{"type": "text", "text": "hi"}]}, "user", ("content", 0)),
        ({"role": "branchSummary", "summary": "hi"}, "user", ("summary",)),
        ({"role": "user", "content": "hi"}, "user", ("content",)),
    ],
)
def test_messages_sent_as_the_user_have_the_role_user(message: Any, role: str, place: Any) -> None:
    found = only(message)
    assert (found.role, found.blocks) == (role, (Text(place),))


def test_an_image_is_kept_by_its_name() -> None:
    content = [{"type": "image", "data": "", "mimeType": "image/png"}]
    assert only({"role": "user", "content": content}).blocks == (Other(("content", 0), "image"),)


def test_messages_that_are_never_sent_are_left_out() -> None:
    silent = entry(
        "message", "b", "a", message={"role": "bashExecution", "command": "ls", "excludeFromContext": True}
    )
    own = entry("message", "c", "b", message={"role": "my-widget", "content": 5})
    assert live(header(), user("a", None), silent, own, answer("d", "c", "hi")) == ["a", "d"]
    assert dead(header(), user("a", None), silent, own, answer("d", "c", "hi")) == []


CALLING = answer("b", "a", tool(), stop="toolUse")
VIEWS: dict[str, tuple[list[Entry], list[str], list[tuple[str, list[str]]]]] = {
    "a path": ([user("a", None), CALLING, result("c", "b"), answer("d", "c", "hi")], ["a", "b", "c", "d"], []),
    "an entry of another kind between": (
        [user("a", None), entry("model_change", "m", "a", provider="x", modelId="y"), answer("b", "m", "hi")], ["a", "b"], [],
    ),
    "a branch that was left": (
        [user("a", None), answer("b", "a", "x"), user("c", "b"), answer("d", "c", "y"), user("e", "b")],
        ["a", "b", "e"], [("the session continued from an earlier message", ["c", "d"])],
    ),
    "a branch with its summary": (
        [user("a", None), answer("b", "a", "x"), entry("branch_summary", "s", "a", fromId="b", summary="tried")],
        ["a", "s"], [("the session continued from an earlier message", ["b"])],
    ),
    "the last entry decides, whatever it is": (
        [user("a", None), answer("b", "a", "x"), user("c", "b"), entry("label", "l", "b", targetId="a", label="x")],
        ["a", "b"], [("the session continued from an earlier message", ["c"])],
    ),
    "an entry that leads elsewhere": (
        [user("a", None), answer("b", "a", "x"), user("c", "b"), entry("leaf", "l", "c", targetId="b")],
        ["a", "b"], [("the session continued from an earlier message", ["c"])],
    ),
    "an entry that leads to before the first": (
        [user("a", None), answer("b", "a", "x"), entry("leaf", "l", "b", targetId=None)],
        [], [("the session went back to before its first message", ["a", "b"])],
    ),
    "a compaction": (
        [user("a", None), answer("b", "a", "x"), user("c", "b"), answer("d", "c", "y"), compacted("k", "d", "c"), user("e", "k")],
        ["k", "c", "d", "e"], [("replaced by the compaction at line 6", ["a", "b"])],
    ),
    "a compaction that keeps nothing": (
        [user("a", None), answer("b", "a", "x"), compacted("k", "b", "k"), user("e", "k")],
        ["k", "e"], [("replaced by the compaction at line 4", ["a", "b"])],
    ),
    "two compactions": (
        [user("a", None), compacted("k", "a", "a"), user("b", "k"), compacted("l", "b", "a"), user("c", "l")],
        ["l", "a", "b", "c"], [("replaced by the compaction at line 5", ["k"])],
    ),
    "a compaction on another branch": (
        [user("a", None), answer("b", "a", "x"), compacted("k", "b", "b"), user("c", "b")],
        ["a", "b", "c"], [("the session continued from an earlier message", ["k"])],
    ),
    "a reset": (
        [user("a", None), answer("b", "a", "x"), user("c", "b"), compacted("k", "c", "c", "reset"), user("d", "k")],
        ["c", "d"], [("replaced by the reset at line 5", ["a", "b"])],
    ),
    "an aborted turn": (
        [user("a", None), answer("b", "a", "x", stop="aborted"), user("c", "b"), answer("d", "c", "x", stop="aborted"), user("e", "d")],
        ["a", "c", "e"], [("their turns were aborted", ["b", "d"])],
    ),
    "a turn that failed": (
        [user("a", None), answer("b", "a", tool(), stop="error"), answer("c", "b", "x")],
        ["a", "c"], [("the turn ended in an error", ["b"])],
    ),
    "a first message that was written anew": (
        [user("a", None), answer("b", "a", "x"), user("c", None), answer("d", "c", "y")],
        ["c", "d"], [("the session began anew at line 4", ["a", "b"])],
    ),
    "a link that leads nowhere": (
        [user("a", None), answer("b", "a", "x"), user("c", "?"), answer("d", "c", "y")],
        ["c", "d"], [("the links of the session end at line 4", ["a", "b"])],
    ),
    "links in a circle": ([user("a", "c"), answer("b", "a", "x"), user("c", "b")], ["a", "b", "c"], []),
}  # fmt: skip


@pytest.mark.parametrize(("entries", "sent", "left"), VIEWS.values(), ids=VIEWS)
def test_the_replayed_messages_are_those_that_pi_would_send(entries: Any, sent: Any, left: Any) -> None:
    assert live(header(), *entries) == sent
    assert dead(header(), *entries) == left


def unlinked(*entries: Entry) -> list[Entry]:
    return [{key: entry[key] for key in entry if key not in ("id", "parentId")} for entry in entries]


def test_an_old_session_is_a_list() -> None:
    some = unlinked(
        user("a", None, "1"), answer("b", None, "2"), user("c", None, "3"), answer("d", None, "4")
    )
    assert [len(item.messages) for item in read(header(None), *some)] == [4]
    mark = {"type": "compaction", "timestamp": TIME, "summary": "so far", "firstKeptEntryIndex": 3}
    found, left = read(header(None), *some, mark, *unlinked(user("e", None, "5")))
    assert [message.record.line for message in found.messages] == [6, 4, 5, 7]
    assert ([message.record.line for message in left.messages], left.dead) == (
        [2, 3], "replaced by the compaction at line 6",
    )  # fmt: skip


def test_each_header_starts_a_new_session() -> None:
    first = [header(name="one"), user("a", None), answer("b", "a", "x")]
    second = [header(name="two"), user("a", None), answer("b", "a", "x"), user("c", "b")]
    assert [(item.id, len(item.messages)) for item in read(*first, *second)] == [("one", 2), ("two", 3)]
    again = read(*first, header(name="one"), user("c", "b"))
    assert [(item.id, len(item.messages)) for item in again] == [("one", 3)]


def test_a_sound_session_has_no_finding() -> None:
    entries = [user("a", None), CALLING, result("c", "b"), answer("d", "c", "hi"), user("e", "d")]
    assert codes(header(), *entries) == []
    assert codes(header(None), *unlinked(*entries)) == []


def test_the_result_of_a_turn_that_is_not_replayed_has_no_call() -> None:
    stopped = answer("b", "a", tool(), stop="aborted")
    session = [header(), user("a", None), stopped, result("c", "b"), user("d", "c")]
    assert sorted(codes(*session)) == [("PA202", "error", 4), ("ST118", "info", 3)]
    after = fixed(*session)
    assert after == [*session[:3], user("d", "b")]


def test_a_turn_that_is_not_replayed_ends_the_wait_for_results() -> None:
    """Pi requires results before the next turn, even for a call of a turn that it leaves out."""
    stopped = answer("c", "b", "x", stop="aborted")
    session = [header(), user("a", None), CALLING, stopped, result("d", "c"), user("e", "d")]
    assert ("PA203", "error", 5) in codes(*session)
    after = fixed(*session)
    assert [(item["id"], item.get("parentId")) for item in after[1:]] == [
        ("a", None), ("b", "a"), ("d", "b"), ("c", "d"), ("e", "c"),
    ]  # fmt: skip
