"""Read notes about findings from their records: models, day and requested ignores."""

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
    """The notes of one source."""

    def __init__(self, path: str, pattern: str, own: tuple[str, ...], *, says: bool) -> None:
        self.pardons = Pardons(pattern, path, own) if pattern else None
        self.says = says

    def hears(self, also: Callable[[Record], None] | None) -> Callable[[Record], None] | None:
        """Return the function to call for every record, if one is needed."""
        mine = self.pardons.hear if self.pardons else None
        if mine is None or also is None:
            return mine or also

        def both(record: Record) -> None:
            mine(record)
            also(record)

        return both

    def noted(self, rows: Iterable[Row], transcripts: Iterable[Transcript | None]) -> list[Row]:
        """Return rows with the notes of each."""
        known: Known = {}
        found = []
        for row, transcript in zip(rows, transcripts, strict=True):
            said = self._said(row.finding, transcript, known) if self.says else None
            pardon = self.pardons.covering(row.finding) if self.pardons else None
            found.append(structs.replace(row, said=said, pardon=pardon.reason if pardon else ""))
        return found

    def left(self) -> Iterator[Remark]:
        """Yield the remarks at the end of the source."""
        if self.pardons:
            yield from self.pardons.left()

    def _said(self, finding: Finding, transcript: Transcript | None, known: Known) -> Said:
        """Return the models and the day of a finding's record, or else of related records."""
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
    """Return the names of the user's own rules."""
    return tuple(OWN + rule.name for rule in rules)


def model_of(record: Record, transcript: Transcript | None) -> str | None:
    """Return the model of the request in a record, as the reader found it."""
    request = transcript.request if transcript else None
    return request.model if request and request.record.offset == record.offset else None
