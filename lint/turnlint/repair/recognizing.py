"""Check that a repaired record keeps its format, or that the repair holds in the format that the record gets.

A repair can add or remove the only feature of a format: `prefix` is evidence for Mistral, and an empty message of the
role `Chatbot` may be the only evidence for Cohere. The linter then applies other rules than the repair did.
"""

from msgspec import structs

from turnlint import carriers
from turnlint.carrying.carrier import Carrier
from turnlint.documents.source import Source
from turnlint.judging import Book
from turnlint.model import Record, Transcript
from turnlint.neighbours.spellings import suspected_in
from turnlint.reading import read
from turnlint.repair.choosing import Policy
from turnlint.repair.mending import Mended, mend
from turnlint.repair.sparing import Spared
from turnlint.repair.unit import Unit
from turnlint.repair.verifying import fault_of
from turnlint.sampling import format_of

UNKNOWN = "the format of the record would be unknown afterwards"


def format_fault_of(
    mended: Mended, book: Book, policy: Policy, spared: Spared, prefer: tuple[str, ...], log: str | None
) -> str | None:
    """Return why the format of a repaired record excludes the repair, if it does.

    `prefer` has the wires that the linter of the run prefers. `log` is the format in which the linter reads a record
    that shows no format.
    """
    unit, end = mended.start.unit, mended.end.unit
    if len(unit.cells) != 1 or len(end.cells) != 1 or unit.cells == end.cells:
        return None  # the log decides on the format of its lines
    likely = format_of(Record(1, 0, end.cells[0].data), prefer)
    if _is_of(unit.carrier, likely) and not any(suspected_in(one.transcript) for one in mended.end.judged):
        return None
    if not _is_of(unit.carrier, _format_alone(unit, prefer)):
        return None  # the record alone did not show the format either
    after = _format_alone(end, prefer)
    if after is None:
        has_messages = any(one.transcript.messages for one in mended.end.judged)
        return UNKNOWN if has_messages and log != unit.carrier.name else None
    if _is_of(unit.carrier, after):
        return None
    # The next pass repairs the record in its new format, so the result of that repair counts.
    further = mend(Unit(end.name, after, end.cells, end.gaps), book, policy, spared)
    changes = (*mended.changes, *further.changes)
    both = structs.replace(mended, end=further.end, changes=changes, settled=further.settled)
    reason = fault_of(both, "lossy")
    return f"{reason}, because the record would be in the format {after.name} afterwards" if reason else None


def _is_of(carrier: Carrier, found: Carrier | None) -> bool:
    return found is not None and found.name == carrier.name


def _format_alone(unit: Unit, prefer: tuple[str, ...]) -> Carrier | None:
    """Return the format in which the linter reads the record of a unit, if the record is a file of its own."""
    source = Source(unit.name, None, data=unit.cells[0].data)
    found = (one.wire.name for one in read(source, None, None, prefer) if isinstance(one, Transcript))
    wire = next(found, None)
    return carriers.of_wire(wire) if wire else None
