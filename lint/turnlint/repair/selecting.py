"""Choose the lines of a log that a further reading parses, and find them in the result of a repair."""

from collections.abc import Iterable, Sequence

from msgspec import structs

from turnlint.documents.selection import Line, Selection
from turnlint.documents.trouble import Damage, Kind
from turnlint.keeping.patches import Patch
from turnlint.model import Record
from turnlint.reading import Reading

OF_THE_LOG: frozenset[Kind] = frozenset(
    {
        "blank-line",
        "compressed-badly",
        "huge-record",
        "joined-records",
        "split-record",
        "too-long",
        "utf-16",
    }
)
"""Damage that a parser of a single line does not find."""
BLANK = b"\xef\xbb\xbf \t\r\n"
"""The bytes of a line that is blank without its byte order mark. A parser of a single line reports a cut record."""


class Selector:
    """The lines with damage or a finding, until a record shows that lines depend on one another."""

    def __init__(self, reading: Reading, *, needs_all: bool) -> None:
        self.reading = reading
        self.needs_all = needs_all
        """Whether a further reading needs all lines."""
        self.lines: list[Line] = []
        self.conversations = 0
        """The number of conversations in the selected lines."""

    def note_damage(self, damages: Iterable[Damage]) -> None:
        for one in damages:
            # Only the first carriage return of a log is reported; a further reading finds it among the first records.
            later = one.trouble.kind == "carriage-returns" and one.record.line > 1
            self.needs_all = self.needs_all or later or one.trouble.kind in OF_THE_LOG

    def add(self, record: Record, first: int, conversations: int) -> None:
        """Select the line of a record. `first` is the number of conversations before the record."""
        is_blank = bool(record.data) and not record.data.strip(BLANK)
        self.needs_all = (
            self.needs_all or is_blank or bool(record.prefix or record.breaks or record.column != 1)
        )
        if self.needs_all:
            self.lines.clear()
            return
        if not self.has(record):
            size = max(len(record.data), record.size)
            passed = first - self.conversations
            self.lines.append(Line(record.offset, record.offset, size, record.line, passed))
        self.conversations += conversations

    def has(self, record: Record) -> bool:
        """Whether the line of a record is the one that was selected last."""
        return bool(self.lines) and self.lines[-1].number == record.line

    def selection(self) -> Selection | None:
        """Return the selected lines of a whole reading, if no other line can matter to a further reading."""
        is_log = self.reading.gate.lines is not None
        return Selection(self.lines) if is_log and not (self.needs_all or self.reading.held) else None


def find_in_result(selection: Selection | None, patches: Sequence[Patch]) -> Selection | None:
    """Return the selected lines in the result of a repair; none if it changes more than their inside."""
    if selection is None or not patches:
        return selection
    lines: list[Line] = []
    shift = number = 0
    for line in selection.lines:
        start, end, edits = line.origin, line.origin + line.size, []
        before = shift
        while number < len(patches) and patches[number].start <= end:
            patch = patches[number]
            if patch.start < start or patch.end > end or b"\n" in patch.data:
                return None
            edits.append((patch.start, patch.end, patch.data))
            shift += len(patch.data) - (patch.end - patch.start)
            number += 1
        lines.append(structs.replace(line, start=start + before, edits=tuple(edits)))
    return Selection(lines) if number == len(patches) else None
