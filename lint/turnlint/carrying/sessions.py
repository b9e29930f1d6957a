"""Read logs that an agent writes of its own sessions, one record after another.

The readers share three steps. They keep records in a compact form until the last one, because only then the replayed
messages are known. They walk trees of records from a leaf to the root. They return abandoned messages beside their
conversation.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from turnlint.carrying.carrier import Carrier, Stray
from turnlint.carrying.lines import digest, lean
from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import Decoded, Shape
from turnlint.documents.reread import release
from turnlint.model import (
    Call,
    Link,
    Message,
    Misfit,
    Omitted,
    Pointer,
    Record,
    Result,
    State,
    Transcript,
    Wire,
)


class Entry(Struct):
    """One record of a session."""

    record: Record
    id: str | None = None
    parent: str | None = None
    parent_at: Pointer = ()
    """The pointer to the id of the previous record; empty in logs without such links."""
    said: tuple[Message, ...] = ()
    misfits: tuple[Misfit, ...] = ()

    @property
    def is_bookkeeping(self) -> bool:
        """Whether the agent never replays the record."""
        return True


class Replayed(Entry):
    """A record that an agent may replay."""

    @property
    def is_bookkeeping(self) -> bool:
        return False


Look = Callable[[Decoded[Any]], Entry | None]
"""Return the entry of a record; none where it is no record of this format."""
Settle = Callable[[list[Any]], Iterable[Transcript]]
"""Yield the conversations of a source, once all its records are known."""


def make_session(
    name: str, title: str, about: str, *, shape: type[Any], evidence: Callable[[Any], int], look: Look,
    settle: Settle, writer: MessageWriter | None = None, record_keys: frozenset[str] = frozenset(),
    whole: Callable[[Any, Record], Iterable[Transcript]] | None = None, states: Mapping[str, State] | None = None,
    beside: Callable[[str], tuple[str, ...]] | None = None,
) -> Carrier:  # fmt: skip
    """Return a carrier whose conversations are known at the end of the source.

    `whole` reads a record that holds a whole session, where the format has such records.
    """
    return Carrier(
        name, title, about, lambda decoded: 0 if decoded.value is None else evidence(decoded.value), Shape(shape),
        lambda: Sessions(look, settle, whole), record_keys=record_keys, message_keys=frozenset(), writer=writer, session=True,
        beside=beside,
        states=states or {},
    )  # fmt: skip


class Sessions:
    """The records of one source so far."""

    def __init__(
        self,
        look: Look,
        settle: Settle,
        whole: Callable[[Any, Record], Iterable[Transcript]] | None,
    ) -> None:
        self.look = look
        self.settle = settle
        self.whole = whole
        self.entries: list[Entry] = []
        self.skipped = 0
        """The number of bookkeeping records, which have no message."""

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]:
        if decoded.value is None:
            return [Stray(decoded.record, None)] if decoded.misfits else []
        if self.whole is not None and (found := list(self.whole(decoded.value, decoded.record))):
            return [*found]
        entry = self.look(decoded)
        if entry is None:
            return [Stray(decoded.record, None)]  # the agent itself ignores such a line
        if decoded.misfits:
            entry.misfits = (*decoded.misfits, *entry.misfits)
        self.skipped += entry.is_bookkeeping
        if entry.said:
            entry.said = tuple(map(lean, entry.said))
        self.entries.append(entry)
        record = decoded.record
        if not record.kept:
            release(record)
        return []

    def finish(self) -> Iterable[Transcript | Stray]:
        return self.settle(self.entries) if self.entries else ()


def conversation(
    wire: Wire, live: Sequence[Entry], *, name: str | None, beside: Iterable[Record], links: Iterable[Link] = (),
    headless: bool = False, bound: str = "", compaction: Record | None = None, replaced: Iterable[Entry] = (),
) -> Transcript:  # fmt: skip
    """Return the conversation that would be replayed. `replaced` has the entries before its compaction."""
    return Transcript(
        wire,
        tuple(message for entry in live for message in entry.said),
        id=name,
        headless=headless,
        misfits=tuple((entry.record, misfit) for entry in live for misfit in entry.misfits),
        identity=name or _identity(live),
        beside=tuple(beside),
        links=tuple(links),
        bound=bound,
        spread=True,
        compaction=compaction,
        omitted=tuple(omitted_pieces(wire, live, replaced)),
    )


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


def left_behind(wire: Wire, entries: Sequence[Entry], why: str, *, name: str | None) -> Transcript | None:
    """Return the messages that would not be replayed, and why; none where there are no messages."""
    said = tuple(message for entry in entries for message in entry.said)
    if not said:
        return None
    return Transcript(wire, said, id=name, headless=True, open_end=True, identity=name or "", dead=why)


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
