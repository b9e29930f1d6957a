"""Five calls, one result: the sequence after a repair of an incomplete fan-out, on every wire.

A model thinks, makes one call and gets its result, thinks, makes five calls at once, gets one result, and continues
with text. Every call ends with a result: one real, four that state that no result is known.
"""

from typing import Any

import msgspec
import pytest

from turnlint import carriers, ledger, testing
from turnlint.documents.decode import value_of
from turnlint.lifecycle import UNKNOWN
from turnlint.model import Call, Message, Record, Result, Thinking, Transcript
from turnlint.notation import write

NOTATION = """
    user       Look around.
    assistant  I look.
      think    one first
      call     hist_tool_1 look {"at": 1}
      result   hist_tool_1 one
    assistant  Now five.
      think    then five
      call     hist_tool_2 look {"at": 2}
      call     hist_tool_3 look {"at": 3}
      call     hist_tool_4 look {"at": 4}
      call     hist_tool_5 look {"at": 5}
      call     hist_tool_6 look {"at": 6}
      result   hist_tool_3 three
    assistant  Three is what I saw.
    user       And the others?
"""
"""Source 001, section 7."""
WITHOUT_THOUGHTS = "\n".join(line for line in NOTATION.splitlines() if "think" not in line)
PROVIDERS = {
    "openai-chat": "openai", "anthropic": "anthropic", "canonical": "none", "gemini": "gemini", "bedrock": "bedrock",
    "mistral": "mistral", "cohere": "cohere", "ollama": "ollama", "openai-responses": "openai-responses",
}  # fmt: skip
THINKS = frozenset({"anthropic", "canonical"})


def transcript(data: bytes, wire: str) -> Transcript:
    carrier = carriers.carrier(wire)
    (found,) = carrier.read([carrier.shape.read(Record(1, 0, data.strip()))])
    assert isinstance(found, Transcript)
    return found


def outline(messages: tuple[Message, ...], data: bytes) -> list[Any]:
    """Each block in order, in terms independent of the wire."""
    record = value_of(data)
    found: list[Any] = []
    for message in messages:
        for block in message.blocks:
            if isinstance(block, Call):
                found.append(("call", arguments(block.body)["at"]))
            elif isinstance(block, Result):
                found.append(("result", "unknown" if block.synthetic else text(block.body)))
            elif isinstance(block, Thinking):
                found.append("think")
            else:
                found.append(message.role)
    assert record
    return found


def arguments(body: bytes) -> Any:
    value = msgspec.json.decode(body)
    return msgspec.json.decode(value) if isinstance(value, str) else value


def text(body: bytes) -> str:
    return next(word for word in ("one", "three") if word.encode() in body)


@pytest.mark.parametrize("wire", PROVIDERS)
def test_an_incomplete_fan_out_is_completed(wire: str) -> None:
    data = write(NOTATION if wire in THINKS else WITHOUT_THOUGHTS, wire).data
    after = testing.fixed(data, wire, PROVIDERS[wire])
    found = transcript(after, wire)
    think = ["think"] if wire in THINKS else []
    calls = [("call", number) for number in range(2, 7)]
    results = [("result", "three" if number == 3 else "unknown") for number in range(2, 7)]
    assert outline(found.messages, after) == [
        "user", "assistant", *think, ("call", 1), ("result", "one"), "assistant", *think, *calls, *results,
        "assistant", "user",
    ]  # fmt: skip
    assert after.count(UNKNOWN.encode()) == 4
    pairs = ledger.read(found.messages, found.wire)
    assert pairs.tidy
    states = [one.state for one in pairs.interactions]
    assert states == ["complete", "cancelled", "complete", "cancelled", "cancelled", "cancelled"]
    assert [
        row.finding.message
        for row in testing.rows_of(after, wire, PROVIDERS[wire])
        if row.finding.severity == "error"
    ] == []


@pytest.mark.parametrize("wire", PROVIDERS)
def test_complete_turns_stay_unchanged(wire: str) -> None:
    """All blocks before and after the fan-out keep their bytes."""
    data = write(NOTATION if wire in THINKS else WITHOUT_THOUGHTS, wire).data
    after = testing.fixed(data, wire, "none")
    before_it, behind_it = data.split(b"three")[0][:-200], b"three is what I saw"[-12:]
    assert after.startswith(before_it)
    assert behind_it in after
    assert testing.fixed(data, wire, "none") == after
