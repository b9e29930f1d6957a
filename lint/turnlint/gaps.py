"""Forbid repairs that an unreadable record makes unsafe.

An unreadable record may hold the call of a result, the result of a call, or the parent of a record. Behind it, or across
it, nothing is removed, joined, linked to another parent, or given to a call by its position.
"""

from collections.abc import Iterator

from msgspec import Struct, structs

from turnlint.ledger import Ledger, usable
from turnlint.model import Call, Finding, Fix, Gap, Record, Result, Transcript
from turnlint.steps import Close, Drop, Join, Move, Piece, Recall, Relink, Rename, Restore, Settle, Step

REPLACED = "\ufffd"
"""The replacement character for invalid bytes."""


def held_back(findings: list[Finding], transcript: Transcript, pairs: Ledger) -> list[Finding]:
    """Return the findings without the repairs that an unreadable record forbids."""
    found = _gaps(transcript, pairs)
    if not transcript.messages or not (found or any(map(_is_relinked, findings))):
        return findings
    gaps = _Gaps(transcript, found, max((one.record.offset for one in transcript.messages), default=0))
    return [_held_back(one, gaps) for one in findings]


def _is_relinked(finding: Finding) -> bool:
    """Whether the repair of a finding names another parent."""
    return finding.fix is not None and any(isinstance(step, Relink) for step in finding.fix.steps)


def is_uncertain(transcript: Transcript, pairs: Ledger) -> bool:
    """Whether a record cannot be read, and results have no ids that name their calls."""
    return bool(transcript.gaps) and any(not usable(one.asked.call.id) for one in pairs.interactions)


def _gaps(transcript: Transcript, pairs: Ledger) -> tuple[Gap, ...]:
    """Return the unreadable records, and those of calls whose ids cannot be read."""
    calls = (
        one.asked
        for one in pairs.interactions
        if REPLACED in (one.asked.call.id or "") and (one.answer is None or one.answer.result.synthetic)
    )
    records = (transcript.messages[one.message].record for one in calls)
    damaged = (Gap(one.line, one.offset, one.offset, "has a call with a damaged id") for one in records)
    return tuple(sorted((*transcript.gaps, *damaged), key=lambda gap: gap.offset))


def _damaged_ids(transcript: Transcript) -> Iterator[Gap]:
    """Yield the records whose own ids cannot be read."""
    for one in transcript.links or transcript.messages:
        if REPLACED in (one.id or ""):
            record = one.record
            yield Gap(record.line, record.offset, record.offset, "has a damaged id")


class _Gaps(Struct, frozen=True):
    """A conversation and the gaps that may have its missing parts."""

    transcript: Transcript
    gaps: tuple[Gap, ...]
    last: int
    """Offset of the last record of the conversation."""

    def place(self, message: int) -> int:
        return self.transcript.messages[message].record.offset

    def before(self, message: int) -> Gap | None:
        """Return the first gap before a message."""
        place = self.place(message)
        return next((one for one in self.gaps if one.offset <= place), None)

    def before_record(self, record: Record) -> Gap | None:
        """Return the first gap before a record that may be its parent: an unreadable record, or a damaged id."""
        known = [one for one in self.transcript.gaps if one.offset <= record.offset]
        known += (one for one in _damaged_ids(self.transcript) if one.offset < record.offset)
        return min(known, key=lambda one: one.offset, default=None)

    def between(self, one: int, other: int) -> Gap | None:
        """Return the first gap between two messages."""
        start, end = sorted((self.place(one), self.place(other)))
        return next((gap for gap in self.gaps if gap.offset <= end and start < gap.until), None)

    def behind(self, message: int) -> Iterator[Gap]:
        """Return the gaps after a message that may have a whole result: a truncated last line does not."""
        place = self.place(message)
        return (one for one in self.gaps if one.until > place and (one.offset <= self.last or not one.is_cut))

    def beside(self, piece: Piece) -> Gap | None:
        """Return the first gap that matters for a call or a result without an id, whose pairing depends on order.

        For a call, only gaps behind it matter; for a result, all gaps do.
        """
        for block in self.transcript.messages[piece.message].blocks:
            if isinstance(block, Call | Result) and block.at == piece.at and not usable(block.id):
                later = self.behind(piece.message) if isinstance(block, Call) else iter(self.gaps)
                return next(later, None)
        return None


def _held_back(finding: Finding, gaps: _Gaps) -> Finding:
    fix = finding.fix
    if fix is None or not fix.steps:
        return finding
    for step in fix.steps:
        if reason := _forbidden(step, finding.where.record, gaps):
            return structs.replace(finding, fix=Fix(fix.level, reason, blocked=True))
    closed = [step.call.message for step in fix.steps if isinstance(step, Close)]
    gap = next((one for message in closed for one in gaps.behind(message)), None)
    if gap is None:
        return finding
    title = f"{fix.title} (line {gap.line:,} {gap.what} and may hold the result)"
    return structs.replace(finding, fix=structs.replace(fix, title=title))


def _forbidden(step: Step, record: Record, gaps: _Gaps) -> str:
    """Return the reason why a step of a finding in a record is forbidden, or an empty text."""
    if isinstance(step, Relink):
        gap = gaps.before_record(record)
        return f"not linked: line {gap.line:,} {gap.what} and may be its parent" if gap else ""
    gap, verb, held = None, "moved", "its call"
    if isinstance(step, Drop):
        role = gaps.transcript.messages[step.piece.message].role
        gap, verb = gaps.before(step.piece.message) or gaps.beside(step.piece), "removed"
        held = "its call" if role in ("tool", "user") else "what it belongs to"
    elif isinstance(step, Recall):
        gap, verb = gaps.before(step.result.message), "added"
    elif isinstance(step, Restore):
        gap, verb, held = next(gaps.behind(step.call.message), None), "added", "the result"
    elif isinstance(step, Rename):
        gap, verb, held = gaps.beside(step.piece), "renamed", "its call or its result"
    elif isinstance(step, Close):
        gap, verb, held = gaps.beside(step.call), "completed", "its result"
    elif isinstance(step, Settle):
        gap = gaps.between(step.call.message, step.result.message)
    elif isinstance(step, Move):
        gap, held = gaps.between(step.message, step.before), "a message between them"
    elif isinstance(step, Join):
        gap, verb, held = gaps.between(step.message, step.onto), "joined", "a message between them"
    return f"not {verb}: line {gap.line:,} {gap.what} and may hold {held}" if gap else ""
