"""JUnit has a case for each conversation, and a case fails if the run does."""

import json
from pathlib import Path

import pytest

from hostile import lint
from read_outputs import junit
from reporting import conversation, lines, logs_in, output, row, written
from turnlint.engine import Crash, Heard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return logs_in(tmp_path)


def test_junit_has_a_case_for_each_conversation_and_each_unreadable_record(folder: Path) -> None:
    root = junit(output(folder, "junit", "."))
    suites = {suite.attrib["name"]: suite for suite in root}
    assert list(suites) == ["notes.json", "sound.jsonl", "logs/a b#1.jsonl"]
    cases = {case.attrib["name"]: [item.tag for item in case] for case in suites["logs/a b#1.jsonl"]}
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


def test_a_case_fails_if_the_run_fails(tmp_path: Path) -> None:
    record = {
        **conversation("s"),
        "messages": [*conversation("s")["messages"], {"role": "assistant", "content": ""}],
    }
    (tmp_path / "a.jsonl").write_text(lines(record), encoding="utf-8")
    severities = {
        finding["severity"] for finding in json.loads(output(tmp_path, "json", "a.jsonl"))["findings"]
    }
    assert severities
    assert "error" not in severities
    for level, failures in (("error", 0), ("info", 1), ("never", 0)):
        done = lint("a.jsonl", "--fail-on", level, "--output-format", "junit", cwd=tmp_path)
        (suite,) = junit(done.stdout.decode())
        assert (int(suite.attrib["failures"]), done.returncode) == (failures, failures)
        assert (suite[0].find("system-out") is None) is bool(failures)


def test_conversations_over_many_lines_are_cases_with_all_their_findings(tmp_path: Path) -> None:
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


def test_cases_wait_for_late_findings_and_a_crash_is_an_error() -> None:
    announced = [Heard("a.jsonl", number, number, f"s-{number}", whole=number == 2) for number in (1, 2, 3)]
    text = written(
        "junit",
        *announced,
        row("error", 3),
        row("error", 1),
        Crash("rule x", "b.jsonl", 7, "KeyError: 'secret'"),
    )
    (one, other) = junit(text)
    assert {case.attrib["name"]: len(case) for case in one} == {"s-1": 1, "s-2": 0, "s-3": 1}
    assert other[0][0].tag == "error"
    assert "secret" not in text


def test_a_finding_of_an_unknown_conversation_is_not_lost() -> None:
    (suite,) = junit(written("junit", Heard("a.jsonl", 1, 0, "s-0", whole=True), row("error", 7)))
    assert [(case.attrib["name"], len(case)) for case in suite] == [("s-0", 0), ("conversation 7", 1)]


def test_a_file_that_cannot_be_read_is_an_error_in_junit_and_in_sarif(folder: Path) -> None:
    for kind, sign in (("junit", 'errors="1"'), ("sarif", '"executionSuccessful": false'), ("markdown", "Not complete"),
                       ("sarif", "a file could not be read"),
                       ("github-summary", "Not complete"), ("github", "::error title=turnlint::")):  # fmt: skip
        assert sign in output(folder, kind, "/proc/self/mem", "sound.jsonl"), kind
