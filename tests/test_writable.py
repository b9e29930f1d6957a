"""A finding names a repair only if `fix` can make it, also if an id is a list, an object or a number."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turnlint.documents.source import Source
from turnlint.engine import Options
from turnlint.judging import Book
from turnlint.repair.choosing import Policy
from turnlint.repair.passes import fix
from turnlint.testing import rows_of

Json = dict[str, Any]
UNSAID = "-"
"""No result."""


def langchain(call: Any, result: Any) -> Json:
    def message(kind: str, content: str, **more: Any) -> Json:
        return {"type": kind, "data": {"content": content, "type": kind, "additional_kwargs": {}, **more}}

    calling = message("ai", "", tool_calls=[{"name": "f", "args": {}, "id": call, "type": "tool_call"}])
    answer = [] if result == UNSAID else [message("tool", "ok", tool_call_id=result)]
    return {
        "messages": [message("human", "hi"), calling, *answer, message("ai", "so"), message("human", "go")]
    }


def chat(call: Any, result: Any) -> Json:
    calls = [{"id": call, "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    answer = [] if result == UNSAID else [{"role": "tool", "tool_call_id": result, "content": "ok"}]
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    messages = [{"role": "assistant", "content": "so"}, {"role": "user", "content": "go"}]
    return {"model": "m", "messages": [{"role": "user", "content": "hi"}, message, *answer, *messages]}


def anthropic(call: Any, result: Any) -> Json:
    calling = {"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": "f", "input": {}}]}
    answer: Any = [{"type": "tool_result", "tool_use_id": result, "content": "ok"}]
    message = {"role": "user", "content": "go" if result == UNSAID else answer}
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}, calling, message]}


WIRES: dict[str, Callable[[Any, Any], Json]] = {
    "langchain": langchain,
    "openai-chat": chat,
    "mistral": chat,
    "anthropic": anthropic,
}


def shown(record: Json, wire: str, provider: str) -> list[str]:
    """The titles of the repairs that `lint` shows as made by `fix`."""
    rows = rows_of(json.dumps(record).encode() + b"\n", wire, provider)
    return [row.finding.fix.title for row in rows if row.finding.fix and row.finding.fix.is_done_here]


def notes(folder: Path, record: Json, wire: str, provider: str) -> list[str]:
    """The notes of `fix --level lossy` on findings that keep their repair."""
    path = folder / "log.jsonl"
    path.write_text(json.dumps(record) + "\n")
    options = Options(format=wire, providers=(provider,))
    done = fix(Source(path.name, str(path)), options, Book(options), Policy(level="lossy"))
    return [item.reason for item in (*done.notes, *done.unmade, *done.failures)]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("provider", ["mistral", "anthropic"])
@pytest.mark.parametrize("call", [[], {"a": 1}, 5])
@pytest.mark.parametrize("result", ["no such id", UNSAID])
def test_a_repair_that_needs_an_id_is_shown_only_if_it_is_made(
    tmp_path: Path, wire: str, provider: str, call: Any, result: str
) -> None:
    record = WIRES[wire](call, result)
    assert [
        note for note in notes(tmp_path, record, wire, provider) if "PR30" in note or "PA201" in note
    ] == []


@pytest.mark.parametrize(("call", "kind"), [([], "a list"), ({"a": 1}, "an object")])
def test_the_finding_names_the_blocking_value(call: Any, kind: str) -> None:
    rows = rows_of(json.dumps(chat(call, "no such id")).encode() + b"\n", "openai-chat", "mistral")
    titles = {row.finding.code: row.finding.fix.title for row in rows if row.finding.fix}
    assert titles["PR303"] == f"none; the id of the call is {kind}: write a string"


def test_an_id_is_still_added_where_its_key_is_absent() -> None:
    record = chat(None, "no such id")
    assert "replace the id with one of that format" in shown(record, "openai-chat", "mistral")


@pytest.mark.parametrize("provider", ["mistral", "kimi", "anthropic"])
def test_a_call_of_a_format_without_ids_lacks_none(tmp_path: Path, provider: str) -> None:
    call = json.dumps({"name": "f", "arguments": {}})
    turns = [("human", "hi"), ("function_call", call), ("observation", "ok"), ("gpt", "so")]
    record = {"conversations": [{"from": role, "value": value} for role, value in turns]}
    assert shown(record, "sharegpt", provider) == []
    assert notes(tmp_path, record, "sharegpt", provider) == []
