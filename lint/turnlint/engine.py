"""One source from bytes to placed findings.

This module owns the order of things: frame, decode, carry, pair, judge, place. It refuses to know
what any rule says and how anything is shown.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field, structs

from turnlint import carriers, ledger
from turnlint.api import Case
from turnlint.carrying.carrier import Carrier, Reader, Stray
from turnlint.clean import is_clean
from turnlint.documents.decode import Decoded
from turnlint.documents.framing import frame, split
from turnlint.documents.source import Guarded, Progress, Source, open_source
from turnlint.documents.trouble import Damage, Trouble
from turnlint.model import SEVERITIES, Finding, Message, Pointer, Record, Transcript
from turnlint.rows import Line, Place, Row, shape_of
from turnlint.rulebook import Entry
from turnlint.sampling import sample

if TYPE_CHECKING:
    from turnlint.view import Plan

TOO_DEEP = "nested deeper than it can be read"
Content = Literal["none", "excerpt", "full"]


class Options(Struct, frozen=True):
    """What one run looks for and how much it shows."""

    format: str | None = None
    """`None` is `auto`."""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    view: bool = False
    content: Content = "none"
    views_per_rule: int = 3
    fingerprints: bool = False


class Tally(Struct):
    """What was seen, and what was found."""

    files: int = 0
    conversations: int = 0
    messages: int = 0
    calls: int = 0
    results: int = 0
    findings: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    rules: dict[str, int] = {}
    skipped: int = 0
    crashes: int = 0

    def add(self, other: "Tally") -> None:
        for name in ("files", "conversations", "messages", "calls", "results", "skipped", "crashes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for mine, theirs in ((self.findings, other.findings), (self.rules, other.rules)):
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
        self.only_faults = len(self.packages) == 1 and not rulebook.other_families()
        """No rule of this run has anything to say of a clean conversation; known without loading any."""
        self.entries: list[Entry] | None = None
        if options.select or options.ignore:
            self.rules()

    def rules(self) -> list[Entry]:
        if self.entries is None:
            from turnlint import rulebook

            entries = [entry for package in self.packages for entry in rulebook.load(package)]
            self.entries = rulebook.choose(entries, self.options.select, self.options.ignore)
        return self.entries


Told = tuple[Finding, Transcript | None]
Drawn = tuple[Finding, Transcript | None, "Plan | None"]
Event = Row | Skipped | Crash | Tally


def lint(source: Source, options: Options, book: Book, progress: Progress | None = None) -> Iterator[Event]:
    """Yield what there is to say of one source, its tally last."""
    return _Run(source, options, book).events(progress)


class _Run:
    def __init__(self, source: Source, options: Options, book: Book) -> None:
        self.source = source
        self.options = options
        self.book = book
        self.tally = Tally(files=1)
        self.waiting: deque[Event] = deque()
        self.deferred: list[Drawn] = []
        self.drawn: dict[str, int] = {}
        self.met: dict[str, int] = {}
        self.readers: dict[str, Reader] = {}
        self.said: set[tuple[str, int, Pointer, int | None, str]] = set()
        """What was found in the record at hand: branches of one conversation share their faults."""
        self.kept = not source.again

    def events(self, progress: Progress | None) -> Iterator[Event]:
        with open_source(self.source) as opened:
            stream = Guarded(opened, self.source.name, progress)
            framed = frame(stream, self.source.name, carriers.holds_records)
            head, carrier = sample(framed, self.options.format, is_log=self.source.is_log)
            if carrier is None and any(isinstance(item, Record) for item in head):
                self.tally.files, self.tally.skipped = 0, 1
                yield Skipped(self.source)
            else:
                yield from self._read(carrier or carriers.carrier(carriers.NAMES[0]), chain(head, framed))
            if stream.damage:
                detail = f"{stream.damage}, after {stream.count:,} bytes"
                self._judge_damage(Damage(Record(1, 0, b""), Trouble("compressed-badly", 0, 0, (), detail)))
        yield from self._ready()
        yield from self._settle()
        yield self.tally
        if stream.failure:
            raise stream.failure

    def _ready(self) -> Iterator[Event]:
        while self.waiting:
            yield self.waiting.popleft()

    def _read(self, carrier: Carrier, items: Iterable[Record | Damage]) -> Iterator[Event]:
        self.readers[carrier.name] = carrier.open()
        for item in items:
            self.said.clear()
            if isinstance(item, Damage):
                self._judge_damage(item)
            else:
                self._take(carrier, item)
            if self.waiting:
                yield from self._ready()
        for reader in self.readers.values():
            for found in reader.finish():
                self.said.clear()
                self._hear(found)
                yield from self._ready()

    def _take(self, carrier: Carrier, record: Record) -> None:
        decoded = self._decode(carrier, record)
        following = list(split(decoded.rest)) if decoded.rest else []
        self._feed(carrier, decoded)
        for number, one in enumerate(following):
            if number:
                self._judge_damage(Damage(one, Trouble("joined-records", 0, 1)))
            self._feed(carrier, self._decode(carrier, one))

    def _decode(self, carrier: Carrier, record: Record) -> Decoded[Any]:
        record.kept = self.kept
        decoded = carrier.shape.read(record)
        self._judge_damage(*(Damage(record, trouble) for trouble in decoded.troubles))
        return decoded

    def _feed(self, carrier: Carrier, decoded: Decoded[Any]) -> None:
        """Give a record to the file's reader, and in a mixed file to the one it speaks for."""
        try:
            found = self.readers[carrier.name].feed(decoded)
        except RecursionError:  # what one decoder just took, the next, called from deeper, may not
            self._judge_damage(Damage(decoded.record, Trouble("too-deep", 0, 1, (), TOO_DEEP)))
            return
        if not self.options.format and decoded.record.data and any(map(_fits_badly, found)):
            elsewhere = self._given_away(carrier, decoded.record)
            found = found if elsewhere is None else elsewhere
        for one in found:
            self._hear(one)

    def _given_away(self, carrier: Carrier, record: Record) -> list[Transcript | Stray] | None:
        """What another format makes of a record that speaks for it, or that it is nobody's here."""
        other, _ = carriers.best_for([record])
        if other is None:
            return [Stray(record, None)] if carriers.score(carrier, record) < 0 else None
        if other.name == carrier.name:
            return None
        if other.name not in self.readers:
            self.readers[other.name] = other.open()
        return self.readers[other.name].feed(other.shape.read(record))

    def _hear(self, found: Transcript | Stray) -> None:
        if isinstance(found, Stray):
            self._judge_damage(Damage(found.record, _stray(found)))
        else:
            self._judge(found)

    def _judge(self, transcript: Transcript) -> None:
        pairs = ledger.read(transcript.messages, transcript.wire)
        self._count(transcript, pairs)
        transcript = structs.replace(transcript, index=self.tally.conversations - 1)
        clean = is_clean(transcript, pairs)
        if clean and self.book.only_faults:
            return
        case = Case(transcript, pairs)
        line = transcript.messages[0].record.line if transcript.messages else 1
        findings: list[Finding] = []
        for entry in self.book.rules():
            if entry.check and not (clean and entry.only_faults):
                findings += self._ask(entry, line, entry.check, case)
        self._place([(finding, transcript) for finding in findings])

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
        key = (finding.code, where.record.offset, where.at, where.start, finding.message)
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

        for group in reread(self.source, self.deferred, lambda one: _records_of(one[0], one[2])):
            yield from self._rows(group)

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


def _stray(stray: Stray) -> Trouble:
    misfit = stray.misfit
    if misfit is None:
        return Trouble("stray", 0, 0)
    return Trouble("stray", 0, 0, misfit.at, f": expected {misfit.expected}, found {misfit.found}")


def _fits_badly(found: Transcript | Stray) -> bool:
    return isinstance(found, Stray) or bool(found.misfits) or any(map(_is_foreign, found.messages))


def _is_foreign(message: Message) -> bool:
    return message.dialect is not None or any(
        getattr(block, "dialect", None) is not None for block in message.blocks
    )
