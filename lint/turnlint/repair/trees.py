"""Relink the records of a session whose records name their predecessors.

A record need not have a message. When messages are added, removed or moved, a child of a removed record gets the
record's parent, and a successor of a new record follows the new record.
"""

from collections.abc import Iterable

from msgspec import Struct

from turnlint.documents.edit import encode
from turnlint.model import Link
from turnlint.repair.sheet import Sheet


class Step(Struct, frozen=True):
    """One message of the final conversation."""

    id: str | None
    new: bool
    """Whether the message was added or moved."""


class Tree:
    """The links of a session, and their changes."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.links = sheet.judged.transcript.links
        self.by_id = {link.id: link for link in self.links if link.id is not None}
        self.said = {message.id for message in sheet.messages if message.id is not None}
        self.parent = {link.id: link.parent for link in self.links if link.id is not None}
        """The parent of each record, after the changes."""

    def relink(self, after: Iterable[Step]) -> dict[str, str | None]:
        """Rewrite the links. Returns the parents of the added messages, by their ids."""
        steps = list(after)
        stays = {step.id for step in steps if not step.new}
        # A removed or moved message is no longer at its old position.
        gone: set[str | None] = {one for one in self.said if one not in stays}
        for link in self.links:
            if link.parent in gone and link.id not in gone:
                heir = self._next if link.start else self._standing
                self._name(link, heir(link.parent, gone))
        parents: dict[str, str | None] = {}
        anchor = before = self._start(steps, gone)
        for step in steps:
            if step.new:
                if step.id is not None:
                    parents[step.id] = before
                    moved = self.by_id.get(step.id)
                    if moved is not None:
                        self._name(moved, before)
            else:
                if before != anchor:
                    self._follow(step.id, anchor, before)
                anchor = step.id
            before = step.id or before
        if before != anchor:
            self._point(anchor, before)
        return parents

    def _start(self, steps: list[Step], gone: set[str | None]) -> str | None:
        """Return the record before the first message."""
        first = next((step.id for step in steps if not step.new), None)
        return self._standing(self.parent.get(first), gone) if first is not None else None

    def _standing(self, identifier: str | None, gone: set[str | None]) -> str | None:
        """Return the nearest ancestor that stays."""
        seen: set[str] = set()
        while identifier is not None and identifier in gone and identifier not in seen:
            seen.add(identifier)
            identifier = self.parent.get(identifier)
        return identifier

    def _next(self, identifier: str | None, gone: set[str | None]) -> str | None:
        """Return the first message after a removed one that stays."""
        ids = [message.id for message in self.sheet.messages]
        return next((one for one in ids[ids.index(identifier) :] if one not in gone), identifier)

    def _follow(self, identifier: str | None, anchor: str | None, before: str | None) -> None:
        """Link a message, or the record between it and its predecessor, to the inserted messages."""
        at, seen = identifier, set[str]()
        while at is not None and at not in seen:
            seen.add(at)
            parent = self.parent.get(at)
            if parent == anchor:
                self._name(self.by_id[at], before)
                return
            if parent is None or parent in self.said:
                return  # it has another parent: a parallel call or its result
            at = parent

    def _point(self, anchor: str | None, last: str | None) -> None:
        """Move pointers to the end of the conversation, and trailing records, behind the appended messages."""
        trailing = self._trailing(anchor)
        for link in self.links:
            points = link.id is None and not link.start
            if link.parent is not None and link.parent == anchor and (points or link.id == trailing):
                self._name(link, last)

    def _trailing(self, anchor: str | None) -> str | None:
        """Return the child of the last message on the path to the last record, if it is no message."""
        at, seen = next((link.id for link in reversed(self.links) if link.id is not None), None), set[str]()
        while at is not None and at not in seen and at not in self.said:
            seen.add(at)
            if self.parent.get(at) == anchor:
                return at
            at = self.parent.get(at)
        return None

    def _name(self, link: Link, parent: str | None) -> None:
        if link.id is not None:
            self.parent[link.id] = parent
        changes, cell = self.sheet.changes, link.record.offset
        data = encode(parent, self.sheet.unit.cells[cell].data)
        edits = changes.of(cell)
        edits.write[link.at] = data  # the tree overrides earlier edits of a link
        changes.linked[cell, link.at] = parent
