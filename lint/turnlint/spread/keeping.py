"""A row as it is kept in a file.

This module owns the way there and back: all that a report shows of a finding, without the bytes it was found in and
the steps of its repair. It refuses to know where rows are kept.
"""

from typing import Any

from msgspec import Struct, defstruct, structs

from turnlint.model import Finding, Fix, Level, Location, Record
from turnlint.rows import Line, Place, Row

_APART = frozenset({"where", "related", "fix"})
_SHOWN = tuple(name for name in Finding.__struct_fields__ if name not in _APART)
_TYPES = {one.name: one.type for one in structs.fields(Finding) if one.name in _SHOWN}
_Shown: Any = defstruct("_Shown", [(name, _TYPES[name]) for name in _SHOWN], frozen=True, array_like=True)


class KeptRow(Struct, frozen=True, array_like=True):
    """What is kept of a row."""

    finding: _Shown
    fix: tuple[Level, str] | None
    path: str
    place: Place
    related: tuple[tuple[str, Place], ...]
    view: tuple[Line, ...]
    fingerprint: str


def kept(row: Row) -> KeptRow:
    finding = row.finding
    shown = _Shown(*(getattr(finding, name) for name in _SHOWN))
    fix = (finding.fix.level, finding.fix.title) if finding.fix else None
    return KeptRow(shown, fix, row.path, row.place, row.related, row.view, row.fingerprint)


def restored(one: KeptRow) -> Row:
    where = Location(Record(one.place.line, one.place.offset, b""), ())
    shown = {name: getattr(one.finding, name) for name in _SHOWN}
    finding = Finding(**shown, where=where, fix=Fix(*one.fix) if one.fix else None)
    return Row(finding, one.path, one.place, one.related, one.view, one.fingerprint)
