"""Many records on one line are checked by the scanner, with the same output as by the parser, in bounded memory."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hostile import ENVIRONMENT, LINT
from test_hostile_size import MEASURED
from turnlint import compiled
from turnlint.cli import cli

COUNT = 9_000
ANSWER = {"role": "assistant", "content": "yes " * 20}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def result(identifier: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": identifier, "content": "r"}


def record(number: int) -> dict[str, Any]:
    """Return a sound record, or in its turn one with a fault, of another wire, or without a conversation."""
    if number % 500 == 7:
        return {"model": "gpt-5", "messages": [user("hi"), result(f"c{number}")]}
    if number % 500 == 207:
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "f", "input": {}}
        return {
            "model": "claude-sonnet-4-5",
            "max_tokens": 9,
            "messages": [user("hi"), {"role": "assistant", "content": [use]}, user("on")],
        }
    if number % 500 == 307:
        return {"event": number}
    return {"model": "gpt-5", "messages": [user(f"hi {number}"), ANSWER]}


@pytest.mark.slow
@pytest.mark.skipif(not compiled.load(), reason="the scanner needs the native code")
def test_the_scanner_and_the_parser_agree_on_joined_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "joined.jsonl"
    path.write_text("".join(json.dumps(record(number)) for number in range(COUNT)) + "\n")
    assert path.stat().st_size > 1 << 20
    arguments = ["lint", str(path), "-j", "1", "--output-format", "jsonl", "--show-info"]
    scanned = CliRunner().invoke(cli, arguments)
    summed = CliRunner().invoke(cli, ["lint", str(path), "-j", "1"])
    monkeypatch.setattr(compiled, "load", lambda: None)
    parsed = CliRunner().invoke(cli, arguments)
    assert scanned.stdout == parsed.stdout
    assert summed.stdout == CliRunner().invoke(cli, ["lint", str(path), "-j", "1"]).stdout
    found = [json.loads(line).get("rule") for line in scanned.stdout.splitlines()]
    assert (found.count("orphan-result"), found.count("unanswered-call")) == (18, 18)
    assert found.count("unreadable-record") >= COUNT - 1


def measured(path: Path, *arguments: str) -> tuple[int, int]:
    """Return the exit code of a lint and its peak of memory in bytes."""
    command = [sys.executable, "-c", MEASURED, *LINT, *arguments, str(path)]
    done = subprocess.run(command, capture_output=True, check=True, env=ENVIRONMENT, timeout=120)
    code, peak = map(int, done.stdout.split())
    return code, peak


@pytest.mark.slow
@pytest.mark.parametrize(
    "messages", [[user("hi"), ANSWER], [user("hi"), result("c1")]], ids=["sound", "orphan"]
)
def test_joined_records_do_not_stay_in_memory(tmp_path: Path, messages: list[dict[str, str]]) -> None:
    """More records need little more memory; a list of all of them needed 28 bytes for each byte."""
    peaks = []
    for count in (20_000, 60_000):
        path = tmp_path / f"{count}.jsonl"
        path.write_text(json.dumps({"messages": messages}) * count + "\n")
        code, peak = measured(path, "-j", "1")
        assert code == 1
        peaks.append((path.stat().st_size, peak))
    (small, low), (large, high) = peaks
    assert high - low < 12 * (large - small), f"{(high - low) / (large - small):.1f} bytes per byte"
