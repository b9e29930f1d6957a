"""Hostile input, and the invariants of every output.

Runs the linter on hostile input. Checks two invariants of every output: no hidden characters and no control sequences
for a terminal or a build runner; a known exit code and no traceback. Also has names that try to break them, and
records of each wire with such names at every position.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from commands import run_cli

FORMATS = (
    "text", "concise", "json", "jsonl", "sarif", "github", "github-summary", "gitlab", "junit", "checkstyle",
    "rdjson", "rdjsonl", "markdown",
)  # fmt: skip
COMMAND = re.compile(
    r"::(error|warning|notice) ((?:,?(?:file|line|endLine|col|endColumn|title)=[^:,\r\n]*)+)::.*"
)
"""The only commands that a report may hold, and only complete ones."""
LINT = (sys.executable, "-m", "turnlint", "lint")
NOT_INHERITED = {
    "CI", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTHONIOENCODING", "PYTHONUTF8", "TURNLINT_TRACEBACK",
}  # fmt: skip
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in NOT_INHERITED}

DRAWS_NOTHING = frozenset(
    chr(code)
    for low, high in (
        (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
        (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
        (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    )
    for code in range(low, high + 1)
)  # fmt: skip
"""Bidi marks, line separators and Unicode's Default_Ignorable_Code_Point: unseen text can hide there."""


def hidden_in(text: str) -> set[str]:
    categories = ("Cc", "Cf", "Cs", "Co", "Cn")
    return {char for char in set(text) if char in DRAWS_NOTHING or unicodedata.category(char) in categories}


def lint(
    *arguments: Any, stdin: bytes = b"", cwd: Path | None = None, **more: Any
) -> subprocess.CompletedProcess[bytes]:
    environment = {**ENVIRONMENT, **more.pop("env", {})}
    timeout = more.pop("timeout", 60)
    if prefix := more.pop("prefix", ()):
        return subprocess.run(
            [*prefix, *LINT, *map(str, arguments)], input=stdin, capture_output=True, check=False, cwd=cwd,
            env=environment, timeout=timeout,
        )  # fmt: skip
    return run_cli("lint", *map(str, arguments), input=stdin, cwd=cwd, env=environment, timeout=timeout)


def assert_safe(output: bytes, kind: str, where: str = "") -> None:
    text = output.decode()
    assert "Traceback" not in text, text[-2000:]
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{where} {kind}:{number}: {line[:300]!r}"
        assert not hidden_in(line), place
        if kind != "github" or not COMMAND.fullmatch(line):
            assert not line.lstrip().startswith(("::", "##[")), place
        assert "##vso[" not in line.lower(), place


def assert_ended_well(done: subprocess.CompletedProcess[bytes]) -> None:
    assert_safe(done.stderr, "stderr")
    assert done.returncode in (0, 1, 2, 3), done.stderr[-500:]


def lint_in_all_formats(*paths: Any, folder: Path, **more: Any) -> dict[str, bytes]:
    """Run once with all reports, and check the invariants of each."""
    files = {kind: folder / f"out.{kind}" for kind in FORMATS[1:]}
    files["github-summary"].unlink(missing_ok=True)  # a runner appends to this file
    outputs = [argument for kind, file in files.items() for argument in ("--output", f"{kind}:{file}")]
    done = lint(*paths, *outputs, **more)
    assert_ended_well(done)
    reports = {"text": done.stdout, **{kind: file.read_bytes() for kind, file in files.items()}}
    for kind, report in reports.items():
        assert_safe(report, kind, str(paths))
    document = json.loads(reports["json"])
    lines = [json.loads(line) for line in reports["jsonl"].splitlines()]
    assert (document["findings"], document["summary"]) == (lines[:-1], lines[-1]["summary"])
    assert sum(document["summary"]["findings"].values()) == len(document["findings"])
    return reports


def reported(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def noise(seed: int, size: int) -> bytes:
    return hashlib.shake_128(str(seed).encode()).digest(size)


POISONS = {
    "terminal escapes": "\x1b[2J\x1b]0;pwned\x07\x1b[31m",
    "c1 controls": "\x9b31m\x85\x90",
    "delete and backspace": "a\x7f\x08\x08b",
    "bidi marks": "\u202egnp.exe\u202c\u2066\u200f\u061c",
    "zero width": "a\u200bb\u200d\u2060\ufeffc",
    "blank letters": "a\u3164\u115f\u1160\uffa0\u034f",
    "variation selectors": "a\ufe0f\U000e0100\U000e0141\u180b",
    "tag characters": "a\U000e0041\U000e0042",
    "line ends": "a\n::error::pwned\r\n::error::pwned\r::error::x\u2028::error::y\u0085##[error]z\x0b\x0c",
    "github command": "::error::pwned",
    "github command behind blanks": " \u00a0\u3000::add-mask::pwned",
    "azure command": "##vso[task.setvariable]x",
    "azure command in capitals": "a##VSO[task.setvariable]x",
    "runner command": "##[error]pwned",
    "teamcity command": "##teamcity[buildStatus]",
    "hashes": "###[x####vso[task.x]",
    "lone surrogates": "a\ud800\udc00b\udfff\ud83d",
    "noncharacters": "a\ufffe\U0010ffff\ue000",
    "nul": "\x00a\x00",
    "backticks": "`a``b```\\`",
    "markup": '"\'<script>&amp;{detail}%s%(x)s{0}',
    "combining": "a" + "\u0301" * 300,
    "long": "x" * 100_000,
    "long and wide": "漢" * 3_000,
}  # fmt: skip
POISON_NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name.startswith("long") else name for name in POISONS
]
"""Parameters of a test; variants that are only longer are for the slow pass."""
ORPHAN = b'{"messages": [{"role": "tool", "tool_call_id": "c", "content": "r"}]}\n'


def _chat(x: str) -> list[Any]:
    def call(identifier: str | None, arguments: Any, name: str = x) -> dict[str, Any]:
        return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}

    messages = [
        {"role": "user", "content": x, x: x},
        {"role": "assistant", "content": None, "tool_calls": [call(x, "{"), call(x, '{"a": 1}'), call(x + "2", x)]},
        {"role": "tool", "tool_call_id": x, "name": x + "n", "content": x},
        {"role": "tool", "tool_call_id": x, "name": x, "content": "other"},
        {"role": "tool", "tool_call_id": x + "3", "name": x, "content": x},
        {"role": x, "content": x},
        {"role": "assistant", "content": [{"type": x, "id": x}, {"type": "tool_use", "id": x, "name": x, "input": []}]},
        {"role": "assistant", "content": "", "tool_calls": [call(None, "{}"), call("", [x]), {"id": x, x: x}]},
        {"role": "human", "content": {x: x}},
        {"role": "assistant", "content": "so: <tool_call>" + x, "function_call": {"name": x, "arguments": x}},
    ]  # fmt: skip
    line = {"conversation_id": x, "uuid": x, "parentUuid": x + "0", "message": messages[4]}
    return [{"custom_id": x, "model": x, "messages": messages}, {"messages": messages[::-1]}, line, {x: x}, x]


def _blocks(x: str) -> list[Any]:
    use = {"type": "tool_use", "id": x, "name": x, "input": {x: x}}
    result = {"type": "tool_result", "tool_use_id": x, "name": x + "n", "content": x}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": x}]},
        {"role": "assistant", "content": [use, {**use, "input": {x: 1}}, {**use, "id": x + "2", "input": x}]},
        {"role": "user", "content": [result, {**result, "content": "other"}, {**result, "tool_use_id": x + "3"}]},
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": x, "name": x, "input": {}}, {"type": x}]},
        {"role": "user", "content": [{"type": "functionCall", "functionCall": {"id": x, "name": x, "args": x}}]},
        {"role": x, "content": []},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": x, "content": [use]}]},
    ]  # fmt: skip
    return [{"id": x, "model": x, "max_tokens": 9, "messages": messages}, {"messages": messages[::-1]}]


def _speakers(x: str) -> list[Any]:
    call = {"type": "tool_call", "id": x, "name": x, "parameters": {x: x}}
    response = {"type": "tool_response", "callId": x, "toolName": x + "n", "result": x, "error": x}
    history = [
        {"speaker": "human", "blocks": [{"type": "text", "text": x}], "metadata": {"turnId": x}},
        {"speaker": "ai", "blocks": [call, {**call, "parameters": x}, {**call, "id": x + "2"}, {"type": x, "id": 5}]},
        {"speaker": "tool", "blocks": [response, {**response, "callId": x + "3", "isComplete": False}, call]},
        {"speaker": "tool", "blocks": [{**response, "callId": x + "2"}]},
        {"speaker": x, "blocks": [x]},
    ]  # fmt: skip
    return [{"session_id": x, "history": history}, {"history": history[::-1]}]


WIRES = {"openai-chat": _chat, "anthropic": _blocks, "canonical": _speakers}
