"""Codex rollouts: which items would be replayed, held against a second reading after Codex's own, and repairs of them."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitrary_json import VALUES
from turnlint import carriers, ledger, testing
from turnlint.documents.source import Source
from turnlint.model import Call, Record, Result, Transcript
from turnlint.reading import transcripts

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
"""By the type of a call, the only type that Codex takes for its output (normalize.rs)."""


def rec(kind: str, payload: Any, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-08-10T20:05:50.101Z", **more, "type": kind, "payload": payload}


def item(kind: str, **more: Any) -> dict[str, Any]:
    return rec("response_item", {"type": kind, **more})


def says(role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": text}])


def user(text: str) -> dict[str, Any]:
    return says("user", text)


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
    return rec("compacted", {"message": "", "replacement_history": [one["payload"] for one in items]})


META = rec("session_meta", {"id": "s", "cwd": "/repo"})
CONTEXT = "<environment_context>\n  <cwd>/repo</cwd>\n</environment_context>"
SETTINGS = says("developer", "<permissions instructions>ask</permissions instructions>")
HEAD = {"id": "s", "timestamp": "2025-08-20T13:20:47.060Z", "instructions": None}
STATE = {"record_type": "state"}


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


def read(*records: Any) -> list[Transcript]:
    decoded = (
        CARRIER.shape.read(Record(line, line, json.dumps(one).encode(), kept=True))
        for line, one in enumerate(records, 1)
    )
    return [one for one in CARRIER.read(decoded) if isinstance(one, Transcript)]


def live(*records: Any) -> Transcript:
    (found,) = [one for one in read(META, *records) if not one.dead]
    return found


def at_lines(transcript: Transcript) -> list[int]:
    return [one.record.line for one in transcript.messages]


def codes(*records: Any) -> list[str]:
    return [row.finding.code for row in testing.rows_of(lines(*records), "codex")]


def repaired(*records: Any) -> list[Any]:
    return [json.loads(line) for line in testing.fixed(lines(*records), "codex").splitlines()]


def added(*records: Any) -> list[Any]:
    now = repaired(*records)
    assert [one for one in now if one in records] == [*records]
    return [one for one in now if one not in records]


# Reading.


def test_items_stand_in_their_envelopes() -> None:
    said = live(user("go"), call("c1"), out("c1"))
    assert [(one.role, one.at) for one in said.messages] == [
        ("user", ("payload",)),
        ("assistant", ("payload",)),
        ("tool", ("payload",)),
    ]
    asked, answered = said.messages[1].blocks[0], said.messages[2].blocks[0]
    assert isinstance(asked, Call)
    assert isinstance(answered, Result)
    assert (asked.id, asked.name, asked.keys.id, answered.id) == ("c1", "exec", ("call_id",), "c1")
    assert (said.id, said.is_log, said.wire.speaks) == ("s", True, "openai-responses")


def test_a_text_that_is_no_list_of_parts_is_still_a_content() -> None:
    (message,) = live(item("message", role="user", content="go")).messages
    assert [block.at for block in message.blocks] == [("content",)]


def test_the_log_for_people_answers_nothing() -> None:
    mirror = event("exec_command_end", call_id="c1", stdout="done")
    assert codes(META, user("go"), call("c1"), mirror, user("and?")) == ["PA201"]
    assert codes(META, user("go"), call("c1"), mirror, out("c1"), mirror) == []


def test_outputs_need_not_stand_next_to_their_calls() -> None:
    assert codes(META, user("go"), call("a"), call("b"), out("b"), user("wait"), out("a")) == []


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
def test_what_needs_no_answer_is_no_finding(records: list[Any]) -> None:
    assert codes(META, user("go"), *records, says("assistant", "done")) == []


def test_a_shell_call_is_known_by_its_own_id_where_it_has_no_other() -> None:
    named, mute = call(None, "local_shell_call", id="lsc"), call(None, "local_shell_call", id="other")
    said = live(user("go"), named, out("lsc"), mute, user("on"))
    pairs = ledger.read(said.messages, said.wire)
    assert [(one.asked.call.id, one.answer is not None) for one in pairs.interactions] == [("lsc", True)]
    assert codes(META, user("go"), named, out("lsc"), mute, user("on")) == []


# What would be replayed.


def test_a_compaction_with_a_history_is_the_new_base() -> None:
    records = user("first"), call("a"), base(user("first"), call("b"), out("b")), user("second")
    assert at_lines(live(*records)) == [4, 4, 4, 5]
    assert [one.at[1:] for one in live(*records).messages[:3]] == [
        ("replacement_history", at) for at in range(3)
    ]
    assert [one.dead for one in read(META, *records)] == ["", "the compaction at line 4 stands for them"]
    assert codes(META, *records) == ["ST118"]


def test_a_compaction_with_a_summary_keeps_what_the_user_said() -> None:
    summary = rec("compacted", {"message": "so far"})
    records = user(CONTEXT), user("first"), call("a"), summary, user("second"), summary, user("third")
    assert at_lines(live(*records)) == [3, 6, 7, 8]
    assert [one.at for one in live(*records).messages[2].blocks] == [("message",)]


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
        ([says("assistant", "hi"), SETTINGS, back(1)], [2, 3]),
        ([user("a"), base(user("x"), user("y")), user("b"), back(2)], [3]),
        ([user("a"), rec("compacted", {"message": "m"}), back(1)], [2]),
        ([user("a"), item("agent_message", author="r", recipient="c", content=[]), call("c"), back(1)], [2]),
        ([user("a"), rec("inter_agent_communication", {"author": "r", "content": "do"}), back(1)], [2]),
        ([user("a"), says("assistant", '{"author":"r","recipient":"c","content":"","trigger_turn":true}'), back(1)], [2]),
        ([user("a"), says("assistant", '{"author":"r"}'), back(1)], []),
    ],
)  # fmt: skip
def test_a_rollback_takes_the_last_turns_of_the_user(records: list[Any], stays: list[int]) -> None:
    found = [one for one in read(META, *records) if not one.dead]
    assert [line for one in found for line in at_lines(one)] == stays


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
def test_what_codex_writes_in_the_users_name_is_no_turn(text: str, *, is_turn: bool) -> None:
    found = [one for one in read(META, user("a"), user(text), call("c"), back(1)) if not one.dead]
    assert [at_lines(one) for one in found] == ([[2]] if is_turn else [])


def test_all_that_decides_the_view_is_named_with_it() -> None:
    for path in FIXTURES:
        records = [json.loads(line) for line in path.read_bytes().splitlines() if line[-1:] == b"}"]
        first = next((one for one in read(*records) if not one.dead), None)
        if first is None:
            continue
        needed = sorted({*at_lines(first), *(one.line for one in first.beside)})
        again = read(*(records[line - 1] for line in needed))[0]
        whole, part = ([(one.role, one.at, one.blocks) for one in two.messages] for two in (first, again))
        assert (part, again.id) == (whole, first.id), path.name


# Whose records they are.


def speaks(*records: Any) -> str | None:
    found, _ = carriers.best_for(Record(1, 0, json.dumps(one).encode(), kept=True) for one in records)
    return found.name if found else None


def test_bare_items_are_codexs_only_beside_its_own_records() -> None:
    bare = [one["payload"] for one in (user("go"), call("c"), out("c"))] * 5
    assert speaks(HEAD, STATE, *bare) == speaks(STATE, *bare) == speaks(HEAD, *bare) == "codex"
    assert speaks(*bare) == "openai-responses"


@pytest.mark.parametrize(
    "record",
    [
        {"ts": "2025-08-09T15:51:04.827Z", "dir": "to_tui", "kind": "codex_event", "payload": {"id": ""}},
        {"type": "item.completed", "item": {"id": "item_0", "type": "command_execution", "status": "completed"}},
        {"type": "compacted", "summary": "x"},
        {"id": "a", "timestamp": "t", "role": "user", "instructions": None, "content": "hi"},
    ],
)  # fmt: skip
def test_what_is_no_rollout_is_not_taken_for_one(record: Any) -> None:
    assert speaks(record) != "codex"


@needs_corpus
def test_no_other_log_is_taken_for_a_rollout() -> None:
    ours = {CORPUS / one for one in ROLLOUTS}
    for path in (*CORPUS.glob("format_samples/*.jsonl"), *CORPUS.glob("logs/*/*.jsonl")):
        wires = {one.wire.name for one in transcripts(Source(path.name, str(path)))}
        assert (wires == {"codex"}) == (path in ours), path


# Files that point at each other.


def test_a_file_that_others_point_into_is_bound() -> None:
    paged = rec("session_meta", {"id": "s", "history_mode": "paginated", "history_base": None})
    (first,) = read(paged, user("go"))
    (second,) = read(META, {**user("go"), "ordinal": 7})
    assert first.bound == second.bound != ""
    assert not first.headless
    assert live(user("go")).bound == ""


def test_what_came_before_may_be_in_another_file() -> None:
    meta = rec("session_meta", {"id": "s", "history_base": {"thread_id": "p", "end_byte_offset": 9}})
    rows = testing.rows_of(lines(meta, out("of-the-parent"), user("go")), "codex")
    assert [(row.finding.code, row.finding.severity) for row in rows] == [("PA202", "info")]


# Repairs.


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("function_call", {"type": "function_call_output", "output": "aborted"}),
        ("local_shell_call", {"type": "function_call_output", "output": "aborted"}),
        ("custom_tool_call", {"type": "custom_tool_call_output", "output": "aborted"}),
        ("tool_search_call", {"type": "tool_search_output", "status": "completed", "execution": "client", "tools": []}),
    ],
)  # fmt: skip
def test_a_lost_output_is_given_as_codex_would(kind: str, answer: dict[str, Any]) -> None:
    new = added(META, user("go"), call("c1", kind), user("what happened?"))
    assert new == [rec("response_item", {**answer, "call_id": "c1"})]


def test_a_new_record_is_counted_as_its_neighbour() -> None:
    records = [
        {**one, "ordinal": number} for number, one in enumerate((META, user("go"), call("c"), user("?")))
    ]
    assert [one["ordinal"] for one in repaired(*records)] == [0, 1, 2, 2, 3]


def test_a_new_record_of_2025_has_no_envelope() -> None:
    bare = [one["payload"] for one in (user("go"), call("c"), user("?"))]
    new = {"type": "function_call_output", "call_id": "c", "output": "aborted"}
    assert added(HEAD, STATE, *bare) == [new]


def test_an_output_that_a_compaction_lost_is_put_into_its_history() -> None:
    now = repaired(META, base(user("go"), call("c"), user("?")), user("on"))
    history = now[1]["payload"]["replacement_history"]
    assert [one["type"] for one in history] == ["message", "function_call", "function_call_output", "message"]


# Against a second reading.


def replayed(data: bytes) -> list[dict[str, Any]]:
    """The items that Codex would send, read without the carrier."""
    history: list[tuple[dict[str, Any], bool]] = []
    for line in data.splitlines():
        record = json.loads(line)
        kind, payload = record.get("type"), record.get("payload")
        if payload is None:
            history += [(record, False)] if kind else []
        elif kind == "response_item":
            history.append((payload, False))
        elif kind == "compacted" and payload.get("replacement_history") is not None:
            history = [(one, False) for one in payload["replacement_history"]]
        elif kind == "compacted":
            own = [(one, False) for one, is_summary in history if _is_turn(one) and not is_summary]
            history = [*own, (user(payload["message"])["payload"], True)]
        elif payload.get("type") == "thread_rolled_back" and payload["num_turns"]:
            places = [place for place, (one, _) in enumerate(history) if _is_turn(one)]
            cut = places[-min(payload["num_turns"], len(places))] if places else len(history)
            while places and cut > places[0] and _is_context(history[cut - 1][0]):
                cut -= 1
            history = history[:cut]
    return [one for one, _ in history if one["type"] != "ghost_snapshot"]


def _is_context(one: dict[str, Any]) -> bool:
    texts = [part.get("text", "") for part in one.get("content") or ()] if one["type"] == "message" else []
    return one.get("role") in ("user", "developer") and any(text.lstrip().startswith("<") for text in texts)


def _is_turn(one: dict[str, Any]) -> bool:
    return one["type"] == "message" and one["role"] == "user" and not _is_context(one)


def unpaired(items: list[dict[str, Any]]) -> Iterator[str]:
    """Calls without an output behind them, but for those that may still come, and outputs without a call."""
    open_calls: dict[tuple[str, Any], int] = {}
    for place, one in enumerate(items):
        kind, name = one["type"], one.get("call_id")
        if kind in OUTPUTS:
            open_calls[OUTPUTS[kind], name] = place
        elif kind in OUTPUTS.values() and open_calls.pop((kind, name), None) is None:
            yield f"output {name}"
    for (_, identifier), place in open_calls.items():
        if any(one.get("role") == "user" for one in items[place:]):
            yield f"call {identifier}"


SESSION = (
    META, SETTINGS, user(CONTEXT), user("one"), call("a"), call("b", "custom_tool_call"), out("b", "custom_tool_call_output"),
    event("patch_apply_end", call_id="b"), out("a"), says("assistant", "so"), user("two"), call("c"), out("c"),
    call("d", "local_shell_call"), user("<turn_aborted>x</turn_aborted>"), out("d"), user("three"), call("e"), out("e"),
    says("assistant", "there"), user("four"), says("assistant", "bye"),
)  # fmt: skip


def mutated(seed: int) -> bytes:
    """A session with lines lost and moved, turns rolled back, and compactions of either kind."""
    rng = random.Random(seed)  # noqa: S311 - the same ones in every run
    records = [*SESSION]
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(1, len(records))
        doing = rng.choice(("lose", "lose", "move", "back", "base", "sum"))
        if doing in ("lose", "move"):
            moved = records.pop(place)
            records[place + 2 : place + 2] = [moved] if doing == "move" else []
        elif doing == "base":
            history = [one for one in replayed(lines(*records[:place])) if rng.random() < 0.8]
            records.insert(place, rec("compacted", {"message": "", "replacement_history": history}))
        else:
            new = (
                back(rng.choice((1, 1, 2, 9))) if doing == "back" else rec("compacted", {"message": "so far"})
            )
            records.insert(place, new)
    return lines(*records)


@pytest.mark.parametrize("seed", range(120))
def test_a_mutated_session_is_read_and_repaired_as_codex_would_read_it(seed: int) -> None:
    data = mutated(seed)
    items = replayed(data)
    said = [one for one in read(*map(json.loads, data.splitlines())) if not one.dead]
    assert sum(len(one.messages) for one in said) == len(items)
    broken = [row for row in testing.rows_of(data, "codex") if row.finding.severity == "error"]
    assert bool(broken) == bool([*unpaired(items)])
    after = testing.fixed(data, "codex")
    assert [*unpaired(replayed(after))] == []
    assert testing.fixed(after, "codex") == after
    kept = set(data.splitlines()) - set(after.splitlines())
    assert all(b"_call_output" in line for line in kept), (
        "only outputs without a call may go, and histories change"
    )


@needs_corpus
@pytest.mark.parametrize("path", ROLLOUTS)
def test_calls_and_results_of_real_rollouts_are_all_there(path: str) -> None:
    data = (CORPUS / path).read_bytes()
    items = replayed(data)
    found = [one for one in read(*map(json.loads, data.splitlines())) if not one.dead]
    blocks = [block for one in found for message in one.messages for block in message.blocks]
    count = (
        sum(isinstance(block, Call) for block in blocks),
        sum(isinstance(block, Result) for block in blocks),
    )
    assert count == (
        sum(one["type"] in OUTPUTS for one in items),
        sum(one["type"] in OUTPUTS.values() for one in items),
    )


# Whatever stands there.

KEYS = st.sampled_from([
    "type", "id", "role", "content", "call_id", "output", "name", "arguments", "num_turns", "message",
    "replacement_history", "history_base", "history_mode", "author", "recipient",
])  # fmt: skip
KINDS = st.sampled_from(
    [*OUTPUTS, *OUTPUTS.values(), "message", "thread_rolled_back", "agent_message", "reasoning"]
)
ITEMS = st.dictionaries(KEYS, st.one_of(VALUES, KINDS), max_size=5)
PAYLOADS = st.one_of(
    VALUES, ITEMS, st.builds(lambda items: {"replacement_history": items}, st.lists(ITEMS, max_size=3))
)
LINES = st.fixed_dictionaries(
    {"type": st.one_of(VALUES, KINDS, st.sampled_from(["session_meta", "response_item", "event_msg", "compacted"]))},
    optional={"payload": PAYLOADS, "ordinal": VALUES, "timestamp": VALUES, "call_id": VALUES, "content": VALUES},
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=6))
def test_nothing_that_a_record_holds_stops_the_reading(records: list[Any]) -> None:
    testing.rows_of(lines(META, *records, user("on")), "codex")
