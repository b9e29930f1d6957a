"""Lint sources in one process and in their order.

An error in one source yields a `Failure` or a `Crash`, and the other sources are read all the same.
"""

import os
from collections.abc import Callable, Iterator

from msgspec import Struct

from turnlint.documents.source import Progress, Source
from turnlint.engine import Book, Crash, Event, Options, Tally, lint
from turnlint.errors import SourceError


class Question(Struct, frozen=True):
    """The options for a source, and the rules for them."""

    options: Options
    book: Book


Of = Callable[[Source], Question]
"""Function that returns the question of a source: most share one, and others have settings of their own."""


class Failure(Struct, frozen=True):
    """A source that cannot be read, or not to its end."""

    name: str
    reason: str


class Done(Struct, frozen=True):
    """The end of the events of a source."""

    source: Source


Told = Event | Failure | Done


def here(sources: list[Source], of: Of, progress: Progress | None) -> Iterator[Told]:
    """Yield all events of the sources in order, in this process."""
    for source in sources:
        yield from _one(source, of(source), progress)
        yield Done(source)


def _one(source: Source, asked: Question, progress: Progress | None) -> Iterator[Told]:
    try:
        yield from lint(source, asked.options, asked.book, progress)
    except SourceError as error:
        yield Failure(error.name, error.reason)
    except OSError:
        raise
    except Exception as error:
        if os.environ.get("TURNLINT_TRACEBACK"):
            raise
        yield from crashed("reading", source, 1, type(error).__name__)


def crashed(who: str, source: Source, line: int, reason: str) -> Iterator[Told]:
    yield Crash(who, source.name, line, reason)
    yield Tally(crashes=1)
