"""Records of extreme size, and crowds of findings in one record.

Memory is bounded, and no crowd is lost or hangs the run. The benchmarks measure the time; the timeout of a run only
ends a run that hangs.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hostile import ENVIRONMENT, LINT, ORPHAN, assert_ended_well, lint, noise, reported

MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
unit = 1 if sys.platform == "darwin" else 1024
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit)
"""
"""Run by a separate process: the peak memory of a child starts at the size of its parent."""


@pytest.mark.slow
@pytest.mark.parametrize("letters", ["ascii", "emoji"])
def test_a_line_of_50_mb_takes_less_than_six_times_its_size(letters: str, tmp_path: Path) -> None:
    path, text = (
        tmp_path / "long.jsonl",
        ("lorem ipsum dolor " if letters == "ascii" else "lorem 😀 dolor ").encode(),
    )
    with path.open("wb") as file:
        head, tail = ORPHAN.split(b'"r"')
        file.write(head + b'"')
        for _ in range(50):
            file.write(text * (1_000_000 // len(text)))
        file.write(b'"' + tail)
    command = [sys.executable, "-c", MEASURED, *LINT, str(path)]
    done = subprocess.run(command, capture_output=True, check=True, env=ENVIRONMENT, timeout=60)
    code, peak = map(int, done.stdout.split())
    assert (code, done.stderr) == (1, b"")
    assert peak < 6 * path.stat().st_size, f"{peak / path.stat().st_size:.1f} times"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["fix", "--check"], ["fix", "--diff"], ["lint"]], ids=" ".join)
def test_a_text_of_escapes_takes_few_times_its_size(arguments: list[str], tmp_path: Path) -> None:
    """A regular expression with a group that may backtrack over an escape stores each of them: 60 times the size."""
    path = tmp_path / "long.jsonl"
    path.write_bytes(ORPHAN.replace(b'"r"', b'"' + rb"\n" * 8_000_000 + b'"') * 2)
    command = [sys.executable, "-c", MEASURED, *LINT[:-1], *arguments, "--level", "lossy", str(path)]
    command = [item for item in command if arguments != ["lint"] or item not in ("--level", "lossy")]
    done = subprocess.run(command, capture_output=True, check=True, env=ENVIRONMENT, timeout=60)
    code, peak = map(int, done.stdout.split())
    assert code == 1
    assert peak < 12 * path.stat().st_size, f"{peak / path.stat().st_size:.1f} times"


@pytest.mark.slow
@pytest.mark.parametrize("fault", [b"\\q", b"\x01"], ids=["escapes", "controls"])
def test_a_record_with_a_million_damaged_places_is_read_to_a_bound(fault: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    data = ORPHAN.replace(b'"r"', b'"' + fault * 300_000 + b'"') + ORPHAN
    path.write_bytes(data)
    command = [sys.executable, "-c", MEASURED, *LINT, "--output-format", "concise", str(path)]
    done = subprocess.run(command, capture_output=True, check=True, env=ENVIRONMENT, timeout=60)
    code, peak = map(int, done.stdout.split())
    assert code == 1
    assert peak < 350_000_000, f"{peak:,} bytes"
    found = reported(lint(path, "--output-format", "jsonl", timeout=60))
    rules = [item["rule"] for item in found if item.get("line") == 1]
    assert rules.count("unreadable-record") == 100_001
    assert "this record has more than 100,000 damaged places; the rest was not checked" in {
        item.get("message") for item in found
    }
    assert [item["rule"] for item in found if item.get("line") == 2] == ["orphan-result"]


def _filled(count: int, each: bytes) -> bytes:
    return b'{"messages": [{"role": "user", "content": "hi"}], "t": [' + b",".join([each] * count) + b"]}\n"


OPEN_CALLS = {
    "role": "assistant",
    "tool_calls": [{"id": f"c{at:040}", "function": {"name": "f", "arguments": "{}"}} for at in range(60)],
}


def _result(identifier: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": identifier, "content": "r"}


def _messages(count: int, build: Callable[[int], Any]) -> bytes:
    return json.dumps({"messages": [build(index) for index in range(count)]}).encode()


CROWDS: dict[str, Callable[[int], bytes]] = {
    "bad values": lambda count: _filled(count, 'NaN, "é'.encode() + b"x" * 100 + b'"'),
    "bad bytes": lambda count: _filled(1, b'"' + b"\x01\\q" * (count // 2) + b'"'),
    "bad escapes in a long text": lambda count: _filled(1, b'"' + (b"x" * 2000 + b"\\q") * count + b'"'),
    "joined records": lambda count: ORPHAN.strip() * (count // 2),
    "duplicate keys": lambda count: b'{"messages": [], ' + b", ".join([b'"a": 1'] * count) + b', "model": "m"}',
    "orphans": lambda count: _messages(count, lambda at: _result(f"c{at}")),
    "orphans beside open calls": lambda count: _messages(count, lambda at: _result(f"r{at:040}") if at else OPEN_CALLS),
    "one id": lambda count: _messages(count, lambda _: _result("c")),
    "wrong kinds": lambda count: _messages(count, lambda at: {"role": "user", "content": at}),
    "empty turns": lambda count: _messages(count, lambda _: {"role": "user", "content": ""}),
    "marks in code": lambda count: _messages(1, lambda _: {"role": "assistant", "content": "`<tool_call>` " * count}),
}  # fmt: skip


@pytest.mark.parametrize("case", CROWDS)
def test_ten_thousand_faults_in_one_record_are_reported(case: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(CROWDS[case](10_000))
    done = lint(path, "--format", "openai-chat", "--output-format", "jsonl", timeout=60)
    assert_ended_well(done)
    bounded = {"marks in code": 1, "duplicate keys": 102}
    found = reported(done)
    assert len(found) >= bounded.get(case, 9_990)
    if case == "duplicate keys":
        assert found[100]["message"] == "9,899 more duplicate keys in this record"


def test_very_long_ids_are_compared(tmp_path: Path) -> None:
    call_id, answered = (
        "".join(map(chr, (0x4E00 + byte for byte in noise(seed, 50_000)))) for seed in (1, 2)
    )
    calls = {
        "role": "assistant",
        "tool_calls": [{"id": call_id, "function": {"name": call_id, "arguments": "{}"}}] * 2,
    }
    path = tmp_path / "a.jsonl"
    path.write_bytes(_messages(3, lambda at: {**_result(answered), "name": answered} if at else calls))
    done = lint(path, "--output-format", "jsonl", timeout=60)
    assert_ended_well(done)
    assert "orphan-result" in {row.get("rule") for row in reported(done)}
