"""Lint one document, and convert the findings to positions of the editor.

The number of findings is limited.
"""

from itertools import chain

from msgspec import Struct, structs

from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Event, Skipped, Tally, lint
from turnlint.lsp.terms import Terms
from turnlint.lsp.text import Position, Text
from turnlint.model import SEVERITIES, Finding, Fix
from turnlint.neighbours import Near
from turnlint.repair.choosing import Policy, wanted
from turnlint.rows import Place, Row, lean
from turnlint.steps import Close, Take

MOST = 1_000
"""Limit of the findings that are sent: editors cannot show more in a useful way, and each one takes memory."""
MOST_READ = 5 * MOST
"""Limit of the findings after which linting stops and no repair is offered, since it would take too long."""

Span = tuple[Position, Position]


class Note(Struct, frozen=True):
    """A finding with its range."""

    finding: Finding
    span: Span
    related: tuple[tuple[str, Span], ...]
    fix: Fix | None
    """The repair of the finding.

    If its record was released before the rule had a repair, the usual repair of the rule.
    """
    waits: bool = False
    """Whether the call may still get its result, so that no placeholder is offered."""

    def is_near(self, span: Span) -> bool:
        """Whether a range touches that of the finding or overlaps it."""
        return self.span[0] <= span[1] and span[0] <= self.span[1]


class Seen(Struct, frozen=True):
    """The findings of a document, in its order."""

    notes: tuple[Note, ...] = ()
    crashes: tuple[Crash, ...] = ()
    count: int = 0
    """Number of findings until linting stopped."""
    is_transcript: bool = False
    """Whether it has a conversation."""
    near: Near | None = None
    """The unsupported format that it resembles."""
    policy: Policy = Policy()
    """The limits of a repair."""

    @property
    def is_cut(self) -> bool:
        return self.count >= MOST_READ


def look(text: Text, source: Source, terms: Terms) -> Seen:
    """Lint a document. A document that resembles no conversation has no notes."""
    found = _Found()
    for event in terms.sift(lint(source, terms.options, terms.book)):
        found.take(event, terms.book)
        if found.count >= MOST_READ:
            break
    kept = found.worst()
    places = [place for row, *_ in kept for place in (row.place, *(there for _, there in row.related))]
    at = text.positions(chain.from_iterable((place.offset, place.end) for place in places))

    def span(place: Place) -> Span:
        return at[place.offset], at[place.end]

    notes = [
        Note(
            row.finding,
            span(row.place),
            tuple((note, span(there)) for note, there in row.related),
            fix,
            waits,
        )
        for row, fix, waits in kept
    ]
    notes.sort(key=lambda note: note.span)
    return Seen(
        tuple(notes), tuple(found.crashes), found.count, found.is_transcript, found.near, terms.policy
    )


Kept = tuple[Row, Fix | None, bool]


class _Found:
    """Events of a document; of the findings, the most severe up to a limit."""

    def __init__(self) -> None:
        self.kept: dict[str, list[Kept]] = {severity: [] for severity in SEVERITIES}
        self.crashes: list[Crash] = []
        self.count = 0
        self.is_transcript = False
        self.near: Near | None = None

    def take(self, event: Event, book: Book) -> None:
        if isinstance(event, Row):
            self.count += 1
            rows = self.kept[event.finding.severity]
            if len(rows) < MOST:
                rows.append((_lean(event), _fix(event.finding, book), _waits(event.finding)))
        elif isinstance(event, Skipped):
            self.near = event.near if event.near and event.near.is_format else None
        elif isinstance(event, Crash) and len(self.crashes) < MOST:
            self.crashes.append(event)
        self.is_transcript |= isinstance(event, Tally) and event.conversations > 0

    def worst(self) -> list[Kept]:
        return [one for rows in self.kept.values() for one in rows][:MOST]


def _waits(finding: Finding) -> bool:
    steps = finding.fix.steps if finding.fix else ()
    return any(isinstance(step, Close) and step.pending for step in steps)


def _lean(row: Row) -> Row:
    row = lean(row)
    fix = row.finding.fix
    return structs.replace(row, finding=structs.replace(row.finding, fix=fix.lean())) if fix else row


def _fix(finding: Finding, book: Book) -> Fix | None:
    if finding.fix is not None and finding.fix.is_done_here:
        return finding.fix.lean()
    if not finding.where.record.size:  # the record had its bytes, and the rule offered no repair
        return None
    usual = next((entry.rule.fix for entry in book.rules() if entry.rule.code == finding.code), None)
    return Fix(usual, f"repair {finding.rule}", let_go=True) if usual else None


def has_placeholder(note: Note, policy: Policy) -> bool:
    """Whether a repair that adds a placeholder is offered beside those that the policy allows."""
    more = structs.replace(policy, level="placeholder")
    return policy.level == "lossless" and not note.waits and repairable(note, more, alone=True)


def repairable(note: Note, policy: Policy, *, alone: bool = False) -> bool:
    """Whether `fix` would repair a finding, alone or among all: a request for one rule also repairs its infos."""
    if note.fix is None:
        return False
    whole = structs.replace(note.finding, fix=structs.replace(note.fix, steps=(Take(()),)))
    return wanted(whole, structs.replace(policy, select=policy.select or alone))
