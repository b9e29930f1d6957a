"""Findings counted by rule, file, model, provider or day.

This module owns that count. What it holds is bounded: when twice as many keys were met as are kept, the greatest stay, and
what the others had is summed. The findings of a file come one after another, so its number is exact; a rarer key of another
kind that is met again after that begins anew. It refuses to know how a table looks.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from turnlint.model import SEVERITIES
from turnlint.report.escape import clip, line_start
from turnlint.rows import Row
from turnlint.text import truncate

SCHEMA = "turnlint/statistics-v1"
MOST = 1_000
SHOWN = 50
"""So many are in a table."""
WIDEST = 120
LONGEST = 500
OF: dict[str, Callable[[Row], str | None]] = {
    "rule": lambda row: row.finding.rule,
    "file": lambda row: row.path,
    "model": lambda row: row.said.models[0] if row.said and row.said.models else None,
    "provider": lambda row: row.finding.provider,
    "day": lambda row: row.said.day if row.said else None,
}
UNSAID = {
    "model": "(unknown)", "day": "(unknown)", "provider": "(no provider)",
}  # fmt: skip
"""What a table says where there is no key. In JSON it is null."""

Counts = dict[str, int]


def _none() -> Counts:
    return dict.fromkeys(SEVERITIES, 0)


class Others(Struct):
    """What is counted and not listed."""

    keys: int = 0
    findings: Counts = field(default_factory=_none)

    def take(self, counts: Counts) -> None:
        self.keys += 1
        _add(self.findings, counts)


class Count:
    """Findings by one of those, as they come."""

    def __init__(self, by: str, most: int = MOST) -> None:
        self.by = by
        self.key_of = OF[by]
        self.most = most
        self.counts: dict[str | None, Counts] = {}
        self.others = Others()

    def take(self, row: Row) -> None:
        key = truncate(self.key_of(row) or None, LONGEST)
        if key not in self.counts:
            if len(self.counts) >= 2 * self.most:
                self._let_go()
            self.counts[key] = _none()
        self.counts[key][row.finding.severity] += 1

    def _let_go(self) -> None:
        for one, counts in self._ranked()[self.most :]:
            self.others.take(counts)
            del self.counts[one]

    def _ranked(self) -> list[tuple[str | None, Counts]]:
        return sorted(
            self.counts.items(), key=lambda item: (-sum(item[1].values()), item[0] is None, item[0] or "")
        )

    def listed(self, most: int) -> tuple[list[tuple[str | None, Counts]], Others]:
        """So many keys at most, the greatest, and the sum of all others. Days stand in their order."""
        ranked = self._ranked()
        others = Others(self.others.keys, dict(self.others.findings))
        for _, counts in ranked[most:]:
            others.take(counts)
        kept = ranked[:most]
        if self.by == "day":
            kept.sort(key=lambda item: (item[0] is None, item[0] or ""))
        return kept, others


def _add(mine: Counts, theirs: Counts) -> None:
    for level, count in theirs.items():
        mine[level] += count


def table_of(count: Count) -> tuple[list[str], list[list[str]]]:
    """The count as a table has it: headers and rows."""
    kept, others = count.listed(SHOWN)
    rows = [
        [clip(line_start(key), WIDEST) if key else UNSAID[count.by], *_cells(counts)] for key, counts in kept
    ]
    if others.keys:
        rows.append([f"({others.keys:,} more)", *_cells(others.findings)])
    return [count.by, "findings", *(level if level == "info" else f"{level}s" for level in SEVERITIES)], rows


def _cells(counts: Counts) -> list[str]:
    return [f"{one:,}" for one in (sum(counts.values()), *counts.values())]


def report_of(count: Count) -> dict[str, Any]:
    """The count as the JSON report has it."""
    kept, others = count.listed(MOST)
    return {
        "schema": SCHEMA,
        "by": count.by,
        "counts": [{"key": key, "findings": counts} for key, counts in kept],
        "others": {"keys": others.keys, "findings": others.findings},
    }
