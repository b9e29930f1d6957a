"""LangChain's messages in three shells, calls that stand in several places, and what LangChain makes of repaired files.

The library itself reads every repaired file again, and turns it into requests that are judged on their own wire.
LangGraph's own check of a history is written down here once more: every call of `tool_calls` has a result.
"""

import copy
import json
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kin import CORPUS, NEEDS_CORPUS, battered, judged, sniffed, transcripts
from turnlint import ledger, testing
from turnlint.lifecycle import UNKNOWN
from turnlint.model import Call, Message, Other, Result, Text, Thinking, Transcript

BARE: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}}
CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage", "function": "FunctionMessage"}  # fmt: skip


def said(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"content": content, **BARE, "type": kind, **more}


def call(identifier: Any = "c1", name: str = "run", args: Any = None) -> dict[str, Any]:
    return {"name": name, "args": {} if args is None else args, "id": identifier, "type": "tool_call"}


def asks(*calls: Any, content: Any = "", **more: Any) -> dict[str, Any]:
    return said("ai", content, tool_calls=list(calls), invalid_tool_calls=[], **more)


def tool(identifier: str = "c1", content: Any = "done", **more: Any) -> dict[str, Any]:
    return said("tool", content, **{"tool_call_id": identifier, "status": "success", **more})


def unread(identifier: str = "c1", args: Any = '{"a": "') -> dict[str, Any]:
    return {"name": "run", "args": args, "id": identifier, "error": "no JSON", "type": "invalid_tool_call"}


USER, SAYS = said("human", "go"), said("ai", "so it is", tool_calls=[], invalid_tool_calls=[])


def as_dict(message: dict[str, Any]) -> Any:
    return {"type": message["type"], "data": message}


def as_dump(message: dict[str, Any]) -> Any:
    name = ["langchain", "schema", "messages", CLASSES[message["type"]]]
    return {"lc": 1, "type": "constructor", "id": name, "kwargs": message}


SHELLS: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "messages_to_dict": (as_dict, ("data",)),
    "dumpd": (as_dump, ("kwargs",)),
    "flat": (lambda message: message, ()),
}
in_every_shell = pytest.mark.parametrize(("shell", "below"), SHELLS.values(), ids=SHELLS)


def only(record: Any) -> Transcript:
    (one,) = transcripts("langchain", record)
    return one


def blocks(message: dict[str, Any], *, before: tuple[Any, ...] = (USER,)) -> tuple[Any, ...]:
    return only([*map(as_dict, (*before, message))]).messages[-1].blocks


def codes(record: Any, folder: Path) -> list[tuple[str, str]]:
    rows, _ = judged([record], None, folder)
    return [(row.finding.code, row.finding.severity) for row in rows]


def repaired(record: Any) -> Any:
    return json.loads(testing.fixed(json.dumps(record).encode() + b"\n", None))


def revived(record: list[Any]) -> list[Any]:
    """A list of messages as LangChain itself reads it."""
    core = pytest.importorskip("langchain_core.messages")
    if all("data" in one for one in record):
        return list(core.messages_from_dict(record))
    if all("kwargs" in one for one in record):
        from langchain_core.load import load

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(load(record, allowed_objects="messages"))
    return list(core.messages_from_dict([as_dict(one) for one in record]))


def is_answered(messages: list[Any]) -> bool:
    """What LangGraph asks of a history before it calls a model."""
    asked = {one["id"] for message in messages for one in getattr(message, "tool_calls", None) or ()}
    return asked <= {message.tool_call_id for message in messages if message.type == "tool"}


def refused(messages: list[Any]) -> list[str]:
    """What is wrong with the request that LangChain makes of messages."""
    from langchain_core.messages import convert_to_openai_messages

    request = {"model": "m", "messages": convert_to_openai_messages(messages)}
    rows = testing.rows_of(json.dumps(request).encode() + b"\n", "openai-chat", "openai")
    return [row.finding.message for row in rows if row.finding.severity == "error"]


@in_every_shell
def test_calls_and_results_stand_in_every_shell(shell: Callable[[Any], Any], below: tuple[str, ...]) -> None:
    one = only(
        [shell(each) for each in (said("system", "terse"), USER, asks(call(), content="so"), tool(), SAYS)]
    )
    assert [message.role for message in one.messages] == ["system", "user", "assistant", "tool", "assistant"]
    text, asked = one.messages[2].blocks
    assert (text, asked.at, asked.id) == (Text((*below, "content")), (*below, "tool_calls", 0), "c1")
    (answered,) = one.messages[3].blocks
    assert isinstance(answered, Result)
    assert (answered.at, answered.keys.id, answered.id) == ((), (*below, "tool_call_id"), "c1")
    assert ledger.read(one.messages, one.wire).tidy


FAULTS: dict[str, tuple[list[Any], list[tuple[str, str]], list[Any]]] = {
    "a call without a result": ([USER, asks(call()), USER], [("PA201", "error")], [USER, asks(call()), None, USER]),
    "one of two": (
        [USER, asks(call(), call("c2", "look")), tool("c2"), SAYS], [("PA201", "error")],
        [USER, asks(call(), call("c2", "look")), None, tool("c2"), SAYS],
    ),
    "a result without a call": ([USER, asks(call()), tool(), tool("c9"), SAYS], [("PA202", "error")], [USER, asks(call()), tool(), SAYS]),
    "a result elsewhere": ([USER, asks(call()), USER, tool(), SAYS], [("PA203", "error")], [USER, asks(call()), tool(), USER, SAYS]),
    "a result before its call": ([USER, tool(), asks(call()), SAYS], [("PA204", "error")], [USER, asks(call()), tool(), SAYS]),
    "a result twice": ([USER, asks(call()), tool(), tool(), SAYS], [("PA205", "error")], [USER, asks(call()), tool(), SAYS]),
    "arguments in a text": (
        [USER, asks(call(args='{"a": 1}')), tool(), SAYS], [("ST106", "error")],
        [USER, asks(call(args={"a": 1})), tool(), SAYS],
    ),
}  # fmt: skip


@in_every_shell
@pytest.mark.parametrize(("messages", "expected", "fixed"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_of_and_repaired_in_the_shell_of_its_neighbours(
    messages: list[Any], expected: Any, fixed: list[Any], shell: Any, below: tuple[str, ...], tmp_path: Path
) -> None:
    record = [shell(one) for one in messages]
    assert codes(record, tmp_path) == expected
    after = repaired(record)
    for place, one in enumerate(fixed):
        if one is not None:
            assert after[place] == shell(one)
            continue
        new = after[place]
        for key in below:
            new = new[key]
        assert (new["content"], new["tool_call_id"], new["name"], new["status"]) == (
            UNKNOWN,
            "c1",
            "run",
            "error",
        )
    found = revived(after)
    assert [one.type for one in found] == [one["type"] if one else "tool" for one in fixed]
    assert is_answered(found)
    assert refused(found) == []


WIDE = {"type": "tool_use", "id": "c1", "name": "run", "input": {}}
OPENAI = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
PLACES: dict[str, tuple[dict[str, Any], list[tuple[Any, ...]]]] = {
    "a block of Anthropic's": (asks(call(), content=[WIDE]), [("data", "content", 0)]),
    "LangChain's own block": (asks(call(), content=[{"type": "tool_call", "id": "c1", "name": "run", "args": {}}]), [("data", "content", 0)]),
    "a block of Gemini's without an id": (asks(call(), content=[{"functionCall": {"name": "run", "args": {}}}]), [("data", "content", 0)]),
    "an item of the Responses API": (
        asks(call(), content=[{"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "run", "arguments": "{}"}]),
        [("data", "content", 0)],
    ),
    "beside the message": (
        {**asks(call()), "additional_kwargs": {"tool_calls": [OPENAI]}}, [("data", "additional_kwargs", "tool_calls", 0)],
    ),
    "beside it as in 2023": (
        {**asks(call()), "additional_kwargs": {"function_call": {"name": "run", "arguments": "{}"}}},
        [("data", "additional_kwargs", "function_call")],
    ),
    "in its chunks": ({**asks(call()), "tool_call_chunks": [{"name": "run", "args": "{}", "id": "c1", "index": 0}]}, [("data", "tool_call_chunks", 0)]),
    "everywhere": (
        {**asks(call(), content=[WIDE]), "additional_kwargs": {"tool_calls": [OPENAI]}},
        [("data", "content", 0), ("data", "additional_kwargs", "tool_calls", 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("message", "also"), PLACES.values(), ids=PLACES)
def test_a_call_that_stands_in_several_places_is_one(message: Any, also: list[Any], tmp_path: Path) -> None:
    (one,) = blocks(message)
    assert (one.at, [twin.at for twin in one.also]) == (("data", "tool_calls", 0), also)
    assert codes([*map(as_dict, (USER, message, tool(), SAYS))], tmp_path) == []


def test_places_change_together() -> None:
    """A copy goes from all of them, and an id that is taken is given up in all of them."""
    twice, once = asks(call(), call(), content=[WIDE, WIDE]), asks(call(), content=[WIDE])
    assert repaired([*map(as_dict, (USER, twice, tool(), SAYS))])[1] == as_dict(once)
    other = asks(call(args={"a": 1}), content=[{**WIDE, "input": {"a": 1}}])
    after = repaired([*map(as_dict, (USER, asks(call()), tool(), other, tool(content="2"), SAYS))])
    new = after[3]["data"]
    ids = {new["tool_calls"][0]["id"], new["content"][0]["id"], after[4]["data"]["tool_call_id"]}
    assert len(ids) == 1
    assert ids != {"c1"}
    assert is_answered(revived(after))


def test_calls_beside_a_message_count_where_it_names_none() -> None:
    kwargs = {"tool_calls": [OPENAI]}
    (one,) = blocks({**said("ai", ""), "additional_kwargs": kwargs})
    assert (one.at, one.id) == (("data", "additional_kwargs", "tool_calls", 0), "c1")
    assert blocks({**said("ai", "x", tool_calls=[]), "additional_kwargs": {"tool_calls": []}}) == (
        Text(("data", "content")),
    )
    (own,) = blocks({**asks(call("c2")), "additional_kwargs": kwargs})
    assert own.id == "c2"


def test_the_function_calls_of_2023_pair_by_name(tmp_path: Path) -> None:
    asked = {**said("ai", ""), "additional_kwargs": {"function_call": {"name": "run", "arguments": "{}"}}}
    answer = said("function", "done", name="run")
    assert codes([*map(as_dict, (USER, asked, answer, SAYS))], tmp_path) == []
    after = repaired([*map(as_dict, (USER, asked, SAYS))])
    assert after[2] == {"type": "function", "data": {"content": UNKNOWN, "type": "function", "name": "run"}}
    assert [one.type for one in revived(after)] == ["human", "ai", "function", "ai"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [('{"a": "', [("ST115", "warning")]), ("a: 1", [("ST106", "warning")]), ("{}", []), (None, [])],
)
def test_a_call_that_could_not_be_parsed_is_one(args: Any, expected: Any, tmp_path: Path) -> None:
    asked = {**asks(), "invalid_tool_calls": [unread(args=args)]}
    record = [*map(as_dict, (USER, asked, tool(status="error", content="no JSON"), SAYS))]
    assert codes(record, tmp_path) == expected
    found = revived(repaired(record))
    assert [(one["id"], found[2].tool_call_id) for one in found[1].invalid_tool_calls] == [("c1", "c1")]
    assert codes([*map(as_dict, (USER, asked, SAYS))], tmp_path)[-1:] == [("PA201", "error")]


@pytest.mark.parametrize(
    ("more", "error", "state"),
    [
        ({}, None, "complete"),
        ({"status": "error"}, True, "error"),
        ({"artifact": {"a": 1}}, None, "complete"),
    ],
)
def test_a_result_says_how_it_ended(more: Any, error: Any, state: str) -> None:
    (one,) = blocks(tool(**more), before=(USER, asks(call())))
    assert (one.error, one.state, one.synthetic) == (error, state, False)
    (made_up,) = blocks(tool(content=UNKNOWN))
    assert made_up.synthetic


def test_what_a_content_holds() -> None:
    parts = [
        "so", {"type": "text", "text": "it"}, {"type": "text", "text": " "}, {"type": "reasoning", "reasoning": "hm"},
        {"type": "server_tool_use", "id": "s1", "name": "search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "server_tool_call", "id": "s2", "name": "search", "args": {}},
        {"type": "server_tool_result", "tool_call_id": "s2", "output": 1}, {"type": "image", "url": "x"},
    ]  # fmt: skip
    found = blocks(said("ai", parts))
    assert [type(block) for block in found] == [Text, Text, Thinking, Call, Result, Call, Result, Other]
    assert all(block.server for block in found if isinstance(block, Call | Result))
    results = said("human", [{"type": "tool_result", "tool_use_id": "c1", "content": "1"}])
    (record,) = transcripts("langchain", [*map(as_dict, (USER, asks(content=[WIDE]), results, SAYS))])
    assert ledger.read(record.messages, record.wire).tidy


def test_others_may_speak_and_messages_may_be_removed(tmp_path: Path) -> None:
    spoken = [
        said("chat", "go", role="user"),
        said("chat", "so", role="assistant"),
        said("chat", "hm", role="judge"),
    ]
    assert [one.role for one in only([*map(as_dict, spoken)]).messages] == ["user", "assistant", "other"]
    gone = [USER, asks(call(), id="m1"), said("remove", "", id="m1"), USER]
    assert codes([*map(as_dict, gone)], tmp_path) == []
    everything = [USER, asks(call()), said("remove", "", id="__remove_all__"), USER]
    assert codes([*map(as_dict, everything)], tmp_path) == []
    assert codes([*map(as_dict, [*gone[:2], said("remove", "", id="m2"), USER])], tmp_path) == [
        ("PA201", "error")
    ]


WAITS = [USER, asks(call())]
STATES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "an end": ({"values": {"messages": WAITS}, "next": [], "tasks": []}, [("PA206", "warning")]),
    "a step to go": ({"values": {"messages": WAITS}, "next": ["tools"]}, []),
    "an interrupt": ({"messages": WAITS, "__interrupt__": [{"value": "?"}]}, []),
    "a thread that was interrupted": ({"thread_id": "t", "values": {"messages": WAITS}, "interrupts": {"k": [{}]}}, []),
    "a thread that was not": ({"thread_id": "t", "values": {"messages": WAITS}, "interrupts": {}}, [("PA206", "warning")]),
}  # fmt: skip


@pytest.mark.parametrize(("record", "expected"), STATES.values(), ids=STATES)
def test_a_graph_that_was_interrupted_waits_with_its_calls(
    record: Any, expected: Any, tmp_path: Path
) -> None:
    assert codes(record, tmp_path) == expected


@pytest.mark.parametrize("holder", ["values", "channel_values", "kwargs", "input", None])
def test_messages_are_repaired_in_what_holds_them(holder: str | None) -> None:
    history = {"messages": [USER, asks(call()), USER]}
    after = repaired({holder: history, "ts": "1"} if holder else history)
    there = after[holder] if holder else after
    assert [one["type"] for one in there["messages"]] == ["human", "ai", "tool", "human"]


@in_every_shell
def test_one_message_a_line(shell: Callable[[Any], Any], below: tuple[str, ...], tmp_path: Path) -> None:
    turns = [USER, asks(call()), USER]
    lines = [{"session_id": key, **shell(one)} for one in turns for key in "ab"]
    rows, tally = judged(lines, None, tmp_path)
    assert ([row.finding.conversation for row in rows], tally.conversations) == (["a", "b"], 2)
    assert [row.place.pointer for row in rows] == ["/" + "/".join((*below, "tool_calls/0/id"))] * 2
    wrapped = b"".join(
        json.dumps({"session_id": "a", "message": shell(one)}).encode() + b"\n" for one in turns
    )
    after = [json.loads(line) for line in testing.fixed(wrapped, None).splitlines()]
    assert [one["session_id"] for one in after] == ["a"] * 4
    assert is_answered(revived([one["message"] for one in after]))


SNIFFS: list[tuple[str, Any, str | None]] = [
    ("messages_to_dict", [as_dict(USER)], "langchain"),
    ("of an early version", [{"type": "human", "data": {"content": "go", "additional_kwargs": {}, "example": False}}], "langchain"),
    ("dumpd", [as_dump(USER)], "langchain"),
    ("flat", {"messages": [USER, SAYS]}, "langchain"),
    ("a prompt", {"lc": 1, "type": "constructor", "id": ["ChatPromptValue"], "kwargs": {"messages": [as_dump(USER)]}}, "langchain"),
    ("a model that was dumped", {"lc": 1, "type": "constructor", "id": ["langchain", "ChatOpenAI"], "kwargs": {"model": "m"}}, None),
    ("an event of another log", {"type": "system", "data": {"content": "x"}}, None),
    ("flat, of another log", [{"type": "system", "content": "x"}, {"type": "user", "content": "x"}], None),
    ("messages of Chat Completions", {"messages": [{"role": "user", "content": "go"}]}, "openai-chat"),
]  # fmt: skip


@pytest.mark.parametrize(("record", "expected"), [one[1:] for one in SNIFFS], ids=[one[0] for one in SNIFFS])
def test_a_record_speaks_for_this_format(record: Any, expected: str | None) -> None:
    assert sniffed(record) == expected


@in_every_shell
def test_no_shape_crashes_the_reader(
    shell: Callable[[Any], Any], below: tuple[str, ...], tmp_path: Path
) -> None:
    asked = {
        **asks(call(), content=[WIDE, "x"]),
        "invalid_tool_calls": [unread("c2")],
        "additional_kwargs": {"tool_calls": [OPENAI]},
    }
    records = [
        *battered({"values": {"messages": [shell(asked), shell(tool())]}, "next": []}),
        *battered(shell(asked)),
    ]
    judged(records, "langchain", tmp_path)
    assert below is not None


def drawn(rng: Random) -> list[dict[str, Any]]:
    """A sound history, each call in several places or in one."""
    messages = [said("system", "terse")] if rng.random() < 0.3 else []
    for turn in range(rng.randint(1, 4)):
        messages.append(said("human", f"question {turn}"))
        for step in range(rng.choice((0, 1, 1, 2))):
            ids = [f"c{turn}{step}{number}" for number in range(rng.choice((1, 1, 2, 3)))]
            calls = [call(one, rng.choice(("read", "write")), {"of": one}) for one in ids]
            uses = [
                {"type": "tool_use", "id": one["id"], "name": one["name"], "input": one["args"]}
                for one in calls
            ]
            own = [
                {
                    "id": one["id"],
                    "type": "function",
                    "function": {"name": one["name"], "arguments": json.dumps(one["args"])},
                }
                for one in calls
            ]
            messages.append(
                {
                    **asks(*calls, content=uses if rng.random() < 0.5 else ""),
                    "additional_kwargs": {"tool_calls": own} if rng.random() < 0.4 else {},
                }
            )
            messages += [tool(one, f"result of {one}") for one in rng.sample(ids, len(ids))]
        messages.append(said("ai", f"answer {turn}", tool_calls=[], invalid_tool_calls=[]))
    return messages


def broken(messages: list[Any], rng: Random) -> list[Any]:
    messages = copy.deepcopy(messages)
    for _ in range(rng.randint(1, 3)):
        places = [n for n, one in enumerate(messages) if one["type"] == "tool" or one.get("tool_calls")]
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


def test_broken_histories_are_repaired_so_that_langchain_takes_them() -> None:
    """Every real result that stands still answers the call that it answered."""
    shells = [shell for shell, _ in SHELLS.values()]
    for number in range(120):
        rng = Random(number)  # noqa: S311 - the same ones in every run
        sound = drawn(rng)
        shell = shells[number % len(shells)]
        hurt = [shell(one) for one in broken(sound, rng)]
        record = hurt if number % 2 else {"messages": hurt}
        line = json.dumps(record).encode() + b"\n"
        after = testing.fixed(line, "langchain")
        assert testing.fixed(after, "langchain") == after, number
        value = json.loads(after)
        found = revived(value if number % 2 else value["messages"])
        waits = any(row.finding.code == "PA206" for row in testing.rows_of(after, "langchain"))
        assert is_answered(found) is not waits, number
        assert waits or refused(found) == [], number
        asked = {
            one["id"]: one["args"]["of"] for message in found for one in getattr(message, "tool_calls", ())
        }
        for message in found:
            if message.type == "tool" and message.content != UNKNOWN:
                assert message.content == f"result of {asked[message.tool_call_id]}", number
        words = Counter(one.content for one in found if one.type in ("human", "system"))
        assert words == Counter(one["content"] for one in sound if one["type"] in ("human", "system")), number


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
