"""A progress bar on a terminal leaves nothing in the text beside it."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")
PROGRAM = "from turnlint.cli import main, waiting\nwaiting.LONG_RUN = 1\nmain()"
FAULTY = {"messages": [{"role": "tool", "tool_call_id": "x", "content": "r"}]}


def on_a_terminal(folder: Path, *arguments: str) -> bytes:
    """What a command writes to a terminal: the bar is shown for any size of input."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(folder)
        os.environ.update(TERM="xterm", COLUMNS="100", NO_COLOR="1")
        os.execv(sys.executable, [sys.executable, "-c", PROGRAM, *arguments])  # noqa: S606 - a child of the terminal
    said = b""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.waitpid(child, 0)
    os.close(terminal)
    return said


def rows(said: bytes) -> list[str]:
    """The rows of the terminal at the end."""
    found = [""]
    column = 0
    for part in re.findall(r"\x1b\[[?;\d]*[A-Za-z]|[^\x1b]", said.decode()):
        if part == "\r":
            column = 0
        elif part == "\n":
            found.append("")
            column = 0
        elif not part.startswith("\x1b"):
            row = found[-1].ljust(column)
            found[-1] = row[:column] + part + row[column + 1 :]
            column += 1
    return [row.rstrip() for row in found]


@pytest.mark.parametrize(
    "command",
    [["inspect"], ["inspect", "--output-format", "json"], ["lint"], ["lint", "--output-format", "jsonl"],
     ["fix", "--check"], ["baseline", "write"]],
    ids=" ".join,
)  # fmt: skip
def test_the_bar_is_cleared_before_a_line_is_written(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "amp_thread.jsonl").write_text('{"v":1,"created":2,"threads":[]}\n')
    (tmp_path / "blank.jsonl").write_text("\n")
    (tmp_path / "log.jsonl").write_text(f"{json.dumps(FAULTY)}\n" * 3)
    said = on_a_terminal(tmp_path, *command, "amp_thread.jsonl", "blank.jsonl", ".")
    assert b"ing  [" in said
    shown = rows(said)
    assert not [row for row in shown if "ing  [" in row or "%" in row]
    assert any("amp_thread.jsonl" in row for row in shown)
    assert shown[0] != ""
    assert shown[-2:] != ["", ""]
