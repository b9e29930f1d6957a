"""Select the lines of a log that a further reading parses; all other lines are known to have no finding.

A repair lints its own result: only lines with findings and changed lines can differ from the first reading.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from turnlint.documents.reread import Entered
from turnlint.documents.source import Edit, Source, open_source
from turnlint.model import Record


class Line(Struct, frozen=True, gc=False):
    """A selected line."""

    start: int
    """Its offset in the source, where the source is the result of a repair."""
    origin: int
    """Its offset in the file."""
    size: int
    """The number of bytes of its record in the file."""
    number: int
    passed: int
    """The number of unselected conversations in the lines before it."""
    edits: tuple[Edit, ...] = ()
    """The edits of a repair in this line."""

    def edited(self, data: bytes) -> bytes:
        """Return the bytes of the record after the repair."""
        pieces, at = [], 0
        for start, end, new in self.edits:
            pieces += [data[at : start - self.origin], new]
            at = end - self.origin
        return b"".join((*pieces, data[at:])) if pieces else data


class Selection(Struct, frozen=True):
    """Selected lines of a source, in order."""

    lines: Sequence[Line]

    def passed_before(self, numbers: Iterable[int]) -> dict[int, int]:
        """Return how many conversations are skipped before each of some lines, for those that are selected."""
        wanted = {*numbers}
        last = max(wanted, default=0)
        found = {}
        for line in self.lines:
            if line.number > last:
                break
            if line.number in wanted:
                found[line.number] = line.passed
        return found

    def records(self, source: Source, after: int) -> Iterator[tuple[int, Record]]:
        """Yield the selected records after a line, each with the number of conversations skipped before it."""
        with open_source(structs.replace(source, edits=())) as stream:
            entered = Entered(stream)
            for line in self.lines:
                if line.number > after:
                    data = line.edited(entered.read(line.origin, line.size))
                    yield line.passed, Record(line.number, line.start, data)
