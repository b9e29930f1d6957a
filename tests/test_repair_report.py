"""The repair report matches its schema, lists every change, and has no content.

Tests the guarantees of `turnlint/repair-v1`.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
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
    LATE,
    REUSED,
    SOUND,
    STRAY,
    TORN,
    TWICE,
    USER,
    call,
    calling,
    fix,
    log,
    result,
    settle,
)
from damaged_logs import lines_with
from damaged_logs import log as session_log
from hostile import POISONS, WIRES, hidden_in
from turnlint import rulebook
from turnlint.api import Raw
from turnlint.cli.schema import command as schema
from turnlint.notation import write
from turnlint.report.machine import LONGEST_NAME
from turnlint.report.repair_text import WORDS
from turnlint.report.repaired import DEDUPE

SCHEMA = json.loads(CliRunner().invoke(schema, ["repair"]).stdout)
VALIDATOR = Draft202012Validator(SCHEMA)
ENTRIES = rulebook.load(rulebook.BUILTIN)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def report(*arguments: str, stdin: bytes = b"") -> dict[str, Any]:
    """The report of a run that writes nothing."""
    text = fix(*arguments, "--check", "--report", "-", stdin=stdin).stdout
    value: dict[str, Any] = json.loads(text)
    assert [error.message for error in VALIDATOR.iter_errors(value)] == []
    assert text.isascii()
    assert value["summary"]["changes"] == {
        kind: sum(change["what"] == kind for change in value["changes"])
        for kind in value["summary"]["changes"]
    }
    return value


def examples() -> Iterator[tuple[str, bytes, str, str]]:
    for entry in ENTRIES:
        for number, item in enumerate(entry.module.BAD):
            name = f"{entry.rule.name}-{number}"
            if isinstance(item, Raw):
                yield name, item.data, item.format or "auto", item.provider
            else:
                for wire in item.wires:
                    yield f"{name}-{wire}", write(item.text, wire).data, wire, item.provider


def test_the_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"]["const"] == "turnlint/repair-v1"


def test_every_object_of_the_schema_is_closed_and_names_its_required_keys() -> None:
    def walk(value: Any, where: str) -> None:
        if isinstance(value, list):
            for number, one in enumerate(value):
                walk(one, f"{where}/{number}")
        if isinstance(value, dict):
            if "properties" in value and "type" in value:
                assert value["additionalProperties"] is False, where
                assert set(value["required"]) == set(value["properties"]), where
            for key, one in value.items():
                walk(one, f"{where}/{key}")

    walk(SCHEMA, "")


def test_the_repairs_of_all_examples_fit_the_schema(folder: Path) -> None:
    kinds, faults = set(), set()
    for name, data, wire, provider in examples():
        (folder / "x.jsonl").write_bytes(data)
        value = report("x.jsonl", "--format", wire, "--provider", provider)
        assert value["complete"], name
        kinds |= {change["what"] for change in value["changes"]}
        faults |= {change["fault"] for change in value["changes"]}
        places = {(conversation["index"], conversation["line"]) for conversation in value["conversations"]}
        named = [change for change in value["changes"] if change["conversation"]]
        assert bool(places) >= bool(named), name
    assert kinds == {"moved", "added", "removed", "renamed", "rewritten"}
    assert faults == {"state", "pairing", "projection"}


@pytest.mark.covering(1)
@pytest.mark.parametrize("poison", POISONS)
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("arguments", [[], ["--canonical"], ["--level", "lossless"], ["--close-pending"]])
def test_the_repair_of_anything_fits_the_schema(
    folder: Path, wire: str, arguments: list[str], poison: str
) -> None:
    lines = [json.dumps(record).encode() for record in WIRES[wire](POISONS[poison])]
    (folder / "x.jsonl").write_bytes(b"\n".join([*lines, TORN]))
    text = json.dumps(report("x.jsonl", "--format", wire, *arguments))
    assert not hidden_in(text.replace("\n", ""))
    assert "##" not in fix("x.jsonl", "--check", "--report", "-").stdout


def test_a_report_lists_each_change_with_its_position() -> None:
    value = report("broken.jsonl")
    assert [(change["line"], change["rule"], change["what"], change["fault"], change["pointer"]) for change in value["changes"]] == [
        (1, "unanswered-call", "added", "pairing", "/messages/1/tool_calls/0"),
        (2, "misplaced-result", "moved", "pairing", "/messages/4"),
        (3, "orphan-result", "removed", "pairing", "/messages/1"),
        (4, "duplicate-result", "removed", "pairing", "/messages/3"),
        (5, "reused-call-id", "renamed", "state", "/messages/3/tool_calls/0/id"),
        (5, "reused-call-id", "renamed", "state", "/messages/4/tool_call_id"),
    ]  # fmt: skip
    assert [change["conversation"]["index"] for change in value["changes"]] == [0, 1, 2, 3, 4, 4]
    assert value["summary"]["findings"]["before"] == {"error": 4, "warning": 1, "info": 0}
    assert value["summary"]["findings"]["after"] == {"error": 0, "warning": 0, "info": 0}
    gone = BROKEN.splitlines()[2].split(b", ", 2)[2].rpartition(b", {")[0]
    assert json.loads(gone) == STRAY[1]
    assert value["changes"][2]["digests"] == {"before": sha256(gone).hexdigest(), "after": None}


def test_a_conversation_lists_all_decisions_of_its_repair() -> None:
    value = report("broken.jsonl")
    conversations = value["conversations"]
    assert [conversation["index"] for conversation in conversations] == [0, 1, 2, 3, 4]
    assert {conversation["path"] for conversation in conversations} == {"broken.jsonl"}
    assert [conversation["provider_format"]["wire"] for conversation in conversations] == ["openai-chat"] * 5
    assert [conversation["provider_format"]["providers"] for conversation in conversations] == [
        ["shared"]
    ] * 5
    named = report("broken.jsonl", "--provider", "mistral")["conversations"]
    assert all(item["provider_format"]["providers"][0].startswith("mistral") for item in named)
    gap, late, stray, twice, reused = conversations
    assert (gap["emitted_call_ids"], gap["emitted_result_ids"]) == (["c1"], ["c1"])
    assert gap["synthetic_completions"] == [{
        "call_id": "c1", "tool": "run", "rule": "unanswered-call", "reason": "call `c1` to `run` has no result",
        "line": 1, "pointer": "/messages/1/tool_calls/0",
    }]  # fmt: skip
    assert late["emitted_call_ids"] == late["emitted_result_ids"] == ["c1", "c2"]
    assert len(late["canonical_ids_seen"]) == len(set(late["canonical_ids_seen"])) == 2
    assert all(item.startswith("hist_tool_") for item in late["canonical_ids_seen"])
    assert (stray["canonical_ids_seen"], stray["emitted_result_ids"]) == ([], [])
    (decision,) = twice["dedupe_decisions"]
    assert (decision["rule"], decision["call_id"], decision["what"]) == ("duplicate-result", "c1", "removed")
    assert (decision["decision"], decision["reason"]) == (
        "remove the second result",
        "call `c1` has two results, both the same",
    )
    new = reused["emitted_call_ids"][1]
    assert reused["emitted_call_ids"] == reused["emitted_result_ids"] == ["c1", new]
    assert {decision["after_id"] for decision in reused["dedupe_decisions"]} == {new}
    assert [conversation["synthetic_completions"] for conversation in conversations[1:]] == [[], [], [], []]


def test_ids_map_old_to_all_new_ones_per_run_and_per_file(folder: Path) -> None:
    (folder / "more.jsonl").write_bytes(
        log(REUSED, [*REUSED[:-1], calling(call("c1", "third")), result("c1"), DONE])
    )
    value = report("broken.jsonl", "more.jsonl")
    by_file = [file["ids"] for file in value["files"]]
    assert [len(item["c1"]) for item in by_file] == [1, 2]
    assert value["ids"] == {"c1": list(dict.fromkeys(by_file[0]["c1"] + by_file[1]["c1"]))}
    canonical = report("sound.jsonl", "--canonical")
    assert list(canonical["ids"]) == ["c1"]
    assert [change["rule"] for change in canonical["changes"]] == ["canonical-ids"] * 2
    assert canonical["conversations"][0]["canonical_ids_seen"] == canonical["ids"]["c1"]


def test_conversations_over_many_lines_keep_their_numbers(folder: Path) -> None:
    lines = [
        {"conversation_id": f"k{number}", "message": message}
        for number, messages in enumerate((GAP, STRAY, REUSED))
        for message in messages
    ]
    (folder / "lines.jsonl").write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    value = report("lines.jsonl")
    assert [(conversation["id"], conversation["index"], conversation["line"]) for conversation in value["conversations"]] == [
        ("k0", 0, 1), ("k1", 1, 5), ("k2", 2, 8),
    ]  # fmt: skip
    assert {(change["conversation"]["id"], change["line"]) for change in value["changes"]} == {
        ("k0", 2), ("k1", 6), ("k2", 11), ("k2", 12),
    }  # fmt: skip
    assert [len(conversation["synthetic_completions"]) for conversation in value["conversations"]] == [
        1,
        0,
        0,
    ]


def test_a_record_that_could_not_be_read_has_no_number(folder: Path) -> None:
    escaped = log(GAP).replace(b"hunter2", b"hunter2\x01")
    (folder / "raw.jsonl").write_bytes(SOUND + escaped + SOUND)
    value = report("raw.jsonl")
    (conversation,) = value["conversations"]
    assert (conversation["line"], conversation["emitted_result_ids"]) == (2, ["c1"])
    assert {change["rule"] for change in value["changes"]} == {"unreadable-record", "unanswered-call"}
    assert len(conversation["synthetic_completions"]) == 1
    assert value["summary"]["repaired"] == 1


def test_unwritten_repairs_are_no_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLINT_STATE_DIR", str(folder / "sound.jsonl"))
    fix("broken.jsonl", "foreign.jsonl", "sound.jsonl", "--report", "r.json")
    value = json.loads((folder / "r.json").read_text())
    VALIDATOR.validate(value)
    assert (value["complete"], value["dry_run"], value["changes"], value["conversations"]) == (
        False,
        False,
        [],
        [],
    )
    broken, foreign, sound = value["files"]
    assert (broken["changed"], broken["written"]) == (False, False)
    assert "journal" in broken["problem"]
    assert (foreign["known_format"], sound["known_format"]) == (False, True)
    assert (value["summary"]["files"], value["summary"]["skipped"], value["summary"]["failed"]) == (2, 1, 1)


def test_a_report_names_the_output_and_the_journal(folder: Path) -> None:
    fix("broken.jsonl", "--report", "r.json", "--journal", "j.jsonl")
    value = json.loads((folder / "r.json").read_text())
    VALIDATOR.validate(value)
    (one,) = value["files"]
    assert (one["changed"], one["written"], one["output"], one["journal"]) == (True, True, None, "j.jsonl")
    (folder / "broken.jsonl").write_bytes(BROKEN)
    fix("broken.jsonl", "--report", "r.json", "-o", "new.jsonl")
    (one,) = json.loads((folder / "r.json").read_text())["files"]
    assert (one["written"], one["output"], one["journal"]) == (True, "new.jsonl", None)


def test_findings_left_by_the_level_are_counted_by_the_required_level(folder: Path) -> None:
    (folder / "open.jsonl").write_bytes(log([USER, calling(call("c1"))], GAP, STRAY, LATE, TWICE))
    held = [
        report("open.jsonl", "--level", level)["summary"]["held_back"]
        for level in ("lossless", "placeholder")
    ]
    assert held == [{"close-pending": 1, "lossy": 1, "placeholder": 1}, {"close-pending": 1, "lossy": 1}]
    assert report("open.jsonl")["summary"]["held_back"] == {"close-pending": 1}
    assert report("open.jsonl", "--close-pending")["summary"]["held_back"] == {}


def test_overlong_names_are_cut_and_the_report_stays_small(folder: Path) -> None:
    long = "x" * 50_000
    (folder / "long.jsonl").write_bytes(log([USER, calling(call(long), call(long, "y")), result(long), DONE]))
    value = report("long.jsonl")

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from value
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from strings(item)
        if isinstance(value, str):
            yield value

    assert max(map(len, strings(value))) <= LONGEST_NAME + 1


def test_no_content_of_a_conversation_is_in_a_report(folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(BROKEN.replace(b'"ok"', b'"hunter2"').replace(b'"done"', b'"hunter2"'))
    assert report("x.jsonl")["summary"]["repaired"] == 5
    assert CONTENT not in json.dumps(report("x.jsonl"))


def test_texts_and_decisions_belong_to_existing_rules() -> None:
    names = {entry.rule.name for entry in ENTRIES}
    assert {rule for _, rule in WORDS} | DEDUPE <= names


def test_a_repair_that_an_unreadable_record_blocks_is_named_with_its_line_and_reason(folder: Path) -> None:
    data = session_log("claude-code")
    line = lines_with(data, b"result-of-1")[0] - 1
    lines = data.splitlines(keepends=True)
    lines[line] = lines[line][: len(lines[line]) // 2] + b"\n"
    (folder / "a.jsonl").write_bytes(b"".join(lines))
    for arguments in (["a.jsonl"], ["a.jsonl", "--level", "lossy"]):
        value = report(*arguments)
        (file,) = value["files"]
        assert value["summary"]["blocked"] == 2
        assert [(item["line"], item["rule"], item["reason"]) for item in file["blocked"]] == [
            (
                line + 2,
                "broken-parent-link",
                f"not linked: line {line + 1} is unreadable and may be its parent",
            ),
            (line + 2, "orphan-result", f"not removed: line {line + 1} is unreadable and may hold its call"),
        ]
    assert report("broken.jsonl")["summary"]["blocked"] == 0
