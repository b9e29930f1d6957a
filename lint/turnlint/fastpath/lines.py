"""Accept conversations of a log that has one message on each line.

The scanner keeps only the place of a line that has a message, the name of its conversation and plain values. At the end
of a conversation it joins the lines to one request, whose facts decide.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct, defstruct, json, structs

from turnlint.carrying.carrier import Carrier
from turnlint.carrying.envelope import GROUPS, OWN_IDS, Enveloped, text_of
from turnlint.carrying.lines import Lines, Open, Place
from turnlint.carrying.raws import NOTHING
from turnlint.documents.gate import Ended, Scan, Span
from turnlint.documents.reread import read_lines
from turnlint.documents.source import Source
from turnlint.errors import SourceError
from turnlint.fastpath.facts_reader import MAX_DECISIONS, Around, FactsReader
from turnlint.fastpath.passed import Passed
from turnlint.model import Record, Transcript

if TYPE_CHECKING:
    from turnlint.judging import Book

MAX_OTHER_KEYS = 16
_READ_KEYS = frozenset({*OWN_IDS, "model"})
"""Keys without an effect on a line that names no parent."""
_EVENT_KEYS = frozenset({"type"})
"""Keys of a message that make a line an event."""
CHANGED = "changed while it was read"
Plain = str | int | float | bool | None


class _LineKeys(Struct, frozen=True):
    """The keys of the lines of a log, beside those of a message."""

    group: str | None
    """The key that names the conversation."""
    needed: str
    """The key that each message has."""
    others: tuple[str, ...]

    @classmethod
    def of(cls, first: Record, reader: Enveloped, own: frozenset[str]) -> "_LineKeys | None":
        """Return the keys of the first line, if none of them has a meaning for the reader of the format."""
        try:
            keys = json.decode(first.data, type=dict[str, Raw]).keys()
        except (ValueError, RecursionError):
            return None
        group = next((name for name in GROUPS if name in keys), None)
        declared = {*reader.spelling.dialect.envelope.__struct_encode_fields__, *GROUPS} - _READ_KEYS
        others = tuple(key for key in keys if key not in own and key != group)
        needed = reader.spelling.dialect.turn_key
        is_readable = needed in keys and len(others) <= MAX_OTHER_KEYS and declared.isdisjoint(others)
        return cls(group, needed, others) if is_readable else None

    def decoder(self, own: frozenset[str]) -> "json.Decoder[Any]":
        """Return a decoder for lines with these keys and those of a message, and with no other key."""
        kinds = [*((key, Raw) for key in sorted(own - {self.needed})), *((key, Plain) for key in self.others)]
        fields: list[Any] = [
            ("needed", Raw),
            ("group", Raw, NOTHING),
            *((f"f{n}", kind, None) for n, (_, kind) in enumerate(kinds)),
        ]
        words = {f"f{n}": key for n, (key, _) in enumerate(kinds)}
        words |= {"needed": self.needed, "group": self.group or ""}
        return json.Decoder(defstruct("Line", fields, rename=words, forbid_unknown_fields=True, gc=False))


def open_line_gate(
    native: Any, carrier: Carrier, reader: Enveloped, book: "Book", source: Source, first: Record
) -> "LineGate | None":
    """Return the scanner for a log whose first line is a message of this format."""
    syntax = carrier.syntax
    message = None if syntax is None else syntax.shapes["message"]
    if syntax is None or message is None or message.kinds or () not in reader.spelling.dialect.lines:
        return None
    own = frozenset(message.keys) - _EVENT_KEYS
    known = _LineKeys.of(first, reader, own)
    if known is None:
        return None
    keys = {**dict.fromkeys(known.others, "skip"), **message.keys}
    if known.group is not None:
        keys[known.group] = "skip"
    shapes = {**syntax.shapes, "message": structs.replace(message, keys=keys)}
    facts = FactsReader(native, structs.replace(syntax, shapes=shapes))
    start = b'{"%b":[' % syntax.messages.encode()
    return LineGate(facts, start, carrier, reader, book, source, known.decoder(own), native.is_plain)


class LineGate:
    """A scanner for one log that can be read a second time."""

    decides_at_once = False

    def __init__(
        self,
        facts: FactsReader,
        start: bytes,
        carrier: Carrier,
        reader: Enveloped,
        book: "Book",
        source: Source,
        decoder: "json.Decoder[Any]",
        is_plain: Callable[[bytes], bool],
    ) -> None:
        self.facts = facts
        self.start = start
        self.shape = carrier.shape
        self.reader = reader
        self.lines: Lines = reader.lines
        self.lines.scanner = self
        self.book = book
        self.source = source
        self.decode = decoder.decode
        self.is_plain = is_plain
        self.around = Around.of(book, Transcript(self.lines.wire, (), spread=True))
        self.decisions: dict[tuple[bytes, bool], bool] = {}
        self.sums = Passed()

    @property
    def passed(self) -> Passed:
        if self.sums.conversations:
            self.sums.kinds[self.around.kind] = self.sums.conversations
        return self.sums

    def scan(self, window: bytes, line: int, offset: int) -> Scan:
        scan = Scan()
        scan.spans = self._spans(window, line, offset, scan)
        return scan

    def _spans(self, window: bytes, line: int, offset: int, scan: Scan) -> Iterator[Span | Ended]:
        at = number = 0
        while at < len(window):
            end = window.find(b"\n", at)
            if end < 0:
                end = len(window)
            if not self._is_added(window[at:end], (line + number, offset + at, end - at)):
                yield Span(at, end, number, 0)
            elif self.lines.held > self.lines.limit:
                yield Ended([*self.lines.overflow()])
            number, at = number + 1, end + 1
        scan.lines = number

    def _is_added(self, line: bytes, place: Place) -> bool:
        """Add a line to its conversation unread, if it is a plain message. Return whether it is."""
        # `read` has no way to report damage, so each kept line must be free of it.
        if len(line) >= self.facts.max_line_bytes or not self.is_plain(line):
            return False
        try:
            key = text_of(self.decode(line).group)
        except (ValueError, RecursionError):
            return False
        return self.lines.add_unread(key, place)

    def accepts(self, places: list[Place], /, *, headless: bool) -> bool:
        if sum(size + 1 for _, _, size in places) >= self.facts.max_line_bytes:
            return False
        lines = b",".join(record.data for record in read_lines(self.source, places))
        ((facts, *row), *others) = self.facts.scan(b"%b%b]}" % (self.start, lines))
        if facts is None or others:
            return False
        _, _, messages, calls, results, orphans, _, keys, servers = row
        self.facts.note(facts, keys, servers)
        is_sound = self._is_sound(facts, headless=headless)
        if is_sound:
            self.sums.add(messages, calls, results, orphans)
        return is_sound

    def _is_sound(self, facts: bytes, *, headless: bool) -> bool:
        """Whether no rule may report something about a conversation with these facts."""
        key = facts, headless
        if key not in self.decisions:
            if len(self.decisions) >= MAX_DECISIONS:
                self.decisions.clear()
            concerns = self.facts.concerns(facts, self.around.headless if headless else self.around)
            self.decisions[key] = concerns is not None and not self.book.may_report(concerns)
        return self.decisions[key]

    def read(self, key: str | None, places: list[Place], /) -> Open | None:
        apart = Lines(self.lines.wire, held=len(places))
        for record in read_lines(self.source, places):
            decoded = self.shape.read(record)
            if decoded.troubles:  # the line was plain when it was scanned
                raise SourceError(self.source.name, CHANGED)
            self.reader.spelling.read(decoded, lambda: apart)
        return apart.open.get(key)
