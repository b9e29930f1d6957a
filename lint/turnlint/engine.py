"""One source from bytes to placed findings.

This module owns the order of things: read, pair, judge, place. It refuses to know how bytes become
conversations, what any rule says and how anything is shown.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field, structs

from turnlint import ledger
from turnlint.api import Case
from turnlint.carrying.carrier import Carrier, Reader
from turnlint.clean import is_clean
from turnlint.documents.source import Progress, Source, SourceError
from turnlint.documents.trouble import Damage
from turnlint.fits import fits
from turnlint.model import SEVERITIES, Finding, Pointer, Record, Transcript
from turnlint.profiles import Profile
from turnlint.providers import Chosen, Providers
from turnlint.reading import Batch, Foreign, Reading
from turnlint.rows import Line, Place, Row, lean, shape_of
from turnlint.rulebook import Entry
from turnlint.weighing import weigh

if TYPE_CHECKING:
    from turnlint.scan.seam import Counting, Passed
    from turnlint.view import Plan

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
    profiles: tuple[Profile, ...] = ()
    """Profiles that the user brings."""


class Tally(Struct):
    """What was seen, and what was found."""

    files: int = 0
    conversations: int = 0
    messages: int = 0
    calls: int = 0
    results: int = 0
    findings: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    rules: dict[str, int] = {}
    providers: dict[str, int] = {}
    """How many conversations were held against each."""
    across: dict[str, int] = {}
    """How many of those are written on a wire that is not its own, as `provider on wire`: their spelling is not judged."""
    skipped: int = 0
    crashes: int = 0

    def add(self, other: "Tally") -> None:
        for name in ("files", "conversations", "messages", "calls", "results", "skipped", "crashes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("findings", "rules", "providers", "across"):
            mine, theirs = getattr(self, name), getattr(other, name)
            for key, count in theirs.items():
                mine[key] = mine.get(key, 0) + count


class Skipped(Struct, frozen=True):
    """A source no format knows."""

    source: Source


class Crash(Struct, frozen=True):
    """A rule failed on a conversation, or reading failed. The run goes on and says so."""

    rule: str
    path: str
    line: int
    reason: str


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
            self.entries = rulebook.choose(entries, self.options.select, self.options.ignore)
        return self.entries


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
    chosen = book.chosen(transcript)
    cases = [Case(transcript, pairs, one.profile, one.certain, one.named) for one in chosen]
    judged = Judged(transcript, pairs, chosen, cases, [])
    if clean and book.only_faults and all(map(fits, cases)):
        return judged
    line = transcript.messages[0].record.line if transcript.messages else 1
    bare = Case(transcript, pairs)
    for entry in book.rules():
        if entry.check is None or (clean and entry.only_faults):
            continue
        if entry.rule.fault == "projection":
            for case in cases:
                judged.findings += ask(entry, line, entry.check, case)
        else:
            found = ask(entry, line, entry.check, bare)
            judged.findings += [weigh(finding, transcript, chosen) for finding in found] if chosen else found
    return judged


Told = tuple[Finding, Transcript | None]
Drawn = tuple[Finding, Transcript | None, "Plan | None"]
Event = Row | Skipped | Crash | Tally


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
        """What was found in the record at hand: branches of one conversation share their faults."""
        self.failure: SourceError | None = None
        self.scanner: Counting | None = None
        self.reading = Reading(source, options.format, book.wires)

    def events(self, progress: Progress | None) -> Iterator[Event]:
        for batch in self.reading.batches(progress, self._look):
            self.said.clear()
            self._take(batch)
            yield from self._ready()
        yield from self._settle()
        if self.scanner:
            self._count_passed(self.scanner.passed)
        yield self.tally
        if self.failure:
            raise self.failure

    def _look(self, carrier: Carrier, reader: Reader, records: list[Record]) -> "Counting | None":
        """Who looks at the log first: nobody, where a rule of somebody else's may speak of sound conversations."""
        if self.book.only_faults:
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
        self._count(transcript, judged.pairs)
        self._count_providers(transcript.wire.speaks, judged.chosen)
        self._place([(finding, transcript) for finding in judged.findings])

    def _judge_damage(self, *damages: Damage) -> None:
        findings: list[Finding] = []
        for entry in self.book.rules() if damages else ():
            if entry.check_record:
                for damage in damages:
                    findings += self._ask(entry, damage.record.line, entry.check_record, damage)
        self._place([(finding, None) for finding in findings])

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
        for (finding, transcript), plan in zip(told, plans, strict=True):
            gone = any(not record.data and record.size for record in _records_of(finding, plan))
            (self.deferred if gone else ready).append((finding, transcript, plan))
        self.waiting.extend(self._rows(ready))

    def _is_new(self, finding: Finding) -> bool:
        where = finding.where
        key = (finding.code, where.record.offset, where.at, where.start, finding.message, finding.provider)
        known = key in self.said
        self.said.add(key)
        return not known

    def _plan(self, finding: Finding, transcript: Transcript | None) -> "Plan | None":
        shape = f"{finding.rule} {shape_of(finding.message)}"
        drawn = self.drawn.get(shape, 0)
        if not self.options.view or transcript is None or drawn >= self.options.views_per_rule:
            return None
        from turnlint import view

        self.drawn[shape] = drawn + 1
        return view.plan(transcript, finding)

    def _rows(self, ready: list[Drawn]) -> list[Row]:
        if not ready:
            return []
        from turnlint.placing import Placer, locations_of

        places = Placer(location for finding, _, _ in ready for location in locations_of(finding))
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
            )
            for finding, transcript, plan in ready
        ]
        rows = [lean(row) if len(row.finding.where.record.data) > LONG else row for row in rows]
        return sorted(rows, key=lambda row: (row.place.offset, row.finding.code))

    def _identities(self, ready: list[Drawn]) -> dict[int, str]:
        """What tells the conversations of these findings from others, each looked up once."""
        if not self.options.fingerprints:
            return {}
        from turnlint.fingerprint import identity_of

        owners = {
            id(transcript or finding.where.record): (finding.where.record, transcript)
            for finding, transcript, _ in ready
        }
        return {key: identity_of(*owner) for key, owner in owners.items()}

    def _fingerprint(self, finding: Finding, identity: str, place: Place) -> str:
        from turnlint.fingerprint import fingerprint

        return fingerprint(finding, identity, place, self.source.name, self.met)

    def _settle(self) -> Iterator[Row]:
        """Read again what was let go, in file order, and place what stands there."""
        if not self.deferred:
            return
        from turnlint.documents.reread import reread

        whole = structs.replace(self.source, part=None)
        for group in reread(whole, self.deferred, lambda one: _records_of(one[0], one[2])):
            yield from self._rows(group)

    def _count_providers(self, wire: str, chosen: tuple[Chosen, ...], count: int = 1) -> None:
        for one in chosen:
            name = one.profile.label
            self.tally.providers[name] = self.tally.providers.get(name, 0) + count
            if one.named and wire not in one.profile.wires:
                key = f"{name} on {wire}"
                self.tally.across[key] = self.tally.across.get(key, 0) + count

    def _count_passed(self, passed: "Passed") -> None:
        self.tally.conversations += passed.conversations
        self.tally.messages += passed.messages
        self.tally.calls += passed.calls
        self.tally.results += passed.results
        for (wire, chosen), count in passed.kinds.items():
            self._count_providers(wire, chosen, count)

    def _count(self, transcript: Transcript, pairs: ledger.Ledger) -> None:
        tally = self.tally
        tally.conversations += 1
        tally.messages += len(transcript.messages)
        tally.calls += len(pairs.interactions)
        answered = sum(interaction.answer is not None for interaction in pairs.interactions)
        tally.results += answered + len(pairs.duplicates) + len(pairs.orphans)


def _draw(plan: "Plan", content: Content) -> tuple[Line, ...]:
    from turnlint import view

    return view.draw(plan, longest=view.LENGTHS[content])


def _records_of(finding: Finding, plan: "Plan | None") -> Iterator[Record]:
    yield finding.where.record
    for related in finding.related:
        yield related.where.record
    if plan:
        yield from plan.records()
