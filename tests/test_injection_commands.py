"""Hostile names and contents control no terminal and no build runner through any command.

`test_injection.py` covers the reports of `lint`; this module covers all other commands, and error messages.
"""

import json
import os
from pathlib import Path

import pytest

from commands import run_cli
from hostile import ENVIRONMENT, WIRES, assert_safe

COMMANDS = (
    "\n::error file=x::pwned\r::add-mask::pwned",
    "##vso[task.setvariable variable=x]pwned ##[error]pwned ##teamcity[buildStatus]",
    "\x1b[0Ksection_start:1:pwned\r\x1b[0K\x1b]0;pwned\x07",
)
NAMES = (
    "::error::pwned.jsonl",
    "::error file=x,line=1::pwned.jsonl",
    "##vso[task.setvariable variable=x]pwned.jsonl",
    "##[error]pwned.jsonl",
    " ::add-mask::pwned.jsonl",
    "a\n::error::pwned.jsonl",
    "a\r\x1b[31m\x1b[0Ksection_start:1:pwned.jsonl",
)
ON_EACH = (
    ("lint", "{}"),
    ("lint", "{}", "--show-content", "full", "--statistics=file"),
    ("lint", "{}", "--statistics=model", "--output-format", "concise"),
    ("lint", "{}", "--profile-rules"),
    ("lint", "{}", "--format", "{}"),
    ("lint", "{}", "--select", "{}"),
    ("lint", "{}", "--provider", "{}"),
    ("lint", "{}", "--baseline", "{}"),
    ("lint", "{}", "--profile", "{}"),
    ("lint", "{}", "--config", "{}"),
    ("lint", "{}", "--set", "{}"),
    ("lint", "{}", "--output", "json:{}/x"),
    ("lint", "{}", "--output", "{}"),
    ("lint", "{}.missing"),
    ("lint", "-", "--stdin-filename", "{}"),
    ("fix", "{}", "--check", "--level", "lossy"),
    ("fix", "{}", "--diff", "--level", "lossy"),
    ("fix", "{}", "--diff=semantic", "--level", "lossy"),
    ("fix", "{}", "--diff=unified", "--level", "lossy"),
    ("fix", "{}", "--report", "-", "--check"),
    ("fix", "{}", "-o", "{}/x"),
    ("fix", "{}", "--journal", "{}"),
    ("fix", "{}", "--level", "{}"),
    ("undo", "{}"),
    ("undo", "{}", "--journal", "{}"),
    ("inspect", "{}"),
    ("inspect", "{}", "--output-format", "json"),
    ("ids", "--provider", "openai", "{}"),
    ("ids", "--canonical", "{}"),
    ("ids", "--provider", "openai", "{}", "--output-format", "json"),
    ("why", "{}"),
    ("why", "tool_use ids were found without tool_result blocks: {}", "{}"),
    ("why", "{}", "{}"),
    ("config", "show", "{}"),
    ("config", "show", "{}", "--output-format", "json"),
    ("config", "files", "{}"),
    ("config", "files", ".", "--output-format", "json"),
    ("config", "explain", "{}"),
    ("config", "init", "{}"),
    ("baseline", "write", "{}", "-o", "{}.baseline"),
    ("baseline", "write", "{}", "-o", "{}/x"),
    ("explain", "{}"),
    ("formats", "{}"),
    ("profiles", "{}"),
    ("rules", "{}"),
    ("rules", "--select", "{}"),
    ("schema", "{}"),
    ("completion", "{}"),
    ("{}",),
    ("lint", "--{}"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for name, text in zip(NAMES, COMMANDS * 3, strict=False):
        logs = ["".join(json.dumps(item) + "\n" for item in WIRES[wire](text)) for wire in WIRES]
        # A line that is a command by itself is next to a line that a patch changes.
        data = f" {text.strip()}\n" + "".join(logs) + f"{text.strip()}\n"
        (folder / name).write_text(data, encoding="utf-8")
    return folder


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
@pytest.mark.covering(1)
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.parametrize("command", ON_EACH, ids=" ".join)
def test_no_command_prints_a_runner_command(command: tuple[str, ...], name: str, folder: Path) -> None:
    words = [item.replace("{}", name) for item in command]
    env = {**ENVIRONMENT, "XDG_STATE_HOME": str(folder / "state")}
    done = run_cli(*words, cwd=folder, env=env, input=b"{}\n", timeout=120)
    for kind, output in (("stdout", done.stdout), ("stderr", done.stderr)):
        assert_safe(output, kind, f"turnlint {' '.join(words)!r}")
    assert done.returncode in (0, 1, 2, 3), done.stderr[-300:]
