"""A forked command has the outputs, exit code, streams and environment of a new process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import run_cli, server

BROKEN = b'{"messages": [{"role": "tool", "tool_call_id": "\xc3\xa9", "content": "x"}]}\n'
START = """
import gc, json, os, signal, sys
signals = [str(signal.getsignal(one)) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)]
streams = [(one.encoding, one.errors, one.line_buffering, one.isatty()) for one in (sys.stdin, sys.stdout, sys.stderr)]
named = {name: os.environ.get(name) for name in ("PATH", "GIVEN", "HOME", "PYTHONPATH")}
print(json.dumps([sys.argv, sys.path, os.getcwd(), signals, streams, named, sorted(map(int, os.listdir("/dev/fd")))[:4]]))
print(json.dumps([sys.stdin.read(), __name__, gc.isenabled(), sys.flags.dont_write_bytecode]), file=sys.stderr)
"""


def run_both(
    *arguments: str, folder: Path, program: str | None = None, data: bytes | None = None, **env: str
) -> list[tuple[int, bytes, bytes]]:
    """Results of a fork and of a process, which must be equal."""
    environment = {**os.environ, **env}
    start = ("-c", program) if program else ("-m", "turnlint")
    spawned = subprocess.run(
        [sys.executable, *start, *arguments], cwd=folder, env=environment, check=False, capture_output=True,
        **({"stdin": subprocess.DEVNULL} if data is None else {"input": data}),
    )  # fmt: skip
    forked = run_cli(*arguments, program=program, cwd=folder, env=environment, input=data)
    return [(item.returncode, item.stdout, item.stderr) for item in (forked, spawned)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "data"),
    [
        (["--version"], None),
        (["--help"], None),
        (["nonsense"], None),
        (["lint", "log.jsonl"], None),
        (["lint", "-", "--output-format", "json"], BROKEN),
        (["lint", "-"], None),
        (["lint", "-"], b""),
        (["lint", "-j", "2", "log.jsonl", "log.jsonl", "--color", "always"], None),
        (["lint", "missing.jsonl"], None),
        (["--version"], BROKEN * 2_000),
        (["fix", "-", "--check", "--level", "lossy", "--diff"], BROKEN * 200),
        (["explain", "PA201"], None),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_a_fork_gives_the_outputs_of_a_process(
    arguments: list[str], data: bytes | None, tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_bytes(BROKEN * 3)
    for env in ({}, {"COLUMNS": "50", "NO_COLOR": "1"}, {"PYTHONIOENCODING": "ascii", "CI": "true"}):
        forked, spawned = run_both(*arguments, folder=tmp_path, data=data, **env)
        assert forked == spawned


@pytest.mark.parametrize(
    "env", [{}, {"GIVEN": "é"}, {"PYTHONIOENCODING": "latin-1:replace"}, {"PYTHONUTF8": "0"}], ids=str
)
def test_a_fork_starts_as_a_process_does(env: dict[str, str], tmp_path: Path) -> None:
    site = {"PYTHONPATH": str(tmp_path)}
    for more in (env, {**env, **site}):
        forked, spawned = run_both("a", "-b", folder=tmp_path, program=START, data=b"some \xff", **more)
        assert forked == spawned


@pytest.mark.parametrize(
    ("program", "code"),
    [("import sys; sys.exit(7)", 7), ("import os; os.kill(os.getpid(), 9)", -9), ("1 / 0", 1), ("import os; os._exit(3)", 3)],
)  # fmt: skip
def test_a_fork_ends_as_a_process_does(program: str, code: int, tmp_path: Path) -> None:
    for returncode, _, error in run_both(folder=tmp_path, program=program):
        assert (returncode, b"ZeroDivisionError" in error) == (code, "/" in program)


def test_nothing_of_a_run_reaches_the_next(tmp_path: Path) -> None:
    spoil = (
        "import os, sys, turnlint.cli; os.environ['LEFT'] = '1'; os.chdir('/'); turnlint.cli.COMMANDS.clear()"
    )
    look = (
        "import os, turnlint.cli; print('LEFT' in os.environ, os.getcwd(), 'lint' in turnlint.cli.COMMANDS)"
    )
    assert run_cli(program=spoil, cwd=tmp_path).returncode == 0
    assert run_cli(program=look, cwd=tmp_path, text=True).stdout == f"False {tmp_path} True\n"


def test_a_run_that_takes_too_long_is_killed() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_cli(program="import time; time.sleep(60)", timeout=0.2)
    assert run_cli("--version").returncode == 0


def test_variables_that_an_interpreter_reads_at_its_start_need_a_process(tmp_path: Path) -> None:
    environment = dict(server().environment)
    assert server().serves({**environment, "ANY": "1", "PYTHONPATH": str(tmp_path)})
    (tmp_path / "turnlint").mkdir()
    assert not server().serves({**environment, "PYTHONPATH": str(tmp_path)})
    assert not server().serves({**environment, "PYTHONHASHSEED": "1"})
    assert not server().serves({**environment, "LC_ALL": "C"})
