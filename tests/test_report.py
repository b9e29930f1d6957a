"""Reports match their contract, and no part of a transcript controls a terminal or a build runner."""

import json
import re
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import to_builtins

from turnlint import testing
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Options, Skipped, Tally, lint
from turnlint.model import Finding, Fix, Location, Record
from turnlint.report import FORMATS, open_sink
from turnlint.report.escape import clip, columns, line_start, visible
from turnlint.report.machine import reported, written
from turnlint.rows import Place, Row

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads((ROOT / "lint" / "turnlint" / "schemas" / "report-v1.json").read_text())
HOSTILE = (
    "\x1b[31m\u202egnp.exe\u2066\r\n::error::pwned\n##vso[task.setvariable]x##[command]\x07\u200b\ud83d`"
)


class Look:
    width = 80
    color = False
    statistics = "rule"
    fails: ClassVar[dict[str, tuple[str, ...]]] = {}
    own = ()
    folds = False
    infos = True


def report(path: Path, kind: str, **options: Any) -> str:
    chosen = Options(view=True, fingerprints=True, spans=True, conversations=True, **options)
    written: list[str] = []
    sink = open_sink(kind, written.append, Look())
    total = Tally()
    for event in lint(Source(path.name, str(path)), chosen, Book(chosen)):
        if isinstance(event, Tally):
            total.add(event)
        else:
            sink.take(event)
    sink.finish(total, complete=not total.crashes)
    return "".join(written)


def broken(times: int = 1, **more: Any) -> str:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"key": "secret-1"}'}}
    messages = [
        {"role": "user", "content": "secret-2"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "secret-3"},
        {"role": "tool", "tool_call_id": "c9", "content": "secret-4"},
    ]
    return "".join(
        json.dumps({"id": f"conv-{index}", "messages": messages, **more}) + "\n" for index in range(times)
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(broken())
    return path


def test_the_schemas_are_valid() -> None:
    for path in (ROOT / "lint" / "turnlint" / "schemas").glob("*.json"):
        Draft202012Validator.check_schema(json.loads(path.read_text()))


def test_the_json_report_fits_its_schema(log: Path) -> None:
    document = json.loads(report(log, "json"))
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)] == []
    assert document["complete"] is True
    assert document["summary"]["findings"] == {"error": 2, "warning": 0, "info": 0}
    assert document["summary"]["rules"] == {"orphan-result": 1, "unanswered-call": 1}
    assert (document["summary"]["calls"], document["summary"]["results"]) == (1, 1)


TEXTS = st.text(max_size=4) | st.sampled_from(['"', "\\", "\x7f", "\ud800", "é##[", "n" * 600])
NAMES = st.none() | TEXTS
INDICES = st.none() | st.integers(0, 9)


def _finding(*some: Any, **more: Any) -> Finding:
    """By default Hypothesis would draw the fields by their types."""
    return Finding(*some, **more)


@given(
    finding=st.builds(
        _finding, TEXTS, TEXTS, st.just("state"), st.just("error"), TEXTS, st.just(Location(Record(1, 0, b""), ())),
        NAMES, INDICES, INDICES, call_id=NAMES, tool=NAMES, provider=NAMES, provider_error=NAMES,
        fix=st.none() | TEXTS.map(lambda title: Fix("lossy", title)),
    ),
    place=TEXTS.map(lambda pointer: Place(1, 2, 3, 4, pointer)),
    more=st.lists(TEXTS, max_size=2),
)  # fmt: skip
def test_a_finding_is_written_as_by_a_json_encoder(finding: Any, place: Any, more: list[str]) -> None:
    row = Row(finding, "a/é.jsonl", place, tuple((note, place) for note in more), fingerprint="0f")
    report = reported(row)
    assert written(report) == json.dumps(to_builtins(report))


def test_the_json_report_without_findings_fits_its_schema(tmp_path: Path) -> None:
    path = tmp_path / "sound.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    document = json.loads(report(path, "json"))
    Draft202012Validator(SCHEMA).validate(document)
    assert document["findings"] == []


def test_lines_agree_with_the_document(log: Path) -> None:
    document = json.loads(report(log, "json"))
    *findings, last = map(json.loads, report(log, "jsonl").splitlines())
    assert findings == document["findings"]
    assert last["summary"] == document["summary"]
    assert last["complete"] is True


def test_bytes_and_pointer_name_the_same_place(log: Path) -> None:
    data = log.read_bytes()
    for finding in json.loads(report(log, "json"))["findings"]:
        value: Any = json.loads(data.splitlines()[finding["line"] - 1])
        for part in finding["pointer"].split("/")[1:]:
            value = value[int(part)] if isinstance(value, list) else value[part]
        assert json.loads(data[finding["byte_offset"] : finding["byte_end"]]) == value == finding["call_id"]
        assert finding["column"] == finding["byte_offset"] + 1


def test_fingerprints_survive_reordering_and_appending(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(broken(3))
    before = {finding["fingerprint"] for finding in json.loads(report(path, "json"))["findings"]}
    path.write_text("".join(reversed(broken(5).splitlines(keepends=True))))
    after = {finding["fingerprint"] for finding in json.loads(report(path, "json"))["findings"]}
    assert len(before) == 6
    assert before < after


def test_equal_findings_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(broken(1200))
    text = report(path, "text")
    assert text.count("unanswered-call: call") == 3
    assert "= 1,197 more findings like this" in text
    assert re.search(r"^orphan-result +1200$", text, re.MULTILINE)
    assert len(json.loads(report(path, "json"))["findings"]) == 2400


@pytest.mark.parametrize("kind", FORMATS)
def test_content_stays_hidden_unless_requested(log: Path, kind: str) -> None:
    assert "secret" not in report(log, kind)
    shown = report(log, kind, content="excerpt")
    assert ("secret-4" in shown) is (kind == "text")
    assert "secret-1" not in shown


def hostile_log(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.jsonl"
    record = {
        "id": HOSTILE,
        "messages": [
            {"role": "user", "content": HOSTILE},
            {"role": HOSTILE, "content": HOSTILE},
            {"role": "assistant", "content": HOSTILE, "tool_calls": [
                {"id": HOSTILE, "type": "function", "function": {"name": HOSTILE, "arguments": HOSTILE}}]},
            {"role": "user", "content": HOSTILE},
            {"role": "tool", "tool_call_id": HOSTILE + "x", "name": HOSTILE, "content": HOSTILE},
            {HOSTILE: 1, "role": "user", "content": {HOSTILE: 2}},
        ],
    }  # fmt: skip
    path.write_text(
        json.dumps(record).replace('{"\\u001b', '{"\\u001b', 1) + "\n" + broken(1, **{HOSTILE: 1})
    )
    return path


@pytest.mark.parametrize("kind", FORMATS)
def test_no_part_of_a_transcript_controls_a_terminal_or_a_runner(tmp_path: Path, kind: str) -> None:
    for name in ("::error::x.jsonl", "##[command]y.jsonl"):
        path = hostile_log(tmp_path).rename(tmp_path / name)
        shown = report(path, kind, content="full")
        assert "PA202" in shown
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u200b\u202e\u2066]", shown)
        assert not re.search(r"^\s*(::(?!(error|warning|notice) (file|title)=)|##)", shown, re.MULTILINE)
        assert kind in ("json", "jsonl") or not re.search(r"##(\[|vso\[)", shown)
        shown.encode()


def test_a_crash_is_reported_and_makes_the_report_incomplete() -> None:
    for kind in FORMATS:
        written: list[str] = []
        sink = open_sink(kind, written.append, Look())
        sink.take(Crash("some-rule", "log.jsonl", 3, "KeyError: \x1b[1m"))
        sink.take(Skipped(Source("x\x1b.json", None)))
        sink.finish(Tally(crashes=1), complete=False)
        text = "".join(written)
        assert "\x1b" not in text
        assert '"complete": false' in text or "some-rule crashed" in text


def test_the_picture_shows_the_conversation(log: Path) -> None:
    assert testing.picture(str(log), "log.jsonl") == (
        "PA201[error] unanswered-call: call `c1` to `look` has no result\n"
        '  --> log.jsonl:1:133   conversation "conv-0"   /messages/1/tool_calls/0/id\n'
        "    |\n"
        '  0 | user        "secret-2"\n'
        "  1 | assistant   c1 look\n"
        "    |             ^^^^^^^ no result follows\n"
        '  2 | user        "secret-3"\n'
        "    |             ---------- the conversation continues here\n"
        "    |\n"
        "    = fix: add a placeholder result that says the outcome is unknown [placeholder]\n"
        "\n"
        "PA202[error] orphan-result: result for `c9` has no matching call\n"
        '  --> log.jsonl:1:306   conversation "conv-0"   /messages/3/tool_call_id\n'
        "    |\n"
        '  2 | user        "secret-3"\n'
        '  3 | tool        c9  "secret-4"\n'
        "    |             ^^ no earlier call has this id\n"
        "    |\n"
        "    = fix: remove the result [lossy]\n"
        "\n"
        "Found 2 errors in 1 file (1 conversation, 4 messages).\n"
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_on_a_terminal_no_line_is_wider_than_the_window(width: int) -> None:
    class Window(Look):
        folds = True

    Window.width = width
    folders = sorted((ROOT / "fixtures" / "rules").iterdir())
    assert len(folders) > 40
    for folder in folders:
        path = next(path for path in sorted(folder.iterdir()) if ".json" in path.name)
        written: list[str] = []
        sink = open_sink("text", written.append, Window())
        total = Tally()
        for event in testing.events_of(str(path), path.name, Options(view=True, content="excerpt")):
            total.add(event) if isinstance(event, Tally) else sink.take(event)
        sink.finish(total, complete=True)
        assert [line for line in "".join(written).split("\n") if columns(line) > width] == [], path.name


def test_escape_keeps_text_and_shows_other_characters() -> None:
    assert visible("Grüße 日本 `x`") == "Grüße 日本 `x`"
    assert visible("a\x1b[0m\n\u202e\ud800") == "a\\u{1b}[0m\\u{a}\\u{202e}\\u{d800}"
    assert line_start("::error::x") == "./::error::x"
    assert columns("日本") == 4
    assert clip("日本語", 4) == "日…"
