"""A finding as a report has it: placed, with the conversation around it.

This module owns those values. It refuses to compute them.
"""

import re

from msgspec import Struct, structs

from turnlint.model import Finding, Location, Record


class Place(Struct, frozen=True, gc=False):
    """Where something stands in its file. Lines and columns count from 1, columns in characters."""

    line: int
    column: int
    offset: int
    end: int
    pointer: str


_NAMES = re.compile(r"`[^`]*`|[0-9]+")


def shape_of(message: str) -> str:
    """A message without its names and numbers: findings of one rule and shape say the same of other things."""
    return _NAMES.sub("", message)


class Mark(Struct, frozen=True):
    """A note to stand under a piece of a message."""

    note: str
    main: bool
    """It is the finding itself, not a place that belongs to the story."""


class Cell(Struct, frozen=True):
    """One piece of a message as a report draws it."""

    text: str
    marks: tuple[Mark, ...] = ()
    excerpt: bool = False
    """Content rather than structure: shown only where content may be."""


class Line(Struct, frozen=True):
    """One message of the conversation view."""

    index: int
    role: str
    cells: tuple[Cell, ...]


class Row(Struct, frozen=True):
    """A finding, placed."""

    finding: Finding
    path: str
    place: Place
    related: tuple[tuple[str, Place], ...] = ()
    view: tuple[Line, ...] = ()
    fingerprint: str = ""


def lean(row: Row) -> Row:
    """A row without the bytes of its records, which may be long and are not shown any more."""
    finding = row.finding
    related = tuple(structs.replace(one, where=_bare(one.where)) for one in finding.related)
    return structs.replace(row, finding=structs.replace(finding, where=_bare(finding.where), related=related))


def _bare(where: Location) -> Location:
    record = where.record
    size = len(record.data) or record.size
    return structs.replace(
        where, record=Record(record.line, record.offset, b"", record.prefix, record.column, size)
    )
