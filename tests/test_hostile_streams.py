"""Names that are no regular files, and endless records and blank lines.

Each command prints one sentence and exits with code 2, and memory stays bounded.
"""

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
import zstandard
from click.testing import CliRunner

from commands import run_cli
from hostile import ENVIRONMENT, ORPHAN, assert_safe, lint, reported
from turnlint.cli import cli
from turnlint.documents import framing
from turnlint.documents.framing import frame
from turnlint.documents.trouble import Damage
from turnlint.model import Record

COMMAND = (sys.executable, "-m", "turnlint")
PEAK = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return run_cli(*arguments, cwd=folder, env=ENVIRONMENT)


READING = {
    "lint": ("lint", "{}"),
    "fix": ("fix", "{}"),
    "inspect": ("inspect", "{}"),
    "ids": ("ids", "--provider", "openai", "{}"),
    "undo": ("undo", "{}"),
    "baseline": ("baseline", "write", "{}"),
    "extend": ("lint", "--config", "settings.yaml", "log.jsonl"),
    "config": ("lint", "--config", "{}", "log.jsonl"),
    "given baseline": ("lint", "--baseline", "{}", "log.jsonl"),
    "profile": ("lint", "--profile", "{}", "log.jsonl"),
    "journal": ("fix", "--level", "lossy", "log.jsonl", "--journal", "{}"),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
@pytest.mark.parametrize("case", READING)
def test_a_special_file_is_refused_with_a_sentence(case: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(ORPHAN)
    name = "/dev/zero" if kind == "device" else "odd.jsonl"
    (tmp_path / "settings.yaml").write_text(f"extend: {name}\n")
    if kind == "pipe":
        os.mkfifo(tmp_path / name)
    elif kind == "link":
        (tmp_path / name).symlink_to("/dev/zero")
    done = run(tmp_path, *(item.format(name) for item in READING[case]))
    assert done.returncode == 2, done.stderr
    printed = done.stderr.decode()
    assert "named pipe" in printed or "device" in printed or "regular file" in printed, printed
    assert_safe(done.stderr, "stderr")


@pytest.mark.parametrize(
    "command", [["lint"], ["fix"], ["inspect"], ["ids", "--provider", "openai"]], ids=" ".join
)
def test_standard_input_is_no_endless_device(command: list[str]) -> None:
    for device, codes in (("/dev/zero", {2}), (os.devnull, {0, 3})):
        with open(device, "rb") as stream:
            done = subprocess.run(
                [*COMMAND, *command, "-"],
                stdin=stream,
                capture_output=True,
                check=False,
                env=ENVIRONMENT,
                timeout=60,
            )
        assert done.returncode in codes, done.stderr
        assert ("is a device, not a file or a pipe" in done.stderr.decode()) == (2 in codes)
    assert lint("-", stdin=ORPHAN).returncode == 1


@pytest.mark.parametrize("command", [["fix"], ["fix", "--check"], ["inspect"]], ids=" ".join)
@pytest.mark.parametrize("data", [ORPHAN, b"\0", b"x"], ids=["records", "zeros", "one record"])
def test_a_pipe_without_an_end_is_refused_and_leaves_no_copy(
    command: list[str], data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnlint.documents.piped.MAX_PIPE_BYTES", 3_000_000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stream = io.BytesIO(data * (4_000_000 // len(data)))
    done = CliRunner().invoke(cli, [*command, "-"], input=stream)
    assert done.exit_code == 2
    assert done.stderr.startswith(
        "turnlint: <stdin>: is a pipe of more than 3,000,000 bytes; write it to a file"
    )
    assert stream.tell() < 4_000_000
    assert ORPHAN not in done.stdout_bytes
    assert list(tmp_path.iterdir()) == []


LONG = b'{"messages": [{"role": "user", "content": "' + b"x\\\\" * 4000 + b'"}]}'


@pytest.mark.parametrize("chunk", [7, 100, 1 << 20])
@pytest.mark.parametrize(
    ("name", "data", "records"),
    [
        ("a.jsonl", b"%b\n" % LONG + ORPHAN * 2, 2),
        ("a.jsonl", ORPHAN + LONG, 1),
        ("a.json", b"[" + ORPHAN + b",\n" + LONG + b"," + ORPHAN + b"]", 2),
        ("a.json", LONG, 0),
        ("a.json", b" " * 9000 + LONG, 0),
        ("a.jsonl", b"\0" * 9000, 0),
        ("a.json", b"[" + b" " * 9000 + b"]", 0),
        ("a.json", b"1" * 9000, 0),
    ],
)
def test_a_record_beyond_the_limit_is_skipped_whole(
    name: str, data: bytes, records: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnlint.documents.framing.CHUNK", chunk)
    found = list(frame(io.BytesIO(data), name, lambda first: b"messages" in first, limit=2000))
    damages = [item for item in found if not isinstance(item, Record)]
    kinds = [damage.trouble.kind for damage in damages]  # type: ignore[union-attr]
    assert kinds == ["too-long"], found
    rest = [item for item in found if isinstance(item, Record)]
    assert [item.data for item in rest] == [ORPHAN.strip()] * records
    for entry in rest:
        assert data[entry.offset :].startswith(entry.data)


def _gzip(path: Path) -> IO[bytes]:
    return gzip.open(path, "wb", compresslevel=1)


def _zstd(path: Path) -> IO[bytes]:
    return zstandard.open(path, "wb")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "packed"), [("a.jsonl.gz", _gzip), ("a.jsonl.zst", _zstd)])
def test_a_record_beyond_the_limit_takes_bounded_memory_and_stays_unchanged(
    name: str, packed: Callable[[Path], IO[bytes]], tmp_path: Path
) -> None:
    path = tmp_path / name
    with packed(path) as file:
        file.write(ORPHAN[:-8])
        for _ in range(300):
            file.write(b"x" * 1_000_000)
        file.write(ORPHAN[-8:] + ORPHAN)
    before = path.read_bytes()
    size = ("--set", "max-record-size=8 MiB")
    for command in (("lint", *size, "--output-format", "jsonl"), ("fix", *size, "--no-journal", "--check")):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *COMMAND, *command, str(path)], capture_output=True, check=True,
            env=ENVIRONMENT, timeout=120,
        )  # fmt: skip
        code, peak = map(int, done.stdout.splitlines()[-1].split())
        assert code == 1, done.stdout + done.stderr
        assert peak < 130, f"{command[0]}: {peak} MiB"
    assert path.read_bytes() == before
    found = reported(lint(path, *size, "--output-format", "jsonl"))
    assert [(item["rule"], item["line"]) for item in found[:-1]] == [
        ("unreadable-record", 1),
        ("orphan-result", 2),
    ]
    assert "286 MiB; the limit is 8 MiB (`max-record-size`)" in found[0]["message"]


def test_consecutive_blank_lines_are_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n" * 3_000_000 + ORPHAN + b" \r\n\n" * 500_000 + ORPHAN * 30 + b"\n\n" + ORPHAN)
    found = reported(lint(path, "--output-format", "jsonl"))[:-1]
    blanks = [(item["line"], item["message"]) for item in found if item["rule"] == "unreadable-record"]
    assert blanks == [
        (1, "3,000,000 blank lines in a row"),
        (3_000_002, "1,000,000 blank lines in a row"),
        (4_000_032, "2 blank lines in a row"),
    ]
    assert sum(item["rule"] == "orphan-result" for item in found) == 32


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_many_blank_lines_after_a_record_take_few_steps_and_little_memory(
    source: str, tmp_path: Path
) -> None:
    """Lines with white space were read one by one: 120 MB of them took 132 seconds and 255 MiB (2026-11)."""
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(ORPHAN)
        for _ in range(50):
            file.write(b"  \r\n" * 250_000)
        file.write(ORPHAN)
    with path.open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *COMMAND, "lint", "--output-format", "jsonl",
             str(path) if source == "file" else "-"],
            stdin=stream, capture_output=True, check=True, env=ENVIRONMENT, timeout=120,
        )  # fmt: skip
    code, peak = map(int, done.stdout.splitlines()[-1].split())
    assert code == 1
    assert peak < 60, f"{peak} MiB"


def test_lines_of_white_space_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    read = framing._Lines._line

    def count(self: framing._Lines, piece: bytes, *, last: bool) -> Iterator[Record | Damage]:
        nonlocal taken
        taken += 1
        return read(self, piece, last=last)

    monkeypatch.setattr(framing._Lines, "_line", count)
    data = ORPHAN + b"  \r\n" * 1_000_000 + ORPHAN
    found = list(frame(io.BytesIO(data), "a.jsonl", lambda first: b"messages" in first))
    assert sum(isinstance(item, Record) for item in found) == 2
    assert taken < 1000
