"""From sources to events, by one process.

This module owns the order of what comes out, and what becomes of a source that cannot be read. It refuses to know
that there are other ways.
"""

import os
from collections.abc import Callable, Iterator

from msgspec import Struct

from turnlint.documents.source import Progress, Source
from turnlint.engine import Book, Crash, Event, Options, Tally, lint
from turnlint.errors import SourceError


class Question(Struct, frozen=True):
    """What is asked of a source, and the rules for that."""

    options: Options
    book: Book


Of = Callable[[Source], Question]
"""What is asked of each source: one thing of most, another where settings differ."""


class Failure(Struct, frozen=True):
    """A source that cannot be read, or not to its end."""

    name: str
    reason: str


class Done(Struct, frozen=True):
    """All that is to be said of a source was said."""

    source: Source


Told = Event | Failure | Done


def here(sources: list[Source], of: Of, progress: Progress | None) -> Iterator[Told]:
    """All events of some sources, one after another in this process."""
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
