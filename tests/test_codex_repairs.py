"""Codex rollouts: their repairs, their recognition, and odd records.

The makers of records are those of `test_codex`, which tests the reading of sound rollouts.
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
    format_of,
    lines,
    live,
    message_item,
    needs_corpus,
    out,
    read,
    rec,
    repaired,
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
def test_other_records_are_not_taken_for_a_rollout(record: Any) -> None:
    assert format_of(record) != "codex"


@needs_corpus
def test_no_other_log_is_taken_for_a_rollout() -> None:
    ours = {CORPUS / rollout for rollout in ROLLOUTS}
    for path in (*CORPUS.glob("format_samples/*.jsonl"), *CORPUS.glob("logs/*/*.jsonl")):
        wires = {transcript.wire.name for transcript in transcripts(Source(path.name, str(path)))}
        assert (wires == {"codex"}) == (path in ours), path


# Files with references to each other.


def test_a_file_that_other_files_refer_to_is_bound() -> None:
    paged = rec("session_meta", {"id": "s", "history_mode": "paginated", "history_base": None})
    (first,) = read(paged, user("go"))
    (second,) = read(META, {**user("go"), "ordinal": 7})
    assert first.bound == second.bound != ""
    assert not first.headless
    assert live(user("go")).bound == ""


def test_earlier_items_may_be_in_another_file() -> None:
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
def test_a_lost_output_is_added_as_codex_does(kind: str, answer: dict[str, Any]) -> None:
    new = added(META, user("go"), call("c1", kind), user("what happened?"))
    assert new == [rec("response_item", {**answer, "call_id": "c1"})]


def test_a_new_record_is_counted_as_its_neighbour() -> None:
    records = [
        {**item, "ordinal": number} for number, item in enumerate((META, user("go"), call("c"), user("?")))
    ]
    assert [item["ordinal"] for item in repaired(*records)] == [0, 1, 2, 2, 3]


def test_a_new_record_of_2025_has_no_envelope() -> None:
    bare = [item["payload"] for item in (user("go"), call("c"), user("?"))]
    new = {"type": "function_call_output", "call_id": "c", "output": "aborted"}
    assert added(HEAD, STATE, *bare) == [new]


def test_an_output_that_a_compaction_lost_is_put_into_its_history() -> None:
    now = repaired(META, base(user("go"), call("c"), user("?")), user("on"))
    history = now[1]["payload"]["replacement_history"]
    assert [item["type"] for item in history] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
    ]


# Comparison with a second reader.


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
            history = [(item, False) for item in payload["replacement_history"]]
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
    """Calls without an output after them, except those that may still get one, and outputs without a call."""
    open_calls: dict[tuple[str, Any], int] = {}
    for place, entry in enumerate(items):
        kind, name = entry["type"], entry.get("call_id")
        if kind in OUTPUTS:
            open_calls[OUTPUTS[kind], name] = place
        elif kind in OUTPUTS.values() and open_calls.pop((kind, name), None) is None:
            yield f"output {name}"
    for (_, identifier), place in open_calls.items():
        if any(item.get("role") == "user" for item in items[place:]):
            yield f"call {identifier}"


SESSION = (
    META, SETTINGS, user(CONTEXT), user("one"), call("a"), call("b", "custom_tool_call"), out("b", "custom_tool_call_output"),
    event("patch_apply_end", call_id="b"), out("a"), message_item("assistant", "so"), user("two"), call("c"), out("c"),
    call("d", "local_shell_call"), user("<turn_aborted>x</turn_aborted>"), out("d"), user("three"), call("e"), out("e"),
    message_item("assistant", "there"), user("four"), message_item("assistant", "bye"),
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
            history = [item for item in replayed(lines(*records[:place])) if rng.random() < 0.8]
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
    transcripts = [item for item in read(*map(json.loads, data.splitlines())) if not item.dead]
    assert sum(len(transcript.messages) for transcript in transcripts) == len(items)
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
def test_all_calls_and_results_of_real_rollouts_are_read(path: str) -> None:
    data = (CORPUS / path).read_bytes()
    items = replayed(data)
    found = [item for item in read(*map(json.loads, data.splitlines())) if not item.dead]
    blocks = [block for item in found for message in item.messages for block in message.blocks]
    count = (
        sum(isinstance(block, Call) for block in blocks),
        sum(isinstance(block, Result) for block in blocks),
    )
    assert count == (
        sum(item["type"] in OUTPUTS for item in items),
        sum(item["type"] in OUTPUTS.values() for item in items),
    )


# Arbitrary content.

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
def test_no_content_of_a_record_stops_the_reading(records: list[Any]) -> None:
    testing.rows_of(lines(META, *records, user("on")), "codex")
