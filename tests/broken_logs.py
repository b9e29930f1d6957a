"""Logs that `fix` repairs, and a function that runs it on them.

Small conversations of the most common wire, each with one fault, and the folder that holds them.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from turnlint.cli.fix import command

CONTENT = "hunter2"
USER = {"role": "user", "content": f"go {CONTENT}"}
DONE = {"role": "assistant", "content": "done"}


def call(identifier: str, name: str = "run", arguments: str = "{}") -> dict[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(identifier: str, text: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identifier, "content": text}


def log(*conversations: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps({"messages": conversation}).encode() + b"\n" for conversation in conversations)


GOOD = [USER, calling(call("c1")), result("c1"), DONE]
GAP = [USER, calling(call("c1")), USER, DONE]
LATE = [USER, calling(call("c1"), call("c2", "look")), result("c1"), USER, result("c2"), DONE]
STRAY = [USER, result("c9"), DONE]
TWICE = [USER, calling(call("c1")), result("c1"), result("c1"), DONE]
REUSED = [*GOOD[:-1], calling(call("c1", "look")), result("c1", "two"), DONE]
OPEN = [USER, calling(call("c1"))]
TORN = b'{"messages": [{"role": "user", "content": "a\n'
"""The content after the cut is unknown."""
SOUND, BROKEN = log(GOOD), log(GAP, LATE, STRAY, TWICE, REUSED, GOOD)
FOREIGN = b'{"nothing": "known"}\n'
FOLDER = {"sound": SOUND, "broken": BROKEN, "foreign": FOREIGN}


def settle(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with logs, and the journals beside it; with the same output settings on every machine."""
    folder = place / "logs"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TURNLINT_STATE_DIR", str(place / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, data in FOLDER.items():
        (folder / f"{name}.jsonl").write_bytes(data)
    return folder


def fix(*arguments: str, stdin: bytes = b"") -> Result:
    """Run `fix` at level lossy, unless the arguments name a level."""
    if "--level" not in arguments and arguments:
        arguments = ("--level", "lossy", *arguments)
    return fix_by_default(*arguments, stdin=stdin)


def fix_by_default(*arguments: str, stdin: bytes = b"") -> Result:
    run = CliRunner().invoke(command, arguments, input=stdin)
    assert run.exception is None or isinstance(run.exception, SystemExit), run.exception
    return run


def fixed(data: bytes = BROKEN) -> bytes:
    """The repaired bytes, computed in another way than in the tested code."""
    return fix("-", stdin=data).stdout_bytes
