"""Packed and piped sources, through the command line.

A session gives the same report packed, piped and plain, also where its lines are read a second time. A damaged
archive gives the lines before the damage.
"""

import gzip
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from commands import run_cli

PACKINGS = {
    "plain": (".jsonl", bytes),
    "gzip": (".jsonl.gz", gzip.compress),
    "two gzip members": (".jsonl.gz", lambda data: gzip.compress(data[:9000]) + gzip.compress(data[9000:])),
    "zstandard": (".jsonl.zst", zstandard.compress),
    "two zstandard frames": (
        ".jsonl.zst",
        lambda data: zstandard.compress(data[:9000]) + zstandard.compress(data[9000:]),
    ),
}


def _session(count: int) -> bytes:
    """One message per line, which is released and read again; more findings than one group can hold."""
    results = (
        {"role": "tool", "tool_call_id": f"c{index}", "content": f"r{index}"} for index in range(count)
    )
    lines = ['{"role": "user", "content": "é"}', *map(json.dumps, results)]
    return ("\n".join(lines) + "\n").encode()


def _lint(*arguments: str, stdin: bytes = b"") -> tuple[list[dict[str, Any]], dict[str, Any]]:
    done = run_cli("lint", *arguments, "--output-format", "jsonl", input=stdin)
    assert done.returncode == 1, done.stderr
    *findings, summary = map(json.loads, done.stdout.splitlines())
    return findings, summary["summary"]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("through_stdin", [False, True])
def test_packed_and_piped_sessions_give_the_same_report(
    packing: str, through_stdin: bool, tmp_path: Path
) -> None:
    suffix, pack = PACKINGS[packing]
    data = _session(1200)
    path, picture = tmp_path / f"a{suffix}", tmp_path / "report.txt"
    path.write_bytes(pack(data))
    arguments = ["-"] if through_stdin else [str(path)]
    arguments += ["--show-content", "excerpt", "--output", f"text:{picture}"]
    findings, summary = _lint(*arguments, stdin=path.read_bytes())
    orphans = [finding for finding in findings if finding["rule"] == "orphan-result"]
    assert (summary["messages"], len(orphans)) == (1201, 1200)
    for index, orphan in enumerate(orphans):
        assert data[orphan["byte_offset"] : orphan["byte_end"]] == f'"c{index}"'.encode()
        assert (orphan["line"], orphan["pointer"]) == (index + 2, "/tool_call_id")
        assert orphan["column"] == len('{"role": "tool", "tool_call_id": ') + 1
    assert '"r0"' in picture.read_text()


def _requests(count: int) -> bytes:
    """A finding on each line, and incompressible texts: a lost part shows as a missing line."""
    texts = (hashlib.sha256(str(index).encode()).hexdigest() for index in range(count))
    lines = ({"messages": [{"role": "tool", "tool_call_id": "c", "content": text}]} for text in texts)
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _zstd_between_blocks(data: bytes) -> bytes:
    """Cut between two blocks and between two lines, as left by a writer that was killed after a flush."""
    half = data.index(b"\n", len(data) // 2) + 1
    sink = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(sink, closefd=False) as writer:
        writer.write(data[:half])
        writer.flush(zstandard.FLUSH_BLOCK)
        size = len(sink.getvalue())
        writer.write(data[half:])
    return sink.getvalue()[:size]


def _with_checksum(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def _halved(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flipped(data: bytes) -> bytes:
    place = len(data) // 2
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


BREAKS = {
    "a gzip cut near its end": (".gz", lambda data: gzip.compress(data)[:-300], 0.98),
    "a gzip cut in the middle": (".gz", lambda data: _halved(gzip.compress(data)), 0.45),
    "a gzip without its checksum": (".gz", lambda data: gzip.compress(data)[:-8], 0.98),
    "a zstandard cut near its end": (".zst", lambda data: zstandard.compress(data)[:-300], 0.7),
    "a zstandard cut between blocks": (".zst", _zstd_between_blocks, 0.45),
    "a gzip with a flipped byte": (".gz", lambda data: _flipped(gzip.compress(data)), 0.0),
    "a zstandard with a flipped byte": (".zst", lambda data: _flipped(_with_checksum(data)), 0.0),
}
"""Damaged archives, with the share of their lines that can be read."""


@pytest.mark.parametrize("case", BREAKS)
def test_a_damaged_archive_gives_the_lines_before_the_damage_and_one_finding(
    case: str, tmp_path: Path
) -> None:
    suffix, damage, share = BREAKS[case]
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(damage(_requests(4000)))
    findings, _ = _lint(str(path))
    broken = [finding["message"] for finding in findings if "compressed data" in finding["message"]]
    lines = [finding["line"] for finding in findings if finding["rule"] == "orphan-result"]
    expected = list(range(1, int(4000 * share) + 1))
    assert (len(broken), lines[: len(expected)] == expected) == (1, True), (broken, len(lines))


def _chat() -> list[dict[str, Any]]:
    call = {"id": "call_aaaaaaaa1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}] * 30
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "go on"},
    ]
    return [{"session_id": "s", **message} for message in messages]


def _rollout() -> list[dict[str, Any]]:
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}
    call = {"type": "function_call", "name": "read", "call_id": "call_aaaaaaaa1", "arguments": "{}"}
    items = [message] * 30 + [call, message]
    return [
        {"timestamp": "2026-03-01T12:00:00.000Z", "type": "response_item", "payload": item} for item in items
    ]


@pytest.mark.parametrize("lines", [_chat, _rollout])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_packed_log_may_have_any_name(
    lines: Callable[[], list[dict[str, Any]]], pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    data = "\n".join(map(json.dumps, lines())).encode()
    path.write_bytes(data)
    plain = _lint(str(path))
    assert [item["code"] for item in plain[0]] == ["PA201"]
    path.write_bytes(pack(data))
    assert _lint(str(path)) == plain
