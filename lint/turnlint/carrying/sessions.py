"""Read logs that an agent writes of its own sessions, one record after another.

The readers share three steps. They keep records in a compact form until the last one, because only then the replayed
messages are known. They walk trees of records from a leaf to the root. They return abandoned messages beside their
conversation.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from msgspec import Struct, structs

from turnlint.carrying.carrier import AcceptedConversation, Carrier, Stray
from turnlint.carrying.lines import digest, lean
from turnlint.carrying.syntax import WireSyntax
from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import Decoded, Shape
from turnlint.documents.reread import release
from turnlint.model import (
    Call,
    Link,
    Message,
    Misfit,
    Omitted,
    Origin,
    Pointer,
    Record,
    Result,
    State,
    Transcript,
    Wire,
)

Ids = tuple[str | None, ...]


class Entry(Struct, gc=False):
    """One record of a session."""

    record: Record
    id: str | None = None
    parent: str | None = None
    parent_at: Pointer = ()
    """The pointer to the id of the previous record; empty in logs without such links."""
    said: tuple[Message, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    unread: int = -1
    """The number by which a scanner knows the message of a record that was not read; below zero for none."""
    hollow: bool = False
    """Whether the message of an unread record is replayed without its content."""
    origin: Origin | None = None
    """The maker of an unread message of the assistant."""
    response: str | None = None
    """The id of the provider's response of which the message of the assistant is a part."""
    calls: Ids = ()
    """The ids of the calls in its message, where the format needs them or the message was not read."""
    results: Ids = ()
    """The ids of the results."""

    is_bookkeeping: ClassVar[bool] = True
    """Whether the agent never replays the record."""

    @property
    def has_messages(self) -> bool:
        return bool(self.said) or self.unread >= 0


class Replayed(Entry, gc=False):
    """A record that an agent may replay."""

    is_bookkeeping: ClassVar[bool] = False


class Replay(Struct):
    """A conversation of a session: the records that are replayed together, or that are left behind together."""

    wire: Wire
    entries: Sequence[Entry]
    name: str | None
    headless: bool = False
    beside: Iterable[Record] = ()
    """The records that decide what is replayed."""
    linked: Sequence[Entry] = ()
    """The entries whose links a rule checks, in the order of writing as far as that is known."""
    pointers: tuple[Link, ...] = ()
    """Further links."""
    misfits: tuple[tuple[Record, Misfit], ...] = ()
    """Misfits of the session itself."""
    bound: str = ""
    dead: str = ""
    """The reason why the records are not replayed."""
    compaction: Record | None = None
    replaced: Sequence[Entry] = ()
    """The entries that the compaction replaced."""

    def read(self) -> Transcript:
        """Return the conversation. All its entries, and those that its compaction replaced, are read."""
        said = tuple(message for entry in self.entries for message in entry.said)
        if self.dead:
            name = self.name
            return Transcript(
                self.wire, said, id=name, headless=True, open_end=True, identity=name or "", dead=self.dead
            )
        omitted = tuple(omitted_pieces(self.wire, self.entries, self.replaced))
        return Transcript(
            self.wire,
            said,
            id=self.name,
            headless=self.headless,
            misfits=(
                *self.misfits,
                *((entry.record, misfit) for entry in self.entries for misfit in entry.misfits),
            ),
            identity=self.name or _identity(self.entries),
            beside=_with_omitted(self.beside, omitted),
            links=(*links_of(self.linked), *self.pointers),
            bound=self.bound,
            spread=True,
            compaction=self.compaction,
            omitted=omitted,
        )


def _with_omitted(beside: Iterable[Record], omitted: Iterable[Omitted]) -> tuple[Record, ...]:
    """Return the records that decide, with those of omitted pieces, in the order of the file."""
    records = [*beside]
    known = {record.offset for record in records}
    more = {one.record.offset: one.record for one in omitted if one.record.offset not in known}
    return tuple(sorted((*records, *more.values()), key=lambda record: record.offset) if more else records)


class SessionScanner(Protocol):
    """Decides about conversations whose lines were not read."""

    def accepts(self, replay: Replay, unread: Sequence[Entry], /) -> bool:
        """Return whether a conversation with unread entries has no finding. An accepted conversation is counted."""
        ...

    def shorten(self, replay: Replay, unread: Sequence[Entry], /) -> Transcript | None:
        """Return an abandoned part with its first messages only, if nothing about the others is reported."""
        ...

    def read(self, entries: Sequence[Entry], /) -> Iterator[tuple[Entry, Entry]]:
        """Yield unread entries, each with the entry that its record has when it is read."""
        ...


def read_messages(scanner: SessionScanner, entries: Sequence[Entry]) -> None:
    """Read the messages of unread entries."""
    for entry, read in scanner.read(entries):
        entry.said, entry.misfits, entry.unread = read.said, read.misfits, -1
        if entry.origin is not None:  # a record beside it may name the maker
            entry.said = tuple(
                structs.replace(one, origin=entry.origin) if one.role == "assistant" else one
                for one in entry.said
            )
        if entry.hollow:
            entry.said = tuple(structs.replace(one, blocks=(), blanks=()) for one in entry.said)
            entry.misfits = ()


class NativeLines(Struct, frozen=True):
    """The syntax of the lines of a format for the native parser."""

    syntax: WireSyntax
    wire: Wire
    entry_of: Callable[..., Entry | None]
    """Return the entry of a line from its record, the name of its kind, its flags, the ids of calls and of results, and its
    columns. Without a result, the line has to be read."""
    needs_messages: Callable[[Sequence[Any]], bool] = lambda _: False
    """Whether the messages of all entries have to be read before it is known which of them are replayed."""


Look = Callable[[Decoded[Any]], Entry | None]
"""Return the entry of a record; none where it is no record of this format."""
Settle = Callable[[list[Any]], Iterable[Replay]]
"""Yield the conversations of a source, once all its records are known."""


def make_session(
    name: str, title: str, about: str, *, shape: type[Any], evidence: Callable[[Any], int], look: Look,
    settle: Settle, writer: MessageWriter | None = None, record_keys: frozenset[str] = frozenset(),
    whole: Callable[[Any, Record], Iterable[Replay]] | None = None, lines: NativeLines | None = None,
    states: Mapping[str, State] | None = None, beside: Callable[[str], tuple[str, ...]] | None = None,
) -> Carrier:  # fmt: skip
    """Return a carrier whose conversations are known at the end of the source.

    `whole` reads a record that holds a whole session, where the format has such records.
    """
    return Carrier(
        name, title, about, lambda decoded: 0 if decoded.value is None else evidence(decoded.value), Shape(shape),
        lambda: Sessions(look, settle, whole, lines), record_keys=record_keys, message_keys=frozenset(), writer=writer, session=True,
        beside=beside,
        states=states or {},
    )  # fmt: skip


class Sessions:
    """The records of one source so far."""

    def __init__(
        self,
        look: Look,
        settle: Settle,
        whole: Callable[[Any, Record], Iterable[Replay]] | None,
        lines: NativeLines | None,
    ) -> None:
        self.look = look
        self.settle = settle
        self.whole = whole
        self.lines = lines
        self.scanner: SessionScanner | None = None
        self.entries: list[Entry] = []
        self.skipped = 0
        """The number of bookkeeping records, which have no message."""

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]:
        if decoded.value is None:
            return [Stray(decoded.record, None)] if decoded.misfits else []
        if self.whole is not None and (found := list(self.whole(decoded.value, decoded.record))):
            return [one.read() for one in found]
        entry = self.look(decoded)
        if entry is None:
            return [Stray(decoded.record, None)]  # the agent itself ignores such a line
        if decoded.misfits:
            entry.misfits = (*decoded.misfits, *entry.misfits)
        if entry.said:
            entry.said = tuple(map(lean, entry.said))
        self.add(entry)
        record = decoded.record
        if not record.kept:
            release(record)
        return []

    def add(self, entry: Entry) -> None:
        """Add the next entry."""
        self.skipped += entry.is_bookkeeping
        self.entries.append(entry)

    def finish(self) -> Iterator[Transcript | Stray]:
        if self.scanner is not None and self.lines is not None and self.lines.needs_messages(self.entries):
            unread = [entry for entry in self.entries if entry.unread >= 0]
            read = {id(entry): fresh for entry, fresh in self.scanner.read(unread)}
            self.entries = [read.get(id(entry), entry) for entry in self.entries]
        for replay in self.settle(self.entries) if self.entries else ():
            if self.scanner is None:
                yield replay.read()
                continue
            unread = [entry for entry in replay.entries if entry.unread >= 0]
            if unread and self.scanner.accepts(replay, unread):
                yield AcceptedConversation(Record(1, 0, b""), None, expected=True)
            elif unread and (short := self.scanner.shorten(replay, unread)) is not None:
                yield short
            else:
                read_messages(self.scanner, [*unread, *(one for one in replay.replaced if one.unread >= 0)])
                yield replay.read()


def conversation(
    wire: Wire, live: Sequence[Entry], *, name: str | None, beside: Iterable[Record], linked: Sequence[Entry] = (),
    pointers: Iterable[Link] = (), misfits: Iterable[tuple[Record, Misfit]] = (), headless: bool = False, bound: str = "",
    compaction: Record | None = None, replaced: Sequence[Entry] = (),
) -> Replay:  # fmt: skip
    """Return the conversation that would be replayed. `replaced` has the entries before its compaction."""
    return Replay(
        wire, live, name, headless, beside, linked, tuple(pointers), tuple(misfits), bound, compaction=compaction,
        replaced=replaced,
    )  # fmt: skip


def omitted_pieces(wire: Wire, live: Iterable[Entry], replaced: Iterable[Entry]) -> Iterator[Omitted]:
    """Yield the calls and results that a compaction replaced although the other side of the pair stays.

    An id that names two different calls, or two different results, identifies none.
    """
    replaced = [*replaced]
    if not replaced:
        return
    calls, results = ({block.id for block in _pieces(live, kind)} for kind in (Call, Result))
    found: dict[tuple[type, str], list[Omitted]] = {}
    for message in (message for entry in replaced for message in entry.said):
        names = frozenset(block.id for block in message.blocks if isinstance(block, Call) and block.id)
        for block in message.blocks:
            if not isinstance(block, Call | Result) or block.server or not block.id:
                continue
            here, there = (results, calls) if isinstance(block, Call) else (calls, results)
            if block.id in here and block.id not in there:
                one = Omitted(block, wire, message.record, message.at, names)
                found.setdefault((type(block), block.id), []).append(one)
    for some in found.values():
        if len({(one.piece.name, one.piece.body) for one in some}) == 1:
            yield some[-1]


def _pieces(entries: Iterable[Entry], kind: type[Call | Result]) -> Iterator[Call | Result]:
    messages = (message for entry in entries for message in entry.said)
    return (block for message in messages for block in message.blocks if isinstance(block, kind))


def left_behind(wire: Wire, entries: Sequence[Entry], why: str, *, name: str | None) -> Replay | None:
    """Return the messages that would not be replayed, and why; none where there are no messages."""
    if not any(entry.has_messages for entry in entries):
        return None
    return Replay(wire, entries, name, headless=True, dead=why)


def _identity(live: Sequence[Entry]) -> str:
    first = next((entry.record for entry in live if entry.said), None)
    return digest(f"{first.offset} {first.line}".encode()) if first else ""


def links_of(entries: Iterable[Entry]) -> Iterator[Link]:
    """Yield the links between records: the id of each, and the id of its parent."""
    for entry in entries:
        if entry.id is not None or entry.parent is not None:
            yield Link(entry.record, entry.id, entry.parent, entry.parent_at)


class Tree:
    """Entries by the links among them. Of two entries with one id the later one is valid."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.by_id: dict[str | None, Entry] = {one.id: one for one in entries if one.id is not None}
        self.place = {id(entry): number for number, entry in enumerate(entries)}
        self.parents = {entry.parent for entry in entries if entry.parent is not None}

    def is_meant(self, entry: Entry) -> bool:
        """Whether an entry is the valid one for its id."""
        return self.by_id.get(entry.id) is entry

    def is_end(self, entry: Entry) -> bool:
        """Whether no entry names this entry as its parent."""
        return entry.id not in self.parents and self.is_meant(entry)

    def is_flat(self) -> bool:
        """Whether no entry names a parent, so that only the order of the file counts."""
        return len(self.entries) > 1 and not self.parents

    def upward(self, entry: Entry | None) -> Iterator[Entry]:
        """Yield an entry and its ancestors, each once even if the links form a cycle."""
        seen: set[int] = set()
        while entry is not None and id(entry) not in seen:
            seen.add(id(entry))
            yield entry
            entry = self.by_id.get(entry.parent) if entry.parent is not None else None

    def path(self, leaf: Entry) -> list[Entry]:
        """Return the entries from the root to a leaf."""
        return [*self.upward(leaf)][::-1]
