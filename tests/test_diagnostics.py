"""Diagnostics: the ids and decisions of every conversation of a run, in the reports of `lint` and of `fix`.

The names of the tests are the sentences of the requirement.
"""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from broken_logs import (
    BROKEN,
    CONTENT,
    DONE,
    GAP,
    GOOD,
    LATE,
    OPEN,
    REUSED,
    SOUND,
    STRAY,
    TWICE,
    USER,
    call,
    calling,
    fix,
    log,
    result,
    settle,
)
from hostile import POISONS, WIRES, hidden_in
from test_report import Look
from test_spread import conversation_of
from turnlint.cli import cli
from turnlint.documents.source import Source
from turnlint.engine import Book, Options
from turnlint.events import Diagnosis, Tally, Told
from turnlint.ids import is_canonical
from turnlint.report import open_sink
from turnlint.spread import cutting
from turnlint.spread.here import Question, here
from turnlint.spread.running import spread

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "lint" / "turnlint" / "schemas"
REPORT, REPAIR = (
    Draft202012Validator(json.loads((SCHEMAS / f"{name}-v1.json").read_text()))
    for name in ("report", "repair")
)
KEYS = (
    "canonical_ids_seen", "emitted_call_ids", "emitted_result_ids", "dedupe_decisions", "synthetic_completions",
    "provider_format",
)  # fmt: skip
PLACED = [USER, calling(call("c1", "look")), result("c1", "No result provided"), DONE]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def linted(*arguments: str) -> dict[str, Any]:
    run = CliRunner().invoke(cli, ["lint", *arguments, "--output-format", "json", "--diagnostics"])
    assert run.exception is None or isinstance(run.exception, SystemExit), run.exception
    value: dict[str, Any] = json.loads(run.stdout)
    assert [error.message for error in REPORT.iter_errors(value)] == []
    assert run.stdout.isascii()
    return value


def fixed(*arguments: str) -> dict[str, Any]:
    run = fix(*arguments, "--check", "--report", "-", "--diagnostics")
    value: dict[str, Any] = json.loads(run.stdout)
    assert [error.message for error in REPAIR.iter_errors(value)] == []
    return value


def one_of(folder: Path, conversation: list[dict[str, Any]], command: Any = linted) -> dict[str, Any]:
    path = folder / "one.jsonl"
    path.write_bytes(log(conversation))
    found: list[dict[str, Any]] = command(str(path))["conversations"]
    assert len(found) == 1
    assert all(key in found[0] for key in KEYS)
    return found[0]


@pytest.mark.parametrize("command", [linted, fixed], ids=["lint", "fix"])
def test_for_every_conversation_of_a_run_when_asked_changed_or_not(folder: Path, command: Any) -> None:
    found = command(str(folder))["conversations"]
    places = [(Path(one["path"]).name, one["index"], one["line"]) for one in found]
    assert places == [*(("broken.jsonl", number, number + 1) for number in range(6)), ("sound.jsonl", 0, 1)]


def test_nothing_is_listed_when_not_asked(folder: Path) -> None:
    run = CliRunner().invoke(cli, ["lint", str(folder), "--output-format", "json"])
    assert "conversations" not in json.loads(run.stdout)
    report = json.loads(fix(str(folder), "--check", "--report", "-").stdout)
    assert {Path(one["path"]).name for one in report["conversations"]} == {"broken.jsonl"}
    assert len(report["conversations"]) == 5


def test_the_entry_of_a_repaired_conversation_is_the_same_as_without_the_option(folder: Path) -> None:
    name = str(folder / "broken.jsonl")
    plain = json.loads(fix(name, "--check", "--report", "-").stdout)
    whole = fixed(name)
    assert [one for one in whole["conversations"] if one["index"] < 5] == plain["conversations"]
    assert {**whole, "conversations": ()} == {**plain, "conversations": ()}


@pytest.mark.parametrize("command", [linted, fixed], ids=["lint", "fix"])
def test_canonical_ids_seen(folder: Path, command: Any) -> None:
    seen = one_of(folder, LATE, command)["canonical_ids_seen"]
    assert len(seen) == len(set(seen)) == 2
    assert all(map(is_canonical, seen))


def test_emitted_call_and_result_ids(folder: Path) -> None:
    as_sent = one_of(folder, GAP)
    assert (as_sent["emitted_call_ids"], as_sent["emitted_result_ids"]) == (["c1"], [])
    repaired = one_of(folder, GAP, fixed)
    assert (repaired["emitted_call_ids"], repaired["emitted_result_ids"]) == (["c1"], ["c1"])
    renamed = one_of(
        folder, [USER, calling(call("c1"), call("c1", "look")), result("c1"), result("c1"), DONE], fixed
    )
    assert renamed["emitted_call_ids"] == renamed["emitted_result_ids"]
    assert len(set(renamed["emitted_call_ids"])) == 2


@pytest.mark.parametrize("command", [linted, fixed], ids=["lint", "fix"])
@pytest.mark.parametrize("conversation", [TWICE, REUSED], ids=["copy", "reused"])
def test_dedupe_decisions_with_the_tool(folder: Path, command: Any, conversation: list[Any]) -> None:
    decisions = one_of(folder, conversation, command)["dedupe_decisions"]
    assert decisions
    for one in decisions:
        assert one["decision"]
        assert one["reason"]
        assert one["tool"] == ("run" if conversation is TWICE else "look")
    assert one_of(folder, GOOD, command)["dedupe_decisions"] == []


@pytest.mark.parametrize("command", [linted, fixed], ids=["lint", "fix"])
def test_synthetic_reasons(folder: Path, command: Any) -> None:
    (one,) = one_of(folder, GAP, command)["synthetic_completions"]
    assert (one["call_id"], one["tool"], one["rule"]) == ("c1", "run", "unanswered-call")
    assert "has no result" in one["reason"]


def test_a_placeholder_in_the_log_is_named(folder: Path) -> None:
    (one,) = one_of(folder, PLACED)["synthetic_completions"]
    assert (one["call_id"], one["tool"], one["rule"]) == ("c1", "look", None)
    assert one["pointer"] == "/messages/1/tool_calls/0"


@pytest.mark.parametrize("command", [linted, fixed], ids=["lint", "fix"])
def test_provider_format(folder: Path, command: Any) -> None:
    (folder / "one.jsonl").write_bytes(log(GOOD))
    (one,) = command(str(folder / "one.jsonl"), "--provider", "openai")["conversations"]
    assert one["provider_format"]["wire"] == "openai-chat"
    assert [name.partition("@")[0] for name in one["provider_format"]["providers"]] == ["openai"]


def test_they_distinguish_state_pairing_and_projection(folder: Path) -> None:
    damaged = [USER, calling(call("c1", "", "{")), result("c1"), DONE]
    assert one_of(folder, damaged)["faults"].keys() == {"state"}
    assert one_of(folder, STRAY)["faults"] == {"pairing": 1}
    (folder / "one.jsonl").write_bytes(log([USER, calling(call("x" * 80)), result("x" * 80), DONE]))
    (one,) = linted(str(folder / "one.jsonl"), "--provider", "openai")["conversations"]
    assert one["faults"].keys() == {"projection"}
    assert one_of(folder, OPEN)["faults"] == {"pairing": 1}


def test_an_abandoned_part_of_a_session_emits_nothing() -> None:
    path = ROOT / "fixtures" / "formats" / "claude-code" / "edited-prompt-leaves-a-branch.jsonl"
    _, *gone = linted(str(path))["conversations"]
    assert gone
    assert all(not one["emitted_call_ids"] and not one["emitted_result_ids"] for one in gone)


def test_jsonl_has_a_line_for_each_conversation(folder: Path) -> None:
    run = CliRunner().invoke(cli, ["lint", str(folder), "--output-format", "jsonl", "--diagnostics"])
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert [one["diagnostics"] for one in rows if "diagnostics" in one] == linted(str(folder))[
        "conversations"
    ]
    assert "summary" in rows[-1]


def test_every_fixture_has_its_conversations_in_a_valid_report() -> None:
    value = linted(str(ROOT / "fixtures" / "formats"), str(ROOT / "fixtures" / "provider_switch"))
    assert len(value["conversations"]) == value["summary"]["conversations"] > 300


def test_no_content_of_transcripts_beyond_ids_and_tool_names(folder: Path) -> None:
    whole = json.dumps([linted(str(folder))["conversations"], fixed(str(folder))["conversations"]])
    assert CONTENT in BROKEN.decode()
    assert CONTENT not in whole


@pytest.mark.sampled(3)
@pytest.mark.parametrize("wire", WIRES)
def test_hostile_names_stay_harmless(folder: Path, wire: str) -> None:
    path = folder / "hostile.jsonl"
    path.write_text(
        "".join(json.dumps(record) + "\n" for poison in POISONS for record in WIRES[wire](poison))
    )
    for value in (linted(str(path), "--format", wire), fixed(str(path), "--format", wire)):
        assert value["conversations"]
        assert all(len(one) <= 500 for row in value["conversations"] for one in row["emitted_call_ids"])
    run = CliRunner().invoke(cli, ["lint", str(path), "--output-format", "jsonl", "--diagnostics"])
    assert hidden_in(run.stdout) <= {"\n"}


def test_the_output_does_not_depend_on_the_number_of_processes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "STRETCH", 900)
    monkeypatch.setattr(cutting, "BUNDLE", 2000)
    lines = [conversation_of(number, broken=number % 3 == 0)[0] for number in range(60)]
    (folder / "many.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    question = Question(options := Options(diagnostics=True), Book(options))
    sources = [Source("many.jsonl", str(folder / "many.jsonl"))]
    assert len(list(cutting.cut(sources, cutting.Questions(lambda _: question), 2))) > 2
    one, two = (
        [event for event in told if isinstance(event, Diagnosis)]
        for told in (here(sources, lambda _: question, None), spread(sources, lambda _: question, 2, None))
    )
    assert one == two
    assert [event.told.line for event in one] == list(range(1, 61))


def test_memory_is_bounded() -> None:
    """The entries follow the findings of a document, so that many of them wait in a file."""
    size = 0

    def write(text: str) -> None:
        nonlocal size
        size += len(text)

    sink = open_sink("json", write, Look())
    tracemalloc.start()
    for number in range(25_000):
        told = Told(
            None, number, 1, "openai-chat", ("openai@2026",), ("x" * 500,), ("y" * 500,), ("z" * 500,)
        )
        sink.take(Diagnosis("a.jsonl", told, (), (), ()))
    sink.finish(Tally(), complete=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 40_000_000
    assert peak < size * 0.75


def test_it_needs_a_report_that_can_hold_it(folder: Path) -> None:
    for arguments in (
        ["lint", "--diagnostics"],
        ["lint", "--diagnostics", "--output", "sarif:x"],
        ["fix", "--diagnostics"],
    ):
        run = CliRunner().invoke(cli, [arguments[0], str(folder), *arguments[1:]])
        assert run.exit_code == 2
        assert "--diagnostics needs" in run.stderr
    run = CliRunner().invoke(
        cli, ["lint", str(folder), "--diagnostics", "--follow", "--output-format", "jsonl"]
    )
    assert (run.exit_code, "cannot be combined" in run.stderr) == (2, True)
    CliRunner().invoke(
        cli, ["lint", str(folder), "--diagnostics", "-q", "--output", f"json:{folder / 'r.json'}"]
    )
    assert len(json.loads((folder / "r.json").read_text())["conversations"]) == 7
    assert SOUND


def test_conversations_whose_lines_are_joined_are_listed_once(folder: Path) -> None:
    split = log([USER, calling(call("c1")), result("c1", "one two"), DONE]).replace(b"one two", b"one\ntwo")
    path = folder / "split.jsonl"
    path.write_bytes(log(GOOD) + split + log(GAP) + log(GOOD).rstrip() + log(GOOD))
    found = fixed(str(path))["conversations"]
    assert [one["index"] for one in found] == list(range(5))
    assert all(one["emitted_call_ids"] == one["emitted_result_ids"] == ["c1"] for one in found)


@pytest.mark.slow
def test_fix_lists_each_conversation_of_the_fixtures_once() -> None:
    report = fixed(str(ROOT / "fixtures" / "formats"))
    places = [(one["path"], one["index"]) for one in report["conversations"]]
    assert len(set(places)) == len(places) == report["summary"]["conversations"]
