"""Reports for other systems have the required format, and agree with the JSON report.

Tests each format's shape, its limits, its columns, and unreadable records. SARIF and JUnit have their own modules.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hostile import FORMATS, lint
from read_outputs import DIAGNOSTIC, GITLAB, RESULT, checkstyle, commands, page
from reporting import conversation, findings, lines, logs_in, output, row, written
from turnlint.engine import Crash
from turnlint.model import SEVERITIES
from turnlint.report import KINDS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return logs_in(tmp_path)


# Columns.

WIDE = "a𐐀b"
PLACED = {
    "at the start of a line": [conversation(WIDE, sound=False)],
    "behind other records of an array": [[conversation(WIDE), conversation("s", sound=False, text=WIDE)]],
    "behind another record on the line": [
        json.dumps(conversation(WIDE), ensure_ascii=False) + " " + json.dumps(conversation("s", sound=False, text=WIDE), ensure_ascii=False),
    ],
}  # fmt: skip


@pytest.mark.parametrize("records", PLACED.values(), ids=PLACED)
def test_columns_are_counted_as_each_reader_counts_them(records: list[Any], tmp_path: Path) -> None:
    data = lines(*records).encode()
    (tmp_path / "a.jsonl").write_bytes(data)
    places = [
        finding
        for finding in json.loads(output(tmp_path, "json", "a.jsonl"))["findings"]
        if finding["code"] == "PA202"
    ]
    (place,) = places
    start, end = place["byte_offset"], place["byte_end"]
    before, through = data[:start].decode(), data[:end].decode()
    assert "𐐀" in before
    assert data[start:end] == b'"c9"'
    in_chars = len(before) + 1, len(through) + 1
    in_bytes = start + 1, end + 1
    in_units = tuple(len(text.encode("utf-16-le")) // 2 + 1 for text in (before, through))
    assert len({in_chars, in_bytes, in_units}) == 3
    assert place["column"] == in_chars[0]

    (region,) = [
        result["locations"][0]["physicalLocation"]["region"]
        for result in json.loads(output(tmp_path, "sarif", "a.jsonl"))["runs"][0]["results"]
        if result["ruleId"] == "PA202"
    ]
    assert (region["startColumn"], region["endColumn"]) == in_chars
    (where,) = [
        item["location"]["range"]
        for item in map(json.loads, output(tmp_path, "rdjsonl", "a.jsonl").splitlines())
        if item["code"]["value"] == "PA202"
    ]
    assert (where["start"]["column"], where["end"]["column"]) == in_bytes
    (same,) = [
        diagnostic["location"]["range"]
        for diagnostic in json.loads(output(tmp_path, "rdjson", "a.jsonl"))["diagnostics"]
        if diagnostic["code"]["value"] == "PA202"
    ]
    assert same == where
    (error,) = [
        one
        for _, one in checkstyle(output(tmp_path, "checkstyle", "a.jsonl"))
        if one["source"].endswith(".PA202")
    ]
    assert int(error["column"]) == in_chars[0]
    (found_column,) = [
        command.properties
        for command in commands(output(tmp_path, "github", "a.jsonl"))
        if command.properties["title"].startswith("PA202")
    ]
    assert (int(found_column["col"]), int(found_column["endColumn"])) == in_units


def test_a_range_over_several_lines_has_its_end(tmp_path: Path) -> None:
    text = json.dumps([conversation("s", text=WIDE), {"messages": [{"role": "user", "content": [[WIDE]]}]}],
                      ensure_ascii=False, indent=1)  # fmt: skip
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    for finding in json.loads(output(tmp_path, "json", "a.json"))["findings"]:
        piece = text.encode()[: finding["byte_end"]].decode()
        end = piece.count("\n") + 1, len(piece) - piece.rfind("\n")
        (region,) = [
            result["locations"][0]["physicalLocation"]["region"]
            for result in json.loads(output(tmp_path, "sarif", "a.json"))["runs"][0]["results"]
            if result["partialFingerprints"]["turnlint/v1"] == finding["fingerprint"]
        ]
        assert (region["endLine"], region["endColumn"]) == end
        assert region["endLine"] > region["startLine"]
    (command,) = commands(output(tmp_path, "github", "a.json"))
    assert not {"col", "endColumn"} & command.properties.keys()


# GitHub's log and its summary page.


def test_annotations_name_the_position_and_the_rule(folder: Path) -> None:
    found_commands = commands(output(folder, "github", "."))
    for one, finding in zip(found_commands, findings(folder), strict=True):
        assert one.name == "error"
        assert one.properties["file"] == "logs/a b#1.jsonl"
        assert int(one.properties["line"]) == finding["line"]
        assert one.properties["title"] == f"{finding['code']} {finding['rule']}"
        assert one.message.split("\n")[0] == finding["message"]


def test_findings_that_github_would_not_show_are_in_the_log() -> None:
    rows = [row(severity, number) for severity in SEVERITIES for number in range(1, 31)]
    text = written("github", *rows, Crash("rule x", "a.jsonl", 3, "KeyError: 'secret'"), complete=False)
    found_commands = commands(text)
    counts = {
        name: sum(command.name == name for command in found_commands)
        for name in ("error", "warning", "notice")
    }
    assert counts == {"error": 10, "warning": 10, "notice": 10}
    assert sum("[error] unanswered-call: finding" in line for line in text.splitlines()) == 21
    assert "22 errors, 20 warnings, 21 info more" in found_commands[-2].message
    assert "the report is incomplete" in found_commands[-1].message
    assert "secret" not in text


def test_the_summary_is_appended_to_the_output_of_the_step(folder: Path) -> None:
    summary = folder / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    lint("logs", "--output", f"github-summary:{summary}", cwd=folder)
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n# turnlint\n\nFound 3 errors in 1 file")
    assert "| `orphan-result` | 1 |" in text


def test_the_summary_is_short_for_any_number_of_findings() -> None:
    rows = [row(("info", "error")[number % 2], number) for number in range(1, 40_001)]
    text = written("github-summary", *rows)
    assert len(text) < 10_000
    assert "Found 20,000 errors, 20,000 info in 1 file" in text
    assert text.count("\n- **error**") == 20
    assert "And 39,980 more." in text


# Markdown.


def test_markdown_lists_all_findings_under_their_files(folder: Path) -> None:
    text = output(folder, "markdown", ".")
    shown, code = page(text)
    assert shown.count("<li>") == len(findings(folder))
    assert "logs/a b#1.jsonl" in code
    for finding in findings(folder):
        assert f"{finding['code']} {finding['rule']}" in code
        assert f"line {finding['line']}, column {finding['column']}" in shown
    assert "<table>" in shown


# GitLab and reviewdog.


def test_the_report_matches_the_schema_of_gitlab(folder: Path) -> None:
    document = json.loads(output(folder, "gitlab", "."))
    GITLAB.validate(document)
    expected = findings(folder)
    assert [item["fingerprint"] for item in document] == [item["fingerprint"] for item in expected]
    assert len({item["fingerprint"] for item in document}) == len(document)
    assert [item["location"]["lines"]["begin"] for item in document] == [item["line"] for item in expected]
    assert json.loads(output(folder, "gitlab", "sound.jsonl")) == []


def test_each_line_matches_the_schema_of_reviewdog(folder: Path) -> None:
    diagnostics = list(map(json.loads, output(folder, "rdjsonl", ".").splitlines()))
    for one, finding in zip(diagnostics, findings(folder), strict=True):
        DIAGNOSTIC.validate(one)
        assert one["location"]["path"] == "logs/a b#1.jsonl"
        assert one["code"]["value"] == finding["code"]
    assert output(folder, "rdjsonl", "sound.jsonl") == ""


def test_the_document_for_reviewdog_has_the_same_content(folder: Path) -> None:
    document = json.loads(output(folder, "rdjson", "."))
    RESULT.validate(document)
    assert document["diagnostics"] == list(map(json.loads, output(folder, "rdjsonl", ".").splitlines()))
    empty = json.loads(output(folder, "rdjson", "sound.jsonl"))
    assert empty == {"source": {"name": "turnlint"}, "diagnostics": []}


# Checkstyle.


def test_checkstyle_has_each_finding_under_its_file(folder: Path) -> None:
    (folder / "z.jsonl").write_text(lines(conversation("s-9", sound=False)), encoding="utf-8")
    errors = checkstyle(output(folder, "checkstyle", "."))
    expected = findings(folder)
    assert {item["path"] for item in expected} == {"logs/a b#1.jsonl", "z.jsonl"}
    for (path, error), finding in zip(errors, expected, strict=True):
        assert path == finding["path"].removeprefix("./")
        assert (int(error["line"]), int(error["column"])) == (finding["line"], finding["column"])
        assert error["severity"] == finding["severity"]
        assert error["message"] == f"{finding['rule']}: {finding['message']}"
        assert error["source"] == f"turnlint.{finding['fault']}.{finding['code']}"
    assert checkstyle(output(folder, "checkstyle", "sound.jsonl")) == []


def test_checkstyle_reports_a_crash_without_content() -> None:
    text = written(
        "checkstyle", row("info", 3), Crash("rule x", "b.jsonl", 7, "KeyError: 'secret'"), complete=False
    )
    (_, one), (path, crash) = checkstyle(text)
    assert (one["line"], one["column"], one["severity"]) == ("3", "1", "info")
    assert (path, crash["line"], crash["source"]) == ("b.jsonl", "7", "turnlint.crash")
    assert "secret" not in text
    ((path, left_out),) = checkstyle(written("checkstyle", complete=False))
    assert (path, left_out["source"]) == ("turnlint", "turnlint.incomplete")


# All formats.


def test_one_run_writes_several_reports_and_they_are_deterministic(folder: Path) -> None:
    files = {kind: folder / f"out.{kind}.txt" for kind in FORMATS}
    outputs = [argument for kind, file in files.items() for argument in ("--output", f"{kind}:{file}")]
    done = lint("logs", "sound.jsonl", "notes.json", *outputs, cwd=folder, env={"PYTHONHASHSEED": "1"})
    assert done.returncode == 1
    for kind, file in files.items():
        single = lint(
            "logs", "sound.jsonl", "notes.json", "--output-format", kind, cwd=folder,
            env={"PYTHONHASHSEED": "2", "COLUMNS": "100"},
        )  # fmt: skip
        assert single.stdout.decode() == file.read_text(encoding="utf-8"), kind


def test_every_format_is_listed_and_a_misspelled_name_gets_a_suggestion(folder: Path) -> None:
    assert set(FORMATS) == set(KINDS)
    assert "did you mean 'sarif'" in lint("--output", "sarf:x", cwd=folder).stderr.decode()
    shown = " ".join(lint("--help").stdout.decode().split()).replace("- ", "-")
    assert all(re.search(rf"\b{kind}\b", shown) for kind in FORMATS)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_report_loads_no_module_of_the_others(kind: str, folder: Path) -> None:
    program = (
        "import sys, os; os._exit = lambda code: None\n"
        f"sys.argv = ['turnlint', 'lint', 'sound.jsonl', '--output-format', {kind!r}]\n"
        "from turnlint.cli import main\nmain()\nprint('\\n'.join(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    sinks = {f"turnlint.report.{item.module}" for item in KINDS.values()}
    needed = {f"turnlint.report.{KINDS[kind].module}"} | (
        {"turnlint.report.concise"} if kind in ("github", "junit") else set()
    )
    assert set(done.stderr.split()) & sinks == needed
