"""Time each rule, for `lint --profile-rules`.

The table is written to standard error only, since reports are deterministic. Timing does not change the
findings.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import click
from msgspec import structs

from turnlint.engine import Book, Options
from turnlint.model import Finding, Record
from turnlint.own_rules.rules import OwnRule
from turnlint.own_rules.watching import Watch
from turnlint.report.escape import visible
from turnlint.rulebook import OWN, Entry

SAID = "turnlint: timing rules: uses one process, no cache and no fast path"


class Timing:
    """The time spent in rules since its creation."""

    def __init__(self) -> None:
        self.began = perf_counter()
        self.calls: dict[str, int] = {}
        self.spent: dict[str, float] = {}

    def asked(self, rule: str, ask: Callable[[], list[Any]]) -> list[Any]:
        start = perf_counter()
        try:
            return ask()
        finally:
            self.spent[rule] = self.spent.get(rule, 0.0) + perf_counter() - start
            self.calls[rule] = self.calls.get(rule, 0) + 1

    def timed(self, entry: Entry) -> Entry:
        """Return the same rule, timed. Its findings are collected at once, since a generator does its work later."""

        def held(check: Callable[[Any], Any] | None) -> Any:
            return check and (lambda subject: self.asked(entry.rule.name, lambda: list(check(subject))))

        return structs.replace(entry, check=held(entry.check), check_record=held(entry.check_record))

    def book(self, options: Options) -> Book:
        return _TimedBook(options, self)

    def tell(self) -> None:
        """Print the table, the slowest rule first."""
        from tabulate import tabulate

        whole = perf_counter() - self.began
        ranked = sorted(self.spent, key=lambda rule: (-self.spent[rule], rule))
        rows = [[visible(rule), f"{self.calls[rule]:,}", *_cells(self.spent[rule], whole)] for rule in ranked]
        all_rules = sum(self.spent.values())
        rows.append(["all rules", f"{sum(self.calls.values()):,}", *_cells(all_rules, whole)])
        rows.append(["other: parsing, pairing, reports", "", *_cells(whole - all_rules, whole)])
        table = tabulate(
            rows, headers=["rule", "calls", "ms", "share"], tablefmt="plain", disable_numparse=True,
            colalign=("left", "right", "right", "right"),
        )  # fmt: skip
        click.echo(table, err=True)


def _cells(spent: float, whole: float) -> list[str]:
    return [f"{1000 * spent:,.1f}", f"{100 * spent / whole:.1f} %"]


class _TimedBook(Book):
    """The rules of a run, each timed. All rules run on each conversation, so that the number of calls is complete."""

    def __init__(self, options: Options, timing: Timing) -> None:
        self.timing = timing
        super().__init__(options)
        self.has_triggers = False

    def concerned(self, found: frozenset[str]) -> list[Entry]:  # noqa: ARG002 - all rules run
        return self.rules()

    def rules(self) -> list[Entry]:
        if self.entries is None:
            self.entries = list(map(self.timing.timed, super().rules()))
        return self.entries

    def watch(self) -> Watch | None:
        own = super().watch()
        if own is None:
            return None
        timed = _TimedWatch(own.rules, own.told)
        timed.timing = self.timing
        return timed


class _TimedWatch(Watch):
    """The user's own rules, each timed."""

    timing: Timing

    def found(self, rule: OwnRule, record: Record, value: Any) -> list[Finding]:
        return self.timing.asked(OWN + rule.name, lambda: super(_TimedWatch, self).found(rule, record, value))
