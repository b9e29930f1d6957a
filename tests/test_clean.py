"""The fast path is the same definition: where it says clean, no rule has anything to say.

Conversations are drawn at random and then damaged, so that both sides of the line are met often.
"""

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from turnlint import carriers, ledger, rulebook
from turnlint.api import Case
from turnlint.clean import is_clean
from turnlint.model import Record, Transcript
from turnlint.notation import WRITERS, Step

RULES = [entry for entry in rulebook.load(rulebook.BUILTIN) if entry.check]
IDS = st.sampled_from(["c1", "c2", "c3", "", "REDACTED"])
NAMES = st.sampled_from(["read", "write", ""])
TEXTS = st.sampled_from(["", "fine", "<tool_call> {}", "No result provided"])
WIRES = sorted(WRITERS)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Mostly sound conversations, some with a strange step."""
    made: list[Step] = []
    count = 0
    for _ in range(draw(st.integers(1, 4))):
        made.append(Step("user", draw(st.sampled_from(["hello", "go on"]))))
        calls = []
        made.append(Step("assistant", "let me see"))
        for _ in range(draw(st.integers(0, 3))):
            count += 1
            calls.append(f"c{count}")
            made.append(Step("call", "", f"c{count}", "read", "{}"))
        made += [Step("result", "", identifier, body="done") for identifier in calls]
        made.append(Step("assistant", "so it is"))
    if draw(st.booleans()):
        at = draw(st.integers(1, len(made)))
        kind = draw(st.sampled_from(["user", "assistant", "call", "result"]))
        if kind in ("user", "assistant"):
            made.insert(at, Step(kind, draw(TEXTS)))
        elif kind == "result" or any(step.kind == "assistant" for step in made[:at]):
            made.insert(at, Step(kind, "", draw(IDS), draw(NAMES), draw(TEXTS) if kind == "result" else "{}"))
    if draw(st.booleans()):
        made.pop(draw(st.integers(0, len(made) - 1)))
    return made


def writable(some: list[Step]) -> bool:
    """Calls stand under an assistant message in the notation."""
    under = None
    for step in some:
        if step.kind == "call" and under != "assistant":
            return False
        under = step.kind if step.kind != "call" else under
    return True


def disturb(record: dict[str, Any], draw: Any) -> None:
    """Break something below the messages by hand, as no notation can."""
    messages = record[next(key for key in ("messages", "history") if key in record)]
    message = draw(st.sampled_from(messages))
    key = draw(st.sampled_from(sorted(message)))
    message[key] = draw(st.sampled_from([None, 5, "", [], {}, "tool", copy.deepcopy(message[key])]))


@settings(max_examples=600, deadline=None)
@given(data=st.data())
def test_clean_means_that_no_rule_speaks(data: st.DataObject) -> None:
    some = data.draw(steps().filter(writable))
    wire = data.draw(st.sampled_from(WIRES))
    record = WRITERS[wire](some).record
    if data.draw(st.booleans()) and next(iter(value for value in record.values() if isinstance(value, list))):
        disturb(record, data.draw)
    carrier = carriers.carrier(wire)
    decoded = carrier.shape.read(Record(1, 0, json.dumps(record).encode()))
    for transcript in carrier.read([decoded]):
        if not isinstance(transcript, Transcript):
            continue
        pairs = ledger.read(transcript.messages, transcript.wire)
        case = Case(transcript, pairs)
        said = [finding for entry in RULES for finding in entry.check(case)]  # type: ignore[misc]
        if is_clean(transcript, pairs):
            assert said == []


def test_most_sound_conversations_take_the_fast_path() -> None:
    """A predicate that always says no would pass the property above."""
    some = [
        Step("user", "go"), Step("assistant", "yes"), Step("call", "", "c1", "read", "{}"),
        Step("result", "", "c1", body="done"), Step("assistant", "so it is"),
    ]  # fmt: skip
    for wire in WIRES:
        carrier = carriers.carrier(wire)
        (transcript,) = carrier.read([carrier.shape.read(Record(1, 0, WRITERS[wire](some).data))])
        assert isinstance(transcript, Transcript)
        assert is_clean(transcript, ledger.read(transcript.messages, transcript.wire))
