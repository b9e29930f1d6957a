"""Codex rollouts: their repairs, whose file one is, and what no odd record may do.

The makers of records are those of `test_codex`, which is about how a sound one is read.
"""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitrary_json import VALUES
from budgets import examples
from test_codex import (
    CONTEXT,
    CORPUS,
    HEAD,
    META,
    OUTPUTS,
    ROLLOUTS,
    SETTINGS,
    STATE,
    added,
    back,
    base,
    call,
    event,
    lines,
    live,
    needs_corpus,
    out,
    read,
    rec,
    repaired,
    says,
    speaks,
    user,
)
from turnlint import testing
from turnlint.documents.source import Source
from turnlint.model import Call, Result
from turnlint.reading import transcripts


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


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(LINES, max_size=6))
def test_nothing_that_a_record_holds_stops_the_reading(records: list[Any]) -> None:
    testing.rows_of(lines(META, *records, user("on")), "codex")
