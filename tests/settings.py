"""A folder with logs, and runs of turnlint in it, for tests of settings."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from commands import run_cli

USER = {"role": "user", "content": "go"}
HIDDEN_PREFIXES = ("CI", "GITHUB", "NO_COLOR", "TURNLINT")


def call(name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "run", "arguments": "{}"}}


def unanswered(identity: str | None, *ids: str, say: str = "go") -> str:
    """A line with a conversation whose calls have no results."""
    messages = [
        {"role": "user", "content": say},
        {"role": "assistant", "content": None, "tool_calls": [call(identifier) for identifier in ids]},
        USER,
    ]
    return json.dumps({**({"id": identity} if identity else {}), "messages": messages})


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def cached(folder: Path) -> subprocess.CompletedProcess[str]:
    """A run with a cache beside the logs."""
    keep = str(folder / "cache")
    return turnlint(folder, "lint", "a.jsonl", "--cache", "--output-format", "json", TURNLINT_CACHE=keep)


def turnlint(folder: Path, *arguments: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN_PREFIXES)}
    clean["XDG_STATE_HOME"] = str(folder / ".state")
    return run_cli(*arguments, cwd=folder, env={**clean, **env}, input=stdin, text=True)


def found(folder: Path, *arguments: str, **env: str) -> list[str]:
    """The findings as `PATH:CODE:SEVERITY`."""
    run = turnlint(folder, "lint", "--output-format", "jsonl", *arguments, **env)
    assert run.returncode in (0, 1), run.stderr
    rows = [json.loads(line) for line in run.stdout.splitlines()][:-1]
    return [f"{os.path.normpath(row['path'])}:{row['code']}:{row['severity']}" for row in rows]
