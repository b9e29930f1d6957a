"""A compaction that removed one side of a pair, in the logs of agents and in requests (spec 001, section 8).

"Where one side was omitted by compression, the call is recovered from what the session kept (compacted region,
sub-agent file, `--history FILE`), and the report tells compression from an orphan; only then a removal." (issue 17)
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import test_codex as codex
import test_pi as pi
from test_history import FIRST, SECOND, Value, fix, lines, placed, report
from turnlint import lint, testing
from turnlint.model import Finding

TIME = "2026-11-01T10:00:0{}.000Z"


def claude(*said: Value | None, session: str = "s", agent: str | None = None) -> list[Value]:
    """A session of Claude Code, one line for each message, without a record of a compaction."""
    found: list[Value] = []
    for number, one in enumerate(said):
        parent = f"u{number - 1}" if number and one is not None else None
        line = {
            "parentUuid": parent, "isSidechain": agent is not None, "cwd": "/w", "sessionId": session, "version": "2.1.92",
            "uuid": f"u{number}", "timestamp": TIME.format(number), **({"agentId": agent} if agent else {}),
        }  # fmt: skip
        if one is None:
            more = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
            found.append(
                {
                    **line,
                    **more,
                    "logicalParentUuid": f"u{number - 1}",
                    "compactMetadata": {"trigger": "auto"},
                }
            )
            continue
        name = {"id": f"msg_{number}", "type": "message", "model": "m"} if one["role"] == "assistant" else {}
        found.append({**line, "type": one["role"], "message": {**name, **one}})
    return found


def use(identifier: str = FIRST) -> Value:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": identifier, "name": "look", "input": {"n": 1.50}}],
    }


def used(*identifiers: str) -> Value:
    results = [{"type": "tool_result", "tool_use_id": one, "content": "r"} for one in identifiers or (FIRST,)]
    return {"role": "user", "content": results}


def text(role: str, words: str) -> Value:
    return {"role": role, "content": words if role == "user" else [{"type": "text", "text": words}]}


def faults(records: list[Value], wire: str) -> list[Finding]:
    rows = testing.rows_of(lines(*records), wire)
    return [one.finding for one in rows if one.finding.severity == "error"]


GO, SUMMARY, DONE = text("user", "Go."), text("user", "A summary."), text("assistant", "Done.")


def _pi(*kept: Value) -> list[Value]:
    calling = pi.answer("b", "a", "I look.", pi.tool("toolu_a"))
    return [
        pi.header(), pi.user("a", None), calling, pi.compacted("c", "b", None), *kept,
        pi.result("d", "c", "toolu_a"), pi.answer("e", "d", "Done."),
    ]  # fmt: skip


def _codex() -> list[Value]:
    return [
        codex.META, codex.user("Go."), codex.call("call_a"),
        codex.rec("compacted", {"message": "", "replacement_history": [codex.message_item("user", "A summary.")]}),
        codex.out("call_a"), codex.user("More."),
    ]  # fmt: skip


SESSIONS: dict[str, Callable[[], list[Value]]] = {
    "claude-code": lambda: claude(GO, use(), None, SUMMARY, used(), DONE),
    "pi": _pi,
    "codex": _codex,
}
"""Sessions whose compaction replaced a call, but not its result."""


@pytest.mark.parametrize("name", SESSIONS)
def test_the_call_is_recovered_from_the_compacted_region(name: str, tmp_path: Path) -> None:
    """Compression must preserve sufficient canonical interaction information for provider-valid transcripts."""
    session = SESSIONS[name]()
    (finding,) = faults(session, name)
    assert finding.rule == "orphan-result"
    assert finding.message.endswith("has no matching call: a compaction omitted it")
    line = 2 if name == "claude-code" else 3
    assert finding.fix is not None
    assert (finding.fix.level, finding.fix.title) == ("lossless", f"add its call again, from line {line}")
    assert [one.where.record.line for one in finding.related] == [line]
    log = placed(tmp_path, "log.jsonl", lines(*session))
    done = fix(log, "--level", "lossless", "--report", tmp_path / "report.json")
    assert done.exit_code == 0, done.output
    assert "added 1 call that the history omitted" in done.output
    (added,) = (one for one in report(tmp_path / "report.json") if one["what"] == "added")
    assert added["source"] == {"path": str(log), "line": line}
    now = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert len(now) == len(session) + 1
    assert [one for one in lint(now, format=name) if one.severity != "info"] == []
    after = log.read_bytes()
    assert fix(log, "--level", "lossy").exit_code == 0
    assert log.read_bytes() == after


def test_a_lost_call_is_told_from_a_compacted_one() -> None:
    """The report tells compression from an orphan."""
    lost = claude(GO, used(), DONE)
    (finding,) = faults(lost, "claude-code")
    assert finding.message == f"result for `{FIRST}` has no matching call"
    assert finding.label == "no earlier call has this id"
    compacted = claude(GO, None, SUMMARY, used(), DONE)
    (finding,) = faults(compacted, "claude-code")
    assert finding.message.endswith("has no matching call: a compaction may have omitted it")
    assert finding.label == "the compaction at line 2 may have replaced its call"
    assert finding.fix is not None
    assert (finding.fix.level, finding.fix.title) == ("lossy", "remove the result")


REQUESTS: dict[str, Value] = {
    "anthropic": {
        "model": "claude-sonnet-4-5", "max_tokens": 9,
        "messages": [GO, {"role": "assistant", "content": [{"type": "compaction", "content": "A summary."}]}, used(), DONE, GO],
    },
    "openai-responses": {
        "model": "gpt-5.1",
        "input": [
            {"type": "message", "role": "user", "content": "Go."},
            {"type": "compaction", "id": "cmp_1", "encrypted_content": "xyz"},
            {"type": "function_call_output", "call_id": FIRST, "output": "r"},
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("wire", REQUESTS)
def test_a_summary_of_the_provider_is_evidence_of_a_compaction(wire: str) -> None:
    (finding,) = faults([REQUESTS[wire]], wire)
    assert finding.message.endswith("has no matching call: a compaction may have omitted it")
    assert finding.label == "the compaction in message 1 may have replaced its call"


def test_an_id_of_two_compacted_calls_identifies_none(tmp_path: Path) -> None:
    other = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": FIRST, "name": "look", "input": {"n": 2}}],
    }
    log = placed(tmp_path, "s.jsonl", lines(*claude(GO, use(), used(), other, None, SUMMARY, used(), DONE)))
    before = log.read_bytes()
    assert fix(log).exit_code == 1
    assert log.read_bytes() == before


def test_an_abandoned_branch_is_no_compacted_region(tmp_path: Path) -> None:
    session = claude(GO, use(), SUMMARY, used(), DONE)
    session[2]["parentUuid"] = None
    log = placed(tmp_path, "s.jsonl", lines(*session))
    before = log.read_bytes()
    fix(log)
    assert log.read_bytes() == before


def test_parallel_calls_of_a_compacted_message_are_recovered_together(tmp_path: Path) -> None:
    both = {"role": "assistant", "content": [use()["content"][0], use(SECOND)["content"][0]]}
    log = placed(tmp_path, "s.jsonl", lines(*claude(GO, both, None, SUMMARY, used(FIRST, SECOND), DONE)))
    assert fix(log).exit_code == 0
    said = [json.loads(line)["message"] for line in log.read_bytes().splitlines()[4:]]
    assert [one["role"] for one in said] == ["assistant", "user", "assistant"]
    assert [one["id"] for one in said[0]["content"]] == [FIRST, SECOND]


# Files of the session.


@pytest.mark.parametrize("place", ["s/subagents/agent-1.jsonl", "agent-1.jsonl"])
def test_the_call_is_recovered_from_the_file_of_a_subagent(place: str, tmp_path: Path) -> None:
    log = placed(tmp_path, "s.jsonl", lines(*claude(GO, used(), DONE)))
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    agent = placed(tmp_path, place, lines(*claude(GO, use(), used(), DONE, agent="1")))
    before = agent.read_bytes()
    assert fix(log, "--report", tmp_path / "report.json").exit_code == 0
    assert FIRST.encode() in log.read_bytes().splitlines()[1]
    assert report(tmp_path / "report.json")[0]["source"] == {"path": str(agent), "line": 2}
    assert agent.read_bytes() == before


def test_the_file_of_a_subagent_gets_a_call_from_its_session(tmp_path: Path) -> None:
    (tmp_path / "s/subagents").mkdir(parents=True)
    placed(tmp_path, "s.jsonl", lines(*claude(GO, use(), used(), DONE)))
    agent = placed(tmp_path, "s/subagents/agent-1.jsonl", lines(*claude(GO, used(), DONE, agent="1")))
    assert fix(agent).exit_code == 0
    assert FIRST.encode() in agent.read_bytes().splitlines()[1]


def test_files_beside_a_sound_session_are_not_read(tmp_path: Path) -> None:
    log = placed(tmp_path, "s.jsonl", lines(*claude(GO, use(), used(), DONE)))
    (tmp_path / "agent-1.jsonl").mkdir()
    assert fix(log).exit_code == 0


def test_another_session_beside_it_is_not_searched(tmp_path: Path) -> None:
    log = placed(tmp_path, "s.jsonl", lines(*claude(GO, used(), DONE)))
    placed(tmp_path, "t.jsonl", lines(*claude(GO, use(), used(), DONE, session="t")))
    before = log.read_bytes()
    assert fix(log).exit_code == 1
    assert log.read_bytes() == before


CUT_SESSIONS: dict[str, list[Value]] = {
    "claude-code": claude(SUMMARY, used(), DONE),
    "codex": [codex.META, codex.user("A summary."), codex.out(FIRST), codex.user("More.")],
    "pi": [pi.header(), pi.user("a", None), pi.result("d", "a", FIRST), pi.answer("e", "d", "Done.")],
}
WHOLE_SESSIONS: dict[str, list[Value]] = {
    "claude-code": claude(GO, use(), used(), DONE),
    "codex": [codex.META, codex.user("Go."), codex.call(FIRST), codex.out(FIRST), codex.user("More.")],
    "pi": [
        pi.header(), pi.user("a", None), pi.answer("b", "a", pi.tool(FIRST, name="run")), pi.result("c", "b", FIRST),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CUT_SESSIONS)
def test_a_session_gets_a_call_from_an_older_copy(name: str, tmp_path: Path) -> None:
    log = placed(tmp_path, "log.jsonl", lines(*CUT_SESSIONS[name]))
    (tmp_path / "backup").mkdir()
    copy = placed(tmp_path / "backup", "old.jsonl", lines(*WHOLE_SESSIONS[name]))
    assert fix(log, "--history", copy).exit_code == 0
    now = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert len(now) == len(CUT_SESSIONS[name]) + 1
    assert [one for one in lint(now, format=name) if one.severity != "info"] == []
    after = log.read_bytes()
    assert fix(log, "--history", copy).exit_code == 0
    assert log.read_bytes() == after


def test_a_session_that_cannot_take_a_foreign_call_stays_as_it_is(tmp_path: Path) -> None:
    """A line of the model in such a log has values that no other format has."""
    request = {"model": "gpt-4.1", "messages": [{"role": "assistant", "tool_calls": [
        {"id": FIRST, "type": "function", "function": {"name": "look", "arguments": "{}"}}]}]}  # fmt: skip
    log = placed(tmp_path, "log.jsonl", lines(*CUT_SESSIONS["claude-code"]))
    before = log.read_bytes()
    assert fix(log, "--history", placed(tmp_path, "h.json", request)).exit_code == 1
    assert log.read_bytes() == before


# The other side: a result that a compaction removed.


def test_a_result_is_recovered_from_the_compacted_region(tmp_path: Path) -> None:
    """If one side of pair is omitted from textual history, there is still canonical interaction truth (section 8)."""
    session = [
        codex.META, codex.user("Go."), codex.call("call_a"), codex.out("call_a"),
        codex.base(codex.user("A summary."), codex.call("call_a")), codex.user("More."),
    ]  # fmt: skip
    (finding,) = faults(session, "codex")
    assert finding.message.endswith("has no result: a compaction omitted it")
    assert [one.where.record.line for one in finding.related] == [4]
    log = placed(tmp_path, "log.jsonl", lines(*session))
    done = fix(log, "--level", "lossless", "--report", tmp_path / "report.json")
    assert done.exit_code == 0, done.output
    (added,) = report(tmp_path / "report.json")
    assert added["source"] == {"path": str(log), "line": 4}
    now = [json.loads(line) for line in log.read_bytes().splitlines()]
    history = now[4]["payload"]["replacement_history"]
    assert [one["type"] for one in history] == ["message", "function_call", "function_call_output"]
    assert history[2] == session[3]["payload"]
    after = log.read_bytes()
    assert fix(log, "--level", "lossy").exit_code == 0
    assert log.read_bytes() == after


OPEN_SESSIONS: dict[str, list[Value]] = {
    "claude-code": claude(SUMMARY, use(), GO, DONE),
    "codex": [codex.META, codex.user("A summary."), codex.call(FIRST), codex.user("More.")],
    "pi": [
        pi.header(),
        pi.user("a", None),
        pi.answer("b", "a", pi.tool(FIRST, name="run")),
        pi.user("c", "b"),
    ],
}


@pytest.mark.parametrize("name", OPEN_SESSIONS)
def test_a_session_gets_a_result_from_an_older_copy(name: str, tmp_path: Path) -> None:
    log = placed(tmp_path, "log.jsonl", lines(*OPEN_SESSIONS[name]))
    (tmp_path / "backup").mkdir()
    copy = placed(tmp_path / "backup", "old.jsonl", lines(*WHOLE_SESSIONS[name]))
    done = fix(log, "--history", copy)
    assert done.exit_code == 0
    assert "added 1 result that the history omitted" in done.output
    now = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert len(now) == len(OPEN_SESSIONS[name]) + 1
    assert [one for one in lint(now, format=name) if one.severity != "info"] == []
    after = log.read_bytes()
    assert fix(log, "--history", copy).exit_code == 0
    assert log.read_bytes() == after
