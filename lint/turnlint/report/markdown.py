"""Write Markdown: a report of all findings, and a page for the summary of a step on GitHub.

The summary has a limited number of the worst findings: GitHub accepts a mebibyte for a step. No text of a
conversation is interpreted as markup.
"""

from collections import Counter
from collections.abc import Iterator

from turnlint.engine import Crash, Event, Skipped, Tally
from turnlint.model import SEVERITIES
from turnlint.neighbours import reason_of
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import as_code, clip, in_markdown, visible
from turnlint.report.paths import shown
from turnlint.report.words import answer, behind, crashed, found, left_out, skipped
from turnlint.rows import Row
from turnlint.text import pluralize

MOST = 20
"""Limit of the findings on a summary page."""
LONGEST = 600
HEAD = "# turnlint\n\n"


class Everything:
    """Sink that writes each finding under its file, and the summary last."""

    def __init__(self, write: Write) -> None:
        self.write = write
        self.path: str | None = None

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            self._under(event.path)
            self.write(_item(event, _place(event)))
        elif isinstance(event, Crash):
            self._under(event.path)
            self.write(f"- **crash** at line {event.line}: {in_markdown(crashed(event))}\n")

    def _under(self, path: str) -> None:
        if path != self.path:
            self.write(HEAD if self.path is None else "\n")
            self.write(f"**{as_code(shown(path))}**\n\n")
            self.path = path

    def finish(self, tally: Tally, *, complete: bool) -> None:
        self.write(HEAD if self.path is None else "\n")
        for piece in _sum(tally, complete=complete):
            self.write(piece)


class Summary:
    """Sink that writes the summary first, then the worst findings."""

    def __init__(self, write: Write) -> None:
        self.write = write
        self.worst: dict[str, list[Row]] = {severity: [] for severity in SEVERITIES}
        self.crashes: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            rows = self.worst[event.finding.severity]
            if len(rows) < MOST:
                rows.append(event)
        elif isinstance(event, Crash):
            self.crashes[crashed(event)] += 1
        elif isinstance(event, Skipped):
            self.skipped[reason_of(event.near)] += 1

    def finish(self, tally: Tally, *, complete: bool) -> None:
        self.write(HEAD)
        for piece in _sum(tally, complete=complete):
            self.write(piece)
        if self.skipped:
            self.write(f"\n{in_markdown(skipped(self.skipped))}.\n")
        if self.crashes:
            self.write("\n")
        for words, count in self.crashes.most_common(MOST):
            self.write(f"- **crash**, {pluralize(count, 'time')}: {in_markdown(words)}\n")
        shown_rows = [row for severity in SEVERITIES for row in self.worst[severity]][:MOST]
        if shown_rows:
            self.write("\n")
        for row in shown_rows:
            self.write(_item(row, f"{as_code(shown(row.path))}, {_place(row)}"))
        left = sum(tally.findings.values()) - len(shown_rows)
        if left > 0:
            self.write(f"\nAnd {left:,} more.\n")


def _place(row: Row) -> str:
    return f"line {row.place.line}, column {row.place.column}"


def _item(row: Row, place: str) -> str:
    finding = row.finding
    name = as_code(finding.code + behind(finding))
    lines = [f"- **{finding.severity}** {name} at {place}: {in_markdown(_short(finding.message))}"]
    if words := answer(finding):
        who, _, said = words.partition(": ")
        lines.append(f"  {in_markdown(who)}: {as_code(_short(said))}")
    if finding.fix:
        lines.append(f"  fix: {in_markdown(_short(finding.fix.title))} ({finding.fix.level})")
    return "<br>\n".join(lines) + "\n"


def _short(text: str) -> str:
    return clip(visible(" ".join(text.split())), LONGEST)


def _sum(tally: Tally, *, complete: bool) -> Iterator[str]:
    yield found(tally) + "\n"
    if not complete:
        yield f"\n**Not complete**: {left_out(tally)}.\n"
    if tally.rules:
        yield "\n| rule | findings |\n|---|---:|\n"
        for name, count in sorted(tally.rules.items(), key=lambda item: (-item[1], item[0])):
            yield f"| {as_code(name.replace('|', '/'))} | {count:,} |\n"


def open_sink(name: str, write: Write, _: Look) -> Sink:
    return Summary(write) if name == "github-summary" else Everything(write)
