"""Write annotations for GitHub: workflow commands that a runner finds in the log.

GitHub shows ten annotations of a kind for each step and drops the rest without a message. So the rest is
written as plain lines, and a last notice reports it. Columns are in UTF-16 code units, as browsers count
them. The runner expects no columns where a position spans lines.
"""

from collections import Counter

from turnlint.engine import Crash, Event, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.concise import line_of
from turnlint.report.escape import in_command, in_property, line_start, visible
from turnlint.report.paths import shown
from turnlint.report.words import answer, behind, counted, crashed, left_out, repair
from turnlint.rows import Row

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
MOST = {"error": 9, "warning": 10, "info": 9}
"""Limit of the annotations of a severity: ten, less one for the message at the end."""


class GitHub:
    def __init__(self, write: Write) -> None:
        self.write = write
        self.count: Counter[str] = Counter()

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            severity = event.finding.severity
            self.count[severity] += 1
            self.write(
                (_annotation(event) if self.count[severity] <= MOST[severity] else line_of(event)) + "\n"
            )
        elif isinstance(event, Crash):
            self.count["error"] += 1
            place = {"file": shown(event.path), "line": event.line, "title": "a rule crashed"}
            there = f"{line_start(event.path)}:{event.line}:1: {visible(crashed(event))}"
            shows = self.count["error"] <= MOST["error"]
            self.write((_command("error", place, crashed(event)) if shows else there) + "\n")

    def finish(self, tally: Tally, *, complete: bool) -> None:
        more = counted({kind: max(0, self.count[kind] - most) for kind, most in MOST.items()})
        if more:
            words = f"{more} more: GitHub shows at most ten of a kind per step; the log lists all"
            self.write(_command("notice", {"title": "turnlint"}, words) + "\n")
        if not complete:
            self.write(_command("error", {"title": "turnlint"}, left_out(tally)) + "\n")


def _annotation(row: Row) -> str:
    finding = row.finding
    place: dict[str, object] = {"file": shown(row.path), "line": row.place.line}
    if row.place.span:
        start, end = row.place.span
        place["endLine"] = end.line
        if start.line == end.line:
            place |= {"col": start.unit, "endColumn": end.unit}
    place["title"] = finding.code + behind(finding)
    lines = [finding.message, answer(finding), repair(finding)]
    return _command(COMMANDS[finding.severity], place, "\n".join(visible(line) for line in lines if line))


def _command(name: str, properties: dict[str, object], message: str) -> str:
    written = ",".join(f"{key}={in_property(str(value))}" for key, value in properties.items())
    return f"::{name} {written}::{in_command(message)}"


def open_sink(_: str, write: Write, __: Look) -> Sink:
    return GitHub(write)
