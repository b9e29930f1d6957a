"""LangChain's messages in three shells, calls that stand in several places, and what LangChain makes of repaired files.

The library itself reads every repaired file again, and turns it into requests that are judged on their own wire.
LangGraph's own check of a history is written down here once more: every call of `tool_calls` has a result.
"""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kin import judged, transcripts
from turnlint import ledger, testing
from turnlint.lifecycle import UNKNOWN
from turnlint.model import Result, Text, Transcript

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
