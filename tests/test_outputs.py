"""Reports for other systems are what those systems take, and say what the JSON report says.

This module owns each format's shape, its limits, its columns, and what becomes of what cannot be judged.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hostile import FORMATS, lint
from read_outputs import DIAGNOSTIC, GITLAB, ROOT, commands, junit, page, sarif
from turnlint import rulebook
from turnlint.engine import Crash, Heard, Tally
from turnlint.model import SEVERITIES, Finding, Fix, Location, Record
from turnlint.report import KINDS, open_sink
from turnlint.rows import Place, Point, Row

ROWS = Record(1, 0, b"")


class Look:
    width = 80
    color = False
    statistics = False
    fails: ClassVar = {"a.jsonl": ("error",)}
    own = ()
    folds = False


def call(identifier: str) -> dict[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": "look", "arguments": "{}"}}


def conversation(name: str | None, *, sound: bool = True, said: str = "hi") -> dict[str, Any]:
    asks = {"role": "assistant", "content": None, "tool_calls": [call("c1")]}
    answers = {"role": "tool", "tool_call_id": "c1" if sound else "c9", "content": "secret-4"}
    messages = [{"role": "user", "content": said}, asks, answers, {"role": "user", "content": "more"}]
    return {**({"id": name} if name else {}), "messages": messages}


def lines(*records: Any) -> str:
    return "".join(
        (one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)) + "\n" for one in records
    )


def output(folder: Path, kind: str, *arguments: str) -> str:
    return lint(*arguments, "--output-format", kind, cwd=folder).stdout.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    sound, broken = conversation("s-1"), conversation("s-2", sound=False)
    text = lines(sound, broken, '{"id": "s-3", "messages": [{"ro', conversation(None))
    (tmp_path / "logs" / "a b#1.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "sound.jsonl").write_text(lines(conversation("s-5")), encoding="utf-8")
    (tmp_path / "notes.json").write_text('{"a": 1}\n', encoding="utf-8")
    return tmp_path


def findings(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output(folder, "json", "."))["findings"]
    assert len(found) >= 3
    return found


# SARIF.


def test_sarif_says_what_the_json_report_says(folder: Path) -> None:
    document = sarif(output(folder, "sarif", "."))
    (run,) = document["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"][0]["executionSuccessful"] is True
    assert ROOT in run["originalUriBaseIds"]
    expected = sorted(findings(folder), key=lambda one: SEVERITIES.index(one["severity"]))
    for result, finding in zip(run["results"], expected, strict=True):
        place = result["locations"][0]
        assert result["ruleId"] == finding["code"]
        assert (
            result["level"] == {"error": "error", "warning": "warning", "info": "note"}[finding["severity"]]
        )
        assert result["message"]["text"].startswith(finding["message"])
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "logs/a%20b%231.jsonl"
        assert place["physicalLocation"]["region"]["startLine"] == finding["line"]
        assert place["physicalLocation"]["region"]["startColumn"] == finding["column"]
        assert place["logicalLocations"][0]["fullyQualifiedName"] == finding["pointer"]
        assert result["partialFingerprints"]["turnlint/v1"] == finding["fingerprint"]
        assert len(result["relatedLocations"]) == len(finding["related"])


def test_sarif_lists_every_rule_with_its_help_also_where_nothing_is_found(folder: Path) -> None:
    (run,) = sarif(output(folder, "sarif", "sound.jsonl"))["runs"]
    assert run["results"] == []
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    entries = rulebook.everything()
    assert set(rules) == {entry.rule.code for entry in entries}
    for entry in entries:
        described = rules[entry.rule.code]
        assert described["name"] == entry.rule.name
        assert described["help"]["text"] == entry.docs
        assert "### Why it matters" in described["help"]["markdown"]
        assert described["properties"]["problem.severity"] in ("error", "warning", "recommendation")


def test_a_file_outside_of_the_folder_has_an_absolute_address_and_a_link_is_followed(folder: Path) -> None:
    below = folder / "below"
    below.mkdir()
    (below / "link.jsonl").symlink_to(folder / "logs" / "a b#1.jsonl")
    (run,) = json.loads(output(below, "sarif", "../logs"))["runs"]
    outside = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert outside == {"uri": (folder / "logs" / "a b#1.jsonl").as_uri()}
    (run,) = json.loads(output(folder, "sarif", "below/link.jsonl"))["runs"]
    linked = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert linked == {"uri": "logs/a%20b%231.jsonl", "uriBaseId": ROOT}


def row(severity: str, number: int, code: str = "PA201", name: str = "unanswered-call") -> Row:
    place = Place(number, 1, 0, 1, "/a", (Point(number, 1, 1, 1), Point(number, 2, 2, 2)))
    finding = Finding(
        code, name, "pairing", severity, f"finding {number}", Location(ROWS, ()),  # type: ignore[arg-type]
        conversation_index=number, fix=Fix("lossy", "drop it"),
    )  # fmt: skip
    return Row(finding, "a.jsonl", place, (), (), f"{number:016x}")


def written(kind: str, *events: Any, complete: bool = True) -> str:
    pieces: list[str] = []
    sink = open_sink(kind, pieces.append, Look())
    tally = Tally(files=1)
    for event in events:
        sink.take(event)
        if isinstance(event, Row):
            tally.findings[event.finding.severity] += 1
            tally.rules[event.finding.rule] = tally.rules.get(event.finding.rule, 0) + 1
    sink.finish(tally, complete=complete)
    return "".join(pieces)


def test_sarif_keeps_the_worst_5000_and_says_what_it_left_out() -> None:
    rows = [row(("info", "warning", "error")[number % 3], number) for number in range(1, 9001)]
    (run,) = sarif(written("sarif", *rows))["runs"]
    levels = [result["level"] for result in run["results"]]
    assert levels == ["error"] * 3000 + ["warning"] * 2000
    assert [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in run["results"]] == [
        *range(2, 9001, 3), *range(1, 6000, 3)]  # fmt: skip
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "warning"
    assert note["message"]["text"].startswith("1,000 warnings, 3,000 info left out")
    assert "PA201 4,000" in note["message"]["text"]


def test_sarif_describes_a_rule_that_no_package_brings() -> None:
    (run,) = sarif(written("sarif", row("warning", 1, "XX900", "our-own")))["runs"]
    assert run["tool"]["driver"]["rules"][-1]["id"] == "XX900"


# Columns.

WIDE = "a𐐀b"
PLACED = {
    "at the start of a line": [conversation(WIDE, sound=False)],
    "behind other records of an array": [[conversation(WIDE), conversation("s", sound=False, said=WIDE)]],
    "behind another record on the line": [
        json.dumps(conversation(WIDE), ensure_ascii=False) + " " + json.dumps(conversation("s", sound=False, said=WIDE), ensure_ascii=False),
    ],
}  # fmt: skip


@pytest.mark.parametrize("records", PLACED.values(), ids=PLACED)
def test_columns_are_counted_as_each_reader_counts_them(records: list[Any], tmp_path: Path) -> None:
    data = lines(*records).encode()
    (tmp_path / "a.jsonl").write_bytes(data)
    places = [
        one for one in json.loads(output(tmp_path, "json", "a.jsonl"))["findings"] if one["code"] == "PA202"
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
        one["locations"][0]["physicalLocation"]["region"]
        for one in json.loads(output(tmp_path, "sarif", "a.jsonl"))["runs"][0]["results"]
        if one["ruleId"] == "PA202"
    ]
    assert (region["startColumn"], region["endColumn"]) == in_chars
    (where,) = [
        one["location"]["range"]
        for one in map(json.loads, output(tmp_path, "rdjsonl", "a.jsonl").splitlines())
        if one["code"]["value"] == "PA202"
    ]
    assert (where["start"]["column"], where["end"]["column"]) == in_bytes
    (told,) = [
        one.properties
        for one in commands(output(tmp_path, "github", "a.jsonl"))
        if one.properties["title"].startswith("PA202")
    ]
    assert (int(told["col"]), int(told["endColumn"])) == in_units


def test_a_place_over_several_lines_ends_where_it_ends(tmp_path: Path) -> None:
    text = json.dumps([conversation("s", said=WIDE), {"messages": [{"role": "user", "content": {"x": WIDE}}]}],
                      ensure_ascii=False, indent=1)  # fmt: skip
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    for one in json.loads(output(tmp_path, "json", "a.json"))["findings"]:
        piece = text.encode()[: one["byte_end"]].decode()
        end = piece.count("\n") + 1, len(piece) - piece.rfind("\n")
        (region,) = [
            result["locations"][0]["physicalLocation"]["region"]
            for result in json.loads(output(tmp_path, "sarif", "a.json"))["runs"][0]["results"]
            if result["partialFingerprints"]["turnlint/v1"] == one["fingerprint"]
        ]
        assert (region["endLine"], region["endColumn"]) == end
        assert region["endLine"] > region["startLine"]
    (told,) = commands(output(tmp_path, "github", "a.json"))
    assert not {"col", "endColumn"} & told.properties.keys()


# GitHub's log and its summary page.


def test_annotations_name_the_place_and_the_rule(folder: Path) -> None:
    told = commands(output(folder, "github", "."))
    for one, finding in zip(told, findings(folder), strict=True):
        assert one.name == "error"
        assert one.properties["file"] == "logs/a b#1.jsonl"
        assert int(one.properties["line"]) == finding["line"]
        assert one.properties["title"] == f"{finding['code']} {finding['rule']}"
        assert one.message.split("\n")[0] == finding["message"]


def test_what_github_would_not_show_stands_in_the_log() -> None:
    rows = [row(severity, number) for severity in SEVERITIES for number in range(1, 31)]
    text = written("github", *rows, Crash("rule x", "a.jsonl", 3, "KeyError: 'secret'"), complete=False)
    told = commands(text)
    counts = {name: sum(one.name == name for one in told) for name in ("error", "warning", "notice")}
    assert counts == {"error": 10, "warning": 10, "notice": 10}
    assert sum("[error] unanswered-call: finding" in line for line in text.splitlines()) == 21
    assert "22 errors, 20 warnings, 21 info more" in told[-2].message
    assert "not complete" in told[-1].message
    assert "secret" not in text


def test_the_summary_is_added_to_what_the_step_wrote_before(folder: Path) -> None:
    summary = folder / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    lint("logs", "--output", f"github-summary:{summary}", cwd=folder)
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n# turnlint\n\nFound 3 errors in 1 file")
    assert "| `orphan-result` | 1 |" in text


def test_the_summary_is_short_however_much_was_found() -> None:
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


def test_gitlab_takes_the_report(folder: Path) -> None:
    document = json.loads(output(folder, "gitlab", "."))
    GITLAB.validate(document)
    expected = findings(folder)
    assert [one["fingerprint"] for one in document] == [one["fingerprint"] for one in expected]
    assert len({one["fingerprint"] for one in document}) == len(document)
    assert [one["location"]["lines"]["begin"] for one in document] == [one["line"] for one in expected]
    assert json.loads(output(folder, "gitlab", "sound.jsonl")) == []


def test_reviewdog_takes_each_line(folder: Path) -> None:
    diagnostics = list(map(json.loads, output(folder, "rdjsonl", ".").splitlines()))
    for one, finding in zip(diagnostics, findings(folder), strict=True):
        DIAGNOSTIC.validate(one)
        assert one["location"]["path"] == "logs/a b#1.jsonl"
        assert one["code"]["value"] == finding["code"]
    assert output(folder, "rdjsonl", "sound.jsonl") == ""


# JUnit.


def test_junit_has_a_case_for_each_conversation_and_for_what_cannot_be_read(folder: Path) -> None:
    root = junit(output(folder, "junit", "."))
    suites = {suite.attrib["name"]: suite for suite in root}
    assert list(suites) == ["notes.json", "sound.jsonl", "logs/a b#1.jsonl"]
    cases = {case.attrib["name"]: [one.tag for one in case] for case in suites["logs/a b#1.jsonl"]}
    assert cases == {"s-1": [], "s-2": ["failure"], "line 3": ["failure"], "conversation 2": []}
    assert suites["notes.json"][0][0].tag == "skipped"
    failure = suites["logs/a b#1.jsonl"][1][0]
    assert failure.attrib["message"].endswith("(and 1 more)")
    assert failure.text.count("PA20") == 2


def test_another_reader_of_junit_finds_the_same(folder: Path) -> None:
    junitparser = pytest.importorskip("junitparser")
    path = folder / "out.xml"
    path.write_text(output(folder, "junit", "."), encoding="utf-8")
    read = junitparser.JUnitXml.fromfile(str(path))
    cases = [case for suite in read for case in suite]
    assert len(cases) == 6
    assert sum(case.is_passed for case in cases) == 3
    assert sum(case.is_failure for case in cases) == 2
    assert sum(case.is_skipped for case in cases) == 1


def test_a_case_fails_where_the_run_does(tmp_path: Path) -> None:
    record = {
        **conversation("s"),
        "messages": [*conversation("s")["messages"], {"role": "assistant", "content": ""}],
    }
    (tmp_path / "a.jsonl").write_text(lines(record), encoding="utf-8")
    severities = {one["severity"] for one in json.loads(output(tmp_path, "json", "a.jsonl"))["findings"]}
    assert severities
    assert "error" not in severities
    for level, failures in (("error", 0), ("info", 1), ("never", 0)):
        done = lint("a.jsonl", "--fail-on", level, "--output-format", "junit", cwd=tmp_path)
        (suite,) = junit(done.stdout.decode())
        assert (int(suite.attrib["failures"]), done.returncode) == (failures, failures)
        assert (suite[0].find("system-out") is None) is bool(failures)


def test_conversations_over_many_lines_are_cases_with_all_that_is_wrong(tmp_path: Path) -> None:
    messages = [
        {"conversation_id": f"s-{number % 3}", "role": "tool", "tool_call_id": f"c{number}", "content": "r"}
        for number in range(30)
    ]
    (tmp_path / "a.jsonl").write_text(lines(*messages), encoding="utf-8")
    document = json.loads(output(tmp_path, "json", "a.jsonl"))
    (suite,) = junit(output(tmp_path, "junit", "a.jsonl"))
    text = "".join(case[0].text for case in suite if len(case))
    assert len(suite) == document["summary"]["conversations"]
    assert text.count("PA202") == document["summary"]["rules"]["orphan-result"] == 30


def test_cases_wait_for_what_is_said_at_the_end_and_a_crash_is_an_error() -> None:
    heard = [Heard("a.jsonl", number, number, f"s-{number}", whole=number == 2) for number in (1, 2, 3)]
    text = written(
        "junit", *heard, row("error", 3), row("error", 1), Crash("rule x", "b.jsonl", 7, "KeyError: 'secret'")
    )
    (one, other) = junit(text)
    assert {case.attrib["name"]: len(case) for case in one} == {"s-1": 1, "s-2": 0, "s-3": 1}
    assert other[0][0].tag == "error"
    assert "secret" not in text


def test_no_finding_is_lost_that_names_a_conversation_nobody_heard_of() -> None:
    (suite,) = junit(written("junit", Heard("a.jsonl", 1, 0, "s-0", whole=True), row("error", 7)))
    assert [(case.attrib["name"], len(case)) for case in suite] == [("s-0", 0), ("conversation 7", 1)]


def test_a_file_that_cannot_be_read_is_an_error_in_junit_and_in_sarif(folder: Path) -> None:
    for kind, sign in (("junit", 'errors="1"'), ("sarif", '"executionSuccessful": false'), ("markdown", "Not complete"),
                       ("github-summary", "Not complete"), ("github", "::error title=turnlint::")):  # fmt: skip
        assert sign in output(folder, kind, "/proc/self/mem", "sound.jsonl"), kind


# All of them.


def test_several_reports_come_of_one_run_and_are_the_same_each_time(folder: Path) -> None:
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


def test_every_format_is_listed_and_a_near_miss_is_named(folder: Path) -> None:
    assert set(FORMATS) == set(KINDS)
    assert "did you mean 'sarif'" in lint("--output", "sarf:x", cwd=folder).stderr.decode()
    shown = " ".join(lint("--help").stdout.decode().split()).replace("- ", "-")
    assert all(re.search(rf"\b{kind}\b", shown) for kind in FORMATS)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_report_loads_nothing_of_the_others(kind: str, folder: Path) -> None:
    program = (
        "import sys, os; os._exit = lambda code: None\n"
        f"sys.argv = ['turnlint', 'lint', 'sound.jsonl', '--output-format', {kind!r}]\n"
        "from turnlint.cli import main\nmain()\nprint('\\n'.join(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    sinks = {f"turnlint.report.{one.module}" for one in KINDS.values()}
    needed = {f"turnlint.report.{KINDS[kind].module}"} | (
        {"turnlint.report.concise"} if kind in ("github", "junit") else set()
    )
    assert set(done.stderr.split()) & sinks == needed
