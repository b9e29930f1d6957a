"""LangChain messages: their repairs, their recognition, and odd records.

The makers of records are those of `test_langchain`, which tests the reading of sound records.
"""

import copy
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kin import CORPUS, NEEDS_CORPUS, battered, judged, sniffed, transcripts
from test_langchain import (
    OPENAI,
    REPLY,
    SHELLS,
    USER,
    WIDE,
    as_dict,
    as_dump,
    blocks,
    call,
    calling,
    codes,
    in_every_shell,
    is_answered,
    message_dict,
    only,
    refused,
    repaired,
    revived,
    tool,
    unread,
)
from turnlint import ledger, testing
from turnlint.lifecycle import UNKNOWN
from turnlint.model import Call, Message, Other, Result, Text, Thinking


def test_the_parts_of_a_content() -> None:
    parts = [
        "so", {"type": "text", "text": "it"}, {"type": "text", "text": " "}, {"type": "reasoning", "reasoning": "hm"},
        {"type": "server_tool_use", "id": "s1", "name": "search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "server_tool_call", "id": "s2", "name": "search", "args": {}},
        {"type": "server_tool_result", "tool_call_id": "s2", "output": 1}, {"type": "image", "url": "x"},
    ]  # fmt: skip
    found = blocks(message_dict("ai", parts))
    assert [type(block) for block in found] == [Text, Text, Thinking, Call, Result, Call, Result, Other]
    assert all(block.server for block in found if isinstance(block, Call | Result))
    results = message_dict("human", [{"type": "tool_result", "tool_use_id": "c1", "content": "1"}])
    (record,) = transcripts("langchain", [*map(as_dict, (USER, calling(content=[WIDE]), results, REPLY))])
    assert ledger.read(record.messages, record.wire).tidy


def test_other_roles_are_allowed_and_messages_may_be_removed(tmp_path: Path) -> None:
    messages_of_all_roles = [
        message_dict("chat", "go", role="user"),
        message_dict("chat", "so", role="assistant"),
        message_dict("chat", "hm", role="judge"),
    ]
    assert [message.role for message in only([*map(as_dict, messages_of_all_roles)]).messages] == [
        "user",
        "assistant",
        "other",
    ]
    gone = [USER, calling(call(), id="m1"), message_dict("remove", "", id="m1"), USER]
    assert codes([*map(as_dict, gone)], tmp_path) == []
    everything = [USER, calling(call()), message_dict("remove", "", id="__remove_all__"), USER]
    assert codes([*map(as_dict, everything)], tmp_path) == []
    assert codes([*map(as_dict, [*gone[:2], message_dict("remove", "", id="m2"), USER])], tmp_path) == [
        ("PA201", "error")
    ]


WAITS = [USER, calling(call())]
STATES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "an end": ({"values": {"messages": WAITS}, "next": [], "tasks": []}, [("PA206", "warning")]),
    "a step to go": ({"values": {"messages": WAITS}, "next": ["tools"]}, []),
    "an interrupt": ({"messages": WAITS, "__interrupt__": [{"value": "?"}]}, []),
    "a thread that was interrupted": ({"thread_id": "t", "values": {"messages": WAITS}, "interrupts": {"k": [{}]}}, []),
    "a thread that was not": ({"thread_id": "t", "values": {"messages": WAITS}, "interrupts": {}}, [("PA206", "warning")]),
}  # fmt: skip


@pytest.mark.parametrize(("record", "expected"), STATES.values(), ids=STATES)
def test_calls_of_an_interrupted_graph_are_pending(record: Any, expected: Any, tmp_path: Path) -> None:
    assert codes(record, tmp_path) == expected


@pytest.mark.parametrize("holder", ["values", "channel_values", "kwargs", "input", None])
def test_messages_are_repaired_in_their_container(holder: str | None) -> None:
    history = {"messages": [USER, calling(call()), USER]}
    after = repaired({holder: history, "ts": "1"} if holder else history)
    there = after[holder] if holder else after
    assert [message["type"] for message in there["messages"]] == ["human", "ai", "tool", "human"]


@in_every_shell
def test_one_message_per_line(shell: Callable[[Any], Any], below: tuple[str, ...], tmp_path: Path) -> None:
    turns = [USER, calling(call()), USER]
    lines = [{"session_id": key, **shell(turn)} for turn in turns for key in "ab"]
    rows, tally = judged(lines, None, tmp_path)
    assert ([row.finding.conversation for row in rows], tally.conversations) == (["a", "b"], 2)
    assert [row.place.pointer for row in rows] == ["/" + "/".join((*below, "tool_calls/0/id"))] * 2
    wrapped = b"".join(
        json.dumps({"session_id": "a", "message": shell(turn)}).encode() + b"\n" for turn in turns
    )
    after = [json.loads(line) for line in testing.fixed(wrapped, None).splitlines()]
    assert [item["session_id"] for item in after] == ["a"] * 4
    assert is_answered(revived([item["message"] for item in after]))


SNIFFS: list[tuple[str, Any, str | None]] = [
    ("messages_to_dict", [as_dict(USER)], "langchain"),
    ("of an early version", [{"type": "human", "data": {"content": "go", "additional_kwargs": {}, "example": False}}], "langchain"),
    ("dumpd", [as_dump(USER)], "langchain"),
    ("flat", {"messages": [USER, REPLY]}, "langchain"),
    ("a prompt", {"lc": 1, "type": "constructor", "id": ["ChatPromptValue"], "kwargs": {"messages": [as_dump(USER)]}}, "langchain"),
    ("a model that was dumped", {"lc": 1, "type": "constructor", "id": ["langchain", "ChatOpenAI"], "kwargs": {"model": "m"}}, None),
    ("an event of another log", {"type": "system", "data": {"content": "x"}}, None),
    ("flat, of another log", [{"type": "system", "content": "x"}, {"type": "user", "content": "x"}], None),
    ("messages of Chat Completions", {"messages": [{"role": "user", "content": "go"}]}, "openai-chat"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "expected"), [sniff[1:] for sniff in SNIFFS], ids=[sniff[0] for sniff in SNIFFS]
)
def test_the_score_of_a_record_for_this_format(record: Any, expected: str | None) -> None:
    assert sniffed(record) == expected


@in_every_shell
def test_no_shape_crashes_the_reader(
    shell: Callable[[Any], Any], below: tuple[str, ...], tmp_path: Path
) -> None:
    calling_message = {
        **calling(call(), content=[WIDE, "x"]),
        "invalid_tool_calls": [unread("c2")],
        "additional_kwargs": {"tool_calls": [OPENAI]},
    }
    records = [
        *battered({"values": {"messages": [shell(calling_message), shell(tool())]}, "next": []}),
        *battered(shell(calling_message)),
    ]
    judged(records, "langchain", tmp_path)
    assert below is not None


def drawn(rng: Random) -> list[dict[str, Any]]:
    """A sound history, with each call at several places or at one."""
    messages = [message_dict("system", "terse")] if rng.random() < 0.3 else []
    for turn in range(rng.randint(1, 4)):
        messages.append(message_dict("human", f"question {turn}"))
        for step in range(rng.choice((0, 1, 1, 2))):
            ids = [f"c{turn}{step}{number}" for number in range(rng.choice((1, 1, 2, 3)))]
            calls = [
                call(identifier, rng.choice(("read", "write")), {"of": identifier}) for identifier in ids
            ]
            uses = [
                {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"]}
                for call in calls
            ]
            own = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
                }
                for call in calls
            ]
            messages.append(
                {
                    **calling(*calls, content=uses if rng.random() < 0.5 else ""),
                    "additional_kwargs": {"tool_calls": own} if rng.random() < 0.4 else {},
                }
            )
            messages += [tool(item, f"result of {item}") for item in rng.sample(ids, len(ids))]
        messages.append(message_dict("ai", f"answer {turn}", tool_calls=[], invalid_tool_calls=[]))
    return messages


def broken(messages: list[Any], rng: Random) -> list[Any]:
    messages = copy.deepcopy(messages)
    for _ in range(rng.randint(1, 3)):
        places = [
            n for n, message in enumerate(messages) if message["type"] == "tool" or message.get("tool_calls")
        ]
        if not places:
            break
        place, how = rng.choice(places), rng.choice(("lose", "double", "swap", "rename"))
        if how == "lose":
            del messages[place]
        elif how == "double":
            messages.insert(place, copy.deepcopy(messages[place]))
        elif how == "swap" and place + 1 < len(messages):
            messages[place : place + 2] = messages[place + 1], messages[place]
        elif how == "rename" and messages[place]["type"] == "tool":
            messages[place]["tool_call_id"] = f"x{place}"
    return messages


@pytest.mark.slow
def test_broken_histories_are_repaired_so_that_langchain_accepts_them() -> None:
    """Every remaining real result still belongs to its call."""
    shells = [shell for shell, _ in SHELLS.values()]
    for number in range(120):
        rng = Random(number)  # noqa: S311 - the same ones in every run
        sound = drawn(rng)
        shell = shells[number % len(shells)]
        hurt = [shell(item) for item in broken(sound, rng)]
        record = hurt if number % 2 else {"messages": hurt}
        line = json.dumps(record).encode() + b"\n"
        after = testing.fixed(line, "langchain")
        assert testing.fixed(after, "langchain") == after, number
        value = json.loads(after)
        found = revived(value if number % 2 else value["messages"])
        waits = any(row.finding.code == "PA206" for row in testing.rows_of(after, "langchain"))
        assert is_answered(found) is not waits, number
        assert waits or refused(found) == [], number
        pairs = {
            item["id"]: item["args"]["of"] for message in found for item in getattr(message, "tool_calls", ())
        }
        for message in found:
            if message.type == "tool" and message.content != UNKNOWN:
                assert message.content == f"result of {pairs[message.tool_call_id]}", number
        words = Counter(item.content for item in found if item.type in ("human", "system"))
        assert words == Counter(item["content"] for item in sound if item["type"] in ("human", "system")), (
            number
        )


@NEEDS_CORPUS
@pytest.mark.parametrize("name", ["langchain_messages_to_dict", "langchain_dumpd"])
def test_the_samples_are_read_whole(name: str) -> None:
    data = (CORPUS / "format_samples" / f"{name}.jsonl").read_bytes()
    record = json.loads(data)
    assert sniffed(record) == "langchain"
    messages: tuple[Message, ...] = only(record).messages
    kinds = Counter(type(block) for message in messages for block in message.blocks)
    assert (kinds[Call], kinds[Result]) == (2, 2)
    rows = testing.rows_of(data, None)
    assert [(row.finding.code, row.finding.severity) for row in rows] == [("ST115", "warning")]
    assert len(revived(json.loads(testing.fixed(data, None)))) == len(record) == 6
