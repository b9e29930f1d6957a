"""Records that cannot be read: nothing behind one of them is removed, and no call gets another call's result.

The logs are sessions of every agent, and one message a line of every wire.
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
"""Their records name the one before them. A call is read again with the link that leads to it."""
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
def test_no_result_behind_an_unreadable_call_is_removed(form: str, damage: str, rounds: int) -> None:
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
        kept = [one for one in broken.splitlines() if one not in out.splitlines()]
        assert len(kept) <= 1, "only the line behind the unreadable record names another parent"


@pytest.mark.parametrize("rounds", [2, MANY], ids=["short", "long"])
@pytest.mark.parametrize("form", [one for one in FORMS if one not in IDLESS])
def test_the_finding_says_why_a_result_is_not_removed(form: str, rounds: int) -> None:
    data = log(form, rounds)
    line = lines_with(data, b"result-of-1")[0] - 1
    _, once = repair(damaged(data, line, "cut"), "lossless")
    (row,) = [one for one in findings(once) if one.finding.rule == "orphan-result"]
    assert row.finding.fix is not None
    assert row.finding.fix.title == f"not removed: line {line + 1} is unreadable and may hold its call"
    assert not row.finding.fix.is_done_here
    assert len(repair(once)[0].blocked) == 1


@pytest.mark.parametrize("rounds", [2, MANY], ids=["short", "long"])
@pytest.mark.parametrize("form", [one for one in FORMS if one not in (*IDLESS, *LINKED)])
def test_a_placeholder_before_an_unreadable_record_says_that_it_is_a_guess(form: str, rounds: int) -> None:
    data = log(form, rounds)
    line = lines_with(data, b"result-of-1")[0]
    _, once = repair(damaged(data, line, "cut"), "lossless")
    (row,) = [one for one in findings(once) if one.finding.rule in ("unanswered-call", "pending-call")]
    assert row.finding.fix is not None
    assert row.finding.fix.level == "placeholder"
    assert row.finding.fix.title.endswith(f"(line {line + 1} is unreadable and may hold the result)")


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_last_line_holds_no_whole_result(form: str) -> None:
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
    said = " ".join(run.stdout.split())
    assert "1 repair is not made: an unreadable record may hold what is missing" in said
    assert "accepted by anthropic: no" in said
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


def test_a_cut_record_that_names_its_conversation_concerns_no_other() -> None:
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
    lines = b"".join(json.dumps({"conversation_id": "a", **one}).encode() + b"\n" for one in messages)
    for data in (lines, json.dumps({"messages": messages}).encode() + b"\n"):
        _, out = repair(data.replace(b"~", b"\xe9"), level)
        assert b"result-of-1" in out
        _, out = repair(out, level)
        assert b"result-of-1" in out


def test_results_do_not_move_across_an_unreadable_record() -> None:
    """An id may stand for two calls: the second is in the record that cannot be read."""
    lines = log("openai-chat").splitlines()
    asked, answered = lines[1], lines[2]
    moved = [lines[0], asked, lines[0], b'{"role": "assist', answered, lines[3]]
    broken = b"\n".join(moved) + b"\n"
    _, out = repair(broken)
    kept = out.splitlines()
    assert kept.index(answered) > kept.index(b'{"role": "assist')


def test_a_session_without_a_readable_message_is_linted() -> None:
    lines = log("claude-code").splitlines()
    silent = {**json.loads(lines[1]), "message": None}
    noted = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "sessionId": "s-1"}
    broken = b"\n".join(
        [lines[0].replace(b": ", b" ", 1), *(json.dumps(one).encode() for one in (silent, noted))]
    )
    rules = {row.finding.rule for row in findings(broken)}
    assert {"unreadable-record", "broken-parent-link"} <= rules
