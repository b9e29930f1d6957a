"""Accept conversations of a log that has one message on each line.

The scanner keeps only the place of a line that has a message, the name of its conversation and plain values. At the end
of a conversation it joins the lines to one request, whose facts decide.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct, json, structs

from turnlint.carrying.carrier import Carrier
from turnlint.carrying.envelope import GROUPS, OWN_IDS, Enveloped, text_of
from turnlint.carrying.lines import Lines, Open, Place
from turnlint.carrying.syntax import HAS_CONTENT, WireSyntax
from turnlint.documents.gate import Ended, Scan, Span
from turnlint.documents.reread import BlockReader, read_lines
from turnlint.documents.source import Source
from turnlint.errors import SourceError
from turnlint.fastpath.facts_reader import MAX_DECISIONS, Around, FactsReader
from turnlint.fastpath.passed import Passed
from turnlint.model import Record, Transcript, Wire

if TYPE_CHECKING:
    from turnlint.judging import Book

MAX_OTHER_KEYS = 16
_READ_KEYS = frozenset({*OWN_IDS, "model"})
"""Keys without an effect on a line that names no parent."""
_EVENT_KEYS = frozenset({"type"})
"""Keys of a message that make a line an event."""
CHANGED = "changed while it was read"
MAX_KEPT_BYTES = 1 << 21
"""The bytes of a log whose messages are kept for their facts. The bytes of later lines are read twice."""
_PLACES, _NUMBER, _FLAGS, _GROUP = 2, 3, 4, 7
"""The number of columns of a row without facts, and other columns of a row."""


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
        dialect = reader.spelling.dialect
        declared = {*dialect.envelope.__struct_encode_fields__, *GROUPS} - _READ_KEYS
        declared |= {*dialect.turn.__struct_encode_fields__} - own - _EVENT_KEYS - frozenset(OWN_IDS)
        others = tuple(key for key in keys if key not in own and key != group)
        needed = reader.spelling.dialect.turn_key
        is_readable = needed in keys and len(others) <= MAX_OTHER_KEYS and declared.isdisjoint(others)
        return cls(group, needed, others) if is_readable else None


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
    key = carrier.name, known
    if key not in book.gate_caches:
        events = dict.fromkeys(_EVENT_KEYS, "absent")
        keys = {**message.keys, **events, **dict.fromkeys(known.others, "scalar")}
        if known.group is not None:
            keys[known.group] = "number:group"
        shapes = {**syntax.shapes, "message": structs.replace(message, keys=keys)}
        wire_syntax = structs.replace(syntax, shapes=shapes, columns=("group",))
        book.gate_caches[key] = LineCaches(native, wire_syntax, reader.lines.wire, book)
    has_role = known.needed == "role"
    return LineGate(book.gate_caches[key], carrier, reader, book, source, needs_content=not has_role)


class LineCaches:
    """The native scanner for lines with some keys, and its decisions; the sources of a run share them."""

    def __init__(self, native: Any, syntax: WireSyntax, wire: Wire, book: "Book") -> None:
        self.facts = FactsReader(native, syntax)
        self.start = b'{"%b":[' % syntax.messages.encode()
        self.around = Around.of(book, Transcript(wire, (), spread=True))
        self.decisions: dict[tuple[bytes, bool], bool] = {}
        self.user: LineGate | None = None
        """The gate whose messages the native scanner keeps."""


class LineGate:
    """A scanner for one log that can be read a second time."""

    decides_at_once = False

    def __init__(
        self,
        caches: LineCaches,
        carrier: Carrier,
        reader: Enveloped,
        book: "Book",
        source: Source,
        *,
        needs_content: bool,
    ) -> None:
        self.caches = caches
        self.facts = caches.facts
        self.message = caches.facts.decoder.tables.message
        self.needs_content = needs_content
        """Whether only the content shows that a line is a message."""
        self.shape = carrier.shape
        self.reader = reader
        self.lines: Lines = reader.lines
        self.lines.scanner = self
        self.book = book
        self.source = source
        self.blocks = BlockReader(source)
        self.left = MAX_KEPT_BYTES
        self.numbers: dict[int, int] = {}
        """The numbers of the messages that the native scanner keeps, by the offset of the line."""
        caches.user = self
        self.facts.scanner.release()
        self.sums = Passed()

    @property
    def passed(self) -> Passed:
        if self.sums.conversations:
            self.sums.kinds[self.caches.around.kind] = self.sums.conversations
        return self.sums

    def scan(self, window: bytes, line: int, offset: int) -> Scan:
        self.left -= len(window)
        rows = self.facts.scanner.scan_session(window, -1, self.message, 1, self.left >= 0)
        return Scan(self._spans(rows, line, offset), len(rows))

    def _spans(self, rows: list[Any], line: int, offset: int) -> Iterator[Span | Ended]:
        lines, numbers = self.lines, self.numbers
        written: str | None = None
        conversation: Open | None = None  # of the last line; none where it may have been closed
        for number, row in enumerate(rows):
            start, end = row[0], row[1]
            if len(row) > _PLACES and not (self.needs_content and not row[_FLAGS] & HAS_CONTENT):
                if conversation is None or row[_GROUP] is not written:
                    written = row[_GROUP]
                    conversation = lines.reopen(text_of(Raw(b'"%b"' % written.encode())) if written else None)
                if not conversation.messages:
                    conversation.unread.append((line + number, offset + start, end - start))
                    lines.held += 1
                    if row[_NUMBER] >= 0:
                        numbers[offset + start] = row[_NUMBER]
                    if lines.held > lines.limit:
                        yield Ended([*lines.overflow()])
                        conversation = None
                    continue
            yield Span(start, end, number, 0)
            conversation = None

    def accepts(self, places: list[Place], /, *, headless: bool) -> bool:
        row = self._facts_of(places)
        if row is None:
            return False
        facts, _, _, messages, calls, results, orphans, _, keys, servers = row
        self.facts.note(facts, keys, servers)
        is_sound = self._is_sound(facts, headless=headless)
        if is_sound:
            self.sums.add(messages, calls, results, orphans)
        return is_sound

    def _facts_of(self, places: list[Place]) -> Any:
        """Return the facts and counts of a conversation; none without facts."""
        if places[-1][1] in self.numbers and self.caches.user is self:
            numbers = [self.numbers.pop(offset) for _, offset, _ in places]
            return self.facts.scanner.join(numbers, self.message)
        if sum([size + 1 for _, _, size in places]) >= self.facts.max_line_bytes:
            return None
        row, *others = self.facts.scan(b"%b%b]}" % (self.caches.start, self._joined(places)))
        return None if others or row[0] is None else row

    def _joined(self, places: list[Place]) -> bytes:
        """Return lines with commas between them."""
        start, (_, last, size) = places[0][1], places[-1]
        end = last + size
        if end - start == sum(size + 1 for _, _, size in places) - 1:  # JSON has no line end inside a text
            return self.blocks.read(start, end - start).replace(b"\n", b",")
        return b",".join(self.blocks.read(start, size) for _, start, size in places)

    def _is_sound(self, facts: bytes, *, headless: bool) -> bool:
        """Whether no rule may report something about a conversation with these facts."""
        key, decisions = (facts, headless), self.caches.decisions
        if key not in decisions:
            if len(decisions) >= MAX_DECISIONS:
                decisions.clear()
            around = self.caches.around
            concerns = self.facts.concerns(facts, around.headless if headless else around)
            decisions[key] = concerns is not None and not self.book.may_report(concerns)
        return decisions[key]

    def read(self, key: str | None, places: list[Place], /) -> Open | None:
        apart = Lines(self.lines.wire, held=len(places))
        for record in read_lines(self.source, places):
            decoded = self.shape.read(record)
            if decoded.troubles:  # the line was plain when it was scanned
                raise SourceError(self.source.name, CHANGED)
            self.reader.spelling.read(decoded, lambda: apart)
        return apart.open.get(key)
