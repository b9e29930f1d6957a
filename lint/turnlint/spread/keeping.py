"""Convert rows to a form that can be stored, and back.

The form has all that a report shows of a finding. It has neither the bytes of the record nor the steps of the
repair.
"""

from typing import Any

from msgspec import Struct, defstruct, structs

from turnlint.events import Heard
from turnlint.model import Finding, Fix, Level, Location, Pointer, Record
from turnlint.rows import Line, Place, Row, Said

_APART = frozenset({"where", "related", "fix"})
_SHOWN = tuple(name for name in Finding.__struct_fields__ if name not in _APART)
_TYPES = {one.name: one.type for one in structs.fields(Finding) if one.name in _SHOWN}
_Shown: Any = defstruct("_Shown", [(name, _TYPES[name]) for name in _SHOWN], frozen=True, array_like=True)


class KeptRow(Struct, frozen=True, array_like=True, tag=True):
    """The stored form of a row."""

    finding: _Shown
    fix: tuple[Level, str, bool] | None
    at: Pointer
    """Pointer of the finding; its target may not exist."""
    path: str
    place: Place
    related: tuple[tuple[str, Place], ...]
    view: tuple[Line, ...]
    fingerprint: str
    said: tuple[tuple[str, ...], str] | None = None
    pardon: str = ""


def kept(row: Row) -> KeptRow:
    finding = row.finding
    shown = _Shown(*(getattr(finding, name) for name in _SHOWN))
    fix = (finding.fix.level, finding.fix.title, finding.fix.is_done_here) if finding.fix else None
    at = (*finding.where.record.prefix, *finding.where.at)
    said = (row.said.models, row.said.day) if row.said else None
    return KeptRow(
        shown, fix, at, row.path, row.place, row.related, row.view, row.fingerprint, said, row.pardon
    )


def restored(one: KeptRow) -> Row:
    where = Location(Record(one.place.line, one.place.offset, b""), one.at)
    shown = {name: getattr(one.finding, name) for name in _SHOWN}
    fix = None
    if one.fix:
        level, title, done = one.fix
        fix = Fix(level, title, let_go=done)
    finding = Finding(**shown, where=where, fix=fix)
    said = Said(*one.said) if one.said else None
    return Row(
        finding, one.path, one.place, one.related, one.view, one.fingerprint, said=said, pardon=one.pardon
    )


class KeptHeard(Struct, frozen=True, array_like=True, tag=True):
    """The stored form of a judged conversation."""

    path: str
    line: int
    index: int
    id: str | None
    whole: bool


Kept = KeptRow | KeptHeard


def kept_event(event: object) -> Kept | None:
    """Return the stored form of an event, or nothing for an event of another type."""
    if isinstance(event, Row):
        return kept(event)
    if isinstance(event, Heard):
        return KeptHeard(event.path, event.line, event.index, event.id, event.whole)
    return None


def restored_event(one: Kept) -> Row | Heard:
    return (
        restored(one) if isinstance(one, KeptRow) else Heard(one.path, one.line, one.index, one.id, one.whole)
    )
