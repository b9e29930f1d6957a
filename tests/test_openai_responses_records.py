"""The wire of OpenAI's Responses: recognition of its records, and accepted requests."""

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from test_openai_responses import CALL, OUTPUT, REPLY, THOUGHT, USER, body, codes, transcripts
from turnlint import carriers, ledger
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Options, Skipped, Tally, lint
from turnlint.model import Call, Record, Result, Thinking
from turnlint.rows import Row

ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus"))

CHAT_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
SNIFFS: list[tuple[str, Any, str | None]] = [
    ("a body with settings", {"model": "m", "input": "go", "instructions": "terse"}, "openai-responses"),
    ("a body with a limit", {"model": "m", "input": "go", "max_output_tokens": 9}, "openai-responses"),
    ("a body in a chain", {"model": "m", "input": "go", "previous_response_id": "resp_1"}, "openai-responses"),
    ("a body of easy messages", {"model": "m", "input": [USER]}, "openai-responses"),
    ("a body of items", {"input": [USER, CALL, OUTPUT]}, "openai-responses"),
    ("a pair", {"request": body(USER), "response": REPLY}, "openai-responses"),
    ("a response", REPLY, "openai-responses"),
    ("a batch line", {"custom_id": "1", "url": "/v1/responses", "body": {"model": "m", "input": "go"}}, "openai-responses"),
    ("a batch result", {"custom_id": "1", "response": {"status_code": 200, "body": REPLY}}, "openai-responses"),
    ("items", [USER, CALL, OUTPUT], "openai-responses"),
    ("messages with typed parts", [{"role": "user", "content": [{"type": "input_text", "text": "go"}]}], "openai-responses"),
    ("one item", OUTPUT, "openai-responses"),
    ("one thought", {**THOUGHT, "encrypted_content": "x"}, "openai-responses"),
    ("plain messages are Chat's", [USER, {"role": "assistant", "content": "yes"}], "openai-chat"),
    ("a body of Chat", {"model": "m", "messages": [USER, CHAT_CALL]}, "openai-chat"),
    ("a text to embed", {"model": "text-embedding-3-small", "input": "go"}, None),
    ("texts to embed", {"model": "text-embedding-3-small", "input": ["go", "on"]}, None),
    ("tokens to embed", {"model": "text-embedding-3-small", "input": [[1, 2], [3]]}, None),
    ("a text to speak", {"model": "gpt-4o-mini-tts", "input": "go", "voice": "ash", "instructions": "softly"}, None),
    ("things to moderate", {"model": "omni-moderation-latest", "input": [{"type": "text", "text": "go"}]}, None),
    ("a mirrored item of an agent's log", {"timestamp": "t", "type": "response_item", "payload": CALL}, "codex"),
    ("a span of Chat", {"span_id": "s", "input": [USER, CHAT_CALL], "output": [{"index": 0, "message": USER}]}, None),
    ("an example", {"input": "2+2", "output": "4"}, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "expected"), [sniff[1:] for sniff in SNIFFS], ids=[sniff[0] for sniff in SNIFFS]
)
def test_the_format_of_a_record(record: Any, expected: str | None) -> None:
    found, _ = carriers.best_for([Record(1, 0, json.dumps(record).encode())])
    assert (found.name if found else None) == expected


def test_the_events_of_a_stream_are_not_taken_for_items() -> None:
    events = [
        {"type": "response.created", "response": {**REPLY, "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": CALL},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": "{}"},
        {"type": "response.output_item.done", "output_index": 0, "item": CALL},
        {"type": "response.completed", "response": REPLY},
    ]
    records = [Record(line, 0, json.dumps(event).encode()) for line, event in enumerate(events, 1)]
    assert carriers.best_for(records)[0] is None


def accepted() -> list[dict[str, Any]]:
    with gzip.open(CORPUS / "exchanges_dev.jsonl.gz", "rt", encoding="utf-8", errors="surrogatepass") as file:
        exchanges = map(json.loads, file)
        return [
            exchange["request"]
            for exchange in exchanges
            if exchange.get("wire") == "openai-responses" and exchange["expect"] == "clean"
        ]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_recorded_requests_are_counted_as_they_are_written() -> None:
    """By a few lines of code that share nothing with the carrier."""
    requests = accepted()
    assert len(requests) > 1000
    for request in requests:
        items = request["input"] if isinstance(request["input"], list) else [{"role": "user"}]
        types = Counter(item.get("type", "message") for item in items)
        (transcript,) = transcripts(request)
        pieces = [block for message in transcript.messages for block in message.blocks]
        assert len(transcript.messages) == len(items)
        assert sum(isinstance(piece, Call) for piece in pieces) == types["function_call"]
        assert sum(isinstance(piece, Result) for piece in pieces) == types["function_call_output"]
        assert sum(isinstance(piece, Thinking) for piece in pieces) == types["reasoning"]
        roles = Counter(message.written_role for message in transcript.messages if message.written_role)
        assert roles == Counter(item["role"] for item in items if "role" in item)
        assert transcript.misfits == ()
        pairs = ledger.read(transcript.messages, transcript.wire)
        assert all(interaction.how == "in-place" for interaction in pairs.interactions)
        assert (pairs.orphans, pairs.duplicates) == ((), ())


def judged(path: Path, format_name: str | None) -> tuple[list[Row], Tally]:
    options = Options(format=format_name, providers=())
    events = list(lint(Source(path.name, str(path)), options, Book(options)))
    assert not [event for event in events if isinstance(event, Crash | Skipped)]
    tally = events[-1]
    assert isinstance(tally, Tally)
    return [event for event in events if isinstance(event, Row)], tally


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
@pytest.mark.parametrize("format_name", ["openai-responses", None])
def test_no_accepted_request_carries_an_error(format_name: str | None, tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    requests = accepted()
    path.write_text("".join(json.dumps(request) + "\n" for request in requests))
    rows, tally = judged(path, format_name)
    assert tally.conversations == len(requests)
    assert [row.place.line for row in rows if row.finding.severity == "error"] == []


SAMPLES = {
    "openai_responses_pair": (1, 2, 1),
    "openai_batch_input": (2, 2, 2),
    "openai_agents_session_items": (1, 1, 1),
}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_of_this_wire_is_read_and_sound(name: str) -> None:
    rows, tally = judged(CORPUS / "format_samples" / f"{name}.jsonl", None)
    assert (tally.conversations, tally.calls, tally.results) == SAMPLES[name]
    assert rows == []


REPORTED = {
    "resp-001-no-output": ["PA201"],
    "resp-003-message-between-call-and-output": [],  # sound except for one provider, as is the next
    "resp-005-call_id-too-long": [],
    "resp-007-wrong-key-tool_call_id": ["ST116"],
}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_reported_cases_are_flagged_without_a_provider() -> None:
    with (CORPUS / "issue_cases.jsonl").open(encoding="utf-8", errors="surrogatepass") as file:
        cases = {case["id"]: case["messages"] for case in map(json.loads, file)}
    assert {name: [code for code, _ in codes(*cases[name])] for name in REPORTED} == REPORTED
