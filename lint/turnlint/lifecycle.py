"""Infer the state of a tool call from all marks of its result.

The module also has the sentences that programs write for missing results and for cancelled calls.
"""

import re
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Literal, get_args

from msgspec import Struct, json

from turnlint.model import Result, State

Failure = Literal["none", "failed", "cancelled"]
Outcome = Literal["value", "placeholder", "none"]

UNKNOWN = "No result of this call was recorded: it is not known whether it ran, and with what outcome."
"""Text of a placeholder result. It names no cause, since none is known."""

MARKS = frozenset({"error", "isComplete", "isError", "is_error", "status"})
"""Keys of a result that mark its state, in any format."""

PARTIAL = "Only a part of this result was recorded: it is not known whether the call ran to its end."
"""Text of the error that completes a partial result."""

PLACEHOLDERS: tuple[bytes, ...] = (
    UNKNOWN.encode(),
    b"[openclaw] missing tool result in session history",
    b"[System: Tool execution skipped/interrupted",
    b"[Tool execution was interrupted]",
    b"[migration] Tool result missing in legacy conversation history",
    b"Error: this tool call was not executed, or its result was lost",
    b"No result provided",
    b"The tool call was interrupted before a result was produced",
    b"The tool execution result was lost due to context management truncation",
    b"Tool call interrupted or cancelled",
    b"Tool canceled by user",
    b"Tool execution aborted",
    b"Tool execution result was not recorded",
    b"Tool execution skipped - ",
    b"Tool execution was interrupted before",
    b"Tool was interrupted.",
)
"""Sentences that agents write for a missing result (read from their sources, 2026-11)."""

CANCELLATIONS: tuple[bytes, ...] = (
    PARTIAL.encode(),
    b"[Operation Cancelled]",
    b"[Request interrupted by user",
    b"[Tool call did not complete: ",
    b"[Tool call skipped: ",
    b"The user doesn't want to proceed with this tool use",
    b"The user doesn't want to take this action right now",
    b"aborted by user after ",
)
"""Beginnings of the texts that agents write for a cancelled call (read from their sources, 2026-11)."""
MAX_SENTENCE_BYTES = 200
"""Maximum size of a body that says only that a call was cancelled."""


@cache
def _sentence() -> re.Pattern[bytes]:
    """Return a pattern for a whole text that says only that a call was cancelled.

    Without the person who cancelled it, a request or a command may be one that the tool made.
    """
    call = rb"(?:tool|function)(?: (?:call|use|execution|run))?|call|execution|operation"
    work = rb"(?:the |this )?(?:%s|request|command|task|turn|action)" % call
    person = rb"(?:the )?(?:user|client|caller|operator)"
    ended = rb"(?:cancell?ed|interrupted|aborted)"
    stopped = rb"(?:cancell?ed|interrupted|aborted|rejected|stopped|denied)"
    was = rb"(?:was |is |has been |got )?"
    forms = (
        rb"(?:(?:the |this )?(?:%s) )?%s%s(?: or %s)?" % (call, was, ended, ended),
        rb"(?:%s )?%s%s by %s" % (work, was, stopped, person),
        rb"%s (?:has )?%s(?: %s)?" % (person, stopped, work),
    )
    return re.compile(rb"(?:error: )?[\[(]?(?:%s)[\])]?[.!]?" % b"|".join(forms), re.IGNORECASE)


@cache
def _opener() -> re.Pattern[bytes]:
    """Return a pattern for the bytes before the text of a result.

    They are white space, or the start of an object or of the first of some parts.
    """
    return re.compile(
        rb'\s*(?:\{\s*"(?:output|error)"\s*:\s*|\[\s*\{\s*(?:"type"\s*:\s*"text"\s*,\s*)?"text"\s*:\s*)?"'
    )


def is_placeholder(body: bytes) -> bool:
    """Whether a repair wrote a result: its text starts with one of the known sentences."""
    if body == b'"aborted"':
        return True
    if body.startswith(b'"'):
        return body.startswith(PLACEHOLDERS, 1)
    opener = _opener().match(body)
    return opener is not None and body.startswith(PLACEHOLDERS, opener.end())


def is_cancellation(body: bytes) -> bool:
    """Whether the text of an error says that the call was cancelled, and nothing else.

    A text with such a word among others is an error: a tool may report a cancelled booking.
    """
    if _begins_with_cancellation(body) or is_placeholder(body):
        return True
    return len(body) <= MAX_SENTENCE_BYTES and _sentence().fullmatch(_only_text(body)) is not None


def _begins_with_cancellation(body: bytes) -> bool:
    opener = _opener().match(body)
    return opener is not None and body.startswith(CANCELLATIONS, opener.end())


def _only_text(body: bytes) -> bytes:
    """Return a text, also if it is the only member of an object or the only part of a list; else nothing."""
    try:
        value = json.decode(body)
    except (ValueError, RecursionError):
        return b""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        members = [one for key, one in value.items() if key != "type"]
        value = members[0] if len(members) == 1 else None
    return value.strip().encode(errors="replace") if isinstance(value, str) else b""


class Marks(Struct, frozen=True):
    """The marks of a result, as all formats have them."""

    complete: bool | None = None
    """The mark of completion; none where the result has no such mark."""
    failure: Failure = "none"
    """Whether the result is an error, and whether the error is a cancellation."""
    outcome: Outcome = "value"
    """Whether the result has an output of the tool, or a placeholder that a repair wrote."""


class Meaning(Struct, frozen=True):
    """A row of the definition: the marks to which it applies, and their state."""

    state: State
    reason: str
    applies: Callable[[Marks], bool]


MEANINGS: tuple[Meaning, ...] = (
    Meaning("cancelled", "a cancellation ends the call", lambda one: one.failure == "cancelled"),
    Meaning("error", "an error ends the call", lambda one: one.failure == "failed"),
    Meaning(
        "cancelled", "a placeholder says that the result is missing", lambda one: one.outcome == "placeholder"
    ),
    Meaning("pending", "nothing is not a result", lambda one: one.outcome == "none"),
    Meaning("pending", "a part of a result is not a result", lambda one: one.complete is False),
    Meaning("complete", "the tool returned a result", lambda _: True),
)
"""The definition of the state of a call: the first row that applies decides."""

ALL_MARKS: tuple[Marks, ...] = tuple(
    Marks(complete, failure, outcome)
    for failure, outcome, complete in product(get_args(Failure), get_args(Outcome), (None, True, False))
)
"""Every combination of marks."""


def meaning_of(marks: Marks) -> Meaning:
    """Return the row of the definition for some marks; no single mark decides alone."""
    return next(one for one in MEANINGS if one.applies(marks))


def marks_of(result: Result | None) -> Marks:
    """Return the marks of a result in any format, or of a call without a result."""
    if result is None:
        return Marks(outcome="none")
    named = {"pending": False, "complete": True}.get(result.status or "")
    complete = named if result.complete is None else result.complete
    outcome: Outcome = "placeholder" if result.synthetic else "none" if result.value is False else "value"
    return Marks(complete, _failure_of(result), outcome)


def _failure_of(result: Result) -> Failure:
    # The texts of agents need no mark: several wires have none.
    if result.status == "cancelled" or result.cancelled or _begins_with_cancellation(result.body):
        return "cancelled"
    if not (result.error or result.status == "error"):
        return "none"
    return "cancelled" if result.synthetic or is_cancellation(result.body) else "failed"


class Lifecycle(Struct, frozen=True):
    """The state of a call, by all marks of its result."""

    state: State
    reason: str
    has_output: bool = False
    """Whether an output of the tool is recorded. It is partial if the state is not `complete`."""
    is_synthetic: bool = False
    """Whether a repair wrote the result, and not a tool."""

    @property
    def is_partial(self) -> bool:
        return self.state == "pending" and self.has_output


def lifecycle_of(result: Result | None) -> Lifecycle:
    """Return the lifecycle of a call from its result, or of a call without a result."""
    marks = marks_of(result)
    meaning = meaning_of(marks)
    # Without a mark for its value, the text of a failed result is the error.
    gave = marks.failure == "none" if result is None or result.value is None else result.value
    return Lifecycle(
        meaning.state, meaning.reason, gave and marks.outcome == "value", marks.outcome == "placeholder"
    )


def says_only_cancelled(result: Result) -> bool:
    """Whether the text of a cancelled result says that the call was cancelled, and nothing else."""
    return result.synthetic or result.cancelled or is_cancellation(result.body)


def holds_nothing(result: Result) -> bool:
    """Whether a result waits for its content, so that its call has no result yet."""
    return result.value is False and state_of(result) == "pending"


def state_of(result: Result | None) -> State:
    """Return the state of a call from its result, or of a call without a result."""
    return meaning_of(marks_of(result)).state
