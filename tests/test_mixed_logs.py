"""A record with a whole conversation has the same findings alone and in any file, with any other records."""

import json
import random
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from turnlint.carriers import best_for
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Skipped, Tally, lint
from turnlint.model import Record
from turnlint.rows import Row

ROOT = Path(__file__).parent.parent / "fixtures"
WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "cohere", "ollama")
BODIES = frozenset({"messages", "contents", "input", "chat_history", "request", "body", "params"})
BOOK = Book(Options())

Found = list[tuple[str, str, str, str, str | None]]


def findings(lines: Iterable[bytes]) -> dict[int, Found]:
    """The findings of a file, by line."""
    found: dict[int, Found] = defaultdict(list)
    source = Source("log.jsonl", None, data=b"".join(line + b"\n" for line in lines))
    for event in lint(source, BOOK.options, BOOK):
        if isinstance(event, Row):
            finding = event.finding
            where = event.place.pointer
            found[event.place.line].append(
                (finding.code, where, finding.severity, finding.message, finding.provider)
            )
    return {line: sorted(rows, key=str) for line, rows in found.items()}


@cache
def records() -> tuple[bytes, ...]:
    """Request bodies of all wires, as in the fixtures, with and without a wrapper of a recorder."""
    taken: dict[bytes, None] = {}
    for path in sorted(ROOT.glob("*/*/*.jsonl")):
        for line in path.read_bytes().splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict) and not BODIES.isdisjoint(value) and best_for([Record(1, 0, line)])[0]:
                taken[line] = None
    return tuple(taken)


@cache
def alone(line: bytes) -> Found:
    return findings([line]).get(1, [])


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_lines_does_not_change_the_findings_of_a_line(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - draws a test
    chosen = dice.sample(records(), min(len(records()), 120))
    together = findings(chosen)
    for number, line in enumerate(chosen, 1):
        assert together.get(number, []) == alone(line), line[:200]


@pytest.mark.parametrize("wire", WIRES)
def test_the_first_lines_of_a_file_do_not_affect_the_others(wire: str) -> None:
    dice = random.Random(wire)  # noqa: S311 - draws a test
    first = [
        line
        for path in sorted((ROOT / "formats" / wire).glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    ]
    first = [item for item in first if item in set(records())]
    chosen = [*first[:1] * 30, *dice.sample(records(), 60)]
    together = findings(chosen)
    for number, line in enumerate(chosen, 1):
        assert together.get(number, []) == alone(line), line[:200]


def test_system_messages_of_a_router_stay_beside_requests_of_anthropic() -> None:
    own = {
        "model": "claude-opus-4-7",
        "max_tokens": 9,
        "system": "s",
        "messages": [{"role": "user", "content": "hi"}],
    }
    routed = {
        "model": "anthropic/claude-opus-4.7", "max_tokens": 128,
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}],
    }  # fmt: skip
    for count in (2, 40):
        assert not findings([*[json.dumps(own).encode()] * count, *[json.dumps(routed).encode()] * count])


def test_a_conversation_without_calls_is_read_beside_a_record_of_no_format() -> None:
    plain = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "bye"},
    ]
    lines = [json.dumps({key: plain}).encode() for key in ("messages", "input")]
    for order in (lines, lines[::-1]):
        source = Source("log.jsonl", None, data=b"\n".join(order))
        events = list(lint(source, BOOK.options, BOOK))
        assert not any(isinstance(event, Skipped) for event in events)
        assert next(event.messages for event in events if isinstance(event, Tally)) == 3


MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
CHAT = {"model": "gpt-4o", "messages": [*MESSAGES, {"role": "user", "content": "more"}]}
CALLED = {"model": "gpt-4o", "messages": [
    {"role": "user", "content": "go"},
    {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "ok"},
]}  # fmt: skip
CLAUDE = {"model": "claude-opus-4-6", "max_tokens": 9, "messages": [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]},
]}  # fmt: skip
SAMPLES = {
    "messages alone": {"input": MESSAGES},
    "a sample of a data set": {"id": "s-1", "input": MESSAGES, "ideal": "yes"},
    "messages with calls": {"input": CALLED["messages"], "ideal": "yes"},
}
"""Messages under `input` without a model. An evaluation writes them, and no recorded request lacks the model."""


def read(lines: list[bytes]) -> tuple[list[Row], list[str], Tally]:
    rows, skipped, tally = [], [], Tally()
    for event in lint(Source("log.jsonl", None, data=b"\n".join([*lines, b""])), BOOK.options, BOOK):
        if isinstance(event, Row):
            rows.append(event)
        elif isinstance(event, Skipped):
            skipped.append(event.near.name if event.near else "")
        elif isinstance(event, Tally):
            tally = event
    return rows, skipped, tally


@pytest.mark.parametrize("times", [1, 40])
@pytest.mark.parametrize("beside", [CHAT, CALLED, CLAUDE], ids=["chat", "chat with calls", "anthropic"])
@pytest.mark.parametrize("name", SAMPLES)
def test_messages_under_input_without_a_model_are_named_alone_and_in_every_file(
    name: str, beside: dict[str, object], times: int
) -> None:
    sample, other = (json.dumps(item).encode() for item in (SAMPLES[name], beside))
    assert read([sample] * times)[:2] == ([], ["messages under `input`"])
    for lines in ([sample] * times + [other] * times, [other] * times + [sample] * times):
        rows, skipped, tally = read(lines)
        assert (rows, skipped) == ([], [])
        assert tally.conversations == times
        assert tally.noted == {"unread messages under `input`": times}


@pytest.mark.parametrize("times", [1, 40])
def test_messages_under_input_with_a_model_are_a_request_in_every_file(times: int) -> None:
    orphan = {"type": "function_call_output", "call_id": "c9", "output": "x"}
    for request, count in (({"model": "gpt-4o", "input": MESSAGES}, 0), ({"input": [*MESSAGES, orphan]}, 1)):
        request_line, other = (json.dumps(item).encode() for item in (request, CHAT))
        for lines in (
            [request_line] * times,
            [request_line] * times + [other] * times,
            [other] * times + [request_line] * times,
        ):
            rows, skipped, tally = read(lines)
            assert (len(rows), skipped, tally.noted) == (count * times, [], {})
            assert tally.conversations == len(lines)


GEMINI = {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}
EMPTY = {
    "a model and settings": {"model": "deepseek-chat", "messages": [], "stream": True, "stream_options": {"include_usage": True}},
    "a model of OpenAI": {"model": "gpt-4o-mini", "messages": []},
    "a model of Anthropic": {"model": "claude-sonnet-4-5", "messages": [], "max_tokens": 9},
    "in a wrapper": {"id": "r1", "request": {"model": "gpt-4o-mini", "messages": []}},
    "items": {"model": "gpt-5", "input": []},
    "contents": {"contents": [], "generationConfig": {}},
    "null contents": {"contents": None, "generationConfig": {}},
}  # fmt: skip


@pytest.mark.parametrize("times", [1, 30])
@pytest.mark.parametrize("beside", [CHAT, CLAUDE, GEMINI], ids=["chat", "anthropic", "gemini"])
@pytest.mark.parametrize("name", EMPTY)
def test_a_request_without_messages_has_the_same_findings_alone_and_in_every_file(
    name: str, beside: dict[str, object], times: int
) -> None:
    empty, other = (json.dumps(item).encode() for item in (EMPTY[name], beside))
    (expected,) = findings([empty]).values()
    assert [item[0] for item in expected] == ["PR323"]
    assert findings([empty, *[other] * times])[1] == expected
    assert findings([*[other] * times, empty])[times + 1] == expected


PLAIN = b'{"model":"gpt-4o","messages":[{"role":"user","content":"Go."}]}'


@pytest.mark.parametrize("result", [{"tool_call_id": "c1"}, {"tool_name": "look"}, {"name": "look"}, {}])
@pytest.mark.parametrize("call", [{"id": "c1", "type": "function"}, {"id": "c1"}, {"type": "function"}, {}])
def test_a_call_with_an_object_as_arguments_is_read_alike_alone_and_behind_many_records(
    call: dict[str, str], result: dict[str, str]
) -> None:
    """Only a call without a type is evidence for Ollama, so that a sample of its messages needs the type."""
    messages = [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{**call, "function": {"name": "look", "arguments": {}}}],
        },
        {"role": "tool", **result, "content": "done"},
    ]
    line = json.dumps({"model": "gpt-4o", "messages": messages}).encode()
    assert findings([PLAIN] * 30 + [line]).get(31, []) == alone(line)


OPEN_CALL = {
    "model": "gpt-4o",
    "messages": [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
    ],
}
ADDRESS = "https://api.openai.com/v1/chat/completions"


@pytest.mark.parametrize(
    ("around", "is_request"),
    [
        ({"url": ADDRESS}, True),
        ({"url": f"{ADDRESS}?api-version=1"}, True),
        ({"endpoint": "api.openai.com/v1/chat/completions"}, True),
        ({"host": "api.openai.com"}, False),
        ({"base_url": "https://api.openai.com/v1"}, False),
        ({"url": "https://example.com/threads/1/messages"}, False),
    ],
)
@pytest.mark.parametrize("before", [0, 30])
def test_a_record_sent_to_an_address_of_requests_ends_as_a_request(
    around: dict[str, str], is_request: bool, before: int
) -> None:
    """A body without settings may be a stored conversation, unless its record names the address that it was sent to."""
    line = json.dumps({**around, "request": OPEN_CALL}).encode()
    found = findings([PLAIN] * before + [line]).get(before + 1, [])
    assert any(code == "PR311" for code, *_ in found) == is_request


def test_a_stored_answer_behind_a_request_is_not_its_end() -> None:
    answer = {"choices": [{"message": OPEN_CALL["messages"][1]}]}
    request = {"model": "gpt-4o", "messages": OPEN_CALL["messages"][:1]}
    line = json.dumps({"url": ADDRESS, "request": request, "response": answer}).encode()
    assert all(severity != "error" for _, _, severity, *_ in alone(line))


@pytest.mark.parametrize("wrap", [False, True], ids=["bare", "in an envelope"])
@pytest.mark.parametrize("before", [1, 30])
def test_a_request_for_something_else_is_no_damage_beside_chats(wrap: bool, before: int) -> None:
    """Requests for embeddings and completions name a model and have no conversation."""
    for body in ({"model": "e", "input": ["a", "b"]}, {"model": "llama3.2", "prompt": "a", "raw": True}):
        record = {"url": "http://localhost:11434/api/other", "request": body} if wrap else body
        assert findings([PLAIN] * before + [json.dumps(record).encode()]) == {}


def test_messages_that_are_no_list_are_named_inside_an_envelope() -> None:
    record = {"url": ADDRESS, "request": {"model": "gpt-4o", "messages": "Go."}}
    ((code, _, _, message, _),) = findings([PLAIN, json.dumps(record).encode()])[2]
    assert code == "ST103"
    assert "`messages`: expected a list" in message


ASKED = b'{"model":"gpt-5","input":[{"role":"user","content":"Go."}],"max_output_tokens":9}'


@pytest.mark.parametrize(
    "items", [["a", "b"], [1, 2], [[1, 2], [3]]], ids=["texts", "tokens", "lists of tokens"]
)
@pytest.mark.parametrize("before", [1, 30])
def test_a_request_for_embeddings_is_no_damage_in_a_log_of_responses(items: list[Any], before: int) -> None:
    """Both APIs have their data under `input`, but only that of a conversation has objects."""
    body = {"model": "e", "input": items, "encoding_format": "float"}
    for record in (body, {"url": "https://api.openai.com/v1/embeddings", "request": body}):
        assert findings([ASKED] * before + [json.dumps(record).encode()]) == {}
