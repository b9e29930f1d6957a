"""Repairs of Gemini CLI sessions: the CLI's own loader accepts them after any damage."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitrary_json import VALUES
from budgets import examples
from gemini_cli_sessions import (
    LOST,
    call,
    codes,
    data_of,
    fixed,
    gemini,
    lines_of,
    response,
    tool,
    user,
)
from turnlint import testing
from turnlint.lifecycle import is_placeholder

ROOT = Path(__file__).parent.parent
FIXTURES = sorted((ROOT / "fixtures" / "formats" / "gemini-cli").glob("*.json*"))


def test_a_lost_result_is_written_with_its_call() -> None:
    before = [
        user("u1", "a"),
        gemini("a1", "", tool("c1", response()), tool("c2", status="executing")),
        user("u2", "b"),
    ]
    after = fixed(*before)
    kept, filled = after[1]["toolCalls"]
    assert kept == before[1]["toolCalls"][0]
    assert filled["status"] == "error"
    (part,) = filled["result"]
    assert part == {"functionResponse": {"id": "c2", "name": "run", "response": {"error": LOST}}}
    assert is_placeholder(json.dumps(part["functionResponse"]["response"]).encode())
    assert [after[0], *after[2:]] == [before[0], *before[2:]]


def test_a_lost_result_is_written_into_the_last_copy_of_the_message() -> None:
    before = [gemini("a1"), gemini("a1", "", tool("c1")), gemini("a1", "x", tool("c1")), user("u2", "b")]
    after = fixed(*before)
    assert after[:2] == before[:2]
    assert after[2]["toolCalls"][0]["status"] == "error"


def test_another_value_in_place_of_a_result_stays() -> None:
    texts = [tool("c1") | {"result": ["half of it"]}, tool("c2") | {"result": 7}]
    after = fixed(gemini("a1", "", *texts), user("u1", "b"))
    first, second = after[0]["toolCalls"]
    assert first["result"][1:] == ["half of it"]
    assert "functionResponse" in first["result"][0]
    assert second["result"] == 7


def test_a_call_that_is_also_in_the_content_gets_a_stored_result() -> None:
    after = fixed(gemini("a1", [call("c1")], tool("c1")), user("u1", "b"))
    assert after[0]["content"] == [call("c1")]
    assert after[0]["toolCalls"][0]["result"][0]["functionResponse"]["id"] == "c1"


@pytest.mark.parametrize("listed", [False, True])
def test_a_call_in_the_content_alone_gets_its_own_response(listed: bool) -> None:
    session = [gemini("a1", [call("c1")]), user("u1", "b"), gemini("a2", [call("c2")]), user("u2", "c")]
    after = fixed({"$set": {"messages": session}})[0]["$set"]["messages"] if listed else fixed(*session)
    assert [item["id"] for item in after if not item["id"].startswith("fixed-")] == ["a1", "u1", "a2", "u2"]
    new = [after[1], after[4]]
    assert len({item["id"] for item in new}) == 2
    assert all((item["type"], item["timestamp"]) == ("user", "t") for item in new)
    assert [item["content"][0]["functionResponse"]["id"] for item in new] == ["c1", "c2"]
    assert all("status" not in item for item in new)


@pytest.mark.parametrize("listed", [False, True])
def test_a_new_message_never_gets_the_id_of_a_record_without_content(listed: bool) -> None:
    """The CLI keeps only the last of two messages with one id, so that the new result would be lost."""

    def repaired(*records: Any) -> list[Any]:
        return fixed({"$set": {"messages": records}})[0]["$set"]["messages"] if listed else fixed(*records)

    session = [gemini("a1", [call("c1")]), user("u1", "b")]
    (_, answer, _) = repaired(*session)
    emptied = [session[0], answer | {"content": []}, session[1]]
    after = repaired(*emptied)
    assert [item for item in after if item in emptied] == emptied
    (new,) = [item for item in after if item not in emptied]
    assert new["content"][0]["functionResponse"]["id"] == "c1"
    assert new["id"] != answer["id"]


def test_a_late_result_is_moved_to_its_call() -> None:
    session = [
        gemini("a1", "", tool("c1")),
        gemini("a2", "so"),
        user("u1", "b"),
        gemini("a3", "c"),
        user("r1", response()),
    ]
    after = fixed(*session, gemini("a4", "d"))
    assert after[0] == session[0]
    assert [item["id"] for item in after] == ["a1", "r1", "a2", "u1", "a3", "a4"]
    assert not testing.rows_of(data_of(*after), "gemini-cli")


def test_a_response_without_its_call_is_removed() -> None:
    after = fixed(user("u1", "a"), user("r1", response(), "and"), user("r2", response()), gemini("a2", "so"))
    assert after == [user("u1", "a"), user("r1", "and"), gemini("a2", "so")]


def test_a_last_call_gets_a_result_on_request() -> None:
    data = data_of(user("u1", "a"), gemini("a1", "", tool("c1", status="executing")))
    assert codes(data) == [("PA206", 3)]
    assert testing.fixed(data, "gemini-cli") == data
    closed = lines_of(testing.fixed(data, "gemini-cli", "gemini"))
    assert closed[2]["toolCalls"][0]["status"] == "error"


def test_a_reused_id_is_replaced_in_both_places() -> None:
    session = [
        gemini(f"a{n}", [call("c1")], tool("c1", response("c1", f"r{n}"), args={"a": n})) for n in (1, 2)
    ]
    session[1]["content"][0]["functionCall"]["args"] = {"a": 2}
    after = fixed(session[0], user("u1", "b"), session[1], gemini("a3", "so"))[2]
    new = after["content"][0]["functionCall"]["id"]
    assert new != "c1"
    assert after["toolCalls"][0]["id"] == after["toolCalls"][0]["result"][0]["functionResponse"]["id"] == new


def test_a_named_provider_has_no_finding_in_parts_that_the_cli_rewrites() -> None:
    """The CLI itself adds missing signatures when it sends."""
    data = (ROOT / "fixtures" / "formats" / "gemini-cli" / "results-in-both-places.jsonl").read_bytes()
    assert testing.rows_of(data, None, "gemini") == []


# Randomly broken sessions, checked with an independent loader.


def folded(data: bytes) -> list[Any]:
    """The messages that the CLI would load, according to its sources."""
    live: dict[str, Any] = {}
    for line in data.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record.get("$rewindTo"), str):
            keys = list(live)
            from_here = keys.index(record["$rewindTo"]) if record["$rewindTo"] in live else 0
            for key in keys[from_here:]:
                del live[key]
        elif isinstance(record.get("id"), str):
            live[record["id"]] = record
        elif "messages" in record.get("$set", {}):
            live = {
                message["id"]: message
                for message in record["$set"]["messages"]
                if isinstance(message.get("id"), str)
            }
    return list(live.values())


def sent(data: bytes) -> list[tuple[str, list[Any]]]:
    """The contents that would be sent, with consecutive ones of a role joined."""
    turns: list[tuple[str, list[Any]]] = []
    for message in folded(data):
        parts = message.get("content") or []
        parts = [{"text": parts}] if isinstance(parts, str) else parts
        if message["type"] == "user" and not _is_unsent(parts):
            _add_turn(turns, "user", parts)
        elif message["type"] == "gemini":
            modern = any("functionCall" in part or "thought" in part for part in parts)
            tools = message.get("toolCalls", [])
            calls = [{"functionCall": {"id": tool["id"], "name": tool["name"]}} for tool in tools]
            sent_parts = parts if modern else [*parts, *calls]
            if sent_parts or message.get("thoughts"):
                _add_turn(turns, "model", sent_parts)
                _add_turn(turns, "user", [part for tool in tools for part in tool["result"] or ()])
    return turns


def _is_unsent(parts: list[Any]) -> bool:
    text = "".join(part.get("text", "[part]") for part in parts).strip()
    return not text or text.startswith(("/", "?", "<session_context>", "<hook_context>"))


def _add_turn(turns: list[tuple[str, list[Any]]], role: str, parts: list[Any]) -> None:
    if parts and turns and turns[-1][0] == role:
        turns[-1][1].extend(parts)
    elif parts:
        turns.append((role, [*parts]))


def refusals(data: bytes) -> Iterator[str]:
    """Positions where calls and responses do not match one for one; a result that is stored twice counts once."""
    turns = sent(data)
    for index, (role, parts) in enumerate(turns):
        behind = turns[index + 1][1] if index + 1 < len(turns) else None
        calls = {part["functionCall"].get("id") for part in parts if "functionCall" in part}
        if role == "model" and calls and behind is not None:
            found = {part["functionResponse"].get("id") for part in behind if "functionResponse" in part}
            if calls != found:
                yield f"{calls} are answered by {found}"
        if role == "user" and any("functionResponse" in part for part in parts):
            before = turns[index - 1][1] if index else []
            if not any("functionCall" in part for part in before):
                yield "responses to nothing"


SESSIONS = [path for path in FIXTURES if path.suffix == ".jsonl" and ".fixed" not in path.suffixes]


def broken(lines: list[bytes], rng: random.Random) -> list[bytes]:
    lines = [*lines]
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(1, len(lines))
        what = rng.choice(("delete", "swap", "move", "forget", "rewind"))
        if what == "delete" and len(lines) > 3:
            del lines[at]
        elif what == "swap" and at + 1 < len(lines):
            lines[at : at + 2] = lines[at + 1], lines[at]
        elif what == "move":
            line = lines.pop(at)
            lines.insert(rng.randrange(1, len(lines) + 1), line)
        elif what == "rewind":
            lines.insert(at, json.dumps({"$rewindTo": f"u{rng.randrange(4)}"}).encode())
        elif what == "forget" and b'"result":[' in lines[at]:
            record = json.loads(lines[at])
            for message in (record, *record.get("$set", {}).get("messages", ())):
                for call in message.get("toolCalls", ()):
                    call["result"] = rng.choice((None, call["result"]))
            lines[at] = json.dumps(record, separators=(",", ":")).encode()
    return lines


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_the_loader_accepts_broken_and_repaired_sessions(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    refused = 0
    for seed in range(40):
        data = b"\n".join(broken(lines, random.Random(f"{path.stem} {seed}"))) + b"\n"  # noqa: S311
        refused += bool(codes(data)) or not any(refusals(data))
        after = testing.fixed(data, "gemini-cli", "none")
        pending = [code for code, _ in codes(after) if code.startswith("PA")]
        assert set(pending) <= {"PA206"}
        assert pending or not [*refusals(after)]
        assert testing.fixed(after, "gemini-cli", "none") == after
    assert refused == 40


KEYS = st.sampled_from([
    "id", "type", "content", "thoughts", "toolCalls", "sessionId", "projectHash", "messages", "$set", "$rewindTo",
    "name", "args", "result", "status", "functionResponse", "functionCall", "text",
])  # fmt: skip
WORDS = st.sampled_from(["gemini", "user", "info", "u1", "c1", "/x", ""])
ODD_VALUES = st.recursive(
    WORDS | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
RECORDS = st.dictionaries(KEYS, ODD_VALUES, max_size=6) | st.builds(
    lambda record, key, value: {**record, key: value},
    st.sampled_from([user("u1", "a", response()), gemini("u2", [call()], tool("c1", response()))]), KEYS, ODD_VALUES,
)  # fmt: skip


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(RECORDS, max_size=6))
def test_any_content_of_a_record_is_read_and_repaired(records: list[Any]) -> None:
    data = data_of(*records)
    testing.rows_of(data, "gemini-cli")
    try:
        after = testing.fixed(data, "gemini-cli", "none")
        again = testing.fixed(after, "gemini-cli", "none")
    except AssertionError as refused:  # refused by the checks before a repair is written
        if "Error:" in str(refused):
            pytest.fail(str(refused))
    else:
        assert again == after
