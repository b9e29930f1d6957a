"""Inputs that are easily misread, each with the expected findings.

Every case is a small file as a logger could have left it. The table has the expectations for bytes; other modules
test the display of findings.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from turnlint.carrying import lines
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Skipped, Tally, lint
from turnlint.rows import Row

USER = {"role": "user", "content": "go"}
REPLY = {"role": "assistant", "content": "so it is"}
CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "done"}
FAULTY = {"model": "m", "messages": [USER, CALLING, USER]}
USE = {"type": "tool_use", "id": "t1", "name": "run", "input": {}}
USED = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}


def text(*records: Any) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def turn_of(speaker: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "blocks": list(blocks), **more}


def response(result: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_response", "callId": "c1", "toolName": "run", "result": result, **more}


CALLING_TURN = turn_of("ai", {"type": "tool_call", "id": "c1", "name": "run", "parameters": {}})
LOST = turn_of(
    "tool", response(None, error="Tool call interrupted or cancelled"), metadata={"synthetic": True}
)
EXPIRED = {"custom_id": "x", "result": {"type": "expired"}}
ORPHANED = {"request": {"model": "m", "messages": [USER, {**ANSWER, "tool_call_id": "gone"}]},
            "response": {"choices": [{"message": REPLY}, {"message": REPLY}]}}  # fmt: skip

CASES: dict[str, tuple[str, bytes, list[tuple[str, int]]]] = {
    "a log that is one record, and torn": ("x.jsonl", text(FAULTY)[:-9], [("ST101", 1)]),
    "a document that is torn": ("x.json", json.dumps(FAULTY, indent=1).encode()[:-5], [("ST101", 25)]),
    "a torn line in front of sound ones": ("x.json", b'{"messages": [{"role": "us\n' + text({"messages": [USER]}), [("ST101", 1)]),
    "many answers without a conversation in front of one": ("x.jsonl", text(*[EXPIRED] * 30, FAULTY), [("PA201", 31)]),
    "a notice in place of the messages": ("x.jsonl", text({"messages": [USER]}, {"model": "m", "messages": "[removed]"}), [("ST103", 2)]),
    "a response of the wrong kind": ("x.jsonl", text({"request": {"messages": [USER]}, "response": {"choices": [{"message": {"role": 5}}]}}), [("ST103", 1)]),
    "one fault of the request, two choices": ("x.jsonl", text(ORPHANED), [("PA202", 1)]),
    "a call only in content beside one in both places": (
        "x.jsonl",
        text({"messages": [USER, {"role": "assistant", "content": [{**USE, "id": "c1"}, {**USE, "id": "c2"}], "tool_calls": [CALL]},
                           ANSWER, {**ANSWER, "tool_call_id": "c2"}]}),
        [("ST116", 1)],
    ),
    "a tool prints what a repair would write": (
        "x.jsonl", text({"messages": [USER, CALLING, {**ANSWER, "content": "raise Error('No result provided')"}, ANSWER]}), [("ST107", 1)],
    ),
    "a marked placeholder, then the answer": ("x.jsonl", text({"history": [CALLING_TURN, LOST, turn_of("tool", response("ok"))]}), [("PA205", 1)]),
    "one key, once raw and once escaped": ("x.jsonl", '{"messages": [{"role": "user", "content": "a", "é": 1, "\\u00e9": 2}]}\n'.encode(), [("ST102", 1)]),
    "lines of two formats in one file": (
        "x.jsonl", text(*[{"session_id": "a", **REPLY}] * 24, *({"session_id": "b", **item} for item in (CALLING_TURN, turn_of("tool", response("ok"))))), [],
    ),
    "a body with nulls is no training sample": ("x.jsonl", text({"tools": None, "functions": None, "messages": [USER, CALLING]}), [("PA206", 1)]),
    "a type that is a list": (
        "x.jsonl",
        text({"messages": [USER, {"role": "assistant", "content": [USE]},
                           {"role": "user", "content": [{**USED, "content": [{"type": ["tool_use"]}]}]}]}),
        [],
    ),
    "a request of another wire among plain talk": (
        "x.jsonl", text(*[{"messages": [USER, REPLY]}] * 9, {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "x"}}]}]}), [("PA202", 10), ("PR321", 10)],
    ),
    "an event among plain talk": ("x.jsonl", text(*[{"messages": [USER, REPLY]}] * 2, {"event": "x"}), [("ST103", 3)]),
    "a new kind of block beside a call": ("x.jsonl", text({"messages": [USER, {"role": "assistant", "content": [USE, {"type": "future"}]}, USER]}), [("PA201", 1)]),
    "an array of records on one line": ("x.jsonl", text([FAULTY, {"messages": [USER]}, FAULTY]), [("PA201", 1), ("PA201", 1)]),
    "no input where the wire wants an object": (
        "x.jsonl", text({"messages": [USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "run"}]}, {"role": "user", "content": [USED]}]}), [("ST106", 1)],
    ),
    "no ids on a wire that always has them": (
        "x.jsonl",
        text({"messages": [USER, {"role": "assistant", "content": [{"type": "tool_use", "name": "run", "input": {}}]},
                           {"role": "user", "content": [{"type": "tool_result", "content": "done"}]}]}),
        [("ST104", 1), ("ST104", 1)],
    ),
    "a result that is a number": ("x.jsonl", text({"messages": [USER, CALLING, {**ANSWER, "content": 5}]}), [("ST103", 1)]),
    "a NUL in a key is no UTF-16": ("x.jsonl", b'{"\x00": 1, "messages": [{"role": "user", "content": "go"}]}\n', [("ST101", 1)]),
    "records as Python prints them": ("x.jsonl", str(FAULTY).encode() + b"\n", [("ST101", 1)]),
    "words in front of a document": ("x.jsonl", b"INFO started\n" + text({"messages": [USER]}), [("ST101", 1)]),
}  # fmt: skip


def events(path: Path, **options: Any) -> tuple[list[Row], Tally]:
    chosen = Options(**options)
    found = list(lint(Source(path.name, str(path)), chosen, Book(chosen)))
    assert not [event for event in found if isinstance(event, Skipped)]
    tally = found[-1]
    assert isinstance(tally, Tally)
    return [event for event in found if isinstance(event, Row)], tally


@pytest.mark.parametrize("story", CASES)
def test_a_case_has_the_expected_findings(story: str, tmp_path: Path) -> None:
    name, data, expected = CASES[story]
    path = tmp_path / name
    path.write_bytes(data)
    rows, _ = events(path)
    assert sorted((row.finding.code, row.place.line) for row in rows) == sorted(expected)


@pytest.mark.parametrize(
    "text", [b"event: ping\ndata: {}\n", b"# Notes\n\nNothing.\n", b"\xff\xd8\xff\xe0JFIF"]
)
def test_text_that_is_no_json_is_skipped(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(text)
    found = list(lint(Source("x.jsonl", str(path)), Options(), Book(Options())))
    assert [type(event) for event in found] == [Skipped, Tally]


def test_each_of_many_equal_findings_is_reported(tmp_path: Path) -> None:
    """Records are released during a run: no finding may be assigned to another record."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(text({"messages": [USER]}) + b"\n" * 500 + text({"messages": [USER]}))
    assert len(events(path)[0]) == 1  # a run of blank lines is one finding
    path.write_bytes(text(*({"session_id": f"s{n}", **ANSWER} for n in range(500))))
    assert len(events(path)[0]) == 500
    path.write_bytes(text(*[{"messages": [USER, ANSWER]}] * 500))
    assert len(events(path)[0]) == 500


def test_a_conversation_that_is_closed_early_may_end_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines.Lines.__init__, "__defaults__", (10,))
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        text(
            {"session_id": "a", **CALLING},
            *[{"session_id": "b", **REPLY}] * 30,
            {"session_id": "a", **ANSWER},
        )
    )
    rows, _ = events(path)
    assert [row.finding.severity for row in rows] == ["info"]


def test_columns_count_from_the_line_and_bytes_from_the_file(tmp_path: Path) -> None:
    one = json.dumps(FAULTY, ensure_ascii=False)
    for name, data in {
        "array.json": f"[{one}, {one}]",
        "pretty.json": f"[\n  {one},\n    {one}\n]",
        "joined.jsonl": one + one,
        "bom.jsonl": "\ufeff" + one + "\n" + one,
        "wide.jsonl": one.replace('"go"', '"é日本😀"') + "\n",
    }.items():
        path = tmp_path / name
        path.write_bytes(data.encode())
        rows, _ = events(path)
        found = [row for row in rows if row.finding.code == "PA201"]
        assert found
        for row in found:
            assert data.encode()[row.place.offset : row.place.end] == b'"c1"'
            assert data.split("\n")[row.place.line - 1][row.place.column - 1 :].startswith('"c1"')


def test_a_finding_has_one_fingerprint_for_all_packings_of_its_file(tmp_path: Path) -> None:
    data = text(*({**item, "n": n} for n in range(3) for item in (USER, CALLING, REPLY)))
    plain, packed = tmp_path / "x.jsonl", tmp_path / "x.jsonl.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data, mtime=0) + b"\0" * 20_000)
    names = []
    for path in (plain, packed):
        chosen = Options(fingerprints=True)
        found = lint(Source("./x.jsonl" if path is plain else "x.jsonl", str(path)), chosen, Book(chosen))
        names.append(
            [(row.finding.code, row.place, row.fingerprint) for row in found if isinstance(row, Row)]
        )
    assert len(names[0]) >= 3
    assert names[0] == names[1]
