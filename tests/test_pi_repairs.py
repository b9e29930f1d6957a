"""Sessions of pi: their repairs, their recognition, and odd records.

The makers of records are those of `test_pi`, which tests the reading of sound sessions.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitrary_json import VALUES
from budgets import examples
from test_pi import (
    CALLING,
    LOGS,
    SAMPLES,
    TIME,
    Entry,
    answer,
    codes,
    compacted,
    entry,
    fixed,
    header,
    lines,
    needs_corpus,
    read,
    result,
    tool,
    unlinked,
    user,
)
from turnlint import carriers, testing
from turnlint.documents.source import Source
from turnlint.model import Call, Record, Result
from turnlint.reading import transcripts


@pytest.mark.parametrize("parent", ["?", None], ids=["it is nowhere", "it is null for a turn of the model"])
def test_an_unlinked_entry_is_linked_again(parent: str | None) -> None:
    before = [header(), user("a", None), answer("b", "a", "x"), user("c", "b")]
    session = [*before, answer("d", parent, "y"), user("e", "d")]
    assert [code for code in codes(*session) if code[0] == "ST111"] == [("ST111", "error", 5)]
    assert fixed(*session) == [*before, answer("d", "c", "y"), user("e", "d")]


def test_an_entry_without_the_key_is_linked_again() -> None:
    loose = user("c", None)
    del loose["parentId"]
    assert fixed(header(), user("a", None), answer("b", "a", "x"), loose)[3] == user("c", "b")


def test_a_file_without_its_header_is_reported() -> None:
    assert codes(user("a", None), answer("b", "a", "x")) == [("ST103", "warning", 1)]


def test_a_new_result_is_an_entry_that_pi_could_have_written() -> None:
    session = [header(), user("a", None), CALLING, user("c", "b"), answer("d", "c", "hi")]
    after = fixed(*session)
    new = after[3]
    assert new == {
        "type": "message", "id": new["id"], "parentId": "b", "timestamp": TIME,
        "message": {
            "role": "toolResult", "toolCallId": "t1", "toolName": "run", "isError": True, "timestamp": 2,
            "content": [{"type": "text", "text": "No result provided"}],
        },
    }  # fmt: skip
    assert len(new["id"]) == 8
    int(new["id"], 16)
    assert after[4:] == [user("c", new["id"]), session[4]]
    assert fixed(*session) == after


HOSTILE: list[Any] = [
    {"type": "message"}, {"type": "message", "message": None}, {"type": "message", "message": []}, {"type": "message", "message": "x"},
    {"type": 5}, {"type": "session"}, {"type": "session", "id": 5, "version": {}}, {"type": "session", "id": "x", "version": "9" * 99},
    {"type": "compaction", "summary": 5, "firstKeptEntryId": 5, "firstKeptEntryIndex": 10**30}, {"type": "compaction", "firstKeptEntryIndex": -1},
    {"type": "reset", "firstKeptEntryId": {}}, {"type": "leaf", "targetId": []}, {"type": "leaf"}, {"type": "custom_message", "content": {}},
    {"type": "branch_summary", "summary": None}, {"type": "message", "id": "z", "parentId": "z", "message": {"role": "user", "content": "x"}},
    {"type": "message", "message": {"role": "assistant", "content": "x"}}, {"type": "message", "message": {"role": "assistant", "content": [5, None, {}, []]}},
    {"type": "message", "message": {"role": "assistant", "content": [tool(5), tool(None, arguments=5), tool(partialJson=5), {"type": 5}]}},
    {"type": "message", "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": 5, "redacted": 5}], "stopReason": 5}},
    {"type": "message", "message": {"role": "toolResult", "toolCallId": 5, "content": "x", "isError": "x"}}, {"type": "message", "message": {"role": "toolResult"}},
    {"type": "message", "message": {"role": 5}}, {"type": "message", "message": {"role": "user", "content": [tool()]}},
    {"type": "message", "message": {"role": "tool", "tool_call_id": "t1", "content": "x"}},
    {"type": "message", "message": {"role": "assistant", "content": [], "tool_calls": [{"id": "t1", "function": {"name": "run", "arguments": "{}"}}]}},
    {"type": "message", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]}},
]  # fmt: skip


@pytest.mark.parametrize("odd", HOSTILE, ids=lambda odd: json.dumps(odd)[:60])
def test_no_shape_crashes_the_reader(odd: Any) -> None:
    sound = [user("a", None), CALLING, result("c", "b")]
    linked = {"id": "y", "parentId": "c", **odd}
    for session in ([header(), *sound, odd], [odd, *sound], [header(), linked, *sound], [odd]):
        testing.rows_of(lines(*session), "pi")
        testing.fixed(lines(*session), "pi")


KEYS = [
    "id", "parentId", "timestamp", "version", "firstKeptEntryId", "firstKeptEntryIndex", "targetId", "summary", "content",
    "message",
]  # fmt: skip
KINDS = ["session", "message", "compaction", "reset", "leaf", "custom_message", "branch_summary", "label"]
ANY_LINE = st.builds(
    lambda kind, more: {"type": kind, **more},
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(KEYS), st.one_of(VALUES, st.sampled_from(["a", "b"])), max_size=4),
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(ANY_LINE, min_size=1, max_size=8))
def test_any_key_may_have_any_value(session: list[Entry]) -> None:
    testing.rows_of(lines(*session), "pi")


def test_the_length_of_a_chain_is_unlimited() -> None:
    count = 20_000
    chain = [user(f"{number:x}", f"{number - 1:x}" if number else None) for number in range(count)]
    (found,) = read(header(), *chain)
    assert len(found.messages) == count


STREAM = [
    header(), {"type": "agent_start"}, {"type": "turn_start"},
    {"type": "message_end", "message": user("a", None)["message"]},
    {"type": "message_end", "message": CALLING["message"]},
    {"type": "tool_execution_start", "toolCallId": "t1", "toolName": "run", "args": {}},
]  # fmt: skip


def test_a_stream_of_events_is_no_session() -> None:
    for size in range(2, len(STREAM) + 1):
        records = [Record(number, 0, json.dumps(item).encode()) for number, item in enumerate(STREAM[:size])]
        found, _ = carriers.best_for(records)
        assert found is None or found.name != "pi"


def test_a_session_of_any_version_is_recognized() -> None:
    entries = [user("a", None), CALLING, result("c", "b")]
    old = [header(None), *unlinked(*entries)]
    for session in ([header(), *entries], old, entries, [header(), entries[0]]):
        records = [Record(number, 0, json.dumps(item).encode()) for number, item in enumerate(session)]
        found, _ = carriers.best_for(records)
        assert found is not None
        assert found.name == "pi"


def files_of_pi() -> list[Path]:
    return [*LOGS.glob("pi-mono/*.jsonl"), *SAMPLES.glob("pi_*.jsonl"), *SAMPLES.glob("openclaw_*.jsonl")]


@needs_corpus
@pytest.mark.parametrize("path", files_of_pi(), ids=lambda path: path.name)
def test_every_call_and_result_of_a_log_is_read_once(path: Path) -> None:
    decoder, expected = json.JSONDecoder(), Counter[str | None]()
    for line in path.read_text(encoding="utf-8").splitlines():
        place = 0
        while place < len(line):  # some lines hold two records
            value, place = decoder.raw_decode(line, place)
            message = value.get("message") or {}
            blocks = message.get("content") if message.get("role") == "assistant" else []
            expected.update(block["id"] for block in blocks or () if block["type"] == "toolCall")
            expected.update([message["toolCallId"]] if message.get("role") == "toolResult" else [])
    found = Counter(
        block.id
        for transcript in transcripts(Source(path.name, str(path)))
        for message in transcript.messages
        for block in message.blocks
        if isinstance(block, Call | Result)
    )
    assert found == expected


def other_files() -> Iterator[Path]:
    yield from (path for path in SAMPLES.glob("*.jsonl") if not path.name.startswith(("pi_", "openclaw_")))
    for folder in LOGS.glob("*"):
        if folder.name != "pi-mono" and folder.is_dir():
            yield from sorted(folder.glob("*.jsonl"))[:5]


@needs_corpus
@pytest.mark.parametrize("path", list(other_files()), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_other_log_is_taken_for_one(path: Path) -> None:
    some = path.read_bytes().splitlines()[:20]
    found, _ = carriers.best_for(Record(number, 0, data) for number, data in enumerate(some) if data.strip())
    assert found is None or found.name != "pi"


def sent_by_pi(data: bytes) -> list[Entry]:
    """The messages of the session's context, including those of turns that stopped."""
    entries = [json.loads(line) for line in data.splitlines()][1:]
    known = {entry["id"]: entry for entry in entries}
    path: list[Entry] = []
    at = entries[-1] if entries else None
    while at is not None:
        path.insert(0, at)
        at = known.get(at["parentId"])
    marks = [number for number, item in enumerate(path) if item["type"] == "compaction"]
    if marks:
        place = marks[-1]
        names = [item["id"] for item in path[:place]]
        kept = path[place]["firstKeptEntryId"]
        path = path[names.index(kept) if kept in names else place : place] + path[place + 1 :]
    return [item["message"] for item in path if item["type"] == "message"]


def refused(messages: list[Entry]) -> list[str]:
    """Results at positions that no provider accepts, and calls without a result before the next message."""
    wrong: list[str] = []
    waiting: list[str] | None = None
    for message in messages:
        if message["role"] == "toolResult":
            if waiting is None or message["toolCallId"] not in waiting:
                wrong.append(f"loose {message['toolCallId']}")
            else:
                waiting.remove(message["toolCallId"])
            continue
        wrong += [f"open {item}" for item in waiting or ()]
        waiting = None
        if message["role"] == "assistant" and message["stopReason"] not in ("aborted", "error"):
            waiting = [block["id"] for block in message["content"] if block["type"] == "toolCall"]
    return wrong


@st.composite
def damaged_sessions(draw: st.DrawFn) -> bytes:
    """A session as pi would write it, with some damage: entries removed, turns stopped, branches, compactions."""
    entries: list[Entry] = []
    users: list[str] = []
    last: str | None = None

    def add(one: Entry) -> str:
        entries.append(one)
        return str(one["id"])

    for turn in range(draw(st.integers(1, 5))):
        last = add(user(f"u{turn}", last))
        users.append(last)
        calls = [f"t{turn}{number}" for number in range(draw(st.integers(0, 2)))]
        stop = draw(st.sampled_from(["toolUse", "toolUse", "toolUse", "aborted", "error"]))
        last = add(answer(f"a{turn}", last, "x", *map(tool, calls), stop=stop))
        for one in draw(st.permutations(calls)):
            if draw(st.integers(0, 3)):
                last = add(result(f"r{one}", last, one))
        if not draw(st.integers(0, 3)):
            last = add(entry("model_change", f"m{turn}", last, provider="x", modelId="y"))
        if not draw(st.integers(0, 3)):
            last = add(result(f"x{turn}", last, draw(st.sampled_from(["t00", "t10", "?"]))))
        if not draw(st.integers(0, 4)):
            last = add(compacted(f"k{turn}", last, draw(st.sampled_from(users))))
        last = add(answer(f"b{turn}", last, "y")) if draw(st.booleans()) else last
        if not draw(st.integers(0, 4)):
            last = draw(st.sampled_from(users))
    return lines(header(), *entries)


@settings(max_examples=examples(80), deadline=None)
@given(damaged_sessions())
def test_pi_can_continue_a_repaired_session(data: bytes) -> None:
    before = sent_by_pi(data)
    messages = [
        message.blocks
        for item in read(*map(json.loads, data.splitlines()))
        if not item.dead
        for message in item.messages
    ]
    calls = [block.id for blocks in messages for block in blocks if isinstance(block, Call | Result)]
    assert calls == [
        name
        for message in before
        if message.get("stopReason") not in ("aborted", "error")
        for name in (
            [message["toolCallId"]]
            if message["role"] == "toolResult"
            else [block["id"] for block in message["content"] if block["type"] == "toolCall"]
        )
    ]
    after = testing.fixed(data, "pi")
    assert refused(sent_by_pi(after)) == []
    assert testing.fixed(after, "pi") == after
    kept = [json.dumps(message, sort_keys=True) for message in sent_by_pi(after)]
    other_messages = [
        json.dumps(message, sort_keys=True) for message in before if message["role"] != "toolResult"
    ]
    assert [item for item in kept if item in other_messages] == other_messages
