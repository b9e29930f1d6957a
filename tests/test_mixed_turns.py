"""Split assistant turns that hold calls, results and texts in one content."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from click.testing import CliRunner
from msgspec import Struct

import turnlint
from turnlint.cli.fix import command as fix_command
from turnlint.cli.lint import command as lint_command
from turnlint.model import Level

Value = dict[str, Any]
Kind = Literal["call", "result", "text", "thinking"]
Items = list[tuple[Kind, str]]
LEVELS: tuple[Level, ...] = get_args(Level)


class Wire(Struct, frozen=True):
    """The spelling of a turn on a wire with the blocks of a message in one list."""

    provider: str
    roles: tuple[str, str, str]
    """The key of the role, the user's role and the assistant's role."""
    blocks: str
    write: Callable[[Kind, str], Value]
    wrap: Callable[[list[Value]], Value]


def _anthropic(kind: Kind, name: str) -> Value:
    return {
        "call": {"type": "tool_use", "id": f"toolu_{name}", "name": "look", "input": {"of": name}},
        "result": {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": f"result {name}"},
        "text": {"type": "text", "text": name},
        "thinking": {"type": "thinking", "thinking": name, "signature": "c2ln"},
    }[kind]


def _bedrock(kind: Kind, name: str) -> Value:
    return {
        "call": {"toolUse": {"toolUseId": f"tooluse_{name}", "name": "look", "input": {"of": name}}},
        "result": {"toolResult": {"toolUseId": f"tooluse_{name}", "content": [{"text": f"result {name}"}]}},
        "text": {"text": name},
        "thinking": {"reasoningContent": {"reasoningText": {"text": name, "signature": "c2ln"}}},
    }[kind]


def _gemini(kind: Kind, name: str) -> Value:
    return {
        "call": {"functionCall": {"id": f"f{name}", "name": "look", "args": {"of": name}}},
        "result": {"functionResponse": {"id": f"f{name}", "name": "look", "response": {"output": name}}},
        "text": {"text": name},
        "thinking": {"text": name, "thought": True},
    }[kind]


def _gemini_without_ids(kind: Kind, name: str) -> Value:
    return {
        "call": {"functionCall": {"name": f"look_{name}", "args": {"of": name}}},
        "result": {"functionResponse": {"name": f"look_{name}", "response": {"output": name}}},
        "text": {"text": name},
        "thinking": {"text": name, "thought": True},
    }[kind]


def _canonical(kind: Kind, name: str) -> Value:
    return {
        "call": {"type": "tool_call", "id": f"hist_tool_{name}", "name": "look", "parameters": {"of": name}},
        "result": {
            "type": "tool_response", "callId": f"hist_tool_{name}", "toolName": "look", "result": name,
            "isComplete": True,
        },
        "text": {"type": "text", "text": name},
        "thinking": {"type": "thinking", "thought": name},
    }[kind]  # fmt: skip


TOOLS = {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]}
WIRES = {
    "anthropic": Wire(
        "anthropic", ("role", "user", "assistant"), "content", _anthropic,
        lambda messages: {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages},
    ),
    "bedrock": Wire(
        "bedrock", ("role", "user", "assistant"), "content", _bedrock,
        lambda said: {"modelId": "anthropic.claude-sonnet-4-5", "messages": said, "toolConfig": TOOLS},
    ),
    "gemini": Wire(
        "gemini", ("role", "user", "model"), "parts", _gemini,
        lambda messages: {"contents": messages},
    ),
    "gemini without ids": Wire(
        "gemini", ("role", "user", "model"), "parts", _gemini_without_ids,
        lambda messages: {"contents": messages},
    ),
    "canonical": Wire(
        "none", ("speaker", "human", "ai"), "blocks", _canonical,
        lambda messages: {"contents": messages},
    ),
}  # fmt: skip

ANSWERED: Items = [("call", "1"), ("result", "1"), ("text", "The answer is 42.")]
TWO: Items = [
    ("text", "first"), ("call", "1"), ("result", "1"), ("text", "middle"), ("call", "2"), ("result", "2"),
    ("text", "last"),
]  # fmt: skip
PARALLEL: Items = [("call", "1"), ("call", "2"), ("result", "1"), ("result", "2"), ("text", "last")]
FAN_OUT: Items = [
    ("thinking", "a"), ("call", "1"), ("result", "1"), ("thinking", "b"),
    *(("call", name) for name in "23456"), ("result", "3"), ("thinking", "c"), ("text", "The end."),
]  # type: ignore[list-item] # fmt: skip
TURNS = {"answered": ANSWERED, "two": TWO, "parallel": PARALLEL, "fan-out": FAN_OUT}


def request(wire: Wire, items: Items, role: str = "") -> Value:
    key, user, assistant = wire.roles
    messages = [
        {key: user, wire.blocks: [wire.write("text", "Go.")]},
        {key: role or assistant, wire.blocks: [wire.write(*item) for item in items]},
        {key: user, wire.blocks: [wire.write("text", "Thanks.")]},
    ]
    return wire.wrap(messages)


def messages_of(value: Value) -> list[Value]:
    found: list[Value] = value.get("messages") or value["contents"]
    return found


def blocks_of(wire: Wire, value: Value) -> list[Value]:
    return [block for message in messages_of(value) for block in message[wire.blocks]]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("turn", ["answered", "two", "parallel"])
@pytest.mark.parametrize("name", WIRES)
def test_a_mixed_turn_is_split_at_each_result(name: str, turn: str, level: Level) -> None:
    """Model/tool runtime writes canonical history entries (mixed thinking/tool/text blocks) (spec 001, 7.1)."""
    wire, items = WIRES[name], TURNS[turn]
    before = request(wire, items)
    fixed = turnlint.fix(before, provider=wire.provider, level=level)
    assert not [item for item in fixed.left if item.severity == "error"]
    assert blocks_of(wire, fixed.value) == blocks_of(wire, before), "the order of the blocks changed"
    for message in messages_of(fixed.value):
        results = [
            block in [wire.write(*item) for item in items if item[0] == "result"]
            for block in message[wire.blocks]
        ]
        assert all(results) or not any(results)
        assert (message[wire.roles[0]] == wire.roles[2]) <= (not any(results))
    again = turnlint.fix(fixed.value, provider=wire.provider, level=level)
    assert again.value == fixed.value


@pytest.mark.parametrize("name", [name for name in WIRES if name != "gemini without ids"])
def test_open_calls_of_a_mixed_turn_get_placeholders(name: str) -> None:
    """The requested sequence (spec 001, 7). At next turn send, repair passes are applied over the contents (7.1)."""
    wire = WIRES[name]
    before = request(wire, FAN_OUT)
    fixed = turnlint.fix(before, provider=wire.provider, level="placeholder")
    assert not fixed.left
    blocks = blocks_of(wire, fixed.value)
    known = blocks_of(wire, before)
    assert [block for block in blocks if block in known] == known, "the order of the blocks changed"
    assert len(blocks) == len(known) + 4
    sizes = [len(message[wire.blocks]) for message in messages_of(fixed.value)]
    assert sizes == [1, 2, 1, 6, 5, 2, 1]


@pytest.mark.parametrize("provider", ["openai", "anthropic", "kimi", "mistral"])
def test_a_mixed_turn_gets_the_ids_of_a_provider(provider: str) -> None:
    """Adapter applies provider ID/message projection (OpenAI/Anthropic/Kimi/Mistral rules) (spec 001, 7.1)."""
    wire = WIRES["canonical"]
    fixed = turnlint.fix(request(wire, FAN_OUT), provider=provider, level="placeholder")
    assert not [item for item in fixed.left if item.severity == "error"]
    blocks = blocks_of(wire, fixed.value)
    calls = [block["id"] for block in blocks if block["type"] == "tool_call"]
    assert len(set(calls)) == 6
    assert [block["callId"] for block in blocks if block["type"] == "tool_response"] == calls
    assert not any(name.startswith("hist_tool_") for name in calls)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", WIRES)
def test_a_mixed_turn_at_the_end_is_split_with_its_open_calls(name: str, level: Level) -> None:
    """The split puts messages after the last calls, which is no reason to refuse it."""
    wire = WIRES[name]
    before = request(wire, FAN_OUT)
    messages_of(before).pop()
    for provider in ("auto", "none", wire.provider):
        fixed = turnlint.fix(before, provider=provider, level=level)
        assert fixed.unverified == ()
        assert fixed.changes or level == "lossless"
        kept = blocks_of(wire, fixed.value)
        assert [block for block in blocks_of(wire, before) if block not in kept] == []


@pytest.mark.parametrize("level", LEVELS)
def test_a_result_before_its_call_in_one_turn_moves_after_the_calls(level: Level) -> None:
    wire = WIRES["anthropic"]
    items: Items = [
        ("text", "first"), ("result", "1"), ("result", "2"), ("call", "1"), ("call", "2"), ("text", "last"),
    ]  # fmt: skip
    fixed = turnlint.fix(request(wire, items), level=level)
    wanted: Items = [
        ("text", "first"),
        ("call", "1"),
        ("call", "2"),
        ("result", "1"),
        ("result", "2"),
        ("text", "last"),
    ]
    assert not fixed.left
    assert blocks_of(wire, fixed.value)[1:-1] == [wire.write(*item) for item in wanted]


ROLES_OF_CONTENTS = [(name, wire.roles[1]) for name, wire in WIRES.items()] + [("canonical", "tool")]


@pytest.mark.covering(2)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(("name", "role"), ROLES_OF_CONTENTS)
def test_a_content_under_another_role_is_split_at_each_result(
    name: str, role: str, turn: str, level: Level
) -> None:
    """A content that holds calls, results and text in one turn is split at each result in its order (issue 17)."""
    wire, items = WIRES[name], TURNS[turn]
    before = request(wire, items, role)
    fixed = turnlint.fix(before, provider=wire.provider, level=level)
    assert fixed.unverified == ()
    blocks, known = blocks_of(wire, fixed.value), blocks_of(wire, before)
    assert [block for block in blocks if block in known] == known, "the order of the blocks changed"
    if turn != "fan-out" or level != "lossless":
        assert not [item for item in fixed.left if item.severity == "error"]
        calls = [wire.write(*item) for item in items if item[0] == "call"]
        for message in messages_of(fixed.value):
            has_call = any(block in calls for block in message[wire.blocks])
            assert (message[wire.roles[0]] == wire.roles[2]) == has_call
    again = turnlint.fix(fixed.value, provider=wire.provider, level=level)
    assert again.value == fixed.value


def test_a_result_message_with_its_own_call_gets_an_assistant_message() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "r", "tool_calls": [call]}
    go, done = {"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}
    fixed = turnlint.fix([go, result, done], format="openai-chat", provider="openai", level="lossless")
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert fixed.value == [go, asking, {"role": "tool", "tool_call_id": "c1", "content": "r"}, done]
    assert not [item for item in fixed.left if item.severity == "error"]


def test_a_call_behind_its_result_stays_where_it_is() -> None:
    items: Items = [("text", "a"), ("result", "1"), ("call", "1")]
    before = request(WIRES["anthropic"], items, "user")
    assert turnlint.fix(before, level="lossy").value == before


def test_a_copy_beside_its_result_is_no_call_of_its_own() -> None:
    wire = WIRES["anthropic"]
    before = request(wire, [("call", "1"), ("result", "1"), ("text", "a")], "user")
    messages_of(before).insert(1, {"role": "assistant", "content": [wire.write("call", "1")]})
    assert turnlint.fix(before, level="lossless").value == before
    fixed = turnlint.fix(before, level="lossy").value
    assert [len(message["content"]) for message in messages_of(fixed)] == [1, 1, 2, 1]


@pytest.mark.parametrize(("name", "role"), ROLES_OF_CONTENTS)
def test_a_line_under_another_role_is_split(name: str, role: str) -> None:
    wire = WIRES[name]
    before = messages_of(request(wire, TWO, role))
    provider = "none" if name == "gemini without ids" else wire.provider
    fixed = turnlint.fix(before, format=name.partition(" ")[0], provider=provider, level="lossless")
    assert not [item for item in fixed.left if item.severity == "error"]
    blocks = [[block for message in some for block in message[wire.blocks]] for some in (before, fixed.value)]
    assert blocks[0] == blocks[1], "the order of the blocks changed"


def test_messages_that_are_lines_are_split() -> None:
    wire = WIRES["canonical"]
    before = messages_of(request(wire, TWO))
    fixed = turnlint.fix(before, provider="shared", level="lossless")
    assert not fixed.left
    assert [len(message["blocks"]) for message in fixed.value] == [1, 2, 1, 2, 1, 1, 1]


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "gemini", "canonical"])
def test_each_mixed_turn_of_a_long_log_is_found(name: str, tmp_path: Path) -> None:
    line = json.dumps(request(WIRES[name], ANSWERED))
    counts = []
    for number in (1, 40):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(f"{line}\n" * number)
        run = CliRunner().invoke(lint_command, ["--select", "PA203", "--output-format", "concise", str(path)])
        counts.append(run.output.count("PA203"))
    assert counts == [1, 40]


def _session(items: Items) -> bytes:
    """A Claude Code session with a mixed message in one line."""
    turns = [("user", "Go."), ("assistant", [_anthropic(*item) for item in items]), ("user", "Thanks.")]
    lines = []
    for number, (role, content) in enumerate(turns):
        name = {"id": f"msg_{number}", "type": "message", "model": "m"} if role == "assistant" else {}
        lines.append({
            "parentUuid": f"u{number - 1}" if number else None, "isSidechain": False, "cwd": "/w", "sessionId": "s",
            "version": "2.0.1", "type": role, "uuid": f"u{number}", "timestamp": "2026-11-01T10:00:00.000Z",
            "message": {**name, "role": role, "content": content},
        })  # fmt: skip
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.mark.parametrize("turn", TURNS)
def test_a_mixed_line_of_a_session_becomes_lines(turn: str, tmp_path: Path) -> None:
    """The order of the blocks stays, each line links to the one before it, and none shares a message id."""
    log = tmp_path / "s.jsonl"
    log.write_bytes(_session(TURNS[turn]))
    run = CliRunner().invoke(fix_command, [str(log), "--level", "placeholder", "--no-journal"])
    assert run.exit_code == 0, run.output
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert [line["parentUuid"] for line in lines] == [None, *(line["uuid"] for line in lines[:-1])]
    blocks = [block for line in lines[1:-1] for block in line["message"]["content"]]
    known = [_anthropic(*item) for item in TURNS[turn]]
    assert [block for block in blocks if block in known] == known
    names = [line["message"]["id"] for line in lines if line["type"] == "assistant"]
    assert len(set(names)) == len(names) > 1
    for entry in lines[1:-1]:
        is_result = {block["type"] == "tool_result" for block in entry["message"]["content"]}
        assert is_result == {entry["type"] == "user"}
    assert "nothing to repair" in CliRunner().invoke(fix_command, ["--check", str(log)]).output


def test_thinking_after_a_call_moves_with_the_text_after_it() -> None:
    """The message has a call, thinking and a text; a message that ends with thinking is rejected."""
    kinds: Items = [("call", "c"), ("thinking", "hm"), ("text", "So.")]
    calling, *rest = [_anthropic(*kind) for kind in kinds]
    go = {"role": "user", "content": "go"}
    for turn in ([[calling, *rest]], [[calling], rest]):
        log = {
            "model": "claude-sonnet-4-5",
            "max_tokens": 9,
            "tools": [{"name": "run", "input_schema": {"type": "object"}}],
            "messages": [
                go,
                *({"role": "assistant", "content": part} for part in turn),
                {"role": "user", "content": [_anthropic("result", "c")]},
            ],
        }
        done = turnlint.fix(log, format="anthropic", provider="anthropic", level="lossless").value
        assert isinstance(done, dict)
        assert [message["content"] for message in done["messages"][1:-1]] == [[*rest, calling]]
