"""The lines of a log that a further reading parses; all other lines are known to give no finding.

A repair reads its own result: only lines with findings and changed lines can differ from the first reading.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from turnlint.documents.reread import Entered
from turnlint.documents.source import Edit, Source, open_source
from turnlint.model import Record


class Line(Struct, frozen=True, gc=False):
    """A selected line."""

    start: int
    """Its offset in the source, where that is the result of a repair."""
    origin: int
    """Its offset in the file."""
    size: int
    """How many bytes its record has in the file."""
    number: int
    passed: int
    """How many conversations the lines before it hold that are not selected."""
    edits: tuple[Edit, ...] = ()
    """What a repair changed in it."""

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
        """Return how many conversations are passed over before some lines, for those that are selected."""
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
        """Read the selected records behind a line, each with the conversations that are passed over before it."""
        with open_source(structs.replace(source, edits=())) as stream:
            entered = Entered(stream)
            for line in self.lines:
                if line.number > after:
                    data = line.edited(entered.read(line.origin, line.size))
                    yield line.passed, Record(line.number, line.start, data)
