"""Count findings by rule, file, model, provider or day.

Memory is bounded: when the number of keys reaches twice the limit, the greatest counts stay and the others
are summed. The findings of a file are adjacent, so its count is exact. A rarer key of another kind that
occurs again after that starts from zero.
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
"""Limit of the rows in a table."""
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
"""Text in a table where a finding has no key. In JSON it is null."""

Counts = dict[str, int]


def _none() -> Counts:
    return dict.fromkeys(SEVERITIES, 0)


class Others(Struct):
    """Sum of the counts that are not listed."""

    keys: int = 0
    findings: Counts = field(default_factory=_none)

    def take(self, counts: Counts) -> None:
        self.keys += 1
        _add(self.findings, counts)


class Count:
    """Counts of findings by one kind of key."""

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
        """Return at most `most` keys, the greatest, and the sum of all others. Days are in order."""
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
    """Return the count as headers and rows of a table."""
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
    """Return the count for the JSON report."""
    kept, others = count.listed(MOST)
    return {
        "schema": SCHEMA,
        "by": count.by,
        "counts": [{"key": key, "findings": counts} for key, counts in kept],
        "others": {"keys": others.keys, "findings": others.findings},
    }
