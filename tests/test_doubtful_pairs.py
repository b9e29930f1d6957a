"""Results that may belong to another call: a call of a wrong role, a blank id, a result before its call, a placeholder."""

import json
from typing import Any

import pytest

import fuzz_pairs
from breaking import Piece, Turn
from turnlint import fix
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.rows import Row

TIME = "2026-06-02T14:11:20.000Z"


def _call(mark: int, identifier: str | None, name: str = "run") -> Piece:
    return Piece("call", "", mark, identifier, name)


def _result(mark: int, identifier: str | None, name: str = "run") -> Piece:
    return Piece("result", f"result-of-{mark}.", mark, identifier, name)


def _model(*pieces: Piece) -> Turn:
    return Turn("model", [*pieces])


def _tool(*pieces: Piece) -> Turn:
    return Turn("tool", [*pieces])


USER = Turn("user", [Piece("text", "go")])
CASES = [
    ("result before its call, and one without an id behind it", "codex", "auto", "lossy",
     [USER, _model(_call(1, "c1")), _tool(_result(1, "c2")), _model(_call(2, "c2")), _tool(_result(2, ""))]),
    ("a call in a message of the user", "claude-code", "qwen", "lossless",
     [_tool(_call(1, "c", "f")), _model(_call(2, "c", "g")), _tool(_result(2, "c"), _result(1, "c"))]),
    ("ids of white space beside a result without an id", "claude-code", "auto", "placeholder",
     [_model(_call(1, "\t")), _tool(_result(1, " ")), _tool(_result(9, None)), USER]),
    ("a lost id beside a call that gets a placeholder", "gemini", fuzz_pairs.CANONICAL, "placeholder",
     [_model(_call(4, "c4"), _call(5, "")), _tool(_result(5, "c5")), _model(Piece("text", "so"))]),
    ("a copy hides the result of a call without an id", "gemini-cli", fuzz_pairs.CANONICAL, "lossless",
     [_model(_call(1, "c1"), _call(3, None, "write"), _call(1, "c1")), _tool(_result(1, "c1"), _result(3, "c3", "write"))]),
    ("a call beside results shares its id with two calls", "gemini", "gemini", "lossy",
     [_model(_call(2, "c", "write"), _call(3, "c", "look")),
      _tool(_call(1, "c", "look"), _result(1, "c", "look"), _result(2, "c", "write"), _result(3, "c", "look"))]),
    ("a call beside results of other tools", "canonical", "auto", "lossy",
     [_model(_call(2, "c", "write")),
      _tool(_call(3, "c", "look"), _result(1, "c", "write"), _result(2, "c", "read"), _result(3, "c", "look")),
      _model(_call(6, "c", "look")), _model(_call(8, "c", "read"))]),
    ("a call beside two results of its name and id, which two calls have", "canonical", "auto", "lossy",
     [_model(_call(1, "c", "read")), _model(_call(2, "c", "write")),
      _tool(_call(4, "c", "read"), _result(2, "c", "write"), _result(3, "c", "read"), _result(4, "c", "read"))]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "provider", "level", "turns"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_no_result_is_under_another_call(form: str, provider: str, level: Any, turns: list[Turn]) -> None:
    """The checks of the fuzz find no exchanged result, no second change and no other id than `turnlint ids` shows."""
    assert [*fuzz_pairs.judged(fuzz_pairs.Case(form, turns, [], level, provider))] == []


@pytest.mark.parametrize("provider", ["glm", "vllm"])
def test_null_stays_where_a_wire_needs_no_ids(provider: str) -> None:
    """`turnlint ids` shows no new id where `turnlint fix` leaves "null"."""
    turns = [USER, _model(_call(1, "null")), _tool(_result(1, "null")), USER]
    for form in ("gemini", "gemini-cli", "ollama"):
        case = fuzz_pairs.Case(form, turns, [], "placeholder", provider)
        assert [*fuzz_pairs.judged(case)] == []


def test_a_result_before_its_call_still_finds_it() -> None:
    """The window of the call has no other result that may be its own."""
    call = {"type": "function_call", "id": "f", "call_id": "c1", "name": "run", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "one"}
    lines = [{"timestamp": TIME, "type": "response_item", "payload": item} for item in (output, call)]
    head = {"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "cwd": "/repo"}}
    done = fix([head, *lines], format="codex", level="lossless").value
    assert [json.dumps(item["payload"]) for item in done[1:]] == [json.dumps(call), json.dumps(output)]


def _chat(*messages: dict[str, Any]) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": "go"}, *messages]}).encode()


def _finding(data: bytes) -> Row:
    options = Options()
    events = lint(Source("a.json", None, data=data), options, Book(options))
    (row,) = [event for event in events if isinstance(event, Row) and event.finding.rule == "orphan-result"]
    return row


def test_a_result_that_may_belong_to_several_calls_names_them() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in "fg"]
    calling = {"role": "assistant", "content": None, "tool_calls": calls}
    message = {"role": "tool", "tool_call_id": "c", "content": "r"}
    finding = _finding(_chat(calling, message)).finding
    assert finding.label == "2 calls have this id: it is unknown which one it answers"
    assert [item.note for item in finding.related] == ["unanswered call with this id"] * 2
    assert finding.fix is not None
    assert "if it belongs to one of these calls, give both an id of their own by hand" in finding.fix.title
    before = _finding(_chat(message, calling)).finding
    assert before.label != finding.label
