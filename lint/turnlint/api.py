"""All that a rule needs, and all that it may import.

A rule is a module: a docstring with the headline and fixed headings, a `RULE`, `BAD` and `GOOD`
examples that are its tests, and a `check` that yields findings. This module owns the vocabulary of
that file. It refuses to run anything.
"""

from collections.abc import Callable, Iterator
from typing import Literal, TypedDict, Unpack

from msgspec import Struct, structs

from turnlint.documents.trouble import Damage, Kind, Trouble
from turnlint.ledger import Answered, Asked, Interaction, Ledger, is_missing, usable
from turnlint.model import (
    Call,
    Fault,
    Finding,
    Fix,
    Level,
    Location,
    Message,
    Misfit,
    Other,
    Pointer,
    Record,
    Related,
    Result,
    Severity,
    Text,
    Thinking,
    Transcript,
)
from turnlint.repeats import repeats

__all__ = [
    "Answered",
    "Asked",
    "Call",
    "Case",
    "Damage",
    "Example",
    "Finding",
    "Fix",
    "Interaction",
    "Kind",
    "Ledger",
    "Level",
    "Location",
    "Message",
    "Misfit",
    "Other",
    "Pointer",
    "Raw",
    "Record",
    "Related",
    "Result",
    "Rule",
    "Severity",
    "Text",
    "Thinking",
    "Transcript",
    "Trouble",
    "called",
    "is_missing",
    "near",
    "near_call",
    "near_result",
    "quote",
    "repeats",
    "usable",
]  # fmt: skip

FAULTS: dict[str, Fault] = {"ST": "state", "PA": "pairing", "PR": "projection", "CO": "contract"}
LONGEST_QUOTE = 64


class Case(Struct, frozen=True):
    """One conversation with its pairing: what a rule looks at."""

    transcript: Transcript
    ledger: Ledger

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.transcript.messages


class Example(Struct, frozen=True):
    """A short conversation. `<- CODE` at the end of a line expects that finding there, and nowhere else."""

    text: str
    wires: tuple[str, ...] = ("openai-chat", "anthropic", "canonical")


class Raw(Struct, frozen=True):
    """An example that is about bytes: the records as written, and the findings expected, by line."""

    format: str
    data: bytes
    expect: tuple[tuple[str, int], ...] = ()


class More(TypedDict, total=False):
    """What a finding may say beside its place and its sentence."""

    severity: Severity
    fix: Fix
    label: str
    related: tuple[Related, ...]


Key = Literal["id", "name", "body", "whole"]
"""What of a call or a result a finding points at."""

Check = Callable[[Case], Iterator[Finding]]
CheckRecord = Callable[[Damage], Iterator[Finding]]


class Rule(Struct, frozen=True):
    """A rule's name and nature. The module that holds it holds the rest."""

    code: str
    name: str
    severity: Severity
    fix: Level | None = None
    """How much `fix` may have to give up to repair what the rule finds; nothing where it cannot."""
    family: Fault | None = None
    """Where in a conversation's way the fault lies, for codes that do not say so by their first letters."""

    @property
    def fault(self) -> Fault:
        return self.family or FAULTS.get(self.code[:2], "state")

    def at_call(
        self, case: Case, asked: Asked, message: str, *, key: Key = "id", **more: Unpack[More]
    ) -> Finding:
        """A finding at a call: at its id, or at its `name` or `body`."""
        call = asked.call
        below = call.at if key == "whole" else (*call.at, *_key(call, key))
        return self._at(case, asked.message, below, message, call.id, call.name, **more)

    def at_result(
        self, case: Case, answered: Answered, message: str, *, key: Key = "id", **more: Unpack[More]
    ) -> Finding:
        """A finding at a result: at the id it answers, or at its `name` or `body`."""
        result = answered.result
        below = result.at if key == "whole" else (*result.at, *_key(result, key))
        return self._at(case, answered.message, below, message, result.id, result.name, **more)

    def at_message(
        self,
        case: Case,
        index: int,
        message: str,
        *,
        below: Pointer = (),
        at: Pointer | None = None,
        **more: Unpack[More],
    ) -> Finding:
        """A finding at a message, at something below it, or elsewhere in its record."""
        finding = self._at(case, index, below, message, None, None, **more)
        return finding if at is None else structs.replace(finding, where=Location(finding.where.record, at))

    def at_record(
        self,
        record: Record,
        message: str,
        *,
        at: Pointer = (),
        span: tuple[int, int] | None = None,
        **more: Unpack[More],
    ) -> Finding:
        """A finding at a place of a record, whatever conversation that is part of."""
        start, end = span or (None, None)
        return Finding(
            self.code,
            self.name,
            self.fault,
            more.get("severity", self.severity),
            message,
            Location(record, at, start, end),
            label=more.get("label", ""),
            fix=more.get("fix"),
            related=more.get("related", ()),
        )

    def _at(
        self,
        case: Case,
        index: int,
        below: Pointer,
        message: str,
        call_id: str | None,
        tool: str | None,
        **more: Unpack[More],
    ) -> Finding:
        transcript = case.transcript
        place = transcript.messages[index]
        return Finding(
            self.code,
            self.name,
            self.fault,
            more.get("severity", self.severity),
            message,
            Location(place.record, (*place.at, *below)),
            transcript.id,
            transcript.index,
            index,
            more.get("label", ""),
            call_id,
            tool,
            more.get("related", ()),
            more.get("fix"),
        )


def _key(block: Call | Result, key: Key) -> Pointer:
    keys = block.keys
    return keys.id if key == "id" else keys.name if key == "name" else keys.body


def near(case: Case, index: int, note: str, below: Pointer = ()) -> Related:
    """Another place of the conversation that belongs to the story."""
    place = case.transcript.messages[index]
    return Related(note, Location(place.record, (*place.at, *below)), index)


def near_call(case: Case, asked: Asked, note: str, *, key: Key = "id") -> Related:
    call = asked.call
    return near(case, asked.message, note, (*call.at, *_key(call, key)))


def near_result(case: Case, answered: Answered, note: str) -> Related:
    result = answered.result
    return near(case, answered.message, note, (*result.at, *result.keys.id))


def called(call: Call) -> str:
    """A call by its id and its tool, as far as it has them."""
    if not call.id:
        return f"the call to {quote(call.name)}" if call.name else "a call"
    return f"call {quote(call.id)} to {quote(call.name)}" if call.name else f"call {quote(call.id)}"


def quote(text: str | None) -> str:
    """A name from the transcript inside a message: marked as such, and never longer than a line."""
    if text is None:
        return "(none)"
    if len(text) > LONGEST_QUOTE:
        return f"`{text[: LONGEST_QUOTE - 1]}…` ({len(text)} characters)"
    return f"`{text}`"
