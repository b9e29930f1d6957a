"""Which spans of a window have to be read at all?

This package owns the first look at a log: whole windows go in, the spans of those lines come out that may have
something to say. It never says what is wrong: whatever it does not vouch for is read, paired and judged as if it
had not been here. So there is one definition of every fault, and a test holds the two ways to each other. It
refuses to know files, and reports.

The seam is `Scanner.scan`. What stands behind it may be anything that keeps its promise.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from turnlint import compiled
from turnlint.carrying.carrier import Carrier, Reader
from turnlint.carrying.envelope import Enveloped
from turnlint.documents.source import Source, packing_of
from turnlint.model import Record

if TYPE_CHECKING:
    from turnlint.scan.around import Choose
    from turnlint.scan.seam import Counting


def scanner_for(
    carrier: Carrier,
    reader: Reader,
    records: Sequence[Record],
    choose: "Choose",
    source: Source,
    *,
    told: bool = False,
) -> "Counting | None":
    """Who looks at a log of this format first, where anybody does. The records are its first.

    `told`: the user names the format, so that no record is another's.
    """
    if carrier.session:
        return _for_sessions(carrier, reader, choose, source)
    if carrier.name == "openai-chat":
        from turnlint.scan.chat import WIRE
    elif carrier.name == "anthropic":
        from turnlint.scan.blocks import WIRE
    else:
        return None
    native = compiled.load()
    if not records or b'"messages"' in records[0].data or not isinstance(reader, Enveloped):
        if native is not None:
            from turnlint.scan.native import NativeRequests

            return NativeRequests(native, WIRE, carrier, choose, told=told)
        from turnlint.scan.requests import Requests

        return Requests(WIRE, carrier, choose, records, told=told)
    if not _can_be_read_again(source):
        return None
    from turnlint.scan.talks import Talks

    talks = Talks(WIRE, carrier, reader, choose, source)
    if native is not None:
        from turnlint.scan.native import takes

        return talks if talks.start(records[0], takes(native, carrier.name)) else None
    from turnlint.scan.lean import Lean

    return talks if talks.start(records[0], Lean) else None


def _can_be_read_again(source: Source) -> bool:
    return source.again and not source.part and packing_of(source) is None


def _for_sessions(carrier: Carrier, reader: Reader, choose: "Choose", source: Source) -> "Counting | None":
    """An agent's own log is looked at in C alone."""
    plain, native = getattr(reader, "plain", None), compiled.load()
    if plain is None or native is None or not _can_be_read_again(source):
        return None
    from turnlint.carrying.sessions import Sessions
    from turnlint.scan.sessions import Unheard

    assert isinstance(reader, Sessions)
    found = Unheard(native, plain, carrier, reader, choose, source)
    return found if found.seen else None
