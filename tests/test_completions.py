"""Equal completions of a call are one, and a pending completion is completed like a missing one.

Each test names the sentence of specification 001 (sections 5.3, 5.4 and 7.3) that it checks.
"""

import json
import os
from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from arbitrary_json import VALUES
from commands import run_cli
from gemini_cli_sessions import data_of, gemini, response, tool
from result_records import WIRES, Piece, anthropic, bedrock, canonical, of_gemini, responses
from turnlint import carriers, completions, ledger, testing
from turnlint.canonical_form import Form, write_forms
from turnlint.carriers import NAMES
from turnlint.completions import content_of, has_same_content, is_same_completion
from turnlint.documents.source import Source
from turnlint.ledger import Interaction
from turnlint.lifecycle import PARTIAL, UNKNOWN, Lifecycle, lifecycle_of, state_of
from turnlint.model import Keys, Record, Result, State, Transcript
from turnlint.packages import BUILTIN
from turnlint.providers import Providers
from turnlint.reading import transcripts

ROOT = Path(__file__).parent.parent
TEXT, PARTS = "it is 4", [{"type": "text", "text": "it is 4"}]
ROW, WOR = '{"a": 1, "b": [2]}', '{"b": [2],\n "a": 1.0}'
CANCELLED, ENDED = "Tool call cancelled by user.", "[Request interrupted by user for tool use]"

SAME: list[tuple[str, Piece, Piece]] = [
    ("openai-chat", {"content": TEXT}, {"content": PARTS}),
    ("openai-chat", {"content": ROW}, {"content": WOR}),
    ("openai-chat", {"content": ROW}, {"content": [{"text": WOR, "type": "text"}]}),
    ("anthropic", {"content": TEXT}, {"content": PARTS}),
    ("anthropic", {"content": TEXT, "is_error": False}, {"content": TEXT}),
    ("anthropic", {"content": PARTS}, {"content": TEXT, "is_error": False}),
    ("anthropic", {"content": "no", "is_error": True}, {"is_error": True, "content": [{"text": "no", "type": "text"}]}),
    ("canonical", {"result": {"a": 1, "b": 2}}, {"result": {"b": 2, "a": 1}}),
    ("canonical", {"result": TEXT}, {"result": [{"text": TEXT}]}),
    ("canonical", {"result": TEXT}, {"result": TEXT, "isComplete": True, "error": None}),
    ("canonical", {"error": "no"}, {"error": "no", "result": None, "isComplete": True}),
    ("canonical", {"result": None, "isComplete": False}, {"isComplete": False}),
    ("gemini", {"response": {"output": "x", "n": 1}}, {"response": {"n": 1, "output": "x"}}),
    ("bedrock", {"content": [{"json": {"a": 1, "b": 2}}]}, {"content": [{"json": {"b": 2, "a": 1}}], "status": "success"}),
    ("openai-responses", {"output": TEXT}, {"output": [{"type": "input_text", "text": TEXT}]}),
    ("openai-responses", {"output": TEXT}, {"output": TEXT, "status": "completed"}),
]  # fmt: skip
CANCELLATIONS: list[tuple[str, Piece, Piece]] = [
    ("openai-chat", {"content": ENDED}, {"content": "[Operation Cancelled] Reason: the user pressed escape"}),
    ("anthropic", {"content": CANCELLED, "is_error": True}, {"content": ENDED, "is_error": True}),
    ("canonical", {"error": CANCELLED}, {"error": "Aborted by the user", "isComplete": True}),
    ("gemini", {"response": {"error": CANCELLED}}, {"response": {"error": "[Operation Cancelled]"}}),
    (
        "bedrock",
        {"content": [{"text": CANCELLED}], "status": "error"},
        {"content": [{"text": "cancelled"}], "status": "error"},
    ),
]
OTHER: list[tuple[str, Piece, Piece]] = [
    ("openai-chat", {"content": "1"}, {"content": "2"}),
    ("openai-chat", {"content": '{"a": 1}'}, {"content": '{"a": 2, "a": 1}'}),
    ("openai-chat", {"content": '["a", "b"]'}, {"content": '["b", "a"]'}),
    ("openai-chat", {"content": TEXT}, {"content": [*PARTS, *PARTS]}),
    ("openai-chat", {"content": "Order 1 was cancelled"}, {"content": "Order 2 was cancelled"}),
    ("anthropic", {"content": TEXT}, {"content": TEXT, "is_error": True}),
    ("anthropic", {"content": TEXT}, {"content": [{**PARTS[0], "cache_control": {"type": "ephemeral"}}]}),
    (
        "anthropic",
        {"content": "order 1 cancelled", "is_error": True},
        {"content": CANCELLED, "is_error": True},
    ),
    ("canonical", {"result": {"a": 1}}, {"result": {"a": "1"}}),
    ("canonical", {"result": "half", "isComplete": False}, {"result": "half", "isComplete": True}),
    ("canonical", {"error": "no", "result": "1"}, {"error": "no", "result": "2"}),
    ("canonical", {"error": CANCELLED, "result": "1"}, {"error": ENDED, "result": "2"}),
    ("gemini", {"response": {"output": "x"}}, {"response": {"error": "x"}}),
    ("bedrock", {"content": [{"text": "x"}]}, {"content": [{"text": "x"}], "status": "error"}),
    ("openai-responses", {"output": "x"}, {"output": "x", "status": "incomplete"}),
]


def data(wire: str, *results: Piece) -> bytes:
    return json.dumps(WIRES[wire](*results)).encode() + b"\n"


def twice(found: bytes, wire: str) -> list[tuple[str, str]]:
    """Return the findings about two results of a call, with the level of the repair."""
    rows = [row.finding for row in testing.rows_of(found, wire)]
    return [(one.code, one.fix.level) for one in rows if one.code in ("PA205", "ST107") and one.fix]


def interactions(found: bytes, wire: str) -> tuple[Interaction, ...]:
    carrier = carriers.carrier(wire)
    (one,) = carrier.read([carrier.shape.read(Record(1, 0, found.strip()))])
    assert isinstance(one, Transcript)
    return ledger.read(one.messages, one.wire).interactions


@pytest.mark.parametrize(("wire", "one", "other"), SAME)
def test_5_3_logically_identical_completions_are_one(wire: str, one: Piece, other: Piece) -> None:
    """Section 5.3: "Repeated writes of logically identical completion must not produce duplicate emitted completions"."""
    for first, second in permutations((one, other)):
        found = data(wire, first, second)
        assert twice(found, wire) == [("PA205", "lossless")]
        assert testing.fixed(found, wire) == testing.fixed(data(wire, first), wire)


@pytest.mark.parametrize(("wire", "one", "other"), CANCELLATIONS)
def test_5_3_two_cancellations_in_other_words_are_one(wire: str, one: Piece, other: Piece) -> None:
    for first, second in permutations((one, other)):
        found = data(wire, first, second)
        assert twice(found, wire) == [("PA205", "lossy")]
        assert testing.fixed(found, wire) == testing.fixed(data(wire, first), wire)
        assert interactions(found, wire)[0].state == "cancelled"


@pytest.mark.parametrize(("wire", "one", "other"), OTHER)
def test_5_3_completions_that_differ_in_content_or_state_are_not_one(
    wire: str, one: Piece, other: Piece
) -> None:
    for first, second in permutations((one, other)):
        assert [code for code, _ in twice(data(wire, first, second), wire)] == ["ST107"]


@pytest.mark.parametrize("wire", WIRES)
def test_5_3_repeated_writes_produce_at_most_one_completion(wire: str) -> None:
    """Section 5.3: "Final emitted transcript contains at most one effective completion for strict protocol pairing"."""
    some = [one for name, *pair in SAME if name == wire for one in pair][:2]
    found = testing.fixed(data(wire, *some, *some, *some), wire)
    assert found == testing.fixed(data(wire, some[0]), wire)
    assert len(interactions(found, wire)) == 1


def test_5_3_the_complete_one_of_two_results_with_one_text_stays() -> None:
    part, whole = {"result": "half", "isComplete": False}, {"result": "half", "isComplete": True}
    for some in permutations((part, whole)):
        (one,) = interactions(testing.fixed(data("canonical", *some), "canonical"), "canonical")
        assert one.state == "complete"


@pytest.mark.parametrize(
    "nothing", [{}, {"result": None}, {"isComplete": False}, {"result": None, "isComplete": True}]
)
def test_5_3_a_pending_response_gives_way_to_its_completion(nothing: Piece) -> None:
    for some in permutations((nothing, {"result": "4"})):
        found = data("canonical", *some)
        assert twice(found, "canonical") == [("PA205", "lossless")]
        (one,) = interactions(testing.fixed(found, "canonical"), "canonical")
        assert (one.state, one.lifecycle.is_synthetic) == ("complete", False)


def test_the_journal_keeps_the_removed_completion(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    _, one, other = CANCELLATIONS[1]
    found = b"".join(
        (data("anthropic", one, other), data("anthropic", {"content": TEXT}, {"content": PARTS}))
    )
    log.write_bytes(found)
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    run_cli("fix", "--level", "lossy", str(log), cwd=tmp_path, env=env)
    assert log.read_bytes() == data("anthropic", one) + data("anthropic", {"content": TEXT})
    run_cli("undo", str(log), cwd=tmp_path, env=env)
    assert log.read_bytes() == found


@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_keys_never_matters(value: Any, random: Any) -> None:
    one, other = json.dumps(value).encode(), json.dumps(shuffled(value, random), indent=1).encode()
    assert has_same_content(one, other)
    assert has_same_content(json.dumps(one.decode()).encode(), json.dumps(other.decode()).encode())


@given(VALUES, VALUES)
def test_contents_with_different_values_are_never_equal(one: Any, other: Any) -> None:
    mine, theirs = json.dumps(one).encode(), json.dumps(other).encode()
    if has_same_content(mine, theirs):
        assert plain(one) == plain(other)


def shuffled(value: Any, random: Any) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random) for key in keys}
    return [shuffled(one, random) for one in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """Return a value without the list of a single text part, and with JSON for the objects and lists in a text."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and "text" in value[0]:
        value = value[0]["text"]
    if isinstance(value, str) and value.lstrip(" \t\r\n")[:1] in ("{", "["):
        try:
            return ["inside", json.loads(value)]
        except (ValueError, RecursionError):
            return value
    return value


def test_a_long_result_with_many_copies_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    long = json.dumps(json.dumps({str(number): number for number in range(100)})).encode()
    read: list[bytes] = []
    monkeypatch.setattr(completions, "content_of", lambda body: read.append(body) or content_of(body))
    keys = Keys((), (), ())
    first = Result((), keys, "c1", None, long)
    copies = [Result((), keys, "c1", None, f'"{{\\"a\\": {number}}}"'.encode()) for number in range(200)]
    assert not any(is_same_completion(first, one) for one in copies)
    assert read.count(long) == 1
    assert len(read) == 1 + len(copies)


# 5.4, 7.3: incomplete fan-out.

PENDING: list[Piece] = [
    {}, {"result": None}, {"isComplete": False}, {"result": None, "isComplete": False}, {"result": None, "error": ""},
    {"metadata": {"state": "pending"}}, {"result": None, "error": None, "isComplete": True}, {"metadata": {"state": "complete"}},
]  # fmt: skip


def fan_out(*found: Piece | None, closed: bool = True) -> bytes:
    """Return a turn with a call for each response, or none, in the order of the calls."""
    calls = [
        {"type": "tool_call", "id": f"hist_tool_{number}", "name": "run", "parameters": {"n": number}}
        for number in range(len(found))
    ]
    answers = [
        {"type": "tool_response", "callId": f"hist_tool_{number}", "toolName": "run", **one}
        for number, one in enumerate(found)
        if one is not None
    ]
    end = [{"speaker": "ai", "blocks": [{"type": "text", "text": "so"}]}] if closed else []
    history = [
        {"speaker": "human", "blocks": [{"type": "text", "text": "go"}]}, {"speaker": "ai", "blocks": calls},
        {"speaker": "tool", "blocks": answers}, *end,
    ]  # fmt: skip
    return json.dumps({"history": history}).encode() + b"\n"


@pytest.mark.parametrize("pending", PENDING)
def test_5_4_a_pending_response_is_completed_like_a_missing_one(pending: Piece) -> None:
    """Section 5.4: "Missing completions are represented by policy-compliant interruption/cancellation completions"."""
    real = {"result": "3"}
    found = fan_out(pending, real, None, {"error": "no"}, pending)
    after = testing.fixed(found, "canonical")
    pairs = interactions(after, "canonical")
    assert [one.state for one in pairs] == ["cancelled", "complete", "cancelled", "error", "cancelled"]
    assert [one.lifecycle.is_synthetic for one in pairs] == [True, False, True, False, True]
    assert after.count(UNKNOWN.encode()) == 3
    assert after.count(b'"tool_response"') == 5
    assert testing.rows_of(after, "canonical") == []
    assert testing.fixed(after, "canonical") == after


def test_5_4_a_pending_response_keeps_its_place_and_its_other_keys() -> None:
    found = fan_out({"note": [1], "result": None, "isComplete": False})
    after = json.loads(testing.fixed(found, "canonical"))
    assert after["history"][2]["blocks"] == [{
        "type": "tool_response", "callId": "hist_tool_0", "toolName": "run", "note": [1], "result": None,
        "isComplete": True, "error": UNKNOWN,
    }]  # fmt: skip


def test_5_4_no_combination_of_marks_leaves_a_call_without_a_completion() -> None:
    errors = (..., None, "no", "Cancelled by the user.", UNKNOWN)
    results = (..., None, "ok", UNKNOWN)
    states = (..., *({"state": one} for one in ("pending", "complete", "error", 5)), [], {"synthetic": True})
    lines = []
    for values in product(errors, results, (..., None, True, False), states):
        pairs = zip(("error", "result", "isComplete", "metadata"), values, strict=True)
        one = {key: value for key, value in pairs if value is not ...}
        lines.append(fan_out(one, {"result": "3"}, one))
    found = b"".join(lines)
    after = testing.fixed(found, "canonical")
    assert testing.fixed(after, "canonical") == after
    for before, line in zip(lines, after.splitlines(keepends=True), strict=True):
        outcomes = [one.state for one in interactions(line, "canonical")]
        assert outcomes[1] == "complete"
        assert "pending" not in outcomes, before
        kept = [block.get("result") for block in json.loads(line)["history"][2]["blocks"]]
        assert kept == [block.get("result") for block in json.loads(before)["history"][2]["blocks"]]
    assert not [row for row in testing.rows_of(after, "canonical") if row.finding.severity == "error"]


@pytest.mark.parametrize("pending", PENDING)
def test_5_4_a_pending_response_at_the_end_waits_until_the_user_closes_it(
    pending: Piece, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(fan_out({"result": "3"}, pending, closed=False))
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    assert "PA206" in [row.finding.code for row in testing.rows_of(log.read_bytes(), "canonical")]
    run_cli("fix", str(log), cwd=tmp_path, env=env)
    assert UNKNOWN not in log.read_text()
    run_cli("fix", "--close-pending", str(log), cwd=tmp_path, env=env)
    assert log.read_text().count(UNKNOWN) == 1
    assert [one.state for one in interactions(log.read_bytes(), "canonical")] == ["complete", "cancelled"]


def test_5_4_a_partial_response_keeps_its_output_and_is_interrupted_at_level_lossy(tmp_path: Path) -> None:
    found = fan_out({"result": "half of", "isComplete": False}, {"result": "3"})
    log = tmp_path / "log.jsonl"
    log.write_bytes(found)
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    run_cli("fix", str(log), cwd=tmp_path, env=env)
    assert log.read_bytes() == found
    run_cli("fix", "--level", "lossy", str(log), cwd=tmp_path, env=env)
    block = json.loads(log.read_bytes())["history"][2]["blocks"][0]
    assert (block["result"], block["error"], block["isComplete"]) == ("half of", PARTIAL, True)
    first, second = interactions(log.read_bytes(), "canonical")
    assert (first.state, first.lifecycle.has_output, second.state) == ("cancelled", True, "complete")
    assert testing.rows_of(log.read_bytes(), "canonical") == []


def test_the_report_lists_each_completed_response(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(fan_out({"result": None}, {"result": "3"}, None))
    done = run_cli("fix", "--check", "--report", "-", str(log), cwd=tmp_path)
    (conversation,) = json.loads(done.stdout)["conversations"]
    assert [(one["call_id"], one["rule"]) for one in conversation["synthetic_completions"]] == [
        ("hist_tool_0", "unanswered-call"), ("hist_tool_2", "unanswered-call"),
    ]  # fmt: skip


@pytest.mark.parametrize("provider", Providers([BUILTIN]).names())
def test_7_3_a_pending_fan_out_is_rendered_with_a_completion_for_each_call(provider: str) -> None:
    """Section 7.3: "real: `tool_response(C3)`; synthetic interruption/cancelled: `tool_response(C2,C4,C5,C6)`"."""
    found = fan_out(PENDING[0], {"result": "3"}, PENDING[3], None, PENDING[6])
    after = testing.fixed(found, "canonical", provider)
    pairs = interactions(after, "canonical")
    assert [one.state for one in pairs] == ["cancelled", "complete", "cancelled", "cancelled", "cancelled"]
    assert [one.lifecycle.is_synthetic for one in pairs] == [True, False, True, True, True]
    assert len({one.asked.call.id for one in pairs}) == len(pairs)
    assert all(one.answer and one.answer.result.id == one.asked.call.id for one in pairs)
    codes = {row.finding.code for row in testing.rows_of(after, "canonical", provider)}
    assert not {code for code in codes if code.startswith(("PA", "ST"))}


@pytest.mark.parametrize("format_name", NAMES)
def test_7_3_our_placeholder_reads_back_as_interrupted(format_name: str) -> None:
    """Every result in the repaired fixtures of each format that a repair wrote is a cancellation."""
    states: set[State] = set()
    for path in sorted((ROOT / "fixtures" / "formats" / format_name).glob("*.fixed.*")):
        for one in transcripts(Source(str(path), str(path)), format_name):
            blocks = [block for message in one.messages for block in message.blocks]
            states |= {state_of(block) for block in blocks if isinstance(block, Result) and block.synthetic}
    assert states == {"cancelled"}


# The marks of each format.


def line(number: int, parent: int | None, message: Any, **more: Any) -> Any:
    before = None if parent is None else f"u{parent}"
    return {
        "type": message["role"],
        "uuid": f"u{number}",
        "parentUuid": before,
        "sessionId": "s",
        "message": message,
        **more,
    }


def of_claude_code(mark: Piece) -> list[Any]:
    own = {key: value for key, value in mark.items() if key == "toolDenialKind"}
    user, call, answer, *_ = anthropic({"content": "x", **{key: mark[key] for key in mark.keys() - own}})[
        "messages"
    ]
    return [line(0, None, user), line(1, 0, call), line(2, 1, answer, **own)]


def of_codex(mark: Piece) -> list[Any]:
    items = [one for one in responses({"output": "x", **mark})["input"] if "type" in one]
    return [
        {"timestamp": "t", "type": "session_meta", "payload": {"id": "s"}},
        *({"timestamp": "t", "type": "response_item", "payload": one} for one in items),
    ]


def of_pi(mark: Piece) -> list[Any]:
    call = {"type": "toolCall", "id": "t1", "name": "run", "arguments": {}}
    answer = {
        "role": "toolResult",
        "toolCallId": "t1",
        "toolName": "run",
        "content": [{"type": "text", "text": "x"}],
    }
    said = [{"role": "assistant", "content": [call], "stopReason": "toolUse"}, {**answer, **mark}]
    head = {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"}
    entries = [
        {
            "type": "message",
            "id": f"e{number}",
            "parentId": f"e{number - 1}" if number else None,
            "timestamp": "t",
            "message": one,
        }
        for number, one in enumerate(said)
    ]
    return [head, *entries]


def of_langchain(mark: Piece) -> list[Any]:
    call = {"name": "run", "args": {}, "id": "c1", "type": "tool_call"}
    said = [
        {"type": "ai", "data": {"content": "", "type": "ai", "tool_calls": [call]}},
        {"type": "tool", "data": {"content": "x", "type": "tool", "tool_call_id": "c1", **mark}},
    ]
    return [said]


MARKED: dict[str, Callable[[Piece], list[Any]]] = {
    "anthropic": lambda mark: [anthropic({"content": "x", **mark})],
    "bedrock": lambda mark: [bedrock({"content": [{"text": "x"}], **mark})],
    "canonical": lambda mark: [canonical({"result": "x", **mark})],
    "openai-responses": lambda mark: [responses({"output": "x", **mark})],
    "gemini": lambda mark: [of_gemini({"response": mark["response"]})],
    "gemini-cli": lambda mark: json.loads(f"[{','.join(data_of(gemini('a1', '', tool('c1', response(), **mark))).decode().split())}]"),
    "claude-code": of_claude_code, "codex": of_codex, "pi": of_pi, "langchain": of_langchain,
}  # fmt: skip


STATES = [(name, mark, state) for name in NAMES for mark, state in carriers.carrier(name).states.items()]


def marked(name: str, mark: str) -> list[Any]:
    """Return the records of a conversation with one result that has a mark of its format."""
    key, _, said = mark.partition(": ")
    value: Any = {"true": True, "false": False}.get(said, said)
    if key == "content.type":
        return [server_error(value.replace("…", "web_search"))]
    *outer, key = key.split(".")
    return MARKED[name]({outer[0]: {key: value}} if outer else {key: value})


def lifecycle_in(records: list[Any], name: str, folder: Path) -> Lifecycle:
    """Return the lifecycle of the only call of some records."""
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    (one,) = transcripts(Source(str(path), str(path)), name)
    (pair,) = ledger.read(one.messages, one.wire).interactions
    return pair.lifecycle


def form_of(folder: Path, name: str) -> Any:
    """Return the canonical form of the log that was read last."""
    path = str(folder / "log.jsonl")
    (form,) = write_forms(Source(path, path), name, lambda one: one)
    assert isinstance(form, Form), form
    return json.loads(form.data)


@pytest.mark.parametrize(("name", "mark", "expected"), STATES)
def test_5_2_each_mark_of_a_format_gives_its_state_and_keeps_it_in_the_canonical_form(
    name: str, mark: str, expected: State, tmp_path: Path
) -> None:
    before = lifecycle_in(marked(name, mark), name, tmp_path)
    assert before.state == expected
    after = lifecycle_in([form_of(tmp_path, name)], "canonical", tmp_path)
    assert (after.state, after.is_synthetic) == (before.state, before.is_synthetic)


EMPTY: list[tuple[str, Piece]] = [
    ("anthropic", {}), ("anthropic", {"content": ""}), ("anthropic", {"content": []}), ("openai-chat", {"content": ""}),
    ("openai-chat", {"content": None}), ("gemini", {"response": {}}), ("bedrock", {"content": []}),
    ("openai-responses", {"output": ""}), ("openai-responses", {"output": []}),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "result"), EMPTY)
def test_5_2_a_tool_of_a_wire_that_returns_nothing_has_completed(
    wire: str, result: Piece, tmp_path: Path
) -> None:
    assert lifecycle_in([WIRES[wire](result)], wire, tmp_path).state == "complete"
    form = form_of(tmp_path, wire)
    assert lifecycle_in([form], "canonical", tmp_path).state == "complete"
    assert "PA201" not in [
        row.finding.code for row in testing.rows_of(json.dumps(form).encode(), "canonical")
    ]


@pytest.mark.parametrize("wire", WIRES)
def test_7_3_our_placeholder_keeps_its_state_in_the_canonical_form(wire: str, tmp_path: Path) -> None:
    open_call = testing.fixed(data(wire), wire)
    assert UNKNOWN.encode() in open_call
    before = lifecycle_in([json.loads(open_call)], wire, tmp_path)
    after = lifecycle_in([form_of(tmp_path, wire)], "canonical", tmp_path)
    assert [(one.state, one.is_synthetic) for one in (before, after)] == [("cancelled", True)] * 2


def server_error(kind: str) -> Any:
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    answer = {
        "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {"type": kind, "error_code": "unavailable"},
    }  # fmt: skip
    return {
        "model": "claude-x",
        "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": [call, answer]}],
    }


@pytest.mark.parametrize("name", [name for name in NAMES if name not in MARKED])
def test_a_format_without_marks_has_none(name: str) -> None:
    assert not carriers.carrier(name).states


def test_only_formats_without_native_facts_have_a_mark_for_a_value() -> None:
    """A result that holds nothing is an open call, which the native facts could not show."""
    with_mark = {
        name
        for name in WIRES
        for one in interactions(data(name, {"content": "x", "output": "x", "result": "x"}), name)
        if one.answer is not None and one.answer.result.value is not None
    }
    assert with_mark == {"canonical"}
    assert carriers.carrier("canonical").syntax is None


def test_a_long_cancellation_in_a_session_is_one(tmp_path: Path) -> None:
    """The text of a long result in a session is only a digest, but its state is not lost."""
    text = "The user doesn't want to proceed with this tool use. " + "It was rejected. " * 20
    records = of_claude_code({"is_error": True})
    records[2]["message"]["content"][0]["content"] = text
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    (one,) = transcripts(Source(str(path), str(path)), "claude-code")
    (pair,) = ledger.read(one.messages, one.wire).interactions
    assert pair.state == "cancelled"


def test_the_schema_of_the_transcript_has_every_mark(tmp_path: Path) -> None:
    schema = json.loads(run_cli("schema", "transcript", cwd=tmp_path).stdout)
    for pending in PENDING:
        Draft202012Validator(schema).validate(canonical(pending))
    assert list(Draft202012Validator(schema).iter_errors(canonical({"metadata": {"state": "done"}})))


def test_a_call_without_a_response_has_the_state_of_a_response_with_nothing() -> None:
    assert lifecycle_of(None) == interactions(data("canonical", {}), "canonical")[0].lifecycle
