"""Input from strangers, through the command line: what may never happen, whatever a file holds.

This module owns four promises: no traceback and a known exit code, nothing in any output that steers a
terminal or a build runner, no content where none was asked for, and bounds on time and memory. And it
owns the one layer that escapes.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from turnlint.report.escape import clip, columns, line_start, visible

FIXTURES = Path(__file__).parent.parent / "fixtures" / "hostile"
FORMATS = ("text", "concise", "json", "jsonl")
LINT = (sys.executable, "-m", "turnlint", "lint")
NOT_INHERITED = {
    "CI", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTHONIOENCODING", "PYTHONUTF8", "TURNLINT_TRACEBACK",
}  # fmt: skip
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in NOT_INHERITED}

DRAWS_NOTHING = frozenset(
    chr(code)
    for low, high in (
        (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
        (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
        (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    )
    for code in range(low, high + 1)
)  # fmt: skip
"""Bidi marks, line separators and Unicode's Default_Ignorable_Code_Point: text that nobody sees can hide there."""


def hidden_in(text: str) -> set[str]:
    categories = ("Cc", "Cf", "Cs", "Co", "Cn")
    return {char for char in set(text) if char in DRAWS_NOTHING or unicodedata.category(char) in categories}


def lint(
    *arguments: Any, stdin: bytes = b"", cwd: Path | None = None, **more: Any
) -> subprocess.CompletedProcess[bytes]:
    environment = {**ENVIRONMENT, **more.pop("env", {})}
    command = [*more.pop("prefix", ()), *LINT, *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, check=False, cwd=cwd, env=environment, timeout=more.pop("timeout", 60)
    )  # fmt: skip


def assert_safe(output: bytes, kind: str, where: str = "") -> None:
    text = output.decode()
    assert "Traceback" not in text, text[-2000:]
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{where} {kind}:{number}: {line[:300]!r}"
        assert not hidden_in(line), place
        assert not line.lstrip().startswith(("::", "##[")), place
        assert "##vso[" not in line.lower(), place


def assert_ended_well(done: subprocess.CompletedProcess[bytes]) -> None:
    assert_safe(done.stderr, "stderr")
    assert done.returncode in (0, 1, 2, 3), done.stderr[-500:]


def lint_in_all_formats(*paths: Any, folder: Path, **more: Any) -> dict[str, bytes]:
    """One run, four reports, each held to all that holds for any output."""
    files = {kind: folder / f"out.{kind}" for kind in FORMATS[1:]}
    outputs = [argument for kind, file in files.items() for argument in ("--output", f"{kind}:{file}")]
    done = lint(*paths, *outputs, **more)
    assert_ended_well(done)
    reports = {"text": done.stdout, **{kind: file.read_bytes() for kind, file in files.items()}}
    for kind, report in reports.items():
        assert_safe(report, kind, str(paths))
    document = json.loads(reports["json"])
    lines = [json.loads(line) for line in reports["jsonl"].splitlines()]
    assert (document["findings"], document["summary"]) == (lines[:-1], lines[-1]["summary"])
    assert sum(document["summary"]["findings"].values()) == len(document["findings"])
    return reports


POISONS = {
    "terminal escapes": "\x1b[2J\x1b]0;pwned\x07\x1b[31m",
    "c1 controls": "\x9b31m\x85\x90",
    "delete and backspace": "a\x7f\x08\x08b",
    "bidi marks": "\u202egnp.exe\u202c\u2066\u200f\u061c",
    "zero width": "a\u200bb\u200d\u2060\ufeffc",
    "blank letters": "a\u3164\u115f\u1160\uffa0\u034f",
    "variation selectors": "a\ufe0f\U000e0100\U000e0141\u180b",
    "tag characters": "a\U000e0041\U000e0042",
    "line ends": "a\n::error::pwned\r\n::error::pwned\r::error::x\u2028::error::y\u0085##[error]z\x0b\x0c",
    "github command": "::error::pwned",
    "github command behind blanks": " \u00a0\u3000::add-mask::pwned",
    "azure command": "##vso[task.setvariable]x",
    "azure command in capitals": "a##VSO[task.setvariable]x",
    "runner command": "##[error]pwned",
    "teamcity command": "##teamcity[buildStatus]",
    "hashes": "###[x####vso[task.x]",
    "lone surrogates": "a\ud800\udc00b\udfff\ud83d",
    "noncharacters": "a\ufffe\U0010ffff\ue000",
    "nul": "\x00a\x00",
    "backticks": "`a``b```\\`",
    "markup": '"\'<script>&amp;{detail}%s%(x)s{0}',
    "combining": "a" + "\u0301" * 300,
    "long": "x" * 100_000,
    "long and wide": "漢" * 3_000,
}  # fmt: skip


def _chat(x: str) -> list[Any]:
    def call(identifier: str | None, arguments: Any, name: str = x) -> dict[str, Any]:
        return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}

    messages = [
        {"role": "user", "content": x, x: x},
        {"role": "assistant", "content": None, "tool_calls": [call(x, "{"), call(x, '{"a": 1}'), call(x + "2", x)]},
        {"role": "tool", "tool_call_id": x, "name": x + "n", "content": x},
        {"role": "tool", "tool_call_id": x, "name": x, "content": "other"},
        {"role": "tool", "tool_call_id": x + "3", "name": x, "content": x},
        {"role": x, "content": x},
        {"role": "assistant", "content": [{"type": x, "id": x}, {"type": "tool_use", "id": x, "name": x, "input": []}]},
        {"role": "assistant", "content": "", "tool_calls": [call(None, "{}"), call("", [x]), {"id": x, x: x}]},
        {"role": "human", "content": {x: x}},
        {"role": "assistant", "content": "so: <tool_call>" + x, "function_call": {"name": x, "arguments": x}},
    ]  # fmt: skip
    line = {"conversation_id": x, "uuid": x, "parentUuid": x + "0", "message": messages[4]}
    return [{"custom_id": x, "model": x, "messages": messages}, {"messages": messages[::-1]}, line, {x: x}, x]


def _blocks(x: str) -> list[Any]:
    use = {"type": "tool_use", "id": x, "name": x, "input": {x: x}}
    result = {"type": "tool_result", "tool_use_id": x, "name": x + "n", "content": x}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": x}]},
        {"role": "assistant", "content": [use, {**use, "input": {x: 1}}, {**use, "id": x + "2", "input": x}]},
        {"role": "user", "content": [result, {**result, "content": "other"}, {**result, "tool_use_id": x + "3"}]},
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": x, "name": x, "input": {}}, {"type": x}]},
        {"role": "user", "content": [{"type": "functionCall", "functionCall": {"id": x, "name": x, "args": x}}]},
        {"role": x, "content": []},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": x, "content": [use]}]},
    ]  # fmt: skip
    return [{"id": x, "model": x, "max_tokens": 9, "messages": messages}, {"messages": messages[::-1]}]


def _speakers(x: str) -> list[Any]:
    call = {"type": "tool_call", "id": x, "name": x, "parameters": {x: x}}
    response = {"type": "tool_response", "callId": x, "toolName": x + "n", "result": x, "error": x}
    history = [
        {"speaker": "human", "blocks": [{"type": "text", "text": x}], "metadata": {"turnId": x}},
        {"speaker": "ai", "blocks": [call, {**call, "parameters": x}, {**call, "id": x + "2"}, {"type": x, "id": 5}]},
        {"speaker": "tool", "blocks": [response, {**response, "callId": x + "3", "isComplete": False}, call]},
        {"speaker": x, "blocks": [x]},
    ]  # fmt: skip
    return [{"session_id": x, "history": history}, {"history": history[::-1]}]


WIRES = {"openai-chat": _chat, "anthropic": _blocks, "canonical": _speakers}


def _twice(key: str) -> bytes:
    """A record with a key of that name twice, inside and outside of a message: no dictionary can say that."""
    name = json.dumps(key)
    message = f'{{"role": "user", "content": "a", {name}: NaN, {name}: 2}}'
    return f'{{"messages": [{message}], {name}: 01, {name}: None}}'.encode()


@pytest.mark.parametrize("poison", POISONS)
def test_names_ids_and_roles_cannot_steer_a_terminal_or_a_runner(poison: str, tmp_path: Path) -> None:
    x = POISONS[poison]
    paths = []
    for wire, records in WIRES.items():
        lines = [json.dumps(record).encode() for record in records(x)]
        if poison not in ("lone surrogates", "long"):  # which have no spelling in UTF-8, or none other
            lines += [json.dumps(record, ensure_ascii=False).encode() for record in records(x)]
        path = tmp_path / f"{wire}.jsonl"
        path.write_bytes(b"\n".join([*lines, _twice(x), b'{"messages": [{"role": "user", "content": "', b""]))
        paths.append(path)
    reports = lint_in_all_formats(*paths, "--show-content", "full", "--statistics", folder=tmp_path)
    summary = json.loads(reports["json"])["summary"]
    assert summary["files"] == 3
    assert len(summary["rules"]) >= 15
    names = max(map(len, map(str, paths)))
    for kind in ("text", "concise"):
        longest = max(reports[kind].decode().split("\n"), key=columns)
        assert columns(longest) < names + 700, f"{kind}: {longest[:200]}"


ORPHAN = b'{"messages": [{"role": "tool", "tool_call_id": "c", "content": "r"}]}\n'


@pytest.mark.parametrize("poison", [name for name in POISONS if not name.startswith(("long", "nul"))])
def test_file_names_cannot_steer_a_terminal_or_a_runner(poison: str, tmp_path: Path) -> None:
    x = POISONS[poison].replace("/", "")[:60].encode("utf-8", "surrogatepass") + b"\xff"
    bad, skipped, stdin_name = (os.fsdecode(part) for part in (b"1" + x + b".jsonl", x + b".jsonl", x))
    (tmp_path / bad).write_bytes(ORPHAN + b"{\n")
    (tmp_path / skipped).write_bytes(b"nothing known\n")
    arguments = (bad, skipped, "-", "--stdin-filename", stdin_name)
    reports = lint_in_all_formats(*arguments, folder=tmp_path, cwd=tmp_path, stdin=ORPHAN)
    assert json.loads(reports["json"])["summary"]["rules"] == {"orphan-result": 2, "unreadable-record": 1}
    missing = lint(stdin_name + "-is-missing", cwd=tmp_path)
    assert_ended_well(missing)
    assert missing.returncode == (3 if b"[" in x else 2)  # a bracket makes it a pattern


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir()))
def test_a_hostile_file_is_survived(name: str, tmp_path: Path) -> None:
    lint_in_all_formats(FIXTURES / name, "--show-content", "full", folder=tmp_path)


@pytest.mark.parametrize("wire", WIRES)
def test_hostile_files_are_survived_whatever_they_are_said_to_be(wire: str, tmp_path: Path) -> None:
    paths = sorted(FIXTURES.iterdir())
    assert len(paths) > 12
    reports = lint_in_all_formats(*paths, "--format", wire, "--show-content", "full", folder=tmp_path)
    assert json.loads(reports["json"])["summary"]["files"] == len(paths)


def _noise(seed: int, size: int) -> bytes:
    return hashlib.shake_128(str(seed).encode()).digest(size)


FAULTS = (b"", b'"', b"}", b"\xff", b"\n", b"[[", b"\\", b"\x00")


def _mangled(wire: str, seed: int) -> bytes:
    """A record with a few bytes changed, cut out or put in."""
    records = WIRES[wire]("c1")
    data = bytearray(json.dumps(records[seed % 2]).encode())
    dice = iter(_noise(seed, 64))
    for _ in range(next(dice) % 4 + 1):
        place = (next(dice) * 256 + next(dice)) % len(data)
        data[place : place + next(dice) % 4] = FAULTS[next(dice) % len(FAULTS)]
    return bytes(data)


def test_random_and_mangled_files_are_survived(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for seed in range(60):
        (folder / f"noise-{seed}.jsonl").write_bytes(_noise(seed, 40 * seed))
        for wire in WIRES:
            records = [_mangled(wire, seed * 8 + part) for part in range(8)]
            (folder / f"{wire}-{seed}.jsonl").write_bytes(b"\n".join(records))
            (folder / f"{wire}-{seed}.json").write_bytes(b"[" + b",\n".join(records) + b"]")
    reports = lint_in_all_formats(folder, "--show-content", "full", folder=tmp_path)
    summary = json.loads(reports["json"])["summary"]
    assert summary["files"] > 150
    assert summary["rules"]["unreadable-record"] > 400


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


def _report(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_names_that_are_no_files_are_answered_with_a_sentence(tmp_path: Path) -> None:
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


def test_a_dangling_link_in_a_folder_is_no_internal_error_where_somebody_watches(tmp_path: Path) -> None:
    (tmp_path / "dangling.jsonl").symlink_to("nowhere")
    (tmp_path / "good.jsonl").write_bytes(ORPHAN)
    watcher, terminal = os.openpty()  # progress is for terminals, and it asks for sizes
    command = [*LINT, str(tmp_path), "--output-format", "jsonl"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, env=ENVIRONMENT, check=False)
    os.close(terminal)
    said = b""
    with contextlib.suppress(OSError):  # what a terminal answers when nobody ever wrote to it
        said = b""
    with contextlib.suppress(OSError):  # a terminal on which nothing was said reads as an error
        said = os.read(watcher, 9999)
    os.close(watcher)
    assert done.returncode in (1, 2), said
    assert _report(done)[0]["rule"] == "orphan-result"


def test_a_file_that_may_not_be_read_is_named_and_the_rest_is_linted(tmp_path: Path) -> None:
    locked = tmp_path / "a.jsonl"
    locked.write_bytes(ORPHAN)
    locked.chmod(0)
    (tmp_path / "b.jsonl").write_bytes(ORPHAN)
    # root may read anything, unless it gives that up
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if prefix and not shutil.which("setpriv"):
        pytest.skip("needs a user who is not root, or setpriv")
    done = lint(tmp_path, "--output-format", "jsonl", prefix=prefix)
    assert_ended_well(done)
    assert done.returncode == 2
    assert b"a.jsonl: permission denied" in done.stderr
    assert _report(done)[0]["path"].endswith("b.jsonl")


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that opens and cannot be read")
def test_a_file_that_fails_while_it_is_read_is_named_and_the_rest_is_linted(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_bytes(ORPHAN)
    done = lint("/proc/self/mem", path, "--output-format", "jsonl")
    assert_ended_well(done)
    assert done.returncode == 2
    assert _report(done)[0]["path"].endswith("b.jsonl")


SESSION = b"".join(
    b'{"role": "tool", "tool_call_id": "c%d", "content": "r"}\n' % index for index in range(3000)
)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_reader_that_goes_away_hears_no_complaint(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(SESSION)
    with subprocess.Popen(
        [*LINT, str(path), "--output-format", kind], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stderr is not None
        assert len(running.stdout.read(1)) == 1
        running.stdout.close()
        assert running.stderr.read() == b""
    # 141 is what a shell reports for a program that a closed pipe stopped
    assert running.returncode in (0, 1, 2, 3, 141)


def test_a_named_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    pipe, path = tmp_path / "pipe", tmp_path / "a.jsonl"
    os.mkfifo(pipe)
    path.write_bytes(SESSION)
    threading.Thread(target=pipe.write_bytes, args=(SESSION,), daemon=True).start()
    piped = _report(lint(pipe, "--output-format", "jsonl", timeout=5))
    plain = _report(lint(path, "--output-format", "jsonl"))
    assert len(piped) == len(plain) == 3001
    for one, other in zip(piped[:-1], plain[:-1], strict=True):
        assert [one[key] for key in ("line", "byte_offset", "call_id")] == [
            other[key] for key in ("line", "byte_offset", "call_id")
        ]


def test_a_named_pipe_in_a_folder_does_not_hang_the_run(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_bytes(ORPHAN)
    done = lint(tmp_path, "--output-format", "jsonl", timeout=5)
    assert_ended_well(done)
    assert _report(done)[0]["path"].endswith("b.jsonl")


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


MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""
"""Run by a process of its own: what a child is charged with starts at the size of the one that started it."""


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


def _filled(count: int, each: bytes) -> bytes:
    return b'{"messages": [{"role": "user", "content": "hi"}], "t": [' + b",".join([each] * count) + b"]}\n"


OPEN_CALLS = {
    "role": "assistant",
    "tool_calls": [{"id": f"c{at:040}", "function": {"name": "f", "arguments": "{}"}} for at in range(60)],
}
CROWDS: dict[str, Callable[[int], bytes]] = {
    "bad values": lambda count: _filled(count, 'NaN, "é'.encode() + b"x" * 100 + b'"'),
    "bad bytes": lambda count: _filled(1, b'"' + b"\x01\\q" * (count // 2) + b'"'),
    "joined records": lambda count: ORPHAN.strip() * (count // 2),
    "duplicate keys": lambda count: b'{"messages": [], ' + b", ".join([b'"a": 1'] * count) + b', "model": "m"}',
    "orphans": lambda count: _messages(count, lambda at: _result(f"c{at}")),
    "orphans beside open calls": lambda count: _messages(count, lambda at: _result(f"r{at:040}") if at else OPEN_CALLS),
    "one id": lambda count: _messages(count, lambda _: _result("c")),
    "wrong kinds": lambda count: _messages(count, lambda at: {"role": "user", "content": at}),
    "empty turns": lambda count: _messages(count, lambda _: {"role": "user", "content": ""}),
    "marks in code": lambda count: _messages(1, lambda _: {"role": "assistant", "content": "`<tool_call>` " * count}),
}  # fmt: skip


def _result(identifier: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": identifier, "content": "r"}


def _messages(count: int, build: Callable[[int], Any]) -> bytes:
    return json.dumps({"messages": [build(index) for index in range(count)]}).encode()


@pytest.mark.parametrize("case", CROWDS)
def test_ten_thousand_findings_in_one_record_take_seconds(case: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(CROWDS[case](10_000))
    start = time.monotonic()
    done = lint(path, "--format", "openai-chat", "--output-format", "jsonl", timeout=12)
    assert time.monotonic() - start < 10
    assert_ended_well(done)
    assert len(_report(done)) >= (9_990 if case != "marks in code" else 1)


@pytest.mark.parametrize(
    ("case", "size"), [("bad values", 1_000), ("duplicate keys", 1_000), ("marks in code", 4_000)]
)
def test_eight_times_as_much_takes_about_eight_times_as_long(case: str, size: int, tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        path = tmp_path / f"{count}.jsonl"
        path.write_bytes(CROWDS[case](count))
        start = time.monotonic()
        lint(path, "--format", "openai-chat", "--output-format", "jsonl")
        return time.monotonic() - start

    startup = min(seconds(1) for _ in range(3))
    few, many = (seconds(count) - startup for count in (size, 8 * size))
    assert many < 24 * max(few, 0.1), (startup, few, many)  # 64 times where the cost is quadratic


def test_ids_as_long_as_a_book_are_compared_in_seconds(tmp_path: Path) -> None:
    asked, answered = ("".join(map(chr, (0x4E00 + byte for byte in _noise(seed, 50_000)))) for seed in (1, 2))
    calls = {
        "role": "assistant",
        "tool_calls": [{"id": asked, "function": {"name": asked, "arguments": "{}"}}] * 2,
    }
    path = tmp_path / "a.jsonl"
    path.write_bytes(_messages(3, lambda at: {**_result(answered), "name": answered} if at else calls))
    done = lint(path, "--output-format", "jsonl", timeout=10)
    assert_ended_well(done)
    assert "orphan-result" in {one.get("rule") for one in _report(done)}


SAID = "hunter2"
KEY = "correcthorse"
NAMES = frozenset({
    "role", "speaker", "type", "id", "name", "tool_call_id", "tool_use_id", "callId", "toolName", "turnId", "model",
    "custom_id", "conversation_id", "session_id", "uuid", "parentUuid",
})  # fmt: skip
"""Keys whose values name things: a report may quote these."""


def _filled_with_content(value: Any, key: str = "") -> Any:
    """The same faults, and the secret wherever a conversation keeps what was said."""
    if isinstance(value, list):
        return [_filled_with_content(item) for item in value]
    if isinstance(value, dict):
        filled = {name: _filled_with_content(item, name) for name, item in value.items()}
        has_parts = {"role", "speaker", "type"} & set(value)
        return {**filled, "unknown": {"deep": [SAID]}, KEY: 1} if has_parts else filled
    return value if key in NAMES or not isinstance(value, str) or not value else f"{value} {SAID}"


def _with_faults_in_content(wire: str) -> Iterator[bytes]:
    """Cut inside what was said, written badly inside it, run together with it."""
    said = SAID.encode()
    for record in WIRES[wire]("c1"):
        line = json.dumps(_filled_with_content(record)).encode()
        yield line
        if said not in line:
            continue
        yield from (line[: line.index(said) + cut] for cut in (3, len(said)))
        yield from (line.replace(said, said + bad + said) for bad in (b"\x01", b"\xff", b"\\q", b"\\ud800"))
        yield line.replace(b'["' + said + b'"]', b"[" + said + b"]")
        yield from (line.replace(b'"', b"'"), line + said, line + b'{"messages": "' + said + b'"}')


@pytest.mark.parametrize("wire", WIRES)
def test_no_report_holds_content_unless_it_was_asked_for(wire: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(_with_faults_in_content(wire)) + b"\n")
    silent = lint_in_all_formats(path, "--format", wire, folder=tmp_path)
    assert len(json.loads(silent["json"])["summary"]["rules"]) >= 10
    for kind, report in silent.items():
        for secret in (SAID.encode(), KEY.encode()):
            assert secret not in report, (kind, report[: report.find(secret) + 200][-500:])
    for amount in ("excerpt", "full"):
        shown = lint_in_all_formats(path, "--format", wire, "--show-content", amount, folder=tmp_path)
        assert {kind for kind, report in shown.items() if SAID.encode() in report} == {"text"}


PIECES = (
    *map(chr, range(32)),
    *"#:[]v o{\\",
    "u{",
    "##vso[",
    "::",
    "漢",
    *sorted(DRAWS_NOTHING)[:60],
    "\U000e0041",
)
TEXTS = st.text(max_size=30) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
MANY = settings(max_examples=500, deadline=None)


@MANY
@given(TEXTS)
@example("###vso[")
@example("\ud800\U0010ffff\x7f")
def test_what_is_made_visible_draws_something_where_it_stands(text: str) -> None:
    shown = visible(text)
    assert not hidden_in(shown)
    assert all(char.isprintable() or unicodedata.category(char) == "Zs" for char in shown)
    assert "##[" not in shown
    assert "##vso[" not in shown.lower()
    assert visible(shown) == shown
    assert shown == text or "\\u{" in shown
    if text.isascii() and text.isprintable() and "##" not in text:
        assert shown == text


@MANY
@given(TEXTS, st.integers(1, 40))
@example("漢漢漢", 5)
@example("e\u0301" * 9, 9)
def test_clipped_text_fits_and_is_the_beginning_of_the_text(text: str, width: int) -> None:
    shown = visible(text)
    clipped = clip(shown, width)
    assert columns(clipped) <= width
    if columns(shown) <= width:
        assert clipped == shown
    else:
        assert clipped.endswith("…")
        assert shown.startswith(clipped[:-1])
        assert columns(clipped) >= width - 1


WIDTHS = {"": 0, "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "ﾊﾝ": 2, "😀": 2, "ｆｕｌｌ": 8, "…": 1}


@pytest.mark.parametrize(("text", "width"), WIDTHS.items())
def test_columns_are_those_of_a_terminal(text: str, width: int) -> None:
    assert columns(text) == width


@MANY
@given(TEXTS | st.sampled_from(["::error::x", "\u3000::x", "##[x", " ##x", "##"]))
def test_a_line_never_starts_with_a_runner_command(text: str) -> None:
    shown = line_start(text)
    assert not shown.lstrip().startswith(("::", "##"))
    assert shown in (visible(text), "./" + visible(text))
