"""A rule about state or pairing reports nothing in a conversation without any of its triggers.

Conversations are drawn at random and then damaged, so that many have triggers and many have none.
"""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import examples
from drawn import disturb, steps, writable
from turnlint import carriers, ledger, rulebook
from turnlint.api import Case
from turnlint.carrying.examples import NotationLine
from turnlint.extraction import facts_of
from turnlint.model import Record, Transcript
from turnlint.notation import example_formats, render_example

RULES = [
    entry for entry in rulebook.load(rulebook.BUILTIN) if entry.check and entry.rule.fault != "projection"
]
WIRES = example_formats()
"""Wires with examples; the others are logs of agents."""


@settings(max_examples=examples(600), deadline=None)
@given(data=st.data())
def test_only_rules_with_a_trigger_report(data: st.DataObject) -> None:
    some = data.draw(steps().filter(writable))
    wire = data.draw(st.sampled_from(WIRES))
    record = render_example(some, wire).record
    if data.draw(st.booleans()) and next(iter(value for value in record.values() if isinstance(value, list))):
        disturb(record, data.draw)
    carrier = carriers.carrier(wire)
    decoded = carrier.shape.read(Record(1, 0, json.dumps(record).encode()))
    for transcript in carrier.read([decoded]):
        if not isinstance(transcript, Transcript):
            continue
        pairs = ledger.read(transcript.messages, transcript.wire)
        case, found = Case(transcript, pairs), facts_of(transcript, pairs).triggers
        reporting = [entry for entry in RULES if list(entry.check(case))]  # type: ignore[misc]
        assert [entry.rule.name for entry in reporting if not entry.is_asked(found)] == []
        assert found or not reporting


def test_a_sound_conversation_has_no_triggers() -> None:
    """Facts with every trigger would pass the property above."""
    some = [
        NotationLine("user", "go"), NotationLine("assistant", "yes"), NotationLine("call", "", "c1", "read", "{}"),
        NotationLine("result", "", "c1", body="done"), NotationLine("assistant", "so it is"),
    ]  # fmt: skip
    for wire in WIRES:
        carrier = carriers.carrier(wire)
        (transcript,) = carrier.read([carrier.shape.read(Record(1, 0, render_example(some, wire).data))])
        assert isinstance(transcript, Transcript)
        pairs = ledger.read(transcript.messages, transcript.wire)
        assert facts_of(transcript, pairs).triggers == frozenset()
