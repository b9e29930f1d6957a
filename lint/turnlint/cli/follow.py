"""`turnlint lint --follow`: look at logs at intervals, find new files, and stop on a signal.

The wait between two looks is at least as long as the last look took.
"""

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import click

from turnlint.cli.asking import shown
from turnlint.cli.lint import EXIT_INTERNAL, Seen, is_ready
from turnlint.cli.lint_way import Way
from turnlint.cli.settings import Plan
from turnlint.documents.source import COMPRESSED, Source, packing_of
from turnlint.report import Batched, Sink
from turnlint.spread.growing import Growing, Note
from turnlint.spread.here import Told

Find = Callable[[], list[Source]]


class _Stop:
    """Handler of Ctrl-C and SIGTERM: the current look is finished first. A second signal stops at once."""

    def __init__(self) -> None:
        self.asked = self.sleeps = False
        self.before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self.before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _heard(self, *_: Any) -> None:
        if self.asked or self.sleeps:
            self.asked, self.sleeps = True, False
            raise KeyboardInterrupt
        self.asked = True

    def sleep(self, seconds: float) -> None:
        try:
            self.sleeps = True
            if not self.asked:
                time.sleep(seconds)
        except KeyboardInterrupt:
            pass
        finally:
            self.sleeps = False


def follow(find: Find, sources: list[Source], plan: Plan, sinks: list[Sink], way: Way) -> Seen:
    """Look at logs until a signal stops the run."""
    seen = Seen(way.quiet)
    logs: dict[str, Growing] = {}
    _add(logs, sources, plan, at_start=True)
    with _Stop() as stop:
        while not stop.asked:
            began = time.monotonic()
            _look(logs, plan, seen, sinks)
            stop.sleep(max(way.poll, time.monotonic() - began))
            if not stop.asked:
                _add(logs, find(), plan, at_start=False)
        _look(logs, plan, seen, sinks, last=True)
    seen.finish(sinks)
    sys.stdout.flush()
    return seen


def _add(logs: dict[str, Growing], sources: list[Source], plan: Plan, *, at_start: bool) -> None:
    for source in sources:
        assert source.path is not None
        if source.path in logs or (not at_start and _is_moved(source.path, logs)):
            continue
        if source.name.lower().endswith(COMPRESSED) or packing_of(source):
            if source.named:
                raise click.UsageError(
                    f"{shown(source.name)} is compressed; --follow cannot read appended records from it"
                )
            continue
        if not is_ready(plan, [source]):
            raise click.exceptions.Exit(EXIT_INTERNAL)
        logs[source.path] = Growing(source, plan.of(source), rests=at_start)


def _is_moved(path: str, logs: dict[str, Growing]) -> bool:
    """Whether a file is a known log under a new name: its rest is read as that of the log."""
    return any(log.was(path) for log in logs.values())


def _look(logs: dict[str, Growing], plan: Plan, seen: Seen, sinks: list[Sink], *, last: bool = False) -> None:
    for log in logs.values():
        seen.take(_told(log.look(last=last), quiet=bool(seen.quiet)), plan.of(log.source), sinks)
    for sink in sinks:
        if isinstance(sink, Batched):
            sink.tell()
    sys.stdout.flush()


def _told(events: Iterable[Told | Note], *, quiet: bool) -> Iterator[Any]:
    for event in events:
        if isinstance(event, Note):
            if not quiet:
                click.echo(f"turnlint: {shown(event.name)}: {event.words}", err=True)
        else:
            yield event
