"""LangChain's messages in three shells, calls at several places, and LangChain's reading of repaired files.

The library itself reads every repaired file again, and turns it into requests that are checked on their own wire. The
module repeats LangGraph's check of a history: every call of `tool_calls` has a result.
"""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kin import judged, transcripts
from turnlint import ledger, testing
from turnlint.lifecycle import UNKNOWN, state_of
from turnlint.model import Result, Text, Transcript

BARE: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}}
CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage", "function": "FunctionMessage"}  # fmt: skip


def message_dict(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"content": content, **BARE, "type": kind, **more}


def call(identifier: Any = "c1", name: str = "run", args: Any = None) -> dict[str, Any]:
    return {"name": name, "args": {} if args is None else args, "id": identifier, "type": "tool_call"}


def calling(*calls: Any, content: Any = "", **more: Any) -> dict[str, Any]:
    return message_dict("ai", content, tool_calls=list(calls), invalid_tool_calls=[], **more)


def tool(identifier: str = "c1", content: Any = "done", **more: Any) -> dict[str, Any]:
    return message_dict("tool", content, **{"tool_call_id": identifier, "status": "success", **more})


def unread(identifier: str = "c1", args: Any = '{"a": "') -> dict[str, Any]:
    return {"name": "run", "args": args, "id": identifier, "error": "no JSON", "type": "invalid_tool_call"}


USER, REPLY = (
    message_dict("human", "go"),
    message_dict("ai", "so it is", tool_calls=[], invalid_tool_calls=[]),
)


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
    (transcript,) = transcripts("langchain", record)
    return transcript


def blocks(message: dict[str, Any], *, before: tuple[Any, ...] = (USER,)) -> tuple[Any, ...]:
    return only([*map(as_dict, (*before, message))]).messages[-1].blocks


def codes(record: Any, folder: Path) -> list[tuple[str, str]]:
    rows, _ = judged([record], None, folder)
    return [(row.finding.code, row.finding.severity) for row in rows]


def repaired(record: Any) -> Any:
    return json.loads(testing.fixed(json.dumps(record).encode() + b"\n", None))


def revived(record: list[Any]) -> list[Any]:
    """A list of messages as LangChain reads it."""
    core = pytest.importorskip("langchain_core.messages")
    if all("data" in item for item in record):
        return list(core.messages_from_dict(record))
    if all("kwargs" in item for item in record):
        from langchain_core.load import load

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(load(record, allowed_objects="messages"))
    return list(core.messages_from_dict([as_dict(item) for item in record]))


def is_answered(messages: list[Any]) -> bool:
    """LangGraph's check of a history before a call of a model."""
    call_ids = {item["id"] for message in messages for item in getattr(message, "tool_calls", None) or ()}
    return call_ids <= {message.tool_call_id for message in messages if message.type == "tool"}


def refused(messages: list[Any]) -> list[str]:
    """Faults in the request that LangChain makes of messages."""
    from langchain_core.messages import convert_to_openai_messages

    request = {"model": "m", "messages": convert_to_openai_messages(messages)}
    rows = testing.rows_of(json.dumps(request).encode() + b"\n", "openai-chat", "openai")
    return [row.finding.message for row in rows if row.finding.severity == "error"]


@in_every_shell
def test_calls_and_results_are_read_in_every_shell(
    shell: Callable[[Any], Any], below: tuple[str, ...]
) -> None:
    one = only(
        [
            shell(each)
            for each in (message_dict("system", "terse"), USER, calling(call(), content="so"), tool(), REPLY)
        ]
    )
    assert [message.role for message in one.messages] == ["system", "user", "assistant", "tool", "assistant"]
    text, call_block = one.messages[2].blocks
    assert (text, call_block.at, call_block.id) == (
        Text((*below, "content")),
        (*below, "tool_calls", 0),
        "c1",
    )
    (answered,) = one.messages[3].blocks
    assert isinstance(answered, Result)
    assert (answered.at, answered.keys.id, answered.id) == ((), (*below, "tool_call_id"), "c1")
    assert ledger.read(one.messages, one.wire).tidy


FAULTS: dict[str, tuple[list[Any], list[tuple[str, str]], list[Any]]] = {
    "a call without a result": ([USER, calling(call()), USER], [("PA201", "error")], [USER, calling(call()), None, USER]),
    "one of two": (
        [USER, calling(call(), call("c2", "look")), tool("c2"), REPLY], [("PA201", "error")],
        [USER, calling(call(), call("c2", "look")), None, tool("c2"), REPLY],
    ),
    "a result without a call": ([USER, calling(call()), tool(), tool("c9"), REPLY], [("PA202", "error")], [USER, calling(call()), tool(), REPLY]),
    "a result elsewhere": ([USER, calling(call()), USER, tool(), REPLY], [("PA203", "error")], [USER, calling(call()), tool(), USER, REPLY]),
    "a result before its call": ([USER, tool(), calling(call()), REPLY], [("PA204", "error")], [USER, calling(call()), tool(), REPLY]),
    "a result twice": ([USER, calling(call()), tool(), tool(), REPLY], [("PA205", "error")], [USER, calling(call()), tool(), REPLY]),
    "arguments in a text": (
        [USER, calling(call(args='{"a": 1}')), tool(), REPLY], [("ST106", "error")],
        [USER, calling(call(args={"a": 1})), tool(), REPLY],
    ),
}  # fmt: skip


@in_every_shell
@pytest.mark.parametrize(("messages", "expected", "fixed"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_reported_and_repaired_in_the_shell_of_its_neighbours(
    messages: list[Any], expected: Any, fixed: list[Any], shell: Any, below: tuple[str, ...], tmp_path: Path
) -> None:
    record = [shell(message) for message in messages]
    assert codes(record, tmp_path) == expected
    after = repaired(record)
    for place, entry in enumerate(fixed):
        if entry is not None:
            assert after[place] == shell(entry)
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
    assert [item.type for item in found] == [item["type"] if item else "tool" for item in fixed]
    assert is_answered(found)
    assert refused(found) == []


WIDE = {"type": "tool_use", "id": "c1", "name": "run", "input": {}}
OPENAI = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
PLACES: dict[str, tuple[dict[str, Any], list[tuple[Any, ...]]]] = {
    "a block of Anthropic's": (calling(call(), content=[WIDE]), [("data", "content", 0)]),
    "LangChain's own block": (calling(call(), content=[{"type": "tool_call", "id": "c1", "name": "run", "args": {}}]), [("data", "content", 0)]),
    "a block of Gemini's without an id": (calling(call(), content=[{"functionCall": {"name": "run", "args": {}}}]), [("data", "content", 0)]),
    "an item of the Responses API": (
        calling(call(), content=[{"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "run", "arguments": "{}"}]),
        [("data", "content", 0)],
    ),
    "beside the message": (
        {**calling(call()), "additional_kwargs": {"tool_calls": [OPENAI]}}, [("data", "additional_kwargs", "tool_calls", 0)],
    ),
    "beside it as in 2023": (
        {**calling(call()), "additional_kwargs": {"function_call": {"name": "run", "arguments": "{}"}}},
        [("data", "additional_kwargs", "function_call")],
    ),
    "in its chunks": ({**calling(call()), "tool_call_chunks": [{"name": "run", "args": "{}", "id": "c1", "index": 0}]}, [("data", "tool_call_chunks", 0)]),
    "everywhere": (
        {**calling(call(), content=[WIDE]), "additional_kwargs": {"tool_calls": [OPENAI]}},
        [("data", "content", 0), ("data", "additional_kwargs", "tool_calls", 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("message", "also"), PLACES.values(), ids=PLACES)
def test_a_call_at_several_places_is_one_call(message: Any, also: list[Any], tmp_path: Path) -> None:
    (block,) = blocks(message)
    assert (block.at, [twin.at for twin in block.also]) == (("data", "tool_calls", 0), also)
    assert codes([*map(as_dict, (USER, message, tool(), REPLY))], tmp_path) == []


def test_places_change_together() -> None:
    """A copy is removed from all places, and an invalid id is replaced in all places."""
    twice, once = calling(call(), call(), content=[WIDE, WIDE]), calling(call(), content=[WIDE])
    assert repaired([*map(as_dict, (USER, twice, tool(), REPLY))])[1] == as_dict(once)
    other = calling(call(args={"a": 1}), content=[{**WIDE, "input": {"a": 1}}])
    after = repaired([*map(as_dict, (USER, calling(call()), tool(), other, tool(content="2"), REPLY))])
    new = after[3]["data"]
    ids = {new["tool_calls"][0]["id"], new["content"][0]["id"], after[4]["data"]["tool_call_id"]}
    assert len(ids) == 1
    assert ids != {"c1"}
    assert is_answered(revived(after))


def test_calls_beside_a_message_count_if_it_has_none() -> None:
    kwargs = {"tool_calls": [OPENAI]}
    (block,) = blocks({**message_dict("ai", ""), "additional_kwargs": kwargs})
    assert (block.at, block.id) == (("data", "additional_kwargs", "tool_calls", 0), "c1")
    assert blocks({**message_dict("ai", "x", tool_calls=[]), "additional_kwargs": {"tool_calls": []}}) == (
        Text(("data", "content")),
    )
    (own,) = blocks({**calling(call("c2")), "additional_kwargs": kwargs})
    assert own.id == "c2"


def test_the_function_calls_of_2023_pair_by_name(tmp_path: Path) -> None:
    calling_message = {
        **message_dict("ai", ""),
        "additional_kwargs": {"function_call": {"name": "run", "arguments": "{}"}},
    }
    answer = message_dict("function", "done", name="run")
    assert codes([*map(as_dict, (USER, calling_message, answer, REPLY))], tmp_path) == []
    after = repaired([*map(as_dict, (USER, calling_message, REPLY))])
    assert after[2] == {"type": "function", "data": {"content": UNKNOWN, "type": "function", "name": "run"}}
    assert [item.type for item in revived(after)] == ["human", "ai", "function", "ai"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [('{"a": "', [("ST115", "warning")]), ("a: 1", [("ST106", "warning")]), ("{}", []), (None, [])],
)
def test_an_unparsable_call_is_a_call(args: Any, expected: Any, tmp_path: Path) -> None:
    calling_message = {**calling(), "invalid_tool_calls": [unread(args=args)]}
    record = [*map(as_dict, (USER, calling_message, tool(status="error", content="no JSON"), REPLY))]
    assert codes(record, tmp_path) == expected
    found = revived(repaired(record))
    assert [(call["id"], found[2].tool_call_id) for call in found[1].invalid_tool_calls] == [("c1", "c1")]
    assert codes([*map(as_dict, (USER, calling_message, REPLY))], tmp_path)[-1:] == [("PA201", "error")]


@pytest.mark.parametrize(
    ("more", "error", "state"),
    [
        ({}, None, "complete"),
        ({"status": "error"}, True, "error"),
        ({"artifact": {"a": 1}}, None, "complete"),
    ],
)
def test_the_status_of_a_result_is_read(more: Any, error: Any, state: str) -> None:
    (block,) = blocks(tool(**more), before=(USER, calling(call())))
    assert (block.error, state_of(block), block.synthetic) == (error, state, False)
    (made_up,) = blocks(tool(content=UNKNOWN))
    assert made_up.synthetic
