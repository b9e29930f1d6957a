"""Other linters that can read the same file: their cost, and their findings.

Defines their command lines and counts their findings. They are optional: a missing one is skipped. Each gets the
schema of the single tool, without which it could not check calls.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from measuring import Command, lint

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
Messages = list[dict[str, Any]]
Count = Callable[[Path, Path], int]
"""The number of findings in a log, with a file to write to."""


class Peer(NamedTuple):
    name: str
    whole: bool
    """Whether it reads requests, a conversation per line; else messages, one per line."""
    command: Callable[[Path], Command]
    count: Count


def found(folder: str | None, tools: Path) -> Iterator[Peer]:
    """The available peers: in a folder, or on the path."""
    if program := shutil.which("tracelint", path=folder):
        yield _tracelint(program, tools)
    if program := shutil.which("toolcall-linter", path=folder):
        yield _toolcall_linter(program, tools)


def turnlint() -> Peer:
    def count(path: Path, _: Path) -> int:
        output = _output([*lint(path, "openai-chat")])
        return sum("code" in json.loads(line) for line in output.splitlines())

    return Peer("turnlint", True, lambda path: lint(path, "openai-chat", "-j", "1"), count)


def _tracelint(program: str, tools: Path) -> Peer:
    table = tools / "tracelint.json"
    table.write_text(json.dumps({"read": {"schema": SCHEMA}}))

    def command(path: Path) -> Command:
        return [program, "check", "--quiet", "--format", "openai", "--tools", str(table), str(path)]

    def count(path: Path, out: Path) -> int:
        _output([*command(path), "--json", str(out)])
        return sum(len(report["findings"]) for report in json.loads(out.read_text())["reports"])

    return Peer("tracelint", True, command, count)


def _toolcall_linter(program: str, tools: Path) -> Peer:
    table = tools / "toolcall-linter.json"
    table.write_text(json.dumps([{"name": "read", "inputSchema": SCHEMA}]))

    def command(path: Path) -> Command:
        return [program, "--tools", str(table), "--format", "json", str(path)]

    def count(path: Path, _: Path) -> int:
        count_found: int = json.loads(_output(command(path)))["violation_count"]
        return count_found

    return Peer("toolcall-linter", False, command, count)


def _output(command: Command) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def faults() -> Iterator[tuple[str, Messages]]:
    """The same conversation, first sound, then with one fault each."""
    yield "sound", _sound()
    messages = _sound()
    del messages[2]
    yield "a call without its result", messages
    messages = _sound()
    messages[2]["tool_call_id"] = "call_9"
    yield "a result for another id", messages
    messages = _sound()
    messages.insert(3, messages[2])
    yield "a result twice", messages
    messages = _sound()
    del messages[1]
    yield "a result without its call", messages
    messages = _sound()
    messages[1]["tool_calls"][0]["function"]["arguments"] = '{"q": "x'
    yield "arguments that end early", messages
    messages = _sound()
    messages[1]["tool_calls"][0]["function"]["arguments"] = '{"q": 1}'
    yield "arguments against the schema", messages
    messages = _sound()
    messages[1]["tool_calls"][0]["function"]["name"] = "raed"
    yield "an undeclared tool", messages


def _sound() -> Messages:
    function = {"name": "read", "arguments": '{"q": "x"}'}
    return [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "done"},
        {"role": "assistant", "content": "it is done"},
        {"role": "user", "content": "go on"},
    ]


def written(path: Path, messages: Messages, *, whole: bool) -> Path:
    """A conversation in a form that a peer can read."""
    tools = [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}]
    records = [{"model": "gpt-4.1", "tools": tools, "messages": messages}] if whole else messages
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
