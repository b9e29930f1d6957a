"""One source from bytes to placed findings.

This module owns the order of things: read, pair, judge, place. It refuses to know how bytes become
conversations, what any rule says and how anything is shown.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, structs

from turnlint import ledger
from turnlint.api import Case
from turnlint.carrying.carrier import Carrier, Reader
from turnlint.clean import is_clean
from turnlint.counting import count, count_passed, count_providers
from turnlint.documents.source import Progress, Source, SourceError
from turnlint.documents.trouble import Damage
from turnlint.events import Crash, Heard, Skipped, Tally
from turnlint.fits import fits
from turnlint.model import SEVERITIES, Finding, Pointer, Record, Severity, Transcript
from turnlint.profiles import Profile
from turnlint.providers import Chosen, Providers
from turnlint.reading import Batch, Foreign, Reading
from turnlint.rows import Ignored, Line, Place, Row, lean, shape_of
from turnlint.rulebook import Entry
from turnlint.weighing import weigh

if TYPE_CHECKING:
    from turnlint.ignores import Ignore
    from turnlint.own_rules import OwnRule, Watch
    from turnlint.scan.seam import Counting
    from turnlint.view import Plan

__all__ = [
    "Book", "Content", "Crash", "Event", "Heard", "Judged", "Options", "Skipped", "Tally", "judge", "lint",
]  # fmt: skip

LONG = 1 << 20
"""The bytes of a longer record are not kept for whoever shows what was found in it."""
Content = Literal["none", "excerpt", "full"]


class Options(Struct, frozen=True):
    """What one run looks for and how much it shows."""

    format: str | None = None
    """`None` is `auto`."""
    providers: tuple[str, ...] = ("auto",)
    """Names with or without a version, `auto`; none at all leaves state and pairing only."""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    view: bool = False
    content: Content = "none"
    views_per_rule: int = 3
    fingerprints: bool = False
    spans: bool = False
    """Places are wanted with their ends, in every unit that columns are counted in."""
    conversations: bool = False
    """Each conversation is told of, also where nothing is wrong."""
    profiles: tuple[Profile, ...] = ()
    """Profiles that the user brings."""
    severities: tuple[tuple[str, Severity], ...] = ()
    """How grave the findings of some rules are, by selector; the last that means a rule holds."""
    own_rules: "tuple[OwnRule, ...]" = ()
    """Rules that the user brings: they look at records as they are written."""
    without: "tuple[Ignore, ...]" = ()
    """Findings that a repair leaves alone. A report sifts its rows instead, to tell of them."""
    says: tuple[str, ...] = ()
    """What is to be told of a finding's records besides: `model`, `day`."""
    root: str = ""
    """The folder from which fingerprints see a file; the one that the run is in where nothing is said."""


class Book:
    """The rules of a run, loaded when the first conversation needs them."""

    def __init__(self, options: Options) -> None:
        from turnlint import rulebook

        self.options = options
        self.packages = rulebook.packages()
        self.only_faults = len(self.packages) == 1
        """No rule of this run but those about a provider has anything to say of a clean conversation."""
        self.providers = Providers(self.packages, options.profiles)
        self.named = [
            None if name == "auto" else self.providers.named(name)
            for name in dict.fromkeys(options.providers)
        ]
        self.wires = tuple(
            dict.fromkeys(wire for one in self.named for wire in (one[0].wires if one else ()))
        )
        """Of the providers that the user named."""
        self.entries: list[Entry] | None = None
        if options.select or options.ignore:
            self.rules()

    def chosen(self, transcript: Transcript) -> tuple[Chosen, ...]:
        """The providers that a conversation is held against, each once."""
        found = [
            self.providers.auto(transcript) if one is None else self.providers.for_named(one, transcript)
            for one in self.named
        ]
        return tuple({one.profile.label: one for one in found if one}.values())

    def rules(self) -> list[Entry]:
        if self.entries is None:
            from turnlint import rulebook

            entries = [entry for package in self.packages for entry in rulebook.load(package)]
            if self.options.own_rules:
                from turnlint.own_rules.entries import entry_of

                entries += map(entry_of, self.options.own_rules)
            self.entries = rulebook.choose(entries, self.options.select, self.options.ignore)
        return self.entries

    def watch(self) -> "Watch | None":
        """The user's own rules of this run, if there are any."""
        if not self.options.own_rules:
            return None
        from turnlint.own_rules.watching import open_watch

        chosen = self.rules() if self.options.select or self.options.ignore else None
        return open_watch(self.options.own_rules, chosen, self.told)

    def told(self, findings: list[Finding]) -> list[Finding]:
        """Findings as grave as the configuration says."""
        if not findings or not self.options.severities:
            return findings
        from turnlint.ignores import regraded

        return [regraded(finding, self.options.severities) for finding in findings]


class Judged(Struct):
    """One conversation, and all that the rules of a run say of it."""

    transcript: Transcript
    pairs: ledger.Ledger
    chosen: tuple[Chosen, ...]
    cases: list[Case]
    """One for each provider."""
    findings: list[Finding]


Ask = Callable[[Entry, int, Callable[[Any], Any], Any], list[Finding]]
"""Puts a question to a rule: the rule, a line for the case that it fails, its check, and what to look at."""


def judge(book: Book, transcript: Transcript, ask: Ask) -> Judged:
    """Pair a conversation and hold it against the rules of a run."""
    pairs = ledger.read(transcript.messages, transcript.wire)
    clean = is_clean(transcript, pairs)
    chosen = () if transcript.dead else book.chosen(transcript)
    # What an agent keeps is no request: it may write anew what a provider asks of one. Whoever names one asks all.
    held = [one for one in chosen if one.named or not transcript.is_log]
    cases = [Case(transcript, pairs, one.profile, one.certain, one.named) for one in held]
    judged = Judged(transcript, pairs, chosen, cases, [])
    if clean and book.only_faults and all(map(fits, cases)):
        return judged
    line = transcript.messages[0].record.line if transcript.messages else 1
    bare = Case(transcript, pairs)
    for entry in book.rules():
        if (
            entry.check is None
            or (clean and entry.only_faults)
            or entry.rule.dead is not bool(transcript.dead)
        ):
            continue
        if entry.rule.fault == "projection":
            for case in cases:
                judged.findings += ask(entry, line, entry.check, case)
        else:
            found = ask(entry, line, entry.check, bare)
            judged.findings += [weigh(finding, transcript, chosen) for finding in found] if chosen else found
    judged.findings = book.told(judged.findings)
    return judged


REMEMBERED = 10_000

Told = tuple[Finding, Transcript | None]
Drawn = tuple[Finding, Transcript | None, "Plan | None", int]
Event = Row | Ignored | Skipped | Heard | Crash | Tally


def lint(source: Source, options: Options, book: Book, progress: Progress | None = None) -> Iterator[Event]:
    """Yield what there is to say of one source, its tally last."""
    return Run(source, options, book).events(progress)


class Run:
    """One source, or a part of one, on its way to rows."""

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
        """What was found lately: branches of one conversation share their faults."""
        self.failure: SourceError | None = None
        self.watch = book.watch()
        self.scanner: Counting | None = None
        self.reading = Reading(source, options.format, book.wires, self.watch.hear if self.watch else None)

    def events(self, progress: Progress | None) -> Iterator[Event]:
        for batch in self.reading.batches(progress, self._look):
            if len(self.said) > REMEMBERED:
                self.said.clear()
            self._take(batch)
            yield from self._ready()
        self._place([(finding, None) for finding in (self.watch.left() if self.watch else ())])
        yield from self._ready()
        yield from self._settle()
        if self.scanner:
            count_passed(self.tally, self.scanner.passed)
        yield self.tally
        if self.failure:
            raise self.failure

    def _look(self, carrier: Carrier, reader: Reader, records: list[Record]) -> "Counting | None":
        """Who looks at the log first: nobody, where something is to be said of sound conversations."""
        if self.book.only_faults and self.watch is None and not self.options.conversations:
            from turnlint.scan import scanner_for

            self.scanner = scanner_for(carrier, reader, records, self.book.chosen, self.source)
        return self.scanner

    def _take(self, batch: Batch) -> None:
        for item in batch:
            if isinstance(item, Transcript):
                self._judge(item)
            elif isinstance(item, tuple):
                self._judge_damage(*item)
            elif isinstance(item, Foreign):
                self.tally.files, self.tally.skipped = 0, 1
                self.waiting.append(Skipped(item.source))
            else:
                self.failure = item

    def _ready(self) -> Iterator[Event]:
        while self.waiting:
            yield self.waiting.popleft()

    def _judge(self, transcript: Transcript) -> None:
        judged = judge(self.book, transcript, self._ask)
        count(self.tally, transcript, judged.pairs)
        count_providers(self.tally, transcript.wire.speaks, judged.chosen)
        own = self.watch.within(transcript) if self.watch else []
        waiting = len(self.deferred)
        self._place([(finding, transcript) for finding in (*judged.findings, *own)])
        if self.options.conversations:
            line = transcript.messages[0].record.line if transcript.messages else 1
            whole = len(self.deferred) == waiting
            self.waiting.append(Heard(self.source.name, line, transcript.index, transcript.id, whole))

    def _judge_damage(self, *damages: Damage) -> None:
        findings: list[Finding] = []
        for entry in self.book.rules() if damages else ():
            if entry.check_record:
                for damage in damages:
                    findings += self._ask(entry, damage.record.line, entry.check_record, damage)
        self._place([(finding, None) for finding in self.book.told(findings)])

    def _ask(self, entry: Entry, line: int, check: Callable[[Any], Any], subject: object) -> list[Finding]:
        try:
            findings: list[Finding] = list(check(subject))
            assert all(one.severity in SEVERITIES for one in findings), (
                "a finding has no severity that exists"
            )
        except Exception as error:  # noqa: BLE001 - a rule may be anyone's; its failure is reported, not hidden
            self.tally.crashes += 1
            reason = f"{type(error).__name__}: {error}"
            self.waiting.append(Crash(f"rule {entry.rule.name}", self.source.name, line, reason))
            return []
        return findings

    def _place(self, told: list[Told]) -> None:
        """Place what can be placed now; what stands in records that were let go waits for a second look."""
        told = [one for one in told if self._is_new(one[0])]
        for finding, _ in told:
            self.tally.findings[finding.severity] += 1
            self.tally.rules[finding.rule] = self.tally.rules.get(finding.rule, 0) + 1
        plans = [self._plan(finding, transcript) for finding, transcript in told]
        ready: list[Drawn] = []
        for (finding, transcript), (plan, rank) in zip(told, plans, strict=True):
            gone = any(not record.data and record.size for record in _records_of(finding, plan))
            (self.deferred if gone else ready).append((finding, transcript, plan, rank))
        self.waiting.extend(self._rows(ready))

    def _is_new(self, finding: Finding) -> bool:
        where = finding.where
        key = (finding.code, where.record.offset, where.at, where.start, finding.message, finding.provider)
        known = key in self.said
        self.said.add(key)
        return not known

    def _plan(self, finding: Finding, transcript: Transcript | None) -> "tuple[Plan | None, int]":
        shape = f"{finding.rule} {shape_of(finding.message)}"
        drawn = self.drawn.get(shape, 0)
        if not self.options.view or transcript is None or drawn >= self.options.views_per_rule:
            return None, 0
        from turnlint import view

        self.drawn[shape] = drawn + 1
        return view.plan(transcript, finding), drawn + 1

    def _rows(self, ready: list[Drawn]) -> list[Row]:
        if not ready:
            return []
        from turnlint.placing import Placer, locations_of

        places = Placer(
            (location for finding, *_ in ready for location in locations_of(finding)),
            spans=self.options.spans,
        )
        identities = self._identities(ready)
        rows = [
            Row(
                finding,
                self.source.name,
                places[finding.where],
                tuple((related.note, places[related.where]) for related in finding.related),
                _draw(plan, self.options.content) if plan else (),
                self._fingerprint(
                    finding, identities[id(transcript or finding.where.record)], places[finding.where]
                )
                if identities
                else "",
                rank,
            )
            for finding, transcript, plan, rank in ready
        ]
        if self.options.says:
            from turnlint.provenance import told

            rows = told(rows, [one[1] for one in ready], self.options.says)
        rows = [lean(row) if len(row.finding.where.record.data) > LONG else row for row in rows]
        return sorted(rows, key=lambda row: (row.place.offset, row.finding.code))

    def _identities(self, ready: list[Drawn]) -> dict[int, str]:
        """What tells the conversations of these findings from others, each looked up once."""
        if not self.options.fingerprints:
            return {}
        from turnlint.fingerprint import identity_of

        owners = {
            id(transcript or finding.where.record): (finding.where.record, transcript)
            for finding, transcript, *_ in ready
        }
        return {key: identity_of(*owner) for key, owner in owners.items()}

    def _fingerprint(self, finding: Finding, identity: str, place: Place) -> str:
        from turnlint.fingerprint import fingerprint

        path = self.source.name
        if self.options.root and self.source.path is not None:
            path = os.path.relpath(self.source.path, self.options.root)
        return fingerprint(finding, identity, place, path, self.met)

    def _settle(self) -> Iterator[Row]:
        """Read again what was let go, in file order, and place what stands there."""
        if not self.deferred:
            return
        from turnlint.documents.reread import reread

        whole = structs.replace(self.source, part=None)
        for group in reread(whole, self.deferred, lambda one: _records_of(one[0], one[2])):
            yield from self._rows(group)


def _draw(plan: "Plan", content: Content) -> tuple[Line, ...]:
    from turnlint import view

    return view.draw(plan, longest=view.LENGTHS[content])


def _records_of(finding: Finding, plan: "Plan | None") -> Iterator[Record]:
    yield finding.where.record
    for related in finding.related:
        yield related.where.record
    if plan:
        yield from plan.records()
