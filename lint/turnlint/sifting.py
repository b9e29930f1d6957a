"""Remove known findings from the events of a run: ignored ones, and those of a baseline.

The module also counts the matches of each ignore. It reads no files and no clock.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from turnlint.baseline import Baseline
from turnlint.engine import Event, Remark, Tally
from turnlint.ignores import Ignore
from turnlint.model import Pointer, Severity
from turnlint.rows import Ignored, Row

VIEWS = 50
"""Number of views of a shape if findings are removed, so that the remaining ones still have their view."""


REMARKS = 20
"""Limit of the remarks of a kind that are kept; the others are counted."""


class Account(Struct):
    """The matches of the ignores of a run."""

    met: dict[str, int] = {}
    """Number of removed findings, by the position of the ignore."""
    over: dict[str, int] = {}
    """The same for expired ignores: number of findings that they no longer remove."""
    remarks: list[Remark] = []
    """The first remarks about invalid ignores in records."""
    idle: list[Remark] = []
    """The first remarks about unused ignores in records."""
    counts: Counter[bool] = field(default_factory=Counter)
    """Number of remarks of both kinds, the unused ones under `True`."""

    def remark(self, one: Remark) -> None:
        listed = self.idle if one.idle else self.remarks
        self.counts[one.idle] += one.more or 1
        if not one.more and len(listed) < REMARKS:
            listed.append(one)


class Sieve(Struct, frozen=True):
    """The known findings of one source."""

    ignores: tuple[Ignore, ...] = ()
    baseline: Baseline | None = None
    today: str = ""
    account: Account = field(default_factory=Account)

    def sift(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events without the known findings, also in the tally."""
        out: Counter[tuple[Severity, str, str]] = Counter()
        for event in events:
            if isinstance(event, Row) and (known := self._known(event)):
                label = known.by + (f" until {known.until}" if known.until else "")
                out[event.finding.severity, event.finding.rule, label] += 1
                yield known
            elif isinstance(event, Remark):
                self.account.remark(event)
            elif isinstance(event, Tally):
                yield _without(event, out)
                out.clear()  # a source that is read in parts has a tally for each
            else:
                yield event

    def _known(self, row: Row) -> Ignored | None:
        pointers = _pointers(row)
        for ignore in self.ignores:
            if not ignore.covers(row.finding, pointers, row.fingerprint, row.said):
                continue
            if not ignore.is_over(self.today):
                self.account.met[ignore.origin] = self.account.met.get(ignore.origin, 0) + 1
                return Ignored(row, "ignore", ignore.reason, ignore.until)
            self.account.over[ignore.origin] = self.account.over.get(ignore.origin, 0) + 1
        if row.pardon:
            return Ignored(row, "ignore in records", row.pardon)
        entry = self.baseline.knows(row) if self.baseline else None
        return Ignored(row, "baseline", entry.reason) if entry else None


def _pointers(row: Row) -> tuple[Pointer, ...]:
    shown = tuple(part.replace("~1", "/").replace("~0", "~") for part in row.place.pointer.split("/")[1:])
    where = row.finding.where
    return shown, (*where.record.prefix, *where.at)


def _without(tally: Tally, out: Counter[tuple[Severity, str, str]]) -> Tally:
    for (severity, rule, label), count in out.items():
        tally.findings[severity] -= count
        tally.rules[rule] -= count
        if not tally.rules[rule]:
            del tally.rules[rule]
        tally.ignored[label] = tally.ignored.get(label, 0) + count
    return tally
