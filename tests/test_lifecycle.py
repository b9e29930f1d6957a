"""The state of a call is inferred from all marks of its result, as section 5 of specification 001 requires.

Each test names the sentence that it checks.
"""

import json
import re
from itertools import product
from typing import Any, get_args

import pytest

from turnlint import carriers, ledger
from turnlint.ledger import Interaction
from turnlint.lifecycle import (
    ALL_MARKS,
    CANCELLATIONS,
    MAX_SENTENCE_BYTES,
    MEANINGS,
    PARTIAL,
    PLACEHOLDERS,
    UNKNOWN,
    Failure,
    Lifecycle,
    Marks,
    Outcome,
    is_cancellation,
    is_placeholder,
    lifecycle_of,
    meaning_of,
)
from turnlint.model import Keys, Record, Result, State, Transcript
from turnlint.reference import page

CALLING = {"speaker": "ai", "blocks": [{"type": "tool_call", "id": "c1", "name": "run", "parameters": {}}]}
CANCELLED = "Tool call interrupted or cancelled"

STATES: dict[tuple[Failure, Outcome], tuple[State, State, State]] = {
    ("none", "value"): ("complete", "complete", "pending"),
    ("none", "placeholder"): ("cancelled", "cancelled", "cancelled"),
    ("none", "none"): ("pending", "pending", "pending"),
    ("failed", "value"): ("error", "error", "error"),
    ("failed", "placeholder"): ("error", "error", "error"),
    ("failed", "none"): ("error", "error", "error"),
    ("cancelled", "value"): ("cancelled", "cancelled", "cancelled"),
    ("cancelled", "placeholder"): ("cancelled", "cancelled", "cancelled"),
    ("cancelled", "none"): ("cancelled", "cancelled", "cancelled"),
}
"""The states without a mark of completion, with the mark `true`, and with the mark `false`."""

ERRORS: dict[Failure, tuple[Any, ...]] = {
    "none": (..., None, ""),
    "failed": ("no such file", "Booking 4 was cancelled before: no refund", {"code": 1}),
    "cancelled": (CANCELLED, "Cancelled by the user."),
}
RESULTS: dict[Outcome, tuple[Any, ...]] = {
    "none": (..., None),
    "value": ("ok", "", {"a": 1}, [], False, 0),
    "placeholder": (UNKNOWN,),
}
COMPLETE: dict[bool | None, tuple[Any, ...]] = {None: (..., None), True: (True,), False: (False,)}


def interaction(*responses: dict[str, Any]) -> Interaction:
    """Return the interaction of a call with responses, each in a message of its own."""
    answers = [
        {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "c1", **one}]} for one in responses
    ]
    carrier = carriers.carrier("canonical")
    record = Record(1, 0, json.dumps({"history": [CALLING, *answers]}).encode())
    (transcript,) = carrier.read([carrier.shape.read(record)])
    assert isinstance(transcript, Transcript)
    (found,) = ledger.read(transcript.messages, transcript.wire).interactions
    return found


def state(**marks: Any) -> State:
    return interaction({key: value for key, value in marks.items() if value is not ...}).state


def test_5_1_each_interaction_has_one_of_four_states() -> None:
    """Section 5.1: "Each tool interaction is defined by a canonical call identity and lifecycle state"."""
    assert set(get_args(State)) == {"pending", "complete", "cancelled", "error"}
    assert {meaning_of(marks).state for marks in ALL_MARKS} == set(get_args(State))


@pytest.mark.parametrize("marks", ALL_MARKS, ids=repr)
def test_5_2_every_combination_of_marks_has_the_state_of_the_table(marks: Marks) -> None:
    """Section 5.2: "Lifecycle state must therefore be inferred from a combination"."""
    states = STATES[marks.failure, marks.outcome]
    assert meaning_of(marks).state == states[(None, True, False).index(marks.complete)]


def test_5_2_the_table_has_every_combination_and_no_row_without_effect() -> None:
    assert len(set(ALL_MARKS)) == len(ALL_MARKS) == 3 * len(STATES) == 27
    assert {meaning_of(marks) for marks in ALL_MARKS} == set(MEANINGS)


@pytest.mark.parametrize("marks", ALL_MARKS, ids=repr)
def test_5_2_the_canonical_keys_give_the_state_of_the_table(marks: Marks) -> None:
    expected = meaning_of(marks).state
    values = product(ERRORS[marks.failure], RESULTS[marks.outcome], COMPLETE[marks.complete])
    for error, result, complete in values:
        assert state(error=error, result=result, isComplete=complete) == expected, (error, result)


@pytest.mark.parametrize(("failure", "outcome"), STATES)
def test_5_2_the_mark_of_completion_is_optional(failure: Failure, outcome: Outcome) -> None:
    """Section 5.2: "`ToolResponseBlock.isComplete` is optional": without it the state is that of a response marked as complete."""
    states = {meaning_of(Marks(complete, failure, outcome)).state for complete in (None, True)}
    assert len(states) == 1


@pytest.mark.parametrize("field", ["complete", "failure", "outcome"])
def test_5_2_no_single_field_decides(field: str) -> None:
    """Section 5.2: "not from any single field"."""
    seen: dict[object, set[State]] = {}
    for marks in ALL_MARKS:
        seen.setdefault(getattr(marks, field), set()).add(meaning_of(marks).state)
    assert max(map(len, seen.values())) > 1


@pytest.mark.parametrize("complete", [..., None, True, False])
def test_a_null_result_or_nothing_at_all_is_not_complete(complete: Any) -> None:
    assert state(isComplete=complete) == "pending"
    assert state(result=None, isComplete=complete) == "pending"
    assert state(result=None, error=None, isComplete=complete) == "pending"


def test_a_partial_result_is_not_complete() -> None:
    found = interaction({"result": "half of", "isComplete": False})
    assert (found.state, found.lifecycle.is_partial) == ("pending", True)
    assert not interaction({"isComplete": False}).lifecycle.is_partial


@pytest.mark.parametrize(
    "text",
    [
        "Booking 17 was cancelled already",
        "cannot refund a cancelled order",
        "The transaction was aborted because of a deadlock",
        "Request aborted",
        "Interrupted system call",
        "HTTP 409: order cancelled by user",
        "Command aborted with exit code 3",
        "rejected",
        "cancel",
        "Tool call cancelled: no such file " + "x" * MAX_SENTENCE_BYTES,
        "The user cancelled the order",
    ],
)
def test_an_error_text_that_contains_the_word_cancelled_is_an_error(text: str) -> None:
    assert state(error=text) == "error"
    assert state(error=text, isComplete=True, result=None) == "error"


@pytest.mark.parametrize(
    "text",
    [
        "cancelled", "Canceled.", "aborted", "[interrupted]", "Tool call cancelled", "Error: The operation was aborted.",
        "Tool execution was interrupted", "Tool call interrupted or cancelled", "cancelled by user",
        "The command was rejected by the user.", "User cancelled", "The user rejected the tool call.",
        "User has aborted this task", "The request was cancelled by the client",
        *(f"{opening.decode()} …" for opening in CANCELLATIONS), UNKNOWN, PARTIAL,
    ],
)  # fmt: skip
def test_an_error_text_that_says_only_that_the_call_was_cancelled_is_a_cancellation(text: str) -> None:
    assert state(error=text) == "cancelled"
    assert is_cancellation(json.dumps([{"type": "text", "text": text}]).encode())
    assert is_cancellation(json.dumps({"error": text}).encode())


ROWS = re.findall(
    r"^\| (.+) \| (.+) \| (.+) \| (pending|complete|cancelled|error) \|$", page("lifecycle"), re.MULTILINE
)
WRITTEN: dict[str, tuple[Any, ...]] = {
    'absent, null, `""`': ERRORS["none"], "an error": ERRORS["failed"], "a cancellation": ERRORS["cancelled"],
    "a value": RESULTS["value"], "a placeholder": RESULTS["placeholder"], "absent, null": RESULTS["none"],
    "absent": COMPLETE[None], "`true`": COMPLETE[True], "`false`": COMPLETE[False],
}  # fmt: skip


@pytest.mark.parametrize(("error", "result", "complete", "expected"), ROWS)
def test_each_row_of_the_page_is_what_the_reader_reads(
    error: str, result: str, complete: str, expected: str
) -> None:
    for one, other, mark in product(WRITTEN[error], WRITTEN[result], WRITTEN[complete]):
        assert state(error=one, result=other, isComplete=mark) == expected, (one, other)


def test_the_page_has_a_row_for_each_combination() -> None:
    assert len(ROWS) == len({row[:3] for row in ROWS}) == len(ALL_MARKS)


def test_the_state_of_an_open_call_is_pending() -> None:
    assert interaction().lifecycle == lifecycle_of(None)
    assert lifecycle_of(None) == Lifecycle("pending", "nothing is not a result")


def test_only_a_short_text_is_a_cancellation_by_its_words() -> None:
    for size, expected in ((MAX_SENTENCE_BYTES, True), (MAX_SENTENCE_BYTES + 1, False)):
        padded = b'"cancelled' + b" " * (size - len(b'"cancelled"')) + b'"'
        assert len(padded) == size
        assert is_cancellation(padded) is expected


@pytest.mark.parametrize(
    ("body", "error", "value", "expected"),
    [
        (b'"x"', None, None, True),
        (b'"x"', False, None, True),
        (b'"x"', True, None, False),
        (b'["no","x"]', True, True, True),
        (b'"no"', True, False, False),
        (b"", False, False, False),
    ],
)
def test_a_lifecycle_tells_whether_the_tool_gave_an_output(
    body: bytes, error: bool | None, value: bool | None, expected: bool
) -> None:
    """The text of an error is no output; the canonical form has a key for each."""
    lifecycle = lifecycle_of(Result((), Keys((), (), ()), "c1", None, body, error=error, value=value))
    assert lifecycle.has_output is expected
    assert lifecycle.state == ("error" if error else "complete" if expected else "pending")


@pytest.mark.parametrize("sentence", PLACEHOLDERS)
def test_a_placeholder_is_recognized_by_its_first_words(sentence: bytes) -> None:
    for opener in (b'"', b'[{"type":"text","text":"', b'{"output": "'):
        assert is_placeholder(opener + sentence + b' and more"')
    assert not is_placeholder(b'"grep: ' + sentence + b'"')
