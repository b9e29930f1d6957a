"""Logs of which every line is one message, each with the name of its conversation.

This module owns the taking apart of such a line and what is known of a conversation that seems sound so far: where
its messages stand, and which calls wait for a result. A line that may hold anything else is read, and with it all
that its conversation said before. It refuses to know a wire.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Raw, Struct, json

from turnlint.carrying.carrier import Carrier
from turnlint.carrying.envelope import GROUPS, OWN_IDS, Enveloped
from turnlint.carrying.lines import Lines, Open
from turnlint.case import Case
from turnlint.documents.gate import Ended, Scan, Span
from turnlint.documents.source import Source, open_source
from turnlint.errors import SourceError
from turnlint.ledger import Ledger
from turnlint.model import Record, Transcript
from turnlint.scan.seam import Passed
from turnlint.scan.terms import Terms, terms_of
from turnlint.scan.wires import Choose, Wire

_NO_PAIRS = Ledger((), (), (), tidy=True)
_MOST_KEYS = 16
_GAP, _BLOCK = 1 << 12, 1 << 20
"""Lines so near to each other are read at once, up to so many bytes."""
_KEPT = frozenset({*OWN_IDS, "model"})
"""Keys that are read and mean nothing here: without the names of parents, no message's own is looked at."""


class Keys(Struct, frozen=True):
    """The keys of a line beside those of its message."""

    spare: tuple[str, ...]
    group: str | None
    """The key that names the conversation, if there is one."""


class Take(Protocol):
    """Takes lines, and tells which it did not take."""

    def spans(self, window: bytes, line: int, offset: int, scan: Scan, /) -> Iterator[Span | Ended]: ...


class Talks:
    """A scanner for one log that can be read a second time."""

    def __init__(
        self, wire: Wire, carrier: Carrier, reader: Enveloped, choose: Choose, source: Source
    ) -> None:
        self.wire = wire
        self.reader = reader
        self.lines: Lines = reader.lines
        self.shape = carrier.shape
        self.source = source
        self.sums = Passed()
        self.count = 0
        bare = Transcript(self.lines.wire, ())
        chosen = choose(bare)
        self.kind = bare.wire.speaks, chosen
        cases = [Case(bare, _NO_PAIRS, one.profile, one.certain, one.named) for one in chosen]
        self.terms = terms_of(cases, wire.roles, wire.shapes)
        self.take: Take | None = None
        """Nobody, where the lines of this log have to be read."""

    def start(self, first: Record, take: Callable[[Wire, Terms, Keys, Lines], "Take"]) -> bool:
        """Make ready for lines like the first one, if they can be taken unread."""
        keys = self._keys(first.data)
        if keys is None or not self.terms or self.terms.needs:
            return False
        self.take = take(self.wire, self.terms, keys, self.lines)
        self.lines.read = self._read
        self.lines.is_sound = self._is_sound
        return True

    def _keys(self, data: bytes) -> Keys | None:
        """Those of the first line beside the message's own, if their meaning is known here."""
        try:
            keys = list(json.decode(data, type=dict[str, Raw]))
        except (ValueError, RecursionError):
            return None
        named = next((name for name in GROUPS if name in keys), None)
        own = set(self.wire.keys)
        declared = {*self.reader.spelling.dialect.envelope.__struct_encode_fields__, *own}
        spare = [key for key in keys if key not in own and key != named]
        if len(spare) > _MOST_KEYS or any(key in declared and key not in _KEPT for key in spare):
            return None
        if "role" not in keys or not all(key.isidentifier() for key in spare):
            return None
        return Keys(tuple(spare), named)

    @property
    def passed(self) -> Passed:
        if self.count:
            self.sums.kinds[self.kind] = self.count
        return self.sums

    def scan(self, window: bytes, line: int, offset: int) -> Scan:
        scan = Scan()
        if self.take is not None:
            scan.spans = self.take.spans(window, line, offset, scan)
        return scan

    def _is_sound(self, conversation: Open) -> bool:
        unread = conversation.unread
        assert unread
        count = unread.count
        if not unread.is_whole():
            return False
        passed = self.sums
        passed.conversations += 1
        passed.messages += count
        passed.calls += unread.calls
        passed.results += unread.calls
        self.count += 1
        return True

    def _read(self, key: str | None, conversation: Open) -> None:
        """Read what a conversation said so far as any line is read, because it does not seem sound any more."""
        unread = conversation.unread
        assert unread
        conversation.unread = None
        apart = Lines(self.lines.wire, held=len(unread.places))
        for record in records_at(self.source, unread.places):
            self.reader.spelling.read(self.shape.read(record), lambda: apart)
        found = apart.open.get(key)
        self.lines.held -= len(unread.places)
        if found:
            conversation.messages, conversation.misfits = found.messages, found.misfits
            conversation.identity = found.identity
            self.lines.held += len(found.messages)


def records_at(source: Source, places: list[tuple[int, int, int]]) -> Iterator[Record]:
    """Lines that were only looked at. Raises `SourceError` where they cannot be read any more."""
    try:
        with open_source(source) as stream:
            for start, end, group in _near(places):
                stream.seek(start)
                block = stream.read(end - start)
                for line, offset, size in group:
                    yield Record(line, offset, block[offset - start : offset - start + size])
    except OSError as error:
        raise SourceError(source.name, (error.strerror or "cannot be read").lower()) from None


def _near(places: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, list[tuple[int, int, int]]]]:
    """Places that are read at once: from where, to where, and which."""
    start = end = 0
    group: list[tuple[int, int, int]] = []
    for place in places:
        _, offset, size = place
        if group and not (end <= offset <= end + _GAP and offset + size - start <= _BLOCK):
            yield start, end, group
            group = []
        if not group:
            start = offset
        group.append(place)
        end = offset + size
    if group:
        yield start, end, group
