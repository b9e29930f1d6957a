"""Convert locations to a line and a JSON Pointer.

A record that was released is read again, and no record is kept.
"""

from collections.abc import Sequence

from turnlint.documents.reread import reread
from turnlint.documents.source import Source
from turnlint.inspecting.facts import Place
from turnlint.model import Location
from turnlint.placing import Placer


def placed(locations: Sequence[Location]) -> list[Place]:
    """Return the places of locations whose records are in memory."""
    places = Placer(locations)
    return [Place(place.line, place.pointer) for place in map(places.__getitem__, locations)]


def is_gone(location: Location) -> bool:
    return not location.record.data and location.record.size > 0


def placed_later(source: Source, first: dict[str, Place | Location]) -> dict[str, Place]:
    """Return the places of all locations; records that were released are read again."""
    told = {name: one for name, one in first.items() if isinstance(one, Place)}
    gone = [(name, one) for name, one in first.items() if isinstance(one, Location)]
    if gone:
        for group in reread(source, gone, lambda one: (one[1].record,)):
            told |= zip((name for name, _ in group), placed([one for _, one in group]), strict=True)
    return told
