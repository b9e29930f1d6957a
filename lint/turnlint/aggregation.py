"""Merge equal findings of a file into one finding with a count."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec import structs

from turnlint.events import Tally
from turnlint.rows import PER_FILE, TIMES, Row

MAX_KEYS = 1000
"""Limit of distinct keys per file; findings beyond it are not merged."""
Key = tuple[str, str, str | None, str]
T = TypeVar("T")


def aggregate(events: Iterable[T]) -> Iterator[T | Row | Tally]:
    """Yield the events of a source with equal findings merged.

    A merged finding comes before the tally, which counts it once.
    """
    first: dict[Key, Row] = {}
    whole: Tally | None = None
    for event in events:
        if isinstance(event, Row) and event.finding.rule in PER_FILE:
            finding = event.finding
            key = finding.rule, finding.severity, finding.provider, finding.message
            if key in first:
                first[key] = structs.replace(first[key], count=first[key].count + 1)
            elif len(first) < MAX_KEYS:
                first[key] = event
            else:
                yield event
            continue
        if not isinstance(event, Tally):
            yield event
        elif whole is None:
            whole = event
        else:  # a file that is read in parts has a tally of each
            whole.add(event)
    yield from map(_told, first.values())
    if whole is not None:
        for row in first.values():
            whole.findings[row.finding.severity] -= row.count - 1
            whole.rules[row.finding.rule] -= row.count - 1
        yield whole


def _told(row: Row) -> Row:
    if row.count == 1:
        return row
    message = row.finding.message + TIMES.format(count=row.count)
    return structs.replace(row, finding=structs.replace(row.finding, message=message))
