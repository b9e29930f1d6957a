"""One source from what it holds to the patches that repair it.

This module owns the order of things: read on, mend what a finding asks for while its bytes are at hand, come
back for conversations that run over many lines, and put it all into patches of the file. What it holds grows
with what is repaired, not with the file. It refuses to write anything, and to show it.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec import Struct, field, structs

from turnlint import carriers
from turnlint.carrying.carrier import Carrier
from turnlint.documents.reread import reread
from turnlint.documents.source import Progress, Source, SourceError
from turnlint.documents.trouble import Damage
from turnlint.engine import Book, Judged, Options, judge
from turnlint.keeping.patches import Patch as Bytes
from turnlint.model import Finding, Fix, Record, Transcript
from turnlint.reading import Batch, Foreign, batches
from turnlint.repair.change import Change
from turnlint.repair.choosing import Policy, wanted
from turnlint.repair.layout import line_patches
from turnlint.repair.mending import Mended, State, ask, judge_damage, mend, rewritten
from turnlint.repair.unit import Cell, Unit, patched
from turnlint.repair.verifying import fault_of, is_better
from turnlint.steps import Close, Patch, Take


class Told(Struct, frozen=True):
    """What the repair report says of one conversation."""

    conversation: str | None
    index: int | None
    """Nothing where it could not be read before it was repaired."""
    line: int
    wire: str
    providers: tuple[str, ...]
    seen: tuple[str, ...]
    """Canonical ids of the calls it had."""
    calls: tuple[str, ...]
    """Ids of the calls and of the results that it has now."""
    results: tuple[str, ...]


class Failure(Struct, frozen=True):
    """A conversation that was left as it is, because its repair could not be verified."""

    line: int
    conversation: str | None
    reason: str


class Fixed(Struct):
    """What is to be done to one source."""

    source: Source
    patches: list[Bytes] = []
    changes: list[Change] = []
    told: list[Told] = []
    failures: list[Failure] = []
    foreign: bool = False
    conversations: int = 0
    mended: int = 0
    before: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    after: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    """Findings by severity, as the file is and as it would be."""
    left: dict[str, int] = {}
    """Rules that still find something graver than an info, and how often."""
    errors_left: dict[str, int] = {}
    """The same, of errors alone."""
    held: dict[str, int] = {}
    """Findings that a higher level would repair, by that level; and last calls that only `--close-pending` answers."""
    problem: SourceError | None = None


def fix(
    source: Source, options: Options, book: Book, policy: Policy, progress: Progress | None = None
) -> Fixed:
    """Work out how a source is repaired."""
    return _Fixing(source, options, book, policy).run(progress)


class _Waiting(Struct):
    """A conversation over many records, with something to repair."""

    records: dict[int, Record]
    carrier: str
    index: int = 0


class _Loose(Struct):
    """A damaged record, and what is said of it."""

    line: int
    data: bytes
    findings: list[Finding] = []


class _Fixing:
    def __init__(self, source: Source, options: Options, book: Book, policy: Policy) -> None:
        self.out = Fixed(source)
        self.options = options
        self.book = book
        self.policy = policy
        self.waiting: list[_Waiting] = []
        self.loose: dict[int, _Loose] = {}
        """Damaged records whose bytes are let go as soon as they are read, by their place."""

    def run(self, progress: Progress | None) -> Fixed:
        out = self.out
        for batch in batches(out.source, self.options.format, progress, self.book.wires):
            self._take(batch)
        self._take_loose()
        groups = reread(out.source, _joined(self.waiting), lambda one: one.records.values())
        for one in chain.from_iterable(groups if self.waiting else ()):
            self._mend_lines(one)
        out.patches.sort(key=lambda patch: (patch.start, patch.end))
        out.changes = self._faults_of(out.changes)
        return out

    def _take(self, batch: Batch) -> None:
        damages: list[Damage] = []
        whole: dict[int, list[Transcript]] = {}
        records: dict[int, Record] = {}
        for item in batch:
            if isinstance(item, SourceError):
                self.out.problem = item
            elif isinstance(item, Foreign):
                self.out.foreign = True
            elif isinstance(item, tuple):
                damages += item
                self._keep_loose(item)
            elif (record := _one_record(item)) is not None:
                records[record.offset] = record
                whole.setdefault(record.offset, []).append(item)
            else:
                self._judge_lines(item)
        ours: dict[int, list[Damage]] = {}
        for damage in damages:
            ours.setdefault(damage.record.offset, []).append(damage)
        for offset in sorted(records):
            self.loose.pop(offset, None)
            self._judge_record(records[offset], _own(records, offset), whole[offset], ours.get(offset, []))

    # Records that hold their conversation.

    def _judge_record(
        self, record: Record, data: bytes, transcripts: list[Transcript], damages: list[Damage]
    ) -> None:
        self.out.conversations += len(transcripts)
        judged = self._judged(transcripts)
        damaged = [*judge_damage(self.book, tuple(damages))]
        if not record.data or not self._asks(judged, damaged):
            self._count([*damaged, *(one for each in judged for one in each.findings)])
            return
        name = judged[0].transcript.wire.name if judged else self.options.format
        carrier = _carrier(name)
        if carrier is None:
            self._count([*damaged, *(one for each in judged for one in each.findings)])
            return
        unit = Unit(self.out.source.name, carrier, carrier.name, (Cell(data, record),))
        first = transcripts[0].index if transcripts else None
        mended = self._mended(unit, first)
        if mended is not None and mended.end.unit.cells != unit.cells:
            joined = b"\n".join(cell.data for cell in mended.end.unit.cells)
            self.out.patches.append(Bytes(record.offset, record.offset + len(data), joined))

    # Damaged records without a conversation at hand.

    def _keep_loose(self, damages: tuple[Damage, ...]) -> None:
        """Note what is to be done to damaged bytes while they are there."""
        for finding in judge_damage(self.book, damages):
            record = finding.where.record
            one = self.loose.setdefault(record.offset, _Loose(record.line, record.data))
            one.findings.append(finding)

    def _take_loose(self) -> None:
        """Mend what no conversation brings along; the others are mended with theirs."""
        for waiting in self.waiting:
            for offset in waiting.records:
                self.loose.pop(offset, None)
        for offset, one in sorted(self.loose.items()):
            steps = [
                (finding, step)
                for finding in one.findings
                if wanted(finding, self.policy) and finding.fix
                for step in finding.fix.steps
                if isinstance(step, Patch)
            ]
            data = patched(one.data, [(step.start, step.end, step.data) for _, step in steps])
            better = not steps or not data or is_better(one.data, data)
            self._count(
                one.findings, [f for f in one.findings if not better or f not in [s[0] for s in steps]]
            )
            for finding, step in steps if better else ():
                self.out.patches.append(Bytes(offset + step.start, offset + step.end, step.data))
                self.out.changes.append(rewritten(finding, one.data, step))

    # Conversations over many records.

    def _judge_lines(self, transcript: Transcript) -> None:
        self.out.conversations += 1
        judged = self._judged([transcript])
        offsets = (message.record.offset for message in transcript.messages)
        damaged = [finding for at in offsets if at in self.loose for finding in self.loose[at].findings]
        if self._asks(judged, damaged):
            records = {message.record.offset: message.record for message in transcript.messages}
            self.waiting.append(_Waiting(records, transcript.wire.name, transcript.index))
        else:
            self._count(finding for one in judged for finding in one.findings)

    def _mend_lines(self, one: _Waiting) -> None:
        carrier = _carrier(one.carrier)
        records = [one.records[offset] for offset in sorted(one.records)]
        if carrier is None or not all(record.data for record in records):
            first = records[0].line if records else 1
            self.out.failures.append(Failure(first, None, "its records could not be read a second time"))
            return
        unit = Unit(self.out.source.name, carrier, carrier.name, tuple(Cell(r.data, r) for r in records))
        mended = self._mended(unit, one.index)
        if mended is not None:
            self.out.patches += line_patches(self.out.source, unit, mended.end.unit)

    # All.

    def _judged(self, transcripts: list[Transcript]) -> list[Judged]:
        """What the rules say of some conversations; a rule that fails is told of, and the others go on."""
        found = []
        for one in transcripts:
            try:
                found.append(judge(self.book, one, ask))
            except Exception as error:  # noqa: BLE001 - a rule may be anyone's; its failure is reported, not hidden
                line = one.messages[0].record.line if one.messages else 1
                self.out.failures.append(Failure(line, one.id, f"{type(error).__name__}: {error}"))
        return found

    def _asks(self, judged: list[Judged], damaged: list[Finding]) -> bool:
        """Whether anything is to be repaired here."""
        if self.policy.canonical and judged:
            return True
        findings = [*damaged, *(finding for one in judged for finding in one.findings)]
        return any(wanted(_as_read(finding), self.policy) for finding in findings)

    def _mended(self, unit: Unit, first: int | None) -> Mended | None:
        """The repair, if it may be written; what is to be said of it either way."""
        out = self.out
        try:
            mended = mend(unit, self.book, self.policy)
            reason = fault_of(mended, self.policy.level)
        except Exception as error:  # noqa: BLE001 - a rule may be anyone's; its failure is reported, not hidden
            record = unit.cells[0].origin
            out.failures.append(
                Failure(record.line if record else 1, None, f"{type(error).__name__}: {error}")
            )
            return None
        self._count(mended.start.findings, mended.end.findings if reason is None else None)
        if reason is not None:
            judged = mended.start.judged
            name = judged[0].transcript.id if judged else None
            record = unit.cells[0].origin
            out.failures.append(Failure(record.line if record else 1, name, reason))
            return None
        if mended.changes:
            out.mended += 1
            out.changes += _numbered(mended.changes, first)
            same = len(mended.start.judged) == len(mended.end.judged)
            out.told += _told(mended.start if same else mended.base, mended.end, first)
        return mended

    def _count(self, before: Iterable[Finding], after: Iterable[Finding] | None = None) -> None:
        found = list(before)
        for one in found:
            self.out.before[one.severity] += 1
        for one in found if after is None else after:
            self.out.after[one.severity] += 1
            if one.severity != "info":
                self.out.left[one.rule] = self.out.left.get(one.rule, 0) + 1
            if one.severity == "error":
                self.out.errors_left[one.rule] = self.out.errors_left.get(one.rule, 0) + 1
            if held := _held_back(one, self.policy):
                self.out.held[held] = self.out.held.get(held, 0) + 1

    def _faults_of(self, changes: list[Change]) -> list[Change]:
        """The changes, each with what its rule is about; canonical ids are about their spelling."""
        faults = {entry.rule.code: entry.rule.fault for entry in self.book.rules()} if changes else {}
        return [
            structs.replace(one, fault=one.fault or faults.get(one.code, "projection")) for one in changes
        ]


def _numbered(changes: Iterable[Change], first: int | None) -> Iterator[Change]:
    """A unit counts its conversations from 0, a file from its first."""
    for one in changes:
        index = one.conversation_index
        yield structs.replace(
            one, conversation_index=None if index is None or first is None else first + index
        )


def _held_back(finding: Finding, policy: Policy) -> str | None:
    """What the user did not allow, of all that a finding's repair takes."""
    fix = finding.fix
    if fix is None or not wanted(finding, structs.replace(policy, level="lossy")):
        return None
    if not wanted(finding, policy):
        return fix.level
    pending = all(isinstance(step, Close) and step.pending for step in fix.steps)
    return "close-pending" if pending and not (policy.close_pending or policy.named) else None


def _as_read(finding: Finding) -> Finding:
    """The finding as it may be once its record is at hand: some rules say what to do only when they see the bytes."""
    record, fix = finding.where.record, finding.fix
    if (fix is not None and fix.steps) or record.data or not record.size:
        return finding
    return structs.replace(finding, fix=Fix(fix.level if fix else "lossless", "", (Take(()),)))


def _one_record(transcript: Transcript) -> Record | None:
    """The record that holds all of a conversation, where its bytes are at hand."""
    if not transcript.messages:
        return transcript.request.record if transcript.request else None
    record = transcript.messages[0].record
    alone = all(message.record is record for message in transcript.messages)
    inside = (
        len(transcript.messages) > 1 or transcript.request is not None or len(transcript.messages[0].at) > 0
    )
    return record if alone and record.data and inside else None


def _own(records: dict[int, Record], offset: int) -> bytes:
    """The bytes of a record without those of the next, where a line end between them was lost."""
    data = records[offset].data
    others = [other - offset for other in records if offset < other < offset + len(data)]
    return data[: min(others)] if others else data


def _carrier(name: str | None) -> Carrier | None:
    name = "cohere" if name == "cohere-v1" else name
    return carriers.carrier(name) if name in carriers.NAMES else None


def _joined(waiting: list[_Waiting]) -> list[_Waiting]:
    """Conversations that share records are repaired together."""
    owner: dict[int, _Waiting] = {}
    out: list[_Waiting] = []
    for one in waiting:
        others = {id(owner[offset]): owner[offset] for offset in one.records if offset in owner}
        for other in others.values():
            one.records = {**other.records, **one.records}
            one.index = min(one.index, other.index)
            out.remove(other)
        for offset in one.records:
            owner[offset] = one
        out.append(one)
    return out


def _told(start: State, end: State, first: int | None) -> Iterator[Told]:
    from turnlint.ids import canonicalize

    for number, (was, now) in enumerate(zip(start.judged, end.judged, strict=False)):
        transcript = was.transcript
        line = transcript.messages[0].record.line if transcript.messages else 1
        seen = (one.new for one in canonicalize(transcript, was.pairs).entries if one.piece == "call")
        answers = (one.answer for one in now.pairs.interactions if one.answer is not None)
        yield Told(
            transcript.id, None if first is None else first + number, line, transcript.wire.name,
            tuple(case.profile.label for case in now.cases if case.profile),
            tuple(one for one in seen if one),
            tuple(one.asked.call.id or "" for one in now.pairs.interactions),
            tuple(one.result.id or "" for one in answers),
        )  # fmt: skip
