"""Logs of which every line is one message, each with the name of its conversation.

This module owns the taking apart of such a line and what is known of a conversation that seems sound so far: where
its messages stand, and which calls wait for a result. A line that may hold anything else is read, and with it all
that its conversation said before. It refuses to know a wire.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from msgspec import UNSET, Meta, Raw, UnsetType, defstruct, json

from turnlint.carrying.carrier import Carrier
from turnlint.carrying.envelope import GROUPS, OWN_IDS, Enveloped
from turnlint.carrying.lines import Lines, Open, Unread
from turnlint.case import Case
from turnlint.documents.gate import Ended, Scan, Span
from turnlint.documents.source import Source, SourceError, open_source
from turnlint.ledger import Ledger
from turnlint.model import Record, Transcript
from turnlint.scan.outline import Failed, compact, encode, is_utf8
from turnlint.scan.requests import LONGEST, Choose, Wire
from turnlint.scan.seam import Passed
from turnlint.scan.terms import terms_of

_NO_PAIRS = Ledger((), (), (), tidy=True)
_LONGEST_NAME = 60
_MOST_KEYS = 16
_KEPT = frozenset({*OWN_IDS, "model"})
"""Keys that are read and mean nothing here: without the names of parents, no message's own is looked at."""
_Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Plain = str | _Number | float | bool | None | UnsetType


class Talks:
    """A scanner for one log that can be read a second time."""

    def __init__(
        self, wire: Wire, carrier: Carrier, reader: Enveloped, choose: Choose, first: Record, source: Source
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
        self.decode = self._decoder(first.data) if self.terms and not self.terms.needs else None
        if self.decode:
            self.lines.read = self._read
            self.lines.is_sound = self._is_sound

    def _decoder(self, data: bytes) -> Callable[[bytes], Any] | None:
        """For lines with the keys of the first one, if their meaning is known here."""
        try:
            keys = list(json.decode(data, type=dict[str, Raw]))
        except Failed:
            return None
        named = next((name for name in GROUPS if name in keys), None)
        own = set(self.wire.message.__struct_encode_fields__)
        declared = {*self.reader.spelling.dialect.envelope.__struct_encode_fields__, *own}
        spare = [key for key in keys if key not in own and key != named]
        if len(spare) > _MOST_KEYS or any(key in declared and key not in _KEPT for key in spare):
            return None
        if "role" not in keys or not all(key.isidentifier() for key in spare):
            return None
        fields: list[Any] = [(f"k{number}", _Plain, UNSET) for number, _ in enumerate(spare)]
        renamed = {f"k{number}": key for number, key in enumerate(spare)}
        if named:
            fields.append(("name_of_talk", Annotated[str, Meta(min_length=1, max_length=_LONGEST_NAME)]))
            renamed["name_of_talk"] = named
        else:
            fields.append(("name_of_talk", None | UnsetType, UNSET))
            renamed["name_of_talk"] = "name of talk"
        line = defstruct(
            "Line",
            fields,
            bases=(self.wire.message,),
            rename=renamed,
            omit_defaults=True,
            gc=False,
            kw_only=True,
        )
        return json.Decoder(line).decode

    @property
    def passed(self) -> Passed:
        if self.count:
            self.sums.kinds[self.kind] = self.count
        return self.sums

    def scan(self, window: bytes, line: int, offset: int) -> Scan:
        scan = Scan()
        scan.spans = self._spans(window, line, offset, scan)
        return scan

    def _spans(self, window: bytes, line: int, offset: int, scan: Scan) -> Iterator[Span | Ended]:
        size = len(window)
        at = number = 0
        find, lines, take = window.find, self.lines, self._take
        while at < size:
            end = find(b"\n", at)
            end = size if end < 0 else end
            if take(window[at:end], line + number, offset + at):
                if lines.held > lines.limit:
                    yield Ended([*lines.overflow()])
            else:
                yield Span(at, end, number, 0)
            number += 1
            at = end + 1
        scan.lines = number

    def _take(self, text: bytes, line: int, offset: int) -> bool:
        """Add a message to its conversation without reading it, if that can be done."""
        if (
            len(text) >= LONGEST
            or text[-1:] == b"\r"
            or not (text.isascii() or is_utf8(text))
            or not self.decode
            or not self.terms
        ):
            return False
        try:
            short = compact(text)
            message = self.decode(short)
        except Failed:
            return False
        if len(encode(message)) != len(short):
            return False
        lines = self.lines
        key = message.name_of_talk
        key = None if key is UNSET else key
        known = lines.open.get(key)
        if known is None:
            if key in lines.closed:
                return False
            unread = Unread()
        elif known.unread is None:
            return False
        else:
            unread = known.unread
        if not self.wire.follows(message, unread, self.terms):
            return False
        if known is None:
            lines.open[key] = Open(unread=unread)
        else:
            lines.reopen(key)
        unread.places.append((line, offset, len(text)))
        lines.held += 1
        return True

    def _is_sound(self, conversation: Open) -> bool:
        unread = conversation.unread
        assert unread
        assert self.terms
        count = len(unread.places)
        if unread.waiting or count > self.terms.most_messages:
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
        for record in _records(self.source, unread.places):
            self.reader.spelling.read(self.shape.read(record), apart)
        found = apart.open.get(key)
        self.lines.held -= len(unread.places)
        if found:
            conversation.messages, conversation.misfits = found.messages, found.misfits
            conversation.identity = found.identity
            self.lines.held += len(found.messages)


def _records(source: Source, places: list[tuple[int, int, int]]) -> Iterator[Record]:
    try:
        with open_source(source) as stream:
            for line, offset, size in places:
                stream.seek(offset)
                yield Record(line, offset, stream.read(size))
    except (OSError, SourceError):
        return
