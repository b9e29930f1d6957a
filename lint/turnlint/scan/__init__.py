"""Choose the native scanner for a log: it accepts the lines that concern no rule, and names those to read.

Requests go through `turnlint.fastpath`. Logs of one message a line and sessions of agents have scanners of their own.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from turnlint import compiled
from turnlint.carrying.carrier import Carrier, Reader
from turnlint.carrying.envelope import Enveloped
from turnlint.documents.source import Source, packing_of
from turnlint.model import Record

if TYPE_CHECKING:
    from turnlint.judging import Book
    from turnlint.scan.seam import Counting
    from turnlint.scan.wires import Choose


def scanner_for(
    carrier: Carrier,
    reader: Reader,
    records: Sequence[Record],
    book: "Book",
    source: Source,
    *,
    told: bool = False,
) -> "Counting | None":
    """Choose the scanner for a log of this format, whose first records are these.

    `told`: the user names the format, so that each record is of it.
    """
    native = compiled.load()
    if native is None:
        return None
    if carrier.session:
        return _for_sessions(native, carrier, reader, book.chosen, source)
    syntax = carrier.syntax
    if syntax is None:
        return None
    if (
        not records
        or b'"%b"' % syntax.messages.encode() in records[0].data
        or not isinstance(reader, Enveloped)
    ):
        from turnlint.fastpath.gate import FactGate

        return FactGate(native, carrier, book, told=told)
    from turnlint.scan.wires import WIRES

    wire = WIRES.get(carrier.name)
    if wire is None or not _can_be_read_again(source):
        return None
    from turnlint.scan.native import takes
    from turnlint.scan.talks import Talks

    talks = Talks(wire, carrier, reader, book.chosen, source)
    return talks if talks.start(records[0], takes(native, carrier.name)) else None


def _can_be_read_again(source: Source) -> bool:
    return source.again and not source.part and packing_of(source) is None


def _for_sessions(
    native: ModuleType, carrier: Carrier, reader: Reader, choose: "Choose", source: Source
) -> "Counting | None":
    """Choose the scanner for the log of an agent."""
    plain = getattr(reader, "plain", None)
    if plain is None or not _can_be_read_again(source):
        return None
    from turnlint.carrying.sessions import Sessions
    from turnlint.scan.sessions import Unheard

    assert isinstance(reader, Sessions)
    found = Unheard(native, plain, carrier, reader, choose, source)
    return found if found.seen else None
