"""Logs that an agent keeps of its own sessions, one record after the other.

This module owns what their readers share: records are held lean until the last is known, for only then it is known
what would be replayed; trees of records are walked from a leaf to the root; what is left behind comes out beside
the conversation it belonged to. It refuses to know how any agent spells a record.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from turnlint.carrying.carrier import Carrier, Stray
from turnlint.carrying.lines import digest, lean
from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import Decoded, Shape
from turnlint.documents.reread import release
from turnlint.model import Link, Message, Misfit, Pointer, Record, Transcript, Wire


class Entry(Struct):
    """One record of a session."""

    record: Record
    id: str | None = None
    parent: str | None = None
    parent_at: Pointer = ()
    """Where it names the record before it; nowhere in logs without such links."""
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
"""What a record is to a session; nothing where it is no record of this format."""
Settle = Callable[[list[Any]], Iterable[Transcript]]
"""The conversations of a source, once all its records are known."""


def make_session(
    name: str, title: str, about: str, *, shape: type[Any], evidence: Callable[[Any], int], look: Look,
    settle: Settle, writer: MessageWriter | None = None, record_keys: frozenset[str] = frozenset(),
    whole: Callable[[Any, Record], Iterable[Transcript]] | None = None,
) -> Carrier:  # fmt: skip
    """A carrier whose conversations are known at the end of the source.

    `whole` reads a record that holds a whole session by itself, where the format has such.
    """
    return Carrier(
        name, title, about, lambda decoded: 0 if decoded.value is None else evidence(decoded.value), Shape(shape),
        lambda: Sessions(look, settle, whole), record_keys=record_keys, message_keys=frozenset(), writer=writer, session=True,
    )  # fmt: skip


class Sessions:
    """One source: its records so far."""

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
        """How many records are bookkeeping of the format, and hold no message."""

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]:
        if decoded.value is None:
            return [Stray(decoded.record, None)] if decoded.misfits else []
        if self.whole is not None and (found := list(self.whole(decoded.value, decoded.record))):
            return [*found]
        entry = self.look(decoded)
        if entry is None:
            return [Stray(decoded.record, None)]  # whose log it is passes over such a line
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
    headless: bool = False, bound: str = "",
) -> Transcript:  # fmt: skip
    """What would be replayed."""
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
    )


def left_behind(wire: Wire, entries: Sequence[Entry], why: str, *, name: str | None) -> Transcript | None:
    """What would not be replayed, and why; nothing where nothing was said there."""
    said = tuple(message for entry in entries for message in entry.said)
    if not said:
        return None
    return Transcript(wire, said, id=name, headless=True, open_end=True, identity=name or "", dead=why)


def _identity(live: Sequence[Entry]) -> str:
    first = next((entry.record for entry in live if entry.said), None)
    return digest(f"{first.offset} {first.line}".encode()) if first else ""


def links_of(entries: Iterable[Entry]) -> Iterator[Link]:
    """How records hang together: those that are named by others, and those that name one."""
    for entry in entries:
        if entry.id is not None or entry.parent is not None:
            yield Link(entry.record, entry.id, entry.parent, entry.parent_at)


class Tree:
    """Entries by the links among them. Of two with one id the later one is meant."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.by_id: dict[str | None, Entry] = {one.id: one for one in entries if one.id is not None}
        self.place = {id(entry): number for number, entry in enumerate(entries)}
        self.parents = {entry.parent for entry in entries if entry.parent is not None}

    def is_meant(self, entry: Entry) -> bool:
        """Whether an entry is the one that its id stands for."""
        return self.by_id.get(entry.id) is entry

    def is_end(self, entry: Entry) -> bool:
        """Whether nobody names an entry as its parent."""
        return entry.id not in self.parents and self.is_meant(entry)

    def is_flat(self) -> bool:
        """Whether nobody names a parent, so that the order of the file is all there is."""
        return len(self.entries) > 1 and not self.parents

    def upward(self, entry: Entry | None) -> Iterator[Entry]:
        """An entry and its ancestors, each once however the links run."""
        seen: set[int] = set()
        while entry is not None and id(entry) not in seen:
            seen.add(id(entry))
            yield entry
            entry = self.by_id.get(entry.parent) if entry.parent is not None else None

    def path(self, leaf: Entry) -> list[Entry]:
        """From the root to a leaf."""
        return [*self.upward(leaf)][::-1]
