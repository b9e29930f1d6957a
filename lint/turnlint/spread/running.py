"""Lint sources in several processes, with the events in the order of one process."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from turnlint.documents.source import Progress, Source, open_source, size_of
from turnlint.engine import Book, Options, Tally
from turnlint.spread.cutting import Questions, Task, cut
from turnlint.spread.here import Done, Of, Question, Told, crashed, here
from turnlint.spread.parcel import Joint, Lost, Parcel, first_line, pack, stream

if TYPE_CHECKING:
    from turnlint.spread.pool import WorkerPool


def prepare(options: list[Options], made: list[Question]) -> Callable[[Task], list[Parcel | Lost]]:
    """Return the function that does a task in a process. A question that was not made before is made on first use."""
    known = dict(enumerate(made))

    def asked(number: int) -> Question:
        if number not in known:
            known[number] = Question(options[number], Book(options[number]))
        return known[number]

    def work(task: Task) -> list[Parcel | Lost]:
        return [
            _packed(source, asked(number)) for source, number in zip(task.sources, task.asked, strict=True)
        ]

    return work


def _packed(source: Source, asked: Question) -> Parcel | Lost:
    try:
        return pack(source, asked)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - the other sources are read all the same
        return Lost(type(error).__name__)


def spread(sources: list[Source], of: Of, jobs: int, progress: Progress | None) -> Iterator[Told]:
    """Yield all events of the sources in the order of `here`, from several processes."""
    questions = Questions(of)
    tasks = list(cut(sources, questions, jobs))
    if len(tasks) == 1:  # a second process would only wait for the first
        for told in here(list(tasks[0].sources), of, progress):
            yield from _done(told.source) if isinstance(told, Done) else (told,)
        return
    from turnlint.spread.pool import START_METHOD, WorkerPool

    options = [one.options for one in questions.all]
    made = questions.all if START_METHOD == "fork" else []
    pool = WorkerPool(jobs, partial(prepare, options, made), tasks)
    try:
        yield from _Merging(tasks, of, pool, progress).events()
    finally:
        pool.stop()


class _Merging:
    """Yield results in the order of the tasks, and join the parts of files."""

    def __init__(self, tasks: list[Task], of: Of, pool: "WorkerPool", progress: Progress | None) -> None:
        self.tasks = tasks
        self.of = of
        self.pool = pool
        self.progress = progress
        self.joint = Joint(0)
        self.returned = False
        self.over: Source | None = None
        """The last part, extended to the end of its file, since a conversation continues behind it."""

    def events(self) -> Iterator[Told]:
        for number, result in self.pool.results():
            sources = self.tasks[number].sources
            if isinstance(result, Lost):
                for source in sources:
                    yield from self._lost(source, result)
                    yield from _done(source)
            else:
                for source, parcel in zip(sources, result, strict=True):
                    yield from self._part(source, parcel) if source.part else self._whole(source, parcel)
                    yield from _done(source)
            if self.progress:
                self.progress(sum(map(_weight, sources)))

    def _whole(self, source: Source, parcel: Parcel | Lost) -> Iterator[Told]:
        if isinstance(parcel, Lost):
            yield from crashed("reading", source, 1, parcel.reason)
            return
        yield from parcel.events
        yield parcel.tally
        if parcel.failure:
            yield parcel.failure

    def _part(self, source: Source, parcel: Parcel | Lost) -> Iterator[Told]:
        part = source.part
        assert part
        if not part.start:
            self._begin(source)
        if self.over is not None:
            return
        if isinstance(parcel, Lost):
            yield from self._lost(source, parcel)
            return
        again = parcel.returned and self.returned and not part.returned
        size = part.size
        events = None
        if again or (parcel.held and (part.start or part.end < size)):
            # The parts before it left nothing open, so the rest is read as if it had never been cut. A
            # finding about a session names lines, so their number has to be known.
            line = self.joint.lines + 1
            self.over = structs.replace(
                source, part=structs.replace(part, end=size, returned=self.returned, line=line)
            )
            parcel = Parcel(first=first_line(self.over))
            events = stream(
                self.over, self.of(source), parcel
            )  # its rows may be as many as the file has lines
        yield from self.joint.join(parcel, events)
        self.returned |= parcel.returned
        if not part.start:
            yield Tally(files=1)
        if parcel.failure:
            yield parcel.failure

    def _begin(self, source: Source) -> None:
        """Prepare for the first part of a file."""
        self.joint = Joint(self.of(source).options.views_per_rule)
        self.returned, self.over = False, None

    def _lost(self, source: Source, lost: Lost) -> Iterator[Told]:
        """Report a task that failed or whose process died, with its position."""
        part = source.part
        if part is None:
            yield from crashed("the process that read it", source, 1, lost.reason)
            return
        if self.over is not None and part.start:
            return
        if not part.start:
            self._begin(source)
            yield Tally(files=1)
        who = f"the process that read bytes {part.start:,} to {part.end:,}"
        yield from crashed(who, source, self.joint.lines + 1, lost.reason)
        self.joint.lines += _lines_in(source)


def _done(source: Source) -> Iterator[Done]:
    """Yield the end of a file with its last part."""
    if source.part is None or source.part.end == source.part.size:
        yield Done(structs.replace(source, part=None))


def _weight(source: Source) -> int:
    return source.part.end - source.part.start if source.part else size_of(source)


def _lines_in(source: Source) -> int:
    with open_source(source) as stream:
        return sum(piece.count(b"\n") for piece in iter(lambda: stream.read(1 << 20), b""))
