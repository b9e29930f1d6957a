"""Helpers shared by the tests of wires that resemble Chat Completions.

Reads a record in one format, gives the recorded exchanges, and replaces each value of a record in turn by odd values.
"""

import copy
import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arbitrary_json import places
from turnlint import carriers
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Options, Tally, lint
from turnlint.model import Call, Message, Record, Result, Transcript
from turnlint.rows import Row

CORPUS = Path(os.environ.get("TURNLINT_CORPUS", Path(__file__).parent.parent.parent / "shared" / "corpus"))
NEEDS_CORPUS = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
ODD: tuple[Any, ...] = (None, 5, "", "x", [], {}, [None], ["x"], {"x": "y"})


def transcripts(format_name: str, *records: Any) -> list[Transcript]:
    """The transcripts that a format reads from some records, which must contain nothing but conversations."""
    carrier = carriers.carrier(format_name)
    lines = (Record(line, 0, json.dumps(record).encode()) for line, record in enumerate(records, 1))
    found = list(carrier.read(map(carrier.shape.read, lines)))
    assert all(isinstance(item, Transcript) for item in found)
    return [item for item in found if isinstance(item, Transcript)]


def messages(format_name: str, *history: Any, **more: Any) -> tuple[Message, ...]:
    (transcript,) = transcripts(format_name, {**more, "messages": list(history)})
    return transcript.messages


def call_in(message: Message) -> Call:
    (found,) = (block for block in message.blocks if isinstance(block, Call))
    return found


def result_in(message: Message) -> Result:
    (found,) = (block for block in message.blocks if isinstance(block, Result))
    return found


def sniffed(record: Any) -> str | None:
    found, _ = carriers.best_for([Record(1, 0, json.dumps(record).encode())])
    return found.name if found else None


def judged(records: list[Any], format_name: str | None, folder: Path) -> tuple[list[Row], Tally]:
    """The findings of a file without a provider, and its tally."""
    path = folder / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    options = Options(format=format_name, providers=())
    events = list(lint(Source(path.name, str(path)), options, Book(options)))
    assert not [event for event in events if isinstance(event, Crash)]
    tally = events[-1]
    assert isinstance(tally, Tally)
    return [event for event in events if isinstance(event, Row)], tally


def exchanges(wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Recorded requests that a server accepted."""
    with gzip.open(CORPUS / "exchanges_dev.jsonl.gz", "rt", encoding="utf-8", errors="surrogatepass") as file:
        return [item for item in map(json.loads, file) if item["expect"] == "clean" and wanted(item)]


def battered(record: Any) -> Iterator[Any]:
    """The record with each of its values replaced in turn by each odd value."""
    for at, _ in places(record):
        for odd in ODD:
            other = copy.deepcopy(record)
            if not at:
                other = odd
            else:
                holder = other
                for part in at[:-1]:
                    holder = holder[part]
                holder[at[-1]] = odd
            yield other
