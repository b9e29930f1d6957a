"""The cost of a run, as a ratio to the cost of reading.

Measures processor time of whole processes without their start, in alternating rounds, and the deterministic count of
instructions if valgrind is present. Absolute times mean nothing on a shared machine.
"""

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

TURNLINT = (sys.executable, "-c", "from turnlint.cli import main; main()")
READ = "import sys\nfrom {module} import loads\nfor line in open(sys.argv[1], 'rb', buffering=1 << 20): loads(line)\n"
UNPACK = {
    ".gz": "import sys\ntry: from isal import igzip as gzip\nexcept ImportError: import gzip\n"
    "with gzip.open(sys.argv[1]) as file:\n    while file.read(1 << 20): pass\n",
    ".zst": "import sys, zstandard\n"
    "with zstandard.ZstdDecompressor().stream_reader(open(sys.argv[1], 'rb')) as file:\n"
    "    while file.read(1 << 20): pass\n",
}
"""A program that unpacks a file and discards the bytes."""
Command = Sequence[str]


def lint(path: Path, kind: str, *more: str) -> list[str]:
    provider = {"openai-chat": "openai", "anthropic": "anthropic"}.get(kind, "auto")
    options = ("--format", kind, "--provider", provider, "--output-format", "jsonl", "--fail-on", "never")
    return [*TURNLINT, "lint", str(path), *options, *more]


def fix(path: Path, kind: str) -> list[str]:
    """A repair that is computed and checked, and not written."""
    return [*TURNLINT, "fix", str(path), "--format", kind, "--dry-run", "--quiet"]


def read(path: Path, module: str = "orjson") -> list[str]:
    return [sys.executable, "-c", READ.format(module=module), str(path)]


def unpack(path: Path, suffix: str) -> list[str]:
    return [sys.executable, "-c", UNPACK[suffix], str(path)]


def processor(command: Command, *, check: bool = True) -> float:
    """Seconds of processor time, of the process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=check)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wall(command: Command) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def ratios(one: Callable[[], float], other: Callable[[], float], rounds: int) -> tuple[float, float, float]:
    """The cost of the first over the cost of the second: the median of all rounds, the minimum and the maximum."""
    found = [one() / other() for _ in range(rounds)]
    return statistics.median(found), min(found), max(found)


def peak(command: Command) -> int:
    """The peak memory of a process in KiB, independent of the memory of its parent."""
    program = (
        "import re, subprocess, sys\n"
        "process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "import resource\nprocess.wait()\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, *command], capture_output=True, text=True, check=True
    )
    return int(run.stdout)


def has_valgrind() -> bool:
    return shutil.which("valgrind") is not None


def instructions(command: Command) -> int:
    """The instructions of a run, which the seed of hashes would change. The exit code 1 means findings."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    assert run.returncode in (0, 1), run.stderr
    found = re.search(r"refs:\s+([\d,]+)", run.stderr)
    assert found
    return int(found[1].replace(",", ""))


def per_byte(command: Callable[[Path], Command], short: Path, long: Path) -> float:
    """Instructions for each byte by which one log is longer than another: the cost of the start cancels out."""
    more = long.stat().st_size - short.stat().st_size
    subprocess.run(command(short), capture_output=True, check=False)  # compiles modules
    return (instructions(command(long)) - instructions(command(short))) / more
