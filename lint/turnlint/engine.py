"""One source from bytes to placed findings.

This module owns the order of things: frame, decode, carry, pair, judge, place. It refuses to know
what any rule says and how anything is shown.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field, structs

from turnlint import carriers, ledger
from turnlint.api import Case
from turnlint.carrying.carrier import Carrier, Stray
from turnlint.clean import is_clean
from turnlint.documents.decode import Decoded
from turnlint.documents.framing import Readable, frame, split
from turnlint.documents.source import Damaged, Source, SourceError, open_source
from turnlint.documents.trouble import Damage, Trouble
from turnlint.model import Finding, Message, Record, Transcript
from turnlint.rows import Line, Place, Row
from turnlint.rulebook import Entry

if TYPE_CHECKING:
    from turnlint.view import Plan

SAMPLE = 20
LONGEST_SAMPLE = 400
HEAVIEST_SAMPLE = 1 << 20
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
        self.entries: list[Entry] | None = None
        if options.select or options.ignore:
            self.rules()

    @property
    def only_builtin(self) -> bool:
        return len(self.packages) == 1

    def rules(self) -> list[Entry]:
        if self.entries is None:
            from turnlint import rulebook

            entries = [entry for package in self.packages for entry in rulebook.load(package)]
            self.entries = rulebook.choose(entries, self.options.select, self.options.ignore)
        return self.entries


Progress = Callable[[int], None]
Told = tuple[Finding, Transcript | None]
Drawn = tuple[Finding, Transcript | None, "Plan | None"]
Event = Row | Skipped | Crash | Tally


def lint(source: Source, options: Options, book: Book, progress: Progress | None = None) -> Iterator[Event]:
    """Yield what there is to say of one source, its tally last."""
    return _Run(source, options, book).events(progress)


class _Guarded:
    """A stream whose damage ends it instead of raising through every layer."""

    def __init__(self, stream: Readable, name: str, progress: Progress | None) -> None:
        self.stream = stream
        self.name = name
        self.progress = progress
        self.count = 0
        self.damage: str | None = None

    def read(self, size: int, /) -> bytes:
        try:
            piece = self.stream.read(size)
        except Damaged as damage:
            self.damage = str(damage)
            return b""
        except OSError as error:
            raise SourceError(self.name, (error.strerror or "cannot be read").lower()) from None
        self.count += len(piece)
        if self.progress:
            self.progress(len(piece))
        return piece


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
        self.rerouted: Record | None = None
        self.kept = not source.again

    def events(self, progress: Progress | None) -> Iterator[Event]:
        with open_source(self.source) as opened:
            stream = _Guarded(opened, self.source.name, progress)
            framed = frame(stream, self.source.name, carriers.holds_records)
            head, carrier = self._sample(framed)
            if carrier is None and any(isinstance(item, Record) for item in head):
                self.tally.files, self.tally.skipped = 0, 1
                yield Skipped(self.source)
            else:
                yield from self._read(carrier or carriers.carrier("openai-chat"), chain(head, framed))
            if stream.damage:
                record = Record(1, 0, b"")
                place = Trouble(
                    "compressed-badly", 0, 0, (), f"{stream.damage}, after {stream.count:,} bytes"
                )
                self._judge_damage(Damage(record, place))
        yield from self.waiting
        yield from self._settle()
        yield self.tally

    def _sample(self, framed: Iterator[Record | Damage]) -> tuple[list[Record | Damage], Carrier | None]:
        """Read on until the records say whose they are, within bounds."""
        head: list[Record | Damage] = list(islice(framed, SAMPLE))
        if self.options.format:
            return head, carriers.carrier(self.options.format)
        new, weight, decided = head, 0, False
        best: Carrier | None = None
        while not decided and new:
            records = [item for item in new if isinstance(item, Record)]
            found, decided = carriers.best_for(records)
            best = found if decided or best is None else best
            weight += sum(len(record.data) for record in records)
            room = len(head) < LONGEST_SAMPLE and weight < HEAVIEST_SAMPLE and best is not None
            new = [] if decided or not room else list(islice(framed, SAMPLE))
            head += new
        return head, best

    def _read(self, carrier: Carrier, items: Iterable[Record | Damage]) -> Iterator[Event]:
        for found in carrier.read(self._decode(carrier, items)):
            for one in self._reroute(carrier, found):
                if isinstance(one, Stray):
                    self._judge_damage(Damage(one.record, _stray(one)))
                else:
                    self._judge(one)
            while self.waiting:
                yield self.waiting.popleft()

    def _decode(self, carrier: Carrier, items: Iterable[Record | Damage]) -> Iterator[Decoded[Any]]:
        for item in items:
            if isinstance(item, Damage):
                self._judge_damage(item)
                continue
            decoded = self._decode_one(carrier, item)
            yield decoded
            following = list(split(decoded.rest)) if decoded.rest else []
            for number, record in enumerate(following):
                if number:
                    self._judge_damage(Damage(record, Trouble("joined-records", 0, 1)))
                yield self._decode_one(carrier, record)

    def _decode_one(self, carrier: Carrier, record: Record) -> Decoded[Any]:
        record.kept = self.kept
        decoded = carrier.shape.read(record)
        self._judge_damage(*(Damage(record, trouble) for trouble in decoded.troubles))
        return decoded

    def _reroute(self, carrier: Carrier, found: Transcript | Stray) -> Iterable[Transcript | Stray]:
        """In a file of several formats, give a record to the format it speaks for."""
        if self.options.format:
            return (found,)
        record = found.record if isinstance(found, Stray) else _only_record(found)
        if record is None or not record.data:
            return (found,)
        if record is self.rerouted:
            return ()
        other, _ = carriers.best_for([record])
        if other is None or other.name == carrier.name:
            return (found,)
        self.rerouted = record
        return other.read([other.shape.read(record)])

    def _judge(self, transcript: Transcript) -> None:
        pairs = ledger.read(transcript.messages, transcript.wire)
        self._count(transcript, pairs)
        transcript = structs.replace(transcript, index=self.tally.conversations - 1)
        clean = is_clean(transcript, pairs)
        if clean and self.book.only_builtin:
            return
        case = Case(transcript, pairs)
        line = transcript.messages[0].record.line if transcript.messages else 1
        findings: list[Finding] = []
        for entry in self.book.rules():
            if entry.check and not (clean and entry.builtin):
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
            findings = list(check(subject))
        except Exception as error:  # noqa: BLE001 - a rule may be anyone's; its failure is reported, not hidden
            self.tally.crashes += 1
            reason = f"{type(error).__name__}: {error}"
            self.waiting.append(Crash(entry.rule.name, self.source.name, line, reason))
            return []
        for finding in findings:
            self.tally.findings[finding.severity] += 1
            self.tally.rules[finding.rule] = self.tally.rules.get(finding.rule, 0) + 1
        return findings

    def _place(self, told: list[Told]) -> None:
        """Place what can be placed now; what stands in records that were let go waits for a second look."""
        plans = [self._plan(finding, transcript) for finding, transcript in told]
        ready: list[Drawn] = []
        for (finding, transcript), plan in zip(told, plans, strict=True):
            gone = any(not record.data and record.size for record in _records_of(finding, plan))
            (self.deferred if gone else ready).append((finding, transcript, plan))
        self.waiting.extend(self._rows(ready))

    def _plan(self, finding: Finding, transcript: Transcript | None) -> "Plan | None":
        drawn = self.drawn.get(finding.rule, 0)
        if not self.options.view or transcript is None or drawn >= self.options.views_per_rule:
            return None
        from turnlint import view

        self.drawn[finding.rule] = drawn + 1
        return view.plan(transcript, finding)

    def _rows(self, ready: list[Drawn]) -> list[Row]:
        if not ready:
            return []
        from turnlint.placing import Placer, locations_of

        places = Placer(location for finding, _, _ in ready for location in locations_of(finding))
        content = self.options.content != "none"
        rows = [
            Row(
                finding,
                self.source.name,
                places[finding.where],
                tuple((related.note, places[related.where]) for related in finding.related),
                _draw(plan, content=content) if plan else (),
                self._fingerprint(finding, transcript, places[finding.where]),
            )
            for finding, transcript, plan in ready
        ]
        return sorted(rows, key=lambda row: (row.place.offset, row.finding.code))

    def _fingerprint(self, finding: Finding, transcript: Transcript | None, place: Place) -> str:
        if not self.options.fingerprints:
            return ""
        from turnlint.fingerprint import fingerprint

        return fingerprint(finding, transcript, place, self.source.name, self.met)

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


def _draw(plan: "Plan", *, content: bool) -> tuple[Line, ...]:
    from turnlint import view

    return view.draw(plan, content=content)


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


def _only_record(found: Transcript) -> Record | None:
    """The one record of a conversation that does not fit its format well, else nothing."""
    messages = found.messages
    if not found.misfits and not any(map(_is_foreign, messages)):
        return None
    records = {id(message.record): message.record for message in messages}
    return next(iter(records.values())) if len(records) == 1 else None


def _is_foreign(message: Message) -> bool:
    return message.dialect is not None or any(
        getattr(block, "dialect", None) is not None for block in message.blocks
    )
