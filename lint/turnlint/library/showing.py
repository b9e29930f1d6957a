"""Show findings as text without running a command.

The module decides which findings make a conversation faulty.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, structs

from turnlint.engine import Crash, Event, Options, Tally
from turnlint.errors import InputError
from turnlint.library import logs, plain, running
from turnlint.model import SEVERITIES, Severity
from turnlint.report import open_sink
from turnlint.rows import Row
from turnlint.rulebook import Entry
from turnlint.text import pluralize


class Look(Struct, frozen=True):
    """The appearance of the text."""

    width: int
    color: bool = False
    statistics: str = ""
    folds: bool = True
    infos: bool = True
    fails: Mapping[str, tuple[str, ...]] = {}
    own: tuple[Entry, ...] = ()


def level_of(name: str) -> Severity:
    """Return a severity by its name."""
    found = next((one for one in SEVERITIES if one == name), None)
    if found is None:
        raise InputError(running.none("severity", name, SEVERITIES))
    return found


def is_faulty(events: Iterable[Event], fail_on: Severity) -> bool:
    """Whether there is a finding of at least this severity, or a rule crashed."""
    grave = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return any(
        isinstance(event, Crash) or (isinstance(event, Row) and event.finding.severity in grave)
        for event in events
    )


def text_of(events: Iterable[Event], fail_on: Severity, width: int) -> str:
    """Return the report for a terminal, crashes first, without a summary line.

    The summary of a test run shows the first line, so it names the cause of the failure.
    """
    drawn: list[str] = []
    sink = open_sink("text", drawn.append, Look(width, infos=fail_on == "info"))
    events = [event for event in events if not isinstance(event, Tally)]
    for event in sorted(events, key=lambda one: not isinstance(one, Crash)):
        sink.take(event)
    sink.finish(Tally(), complete=True)
    text = "".join(drawn[:-1]).rstrip("\n")
    infos = sum(isinstance(event, Row) and event.finding.severity == "info" for event in events)
    return (
        text
        if fail_on == "info" or not infos
        else f"{text}\n\n{pluralize(infos, 'info')} hidden: fail_on info shows them"
    )


def fault_of(transcript: object, options: Options, fail_on: Severity, width: int) -> str | None:
    """Return the report of a conversation in memory, or nothing if it is not faulty."""
    options = structs.replace(options, view=True)
    events = running.events(logs.written(plain.plain(transcript), options), options)
    if not is_faulty(events, fail_on):
        return None
    return text_of(map(_without_line, events), fail_on, width)


def _without_line(event: Event) -> Event:
    """Return a finding in an object: it has a pointer, and no line."""
    if not isinstance(event, Row):
        return event
    return structs.replace(event, place=structs.replace(event.place, line=0))
