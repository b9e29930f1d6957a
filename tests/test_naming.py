"""Records that differ in names and times only share one entry of the envelope cache."""

import json

import pytest

from reporting import conversation, lines
from turnlint import carriers, compiled
from turnlint.carrying.saying import TIMES
from turnlint.fastpath.gate import WireGate
from turnlint.fastpath.passed import Passed
from turnlint.fastpath.tables import NAMES
from turnlint.judging import Book, Options
from turnlint.testing import rows_of

MANY_RECORDS = 40
"""More records than `reading.FEW`, so that the scanner runs."""


def gate() -> WireGate:
    native = compiled.load()
    if native is None:
        pytest.skip("the native scanner is not compiled")
    chat = carriers.carrier("openai-chat")
    return WireGate(native, chat, chat, Book(Options()), Passed(), told=True)


@pytest.mark.parametrize("name", ["id", "custom_id", "session_id", "requestId"])
def test_a_finding_names_its_own_record(name: str) -> None:
    records = [
        {name: f"s-{at}", "timestamp": f"2026-01-01 00:00:{at:02}", **conversation(None, sound=at % 10 > 0)}
        for at in range(MANY_RECORDS)
    ]
    found = rows_of(lines(*records).encode(), None)
    assert {row.finding.conversation for row in found} == {"s-0", "s-10", "s-20", "s-30"}


@pytest.mark.parametrize(("name", "count"), [*((name, 1) for name in sorted(NAMES | TIMES)), ("model", 5)])
def test_records_with_other_names_share_an_envelope(name: str, count: int) -> None:
    found = gate()
    for at in range(5):
        record = {name: f"n-{at}", "messages": [{"role": "user", "content": "Hello."}]}
        (row,) = found.facts.scan(json.dumps(record).encode())
        assert found.decide(row[0], row[3:]) is not None
    assert len(found.caches.envelopes) == count
