"""No line of text output is wider than the terminal, for any command."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from commands import run_cli
from turnlint.cli import cli
from turnlint.report.escape import columns
from turnlint.report.table import render_table

ROOT = Path(__file__).parent.parent
WIDTHS = (40, 60, 80, 100)
TOPICS = (
    "ci",
    "configuration",
    "editors",
    "formats",
    "library",
    "mission",
    "outputs",
    "providers",
    "pytest",
    "reading",
    "repairs",
    "rules",
    "settings",
)
REFUSAL = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01"
SETTINGS = """\
provider: anthropic
ignore:
- rule: unanswered-call
  conversation: a-conversation-with-a-rather-long-name
  reason: it was killed in an outage of the tools, and nobody wants to repair it any more
  until: 2030-01-01
"""
COMMANDS = (
    ["rules"],
    ["formats"],
    ["profiles"],
    ["profiles", "--matrix"],
    ["explain"],
    *(["explain", name] for name in TOPICS),
    ["explain", "state", "pairing", "projection"],
    ["explain", "paths.ignore", "rules", "level"],
    ["config", "show", "log.jsonl"],
    ["config", "files", "."],
    ["config", "explain", "ignore", "ignores-in-records"],
    ["inspect", "log.jsonl", "odd.jsonl"],
    ["lint", "log.jsonl", "--statistics", "--statistics=file"],
    ["lint", "log.jsonl", "odd.jsonl", "empty.jsonl"],
    ["fix", "log.jsonl", "--check"],
    ["fix", "log.jsonl", "orphan.jsonl", "--check", "--provider", "anthropic"],
    ["fix", "log.jsonl", "orphan.jsonl", "--check", "--level", "lossless"],
    ["fix", "log.jsonl", "orphan.jsonl", "--diff", "--level", "lossy"],
    ["fix", "waiting.jsonl", "--canonical"],
    ["ids", "log.jsonl", "--provider", "mistral"],
    ["why", REFUSAL],
    ["why", REFUSAL, "log.jsonl"],
    ["why", "a text that no provider whose rules are known was ever seen to answer with"],
    ["lint", "--provider", "antropic", "log.jsonl"],
    ["lint", "--select", "unanswered-cals", "log.jsonl"],
    ["lint", "a-file-that-is-not-there-and-has-a-long-name-with-dashes.jsonl"],
    ["explain", "what-is-not-there-at-all"],
    ["fix", "orphan.jsonl", "--diff=semantic", "--level", "lossy"],
    ["fix", "joined.jsonl", "--diff=semantic"],
    ["fix", "log.jsonl", "--diff", "--provider", "mistral", "--canonical"],
    ["fix", "odd.jsonl", "empty.jsonl"],
    ["--help"],
    *([name, "--help"] for name in cli.list_commands(click.Context(cli))),
)
CORPUS_COMMANDS = (
    ["lint", "--show-info", "--show-content", "full"],
    ["lint", "--statistics"],
    ["inspect"],
    ["ids", "--provider", "anthropic"],
    ["fix", "--check", "--level", "lossy"],
    ["fix", "--diff", "--level", "lossy"],
    ["fix", "--diff=semantic", "--level", "lossy"],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("width")
    call = {
        "type": "tool_use",
        "id": "toolu_01",
        "name": "search_the_whole_archive",
        "input": {"query": "Paris"},
    }
    messages = [
        {"role": "user", "content": "What is the weather in the capitals of all countries of Europe today?"},
        {"role": "assistant", "content": [{"type": "text", "text": "Let me look that up."}, call]},
        {"role": "user", "content": "Never mind, tell me a joke instead of all this."},
    ]
    (folder / "log.jsonl").write_text(json.dumps({"model": "claude-sonnet-4-5", "messages": messages}) + "\n")
    orphan = {"type": "tool_result", "tool_use_id": "toolu_02", "content": "18 degrees and sunny all day"}
    messages_with_orphan = [messages[0], {"role": "user", "content": [orphan]}]
    (folder / "orphan.jsonl").write_text(
        json.dumps({"model": "claude-sonnet-4-5", "messages": messages_with_orphan}) + "\n"
    )
    (folder / "waiting.jsonl").write_text(
        json.dumps({"model": "claude-sonnet-4-5", "messages": messages[:2]}) + "\n"
    )
    (folder / "odd.jsonl").write_text('{"resourceSpans": [{"scopeSpans": []}], "another_key": 1}\n')
    (folder / "empty.jsonl").write_text("")
    (folder / "joined.jsonl").write_text(
        json.dumps({"model": "claude-sonnet-4-5", "messages": messages[:1]}) * 2
    )
    (folder / "turnlint.yaml").write_text(SETTINGS)
    return folder


def output_of(arguments: list[str], folder: Path, width: int) -> subprocess.CompletedProcess[str]:
    program = "import sys\nsys.argv[0] = 'turnlint'\nfrom turnlint.cli import main\nmain()\n"
    env = {**os.environ, "COLUMNS": str(width), "NO_COLOR": "1", "XDG_STATE_HOME": str(folder / "state")}
    return run_cli(*arguments, program=program, cwd=folder, env=env, text=True)


def wide_lines(run: subprocess.CompletedProcess[str], width: int) -> list[str]:
    """Return the lines that are wider than the terminal. A single word, such as a path for copying, may be."""
    lines = (run.stdout + run.stderr).split("\n")
    return [line for line in lines if columns(line) > width and len(re.sub("^ *>+ ", "", line).split()) > 1]


@pytest.mark.covering(1)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_line_is_wider_than_the_terminal(folder: Path, arguments: list[str], width: int) -> None:
    run = output_of(arguments, folder, width)
    assert run.returncode in (0, 1, 2), run.stderr
    assert run.stdout + run.stderr
    assert wide_lines(run, width) == []


@pytest.mark.covering(1)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("arguments", CORPUS_COMMANDS, ids=" ".join)
def test_no_line_about_a_hostile_file_is_wider_than_the_terminal(
    tmp_path: Path, arguments: list[str], width: int
) -> None:
    """Texts with escapes, wide characters and very long words."""
    shutil.copytree(ROOT / "fixtures/hostile", tmp_path / "logs")
    run = output_of([*arguments, "logs"], tmp_path, width)
    assert run.returncode in (0, 1, 4), run.stderr
    assert run.stdout
    assert wide_lines(run, width) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_of_each_rule_fits_the_terminal(tmp_path: Path, width: int) -> None:
    codes = [
        load["code"]
        for load in json.loads(output_of(["rules", "--output-format", "json"], tmp_path, 80).stdout)
    ]
    run = output_of(["explain", *codes], tmp_path, width)
    assert run.stdout.count("\n") > len(codes)
    assert wide_lines(run, width) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_repair_and_its_undo_fit_the_terminal(tmp_path: Path, folder: Path, width: int) -> None:
    name = "a-log-with-a-rather-long-name.jsonl"
    for source in ("log.jsonl", "orphan.jsonl"):
        (tmp_path / f"{source[:3]}-{name}").write_bytes((folder / source).read_bytes())
    for arguments in (["fix", ".", "--level", "lossy"], ["undo", "."]):
        done = output_of(arguments, tmp_path, width)
        assert done.returncode == 0, done.stderr
        assert [line for line in done.stdout.split("\n") if columns(line) > width] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_baselines_and_new_settings_fit_the_terminal(tmp_path: Path, folder: Path, width: int) -> None:
    long = tmp_path / "a-folder-of-logs"
    long.mkdir()
    for source in ("log.jsonl", "orphan.jsonl"):
        shutil.copy(folder / source, long / source)
    names = ["log.jsonl", "orphan.jsonl", "--baseline", "turnlint-baseline.jsonl"]
    runs = [output_of(["config", "init"], long, width), output_of(["baseline", "write", *names], long, width)]
    (long / "log.jsonl").write_text((long / "orphan.jsonl").read_text())
    runs += [output_of(["baseline", command, *names], long, width) for command in ("check", "prune")]
    assert [run.returncode for run in runs] == [0, 0, 1, 0], runs
    assert "is gone" in runs[2].stdout
    assert [line for run in runs for line in wide_lines(run, width)] == []


@pytest.mark.parametrize("command", ["lint", "fix", "inspect", "why", "ids"])
@pytest.mark.parametrize("width", WIDTHS)
def test_help_breaks_no_line_at_a_hyphen(tmp_path: Path, command: str, width: int) -> None:
    lines = output_of([command, "--help"], tmp_path, width).stdout.splitlines()
    assert [line for line in lines if re.search(r"\w-$", line)] == []


ROWS = [("PA201", "unanswered-call", "a call has no result, and the conversation goes on"), ("PA2", "x", "")]
HEADERS = ("code", "rule", "what it finds")


WIDE = """\
code   rule             what it finds
PA201  unanswered-call  a call has no result, and the conversation
                        goes on
PA2    x"""
NARROW = """\
code   rule
    what it finds
PA201  unanswered-call
    a call has no result, and the
    conversation goes on
PA2    x"""
LISTED = """\
PA201
  rule:
    unanswered-call
  what it finds: a
    call has no
    result, and the
    conversation
    goes on

PA2
  rule: x"""


@pytest.mark.parametrize(("width", "text"), [(66, WIDE), (40, NARROW), (20, LISTED)])
def test_a_table_shrinks_in_three_steps(width: int, text: str) -> None:
    assert render_table(ROWS, HEADERS, width) == text


@pytest.mark.parametrize("width", WIDTHS)
def test_a_message_with_many_marks_fits_the_terminal(tmp_path: Path, width: int) -> None:
    """A failed turn with nine calls: marks that do not fit are counted."""
    at = "2026-11-19T10:00:00.000Z"
    calls = [
        {"type": "toolCall", "id": f"toolu_{number:026}", "name": "edit", "arguments": {}}
        for number in range(9)
    ]
    failed_turn = {"role": "assistant", "content": calls, "stopReason": "error", "errorMessage": "x"}
    records = [
        {"type": "session", "version": 3, "id": "s", "timestamp": at, "cwd": "/"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "timestamp": at,
            "message": {"role": "user", "content": "go"},
        },
        {"type": "message", "id": "b", "parentId": "a", "timestamp": at, "message": failed_turn},
        {
            "type": "message",
            "id": "c",
            "parentId": "b",
            "timestamp": at,
            "message": {"role": "user", "content": "again"},
        },
    ]
    (tmp_path / "pi.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    done = output_of(["lint", "pi.jsonl", "--show-info"], tmp_path, width)
    assert "left-behind" in done.stdout
    assert [line for line in done.stdout.split("\n") if columns(line) > width] == []
    assert re.search(r"\d more places?\n", done.stdout)
