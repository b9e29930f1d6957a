"""Pack the findings of a source or of a part so that they can be sent between processes.

`Joint` converts positions in a part to positions in the file.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct, field, structs

from turnlint.documents.source import Source
from turnlint.engine import Crash, Diagnosis, Event, Heard, Remark, Run, Skipped, Tally
from turnlint.errors import SourceError
from turnlint.model import Finding
from turnlint.rows import Ignored, Place, Point, Row, drawn_shape, lean
from turnlint.spread.here import Failure, Question


class Lost(Struct, frozen=True):
    """A task that failed."""

    reason: str


class Died(Lost, frozen=True):
    """A task whose process ended before it was done."""


Sent = Row | Skipped | Heard | Diagnosis | Crash | Remark
"""Events that are sent between processes."""


class Parcel(Struct):
    """All results of a source or of a part of it."""

    events: list[Sent] = []
    tally: Tally = field(default_factory=Tally)
    failure: Failure | None = None
    first: int = 1
    """Number of the first line, as its findings count it."""
    lines: int = 0
    held: bool = False
    """Whether a conversation waited for lines behind the part, or for the end of the part."""
    returned: bool = False
    left: int | None = None
    """Offset of a split record at the end, which is not read until it is complete."""


def pack(source: Source, asked: Question) -> Parcel:
    """Lint a source, or a part of one."""
    parcel = Parcel(first=first_line(source))
    parcel.events = list(stream(source, asked, parcel))
    return parcel


def first_line(source: Source) -> int:
    """Return the number of the first line of a source, as its findings count it."""
    return source.part.line if source.part else 1


def stream(source: Source, asked: Question, parcel: Parcel) -> Iterator[Sent]:
    """Lint a source and yield its events one by one; fill the parcel with the values known at the end."""
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
    """Return a row without bytes and without the steps of its fix, which no report shows."""
    row = lean(row)
    fix = row.finding.fix.lean() if row.finding.fix else None
    return structs.replace(row, finding=structs.replace(row.finding, fix=fix))


class Joint:
    """Join the parts of one file: continue in each part the counts of the parts before."""

    def __init__(self, views: int) -> None:
        self.views = views
        self.lines = 0
        self.shift = 0
        """Number of lines of the file before the current parcel that the parcel does not count."""
        self.conversations = 0
        self.met: dict[str, int] = {}
        self.drawn: dict[str, int] = {}
        """For each shape, the number of views in the parcels before."""
        self.met_here: dict[str, int] = {}
        """For each shape, the number of views in the current parcel."""

    def join(self, parcel: Parcel, events: Iterable[Sent] | None = None) -> Iterator[Event]:
        """Yield the events of a part with positions in the file. Streamed events fill the parcel as they come."""
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
            elif isinstance(event, Diagnosis):
                yield self._diagnosis(event)
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

    def _diagnosis(self, one: Diagnosis) -> Diagnosis:
        told = structs.replace(
            one.told, line=one.told.line + self.shift, index=one.told.index + self.conversations
        )
        decisions = tuple(structs.replace(two, line=two.line + self.shift) for two in one.decisions)
        completions = tuple(structs.replace(two, line=two.line + self.shift) for two in one.completions)
        return structs.replace(one, told=told, decisions=decisions, completions=completions)

    def _place(self, place: Place) -> Place:
        start, end = place.span or (None, None)
        span = (self._point(start), self._point(end)) if start and end else None
        return structs.replace(place, line=place.line + self.shift, span=span)

    def _point(self, point: Point) -> Point:
        return structs.replace(point, line=point.line + self.shift)

    def _is_drawn(self, finding: Finding, rank: int) -> bool:
        """Whether the view of a finding is shown: the limit for a shape applies to the whole file."""
        shape = drawn_shape(finding)
        self.met_here[shape] = max(rank, self.met_here.get(shape, 0))
        return self.drawn.get(shape, 0) + rank <= self.views

    def _name(self, name: str) -> str:
        """Return a fingerprint with its number of occurrences in the file, where it occurs more than once."""
        if not name:
            return name
        name = name.partition(":")[0]
        self.met[name] = self.met.get(name, 0) + 1
        return name if self.met[name] == 1 else f"{name}:{self.met[name]}"
