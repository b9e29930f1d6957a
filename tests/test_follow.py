"""`lint --follow` reports findings in appended lines once, and ends with a summary.

Tests write logs while the command runs; each test waits for the expected output before the next write.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hostile import ENVIRONMENT, lint
from reporting import conversation, lines

MAX_WAIT_SECONDS = 60
"""The time limit in seconds for an expected line."""


class Followed:
    """A run of the command, with its output so far on both streams, in order."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "turnlint", "lint", "--follow", "--poll", "0.02", *arguments],
            cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.lines: queue.Queue[str] = queue.Queue()
        self.said: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def until(self, text: str) -> str:
        """Wait for a line with this text."""
        while True:
            line = self.lines.get(timeout=MAX_WAIT_SECONDS)
            self.said.append(line)
            if text in line:
                return line

    def end(self, how: int = signal.SIGINT) -> tuple[int, list[str]]:
        """Stop the run; return its exit code, and the output after the last expected line."""
        self.process.send_signal(how)
        code = self.process.wait(timeout=MAX_WAIT_SECONDS)
        self.reader.join(timeout=MAX_WAIT_SECONDS)
        rest = []
        while not self.lines.empty():
            rest.append(self.lines.get())
        self.said += rest
        return code, [line for line in rest if line]  # text output has blank lines


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Any]:
    started: list[Followed] = []

    def start(*arguments: str) -> Followed:
        started.append(Followed(tmp_path, *arguments))
        return started[-1]

    yield start
    for item in started:
        item.process.kill()
        item.process.wait()


def broken(name: str) -> str:
    return lines({"id": name, "messages": [{"role": "tool", "tool_call_id": name, "content": "x"}]})


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def test_existing_and_appended_findings_are_reported_once_with_their_line(
    tmp_path: Path, follow: Any
) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(lines(conversation("s")) + broken("c1"), encoding="utf-8")
    run = follow("a.jsonl", "--output-format", "concise")
    assert run.until("c1").startswith("a.jsonl:2:")
    append(log, lines(conversation("s")) * 3 + broken("c2"))
    assert run.until("c2").startswith("a.jsonl:6:")
    append(log, broken("c3")[:30])
    append(log, broken("c3")[30:] + broken("c4"))
    assert run.until("c3").startswith("a.jsonl:7:")
    assert run.until("c4").startswith("a.jsonl:8:")
    assert run.end() == (1, [])
    assert len(run.said) == 4
    assert [*run.said] == lint(
        "a.jsonl", "--output-format", "concise", cwd=tmp_path
    ).stdout.decode().splitlines()


def test_the_summary_and_the_exit_code_cover_all_reported_findings(tmp_path: Path, follow: Any) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(broken("c1"), encoding="utf-8")
    run = follow("a.jsonl")
    run.until("`c1` has no matching call")
    append(log, lines(conversation("s")) + broken("c2"))
    run.until("`c2` has no matching call")
    code, rest = run.end(signal.SIGTERM)
    assert (code, rest[-1]) == (1, "Found 2 errors in 1 file (3 conversations, 6 messages).")
    quiet = follow("a.jsonl", "--fail-on", "never", "--output-format", "jsonl")
    quiet.until("c2")
    code, rest = quiet.end()
    assert code == 0
    summary = json.loads(rest[-1])["summary"]
    assert (summary["files"], summary["conversations"], summary["findings"]["error"]) == (1, 3, 2)


def test_a_last_line_without_an_end_is_read_when_it_ends(tmp_path: Path, follow: Any) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(broken("c1") + broken("c2").rstrip("\n"), encoding="utf-8")
    run = follow("a.jsonl", "--output-format", "concise")
    run.until("c1")
    code, rest = run.end()
    assert code == 1
    assert [line.split(" ")[0] for line in rest] == ["a.jsonl:2:60:"]


def test_new_truncated_and_replaced_files_are_read_from_their_start(tmp_path: Path, follow: Any) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    run = follow("logs", "--output-format", "concise")
    (logs / "a.jsonl").write_text(broken("c1"), encoding="utf-8")
    assert run.until("c1").startswith("logs/a.jsonl:1:")
    append(logs / "a.jsonl", broken("c2"))
    run.until("c2")
    (logs / "a.jsonl").write_text(broken("c3"), encoding="utf-8")
    assert "logs/a.jsonl: truncated" in run.until("read from the start")
    assert run.until("c3").startswith("logs/a.jsonl:1:")
    # A rotation: the last appended lines are read from the moved file, and the new log from its start.
    append(logs / "a.jsonl", broken("c4"))
    (logs / "a.jsonl").rename(logs / "a-1.jsonl")
    (logs / "new").write_text(broken("c5"), encoding="utf-8")
    (logs / "new").rename(logs / "a.jsonl")
    run.until("c5")
    assert sum("`c4`" in line for line in run.said) == 1
    assert any(line.startswith("logs/a.jsonl:2:") and "`c4`" in line for line in run.said)
    (logs / "a.jsonl").unlink()
    run.until("logs/a.jsonl: deleted")
    code, rest = run.end()
    assert (code, rest) == (1, [])
    assert sum("has no matching call" in line for line in run.said) == 5


def line_of(number: int, role: str, content: Any) -> str:
    record = {
        "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "type": role, "sessionId": "s",
        "timestamp": "2026-03-01T00:00:00.000Z", "cwd": "/w", "version": "2.0.0", "isSidechain": False,
        "message": {"role": role, "content": content},
    }  # fmt: skip
    return json.dumps(record) + "\n"


def use(name: str) -> list[Any]:
    return [{"type": "tool_use", "id": name, "name": "Read", "input": {}}]


def result(name: str) -> list[Any]:
    return [{"type": "tool_result", "tool_use_id": name, "content": "x"}]


def test_a_session_waits_for_results_and_reports_calls_that_get_none(tmp_path: Path, follow: Any) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text(line_of(0, "user", "hi") + line_of(1, "assistant", use("toolu_1")), encoding="utf-8")
    run = follow("s.jsonl", "--output-format", "concise")
    append(log, line_of(2, "user", result("toolu_1")))
    append(log, line_of(3, "assistant", use("toolu_2")) + line_of(4, "user", "never mind"))
    assert "unanswered-call" in run.until("toolu_2")
    append(log, line_of(5, "assistant", "well") + line_of(6, "user", result("toolu_9")))
    assert "orphan-result" in run.until("toolu_9")
    append(log, line_of(7, "assistant", use("toolu_3")))
    code, rest = run.end()
    assert code == 1
    assert [("pending-call" in line, "toolu_3" in line) for line in rest] == [(True, True)]
    assert not any("toolu_1" in line for line in run.said)
    assert len(run.said) == 3


def test_a_rewritten_document_is_read_again_and_resolved_findings_are_reported(
    tmp_path: Path, follow: Any
) -> None:
    document = tmp_path / "a.json"
    records = [json.loads(broken(name)) for name in ("c1", "c2")]
    document.write_text(json.dumps(records, indent=1), encoding="utf-8")
    run = follow("a.json", "--output-format", "concise")
    run.until("c2")
    document.write_text(json.dumps([*records[:1], json.loads(broken("c3"))], indent=1), encoding="utf-8")
    while not all(any(text in line for line in run.said) for text in ("c3", "a.json: 1 finding is gone")):
        run.until("")
    assert sum("has no matching call" in line for line in run.said) == 3
    assert run.end() == (1, [])


def test_findings_in_the_baseline_are_not_reported(tmp_path: Path, follow: Any) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(broken("c1"), encoding="utf-8")
    (tmp_path / "turnlint.yaml").write_text(
        "ignore: [{rule: orphan-result, call: c1, reason: old}]\n", encoding="utf-8"
    )
    run = follow("a.jsonl")
    append(log, broken("c2"))
    run.until("`c2` has no matching call")
    code, rest = run.end()
    assert (code, rest[-1]) == (
        1,
        "Found 1 error in 1 file (2 conversations, 2 messages). Not shown: 1 ignored.",
    )
    assert not any("c1" in line for line in run.said)


def test_reports_are_written_to_files_too(tmp_path: Path, follow: Any) -> None:
    (tmp_path / "a.jsonl").write_text(broken("c1"), encoding="utf-8")
    run = follow("a.jsonl", "--output", "rdjsonl:out.txt", "--output-format", "concise")
    run.until("c1")
    append(tmp_path / "a.jsonl", broken("c2"))
    run.until("c2")
    first, *_ = (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["code"] == {"value": "PA202"}
    assert run.end()[0] == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("--output-format", "json", "a.jsonl"),
            "json reports end with a summary and --follow does not end; expected one of text, concise, jsonl, rdjsonl",
        ),
        (("--output", "sarif:x", "a.jsonl"), "sarif reports end with a summary"),
        (("--cache", "a.jsonl"), "cannot be combined"),
        (("-",), "not standard input"),
        (("a.jsonl.gz",), "is compressed; --follow cannot read appended records from it"),
        (("nowhere.jsonl",), "no such file or folder"),
        (("--poll", "often", "a.jsonl"), "expected a number from 0.01 to 3,600"),
        (("--poll", "nan", "a.jsonl"), "expected a number from 0.01 to 3,600"),
        (("--poll", "0", "a.jsonl"), "expected a number from 0.01 to 3,600"),
    ],
)
def test_input_that_cannot_be_followed_is_an_error_at_once(
    tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    for name in ("a.jsonl", "a.jsonl.gz"):
        (tmp_path / name).write_text(broken("c1"), encoding="utf-8")
    done = lint("--follow", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in " ".join(done.stderr.decode().split())
    assert not os.path.exists(tmp_path / "x")


def test_a_run_without_any_log_ends_with_nothing_to_lint(tmp_path: Path, follow: Any) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "b.jsonl").write_text('{"no": "format"}\n' * 3, encoding="utf-8")
    run = follow("logs")
    while run.lines.empty():  # until the file is visible to the command
        (logs / "a.jsonl").write_text("", encoding="utf-8")
        time.sleep(0.1)
        (logs / "a.jsonl").unlink()
        time.sleep(0.1)
    run.until("logs/a.jsonl: deleted")
    code, rest = run.end()
    assert code == 3
    assert rest[-1].startswith("turnlint: nothing to lint: no file has a known format")
