"""Formats are recognized, and normal records that resemble a defect have no finding.

The exemptions are traits of real logs of these wires that their servers accept: each row of the table states one of
them.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from turnlint import carriers, testing
from turnlint.carrying import lines
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Skipped, Tally, lint
from turnlint.model import Record, Transcript, Wire
from turnlint.rows import Row

ROOT = Path(__file__).parent.parent


def call(identifier: Any = "c1", name: str = "run", arguments: str = "{}") -> dict[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tool(identifier: str = "c1", content: Any = "done", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identifier, "content": content, **more}


def use(identifier: str = "t1", kind: str = "tool_use", **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": identifier, "name": "run", "input": {}, **more}


def used(identifier: str = "t1", kind: str = "tool_result", content: Any = "done") -> dict[str, Any]:
    return {"type": kind, "tool_use_id": identifier, "content": content}


USER = {"role": "user", "content": "go"}
REPLY = {"role": "assistant", "content": "so it is"}
TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}]


def claude(*turns: Any) -> dict[str, Any]:
    """Turns of blocks, alternating between user and assistant."""
    roles = ("user", "assistant")
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "messages": [{"role": roles[index % 2], "content": turn} for index, turn in enumerate(turns)],
    }


EXEMPTIONS: dict[str, tuple[str, dict[str, Any], list[tuple[str, str]]]] = {
    "a live or killed log ends on a call": ("openai-chat", {"model": "m", "messages": [USER, calling(call())]}, [("PA206", "warning")]),
    "a fine-tuning sample ends on the call it teaches": ("openai-chat", {"messages": [USER, calling(call())], "tools": TOOLS}, []),
    "a recorded response asks for a tool": (
        "openai-chat",
        {"request": {"model": "m", "messages": [USER]}, "response": {"choices": [{"message": calling(call())}]}},
        [],
    ),
    "a recorded Anthropic response asks for a tool": (
        "anthropic",
        {"id": "m", "type": "message", "role": "assistant", "content": [use()], "stop_reason": "tool_use"},
        [],
    ),
    "a paused turn ends on the provider's own tool": ("anthropic", claude("go", [use("srvtoolu_1", "server_tool_use")]), []),
    "the provider's tool waits while the caller's is answered": (
        "anthropic", claude("go", [use("srvtoolu_1", "server_tool_use"), use()], [used()]), [],
    ),
    "an output under previous_response_id answers a call kept elsewhere": (
        "openai-chat", {"model": "m", "previous_response_id": "resp_1", "messages": [tool(), REPLY]}, [],
    ),
    "redacted ids name nothing": (
        "openai-chat",
        {"model": "m", "messages": [USER, calling(call("REDACTED"), call("REDACTED")), tool("REDACTED"), tool("REDACTED"), REPLY]},
        [],
    ),
    "an id is used again in a later turn": (
        "openai-chat",
        {"model": "m", "messages": [USER, calling(call("call_0")), tool("call_0"), REPLY, calling(call("call_0", "look")), tool("call_0"), REPLY]},
        [("ST108", "warning")],
    ),
    "a framework keeps a call in content and in tool_calls": (
        "openai-chat",
        {"model": "m", "messages": [USER, calling(call(), content=[{"type": "tool_use", "id": "c1", "name": "run", "input": {}}]), tool(), REPLY]},
        [],
    ),
    "two assistant messages in a row": ("openai-chat", {"model": "m", "messages": [USER, REPLY, REPLY]}, []),
    "results in another order than calls": (
        "openai-chat", {"model": "m", "messages": [USER, calling(call("a"), call("b")), tool("b"), tool("a"), REPLY]}, [],
    ),
    "an empty result": ("openai-chat", {"model": "m", "messages": [USER, calling(call()), tool(content=""), REPLY]}, []),
    "a user message directly after a result": ("openai-chat", {"model": "m", "messages": [USER, calling(call()), tool(), USER]}, []),
    "null for absent values in the dump of an SDK": (
        "openai-chat", {"model": "m", "messages": [USER, {**REPLY, "tool_calls": None, "function_call": None}]}, [],
    ),
    "no arguments at all": ("openai-chat", {"model": "m", "messages": [USER, calling(call(arguments="")), tool(), REPLY]}, []),
    "free text for a custom tool": (
        "openai-chat",
        {"model": "m", "messages": [USER, calling({"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "***"}}), tool(), REPLY]},
        [],
    ),
    "the one call of 2023 pairs by name": (
        "openai-chat",
        {"messages": [USER, {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}},
                      {"role": "function", "name": "run", "content": "done"}, REPLY]},
        [],
    ),
    "a sample of a dialect without ids": (
        "openai-chat",
        {"messages": [USER, {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "run", "arguments": {}}}]},
                      {"role": "tool", "name": "run", "content": "done"}, REPLY]},
        [("ST104", "info")],
    ),
    "a call of a tool that is not declared": (
        "openai-chat", {"model": "m", "tools": TOOLS, "messages": [USER, calling(call(name="other")), tool(), REPLY]}, [],
    ),
    "results of one turn in two user messages": (
        "anthropic",
        {"model": "claude", "messages": [USER, {"role": "assistant", "content": [use("a"), use("b")]},
                                         {"role": "user", "content": [used("a")]}, {"role": "user", "content": [used("b")]}, REPLY]},
        [],
    ),
    "text after the results": ("anthropic", claude("go", [use()], [used(), {"type": "text", "text": "and?"}], "yes"), []),
    "an empty thinking block with a signature": (
        "anthropic", claude("go", [{"type": "thinking", "thinking": "", "signature": "c2ln"}, use()], [used()], "yes"), [],
    ),
    "a result without content": ("anthropic", claude("go", [use()], [{"type": "tool_result", "tool_use_id": "t1"}], "yes"), []),
    "an MCP connector answers inside the turn": (
        "anthropic", claude("go", [use("mcptoolu_1", "mcp_tool_use"), used("mcptoolu_1", "mcp_tool_result"), {"type": "text", "text": "x"}]), [],
    ),
    "no mark says that a result is complete": (
        "canonical",
        {"history": [{"speaker": "ai", "blocks": [{"type": "tool_call", "id": "hist_tool_1", "name": "run", "parameters": {}}]},
                     {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "hist_tool_1", "toolName": "run", "result": "ok"}]}]},
        [],
    ),
    "a model's turn in several contents": (
        "canonical",
        {"history": [{"speaker": "ai", "blocks": [{"type": "tool_call", "id": "a", "name": "run", "parameters": {}}]},
                     {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "b", "name": "run", "parameters": {}}]},
                     {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "b", "result": 1}, {"type": "tool_response", "callId": "a", "result": 2}]}]},
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("format_name", "record", "expected"), EXEMPTIONS.values(), ids=EXEMPTIONS)
def test_a_normal_record_that_resembles_a_defect_has_no_finding(
    format_name: str, record: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    rows = testing.rows_of(json.dumps(record).encode() + b"\n", format_name)
    assert [(row.finding.code, row.finding.severity) for row in rows] == expected


def test_every_module_among_the_carriers_is_a_format() -> None:
    assert len(carriers.NAMES) >= 3
    assert [carriers.carrier(name).name for name in carriers.NAMES] == list(carriers.NAMES)


SYSTEM = {"role": "system", "content": "terse"}

SNIFFS: list[tuple[str, dict[str, Any] | list[Any] | int, str | None]] = [
    ("messages without a provider are read as OpenAI's", {"messages": [USER, REPLY]}, "openai-chat"),
    ("a bare array", [USER, REPLY], "openai-chat"),
    ("calls of OpenAI", {"messages": [USER, calling(call()), tool()]}, "openai-chat"),
    ("a response of OpenAI", {"choices": [{"message": REPLY}]}, "openai-chat"),
    ("blocks of Anthropic", claude("go", [use()], [used()]), "anthropic"),
    ("a system prompt of Anthropic", {"system": "terse", "messages": [USER, REPLY]}, "anthropic"),
    ("a batch line of Anthropic", {"custom_id": "1", "params": claude("go")}, "anthropic"),
    ("a batch result of Anthropic", {"custom_id": "1", "result": {"type": "succeeded", "message": {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}}}, "anthropic"),
    ("speakers", {"history": [{"speaker": "human", "blocks": []}]}, "canonical"),
    ("one speaker a line", {"speaker": "human", "blocks": []}, "canonical"),
    ("parts of Gemini", {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}, "gemini"),
    ("a history of Gemini", [{"role": "user", "parts": [{"text": "go"}]}], "gemini"),
    ("Claude behind a gateway that speaks like OpenAI", {"model": "anthropic/claude-sonnet-4.5", "messages": [SYSTEM, USER]}, "openai-chat"),
    ("a session line of Claude Code", {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": USER}, "claude-code"),
    ("a package file", {"name": "left-pad", "version": "1.0.0"}, None),
    ("a number", 42, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "expected"), [case[1:] for case in SNIFFS], ids=[case[0] for case in SNIFFS]
)
def test_the_scores_of_a_record(record: Any, expected: str | None) -> None:
    found, _ = carriers.best_for([Record(1, 0, json.dumps(record).encode())])
    assert (found.name if found else None) == expected


def run(path: Path, **options: Any) -> tuple[list[Row], Tally, list[Skipped]]:
    chosen = Options(**options)
    events = list(lint(Source(path.name, str(path)), chosen, Book(chosen)))
    tally = events[-1]
    assert isinstance(tally, Tally)
    return (
        [event for event in events if isinstance(event, Row)],
        tally,
        [event for event in events if isinstance(event, Skipped)],
    )


def test_a_mixed_file_is_read_record_by_record(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    records = [
        {"messages": [USER, calling(call()), tool()]},
        claude("go", [use()], [used()]),
        {"messages": [USER, calling(call()), USER]},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    rows, tally, _ = run(path)
    assert (tally.conversations, tally.calls, tally.results) == (3, 3, 2)
    errors = [row for row in rows if row.finding.severity == "error"]
    assert [(row.finding.code, row.place.line) for row in errors] == [("PA201", 3)]


def test_a_file_of_an_unknown_format_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "package.json"
    path.write_text('{\n "name": "left-pad",\n "version": "1.0.0"\n}\n')
    rows, tally, skipped = run(path)
    assert (rows, tally.files, tally.skipped, len(skipped)) == ([], 0, 1, 1)


def line(key: str, message: dict[str, Any]) -> str:
    return json.dumps({"conversation_id": key, **message}) + "\n"


def test_messages_on_lines_are_grouped_by_their_key(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(
        line("a", USER) + line("b", USER) + line("a", calling(call())) + line("b", calling(call())) + line("b", REPLY)
        + line("a", tool()) + line("a", REPLY)
    )  # fmt: skip
    rows, tally, _ = run(path)
    assert (tally.conversations, tally.messages) == (2, 7)
    (row,) = rows
    assert (row.finding.code, row.finding.conversation, row.place.line) == ("PA201", "b", 4)
    assert row.place.pointer == "/tool_calls/0/id"
    text = path.read_bytes()
    assert text[row.place.offset : row.place.end] == b'"c1"'


def test_grouped_lines_store_no_texts() -> None:
    held = lines.Lines(Wire("openai-chat"))
    carrier = carriers.carrier("openai-chat")
    long = "x" * 10_000
    record = Record(1, 0, line("a", tool(content=long)).encode())
    (transcript,) = carrier.read([carrier.shape.read(record)])
    assert isinstance(transcript, Transcript)
    (message,) = transcript.messages
    assert long not in repr(message)
    assert record.data == b""
    assert held.held == 0


def test_the_least_recently_continued_conversation_is_closed_first() -> None:
    """Memory is bounded; a conversation that continues after its release is known to have lost its start."""
    held = lines.Lines(Wire("openai-chat"), held=2)
    carrier = carriers.carrier("openai-chat")
    done: list[Transcript] = []
    for key in ("a", "b", "b", "a"):
        record = Record(len(done) + 1, 0, line(key, USER).encode())
        (one,) = carrier.read([carrier.shape.read(record)])
        assert isinstance(one, Transcript)
        held.add(key, one.messages[0], [])
        done += held.overflow()
    done += held.finish()
    assert [(item.id, len(item.messages), item.headless) for item in done] == [
        ("a", 1, False),
        ("b", 2, False),
        ("a", 1, True),
    ]


def test_compressed_and_plain_files_have_the_same_findings(tmp_path: Path) -> None:
    text = (json.dumps({"messages": [USER, calling(call()), USER]}) + "\n").encode()
    plain, packed = tmp_path / "log.jsonl", tmp_path / "log.jsonl.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text, mtime=0))
    assert [row.place for row in run(plain)[0]] == [row.place for row in run(packed)[0]]
