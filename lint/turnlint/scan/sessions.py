"""Logs that an agent keeps of its sessions, taken without reading them.

This module owns what becomes of such a log at its end, when it is known which of its threads are sound: one that is
not is read, with all that belongs to it, as if nobody had looked. It refuses to know how an agent spells a line, and
what hangs on what.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from turnlint.carrying.carrier import Carrier, Stray, Vouched
from turnlint.carrying.sessions import Entry, Sessions, Thread
from turnlint.case import Case
from turnlint.documents.gate import Scan, Span
from turnlint.documents.source import Source
from turnlint.errors import SourceError
from turnlint.ledger import Ledger
from turnlint.model import Record, Transcript, Wire
from turnlint.scan.native import bounds_of
from turnlint.scan.seam import Passed
from turnlint.scan.talks import records_at
from turnlint.scan.terms import Shapes, Terms, terms_of
from turnlint.scan.wires import Choose

ROLES = frozenset({"user", "assistant", "system", "developer", "tool"})
LAX = frozenset({"media", "list-result", "shown-result", "cache", "thought", "odd-thought", "keys", "apart"})
SHAPES = {"claude-code": Shapes(arguments="object", result="tool_result", alone=True, keys={}, lax=LAX)}
"""How requests are written that are built from a session, where that can be held against a provider's clauses."""
CHANGED = "changed while it was read"
_NO_PAIRS = Ledger((), (), (), tidy=True)


class _Told(Struct):
    """What there is of one thread."""

    start: int
    seen: Any = None
    """As the native scanner has it; nothing where each of its lines was read at once."""
    lost: bool = True
    entries: list[Entry] = []


class Unheard:
    """A scanner for one log that can be read a second time."""

    def __init__(
        self, native: Any, wire: Wire, carrier: Carrier, reader: Sessions, choose: Choose, source: Source
    ) -> None:
        self.carrier = carrier
        self.reader = reader
        self.source = source
        bare = Transcript(wire, ())
        chosen = choose(bare)
        self.kind = wire.speaks, chosen
        held = [one for one in chosen if one.judges(bare)]
        cases = [Case(bare, _NO_PAIRS, one.profile, one.certain, one.named) for one in held]
        shapes = SHAPES.get(carrier.name)
        terms = (shapes and terms_of(cases, ROLES, shapes)) if cases else Terms(ROLES, lax=set(LAX))
        self.seen: Any = terms and native.Sessions(carrier.name, bounds_of(native, terms))
        """Nothing where a provider asks what cannot be told of a line at a time."""
        self.sums = Passed()
        self.unread = 0
        if self.seen:
            reader.unread = self

    @property
    def passed(self) -> Passed:
        if self.sums.conversations:
            self.sums.kinds[self.kind] = self.sums.conversations
        return self.sums

    @property
    def skipped(self) -> int:
        """Lines of the format's own bookkeeping that were not read: those that are in no thread."""
        if not self.seen:
            return 0
        threads: int = sum(one.records for one in self.seen.threads.values())
        return self.unread - threads

    def scan(self, window: bytes, line: int, offset: int) -> Scan:
        spans, lines = self.seen.scan(window, line, offset)
        self.unread += lines - len(spans)
        return Scan([Span(start, end, number, 0) for start, end, number in spans], lines)

    def settle(self, read: Sequence[Entry]) -> Iterator[Transcript | Stray]:
        """The conversations of the log: those that are sound are only counted."""
        threads = self._threads(read)
        loose = [entry for entry in read if entry.thread is None]
        for told in threads.values():
            if told.lost and told.seen is not None:
                told.entries = _in_order([*told.entries, *self._entries(told.seen.places)])
        if self._is_tangled(threads, read):
            places = (place for told in threads.values() if not told.lost for place in told.seen.places)
            lost = (entry for told in threads.values() for entry in told.entries)
            yield from self.reader.settle(_in_order([*loose, *lost, *self._entries(places)]))
            return
        pointing: dict[str | None, list[Entry]] = {}
        for entry in loose:
            pointing.setdefault(entry.parent, []).append(entry)
        pointing.pop(None, None)  # what names no other line is for nobody
        for told in _as_begun(threads):
            if told.lost:
                near = (one for entry in told.entries for one in pointing.get(entry.id, ()))
                yield from self.reader.settle(_in_order([*near, *told.entries]))
            else:
                self._count(told.seen)
                yield Vouched(Record(1, 0, b""), None, expected=True)

    def _threads(self, read: Iterable[Entry]) -> dict[Thread, _Told]:
        threads: dict[Thread, _Told] = {}
        for (session, agent), seen in self.seen.threads.items():
            name = session.decode(), agent.decode()
            threads[name] = _Told(seen.start, seen, lost=not seen.is_sound())
        for entry in read:
            thread = entry.thread
            if thread is not None:
                start = entry.record.offset
                told = threads.setdefault(thread, _Told(start))
                told.start = min(told.start, start)
                told.lost = True
                told.entries.append(entry)
        return threads

    def _entries(self, places: Iterable[tuple[int, int, int]]) -> Iterator[Entry]:
        """Lines that were not read, read now. That each is plain is known since they were looked at.

        Raises `SourceError` where one cannot be what was looked at.
        """
        apart = self.reader.apart()
        for record in records_at(self.source, list(places)):
            try:
                decoded = self.carrier.shape.read(record, plain=True)
                apart.feed(decoded)
            except (ValueError, RecursionError):
                raise SourceError(self.source.name, CHANGED) from None
            if decoded.troubles:
                raise SourceError(self.source.name, CHANGED)
        yield from apart.entries

    def _is_tangled(self, threads: dict[Thread, _Told], read: Sequence[Entry]) -> bool:
        """Whether a thread can perhaps not be told from others: an id is there twice, or one goes on from another."""
        if self.seen.tangled or any(agent is None for _, agent in threads):
            return True
        late = [entry.id for entry in read if entry.id is not None]
        ids = set(late)
        if len(ids) < len(late) or any(self.seen.may_hold(one.encode()) for one in ids):
            return True
        for told in threads.values():
            own = {entry.id for entry in told.entries}
            for entry in told.entries:
                parent = entry.parent
                if (
                    parent is not None
                    and parent not in own
                    and (parent in ids or self.seen.may_hold(parent.encode()))
                ):
                    return True
        return False

    def _count(self, seen: Any) -> None:
        passed = self.sums
        passed.conversations += 1
        passed.messages += seen.messages
        passed.calls += seen.calls
        passed.results += seen.calls


def _in_order(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.record.offset)


def _as_begun(threads: dict[Thread, _Told]) -> Iterator[_Told]:
    """Writer by writer, and the sessions of each, in the order in which they began."""
    writers: dict[str | None, int] = {}
    for (_, agent), told in threads.items():
        writers[agent] = min(told.start, writers.get(agent, told.start))
    for name in sorted(threads, key=lambda name: (writers[name[1]], threads[name].start)):
        yield threads[name]
