"""A repair reads lines without findings once, and gives the same as a repair that reads all lines in each pass."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from broken_records import break_record, break_text, choose, dump_record, encode_text
from turnlint.documents.source import Source, open_source
from turnlint.engine import Book, Event, Options, lint
from turnlint.keeping.patches import patched
from turnlint.model import Level
from turnlint.notation import write
from turnlint.repair import selecting
from turnlint.repair.choosing import Policy
from turnlint.repair.passes import fix, fix_once

WIRES = ("openai-chat", "anthropic", "openai-responses", "gemini", "bedrock", "mistral", "cohere", "ollama")
SOUND = """
user look
assistant
call c1 look {"q": 1}
call c2 read {"q": 2}
result c1 (look) found
result c2 (read) text
assistant done
user go on
"""
OPEN = "user look\nassistant\ncall c1 look {}\nuser go on"
LINES = 60
PLACEHOLDER = Policy(level="placeholder")


def _record(wire: str, number: int, text: str = SOUND) -> dict[str, Any]:
    record = json.loads(write(text, wire).data)
    return {"id": f"rec-{number}", "timestamp": f"2026-11-19T10:00:{number:02}Z", "request": record}


def _broken_log(wire: str, seed: int) -> bytes:
    """Requests, a third of them with faults, at times in their bytes."""
    lines = []
    for number in range(LINES):
        pick = choose(wire, seed, number)
        record = _record(wire, number)
        faults = pick.choice([0, 0, 1])
        record["request"] = break_record(record["request"], pick, faults)
        text = dump_record(record, pick)
        lines.append(break_text(text, pick) if faults and pick.random() < 0.2 else encode_text(text))
    return b"".join(line.replace(b"\n", b" ") + b"\n" for line in lines)


def _repair(source: Source, level: Level) -> dict[str, Any]:
    options = Options(providers=("auto",))
    fixed = fix(source, options, Book(options), Policy(level=level))
    found = structs.asdict(fixed)
    del found["selection"]
    found |= {name: [*found[name]] for name in ("changes", "told")}
    found["bytes"] = b"".join(patched(source, fixed.patches))
    return found


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("level", ["placeholder", "lossy"])
@pytest.mark.parametrize("kind", ["plain", "returns", "mark", "gz"])
@pytest.mark.covering(1)
def test_a_repair_is_the_same_if_it_reads_all_lines_again(
    wire: str, level: Level, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = _broken_log(wire, 1)
    data = data.replace(b"\n", b"\r\n") if kind == "returns" else data
    data = b"\xef\xbb\xbf" + data if kind == "mark" else data
    path = tmp_path / ("log.jsonl.gz" if kind == "gz" else "log.jsonl")
    path.write_bytes(gzip.compress(data, mtime=0) if kind == "gz" else data)
    source = Source("log.jsonl", str(path))
    found = _repair(source, level)
    monkeypatch.setattr(selecting.Selector, "selection", lambda _: None)
    assert found == _repair(source, level)
    assert found["changes"]


@pytest.mark.parametrize("wire", WIRES)
def test_a_further_reading_parses_only_lines_with_findings(wire: str) -> None:
    faulty = {7, 30, 31, 59}
    records = [_record(wire, number, OPEN if number in faulty else SOUND) for number in range(LINES)]
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    options = Options(providers=())
    book = Book(options)
    readings = []

    def note(source: Source) -> list[Event]:
        readings.append(source)
        return [*lint(source, options, book)]

    source = Source("log.jsonl", None, data=data)
    fixed = fix(source, options, book, PLACEHOLDER, linter=note)
    assert fixed.mended == len(faulty)
    (reading,) = readings
    assert reading.selection is not None
    assert [line.number - 1 for line in reading.selection.lines] == sorted(faulty)
    result = b"".join(patched(source, fixed.patches))
    with open_source(reading) as stream:
        assert stream.read(2 * len(data)) == result
    lines = result.splitlines(keepends=True)
    for line in reading.selection.lines:
        assert line.start == sum(map(len, lines[: line.number - 1]))
    assert fix_once(source, options, book, PLACEHOLDER).conversations == LINES


def test_lines_that_depend_on_one_another_are_all_read_again() -> None:
    messages = [
        {"conversation_id": f"c-{number}", **message}
        for number in range(LINES)
        for message in json.loads(write(OPEN if number == 3 else SOUND, "openai-chat").data)["messages"]
    ]
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    options = Options(providers=())
    fixed = fix(Source("log.jsonl", None, data=data), options, Book(options), PLACEHOLDER)
    assert fixed.mended == 1
    assert fixed.selection is None
