"""Repair a unit in rounds until no step is left.

A round runs the rules, chooses steps, makes them, and reads the result again.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

from msgspec import Struct

from turnlint import carriers
from turnlint.carrying.writer import MessageWriter
from turnlint.case import Case
from turnlint.documents.breaks import raw_bytes
from turnlint.documents.edit import encode
from turnlint.documents.locate import locate_all
from turnlint.documents.trouble import Damage
from turnlint.errors import UnrepairableError
from turnlint.gaps import is_uncertain
from turnlint.ids import Memory, is_empty, is_internal, remembered
from turnlint.judging import Book, Judged, judge, judge_damage
from turnlint.model import Fault, Finding, Pointer, Transcript
from turnlint.placing import as_pointer
from turnlint.profiles import Profile
from turnlint.providers import SHARED
from turnlint.repair.change import Change, digest
from turnlint.repair.choosing import Policy, choose, is_pending, wanted
from turnlint.repair.lines import link
from turnlint.repair.losses import lost
from turnlint.repair.making import Maker
from turnlint.repair.names import Names
from turnlint.repair.sheet import Sheet
from turnlint.repair.sparing import Leniency, Spared
from turnlint.repair.unit import Changes, Unit, changed
from turnlint.rows import PER_FILE
from turnlint.rulebook import Entry
from turnlint.steps import Patch, Rename
from turnlint.text import quote_name

ROUNDS = 10
"""The maximum number of rounds. A repair that needs more is assumed never to converge."""
PATCHED, LAST = 0, 6
"""The first and the last phase of a round."""
IDS = "ID"
"""The code of changes of ids that no rule asks for."""
CANONICAL: tuple[str, str, Fault] = (IDS, "canonical-ids", "projection")
"""The code, rule and fault of changes to canonical ids, which are about the spelling of ids."""
PROJECTED: tuple[str, str, Fault] = (IDS, "provider-ids", "projection")
"""The code, rule and fault of changes from internal ids to ids with the prefix of a provider."""
INTERNAL = "internal or empty"


class State(Struct, frozen=True):
    """A unit, and its findings."""

    unit: Unit
    judged: tuple[Judged, ...]
    damaged: tuple[Finding, ...]

    @property
    def findings(self) -> Iterator[Finding]:
        yield from self.damaged
        for one in self.judged:
            yield from one.findings


class Mended(Struct, frozen=True):
    """The result of repairing a unit."""

    start: State
    read: State
    """The unit after the repair of its damaged bytes. A finding that is absent here is new afterwards."""
    base: State
    """The unit when all of it could be parsed. Only then a finding can count as new."""
    end: State
    changes: tuple[Change, ...]
    settled: bool


def look(unit: Unit, book: Book, spared: Spared) -> State:
    """Read a unit and run the rules."""
    reading = unit.read()
    judged = [judge(book, transcript, ask) for transcript in reading.transcripts]
    spared.sift(judged)
    return State(unit, tuple(judged), tuple(judge_bytes(book, reading.damages)))


def judge_bytes(book: Book, damages: Sequence[Damage]) -> list[Finding]:
    """Return the findings about damage that the settings do not ignore."""
    leniency = Leniency(book.options)
    return [one for one in judge_damage(book, damages, ask) if not leniency.covers(one)]


def ask(_: Entry, __: int, check: Callable[[Any], Any], subject: object) -> list[Finding]:
    return list(check(subject))


def mend(unit: Unit, book: Book, policy: Policy, spared: Spared) -> Mended:
    """Repair a unit as far as possible."""
    start = read = base = state = look(unit, book, spared)
    changes: list[Change] = []
    overruled: set[str | None] = set()
    last: str | None = None
    for _ in range(ROUNDS):
        step = _round(state, base, start, book, policy, overruled)
        if step is None:
            return Mended(start, read, base, state, tuple(changes), settled=True)
        unit, told, phase = step
        changes += told
        for one in told:
            if one.what == "renamed" and one.fault == "projection" and one.provider != last:
                overruled |= {last} if last else set()
                last = one.provider
        _keep_kinds(state)
        del step, told, state  # two states of a long conversation need not be in memory at once
        state = look(unit, book, spared)
        read = state if phase == PATCHED else read
        base = state if phase in (PATCHED, 1) else base
    settled = _round(state, base, start, book, policy, overruled) is None
    return Mended(start, read, base, state, tuple(changes), settled=settled)


def _keep_kinds(state: State) -> None:
    """Replace the findings of a repaired state by one object per kind, with the same counts.

    Checks and counts need the kind only. A finding with its places and steps takes 900 bytes.
    """
    kinds: dict[Any, Finding] = {}
    for judged in state.judged:
        judged.findings = [kinds.setdefault(_kind_of(one), one) for one in judged.findings]


def _kind_of(finding: Finding) -> Any:
    fix = finding.fix
    return (
        finding.code, finding.rule, finding.fault, finding.severity, finding.provider,
        bool(finding.call_id or finding.tool), finding.message if finding.rule in PER_FILE else "",
        fix and (fix.level, bool(fix.steps), is_pending(fix)),
    )  # fmt: skip


def _memory(base: State, start: State, judged: Judged) -> Memory | None:
    """Return the canonical ids of the calls before the repair, from which new ids derive.

    No call gets the id of a result that had no call when the repair began. Damaged bytes are repaired first.
    """
    first = _same(judged, base if start.damaged else start)
    return None if first is None or first is judged else remembered(first.transcript, first.pairs)


def _same(judged: Judged, state: State) -> Judged | None:
    """Return the same conversation in another state."""
    number = judged.transcript.index
    return next((one for one in state.judged if one.transcript.index == number), None)


def _round(
    state: State,
    base: State,
    start: State,
    book: Book,
    policy: Policy,
    overruled: Container[str | None],
) -> tuple[Unit, list[Change], int] | None:
    """Return the unit after the next steps, the changes, and the phase of the steps; none if no step is left."""
    patched = _patch(state, policy)
    if patched is not None:
        return *patched, PATCHED
    chosen = [choose(judged, policy, overruled) for judged in state.judged]
    for phase in sorted({phase for one in chosen for phase in one}):
        changes, told = Changes(), list[Change]()
        done: set[Any] = set()
        explained: list[bytes] = []
        for judged, phases in zip(state.judged, chosen, strict=True):
            if phase not in phases:
                continue
            sheet = Sheet(judged, state.unit, changes, writer_of(judged.transcript))
            renames = any(isinstance(step, Rename) for _, step in phases[phase])
            names = Names(sheet, _memory(base, start, judged) if renames else None, anew=policy.canonical)
            maker = Maker(sheet, names, *_profiles(judged, book), done)
            told += maker.make(phases[phase])
            explained += maker.told
            link(sheet)
            told += _linked(sheet)
        if (unit := changed(state.unit, changes)).cells != state.unit.cells:
            explained += _along(state.unit, changes)
            if lost((cell.data for cell in state.unit.cells), (cell.data for cell in unit.cells), explained):
                raise UnrepairableError("it would remove content that no finding names")
            return unit, told, phase
    return _settle_ids(state, base, start, policy) if policy.canonical or policy.named else None


LINKED: tuple[str, str, Fault] = ("ST111", "broken-parent-link", "state")
"""The code, rule and fault of changed parent links, where the parent was removed or moved."""


def _linked(sheet: Sheet) -> Iterator[Change]:
    """Yield the changes of links that follow from other changes."""
    transcript, changes = sheet.judged.transcript, sheet.changes
    for (cell, at), parent in changes.linked.items():
        data, origin = sheet.unit.cells[cell].data, sheet.unit.cells[cell].origin
        found, start, end = locate_all(data, [at])[at]
        done = (
            f"set its parent to {quote_name(parent)}"
            if parent
            else "make it the first message, without a parent"
        )
        before = digest(data[start:end]) if found == at else None
        yield Change(
            *LINKED, "lossless", "rewritten", done, "another record is before it now",
            origin.line if origin else 1, as_pointer(at), transcript.id, transcript.index,
            before=before, after=digest(encode(parent, data)),
        )  # fmt: skip
        changes.along.append((cell, at))
    changes.linked.clear()


def _along(unit: Unit, changes: Changes) -> Iterator[bytes]:
    """Yield the old bytes of places that change along with others."""
    places: dict[int, list[Pointer]] = {}
    for cell, at in changes.along:
        places.setdefault(cell, []).append(at)
    for cell, some in places.items():
        data = unit.cells[cell].data
        for at, (found, start, end) in locate_all(data, some).items():
            if at == found:
                yield data[start:end]


def writer_of(transcript: Transcript) -> MessageWriter | None:
    name = transcript.wire.name
    return carriers.carrier(name).writer if name in carriers.NAMES else None


def _profiles(judged: Judged, book: Book) -> tuple[dict[str, tuple[Profile, ...]], Profile]:
    """Return the providers by name, and the one whose ids are made where none requires any."""
    named: dict[str, tuple[Profile, ...]] = {}
    for case in judged.cases:
        if case.profile:
            named[case.profile.name] = (*named.get(case.profile.name, ()), case.profile)
    shared = book.providers.versions(SHARED)[0]
    cases = [case for case in judged.cases if case.profile]
    own = (case.profile for case in cases if case.named), (case.profile for case in cases if case.spelled)
    usual = next((profile for profiles in own for profile in profiles if profile), shared)
    return named, usual


def _patch(state: State, policy: Policy) -> tuple[Unit, list[Change]] | None:
    """Repair bytes that prevent parsing a record."""
    changes, told = Changes(), []
    for finding in state.damaged:
        if not wanted(finding, policy):
            continue
        assert finding.fix is not None
        record = finding.where.record
        for step in finding.fix.steps:
            if isinstance(step, Patch):
                changes.patches.setdefault(record.offset, []).append((step.start, step.end, step.data))
                told.append(rewritten(finding, state.unit.cells[record.offset].data, step))
    unit = changed(state.unit, changes)
    return (unit, told) if unit.cells != state.unit.cells else None


def joined(finding: Finding, lines: int) -> Change:
    """Return the change that joins the lines of a split record."""
    assert finding.fix is not None
    record = finding.where.record
    return Change(
        finding.code, finding.rule, finding.fault, finding.fix.level, "rewritten", finding.fix.title,
        finding.message, record.line, "", before=digest(raw_bytes(record)), after=digest(record.data),
        lines=lines,
    )  # fmt: skip


def rewritten(finding: Finding, data: bytes, step: Patch) -> Change:
    """Return the change of replaced bytes."""
    assert finding.fix is not None
    before = data[step.start : step.end]
    return Change(
        finding.code, finding.rule, finding.fault, finding.fix.level, "rewritten", finding.fix.title,
        finding.message, finding.where.record.line, "", before=digest(before), after=digest(step.data),
    )  # fmt: skip


def has_rival_call(judged: Judged) -> bool:
    """Whether the message of a result that is paired by position also has a call that no assistant message has."""
    case = Case(judged.transcript, judged.pairs)
    answers = (one.answer for one in judged.pairs.interactions if one.how == "by-position")
    return any(one is not None and case.has_own_call(one) for one in answers)


def _settle_ids(
    state: State, base: State, start: State, policy: Policy
) -> tuple[Unit, list[Change], int] | None:
    """Give ids their canonical form, or internal ids the prefix of a named provider, when all other steps are done."""
    changes, told = Changes(), []
    for judged in state.judged:
        profile = None if policy.canonical else named_profile(judged)
        if not policy.canonical and (profile is None or not has_ids_to_project(judged)):
            continue
        if is_uncertain(judged.transcript, judged.pairs) or has_rival_call(judged):
            continue
        sheet = Sheet(judged, state.unit, changes, writer_of(judged.transcript))
        names = Names(sheet, _memory(base, start, judged))
        kind, reason = (CANONICAL, "not canonical") if profile is None else (PROJECTED, INTERNAL)
        for one in names.canonical() if profile is None else names.projected(profile):
            record = sheet.messages[one.message].record
            told.append(Change(
                *kind, "lossless", "renamed", one.done, f"its id is {reason}", record.line, "",
                judged.transcript.id, judged.transcript.index, one.old, one.tool,
                provider=profile.label if profile else None, before_id=one.old, after_id=one.new,
            ))  # fmt: skip
    unit = changed(state.unit, changes)
    return (unit, told, LAST) if unit.cells != state.unit.cells else None


def named_profile(judged: Judged) -> Profile | None:
    """Return the profile of the only provider that the user named; nothing if there is none or several."""
    named = {case.profile.label: case.profile for case in judged.cases if case.named and case.profile}
    return next(iter(named.values())) if len(named) == 1 else None


def has_ids_to_project(judged: Judged) -> bool:
    """Whether a call has an internal id, or several calls have the empty id."""
    ids = [one.asked.call.id for one in judged.pairs.interactions]
    return any(map(is_internal, ids)) or sum(map(is_empty, ids)) > 1
