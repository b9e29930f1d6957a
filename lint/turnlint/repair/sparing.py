"""Exclude findings that a user ignores from a repair.

An ignored finding is recognized even after its surroundings were moved or renamed: by its call, its result or the text
of its message. A repair never removes the notes of a record about its own findings.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from turnlint.documents.locate import locate
from turnlint.engine import Judged, Options
from turnlint.ignores import pointers_of
from turnlint.model import Call, Finding, Pointer, Record, Result, Transcript
from turnlint.noting import model_of, own_names
from turnlint.pardons import Pardon, Pardons
from turnlint.provenance import said_in
from turnlint.steps import Drop, Join, Put, Step, Take, Translate


class Spared:
    """The ignored findings of one unit, from its first state on."""

    def __init__(self, options: Options, known: Iterable[Any] = ()) -> None:
        self.leniency = Leniency(options)
        self.known: set[Any] = {*known}

    def sift(self, judged: list[Judged]) -> None:
        """Remove the findings that are not to be repaired."""
        now: set[Any] = set()
        for one in judged if self.leniency.any else ():
            kept = []
            for finding in one.findings:
                key = _key(finding, one.transcript)
                if self.leniency.covers(finding, one.transcript) or key in self.known:
                    now.add(key)
                else:
                    kept.append(self.leniency.bounded(finding, one.transcript))
            one.findings = kept
        self.known |= now


class Leniency:
    """The ignores of the settings and of the records."""

    def __init__(self, options: Options) -> None:
        self.ignores = options.without
        self.pardons = Pardons(options.pardons, own=own_names(options.own_rules)) if options.pardons else None
        self.any = bool(self.ignores or self.pardons)
        self.last: tuple[Record, tuple[Pardon, ...]] | None = None
        """The last inspected record, and its notes."""

    def covers(self, finding: Finding, transcript: Transcript | None = None) -> bool:
        """Whether a finding is ignored, as far as the bytes of its record are in memory."""
        record = finding.where.record
        if any(one.covers(finding) for one in self._of(record)):
            return True
        for one in self.ignores:
            asks = one.asks_records and bool(record.data)
            said = said_in(record.data, model_of(record, transcript)) if asks else None
            if one.covers(finding, pointers_of(finding), said=said):
                return True
        return False

    def bounded(self, finding: Finding, transcript: Transcript) -> Finding:
        """Return the finding, without repair steps that would remove the record's notes about its findings."""
        fix = finding.fix
        if not fix or self.pardons is None:
            return finding
        kept = tuple(step for step in fix.steps if not self._takes(step, finding.where.record, transcript))
        if len(kept) < len(fix.steps) and not all(isinstance(step, Take) for step in fix.steps):
            kept = ()  # only removals are independent of one another: other steps of a repair belong together
        return structs.replace(finding, fix=structs.replace(fix, steps=kept))

    def _takes(self, step: Step, record: Record, transcript: Transcript) -> bool:
        """Whether a step removes or rewrites a place with the record's notes about itself."""
        index, below = _touched(step)
        if index is not None:
            message = transcript.messages[index]
            record, below = message.record, (*message.at, *(below or ()))
        return below is not None and any(one.at[: len(below)] == below for one in self._of(record))

    def _of(self, record: Record) -> tuple[Pardon, ...]:
        if self.pardons is None:
            return ()
        if self.last is None or self.last[0] is not record:
            self.last = record, self.pardons.of(record)
        return self.last[1]


def _touched(step: Step) -> tuple[int | None, Pointer | None]:
    """Return the message and the pointer of the place that a step replaces completely; none for other steps."""
    if isinstance(step, Drop):
        return step.piece.message, step.piece.at
    if isinstance(step, Join | Translate):
        return step.message, ()
    return (step.message, step.at) if isinstance(step, Put | Take) else (None, None)


def _key(finding: Finding, transcript: Transcript) -> Any:
    """Return the subject of a finding, regardless of its ids and its position."""
    if finding.message_index is None:
        return finding.code, finding.provider, finding.message
    message = transcript.messages[finding.message_index]
    below = finding.where.at[len(message.at) :]
    for block in message.blocks:
        if isinstance(block, Call | Result) and below[: len(block.at)] == block.at:
            return finding.code, finding.provider, type(block), block.name, block.body
    data = message.record.data
    _, start, end = locate(data, message.at) if data else ((), 0, 0)
    return finding.code, finding.provider, message.written_role, data[start:end]
