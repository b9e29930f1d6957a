"""Unreadable records: nothing after one of them is removed, and no call gets another call's result.

The logs are sessions of every agent, and one message per line of every wire.
"""

import json
from pathlib import Path

import pytest

from broken_logs import fix_by_default, settle
from damaged_logs import FORMS, MANY, findings, lines_with, log, repair
from turnlint.documents.source import MAX_RECORD_BYTES
from turnlint.model import Level
from turnlint.repair.choosing import LEVELS

LIMIT = 4000
"""The largest record, in bytes."""
LINKED = ("claude-code", "pi")
"""Their records link to the one before them. A call is read again with the link that leads to it."""
IDLESS = ("gemini", "gemini-cli", "ollama")
DAMAGES = {
    "cut": lambda line: line[: len(line) * 2 // 3],
    "bad JSON": lambda line: line.replace(b": ", b" ", 1),
    "two lines": lambda line: line.replace(b": ", b" ", 1).replace(b", ", b",\n", 1),
    "too long": lambda line: line.replace(b"{", b'{"more": "' + b"x" * LIMIT + b'", ', 1),
    "nested": lambda line: line.replace(b"{", b'{"more": ' + b"[" * 3000 + b", ", 1),
    "zeros": lambda line: b"\0" * len(line),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def damaged(data: bytes, line: int, damage: str) -> bytes:
    lines = data.splitlines()
    lines[line] = DAMAGES[damage](lines[line])
    return b"\n".join(lines) + b"\n"


def limit(damage: str) -> int:
    return LIMIT if damage == "too long" else MAX_RECORD_BYTES


@pytest.mark.covering(2)
@pytest.mark.parametrize("rounds", [2, MANY], ids=["short", "long"])
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("form", FORMS)
def test_no_result_after_an_unreadable_call_is_removed(form: str, damage: str, rounds: int) -> None:
    data = log(form, rounds)
    line = lines_with(data, b"result-of-1")[0] - 1
    broken = damaged(data, line, damage)
    for level in LEVELS:
        fixed, out = repair(broken, level, limit(damage))
        assert all(b"result-of-%d " % number in out for number in range(rounds))
        errors = [row for row in findings(out, limit(damage)) if row.finding.severity == "error"]
        assert len(errors) == fixed.after["error"]
        assert "unreadable-record" in {row.finding.rule for row in errors}
        assert repair(out, level, limit(damage))[1] == out
        assert all(line in out.splitlines() for line in broken.splitlines())


@pytest.mark.parametrize("rounds", [2, MANY], ids=["short", "long"])
@pytest.mark.parametrize("form", [item for item in FORMS if item not in IDLESS])
def test_the_finding_gives_the_reason_that_a_result_is_not_removed(form: str, rounds: int) -> None:
    data = log(form, rounds)
    line = lines_with(data, b"result-of-1")[0] - 1
    _, once = repair(damaged(data, line, "cut"), "lossless")
    (row,) = [finding for finding in findings(once) if finding.finding.rule == "orphan-result"]
    assert row.finding.fix is not None
    assert row.finding.fix.title == f"not removed: line {line + 1} is unreadable and may hold its call"
    assert not row.finding.fix.is_done_here
    blocked = [item.rule for item in repair(once)[0].blocked]
    assert blocked == ["broken-parent-link", "orphan-result"][form not in LINKED :]


@pytest.mark.parametrize("rounds", [2, MANY], ids=["short", "long"])
@pytest.mark.parametrize("form", [item for item in FORMS if item not in (*IDLESS, *LINKED)])
def test_a_placeholder_before_an_unreadable_record_is_marked_as_a_guess(form: str, rounds: int) -> None:
    data = log(form, rounds)
    line = lines_with(data, b"result-of-1")[0]
    _, once = repair(damaged(data, line, "cut"), "lossless")
    (row,) = [
        finding for finding in findings(once) if finding.finding.rule in ("unanswered-call", "pending-call")
    ]
    assert row.finding.fix is not None
    assert row.finding.fix.level == "placeholder"
    assert row.finding.fix.title.endswith(f"(line {line + 1} is unreadable and may hold the result)")


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_last_line_has_no_whole_result(form: str) -> None:
    data = log(form)
    line = lines_with(data, b"result-of-1")[0]
    broken = b"\n".join(damaged(data, line, "cut").splitlines()[: line + 1])
    for row in findings(broken):
        assert "may hold the result" not in (row.finding.fix.title if row.finding.fix else "")


def test_exit_codes_counts_and_acceptance_are_true(folder: Path) -> None:
    data = log("claude-code")
    (folder / "a.jsonl").write_bytes(damaged(data, lines_with(data, b"result-of-1")[0] - 1, "cut"))
    run = fix_by_default("a.jsonl", "--level", "lossy", "--provider", "anthropic")
    assert run.exit_code == 1
    printed = " ".join(run.stdout.split())
    assert "2 repairs are not made: an unreadable record may hold what is missing" in printed
    assert "accepted by anthropic: no" in printed
    assert b"result-of-1" in (folder / "a.jsonl").read_bytes()
    again = fix_by_default("a.jsonl", "--level", "lossy", "--provider", "anthropic", "--check")
    assert "would repair" not in again.stdout


def two_conversations(torn: bytes) -> bytes:
    one, other = (log("openai-chat").replace(b'"a"', name) for name in (b'"a"', b'"b"'))
    lines = one.splitlines()
    lines[1] = torn
    others = other.splitlines()
    del others[1]
    return b"\n".join([*lines, *others]) + b"\n"


def test_a_cut_record_that_names_its_conversation_affects_no_other() -> None:
    named = b'{"conversation_id": "a", "role": "assist'
    _, out = repair(two_conversations(named))
    assert out.count(b"result-of-0") == 1
    _, out = repair(two_conversations(b'{"role": "assist'))
    assert out.count(b"result-of-0") == 2


@pytest.mark.parametrize("level", LEVELS)
def test_a_call_whose_id_is_no_text_keeps_its_result(level: Level) -> None:
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [
            {"id": "call_~1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": "result-of-1"},
        {"role": "user", "content": "go on"},
    ]  # fmt: skip
    lines = b"".join(json.dumps({"conversation_id": "a", **message}).encode() + b"\n" for message in messages)
    for data in (lines, json.dumps({"messages": messages}).encode() + b"\n"):
        _, out = repair(data.replace(b"~", b"\xe9"), level)
        assert b"result-of-1" in out
        _, out = repair(out, level)
        assert b"result-of-1" in out


LINKS = {
    "claude-code": (b'"uuid": "', b'"parentUuid": "'),
    "pi": (b'"id": "', b'"parentId": "'),
    "one message a line": (b'"id": "', b'"parent_id": "'),
}
"""The keys of a record's own id and of its parent."""


def linked_log(form: str, rounds: int = 3) -> bytes:
    """A log whose records name the record before them."""
    if form in LINKED:
        return log(form, rounds)
    lines = [json.loads(line) for line in log("openai-chat", rounds).splitlines()]
    for number, line in enumerate(lines):
        line |= {"id": f"m-{number}", "parent_id": f"m-{number - 1}" if number else None}
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("between", [1, 3])
@pytest.mark.parametrize("form", LINKS)
def test_after_an_unreadable_record_no_record_is_linked_by_guess(
    folder: Path, form: str, between: int, level: Level
) -> None:
    """Either the unreadable record or another missing one is the parent: no record shows which."""
    lines = linked_log(form).splitlines()
    number = len(lines) - 1 - between
    lines[number] = lines[number][:-20]
    own = json.loads(lines[-1])[
        "parentUuid" if form == "claude-code" else "parentId" if form == "pi" else "parent_id"
    ]
    lines[-1] = lines[-1].replace(own.encode(), b"gone") if between > 1 else lines[-1]
    data = b"\n".join(lines) + b"\n"
    (folder / "a.jsonl").write_bytes(data)
    run = fix_by_default("a.jsonl", "--level", level)
    assert run.exit_code == 1
    written = (folder / "a.jsonl").read_bytes().splitlines()
    assert [line for line in written if line in lines] == lines, "only a placeholder may be added"
    assert "not made: an unreadable record may hold what is missing" in " ".join(run.stdout.split())
    links = [row.finding.fix for row in findings(data) if row.finding.rule == "broken-parent-link"]
    assert {fix.title for fix in links if fix} == {
        f"not linked: line {number + 1} is unreadable and may be its parent"
    }


@pytest.mark.parametrize("form", LINKS)
def test_a_broken_link_before_an_unreadable_record_is_repaired(form: str) -> None:
    _, parent = LINKS[form]
    lines = linked_log(form).splitlines()
    at = lines[3].index(parent) + len(parent)
    lines[3] = lines[3][:at] + b"gone" + lines[3][lines[3].index(b'"', at) :]
    lines[-1] = lines[-1][:-20]
    _, out = repair(b"\n".join(lines) + b"\n", "lossless")
    assert out.splitlines()[3] == linked_log(form).splitlines()[3]


@pytest.mark.parametrize("form", LINKS)
def test_no_record_is_linked_after_a_record_with_a_damaged_id(form: str) -> None:
    own, _ = LINKS[form]
    lines = linked_log(form).splitlines()
    at = lines[3].index(own) + len(own)
    lines[3] = lines[3][:at] + b"\xe9" + lines[3][at:]
    data = b"\n".join(lines) + b"\n"
    (row,) = [finding for finding in findings(data) if finding.finding.rule == "broken-parent-link"]
    assert row.finding.fix is not None
    assert row.finding.fix.title == "not linked: line 4 has a damaged id and may be its parent"
    for level in LEVELS:
        fixed, out = repair(data, level)
        assert out.splitlines()[4] == lines[4]
        assert fixed.after["error"]


@pytest.mark.parametrize("identifier", ["", "null"])
@pytest.mark.parametrize("form", LINKS)
def test_a_wrong_link_beside_a_result_without_an_id_is_no_crash(form: str, identifier: str) -> None:
    """No record is unreadable, so nothing forbids the repair of the link."""
    own, parent = LINKS[form]
    data = linked_log(form, 1)
    call_id = next(item for item in (b"toolu_000000", b"call_000x") if item in data)
    lines = data.splitlines()
    lines[-2] = lines[-2].replace(call_id, identifier.encode())
    at = lines[-2].index(parent) + len(parent)
    name = lines[-2][lines[-2].index(own) + len(own) :].split(b'"')[0]
    lines[-2] = lines[-2][:at] + name + lines[-2][lines[-2].index(b'"', at) :]
    found = findings(b"\n".join(lines) + b"\n")
    (row,) = [item for item in found if item.finding.rule == "broken-parent-link"]
    assert row.finding.fix is not None
    assert row.finding.fix.is_done_here


def test_results_do_not_move_across_an_unreadable_record() -> None:
    """An id may belong to two calls: the second is in the unreadable record."""
    lines = log("openai-chat").splitlines()
    call_line, answered = lines[1], lines[2]
    moved = [lines[0], call_line, lines[0], b'{"role": "assist', answered, lines[3]]
    broken = b"\n".join(moved) + b"\n"
    _, out = repair(broken)
    kept = out.splitlines()
    assert kept.index(answered) > kept.index(b'{"role": "assist')


def test_a_session_without_a_readable_message_is_linted() -> None:
    lines = log("claude-code").splitlines()
    silent = {**json.loads(lines[1]), "message": None}
    noted = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "sessionId": "s-1"}
    broken = b"\n".join(
        [lines[0].replace(b": ", b" ", 1), *(json.dumps(item).encode() for item in (silent, noted))]
    )
    rules = {row.finding.rule for row in findings(broken)}
    assert {"unreadable-record", "broken-parent-link"} <= rules
