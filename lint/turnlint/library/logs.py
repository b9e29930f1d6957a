"""Encode a conversation in memory as the bytes of a file.

A list is either the messages of one conversation, or the lines of a log, such as the events of a session.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from msgspec import Struct, structs

from turnlint import carriers
from turnlint.engine import Event, Options
from turnlint.library.plain import Plain, text_of
from turnlint.model import Record
from turnlint.rows import Place, Row
from turnlint.sampling import SAMPLE


class Written(Struct, frozen=True):
    """The encoded input."""

    data: bytes
    lines: bool = False
    """Whether each item of a list is a record of its own, on a line of its own."""

    def pointer(self, line: int, below: str) -> str:
        """Convert a JSON Pointer into a record to one into the input."""
        return f"/{line - 1}{below}" if self.lines else below

    def placed(self, event: Event) -> Event:
        """Return an event whose positions are in the input."""
        if not self.lines or not isinstance(event, Row):
            return event
        related = tuple((note, self._place(there)) for note, there in event.related)
        return structs.replace(event, place=self._place(event.place), related=related)

    def _place(self, place: Place) -> Place:
        return structs.replace(place, pointer=self.pointer(place.line, place.pointer))


def written(given: Plain, options: Options) -> Written:
    whole = text_of(given)
    if not isinstance(given.value, list) or not _may_be_log(given.value):
        return Written(whole)
    lines = [text_of(structs.replace(given, value=one)) for one in given.value]
    return Written(b"\n".join(lines), lines=True) if _is_log(lines, whole, options) else Written(whole)


def _may_be_log(items: Sequence[Any]) -> bool:
    """Whether a list can be a log. Most lists begin with an item that can only be a message."""
    if not items or not all(isinstance(one, dict) for one in items):
        return False
    return all(items[0].keys().isdisjoint(carriers.carrier(name).message_keys) for name in carriers.NAMES)


def _is_log(lines: list[bytes], whole: bytes, options: Options) -> bool:
    """Whether the items match a session, or a format that the list as one record does not match."""
    if options.format:
        return carriers.carrier(options.format).session
    found, decided = carriers.best_for(Record(1, 0, line) for line in islice(lines, SAMPLE))
    if found is None:
        return False
    return (decided and found.session) or carriers.best_for([Record(1, 0, whole)])[0] is None
