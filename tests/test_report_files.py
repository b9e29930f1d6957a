"""Report files are complete or unchanged for any end of the run; no partial file remains."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from broken_logs import BROKEN
from commands import run_cli
from hostile import ENVIRONMENT, LINT, ORPHAN

COMMAND = (sys.executable, "-m", "turnlint")
SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT") if os.name != "nt" else ()
HANDLED_SIGNALS = [item for item in SIGNALS if signal.getsignal(getattr(signal, item)) is not signal.SIG_IGN]
"""Signals that the test process ignores, as under `nohup`, are ignored by its children too."""
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and pipes are other things there")
SLOW_RULE = """
import sys, time
from turnlint import engine
def slow(self, transcript):
    print("begun", file=sys.stderr, flush=True)
    time.sleep(60)
engine.Run._judge = slow
from turnlint.cli import main
main()
"""
CRASH = """
from turnlint.cli import lint, main
lint._exit_code = None
main()
"""


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "log.jsonl").write_bytes(ORPHAN * 3000)
    (tmp_path / "r.sarif").write_text("old")
    return tmp_path


@POSIX
def test_a_report_is_whole_when_standard_output_is_closed(folder: Path) -> None:
    line = f"{' '.join(LINT)} log.jsonl --output-format concise --output sarif:r.sarif --output json:r.json | head -1"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, check=False, env=ENVIRONMENT)
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr
    assert len(json.loads((folder / "r.json").read_text())["findings"]) == 3000
    assert json.loads((folder / "r.sarif").read_text())["runs"]
    assert left(folder) == ["log.jsonl", "r.json", "r.sarif"]


def interrupt(process: subprocess.Popen[bytes], name: str) -> None:
    """Send a signal to a run that has begun, and check its exit code."""
    assert process.stderr
    assert process.stderr.readline() == b"begun\n"
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=60)
    assert process.returncode == 128 + getattr(signal, name)


@POSIX
@pytest.mark.parametrize("name", HANDLED_SIGNALS)
def test_a_signal_leaves_the_old_report_and_nothing_else(name: str, folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_RULE, "lint", "log.jsonl", "-j1", "--output", "sarif:r.sarif", "--output", "json:new"],
        cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    interrupt(process, name)
    assert (folder / "r.sarif").read_text() == "old"
    assert left(folder) == ["log.jsonl", "r.sarif"]


def test_an_internal_error_leaves_the_old_report(folder: Path) -> None:
    done = run_cli(
        "lint", "log.jsonl", "-j1", "--output", "sarif:r.sarif", program=CRASH, cwd=folder, env=ENVIRONMENT
    )
    assert done.returncode == 4
    assert (folder / "r.sarif").read_text() == "old"
    assert left(folder) == ["log.jsonl", "r.sarif"]


@POSIX
@pytest.mark.parametrize("name", HANDLED_SIGNALS)
def test_a_signal_during_a_fix_leaves_no_temporary_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(ORPHAN * 500)
    before = path.read_bytes()
    waiting = """
import sys, time
from turnlint.keeping import disk
def wait(file, system):
    print("begun", file=sys.stderr, flush=True)
    time.sleep(60)
disk._read_back = wait
from turnlint.cli import main
main()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", waiting, "fix", "--level", "lossy", str(path)],
        env={**ENVIRONMENT, "XDG_STATE_HOME": str(tmp_path / "state")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr
    assert process.stderr.readline() == b"begun\n"
    assert len(left(tmp_path)) > 1
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=60)
    assert process.returncode == 128 + getattr(signal, name)
    assert path.read_bytes() == before
    assert left(tmp_path) == ["log.jsonl"]


PAUSED = {
    "baseline": (["baseline", "write", "log.jsonl"], "import os as module", "replace"),
    "cache": (["lint", "--cache", "-j1", "log.jsonl"], "import os as module", "replace"),
    "new journal": (["fix", "log.jsonl"], "from turnlint.keeping import journal as module", "_add"),
    "own journal": (
        ["fix", "log.jsonl", "--journal", "j"],
        "from turnlint.keeping import journal as module",
        "_add",
    ),
}
"""Commands, and the function in which each of them pauses while its file is half written."""
PAUSE = """
import sys, time
{imported}
real = module.{name}
def wait(*arguments, **named):
    if {name!r} == "_add":
        real(arguments[0], [b"".join(arguments[1])[:-9]], arguments[2])
    print("begun", file=sys.stderr, flush=True)
    time.sleep(60)
module.{name} = wait
from turnlint.cli import main
main()
"""


@POSIX
@pytest.mark.parametrize("name", HANDLED_SIGNALS)
@pytest.mark.parametrize("case", PAUSED)
def test_a_signal_during_a_write_leaves_no_partial_file(case: str, name: str, tmp_path: Path) -> None:
    logs, state = tmp_path / "logs", tmp_path / "state"
    logs.mkdir()
    (logs / "log.jsonl").write_bytes(BROKEN)
    arguments, imported, function = PAUSED[case]
    process = subprocess.Popen(
        [sys.executable, "-c", PAUSE.format(imported=imported, name=function), *arguments], cwd=logs,
        env={**ENVIRONMENT, "TURNLINT_STATE_DIR": str(state), "TURNLINT_CACHE": str(tmp_path / "cache")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    interrupt(process, name)
    assert (logs / "log.jsonl").read_bytes() == BROKEN
    files = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert files == ["log.jsonl"]


@POSIX
def test_ignored_signals_stay_ignored(folder: Path) -> None:
    process = subprocess.Popen(
        ["sh", "-c", f"trap '' HUP; exec {' '.join(LINT)} - -q"], cwd=folder, env=ENVIRONMENT,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(1)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(ORPHAN, timeout=60)
    assert process.returncode == 1
    assert b"orphan-result" in out


@POSIX
def test_devices_links_modes_and_closed_folders_keep_working(folder: Path) -> None:
    done = subprocess.run(
        [*LINT, "log.jsonl", "-qq", "--output", "jsonl:/dev/stdout"], cwd=folder, env=ENVIRONMENT,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.stdout.count(b"\n") == 3001
    (folder / "summary.md").write_text("first\n")
    (folder / "r.json").write_text("old")
    (folder / "r.json").chmod(0o640)
    (folder / "link.json").symlink_to("r.json")
    words = [*LINT, "log.jsonl", "-qq", "--output", "github-summary:summary.md", "--output", "json:link.json"]
    assert subprocess.run(words, cwd=folder, env=ENVIRONMENT, check=False).returncode == 1
    assert (folder / "summary.md").read_text().startswith("first\n")
    assert (folder / "link.json").is_symlink()
    assert (folder / "r.json").stat().st_mode & 0o777 == 0o640
    assert len(json.loads((folder / "r.json").read_text())["findings"]) == 3000


@POSIX
@pytest.mark.parametrize(
    ("output", "words"),
    [("json:.", "is a folder"), ("json:none/r.json", "no such folder"), ("json:/dev/full", "no space left")],
)
def test_an_unwritable_report_gives_a_sentence(output: str, words: str, folder: Path) -> None:
    done = run_cli("lint", "log.jsonl", "--output", output, cwd=folder, env=ENVIRONMENT)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr
