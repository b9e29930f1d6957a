"""Compute the patches that repair one source.

The steps are: read the source, repair each conversation while its bytes are in memory, reread conversations of many
lines, and combine all edits into patches. Memory grows with the repairs, not with the file.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import structs

from turnlint import carriers
from turnlint.carrying.carrier import Carrier
from turnlint.diagnosis import told_of
from turnlint.documents.breaks import line_ends
from turnlint.documents.reread import reread
from turnlint.documents.source import Progress, Source, has_bytes
from turnlint.documents.trouble import Damage
from turnlint.errors import SourceError, UnrepairableError
from turnlint.evaluation import Evaluator
from turnlint.ids.canonical import PROJECTED
from turnlint.judging import Book, Judged, Options
from turnlint.keeping.ends import common_end, common_start
from turnlint.keeping.patches import Patch as Bytes
from turnlint.model import Call, Finding, Level, Reach, Record, Result, Transcript
from turnlint.providers import Chosen
from turnlint.reading import Batch, Foreign
from turnlint.repair.accepting import Accepted, mend_with_calls
from turnlint.repair.change import Change
from turnlint.repair.choosing import LEVELS, Policy, as_read, held_back, wanted
from turnlint.repair.counting import FindingCounter, Findings
from turnlint.repair.deferred import Loose, Waiting, joined_by_records
from turnlint.repair.layout import line_patches
from turnlint.repair.mending import (
    IDS,
    Mended,
    State,
    ask,
    has_ids_to_project,
    has_rival_call,
    joined,
    judge_bytes,
    mend,
    named_profile,
    rewritten,
)
from turnlint.repair.omitting import Part, find_part
from turnlint.repair.outcome import Failure, Fixed
from turnlint.repair.recognizing import format_fault_of
from turnlint.repair.selecting import Selector
from turnlint.repair.sparing import Spared
from turnlint.repair.spool import Spool
from turnlint.repair.telling import conversations_told
from turnlint.repair.tracing import trace
from turnlint.repair.unit import Cell, Unit, own_bytes, patched, sole_record
from turnlint.repair.verifying import BRINGS_NEW, UNTIED, fault_of, is_better, untied_pair
from turnlint.steps import Patch
from turnlint.text import quote_name

if TYPE_CHECKING:
    from turnlint.fastpath.passed import Passed

MAX_TRIALS = 6
"""The maximum number of rules that are omitted in turn for a repair that fails the checks."""
RIVAL = "the ids stay: a call beside a result without an id may be the call of that result"
LONG = 1 << 20
"""The size of a record from which on only its changed bytes are kept."""


def fix(
    source: Source, options: Options, book: Book, policy: Policy, progress: Progress | None = None
) -> Fixed:
    """Compute the repair of a source, in as many passes as it needs."""
    from turnlint.repair.passes import fix as fix_in_passes

    return fix_in_passes(source, options, book, policy, progress)


def fix_once(
    source: Source, options: Options, book: Book, policy: Policy, progress: Progress | None = None,
    spared: frozenset[Any] = frozenset(), accepting: Book | None = None, *, traced: bool = False,
    keeps_formats: bool = False, tells_all: bool = False,
) -> Fixed:  # fmt: skip
    """Compute one pass of repair over a source. An earlier pass gives the findings to ignore as `spared`.

    A conversation gets no canonical ids that a provider of `accepting` rejects. With `keeps_formats`, each record shows
    its format after the repair if it does before, so that the file does. With `tells_all`, the result has the ids of
    all conversations.
    """
    work = _Fixing(source, options, book, policy, spared, accepting, keeps_formats=keeps_formats)
    work.out.ids = {} if traced else None
    work.out.whole = Spool() if tells_all else None
    return work.run(progress)


class _Fixing:
    def __init__(
        self, source: Source, options: Options, book: Book, policy: Policy, spared: frozenset[Any],
        accepting: Book | None, *, keeps_formats: bool,
    ) -> None:  # fmt: skip
        self.out = Fixed(source)
        self.keeps_formats = keeps_formats
        self.accepting = accepting
        self.spared = spared
        self.options = options
        self.book = book
        self.policy = policy
        self.counter = FindingCounter(self.out, policy)
        self.waiting: list[Waiting] = []
        self.loose: dict[int, Loose] = {}
        """Damaged records whose bytes are released as soon as they are read, by offset."""
        self.parted: list[int] = []
        """The offsets at which the second of two joined records starts, in order."""
        self.joins: list[Bytes] = []
        """Patches that join the lines of split records."""
        self.joined: list[Change] = []
        """The changes of these patches."""
        self.evaluator = Evaluator(source, options, book, ask)
        self.reading = self.evaluator.reading
        # Ids can change in conversations without findings too, so that all are read.
        self.renames = policy.canonical or (bool(policy.named) and has_bytes(source, PROJECTED))
        needs_all = bool(self.renames or options.own_rules or options.pardons)
        self.selector = Selector(self.reading, needs_all=needs_all)
        self.has_found = False
        """Whether a rule reported a finding in the current record, or failed."""

    def run(self, progress: Progress | None) -> Fixed:
        out = self.out
        self._read(progress)
        out.selection = self.selector.selection()
        out.unread = self.reading.unread.total()
        if self.joins:
            # All other findings are repaired in the next pass, when each record has a line of its own.
            out.patches, out.joined = self.joins, True
            out.changes.extend(self.joined)
            return out
        self._take_loose()
        groups = reread(out.source, joined_by_records(self.waiting), lambda one: one.records.values())
        for one in chain.from_iterable(groups if self.waiting else ()):
            self._mend_lines(one)
            one.records = {}
        # The bytes before a new line end may have been removed. Then there is no line to end.
        ended = {patch.end for patch in out.patches if patch.start < patch.end and not patch.data}
        needless = ended.intersection(self.parted)
        out.patches = [one for one in out.patches if one.start < one.end or one.start not in needless]
        out.patches.sort(key=lambda patch: (patch.start, patch.end))
        return out

    def _read(self, progress: Progress | None) -> None:
        skip_sound = not (self.renames or self.options.own_rules or self.out.whole is not None)
        for batch in self.evaluator.batches(progress, skip_sound=skip_sound):
            self._take(batch)
        if self.evaluator.passed is not None:
            self._count_passed(self.evaluator.passed)

    def _count_passed(self, passed: "Passed") -> None:
        self.out.conversations += passed.conversations
        for (wire, chosen), count in passed.kinds.items():
            self._count_across(wire, chosen, count)

    def _take(self, batch: Batch) -> None:
        before = self.reading.count + self.reading.gate.passed
        damages: list[Damage] = []
        whole: dict[int, list[Transcript]] = {}
        records: dict[int, Record] = {}
        for item in batch:
            if isinstance(item, SourceError):
                self.out.problem = item
            elif isinstance(item, Foreign):
                self.out.foreign, self.out.near = True, item.near
            elif isinstance(item, tuple):
                self.selector.note_damage(item)
                kept = tuple(one for one in item if not (self._part(one) or self._join(one)))
                damages += kept
                self._keep_loose(kept)
            elif (record := sole_record(item)) is not None:
                records[record.offset] = record
                whole.setdefault(record.offset, []).append(item)
            else:
                self._judge_lines(item)
        for one in damages:
            if one.record.offset not in records:
                self.selector.add(one.record, before, 0)
        ours: dict[int, list[Damage]] = {}
        for damage in damages:
            ours.setdefault(damage.record.offset, []).append(damage)
        for offset in sorted(records):
            self.loose.pop(offset, None)
            own = self._cell(records[offset])
            data = own.data[: len(own_bytes(records[offset], {*records, *ours}))]
            self._judge_record(records[offset], data, whole[offset], ours.get(offset, []))

    # Records that share a line.

    def _part(self, damage: Damage) -> bool:
        """Insert a line end between two joined records, if the policy allows it. Neither record changes."""
        if damage.trouble.kind != "joined-records":
            return False
        for finding in judge_bytes(self.book, (damage,)):
            if not wanted(finding, self.policy) or finding.fix is None:
                return False
            for step in finding.fix.steps:
                if isinstance(step, Patch):
                    place = damage.record.offset + step.start
                    self.parted.append(place)
                    self.out.patches.append(Bytes(place, place, step.data))
                    change = rewritten(finding, damage.record.data, step)
                    self.out.changes.append(structs.replace(change, lines=1))
            self.counter.count([finding], [])
            return True
        return False

    def _join(self, damage: Damage) -> bool:
        """Join the lines of a split record, if the policy allows it."""
        if damage.trouble.kind != "split-record":
            return False
        record = damage.record
        for finding in judge_bytes(self.book, (damage,)):
            is_wanted = wanted(finding, self.policy)
            if is_wanted:
                places = [(record.offset + at, one) for at, one in line_ends(record)]
                self.joins += [Bytes(at, at + len(one.old), one.new) for at, one in places]
                self.joined.append(joined(finding, len(places) + 1))
            self.counter.count([finding], [] if is_wanted else None)
        return True

    def _cell(self, record: Record) -> Cell:
        """Return a record alone, without those that followed it on its line."""
        number = bisect_right(self.parted, record.offset)
        following = self.parted[number] if number < len(self.parted) else record.offset + len(record.data)
        return Cell(record.data[: following - record.offset], record)

    # Records that contain their whole conversation.

    def _judge_record(
        self, record: Record, data: bytes, transcripts: list[Transcript], damages: list[Damage]
    ) -> None:
        self.out.conversations += len(transcripts)
        judged = self._judged(transcripts)
        if self.has_found or damages or self.selector.has(record):
            self.selector.add(record, transcripts[0].index, len(transcripts))
        damaged = judge_bytes(self.book, damages)
        carrier = _carrier(judged[0].transcript.wire.name if judged else self.options.format)
        asked = self._asks(judged, damaged)
        if record.breaks:
            self._keep_split(judged, damaged, record, asked=asked)
            return
        if not record.data or carrier is None or not (asked or self._needs_more(judged, damaged)):
            self.counter.count(_all(judged, damaged))
            return
        inside = [one for one in damaged if (one.where.start or 0) < len(data)]
        self.counter.count(one for one in damaged if (one.where.start or 0) >= len(data))
        unit = Unit(self.out.source.name, carrier, (Cell(data, record),))
        found = self.counter.counted(_all(judged, inside))
        # The repair reads the record again. The reader still has its batch of conversations.
        for one in transcripts if len(data) > LONG else ():
            structs.force_setattr(one, "messages", ())
        del judged, damaged, inside
        mended = self._mended(unit, transcripts[0].index, found, asked=asked)
        if mended is not None and mended.end.unit.cells != unit.cells:
            joined = b"\n".join(cell.data for cell in mended.end.unit.cells)
            # Of a long record only the changed bytes are kept; of others all, so that a diff can show the context.
            long = len(data) > LONG
            front = common_start(data, joined) if long else 0
            back = common_end(data, joined, min(len(data), len(joined)) - front) if long else 0
            place = record.offset
            self.out.patches.append(
                Bytes(place + front, place + len(data) - back, joined[front : len(joined) - back])
            )

    def _keep_split(
        self, judged: list[Judged], damaged: list[Finding], record: Record, *, asked: bool
    ) -> None:
        """Leave a conversation unchanged, since the lines of one of its records are not joined."""
        self.counter.count(_all(judged, damaged))
        if asked and not self.joins:
            reason = "unchanged: line breaks split a record of it, and ST101 is not repaired"
            name = judged[0].transcript.id if judged else None
            self.out.notes.append(Failure(record.line, name, reason))

    # Damaged records without a conversation.

    def _keep_loose(self, damages: tuple[Damage, ...]) -> None:
        """Keep the findings of damaged bytes while the bytes are in memory."""
        for finding in judge_bytes(self.book, damages):
            record = finding.where.record
            one = self.loose.setdefault(record.offset, Loose(record.line, record.data))
            one.findings.append(finding)

    def _take_loose(self) -> None:
        """Repair damaged records that belong to no conversation; others are repaired with their conversation."""
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
            mended = {id(finding) for finding, _ in steps} if better else set()
            self.counter.count(one.findings, [found for found in one.findings if id(found) not in mended])
            for finding, step in steps if better else ():
                self.out.patches.append(Bytes(offset + step.start, offset + step.end, step.data))
                self.out.changes.append(rewritten(finding, one.data, step))

    # Conversations in several records.

    def _judge_lines(self, transcript: Transcript) -> None:
        self.out.conversations += 1
        self.selector.needs_all = True  # the lines of a conversation depend on one another
        judged = self._judged([transcript])
        offsets = dict.fromkeys(record.offset for record in transcript.records)
        damaged = [finding for at in offsets if at in self.loose for finding in self.loose[at].findings]
        asked = self._asks(judged, damaged)
        if split := next((record for record in transcript.records if record.breaks), None):
            self._keep_split(judged, damaged, split, asked=asked)
        elif offsets and (asked or self._needs_more(judged, damaged)):
            records = {record.offset: record for record in transcript.records}
            found = self.counter.counted(_all(judged, damaged))
            self.waiting.append(
                Waiting(records, transcript.wire.name, transcript.index, found, asked, transcript.gaps)
            )
        else:
            self.counter.count(finding for one in judged for finding in one.findings)

    def _mend_lines(self, one: Waiting) -> None:
        carrier = _carrier(one.carrier)
        records = [one.records[offset] for offset in sorted(one.records)]
        if carrier is None or not all(record.data for record in records):
            first = records[0].line if records else 1
            self.out.failures.append(Failure(first, None, "its records could not be read a second time"))
            self.counter.count(one.findings)
            return
        unit = Unit(self.out.source.name, carrier, tuple(map(self._cell, records)), one.gaps)
        mended = self._mended(unit, one.index, one.findings, asked=one.asked)
        if mended is not None:
            self.out.patches += line_patches(self.out.source, unit, mended.end.unit)

    # All records.

    def _spared(self) -> Spared:
        return Spared(self.options, self.spared)

    def _judged(self, transcripts: list[Transcript]) -> list[Judged]:
        """Return the findings of some conversations. A failing rule is reported, and the other rules continue."""
        found = []
        self.has_found = False
        for one in transcripts:
            try:
                judged = self.evaluator.judge(one)
                if self.out.whole is not None:
                    self.out.whole.append(told_of(judged, judged, one.index))
                self.has_found = self.has_found or bool(judged.findings)
                spared = self._spared()
                spared.sift([judged])
                self.out.spared |= spared.known
                found.append(judged)
                self._count_across(one.wire.speaks, judged.chosen, 1)
                for what, count in one.noted:
                    self.out.noted[what] = self.out.noted.get(what, 0) + count
            except Exception as error:  # noqa: BLE001 - a rule may be anyone's; its failure is reported, not hidden
                line = one.messages[0].record.line if one.messages else 1
                self.out.failures.append(Failure(line, one.id, f"{type(error).__name__}: {error}"))
                self.has_found = True
        return found

    def _count_across(self, wire: str, chosen: Iterable[Chosen], count: int) -> None:
        for one in chosen:
            if one.named and wire not in one.profile.wires:
                key = f"{one.profile.label} on {wire}"
                self.out.across[key] = self.out.across.get(key, 0) + count

    def _asks(self, judged: list[Judged], damaged: list[Finding]) -> bool:
        """Whether there is a finding to repair."""
        if self.policy.canonical and judged:
            return True
        if self.renames and any(has_ids_to_project(one) and named_profile(one) for one in judged):
            return True
        return any(wanted(as_read(finding), self.policy) for finding in _all(judged, damaged))

    def _needs_more(self, judged: list[Judged], damaged: list[Finding]) -> bool:
        """Whether level lossy would repair a finding that the level of the run does not."""
        more = _lossy(self.policy)
        return more is not None and any(wanted(as_read(finding), more) for finding in _all(judged, damaged))

    def _verified(self, unit: Unit, policy: Policy) -> Mended | None:
        """Return the repair under another policy than that of the run, if it passes all checks."""
        try:
            mended = mend(unit, self.book, policy, self._spared())
            return mended if self._fault_of(mended, self.book, policy) is None else None
        except Exception:  # noqa: BLE001 - an optional repair fails without a message
            return None

    def _mend(self, unit: Unit, spared: Spared) -> Accepted:
        """Repair a unit, and record the providers that prevent canonical ids."""
        found = mend_with_calls(unit, self.book, self.accepting, self.policy, spared, self._fault_of)
        self.out.without_canonical.update(found.providers)
        if found.refusals:
            self._note(unit, found.mended, found.reason)
        return found

    def _fault_of(self, mended: Mended, book: Book, policy: Policy) -> str | None:
        """Return why a repair may not be written, if there is a reason."""
        # A trial that omits a rule is checked as the whole repair: no error takes the place of another.
        reason = fault_of(mended, _checked_as(self.policy))
        if reason or self.options.format:
            return reason
        prefer = (self.accepting or self.book).wires
        log = None if self.keeps_formats else self.reading.log_format
        return format_fault_of(mended, book, policy, self._spared(), prefer, log)

    def _partial(self, unit: Unit, whole: Accepted) -> Part | None:
        """Return the best repair that omits some rules and passes all checks, and the codes of these rules."""
        policy = whole.policy

        def attempt(omitted: tuple[str, ...]) -> Mended | None:
            never: tuple[tuple[str, Reach], ...] = tuple((code, "never") for code in omitted)
            some = structs.replace(policy, levels=(*policy.levels, *never))
            try:
                trial = mend(unit, whole.book, some, self._spared())
                return trial if self._fault_of(trial, whole.book, some) is None else None
            except Exception:  # noqa: BLE001 - the whole repair already has a reason to report
                return None

        codes = dict.fromkeys(one.code for one in whole.mended.changes if one.code != IDS)
        return find_part([*codes], MAX_TRIALS, attempt)

    def _foresee(self, unit: Unit) -> None:
        """Count what level lossy would remove from a unit."""
        more = _lossy(self.policy)
        mended = self._verified(unit, more) if more else None
        if mended:
            self.out.would.add(mended.changes)

    def _leave(self, unit: Unit, mended: Mended) -> bool:
        """Leave a unit unchanged, if only a higher level repairs it without a new finding.

        Return whether that is so.
        """
        found = [*mended.start.findings]
        for level in LEVELS[LEVELS.index(self.policy.level) + 1 :]:
            if self._verified(unit, structs.replace(self.policy, level=level)) is None:
                continue
            self.counter.count(found)
            counts = self.out.needs.setdefault(level, {})
            for one in found:
                if wanted(one, self.policy):
                    counts[one.severity] = counts.get(one.severity, 0) + 1
                    self.out.held[level] = self.out.held.get(level, 0) + 1
            if level == "lossy":
                self._foresee(unit)
            return True
        return False

    def _trace_another(self, unit: Unit, first: int) -> None:
        """Trace the ids of the repair at the first other level that repairs a unit."""
        levels = [
            one for one in (*LEVELS[LEVELS.index(self.policy.level) :], *LEVELS) if one != self.policy.level
        ]
        for level in dict.fromkeys(levels) if self.out.ids is not None else ():
            mended = self._verified(unit, structs.replace(self.policy, level=level))
            if mended is not None:
                self._trace(mended, first)
                return

    def _trace(self, mended: Mended, first: int) -> None:
        if self.out.ids is not None:
            self.out.ids |= trace(mended.start.judged, mended.end.judged, first)

    def _note(self, unit: Unit, mended: Mended, reason: str) -> None:
        """Record why a conversation keeps a finding that has a repair."""
        origin, judged = unit.cells[0].origin, mended.start.judged
        name = judged[0].transcript.id if judged else None
        self.out.notes.append(Failure(origin.line if origin else 1, name, reason))

    def _mended(self, unit: Unit, first: int, known: Findings, *, asked: bool) -> Mended | None:
        """Return the repair if it may be written, and count its findings."""
        if not asked:
            self.counter.count(known)
            self._foresee(unit)
            return None
        mended = self._asked(unit, first, known)
        if mended is None:
            self._trace_another(unit, first)
        return mended

    def _asked(self, unit: Unit, first: int, known: Findings) -> Mended | None:
        """Return the repair at the level of the run, if it may be written."""
        out = self.out
        try:
            spared = self._spared()
            whole = self._mend(unit, spared)
            mended, policy = whole.mended, whole.policy
            reason = self._fault_of(mended, whole.book, policy)
            out.spared |= spared.known
        except Exception as error:  # noqa: BLE001 - a rule may be anyone's; its failure is reported, not hidden
            record = unit.cells[0].origin
            said = str(error) if isinstance(error, UnrepairableError) else f"{type(error).__name__}: {error}"
            out.failures.append(Failure(record.line if record else 1, None, said))
            self.counter.count(known)
            return None
        if reason is not None:
            brings_new = reason.startswith(BRINGS_NEW)
            if brings_new and self.policy.level != "lossy" and self._leave(unit, mended):
                return None
            # A repair without a rule could remove the evidence of doubt, so that the next pass pairs them.
            partial = None if reason == UNTIED else self._partial(unit, whole)
            if partial is not None:
                mended, codes = partial
                self._note(unit, mended, f"no repair of {', '.join(codes)}: {reason}")
                reason = None
            elif reason == UNTIED or (brings_new and self.policy.level != "lossy"):
                pair = untied_pair(mended) if reason == UNTIED else None
                self._note(unit, mended, f"unchanged: {_doubt(*pair, mended.start) if pair else reason}")
                self.counter.count(mended.start.findings)
                return None
        self.counter.count(mended.start.findings, mended.end.findings if reason is None else None)
        if reason is not None:
            judged = mended.start.judged
            name = judged[0].transcript.id if judged else None
            record = unit.cells[0].origin
            out.failures.append(Failure(record.line if record else 1, name, reason))
            return None
        if policy.canonical and any(map(has_rival_call, mended.end.judged)):
            self._note(unit, mended, RIVAL)
        if any(held_back(one, self.policy) == "lossy" for one in mended.end.findings):
            self._foresee(mended.end.unit)
        if mended.changes:
            out.mended += 1
            out.bound = out.bound or next(
                filter(None, (one.transcript.bound for one in mended.start.judged)), ""
            )
            out.changes.extend(_numbered(mended.changes, first))
            same = len(mended.start.judged) == len(mended.end.judged)
            start, end = mended.start.judged, mended.end.judged
            out.told.extend(conversations_told(start if same else mended.base.judged, end, first))
            self._trace(mended, first)
        return mended


def _all(judged: list[Judged], damaged: list[Finding]) -> list[Finding]:
    return [*damaged, *(finding for one in judged for finding in one.findings)]


def _doubt(call: Call, result: Result, start: State) -> str:
    """Return why a call and a result stay unchanged, and what the user can do.

    An id that the repair made is not in the file, so it is not shown.
    """
    stands = any(
        isinstance(block, Result) and block.id == result.id
        for judged in start.judged
        for message in judged.transcript.messages
        for block in message.blocks
    )
    which = f"the result for {quote_name(result.id)}" if result.id and stands else "a result"
    other = f"the call to {quote_name(call.name)}" if call.name else "a call"
    return f"no evidence ties {which} to {other}; correct the id by hand"


def _checked_as(policy: Policy) -> Level:
    """Return the level whose checks a repair must pass: settings for single rules may leave any finding."""
    return "lossless" if policy.levels else "lossy"


def _lossy(policy: Policy) -> Policy | None:
    """Return the policy of the run at level lossy; none if that is the policy of the run."""
    return structs.replace(policy, level="lossy") if policy.level != "lossy" else None


def _numbered(changes: Iterable[Change], first: int) -> Iterator[Change]:
    """Convert the conversation indices of a unit, which start at 0, to those of the file."""
    for one in changes:
        index = one.conversation_index
        yield one if index is None else structs.replace(one, conversation_index=first + index)


def _carrier(name: str | None) -> Carrier | None:
    return carriers.of_wire(name) if name else None
