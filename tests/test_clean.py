"""The fast path is the same definition: where it says clean, no rule has anything to say, else only those it names.

Conversations are drawn at random and then damaged, so that both sides of the line are met often.
"""

import json
from importlib.util import find_spec

from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import examples
from drawn import disturb, steps, writable
from turnlint import carriers, ledger, rulebook
from turnlint.api import Case
from turnlint.clean import concerns, is_clean
from turnlint.model import Record, Transcript
from turnlint.writing import Step, spell

RULES = [
    entry for entry in rulebook.load(rulebook.BUILTIN) if entry.check and entry.rule.fault != "projection"
]
WIRES = [name for name in carriers.NAMES if find_spec(f"turnlint.writing.{name.replace('-', '_')}")]
"""Those that examples are spelled on; the others are logs of agents."""


@settings(max_examples=examples(600), deadline=None)
@given(data=st.data())
def test_clean_means_that_no_rule_speaks(data: st.DataObject) -> None:
    some = data.draw(steps().filter(writable))
    wire = data.draw(st.sampled_from(WIRES))
    record = spell(some, wire).record
    if data.draw(st.booleans()) and next(iter(value for value in record.values() if isinstance(value, list))):
        disturb(record, data.draw)
    carrier = carriers.carrier(wire)
    decoded = carrier.shape.read(Record(1, 0, json.dumps(record).encode()))
    for transcript in carrier.read([decoded]):
        if not isinstance(transcript, Transcript):
            continue
        pairs = ledger.read(transcript.messages, transcript.wire)
        case, there = Case(transcript, pairs), frozenset(concerns(transcript, pairs))
        speaking = [entry for entry in RULES if list(entry.check(case))]  # type: ignore[misc]
        assert all(rulebook.shelf().concerned(entry.module.__name__, there) for entry in speaking)
        if is_clean(transcript, pairs):
            assert speaking == []


def test_most_sound_conversations_take_the_fast_path() -> None:
    """A predicate that always says no would pass the property above."""
    some = [
        Step("user", "go"), Step("assistant", "yes"), Step("call", "", "c1", "read", "{}"),
        Step("result", "", "c1", body="done"), Step("assistant", "so it is"),
    ]  # fmt: skip
    for wire in WIRES:
        carrier = carriers.carrier(wire)
        (transcript,) = carrier.read([carrier.shape.read(Record(1, 0, spell(some, wire).data))])
        assert isinstance(transcript, Transcript)
        assert is_clean(transcript, ledger.read(transcript.messages, transcript.wire))
