"""Sessions of Gemini CLI that are repaired: the CLI's own loader takes them, however they were broken."""

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


def test_it_is_written_into_the_last_copy_of_the_message() -> None:
    before = [gemini("a1"), gemini("a1", "", tool("c1")), gemini("a1", "x", tool("c1")), user("u2", "b")]
    after = fixed(*before)
    assert after[:2] == before[:2]
    assert after[2]["toolCalls"][0]["status"] == "error"


def test_what_stands_in_its_place_stays() -> None:
    texts = [tool("c1") | {"result": ["half of it"]}, tool("c2") | {"result": 7}]
    after = fixed(gemini("a1", "", *texts), user("u1", "b"))
    first, second = after[0]["toolCalls"]
    assert first["result"][1:] == ["half of it"]
    assert "functionResponse" in first["result"][0]
    assert second["result"] == 7


def test_a_call_that_stands_in_the_content_too_is_answered_where_results_are_kept() -> None:
    after = fixed(gemini("a1", [call("c1")], tool("c1")), user("u1", "b"))
    assert after[0]["content"] == [call("c1")]
    assert after[0]["toolCalls"][0]["result"][0]["functionResponse"]["id"] == "c1"


@pytest.mark.parametrize("listed", [False, True])
def test_a_call_that_stands_in_the_content_alone_gets_a_response_of_its_own(listed: bool) -> None:
    said = [gemini("a1", [call("c1")]), user("u1", "b"), gemini("a2", [call("c2")]), user("u2", "c")]
    after = fixed({"$set": {"messages": said}})[0]["$set"]["messages"] if listed else fixed(*said)
    assert [one["id"] for one in after if not one["id"].startswith("fixed-")] == ["a1", "u1", "a2", "u2"]
    new = [after[1], after[4]]
    assert len({one["id"] for one in new}) == 2
    assert all((one["type"], one["timestamp"]) == ("user", "t") for one in new)
    assert [one["content"][0]["functionResponse"]["id"] for one in new] == ["c1", "c2"]
    assert all("status" not in one for one in new)


@pytest.mark.parametrize("listed", [False, True])
def test_a_new_message_never_gets_the_id_of_a_record_without_content(listed: bool) -> None:
    """The CLI keeps only the last of two messages with one id, so that the new result would be lost."""

    def repaired(*said: Any) -> list[Any]:
        return fixed({"$set": {"messages": said}})[0]["$set"]["messages"] if listed else fixed(*said)

    said = [gemini("a1", [call("c1")]), user("u1", "b")]
    (_, answer, _) = repaired(*said)
    emptied = [said[0], answer | {"content": []}, said[1]]
    after = repaired(*emptied)
    assert [one for one in after if one in emptied] == emptied
    (new,) = [one for one in after if one not in emptied]
    assert new["content"][0]["functionResponse"]["id"] == "c1"
    assert new["id"] != answer["id"]


def test_a_late_result_is_moved_to_its_call() -> None:
    said = [
        gemini("a1", "", tool("c1")),
        gemini("a2", "so"),
        user("u1", "b"),
        gemini("a3", "c"),
        user("r1", response()),
    ]
    after = fixed(*said, gemini("a4", "d"))
    assert after[0] == said[0]
    assert [one["id"] for one in after] == ["a1", "r1", "a2", "u1", "a3", "a4"]
    assert not testing.rows_of(data_of(*after), "gemini-cli")


def test_a_response_whose_call_is_gone_is_taken_out() -> None:
    after = fixed(user("u1", "a"), user("r1", response(), "and"), user("r2", response()), gemini("a2", "so"))
    assert after == [user("u1", "a"), user("r1", "and"), gemini("a2", "so")]


def test_a_last_call_is_answered_when_that_is_asked_for() -> None:
    data = data_of(user("u1", "a"), gemini("a1", "", tool("c1", status="executing")))
    assert codes(data) == [("PA206", 3)]
    assert testing.fixed(data, "gemini-cli") == data
    closed = lines_of(testing.fixed(data, "gemini-cli", "gemini"))
    assert closed[2]["toolCalls"][0]["status"] == "error"


def test_an_id_used_again_gets_new_in_both_places() -> None:
    said = [gemini(f"a{n}", [call("c1")], tool("c1", response("c1", f"r{n}"), args={"a": n})) for n in (1, 2)]
    said[1]["content"][0]["functionCall"]["args"] = {"a": 2}
    after = fixed(said[0], user("u1", "b"), said[1], gemini("a3", "so"))[2]
    new = after["content"][0]["functionCall"]["id"]
    assert new != "c1"
    assert after["toolCalls"][0]["id"] == after["toolCalls"][0]["result"][0]["functionResponse"]["id"] == new


def test_a_provider_that_is_named_finds_nothing_in_what_the_cli_writes_anew() -> None:
    """Signatures that are not there the CLI puts there itself when it sends."""
    data = (ROOT / "fixtures" / "formats" / "gemini-cli" / "results-in-both-places.jsonl").read_bytes()
    assert testing.rows_of(data, None, "gemini") == []


# Sessions broken in many ways, against a loader written anew.


def folded(data: bytes) -> list[Any]:
    """The messages that the CLI would load, as its sources say."""
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
            live = {one["id"]: one for one in record["$set"]["messages"] if isinstance(one.get("id"), str)}
    return list(live.values())


def sent(data: bytes) -> list[tuple[str, list[Any]]]:
    """The contents that would be sent, consecutive ones of a role together."""
    turns: list[tuple[str, list[Any]]] = []
    for message in folded(data):
        parts = message.get("content") or []
        parts = [{"text": parts}] if isinstance(parts, str) else parts
        if message["type"] == "user" and not _is_unsent(parts):
            _say(turns, "user", parts)
        elif message["type"] == "gemini":
            modern = any("functionCall" in part or "thought" in part for part in parts)
            tools = message.get("toolCalls", [])
            calls = [{"functionCall": {"id": one["id"], "name": one["name"]}} for one in tools]
            said = parts if modern else [*parts, *calls]
            if said or message.get("thoughts"):
                _say(turns, "model", said)
                _say(turns, "user", [part for one in tools for part in one["result"] or ()])
    return turns


def _is_unsent(parts: list[Any]) -> bool:
    text = "".join(part.get("text", "[part]") for part in parts).strip()
    return not text or text.startswith(("/", "?", "<session_context>", "<hook_context>"))


def _say(turns: list[tuple[str, list[Any]]], role: str, parts: list[Any]) -> None:
    if parts and turns and turns[-1][0] == role:
        turns[-1][1].extend(parts)
    elif parts:
        turns.append((role, [*parts]))


def refusals(data: bytes) -> Iterator[str]:
    """Where calls and responses would not be one for one; one that is kept twice counts once."""
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
                for one in message.get("toolCalls", ()):
                    one["result"] = rng.choice((None, one["result"]))
            lines[at] = json.dumps(record, separators=(",", ":")).encode()
    return lines


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_the_loader_takes_what_was_broken_and_repaired(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    told = 0
    for seed in range(40):
        data = b"\n".join(broken(lines, random.Random(f"{path.stem} {seed}"))) + b"\n"  # noqa: S311
        told += bool(codes(data)) or not any(refusals(data))
        after = testing.fixed(data, "gemini-cli", "none")
        pending = [code for code, _ in codes(after) if code.startswith("PA")]
        assert set(pending) <= {"PA206"}
        assert pending or not [*refusals(after)]
        assert testing.fixed(after, "gemini-cli", "none") == after
    assert told == 40


KEYS = st.sampled_from([
    "id", "type", "content", "thoughts", "toolCalls", "sessionId", "projectHash", "messages", "$set", "$rewindTo",
    "name", "args", "result", "status", "functionResponse", "functionCall", "text",
])  # fmt: skip
WORDS = st.sampled_from(["gemini", "user", "info", "u1", "c1", "/x", ""])
ODD = st.recursive(
    WORDS | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
RECORDS = st.dictionaries(KEYS, ODD, max_size=6) | st.builds(
    lambda record, key, value: {**record, key: value},
    st.sampled_from([user("u1", "a", response()), gemini("u2", [call()], tool("c1", response()))]), KEYS, ODD,
)  # fmt: skip


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(RECORDS, max_size=6))
def test_whatever_stands_in_a_record_is_read_and_repaired(records: list[Any]) -> None:
    data = data_of(*records)
    testing.rows_of(data, "gemini-cli")
    try:
        after = testing.fixed(data, "gemini-cli", "none")
        again = testing.fixed(after, "gemini-cli", "none")
    except AssertionError as refused:  # by the checks before a repair is written
        if "Error:" in str(refused):
            pytest.fail(str(refused))
    else:
        assert again == after
