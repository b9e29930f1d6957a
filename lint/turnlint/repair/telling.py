"""Record the changes of a repair: the finding, the place, and a digest of the old value."""

from collections.abc import Iterator, Sequence

from msgspec import structs

from turnlint.diagnosis import ToolNames, told_of
from turnlint.documents.locate import PlaceFinder
from turnlint.engine import Judged
from turnlint.events import Told
from turnlint.model import Call, Finding, Pointer, Result, Text, Thinking
from turnlint.placing import as_pointer
from turnlint.repair.change import Change, What, digest
from turnlint.repair.sheet import Sheet

NOUNS: dict[type, str] = {Result: "result", Call: "call", Thinking: "thought", Text: "text"}


class Tale:
    """The changes to one conversation."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.changes: list[Change] = []
        self.places: list[tuple[int, Pointer]] = []
        """The places of the changes: the record, and the pointer."""
        self.told: list[bytes] = []
        """The old values of removed, renamed and rewritten places."""
        self.tools = ToolNames(sheet.judged)
        self.first: dict[int, Finding] = {}
        """For each message, the finding of its first change."""

    def tell(
        self, finding: Finding, what: What, message: int, below: Pointer = (), *,
        done: str | None = None, ids: tuple[str | None, str | None] = (None, None),
        after: bytes | None = None, source: tuple[str, int] | tuple[None, None] = (None, None),
    ) -> None:  # fmt: skip
        """Record a change at a message, or below it."""
        self.first.setdefault(message, finding)
        self.tell_at(
            finding, what, self.sheet.place(message, below), message, done=done, ids=ids, after=after, source=source
        )  # fmt: skip

    def tell_at(
        self, finding: Finding, what: What, place: Pointer, message: int | None = None, *,
        done: str | None = None, ids: tuple[str | None, str | None] = (None, None), after: bytes | None = None,
        source: tuple[str, int] | tuple[None, None] = (None, None),
    ) -> None:  # fmt: skip
        """Record a change. The old values are located later, in one walk over each record."""
        assert finding.fix is not None
        record = finding.where.record if message is None else self.sheet.messages[message].record
        self.places.append((record.offset, place))
        self.changes.append(Change(
            finding.code, finding.rule, finding.fault, finding.fix.level, what, done or finding.fix.title, finding.message, record.line,
            as_pointer((*record.prefix, *place)), finding.conversation, finding.conversation_index, finding.call_id,
            self.tools.of(finding), finding.provider, *ids, after=digest(after),
            source_path=source[0], source_line=source[1],
            message_index=message, piece=self._noun(message, place) if what == "removed" else "",
        ))  # fmt: skip

    def with_digests(self) -> list[Change]:
        """Return the changes with the digests of the old values."""
        finder = PlaceFinder()
        for cell, place in self.places:
            finder.add(cell, place)
        gone = {
            spot for change, spot in zip(self.changes, self.places, strict=True) if change.what == "removed"
        }
        changes, enclosed = [], set()
        for change, (cell, place) in zip(self.changes, self.places, strict=True):
            inside = change.what == "removed" and any(
                (cell, place[:end]) in gone for end in range(len(place))
            )
            if inside and (cell, place) in enclosed:
                continue
            if inside:
                enclosed.add((cell, place))
            found, start, end = finder.find(cell, self.sheet.unit.cells[cell].data, place)
            if change.what in ("rewritten", "renamed", "removed") and not self._was_made(
                cell, place, found, start
            ):
                continue
            there = found == place and change.what != "added"
            before = digest(self.sheet.unit.cells[cell].data[start:end]) if there else None
            if there and change.what != "moved" and not inside:
                self.told.append(self.sheet.unit.cells[cell].data[start:end])
            after = before if change.what == "moved" else change.after
            size = end - start if there and change.what == "removed" and not inside else None
            changes.append(structs.replace(change, before=before, after=after, size=size))
        return changes

    def _noun(self, index: int | None, place: Pointer) -> str:
        """Return the noun for a piece that is removed at a place of a message."""
        if index is None:
            return "value"
        message = self.sheet.messages[index]
        below = place[len(message.at) :]
        block = next((one for one in message.blocks if one.at == below), None)
        noun = NOUNS.get(type(block)) if block is not None else None
        return noun or ("call" if below in message.inner_calls else "value" if below else "message")

    def _was_made(self, cell: int, place: Pointer, found: Pointer, start: int) -> bool:
        """Whether a value was at the place, or an object that could take it."""
        data = self.sheet.unit.cells[cell].data
        return found == place or (found == place[:-1] and data[start : start + 1] == b"{")


def conversations_told(start: Sequence[Judged], end: Sequence[Judged], first: int) -> Iterator[Told]:
    """Yield the report entry of each conversation of a repair."""
    for number, (was, now) in enumerate(zip(start, end, strict=False)):
        yield told_of(was, now, first + number)
