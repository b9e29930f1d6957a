"""What is noted of the records of findings, where a run asks for it.

This module owns that: what they say of themselves, and what they ask to leave out; and nothing else about a finding: who takes it out of a report is elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator

from msgspec import structs

from turnlint.events import Remark
from turnlint.model import Finding, Record, Transcript
from turnlint.own_rules.rules import OwnRule
from turnlint.pardons import Pardons
from turnlint.provenance import said_in
from turnlint.rows import Row, Said
from turnlint.rulebook import OWN

Known = dict[tuple[int, str | None], Said]


class Notes:
    """What is noted in one source."""

    def __init__(self, path: str, pattern: str, own: tuple[str, ...], *, says: bool) -> None:
        self.pardons = Pardons(pattern, path, own) if pattern else None
        self.says = says

    def hears(self, also: Callable[[Record], None] | None) -> Callable[[Record], None] | None:
        """What sees every record: nothing, where findings alone are noted."""
        mine = self.pardons.hear if self.pardons else None
        if mine is None or also is None:
            return mine or also

        def both(record: Record) -> None:
            mine(record)
            also(record)

        return both

    def noted(self, rows: Iterable[Row], transcripts: Iterable[Transcript | None]) -> list[Row]:
        """Rows with what is noted of each."""
        known: Known = {}
        found = []
        for row, transcript in zip(rows, transcripts, strict=True):
            said = self._said(row.finding, transcript, known) if self.says else None
            pardon = self.pardons.covering(row.finding) if self.pardons else None
            found.append(structs.replace(row, said=said, pardon=pardon.reason if pardon else ""))
        return found

    def left(self) -> Iterator[Remark]:
        """What is to be said at the end of the source."""
        if self.pardons:
            yield from self.pardons.left()

    def _said(self, finding: Finding, transcript: Transcript | None, known: Known) -> Said:
        """What a finding's record says, and where that is silent those that belong to its story."""
        models: tuple[str, ...] = ()
        day = ""
        for location in (finding.where, *(related.where for related in finding.related)):
            record = location.record
            model = model_of(record, transcript)
            key = record.offset, model
            if key not in known:
                known[key] = said_in(record.data, model)
            models, day = models or known[key].models, day or known[key].day
            if models and day:
                break
        return Said(models, day)


def own_names(rules: Iterable[OwnRule]) -> tuple[str, ...]:
    """What the user's own rules are called."""
    return tuple(OWN + rule.name for rule in rules)


def model_of(record: Record, transcript: Transcript | None) -> str | None:
    """The model that a record was read to name as a request."""
    request = transcript.request if transcript else None
    return request.model if request and request.record.offset == record.offset else None
