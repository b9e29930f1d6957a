"""What a new user meets: each was found by trying the program as one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from turnlint.cli.explain import TOPICS, topics


def run(
    folder: Path, *arguments: str, module: str = "turnlint", stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    hidden = ("CI", "GITHUB", "PYTEST", "FORCE_COLOR")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=folder, env={**env, "NO_COLOR": "1"}, input=stdin,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def call(number: int) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": f"toolu_{number}", "name": "look", "input": {}}],
    }


def result(number: int) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "ok"}],
    }


USER = {"role": "user", "content": "go"}
MIXED = {
    "model": "claude-sonnet-4-5", "max_tokens": 9,
    "messages": [USER, call(1), result(1), call(2), {"role": "user", "content": "never mind"}],
}  # fmt: skip
"""Calls without a list of tools, an info at message 1; and no result for the call of message 3, an error."""
SOUND = {"messages": [USER]}
FINE = {**MIXED, "messages": MIXED["messages"][:3]}


def write(path: Path, *records: Any) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


# Order, and findings that are only worth knowing.


def codes(text: str) -> list[str]:
    return [line.partition(" ")[0] for line in text.split("\n") if line[:2].isupper() and "[" in line[:8]]


def test_findings_of_a_conversation_are_sorted_by_severity(tmp_path: Path) -> None:
    for records in ([MIXED], [FINE, MIXED]):
        write(tmp_path / "log.jsonl", *records)
        shown = run(tmp_path, "lint", "log.jsonl", "--show-info").stdout
        assert codes(shown) == ["PA201[error]", *["PR316[info]"] * len(records)]


def test_infos_are_hidden_in_text_and_counted(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", MIXED)
    done = run(tmp_path, "lint", "log.jsonl")
    assert codes(done.stdout) == ["PA201[error]"]
    assert done.stdout.endswith(
        " 1 info in 1 file (1 conversation, 5 messages). 1 info hidden: --show-info.\n"
    )
    for more in (["--show-info"], ["--fail-on", "info"], ["--select", "PR316,PA201"]):
        shown = run(tmp_path, "lint", "log.jsonl", *more).stdout
        assert codes(shown) == ["PA201[error]", "PR316[info]"], more
        assert "hidden" not in shown
    for kind in ("json", "jsonl", "concise", "markdown", "sarif"):
        assert "PR316" in run(tmp_path, "lint", "log.jsonl", "--output-format", kind).stdout, kind


def test_the_summary_of_pytest_names_the_finding_that_failed_the_test(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", MIXED)
    done = run(tmp_path, "-q", "-p", "no:cacheprovider", "--turnlint", "log.jsonl", module="pytest")
    assert "FAILED log.jsonl::#0 - PA201[error]" in done.stdout
    assert "PR316" not in done.stdout
    assert "1 info hidden: fail_on info shows them" in done.stdout
    test = f"from turnlint.pytest_plugin import assert_valid_transcript\ndef test_it():\n    assert_valid_transcript({MIXED!r})\n"
    (tmp_path / "test_it.py").write_text(test, encoding="utf-8")
    done = run(tmp_path, "-q", "-p", "no:cacheprovider", "test_it.py", module="pytest")
    assert "FAILED test_it.py::test_it - AssertionError: PA201[error]" in done.stdout


# Names of options, and what stands alone.


def test_the_version_has_a_short_name(tmp_path: Path) -> None:
    assert run(tmp_path, "-V").stdout == run(tmp_path, "--version").stdout != ""


def test_explain_alone_lists_its_topics(tmp_path: Path) -> None:
    done = run(tmp_path, "explain")
    assert done.returncode == 0
    assert list(TOPICS) == topics()
    for name, title in TOPICS.items():
        assert f"  {name}" in done.stdout
        assert title in done.stdout
    told = json.loads(run(tmp_path, "explain", "--output-format", "json").stdout)
    assert [one["name"] for one in told] == topics()


def test_the_program_alone_shows_the_first_command_to_try(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert "\n  Start with:  turnlint lint FILE\n" in done.stderr
