"""Repairs beside other damage: records that share a line, line ends, lines that strict parsers refuse, other files."""

import json
from pathlib import Path
from typing import Any

import pytest

from broken_logs import DONE, GAP, GOOD, OPEN, USER, call, calling, fix, log, result, settle
from test_undo import undo


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def lines(*messages: dict[str, Any], end: str = "\n") -> bytes:
    return "".join(json.dumps({"conversation_id": "a", **message}) + end for message in messages).encode()


@pytest.mark.parametrize(
    "rest", [log(GAP), log(GOOD), b' {"a": NaN}\n', b' [{"a": 1}]\n', log(GAP)[:-1] + log(GAP)]
)
def test_records_that_share_a_line_are_split_and_repaired_separately(folder: Path, rest: bytes) -> None:
    path = folder / "joined.jsonl"
    path.write_bytes(log(GAP)[:-1] + rest)
    fix("joined.jsonl", "--report", "report.json")
    once = path.read_bytes()
    first, _, second = once.partition(b"\n")
    assert first.rstrip() + b"\n" == fix("-", stdin=log(GAP)).stdout_bytes
    assert second
    assert b"NaN" not in once
    done = [change["message"] for change in json.loads((folder / "report.json").read_text())["changes"]]
    assert done.count("insert a line break between them") == 1 + rest.count(b"}{")
    fix("joined.jsonl")
    assert path.read_bytes() == once
    assert undo("joined.jsonl").exit_code == 0
    assert path.read_bytes() == log(GAP)[:-1] + rest


def test_text_that_is_no_record_stays_on_the_line(folder: Path) -> None:
    path = folder / "joined.jsonl"
    path.write_bytes(log(GAP)[:-1] + b" no JSON\n")
    run = fix("joined.jsonl")
    assert run.exit_code == 1
    assert "unreadable-record (1 error)" in run.stdout
    assert path.read_bytes() == fix("-", stdin=log(GAP)).stdout_bytes[:-1] + b" no JSON\n"


def test_records_that_share_a_line_of_a_message_log_keep_their_identity(folder: Path) -> None:
    """At any length of the log: a position inside a line is no line number."""
    turns = [USER, calling(call("c1")), result("c1"), DONE]
    log_lines = lines(*turns * 60).splitlines(keepends=True)
    log_lines[4:6] = [log_lines[4].rstrip(b"\n") + log_lines[5]]
    del log_lines[101]
    path = folder / "long.jsonl"
    path.write_bytes(data := b"".join(log_lines))
    run = fix("long.jsonl")
    assert run.exit_code == 0
    after = path.read_bytes().splitlines()
    records = [json.loads(line) for line in after]
    assert [record["role"] for record in records[:6]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert fix("long.jsonl").exit_code == 0
    assert path.read_bytes().splitlines() == after
    assert undo("long.jsonl").exit_code == 0
    assert path.read_bytes() == data


def test_a_line_after_the_last_ends_as_the_others_do(folder: Path) -> None:
    (folder / "w.jsonl").write_bytes(lines(*OPEN, end="\r\n").removesuffix(b"\r\n"))
    assert fix("w.jsonl", "--close-pending").exit_code == 0
    data = (folder / "w.jsonl").read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") == 2


@pytest.mark.parametrize("odd", ["NaN", "1e999", '"\\ud800"'])
def test_a_new_line_is_modelled_on_a_line_that_strict_readers_refuse(folder: Path, odd: str) -> None:
    (folder / "odd.jsonl").write_bytes(lines(*GAP).replace(b'{"conv', f'{{"t": {odd}, "conv'.encode()))
    fix("odd.jsonl", "--level", "placeholder")
    added = (folder / "odd.jsonl").read_bytes().splitlines()[2]
    assert json.loads(added)["tool_call_id"] == "c1"
    assert json.loads(added)["conversation_id"] == "a"


def test_a_log_of_a_folder_is_not_overwritten_unread(folder: Path) -> None:
    """-o names one of several logs."""
    (folder / "foreign.jsonl").unlink()
    before = (folder / "sound.jsonl").read_bytes()
    run = fix(".", "-o", "sound.jsonl")
    assert run.exit_code == 2
    assert "-o needs exactly one input file" in run.stderr
    assert (folder / "sound.jsonl").read_bytes() == before


def test_a_report_is_not_written_to_the_output_file(folder: Path) -> None:
    run = fix("broken.jsonl", "-o", "new.jsonl", "--report", "./new.jsonl")
    assert run.exit_code == 2
    assert "-o and --report name the same file" in run.stderr
    assert not (folder / "new.jsonl").exists()


def test_a_call_that_is_no_object_gets_no_result_without_an_id(folder: Path) -> None:
    odd = {"role": "assistant", "content": None, "tool_calls": [None, 1, *calling(call("c1"))["tool_calls"]]}
    for provider in ("auto", "openai", "kimi"):
        (folder / "odd.jsonl").write_bytes(log([USER, odd, USER, DONE]))
        run = fix("odd.jsonl", "--provider", provider)
        assert run.exit_code == 1, run.output
        messages = json.loads((folder / "odd.jsonl").read_text())["messages"]
        results = [message for message in messages if message["role"] == "tool"]
        assert len(results) == 1
        assert results[0]["tool_call_id"]


def test_a_canonical_id_replaces_no_object(folder: Path) -> None:
    function = {"name": "get_wind", "parameters": {"port": "Oban"}}
    record = {"model": "command-r-08-2024", "message": "", "chat_history": [{"role": "USER", "message": "Wind?"}],
              "tool_results": [{"call": function, "outputs": [{"knots": 8}]}]}  # fmt: skip
    (folder / "a.jsonl").write_text(json.dumps(record) + "\n")
    fix("a.jsonl", "--canonical", "--level", "lossless")
    assert json.loads((folder / "a.jsonl").read_text()) == record
