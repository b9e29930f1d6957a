"""A finding as a report has it: placed, with the conversation around it.

This module owns those values. It refuses to compute them.
"""

import re
from typing import Literal

from msgspec import Struct, structs

from turnlint.model import Finding, Location


class Point(Struct, frozen=True, gc=False):
    """A place between two characters. Lines and columns count from 1."""

    line: int
    column: int
    """In characters."""
    octet: int
    """The column in bytes."""
    unit: int
    """The column in code units of UTF-16."""


class Place(Struct, frozen=True, gc=False):
    """Where something stands in its file. Lines and columns count from 1, columns in characters.

    Line 0 is none: what was no text has no lines.
    """

    line: int
    column: int
    offset: int
    end: int
    pointer: str
    span: tuple[Point, Point] | None = None
    """Where it starts and ends in all units, for reports that ask for it."""


PER_FILE = frozenset({"unknown-key"})
"""Rules whose equal findings in a file are one finding with a count. A client that adds a key adds it to each message."""
TIMES = " ({count:,} times in this file)"
_NAMES = r"`[^`]*`|[0-9]+| \([0-9,]+ times in this file\)$"


def shape_of(message: str) -> str:
    """A message without its names and numbers: findings of one rule and shape say the same of other things."""
    return re.sub(_NAMES, "", message)


def drawn_shape(finding: Finding) -> str:
    """The shape of which a few findings have a view. Each finding that is counted has its own."""
    message = finding.message
    return f"{finding.rule} {message if finding.rule in PER_FILE else shape_of(message)}"


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


class Said(Struct, frozen=True):
    """What a record says of itself."""

    models: tuple[str, ...] = ()
    day: str = ""
    """As `YYYY-MM-DD`, as it is written."""


class Row(Struct, frozen=True):
    """A finding, placed."""

    finding: Finding
    path: str
    place: Place
    related: tuple[tuple[str, Place], ...] = ()
    view: tuple[Line, ...] = ()
    fingerprint: str = ""
    rank: int = 0
    """The how manieth of its shape it was among those that have a view. They come out in another order."""
    said: Said | None = None
    """What its record says of itself, where that was asked for."""
    count: int = 1
    """So many findings of the file say the same; this is the first."""
    pardon: str = ""
    """Why its record asks to leave it out, where records are asked and it does."""


class Ignored(Struct, frozen=True):
    """A finding that is known and not told of. An output that has a word for it may say so."""

    row: Row
    by: Literal["ignore", "baseline", "ignore in records"]
    reason: str
    until: str = ""
    """The last day on which it is left out, where there is one."""


def lean(row: Row) -> Row:
    """A row without the bytes of its records, which may be long and are not shown any more."""
    finding = row.finding
    related = tuple(structs.replace(one, where=_bare(one.where)) for one in finding.related)
    return structs.replace(row, finding=structs.replace(finding, where=_bare(finding.where), related=related))


def _bare(where: Location) -> Location:
    record = where.record
    size = len(record.data) or record.size
    return structs.replace(where, record=structs.replace(record, data=b"", size=size))
