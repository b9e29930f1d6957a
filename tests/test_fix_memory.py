"""`fix` on a file with many repairs: its reports go to temporary files, and none of them is lost."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from broken_logs import fix, fix_by_default, settle
from hostile import ENVIRONMENT
from test_hostile_size import MEASURED
from turnlint.cli.undo import command as undo
from turnlint.keeping import journal
from turnlint.repair import spool
from turnlint.repair.spool import Spool


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def request(number: int) -> list[dict[str, Any]]:
    """Messages with a call whose id Mistral refuses, a repeated result, and an open call."""
    calls = [
        {"id": f"call/{number}{more}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for more in ("", "x")
    ]
    answer = {"role": "tool", "tool_call_id": f"call/{number}", "content": "ok \ud800"}
    return [
        {"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": calls},
        answer, answer, {"role": "user", "content": "on"},
    ]  # fmt: skip


def requests(count: int) -> bytes:
    return b"".join(json.dumps({"messages": request(number)}).encode() + b"\n" for number in range(count))


def lines(count: int) -> bytes:
    messages = (
        {"session_id": f"s{number // 3}", **item} for number in range(count) for item in request(number)
    )
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


@pytest.mark.parametrize("make", [requests, lines])
def test_values_stored_in_files_equal_values_stored_in_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    data = make(40)
    seen = []
    for limit in (10_000, 7):
        monkeypatch.setattr(spool, "MAX_ITEMS_IN_MEMORY", limit)
        monkeypatch.setattr(spool, "ITEMS_PER_BATCH", 3)
        monkeypatch.setattr(journal, "MAX_BYTES_IN_MEMORY", limit)
        (folder / "a.jsonl").write_bytes(data)
        arguments = ("--provider", "mistral", "--report", "r.json", "--journal", "j.jsonl")
        run = fix("a.jsonl", *arguments)
        seen.append([run.exit_code, run.stdout, (folder / "a.jsonl").read_bytes()])
        seen[-1] += [(folder / name).read_bytes() for name in ("r.json", "j.jsonl")]
        seen[-1].append(fix_by_default("sound.jsonl", "a.jsonl", "--check").stdout)
        undo.main(["a.jsonl", "--journal", "j.jsonl"], standalone_mode=False)
        assert (folder / "a.jsonl").read_bytes() == data
        (folder / "j.jsonl").unlink()
    assert seen[0] == seen[1]
    report = json.loads(seen[0][3])
    assert len(report["changes"]) > 100
    assert len(report["changes"]) == len(json.loads(seen[0][4])["changes"])


def test_a_spool_gives_its_values_in_order_as_often_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MAX_ITEMS_IN_MEMORY", 10)
    monkeypatch.setattr(spool, "ITEMS_PER_BATCH", 4)
    values: Spool[Any] = Spool(range(25))
    values.extend(["\ud800", None])
    for number in range(30):
        values.append(number)
        assert [*values] == [*range(25), "\ud800", None, *range(number + 1)]
    assert len(values) == 57
    assert [pair for pair in zip(values, values, strict=True) if pair[0] != pair[1]] == []
    assert not Spool()


def peak_of(folder: Path, data: bytes) -> int:
    """The peak memory of a repair of a log."""
    (folder / "a.jsonl").write_bytes(data)
    fixing = [sys.executable, "-m", "turnlint", "fix", "a.jsonl", "--provider", "mistral"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *fixing],
        capture_output=True, check=True, env=ENVIRONMENT, timeout=600, cwd=folder,
    )  # fmt: skip
    code, peak = map(int, done.stdout.split())
    assert code in (0, 1)
    assert (folder / "a.jsonl").read_bytes() != data
    return peak


def one_record(count: int) -> bytes:
    return json.dumps({"messages": [item for number in range(count) for item in renamed(number)]}).encode()


def one_session(count: int) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for number in range(count) for item in renamed(number))


def sessions(count: int) -> bytes:
    lines = ({"session_id": f"s{number}", **item} for number in range(count) for item in renamed(number))
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def renamed(number: int) -> list[dict[str, Any]]:
    """A call with a result, whose id Mistral refuses."""
    call = {
        "id": f"call/{number:08}",
        "type": "function",
        "function": {"name": "look_up", "arguments": json.dumps({"q": number, "text": "some words here"})},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    start = [{"role": "user", "content": "go"}] if not number else []
    return [*start, message, {"role": "tool", "tool_call_id": call["id"], "content": f"ok {number}"}]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("make", "counts", "most"),
    [
        (requests, (3_000, 9_000), 8),
        (sessions, (8_000, 12_000), 14),
        (one_record, (2_000, 8_000), 50),
        (one_session, (2_000, 8_000), 50),
    ],
)
def test_the_memory_of_a_fix_is_bounded(folder: Path, make: Any, counts: tuple[int, int], most: int) -> None:
    """In bytes for each byte of a log, beyond the first 2 MB, whose messages the native scanner keeps.

    For a log, little more than the patches stays; for a conversation, all messages.

    Measured 3.5 to 5.7, 11, 42 and 44. A conversation took 77 bytes, and a log 40, when all findings and reports were
    held.
    """
    (small, less), (large, more) = [(peak_of(folder, make(count)), len(make(count))) for count in counts]
    assert large - small < most * (more - less), f"{(large - small) / (more - less):.1f} bytes for a byte"
