"""The state of a call is inferred from all marks together, and a placeholder is recognized by its text."""

import json

import pytest

from turnlint import carriers, ledger
from turnlint.lifecycle import PLACEHOLDERS, is_placeholder
from turnlint.model import Record, State, Transcript

CALLING = {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "c1", "name": "run", "parameters": {}}]}


@pytest.mark.parametrize(
    ("marks", "state"),
    [
        ({"result": "ok", "isComplete": True}, "complete"),
        ({"result": "ok"}, "complete"),
        ({"result": "ok", "isComplete": False}, "complete"),
        ({"isComplete": True}, "complete"),
        ({"isComplete": False}, "pending"),
        ({"error": "no such file", "result": None}, "error"),
        ({"error": "no such file", "isComplete": True}, "error"),
        ({"error": "Tool call interrupted or cancelled"}, "cancelled"),
    ],
)
def test_the_state_of_a_call_follows_from_its_result(marks: dict[str, object], state: State) -> None:
    answer = {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "c1", **marks}]}
    carrier = carriers.carrier("canonical")
    record = Record(1, 0, json.dumps({"history": [CALLING, answer]}).encode())
    (transcript,) = carrier.read([carrier.shape.read(record)])
    assert isinstance(transcript, Transcript)
    (interaction,) = ledger.read(transcript.messages, transcript.wire).interactions
    assert interaction.state == state


def test_the_state_of_an_open_call_does_not_depend_on_later_messages() -> None:
    carrier = carriers.carrier("canonical")
    record = Record(1, 0, json.dumps({"history": [CALLING]}).encode())
    (transcript,) = carrier.read([carrier.shape.read(record)])
    assert isinstance(transcript, Transcript)
    (interaction,) = ledger.read(transcript.messages, transcript.wire).interactions
    assert interaction.state == "pending"


@pytest.mark.parametrize("sentence", PLACEHOLDERS)
def test_a_placeholder_is_recognized_by_its_first_words(sentence: bytes) -> None:
    for opener in (b'"', b'[{"type":"text","text":"', b'{"output": "'):
        assert is_placeholder(opener + sentence + b' and more"')
    assert not is_placeholder(b'"grep: ' + sentence + b'"')
