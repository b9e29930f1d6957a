"""Hostile files, and unusual paths and streams, give no traceback and a known exit code.

Noise and damage, depth, links and pipes, unreadable files, closed outputs, and terminals of any encoding.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hostile import (
    ENVIRONMENT,
    FORMATS,
    LINT,
    ORPHAN,
    WIRES,
    assert_ended_well,
    lint,
    lint_in_all_formats,
    noise,
    reported,
)

FIXTURES = Path(__file__).parent.parent / "fixtures" / "hostile"


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir()))
def test_a_hostile_file_is_survived(name: str, tmp_path: Path) -> None:
    lint_in_all_formats(FIXTURES / name, "--show-content", "full", folder=tmp_path)


@pytest.mark.parametrize("wire", WIRES)
def test_hostile_files_are_survived_under_any_format(wire: str, tmp_path: Path) -> None:
    paths = sorted(FIXTURES.iterdir())
    assert len(paths) > 12
    reports = lint_in_all_formats(*paths, "--format", wire, "--show-content", "full", folder=tmp_path)
    summary = json.loads(reports["json"])["summary"]
    assert summary["skipped"] == 1  # an image
    assert summary["files"] + summary["skipped"] == len(paths)


FAULTS = (b"", b'"', b"}", b"\xff", b"\n", b"[[", b"\\", b"\x00")


def _mangled(wire: str, seed: int) -> bytes:
    """A record with a few bytes changed, removed or inserted."""
    records = WIRES[wire]("c1")
    data = bytearray(json.dumps(records[seed % 2]).encode())
    dice = iter(noise(seed, 64))
    for _ in range(next(dice) % 4 + 1):
        place = (next(dice) * 256 + next(dice)) % len(data)
        data[place : place + next(dice) % 4] = FAULTS[next(dice) % len(FAULTS)]
    return bytes(data)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(4))
def test_random_and_mangled_files_are_survived(part: int, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for seed in range(part, 60, 4):
        (folder / f"noise-{seed}.jsonl").write_bytes(noise(seed, 40 * seed))
        for wire in WIRES:
            records = [_mangled(wire, seed * 8 + part) for part in range(8)]
            (folder / f"{wire}-{seed}.jsonl").write_bytes(b"\n".join(records))
            (folder / f"{wire}-{seed}.json").write_bytes(b"[" + b",\n".join(records) + b"]")
    reports = lint_in_all_formats(folder, "--show-content", "full", folder=tmp_path)
    summary = json.loads(reports["json"])["summary"]
    assert summary["files"] > 30
    assert summary["rules"]["unreadable-record"] > 100


DEEP = 1_000_000
NESTED = {
    "brackets": b"[" * DEEP,
    "brackets on lines": b"[\n" * DEEP,
    "closed brackets": b"[" * DEEP + b"]" * DEEP,
    "objects": b'{"a":' * DEEP,
    "content": b'{"messages": [{"role": "user", "content": ' + b"[" * DEEP + b"]" * DEEP + b"}]}",
    "opened late": ORPHAN + b'{"messages": [{"role": "user", "content": ' + b"[" * DEEP,
}


@pytest.mark.parametrize("case", NESTED)
def test_a_million_brackets_are_survived(case: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_bytes(NESTED[case])
    lint_in_all_formats(path, "--format", "openai-chat", folder=tmp_path, timeout=20)


def test_every_depth_near_the_limits_of_readers_is_survived(tmp_path: Path) -> None:
    spots = (
        '{"messages": [{"role": "user", "content": [%s]}]}',
        '{"messages": [{"role": "tool", "tool_call_id": "c", "content": %s}]}',
        '{"messages": [{"role": "assistant", "tool_calls": [{"id": "c", "function": {"arguments": %s}}]}]}',
        '{"messages": [{"role": "user", "content": [{"functionCall": {"args": %s}}]}]}',
        '{"messages": [%s], "unknown": {}}',
    )
    nested = ["[" * depth + "]" * depth for depth in range(900, 1010, 2)]
    path = tmp_path / "deep.jsonl"
    path.write_text("".join(spot % value + "\n" for spot in spots for value in nested))
    reports = lint_in_all_formats(path, "--format", "openai-chat", folder=tmp_path)
    assert b"nested deeper" in reports["jsonl"]


def test_names_of_no_files_give_an_error_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "dangling.jsonl").symlink_to("nowhere")
    (tmp_path / "round.jsonl").symlink_to("round.jsonl")
    expected = {
        "folder.jsonl": 3,
        "dangling.jsonl": 2,
        "round.jsonl": 2,
        "missing.jsonl": 2,
        "no/[a]*.jsonl": 3,
    }
    codes = {}
    for name in expected:
        done = lint(name, cwd=tmp_path)
        assert_ended_well(done)
        codes[name] = done.returncode
    assert codes == expected


def test_a_dangling_link_in_a_folder_is_no_internal_error_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "dangling.jsonl").symlink_to("nowhere")
    (tmp_path / "good.jsonl").write_bytes(ORPHAN)
    watcher, terminal = os.openpty()  # only terminals show progress, which needs file sizes
    command = [*LINT, str(tmp_path), "--output-format", "jsonl"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, env=ENVIRONMENT, check=False)
    os.close(terminal)
    output = b""
    with contextlib.suppress(OSError):  # an idle terminal gives an error to a reader
        output = os.read(watcher, 9999)
    os.close(watcher)
    assert done.returncode in (1, 2), output
    assert reported(done)[0]["rule"] == "orphan-result"


def test_a_file_that_may_not_be_read_is_named_and_the_rest_is_linted(tmp_path: Path) -> None:
    locked = tmp_path / "a.jsonl"
    locked.write_bytes(ORPHAN)
    locked.chmod(0)
    (tmp_path / "b.jsonl").write_bytes(ORPHAN)
    # root can read every file, unless it drops that capability
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if prefix and not shutil.which("setpriv"):
        pytest.skip("needs a user other than root, or setpriv")
    done = lint(tmp_path, "--output-format", "jsonl", prefix=prefix)
    assert_ended_well(done)
    assert done.returncode == 2
    assert b"a.jsonl: permission denied" in done.stderr
    assert reported(done)[0]["path"].endswith("b.jsonl")


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that opens and cannot be read")
def test_a_file_that_fails_while_it_is_read_is_named_and_the_rest_is_linted(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_bytes(ORPHAN)
    done = lint("/proc/self/mem", path, "--output-format", "jsonl")
    assert_ended_well(done)
    assert done.returncode == 2
    assert reported(done)[0]["path"].endswith("b.jsonl")


SESSION = b"".join(
    b'{"role": "tool", "tool_call_id": "c%d", "content": "r"}\n' % index for index in range(3000)
)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_closed_output_gives_no_error_message(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(SESSION)
    command, pipe = [*LINT, str(path), "--output-format", kind], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=ENVIRONMENT) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert len(running.stdout.read(1)) == 1
        running.stdout.close()
        assert running.stderr.read() == b""
    # the exit code that a shell reports for a program that a closed pipe stopped
    assert running.returncode in (0, 1, 2, 3, 141)


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(SESSION)
    piped = reported(lint("-", "--output-format", "jsonl", stdin=SESSION, timeout=20))
    plain = reported(lint(path, "--output-format", "jsonl"))
    assert len(piped) == len(plain) == 3001
    for one, other in zip(piped[:-1], plain[:-1], strict=True):
        assert [one[key] for key in ("line", "byte_offset", "call_id")] == [
            other[key] for key in ("line", "byte_offset", "call_id")
        ]


def test_a_named_pipe_in_a_folder_does_not_hang_the_run(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_bytes(ORPHAN)
    done = lint(tmp_path, "--output-format", "jsonl", timeout=20)
    assert_ended_well(done)
    assert reported(done)[0]["path"].endswith("b.jsonl")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_terminal_with_another_encoding_is_written_to(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(ORPHAN.replace(b'"c"', json.dumps("é漢" * 50, ensure_ascii=False).encode()))
    for kind in FORMATS:
        done = lint(path, "--output-format", kind, env={"PYTHONIOENCODING": encoding})
        assert (done.returncode, done.stderr) == (1, b""), kind


@pytest.mark.parametrize(
    "arguments", ["- -", "- < /dev/null", "- <&-", "a.jsonl >&-", "a.jsonl >/dev/full", "a.jsonl 2>&-"]
)
def test_streams_that_are_closed_full_or_read_twice_are_survived(arguments: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(ORPHAN)
    script = f'exec "$0" -m turnlint lint {arguments}'
    command = ["sh", "-c", script, sys.executable]
    done = subprocess.run(
        command, input=ORPHAN, capture_output=True, check=False, cwd=tmp_path, env=ENVIRONMENT, timeout=20
    )
    assert_ended_well(done)
