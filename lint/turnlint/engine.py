"""Lint one source: read conversations, apply rules and place findings, in this order."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import structs

from turnlint.counting import count, count_passed, count_providers, count_skipped, count_unread
from turnlint.documents.source import Progress, Source
from turnlint.evaluation import Evaluator
from turnlint.events import Crash, Diagnosis, Heard, Remark, Skipped, Tally
from turnlint.judging import Book, Content, Judged, Options
from turnlint.model import SEVERITIES, Finding, Location, Pointer, Record, Transcript
from turnlint.reading import Foreign
from turnlint.rows import Ignored, Line, Place, Row, drawn_shape, lean

if TYPE_CHECKING:
    from turnlint.errors import SourceError
    from turnlint.noting import Notes
    from turnlint.rulebook import Entry
    from turnlint.view import Plan

__all__ = [
    "Book", "Content", "Crash", "Diagnosis", "Event", "Heard", "Judged", "Options", "Remark", "Skipped", "Tally", "lint",
]  # fmt: skip

LONG = 1 << 20
"""Size of a record above which its bytes are not kept for reports."""
REMEMBERED = 10_000
Told = tuple[Finding, Transcript | None]
Drawn = tuple[Finding, Transcript | None, "Plan | None", int]
Event = Row | Ignored | Skipped | Heard | Diagnosis | Crash | Remark | Tally


def lint(source: Source, options: Options, book: Book, progress: Progress | None = None) -> Iterator[Event]:
    """Yield the events of one source, its tally last."""
    return Run(source, options, book).events(progress)


class Run:
    """The lint of one source, or of a part of one."""

    def __init__(self, source: Source, options: Options, book: Book) -> None:
        self.source = source
        self.options = options
        self.book = book
        self.tally = Tally(files=1)
        self.waiting: deque[Event] = deque()
        self.deferred: list[Drawn] = []
        self.drawn: dict[str, int] = {}
        self.met: dict[str, int] = {}
        self.said: set[tuple[str, int, Pointer, int | None, str, str | None]] = set()
        """Recent findings: branches of one conversation share their faults."""
        self.failure: SourceError | None = None
        self.watch = book.watch()
        self.notes = self._notes()
        own = self.watch.hear if self.watch else None
        hear = self.notes.hears(own) if self.notes else own
        self.evaluator = Evaluator(source, options, book, self._ask, watch=hear, may_shorten=True)

    def _notes(self) -> "Notes | None":
        options = self.options
        if not options.says and not options.pardons:
            return None
        from turnlint.noting import Notes, own_names

        return Notes(self.source.name, options.pardons, own_names(options.own_rules), says=options.says)

    def events(self, progress: Progress | None) -> Iterator[Event]:
        skip_sound = not (self.watch or self.options.conversations or self.options.diagnostics)
        for batch in self.evaluator.batches(progress, skip_sound=skip_sound):
            if len(self.said) > REMEMBERED:
                self.said.clear()
            for item in batch:
                self._take(item)
                if self.waiting:
                    yield from self._ready()
        self._place([(finding, None) for finding in (self.watch.left() if self.watch else ())])
        yield from self._ready()
        yield from self._settle()
        if self.evaluator.passed:
            count_passed(self.tally, self.evaluator.passed)
        reading = self.evaluator.reading
        if not self.tally.skipped:
            count_unread(self.tally, reading.unread)
            count_skipped(self.tally, reading.skipped)
        yield from self.notes.left() if self.notes else ()
        self.tally.is_unfinished = reading.gate.left is not None
        yield self.tally
        if self.failure:
            raise self.failure

    def _take(self, item: Any) -> None:
        if isinstance(item, Transcript):
            self._judge(item)
        elif isinstance(item, tuple):
            self._place([(finding, None) for finding in self.evaluator.judge_damage(item)])
        elif isinstance(item, Foreign):
            self.tally.files, self.tally.skipped = 0, 1
            self.waiting.append(Skipped(item.source, item.near))
        else:
            self.failure = item

    def _ready(self) -> Iterator[Event]:
        while self.waiting:
            yield self.waiting.popleft()

    def _judge(self, transcript: Transcript) -> None:
        judged = self.evaluator.judge(transcript)
        count(self.tally, transcript, judged.pairs, named=any(one.named for one in judged.chosen))
        count_providers(self.tally, transcript.wire.speaks, judged.chosen)
        own = self.watch.within(transcript) if self.watch else []
        waiting = len(self.deferred)
        self._place([(finding, transcript) for finding in (*judged.findings, *own)])
        if self.options.conversations:
            line = transcript.messages[0].record.line if transcript.messages else 1
            whole = len(self.deferred) == waiting
            self.waiting.append(Heard(self.source.name, line, transcript.index, transcript.id, whole))
        if self.options.diagnostics:
            from turnlint.diagnosis import diagnose

            self.waiting.append(diagnose(judged, self.source.name))

    def _ask(self, entry: "Entry", line: int, check: Callable[[Any], Any], subject: object) -> list[Finding]:
        try:
            findings: list[Finding] = list(check(subject))
            assert all(one.severity in SEVERITIES for one in findings), (
                "a finding has no severity that exists"
            )
        except Exception as error:  # noqa: BLE001 - a foreign rule may fail; the failure is reported
            self.tally.crashes += 1
            reason = f"{type(error).__name__}: {error}"
            self.waiting.append(Crash(f"rule {entry.rule.name}", self.source.name, line, reason))
            return []
        return findings

    def _place(self, told: list[Told]) -> None:
        """Place the findings whose records are in memory; the others wait until their records are read again."""
        if not told:
            return
        told = [one for one in told if self._is_new(one[0])]
        for finding, _ in told:
            self.tally.findings[finding.severity] += 1
            self.tally.rules[finding.rule] = self.tally.rules.get(finding.rule, 0) + 1
        ready: list[Drawn] = []
        for finding, transcript in told:
            plan, rank = self._plan(finding, transcript)
            gone = any(not record.data and record.size for record in _records_of(finding, plan))
            if gone:
                # A conversation that is not needed later is released: it may be long.
                known = transcript if self.options.fingerprints or self.notes else None
                self.deferred.append((finding, known, plan, rank))
            else:
                ready.append((finding, transcript, plan, rank))
        self.waiting.extend(self._rows(ready))

    def _is_new(self, finding: Finding) -> bool:
        where = finding.where
        key = (finding.code, where.record.offset, where.at, where.start, finding.message, finding.provider)
        known = key in self.said
        self.said.add(key)
        return not known

    def _plan(self, finding: Finding, transcript: Transcript | None) -> "tuple[Plan | None, int]":
        if not self.options.view or transcript is None:
            return None, 0
        shape = drawn_shape(finding)
        drawn = self.drawn.get(shape, 0)
        if drawn >= self.options.views_per_rule:
            return None, 0
        from turnlint import view

        self.drawn[shape] = drawn + 1
        return view.plan(transcript, finding), drawn + 1

    def _rows(self, ready: list[Drawn]) -> list[Row]:
        if not ready:
            return []
        from turnlint.placing import Placer, locations_of

        names, words = self._names(ready)
        places = Placer(
            (location for finding, *_ in ready for location in locations_of(finding)),
            spans=self.options.spans, besides=words.values(),
        )  # fmt: skip
        if words:
            from turnlint.fingerprint import digest

            names.update({key: digest(places.bytes_of(where)) for key, where in words.items()})
        rows = [
            Row(
                finding, self.source.name, places[finding.where],
                tuple((related.note, places[related.where]) for related in finding.related),
                _draw(plan, self.options.content) if plan else (),
                self._fingerprint(finding, names[id(transcript or finding.where.record)], places[finding.where])
                if names else "",
                rank,
            )
            for finding, transcript, plan, rank in ready
        ]  # fmt: skip
        if self.notes:
            rows = self.notes.noted(rows, (transcript for _, transcript, *_ in ready))
        bare: dict[int, Record] = {}
        rows = [lean(row, bare) if len(row.finding.where.record.data) > LONG else row for row in rows]
        return sorted(rows, key=_order) if len(rows) > 1 else rows

    def _names(self, ready: list[Drawn]) -> tuple[dict[int, str], dict[int, Location]]:
        """Return the identities of these findings' conversations, or the locations whose digest is the identity."""
        if not self.options.fingerprints:
            return {}, {}
        from turnlint.fingerprint import first_words, named

        names: dict[int, str] = {}
        words: dict[int, Location] = {}
        for finding, transcript, *_ in ready:
            key = id(transcript or finding.where.record)
            if key not in names:
                names[key] = named(finding.where.record, transcript)
                if not names[key] and transcript:
                    words[key] = first_words(transcript)
        return names, words

    def _fingerprint(self, finding: Finding, identity: str, place: Place) -> str:
        from turnlint.fingerprint import fingerprint

        return fingerprint(finding, identity, place, self._seen_as, self.met)

    @cached_property
    def _seen_as(self) -> str:
        """Return the path of the source for fingerprints."""
        if self.options.root and self.source.path is not None:
            return os.path.relpath(self.source.path, self.options.root)
        return self.source.name

    def _settle(self) -> Iterator[Row]:
        """Read released records again, in file order, and place the findings in them."""
        if not self.deferred:
            return
        from turnlint.documents.reread import reread

        whole = structs.replace(self.source, part=None)
        for group in reread(whole, self.deferred, lambda one: _records_of(one[0], one[2])):
            yield from self._rows(group)


def _order(row: Row) -> tuple[int, str]:
    return row.place.offset, row.finding.code


def _draw(plan: "Plan", content: Content) -> tuple[Line, ...]:
    from turnlint import view

    return view.draw(plan, longest=view.LENGTHS[content])


def _records_of(finding: Finding, plan: "Plan | None") -> Iterator[Record]:
    yield finding.where.record
    for related in finding.related:
        yield related.where.record
    if plan:
        yield from plan.records()
