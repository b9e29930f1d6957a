"""Accept conversations of agents' sessions.

The scanner keeps the messages of lines natively, and returns the links between the lines. The format decides from the links
which lines are replayed together. The facts of these lines then decide whether a rule may report something.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from turnlint.carrying.carrier import Carrier
from turnlint.carrying.lines import lean
from turnlint.carrying.sessions import Entry, NativeLines, Replay, Sessions, read_messages
from turnlint.documents.gate import Ended, Scan, Span
from turnlint.documents.reread import read_lines, release
from turnlint.documents.source import Source
from turnlint.errors import SourceError
from turnlint.facts import are_linked
from turnlint.fastpath.facts_reader import MAX_DECISIONS, Around, FactsReader
from turnlint.fastpath.lines import CHANGED
from turnlint.fastpath.passed import Passed
from turnlint.ledger import ODD
from turnlint.model import Call, Record, Result, Transcript, Unread

if TYPE_CHECKING:
    from turnlint.judging import Book

MAX_SESSION_BYTES = 1 << 23
"""The bytes of a session that are kept for its facts. Later lines are read."""
MAX_READ_MESSAGES = 8
"""The messages of an abandoned part that are read. A report shows two of them."""
_FACTS = 2
"""The columns of a row without facts."""


class SessionCaches:
    """The native scanner of a format, and its decisions; the sources of a run share them."""

    def __init__(self, native: Any, lines: NativeLines, book: "Book") -> None:
        self.facts = FactsReader(native, lines.syntax)
        self.around = Around.of(book, Transcript(lines.wire, (), spread=True))
        self.decisions: dict[tuple[bytes, bool], bool] = {}
        self.user: SessionGate | None = None
        """The gate whose messages the native scanner keeps."""


def open_session_gate(
    native: Any, carrier: Carrier, reader: Sessions, book: "Book", source: Source, *, may_shorten: bool
) -> "SessionGate":
    """Return the scanner for the session of an agent.

    `may_shorten`: the caller needs only the first messages of abandoned parts.
    """
    assert reader.lines is not None
    key = carrier.name, "", False
    if key not in book.gate_caches:
        book.gate_caches[key] = SessionCaches(native, reader.lines, book)
    caches = book.gate_caches[key]
    return SessionGate(caches, reader.lines, carrier, reader, book, source, may_shorten=may_shorten)


class SessionGate:
    """A scanner for one session that can be read a second time."""

    decides_at_once = False

    def __init__(
        self,
        caches: SessionCaches,
        lines: NativeLines,
        carrier: Carrier,
        reader: Sessions,
        book: "Book",
        source: Source,
        *,
        may_shorten: bool,
    ) -> None:
        self.caches = caches
        self.facts = caches.facts
        self.native = caches.facts.scanner
        caches.user = self
        self.native.release()
        self.tables = caches.facts.decoder.tables
        self.entry_of = lines.entry_of
        self.columns = len(lines.syntax.columns)
        self.shape = carrier.shape
        self.reader = reader
        reader.scanner = self
        self.book = book
        self.source = source
        self.left = MAX_SESSION_BYTES
        self.may_shorten = may_shorten and book.may_shorten
        self.sums = Passed()

    @property
    def passed(self) -> Passed:
        if self.sums.conversations:
            self.sums.kinds[self.caches.around.kind] = self.sums.conversations
        return self.sums

    def scan(self, window: bytes, line: int, offset: int) -> Scan:
        scan = Scan()
        self.left -= len(window)
        is_kept = self.left >= 0
        rows = (
            self.native.scan_session(window, self.tables.line, self.tables.message, self.columns, True)
            if is_kept
            else _rows_of(window)
        )
        scan.lines = len(rows)
        scan.spans = self._spans(rows, line, offset)
        return scan

    def _spans(self, rows: list[Any], line: int, offset: int) -> Iterator[Span | Ended]:
        entry_of, add, kinds = self.entry_of, self.reader.add, self.tables.line_kinds
        for number, row in enumerate(rows):
            start, end = row[0], row[1]
            entry = None
            if len(row) > _FACTS:
                record = Record(line + number, offset + start, b"", (), 1, end - start)
                entry = entry_of(record, kinds[row[2]], *row[3:])
            if entry is None:
                yield Span(start, end, number, 0)
            else:
                add(entry)

    def accepts(self, replay: Replay, unread: Sequence[Entry], /) -> bool:
        if replay.dead or replay.misfits:
            return False
        if len(unread) < len(replay.entries) and any(one.said or one.misfits for one in replay.entries):
            return False
        if not are_linked((one.id, one.parent) for one in replay.linked):
            return False
        if changes_origin(unread) or splits_response(unread):
            return False
        row = self._join(unread)
        if row is None:
            return False
        facts, _, _, messages, calls, results, orphans, *_ = row
        if orphans or not self._is_sound(facts, headless=replay.headless):  # no provider keeps a session
            return False
        self.sums.add(messages, calls, results, 0)
        return True

    def _join(self, unread: Sequence[Entry]) -> Any:
        """Return the facts and counts of the conversation of some messages; none without facts."""
        if self.caches.user is not self:
            return None
        numbers = [~entry.unread if entry.hollow else entry.unread for entry in unread]
        row = self.native.join(numbers, self.tables.message)
        if row is not None:
            self.facts.note(row[0], row[8], row[9])
        return row

    def shorten(self, replay: Replay, unread: Sequence[Entry], /) -> Transcript | None:
        if not replay.dead or not self.may_shorten or len(unread) <= MAX_READ_MESSAGES:
            return None
        if len(unread) < len(replay.entries) and any(one.said or one.misfits for one in replay.entries):
            return None
        row = self._join(unread)
        if row is None or not self._is_paired(row[0]):
            return None
        _, _, _, messages, calls, results, *_ = row
        head = unread[:MAX_READ_MESSAGES]
        read_messages(self, head)
        found = structs.replace(replay, entries=head).read()
        if all(message.role == "system" for message in found.messages):
            return None
        blocks = [block for message in found.messages for block in message.blocks]
        calls -= sum(isinstance(block, Call) for block in blocks)
        results -= sum(isinstance(block, Result) for block in blocks)
        return structs.replace(found, unread=Unread(messages - len(found.messages), calls, results))

    def _is_paired(self, facts: bytes) -> bool:
        """Whether each call has its result, and each result its call."""
        if not self.facts.decoder.knows(facts):
            return False
        found = self.facts.decoder.decode(facts, self.caches.around.facts)
        return ODD.isdisjoint(found.triggers)

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

    def read(self, entries: Sequence[Entry], /) -> Iterator[tuple[Entry, Entry]]:
        unread = {entry.record.offset: entry for entry in entries}
        places = [(one.record.line, one.record.offset, one.record.size) for one in unread.values()]
        for found in read_lines(self.source, sorted(places)):
            entry = unread[found.offset]
            record = entry.record
            record.data = found.data
            decoded = self.shape.read(record, plain=True)
            fresh = None if decoded.troubles else self.reader.look(decoded)
            if fresh is None:  # the line was a record of this format when it was scanned
                raise SourceError(self.source.name, CHANGED)
            fresh.said = tuple(map(lean, fresh.said))
            release(record)
            yield entry, fresh


def changes_origin(unread: Sequence[Entry]) -> bool:
    """Whether messages of the assistant have different origins."""
    return len({entry.origin for entry in unread if entry.origin is not None}) > 1


def splits_response(unread: Sequence[Entry]) -> bool:
    """Whether calls of one response are in several messages, with results between them."""
    known: set[str] = set()
    last: str | None = None
    for entry in unread:
        if entry.results:
            last = None
        if entry.calls and entry.response is not None and entry.response != last:
            if entry.response in known:
                return True
            last = entry.response
            known.add(last)
    return False


def _rows_of(window: bytes) -> list[Any]:
    """Return the start and the end of each line of a window."""
    rows: list[Any] = []
    at = 0
    while at < len(window):
        end = window.find(b"\n", at)
        end = len(window) if end < 0 else end
        rows.append((at, end))
        at = end + 1
    return rows
