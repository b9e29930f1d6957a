"""Codex rollouts: the items that would be replayed, compared with a second reader modelled on Codex, and repairs."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from turnlint import carriers, ledger, testing
from turnlint.model import Call, Record, Result, Transcript

ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus"))
FIXTURES = sorted((ROOT / "fixtures" / "formats" / "codex").glob("*.jsonl"))
CARRIER = carriers.carrier("codex")
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
ROLLOUTS = (
    "format_samples/codex_rollout.jsonl",
    "format_samples/codex_rollout_broken.jsonl",
    "format_samples/codex_rollout_legacy.jsonl",
    "logs/codex/.github_codex_home_sessions_2025_08_06_rollout-2025-08-06T18-02-11-05997ac9-0e06-4251-8576-cc16266d3022.jsonl",
    "logs/codex/codex-rs_tui_tests_fixtures_rollout-newlines.jsonl",
)
OUTPUTS = {
    "function_call": "function_call_output",
    "local_shell_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "tool_search_call": "tool_search_output",
}
"""By the type of a call, the only type that Codex accepts for its output (normalize.rs)."""


def rec(kind: str, payload: Any, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-08-10T20:05:50.101Z", **more, "type": kind, "payload": payload}


def item(kind: str, **more: Any) -> dict[str, Any]:
    return rec("response_item", {"type": kind, **more})


def message_item(role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": text}])


def user(text: str) -> dict[str, Any]:
    return message_item("user", text)


def call(identifier: Any, kind: str = "function_call", **more: Any) -> dict[str, Any]:
    body = {"name": "exec", "arguments": "{}", "input": "x", "action": {"type": "exec"}}
    return item(kind, call_id=identifier, **body | more)


def out(identifier: Any, kind: str = "function_call_output") -> dict[str, Any]:
    return item(kind, call_id=identifier, output="done")


def event(kind: str, **more: Any) -> dict[str, Any]:
    return rec("event_msg", {"type": kind, **more})


def back(turns: Any) -> dict[str, Any]:
    return event("thread_rolled_back", num_turns=turns)


def base(*items: dict[str, Any]) -> dict[str, Any]:
    return rec("compacted", {"message": "", "replacement_history": [item["payload"] for item in items]})


META = rec("session_meta", {"id": "s", "cwd": "/repo"})
CONTEXT = "<environment_context>\n  <cwd>/repo</cwd>\n</environment_context>"
SETTINGS = message_item("developer", "<permissions instructions>ask</permissions instructions>")
HEAD = {"id": "s", "timestamp": "2025-08-20T13:20:47.060Z", "instructions": None}
STATE = {"record_type": "state"}


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(*records: Any) -> list[Transcript]:
    decoded = (
        CARRIER.shape.read(Record(line, line, json.dumps(record).encode(), kept=True))
        for line, record in enumerate(records, 1)
    )
    return [item for item in CARRIER.read(decoded) if isinstance(item, Transcript)]


def live(*records: Any) -> Transcript:
    (found,) = [item for item in read(META, *records) if not item.dead]
    return found


def at_lines(transcript: Transcript) -> list[int]:
    return [message.record.line for message in transcript.messages]


def codes(*records: Any) -> list[str]:
    return [row.finding.code for row in testing.rows_of(lines(*records), "codex")]


def repaired(*records: Any) -> list[Any]:
    return [json.loads(line) for line in testing.fixed(lines(*records), "codex").splitlines()]


def added(*records: Any) -> list[Any]:
    now = repaired(*records)
    assert [item for item in now if item in records] == [*records]
    return [item for item in now if item not in records]


# Reading.


def test_items_are_in_their_envelopes() -> None:
    transcript = live(user("go"), call("c1"), out("c1"))
    assert [(message.role, message.at) for message in transcript.messages] == [
        ("user", ("payload",)),
        ("assistant", ("payload",)),
        ("tool", ("payload",)),
    ]
    call_block, answered = transcript.messages[1].blocks[0], transcript.messages[2].blocks[0]
    assert isinstance(call_block, Call)
    assert isinstance(answered, Result)
    assert (call_block.id, call_block.name, call_block.keys.id, answered.id) == (
        "c1",
        "exec",
        ("call_id",),
        "c1",
    )
    assert (transcript.id, transcript.is_log, transcript.wire.speaks) == ("s", True, "openai-responses")


def test_a_text_instead_of_a_list_of_parts_is_a_content() -> None:
    (message,) = live(item("message", role="user", content="go")).messages
    assert [block.at for block in message.blocks] == [("content",)]


def test_display_events_are_no_results() -> None:
    mirror = event("exec_command_end", call_id="c1", stdout="done")
    assert codes(META, user("go"), call("c1"), mirror, user("and?")) == ["PA201"]
    assert codes(META, user("go"), call("c1"), mirror, out("c1"), mirror) == []


def test_outputs_need_not_be_next_to_their_calls() -> None:
    late = codes(META, user("go"), call("a"), call("b"), out("b"), user("wait"), out("a"))
    assert late == ["PA210"], "an info"


@pytest.mark.parametrize(
    "records",
    [
        [item("ghost_snapshot", ghost_commit={})],
        [item("web_search_call", id="ws", status="completed", action={})],
        [item("tool_search_output", call_id=None, execution="server", tools=[])],
        [rec("world_state", {"full": True}), rec("of_tomorrow", {"type": "function_call"})],
        [META, rec("session_meta", {"id": "parent"})],
    ],
)
def test_a_call_that_needs_no_output_has_no_finding(records: list[Any]) -> None:
    assert codes(META, user("go"), *records, message_item("assistant", "done")) == []


def test_a_shell_call_without_a_call_id_is_paired_by_its_own_id() -> None:
    named, mute = call(None, "local_shell_call", id="lsc"), call(None, "local_shell_call", id="other")
    transcript = live(user("go"), named, out("lsc"), mute, user("on"))
    pairs = ledger.read(transcript.messages, transcript.wire)
    assert [
        (interaction.asked.call.id, interaction.answer is not None) for interaction in pairs.interactions
    ] == [("lsc", True)]
    assert codes(META, user("go"), named, out("lsc"), mute, user("on")) == []


# The replayed items.


def test_a_compaction_with_a_history_is_the_new_base() -> None:
    records = user("first"), call("a"), base(user("first"), call("b"), out("b")), user("second")
    assert at_lines(live(*records)) == [4, 4, 4, 5]
    assert [message.at[1:] for message in live(*records).messages[:3]] == [
        ("replacement_history", at) for at in range(3)
    ]
    assert [item.dead for item in read(META, *records)] == ["", "replaced by the compaction at line 4"]
    assert codes(META, *records) == ["ST118"]


def test_a_compaction_with_a_summary_keeps_the_user_messages() -> None:
    summary = rec("compacted", {"message": "so far"})
    records = user(CONTEXT), user("first"), call("a"), summary, user("second"), summary, user("third")
    assert at_lines(live(*records)) == [3, 6, 7, 8]
    assert [block.at for block in live(*records).messages[2].blocks] == [("message",)]


@pytest.mark.parametrize(
    ("records", "stays"),
    [
        ([user("a"), user("b"), back(1)], [2]),
        ([user("a"), call("c"), user("b"), back(2)], []),
        ([SETTINGS, user(CONTEXT), user("a"), back(9)], [2, 3]),
        ([user("a"), call("c"), out("c"), back(0)], [2, 3, 4]),
        ([user("a"), back("1"), back(-1), back(None), back(1.5)], [2]),
        ([user("a"), SETTINGS, user(CONTEXT), user("b"), user("<turn_aborted>x</turn_aborted>"), back(1)], [2]),
        ([user("a"), user("b"), back(1), user("c"), back(1), back(0)], [2]),
        ([message_item("assistant", "hi"), SETTINGS, back(1)], [2, 3]),
        ([user("a"), base(user("x"), user("y")), user("b"), back(2)], [3]),
        ([user("a"), rec("compacted", {"message": "m"}), back(1)], [2]),
        ([user("a"), item("agent_message", author="r", recipient="c", content=[]), call("c"), back(1)], [2]),
        ([user("a"), rec("inter_agent_communication", {"author": "r", "content": "do"}), back(1)], [2]),
        ([user("a"), message_item("assistant", '{"author":"r","recipient":"c","content":"","trigger_turn":true}'), back(1)], [2]),
        ([user("a"), message_item("assistant", '{"author":"r"}'), back(1)], []),
    ],
)  # fmt: skip
def test_a_rollback_takes_the_last_turns_of_the_user(records: list[Any], stays: list[int]) -> None:
    found = [item for item in read(META, *records) if not item.dead]
    assert [line for item in found for line in at_lines(item)] == stays


@pytest.mark.parametrize(
    ("text", "is_turn"),
    [
        ("# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>", False),
        ("<user_instructions>be brief</user_instructions>", False),
        (f"\n {CONTEXT.upper()} \n", False),
        ('<hook_prompt hook_run_id="h">again</hook_prompt>', False),
        ("<external_ide>x</external_ide>", False),
        ("<environment_context> is what you get", True),
        ("look at # AGENTS.md instructions </INSTRUCTIONS>", True),
        ("", True),
    ],
)
def test_messages_that_codex_writes_as_the_user_are_no_turns(text: str, *, is_turn: bool) -> None:
    found = [item for item in read(META, user("a"), user(text), call("c"), back(1)) if not item.dead]
    assert [at_lines(item) for item in found] == ([[2]] if is_turn else [])


def test_the_records_that_determine_the_view_are_named() -> None:
    for path in FIXTURES:
        records = [json.loads(line) for line in path.read_bytes().splitlines() if line[-1:] == b"}"]
        first = next((item for item in read(*records) if not item.dead), None)
        if first is None:
            continue
        needed = sorted({*at_lines(first), *(item.line for item in first.beside)})
        again = read(*(records[line - 1] for line in needed))[0]
        whole, part = (
            [(message.role, message.at, message.blocks) for message in two.messages] for two in (first, again)
        )
        assert (part, again.id) == (whole, first.id), path.name


# Recognition.


def format_of(*records: Any) -> str | None:
    found, _ = carriers.best_for(Record(1, 0, json.dumps(record).encode(), kept=True) for record in records)
    return found.name if found else None


def test_bare_items_are_codex_only_beside_codex_records() -> None:
    bare = [item["payload"] for item in (user("go"), call("c"), out("c"))] * 5
    assert format_of(HEAD, STATE, *bare) == format_of(STATE, *bare) == format_of(HEAD, *bare) == "codex"
    assert format_of(*bare) == "openai-responses"
