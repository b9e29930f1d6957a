"""The native facts of a record cover the facts that are extracted from its messages.

`test_scan.py` compares accepted records with the plain reader. This module compares the facts themselves, also for
records that rules may report.
"""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from budgets import examples
from drawn import disturb, steps, writable
from dressed import dress
from test_mixed_logs import records
from turnlint import carriers, compiled, ledger
from turnlint.documents.source import Source
from turnlint.extraction import facts_of
from turnlint.facts import ConversationFacts, request_facts
from turnlint.fastpath.choice import choose_scanner
from turnlint.fastpath.decode import Decoder
from turnlint.fastpath.gate import REQUEST_FORMATS, FactGate
from turnlint.fastpath.tables import compile_syntax
from turnlint.judging import Book, Options
from turnlint.model import Record, Transcript
from turnlint.names import Names
from turnlint.notation import render_example
from turnlint.sampling import owner_of

BOUNDS = {"messages", "calls", "most_calls", "longest_result", "longest_item"}
"""Facts that the native side gives as upper bounds."""
OF_ENVELOPE = {"request", "has_whole_end", "has_sent_end", "is_log", "open_end", "headless", "keys"}
EXACT = {"first", "last", "last_content", "spoken"}


@pytest.fixture(autouse=True)
def _needs_native() -> None:
    if compiled.load() is None:
        pytest.skip("the native scanner is not compiled")


class Reader:
    """The native facts of records of one wire."""

    def __init__(self, wire: str) -> None:
        native: Any = compiled.load()
        self.carrier = carriers.carrier(wire)
        assert self.carrier.syntax is not None
        tables = compile_syntax(self.carrier.syntax, native)
        self.scanner = native.FactScanner(tables.objects, tables.settings)
        self.decoder = Decoder(tables, native.MARKS)

    def facts(self, line: bytes, around: ConversationFacts) -> ConversationFacts | None:
        (row,) = self.scanner.scan(line)
        if row[0] is None:
            return None
        facts, keys, servers = row[0], row[8], row[9]
        if keys is not None:
            self.decoder.note_keys(facts, keys)
        if servers is not None:
            self.decoder.note_servers(facts, servers)
        return self.decoder.decode(facts, around)


def covers(native: Names, read: Names) -> bool:
    """Whether a summary covers all of another summary."""
    if not read.count:
        return True
    bits = not (read.first & ~native.first or read.letters & ~native.letters)
    return bool(native.count) and bits and native.shortest <= read.shortest and native.longest >= read.longest


def compare(reader: Reader, line: bytes) -> bool:
    """Whether a record has native facts; if so, they cover the extracted ones."""
    found = reader.carrier.read([reader.carrier.shape.read(Record(1, 0, line, kept=True))])
    transcripts = [item for item in found if isinstance(item, Transcript)]
    if len(transcripts) != 1 or transcripts[0].request is None:
        return False
    (transcript,) = transcripts
    assert transcript.request is not None
    place = (*transcript.request.at, transcript.request.key)
    if any(misfit.at[: len(place)] != place for _, misfit in transcript.misfits):
        return False  # The gate reads the envelope with the plain reader.
    around = ConversationFacts(request=request_facts(transcript.request), headless=transcript.headless)
    native = reader.facts(line, around)
    if native is None:
        return False
    compare_facts(native, transcript, frozenset())
    return True


def compare_facts(native: ConversationFacts, transcript: Transcript, others: frozenset[str]) -> None:
    """Check that native facts cover the extracted ones. `others`: the triggers that no native facts have."""
    pairs = ledger.read(transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps)
    read = facts_of(transcript, pairs)
    for field in structs.fields(ConversationFacts):
        mine, theirs = getattr(native, field.name), getattr(read, field.name)
        if field.name in OF_ENVELOPE:
            continue
        if field.name == "triggers":
            theirs = theirs - others
        if field.name in BOUNDS:
            assert mine >= theirs, field.name
        elif field.name in EXACT:
            assert mine == theirs or mine == theirs - {"server-result"}, field.name
        elif isinstance(mine, Names):
            assert covers(mine, theirs), field.name
        else:
            assert theirs <= mine, field.name


@pytest.mark.parametrize("wire", REQUEST_FORMATS)
@pytest.mark.hypothesis
def test_native_facts_cover_the_extracted_ones(wire: str) -> None:
    reader = Reader(wire)
    with_facts = 0

    @settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def check_random(data: st.DataObject) -> None:
        nonlocal with_facts
        record = render_example(data.draw(steps().filter(writable)), wire).record
        key = reader.carrier.syntax.messages if reader.carrier.syntax else ""
        if data.draw(st.booleans()):
            dress(record[key], data.draw)
        if data.draw(st.booleans()):
            disturb(record, data.draw)
        line = json.dumps(record, ensure_ascii=data.draw(st.booleans())).encode(errors="surrogatepass")
        with_facts += compare(reader, line)

    check_random()
    assert with_facts


@pytest.mark.parametrize("wire", REQUEST_FORMATS)
def test_native_facts_cover_those_of_the_fixtures(wire: str) -> None:
    reader = Reader(wire)
    assert sum(compare(reader, line) for line in records()) > 0


@pytest.mark.parametrize("log", REQUEST_FORMATS)
def test_a_gate_names_the_format_that_the_whole_record_has(log: str) -> None:
    """A gate recognizes a format by the envelope and a sample of messages, the plain reader by all of them."""
    carrier = carriers.carrier(log)
    gate = FactGate(compiled.load(), carrier, Book(Options()), told=False)
    decided = 0
    for line in records():
        (row,) = gate.first.facts.scan(line) or [(None,)]
        decision = gate.first.decide(row[0], row[3:]) if row[0] is not None else None
        name = log
        if decision is None:
            decision = gate._decide_elsewhere(line)
            name = gate.others[0].carrier.name
        if decision is not None:
            decided += 1
            assert owner_of(carrier, carrier.shape.read(Record(1, 0, line, kept=True)))[0].name == name, line
    assert decided


PNG = {"data": "aGk=", "mimeType": "image/png"}
CALL = {"function": {"name": "look", "arguments": {}}, "type": "function"}
TEXT_CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
SHAPES = {
    "media beside the response of a result": ("gemini", {"contents": [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
        {"role": "function", "parts": [{"functionResponse": {"name": "look", "response": {"a": 1}, "parts": [{"inlineData": PNG}]}}]},
    ]}),
    "a call with its type": ("ollama", {"model": "qwen3:4b", "options": {}, "messages": [
        {"role": "user", "content": "go"}, {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "content": "done", "tool_name": "look"},
    ]}),
    "a plan that shows the format": ("cohere", {"model": "command-r", "messages": [
        {"role": "user", "content": "go"}, {"role": "assistant", "tool_plan": "I look.", "tool_calls": [TEXT_CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]}),
    "search results in a result": ("anthropic", {"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [{"name": "look", "input_schema": {}}], "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [
            {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]},
        ]}]},
    ]}),
    "an image in a result": ("anthropic", {"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [{"name": "look", "input_schema": {}}], "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        ]}]},
    ]}),
    "a key that only one role may have": ("openai-responses", {"model": "gpt-5.1", "input": [
        {"role": "user", "content": "go"},
        {"type": "message", "id": "msg_1", "role": "assistant", "phase": "final_answer", "status": "completed", "content": [{"type": "output_text", "text": "done"}]},
        {"role": "user", "content": "on"},
    ]}),
    "a search of tools that the client runs": ("openai-responses", {"model": "gpt-5.1", "store": False, "input": [
        {"role": "user", "content": "go"},
        {"type": "tool_search_call", "call_id": "s1", "execution": "client", "status": "completed", "arguments": {"queries": ["q"]}},
        {"type": "tool_search_output", "call_id": "s1", "execution": "client", "status": "completed", "tools": [{"type": "function", "name": "look"}]},
    ]}),
    "a search of tools that the provider runs": ("openai-responses", {"model": "gpt-5.1", "input": [
        {"role": "user", "content": "go"},
        {"type": "tool_search_call", "id": "tsc_1", "call_id": None, "execution": "server", "status": "completed", "arguments": {"queries": ["q"]}},
        {"type": "tool_search_output", "id": "tso_1", "call_id": None, "execution": "server", "status": "completed", "tools": []},
    ]}),
    "a search that found no tools": ("openai-responses", {"model": "gpt-5.1", "store": False, "input": [
        {"role": "user", "content": "go"},
        {"type": "tool_search_call", "call_id": "s1", "execution": "client", "status": "completed", "arguments": {"queries": ["q"]}},
        {"type": "tool_search_output", "call_id": "s1", "execution": "client", "status": "completed", "tools": []},
    ]}),
    "tools between turns": ("openai-responses", {"model": "gpt-5.1", "input": [
        {"role": "user", "content": "go"},
        {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "look"}]},
    ]}),
    "texts of each role": ("openai-responses", {"model": "gpt-5.1", "input": [
        {"role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "on"}]},
    ]}),
    "a document in a result": ("bedrock", {"modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0", "toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {}}}}]}, "messages": [
        {"role": "user", "content": [{"text": "go"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "look", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"document": {"name": "d", "format": "pdf", "source": {"bytes": "aGk="}}}]}}]},
    ]}),
    "a model's turn at the end, where no model is named": ("gemini", {"contents": [
        {"role": "user", "parts": [{"text": "go"}]}, {"role": "model", "parts": [{"text": "It is"}]},
    ]}),
}  # fmt: skip


@pytest.mark.parametrize(("wire", "record"), SHAPES.values(), ids=SHAPES.keys())
def test_a_record_without_a_finding_is_accepted_unread(wire: str, record: Any) -> None:
    line = json.dumps({"id": "r1", "request": record}).encode()
    gate = FactGate(compiled.load(), carriers.carrier(wire), Book(Options()), told=False)
    assert compare(Reader(wire), line)
    assert gate.scan(line).passed == 1


MODELS = (
    "gpt-4.1", "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", "mistral-large-latest", "mistral-small3.1", "command-r",
    "command-a-03-2025", "deepseek-chat", "kimi-k2", "gemini-2.5-flash", "o1-preview", "x" * 200, 'a "quoted" one', "ü",
)  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("log", REQUEST_FORMATS)
def test_a_gate_decides_on_each_model_as_if_it_were_alone(log: str) -> None:
    """Envelopes that differ in the model share the parsed result of their other parts."""
    carrier, native = carriers.carrier(log), compiled.load()
    shared = FactGate(native, carrier, Book(Options()), told=False)
    lines = [line for _, record in SHAPES.values() for line in _with_models(record)]
    lines = [json.dumps(line, ensure_ascii=False).encode() for line in lines]
    passed = 0
    for line in lines:
        alone = FactGate(native, carrier, Book(Options()), told=False).scan(line)
        found = shared.scan(line)
        assert [span.known for span in found.spans] == [span.known for span in alone.spans], line
        passed += found.passed
    assert 0 < passed < len(lines)


def _with_models(record: Any) -> list[Any]:
    return [{"id": "r", "request": {**record, "model": model}} for model in MODELS]


def test_a_request_that_ends_with_the_model_is_counted_as_the_plain_reader_counts_it() -> None:
    wire, record = SHAPES["a model's turn at the end, where no model is named"]
    request = {**record, "generationConfig": {"temperature": 0}}
    gate = FactGate(compiled.load(), carriers.carrier(wire), Book(Options()), told=False)
    gate.scan(
        b"\n".join([json.dumps({"id": f"r{number}", "request": request}).encode() for number in range(3)])
    )
    assert (gate.passed.conversations, gate.passed.model_last) == (3, 3)


def test_a_text_as_input_has_no_format_of_the_list_before_it() -> None:
    bodies = [{"model": "m", "input": [{"role": "user", "content": "go"}]}, {"model": "m", "input": "go"}]
    lines = [json.dumps({"id": f"r{number}", "request": body}).encode() for number, body in enumerate(bodies)]
    for log in ("openai-chat", "openai-responses"):
        carrier = carriers.carrier(log)
        gate = FactGate(compiled.load(), carrier, Book(Options()), told=False)
        read = [carrier.shape.read(Record(1, 0, line, kept=True)) for line in lines]
        owners = [owner_of(carrier, one) for one in read]
        wanted = [sum(isinstance(item, Transcript) for item in owner.read([one])) for owner, one in owners]
        assert [gate.scan(line).passed for line in lines] == wanted


def test_a_mixed_log_has_a_scanner_whatever_its_first_record_is() -> None:
    carrier, book = carriers.carrier("openai-chat"), Book(Options())
    records = [Record(1, 0, b'{"contents": []}'), Record(2, 17, b'{"messages": []}')]
    source = Source("log.jsonl", "log.jsonl")
    assert isinstance(choose_scanner(carrier, carrier.open(), records, book, source), FactGate)
