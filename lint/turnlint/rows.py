"""Define findings with positions and views, for reports."""

import re
from typing import Literal

from msgspec import Struct, structs

from turnlint.model import Finding, Location, Record


class Point(Struct, frozen=True, gc=False):
    """A position between two characters. Lines and columns count from 1."""

    line: int
    column: int
    """Column in characters."""
    octet: int
    """Column in bytes."""
    unit: int
    """Column in UTF-16 code units."""


class Place(Struct, frozen=True, gc=False):
    """The position of a value in its file. Lines and columns count from 1, columns in characters.

    Line 0 means no line: an input that was no text has no lines.
    """

    line: int
    column: int
    offset: int
    end: int
    pointer: str
    span: tuple[Point, Point] | None = None
    """Start and end in all units, for reports that need them."""


PER_FILE = frozenset({"unknown-key"})
"""Rules whose equal findings in a file are one finding with a count.

A client that adds a key adds it to each message.
"""
TIMES = " ({count:,} times in this file)"
_NAMES = r"`[^`]*`|[0-9]+| \([0-9,]+ times in this file\)$"


def shape_of(message: str) -> str:
    """Return a message without names and numbers: findings of one rule and shape describe the same error."""
    return re.sub(_NAMES, "", message)


def drawn_shape(finding: Finding) -> str:
    """Return the shape that limits the number of views. Each counted finding has a shape of its own."""
    message = finding.message
    return f"{finding.rule} {message if finding.rule in PER_FILE else shape_of(message)}"


class Mark(Struct, frozen=True):
    """A note to show under a piece of a message."""

    note: str
    main: bool
    """Whether it marks the finding itself, and not a related position."""


class Cell(Struct, frozen=True):
    """One piece of a message in a view."""

    text: str
    marks: tuple[Mark, ...] = ()
    excerpt: bool = False
    """Whether it is content, which is shown only if allowed."""


class Line(Struct, frozen=True):
    """One message of the conversation view."""

    index: int
    role: str
    cells: tuple[Cell, ...]


class Said(Struct, frozen=True):
    """The fields of a record about its models and its day."""

    models: tuple[str, ...] = ()
    day: str = ""
    """Day as `YYYY-MM-DD`, as the record has it."""


class Row(Struct, frozen=True):
    """A finding with its positions."""

    finding: Finding
    path: str
    place: Place
    related: tuple[tuple[str, Place], ...] = ()
    view: tuple[Line, ...] = ()
    fingerprint: str = ""
    rank: int = 0
    """Number of the finding among those of its shape that have a view. They may be yielded in another order."""
    said: Said | None = None
    """The fields of its record, if the run needs them."""
    count: int = 1
    """Number of equal findings in the file; this is the first."""
    pardon: str = ""
    """The reason of an ignore in its record, if there is one."""


class Ignored(Struct, frozen=True):
    """A known finding, which is not reported. A format with a field for it may report it."""

    row: Row
    by: Literal["ignore", "baseline", "ignore in records"]
    reason: str
    until: str = ""
    """The last day of the ignore, if there is one."""


def lean(row: Row, bare: dict[int, Record] | None = None) -> Row:
    """Return a row without the bytes of its records, which may be long and are no longer needed.

    Rows of the same records share those without bytes in `bare`: a record may have a hundred thousand findings.
    """
    bare = {} if bare is None else bare
    finding = row.finding
    related = tuple(structs.replace(one, where=_bare(one.where, bare)) for one in finding.related)
    where = _bare(finding.where, bare)
    return structs.replace(row, finding=structs.replace(finding, where=where, related=related))


def _bare(where: Location, bare: dict[int, Record]) -> Location:
    record = where.record
    found = bare.get(id(record))
    if found is None:
        size = len(record.data) or record.size
        found = bare[id(record)] = structs.replace(record, data=b"", size=size)
    return structs.replace(where, record=found)
