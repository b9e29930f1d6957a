"""What of a run is known already: findings that are ignored, and findings of a baseline.

This module owns the sieve between the engine and the sinks, and the account of what in it was of use. It refuses to
read files, and to know what day it is.
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
"""Findings of a shape that are drawn where some are sifted out, so that those which stay still have their picture."""


REMARKS = 20
"""So many of a kind are told of, the others counted."""


class Account(Struct):
    """What the ignores of a run met."""

    met: dict[str, int] = {}
    """By where an ignore is written, how many findings it kept out."""
    over: dict[str, int] = {}
    """The same of those whose time is up: how many findings they no longer keep out."""
    remarks: list[Remark] = []
    """What is to be said of records that ask to leave out findings: the first of those that cannot be read..."""
    idle: list[Remark] = []
    """... and of those that are of no use."""
    counts: Counter[bool] = field(default_factory=Counter)
    """How many there are of both, the useless under `True`."""

    def remark(self, one: Remark) -> None:
        listed = self.idle if one.idle else self.remarks
        self.counts[one.idle] += one.more or 1
        if not one.more and len(listed) < REMARKS:
            listed.append(one)


class Sieve(Struct, frozen=True):
    """What is known of one source."""

    ignores: tuple[Ignore, ...] = ()
    baseline: Baseline | None = None
    today: str = ""
    account: Account = field(default_factory=Account)

    def sift(self, events: Iterable[Event]) -> Iterator[Event]:
        """Events without the findings that are known, and the tally without them too."""
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
