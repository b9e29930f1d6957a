"""Options may differ from file to file; processes and the cache never change a byte of a report.

Stretches are short, so that small logs are split, and each run is a run of the command itself.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from commands import run_cli

PROGRAM = """
from turnlint.spread import cutting, worth
cutting.STRETCH, cutting.BUNDLE, worth.WORTH = 700, 1500, 0
from turnlint.cli import main
main()
"""
SETTINGS = """
severity: {PA201: warning}
ignore:
  - {rule: PA201, conversation: "c-1*", reason: known for long}
  - {rule: PA201, pointer: /messages/1/**, until: 2026-01-31, reason: until the next release}
  - {rule: PR301, reason: there is none of it}
rules:
  - {name: no-drafts, message: a draft was logged, each: "/messages/*", pointer: /content, when: {matches: DRAFT}}
  - {name: no-notes, message: a note was left, severity: info, pointer: /note, when: {kind: text}}
paths:
  - {path: b-*, severity: {PA201: info}, provider: openai}
  - {path: c-*, ignore: [PA201]}
"""
FORMATS = Path(__file__).parent.parent / "fixtures" / "formats"
OUTPUTS = ("text", "jsonl", "junit", "sarif", "github", "markdown")


def conversation_of(number: int, *, broken: bool, words: str = "done") -> dict[str, Any]:
    name = f"call_{number:012}"
    call = {"id": name, "type": "function", "function": {"name": "read", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": name + "x" * broken, "content": words}
    messages = [
        {"role": "user", "content": "ü𝄞 go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        result,
    ]
    return {
        "conversation_id": f"c-{number}",
        "messages": [*messages, {"role": "assistant", "content": "so it is"}],
    }


def log(first: int, count: int) -> bytes:
    lines = []
    for number in range(first, first + count):
        words = "a DRAFT" if number % 4 == 0 else "done"
        lines.append(
            json.dumps(conversation_of(number, broken=number % 3 == 0, words=words), ensure_ascii=False)
        )
        if number % 11 == 10:
            lines.append(json.dumps({"note": "no conversation"}))
    return "\n".join(lines).encode() + b"\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number, name in enumerate(("a-1", "b-1", "a-2", "c-1", "b-2", "c-2")):
        (logs / f"{name}.jsonl").write_bytes(log(number * 7, 25))
    (logs / "d-text.jsonl").write_bytes(b"no json\nat all\n")
    return tmp_path


def lint(folder: Path, *arguments: str) -> tuple[int, bytes, bytes]:
    env = {**os.environ, "TURNLINT_CACHE": str(folder / "kept"), "COLUMNS": "100"}
    run = run_cli("lint", ".", "--show-content", "excerpt", *arguments, program=PROGRAM, cwd=folder, env=env)
    return run.returncode, run.stdout, run.stderr


def agree(folder: Path, *arguments: str) -> tuple[int, bytes, bytes]:
    one = lint(folder, *arguments, "-j", "1")
    assert lint(folder, *arguments, "-j", "2") == one
    assert lint(folder, *arguments, "--cache", "-j", "2") == one
    assert lint(folder, *arguments, "--cache", "-j", "1") == one
    return one


@pytest.mark.sampled(3)
@pytest.mark.parametrize("output", OUTPUTS)
def test_settings_apply_to_each_file_in_all_processes(folder: Path, output: str) -> None:
    (folder / "turnlint.yaml").write_text(SETTINGS)
    code, out, err = agree(folder, "--output-format", output, "--today", "2026-02-01")
    assert code == 1
    assert b"own/no-drafts" in out
    assert b"matches no finding" in err  # reported once, for all processes
    assert b"expired after 2026-01-31" in err


@pytest.mark.sampled(3)
@pytest.mark.parametrize("output", OUTPUTS)
def test_logs_without_settings_are_split(folder: Path, output: str) -> None:
    (folder / "logs" / "e-long.jsonl").write_bytes(log(200, 120))
    code, out, _ = agree(folder, "--output-format", output)
    assert code == 1
    assert b"PA201" in out or b"orphan" in out


def test_entries_of_a_baseline_are_consumed_in_one_process(folder: Path) -> None:
    (folder / "logs" / "e-long.jsonl").write_bytes(log(200, 120))
    made = run_cli("baseline", "write", ".", "--baseline", "known.json", program=PROGRAM, cwd=folder)
    assert made.returncode == 0, made.stderr
    code, _, _ = agree(folder, "--baseline", "known.json", "--output-format", "jsonl")
    assert code == 0
    with (folder / "logs" / "e-long.jsonl").open("ab") as file:
        file.write(log(900, 4))
    code, out, _ = agree(folder, "--baseline", "known.json", "--output-format", "jsonl")
    assert code == 1
    rows = [json.loads(line) for line in out.splitlines()]
    assert {row["path"] for row in rows if row.get("code")} == {os.path.join("logs", "e-long.jsonl")}


def test_the_fix_hint_of_a_finding_is_cached(folder: Path) -> None:
    """A hint of the text report depends on whether a repair has steps, which are not stored."""
    (folder / "logs" / "a-1.jsonl").write_bytes(
        log(0, 1) + b'{"messages": [{"role": "user", "content": "hi "}]}\n'
    )
    path = FORMATS / "anthropic"
    for item in sorted(path.glob("*.jsonl"))[:12]:
        (folder / "logs" / item.name).write_bytes(item.read_bytes())
    _, out, _ = agree(folder, "--provider", "anthropic,bedrock,openai")
    assert b"with --select" in out or b"with --provider" in out


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "pi"])
def test_a_session_is_never_split(folder: Path, name: str) -> None:
    for path in sorted((FORMATS / name).glob("*.jsonl")):
        lines = path.read_bytes().splitlines(keepends=True)
        (folder / "logs" / f"s-{path.name}").write_bytes(b"".join(lines))
        (folder / "logs" / f"t-{path.name}").write_bytes(log(0, 30) + b"".join(lines) + log(50, 30))
        (folder / "logs" / f"u-{path.name}").write_bytes(
            lines[0] + log(0, 30) + b"".join(lines[1:]) + log(50, 30)
        )
    agree(folder, "--output-format", "jsonl")
    agree(folder, "--output-format", "jsonl", "--format", name)


def test_data_of_records_apply_in_all_processes(folder: Path) -> None:
    """Their models, their dates, their ignores and the useless ones, at the lines of the whole file."""
    lines = []
    for number in range(120):
        fields = {"model": f"m-{number % 3}", "created_at": f"2026-01-{number % 28 + 1:02}"}
        ignoring = {"metadata": {"turnlint": ["PA201", "ST110"] if number % 20 == 0 else []}}
        lines.append(json.dumps({**conversation_of(number, broken=number % 2 == 0), **fields, **ignoring}))
    (folder / "logs" / "e-long.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "turnlint.yaml").write_text(
        "ignores-in-records: /metadata/turnlint\n"
        "ignore: [{model: m-1, before: 2026-01-10, reason: known}, {model: m-7, reason: known}]\n"
    )
    code, out, err = agree(folder, "--output-format", "jsonl", "--fail-on", "never")
    assert code == 0
    summary = json.loads(out.splitlines()[-1])["summary"]
    assert summary["ignored"]["ignore in records"] == 6
    assert summary["ignored"]["ignore"] > 0
    idle = [line.split(b": /")[0] for line in err.splitlines() if b"unused ignore of ST110" in line]
    assert idle == [b"turnlint: logs/e-long.jsonl:%d" % line for line in (1, 21, 41, 61, 81, 101)]
    assert err.count(b"unused ignore: it matches no finding;") == 1
