"""The ids that `turnlint ids` shows are those that `turnlint fix` with the same provider writes.

Each call has a number in its arguments, and each result has the number of its call.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from broken_logs import fix_by_default, settle
from turnlint.cli.ids import command
from turnlint.documents.source import Source
from turnlint.model import Call, Result, Transcript
from turnlint.reading import read


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def calling(*calls: tuple[str | None, int]) -> dict[str, Any]:
    made = [
        {"id": one, "type": "function", "function": {"name": "run", "arguments": f'{{"k": {number}}}'}}
        for one, number in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result_of(identifier: str | None, number: int) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identifier, "content": f"result {number}."}


def uses(identifier: str | None, number: int) -> dict[str, Any]:
    named = {"toolUseId": identifier} if identifier else {}
    return {"toolUse": {**named, "name": "run", "input": {"k": number}}}


def gives(identifier: str, number: int) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": identifier, "content": [{"text": f"result {number}."}]}}


def part(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": [*blocks]}


def gemini(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"m{len(parts)}{role}",
        "timestamp": "2026-06-02T14:11:20.000Z",
        "type": role,
        "content": [*parts],
    }


USER = {"role": "user", "content": "go"}
HELLO = part("user", {"text": "go"})
HEAD = {"sessionId": "s1", "projectHash": "p1", "startTime": "2026-06-02T14:11:20.000Z"}
CHAT = {"model": "gpt-5.1"}
CASES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "an empty message precedes the result of a call that lost its id": ([{**CHAT, "messages": [
        USER, calling(("call_002x", 2), ("REDACTED", 4)), result_of("call_002x", 2), {"role": "user", "content": ""},
        result_of("call_004x", 4), USER,
    ]}], "openai-chat", "mistral"),
    "a result is inside the turn of a call that lost its id": ([{"modelId": "anthropic.claude", "messages": [
        HELLO, part("assistant", uses(None, 1), uses("tooluse_2", 2), gives("tooluse_2", 2)),
        part("user", gives("tooluse_1", 1)), HELLO,
    ]}], "bedrock", "glm"),
    "placeholders precede a result under another id": ([HEAD, gemini(
        "gemini", {"functionCall": {"id": "fc-1", "name": "run", "args": {"k": 1}}}, {"functionCall": {"name": "run", "args": {"k": 2}}},
    ), gemini("user", {"functionResponse": {"id": "call_two", "name": "run", "response": {"output": "No result provided"}}})],
        "gemini-cli", "kimi"),
    "two results say the same and are sorted": ([{**CHAT, "messages": [
        USER, calling(("bad id 1", 1), ("bad id 2", 2)), {**result_of("bad id 2", 2), "content": "ok"}, {**result_of("bad id 1", 1), "content": "ok"},
        USER,
    ]}], "openai-chat", "mistral"),
    "a copy of a call is removed, and another call says the same": ([{**CHAT, "messages": [
        USER, calling(("bad id 1", 1), ("bad id 1", 1), ("bad id 2", 1)), result_of("bad id 1", 1), result_of("bad id 2", 2), USER,
    ]}], "openai-chat", "anthropic"),
    "a result without a call stays": ([{**CHAT, "messages": [
        USER, calling(("bad id 1", 1)), result_of("bad id 1", 1), result_of("no call", 7), USER,
    ]}], "openai-chat", "mistral"),
    "a call without an id gets one": ([{**CHAT, "messages": [USER, calling((None, 1)), result_of(None, 1), USER]}], "openai-chat", "openai"),
    "one message a line": ([{**item, "session_id": "s"} for item in (
        USER, calling(("call 1", 1)), {"role": "user", "content": ""}, result_of("call 1", 1), calling(("call 1", 2)), result_of("call 1", 2), USER,
    )], "openai-chat", "anthropic"),
}  # fmt: skip


def ids(*arguments: str, stdin: bytes = b"") -> list[dict[str, Any]]:
    run = CliRunner().invoke(command, [*arguments, "--output-format", "json"], input=stdin)
    assert run.exit_code == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def ids_in(data: bytes, form: str, piece: str) -> dict[int, set[str | None]]:
    """The ids of the calls or the results of a file, by their numbers."""
    found: dict[int, set[str | None]] = {}
    for item in read(Source("a.jsonl", None, data=data), form):
        for message in item.messages if isinstance(item, Transcript) else ():
            for block in message.blocks:
                if isinstance(block, Call if piece == "call" else Result):
                    number = re.search(rb"\d+", block.body)
                    found.setdefault(int(number[0]) if number else 0, set()).add(block.id)
    return found


def ids_shown(shown: list[dict[str, Any]], data: bytes, form: str, piece: str) -> dict[int, set[str | None]]:
    """The new ids that a command shows, by the numbers of the calls or the results."""
    rows = iter([item for item in shown if item["piece"] == piece])
    found: dict[int, set[str | None]] = {}
    for item in read(Source("a.jsonl", None, data=data), form):
        for message in item.messages if isinstance(item, Transcript) else ():
            for block in message.blocks:
                if isinstance(block, Call if piece == "call" else Result):
                    number = re.search(rb"\d+", block.body)
                    found.setdefault(int(number[0]) if number else 0, set()).add(next(rows)["new"])
    return found


@pytest.mark.parametrize("name", CASES)
def test_ids_shows_the_ids_that_fix_writes(folder: Path, name: str) -> None:
    records, form, provider = CASES[name]
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    (folder / "a.jsonl").write_bytes(data)
    for chosen in (("--provider", provider), ("--canonical",), ("--canonical", "--provider", "none")):
        shown = ids("a.jsonl", "--format", form, *chosen)
        assert ids("-", "--format", form, *chosen, stdin=data) == [
            {**item, "path": "<stdin>"} for item in shown
        ]
        assert any(item["changed"] for item in shown)
        fix_by_default("a.jsonl", "--format", form, *chosen, "-o", "b.jsonl")
        written = (folder / "b.jsonl").read_bytes()
        for piece in ("call", "result"):
            now, then = ids_in(written, form, piece), ids_shown(shown, data, form, piece)
            # Number 0 marks placeholders.
            assert {number: now[number] for number in then if number} == {
                number: then[number] for number in then if number
            }
        assert (folder / "a.jsonl").read_bytes() == data


def test_ids_of_a_conversation_that_fix_leaves_do_not_change(folder: Path) -> None:
    """No evidence connects the last result to a call, so that `fix` does not change the conversation."""
    calls = [
        {**calling(("c", 1))["tool_calls"][0], "function": {"name": name, "arguments": "{}"}}
        for name in ("f", "g")
    ]
    results = [{**result_of("c", 1), "name": "f"}, result_of("", 2)]
    messages = [USER, {"role": "assistant", "content": "ok", "tool_calls": calls}, *results, USER]
    (folder / "c.json").write_text(json.dumps({"model": "command-a-03-2025", "messages": messages}))
    arguments = ["c.json", "--format", "cohere", "--provider", "cohere"]
    run = CliRunner().invoke(command, arguments)
    assert "unchanged: no evidence ties a result to the call" in " ".join(run.stderr.split())
    assert not any(identifier["changed"] for identifier in ids(*arguments))


def test_canonical_ids_that_the_provider_refuses_are_not_shown(folder: Path) -> None:
    messages = {
        "model": "mistral-large-latest",
        "messages": [USER, calling(("abcdefghi", 1)), result_of("abcdefghi", 1), USER],
    }
    (folder / "a.json").write_text(json.dumps(messages))
    run = CliRunner().invoke(command, ["a.json", "--canonical"])
    assert "no canonical ids: mistral would refuse them (id-form)" in " ".join(run.stderr.split())
    assert not any(identifier["changed"] for identifier in ids("a.json", "--canonical"))
    assert all(identifier["changed"] for identifier in ids("a.json", "--canonical", "--provider", "none"))


def test_an_abandoned_part_of_a_session_keeps_its_ids(folder: Path) -> None:
    """`fix` does not change such a part, and no provider receives it."""

    def line(own: str, parent: str | None, **message: Any) -> dict[str, Any]:
        return {
            "uuid": own, "parentUuid": parent, "sessionId": "s", "version": "2.1.0", "type": message["role"],
            "timestamp": "2026-06-02T14:11:20.000Z", "message": message,
        }  # fmt: skip

    call = {"type": "tool_use", "id": "bad id", "name": "run", "input": {}}
    result_block = {"type": "tool_result", "tool_use_id": "bad id", "content": "r"}
    records = [
        line("a", None, role="user", content="go"),
        line("b", "a", role="assistant", content=[call]), line("c", "b", role="user", content=[result_block]),
        line("d", "a", role="user", content="another way"), line("e", "d", role="assistant", content=[{"type": "text", "text": "done"}]),
    ]  # fmt: skip
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    (folder / "a.jsonl").write_bytes(data)
    shown = ids("a.jsonl", "--provider", "anthropic")
    assert shown
    assert not any(item["changed"] for item in shown)
    fix_by_default("a.jsonl", "--provider", "anthropic")
    assert b'"bad id"' in (folder / "a.jsonl").read_bytes()
