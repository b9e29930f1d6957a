"""What was found in a source or a part of one, fit to be sent and kept.

This module owns what travels of it and how places in a part become places in the file. It refuses to know how
it travels.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct, field, structs

from turnlint.documents.source import Source
from turnlint.engine import Crash, Event, Heard, Remark, Run, Skipped, Tally
from turnlint.errors import SourceError
from turnlint.model import Finding
from turnlint.rows import Ignored, Place, Point, Row, drawn_shape, lean
from turnlint.spread.here import Failure, Question


class Lost(Struct, frozen=True):
    """Work that came to nothing."""

    reason: str


class Died(Lost, frozen=True):
    """A process ended in the middle of a task."""


Sent = Row | Skipped | Heard | Crash | Remark
"""Events that travel between processes."""


class Parcel(Struct):
    """All that is to be said of a source or a part of it."""

    events: list[Sent] = []
    tally: Tally = field(default_factory=Tally)
    failure: Failure | None = None
    first: int = 1
    """The number of its first line, as what stands in it has it."""
    lines: int = 0
    held: bool = False
    """Something had to wait for what stands behind the part, or for its end."""
    returned: bool = False
    left: int | None = None
    """The offset of a split record at the end that is left until it is whole."""


def pack(source: Source, asked: Question) -> Parcel:
    """Lint a source, or a part of one."""
    parcel = Parcel(first=first_line(source))
    parcel.events = list(stream(source, asked, parcel))
    return parcel


def first_line(source: Source) -> int:
    """The number of the first line of a source, as its findings have it."""
    return source.part.line if source.part else 1


def stream(source: Source, asked: Question, parcel: Parcel) -> Iterator[Sent]:
    """Lint a source and yield its events one by one; all that is known at its end is put into the parcel."""
    run = Run(source, asked.options, asked.book)
    try:
        for event in run.events(None):
            if isinstance(event, Tally):
                parcel.tally = event
            elif isinstance(event, Row):
                yield _light(event)
            else:
                assert not isinstance(event, Ignored), "what is known is sifted out behind all processes"
                yield event
    except SourceError as error:
        parcel.failure = Failure(error.name, error.reason)
    parcel.lines = run.evaluator.reading.gate.lines or 0
    parcel.held = run.evaluator.reading.held
    parcel.returned = run.evaluator.reading.gate.returned
    parcel.left = run.evaluator.reading.gate.left


def _light(row: Row) -> Row:
    """A row without bytes, and without the steps of its fix: nothing that is shown."""
    row = lean(row)
    fix = row.finding.fix.lean() if row.finding.fix else None
    return structs.replace(row, finding=structs.replace(row.finding, fix=fix))


class Joint:
    """Puts the parts of one file together: what each counts from its own beginning is counted on."""

    def __init__(self, views: int) -> None:
        self.views = views
        self.lines = 0
        self.shift = 0
        """How many lines of the file are not counted in the parcel at hand."""
        self.conversations = 0
        self.met: dict[str, int] = {}
        self.drawn: dict[str, int] = {}
        """By shape, how many were drawn in the parcels before."""
        self.met_here: dict[str, int] = {}
        """The same in the one at hand."""

    def join(self, parcel: Parcel, events: Iterable[Sent] | None = None) -> Iterator[Event]:
        """The events of a part with the places of the file. Events that are streamed fill the parcel as they come."""
        self.shift = self.lines - (parcel.first - 1)
        for event in parcel.events if events is None else events:
            if isinstance(event, Row):
                yield self._row(event)
            elif isinstance(event, Crash | Remark):
                yield structs.replace(event, line=event.line + self.shift)
            elif isinstance(event, Heard):
                yield structs.replace(
                    event, line=event.line + self.shift, index=event.index + self.conversations
                )
            else:
                yield event
        for shape, count in self.met_here.items():
            self.drawn[shape] = self.drawn.get(shape, 0) + count
        self.met_here = {}
        self.lines += parcel.lines
        self.conversations += parcel.tally.conversations
        yield structs.replace(parcel.tally, files=0)

    def _row(self, row: Row) -> Row:
        finding = row.finding
        if finding.conversation_index is not None:
            finding = structs.replace(
                finding, conversation_index=finding.conversation_index + self.conversations
            )
        related = tuple((note, self._place(place)) for note, place in row.related)
        view = row.view if row.rank and self._is_drawn(finding, row.rank) else ()
        return structs.replace(
            row, finding=finding, place=self._place(row.place), related=related, view=view,
            fingerprint=self._name(row.fingerprint), rank=0,
        )  # fmt: skip

    def _place(self, place: Place) -> Place:
        start, end = place.span or (None, None)
        span = (self._point(start), self._point(end)) if start and end else None
        return structs.replace(place, line=place.line + self.shift, span=span)

    def _point(self, point: Point) -> Point:
        return structs.replace(point, line=point.line + self.shift)

    def _is_drawn(self, finding: Finding, rank: int) -> bool:
        """So many of a shape are drawn in a file, not in each part of it."""
        shape = drawn_shape(finding)
        self.met_here[shape] = max(rank, self.met_here.get(shape, 0))
        return self.drawn.get(shape, 0) + rank <= self.views

    def _name(self, name: str) -> str:
        """What could be said more than once is counted through the file."""
        if not name:
            return name
        name = name.partition(":")[0]
        self.met[name] = self.met.get(name, 0) + 1
        return name if self.met[name] == 1 else f"{name}:{self.met[name]}"
