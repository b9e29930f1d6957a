"""Write one line for each finding: `path:line:column: CODE[severity] rule: message`.

The code of a user's own rule is its name, which is written once.
"""

from turnlint.engine import Crash, Event, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import line_start, visible
from turnlint.report.words import behind
from turnlint.rows import Row


class Concise:
    def __init__(self, write: Write) -> None:
        self.write = write

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            self.write(line_of(event) + "\n")
        elif isinstance(event, Crash):
            self.write(
                f"{line_start(event.path)}:{event.line}:1: {event.rule} crashed: {visible(event.reason)}\n"
            )

    def finish(self, tally: Tally, *, complete: bool) -> None:
        """Write nothing: this format has no summary."""


def line_of(row: Row) -> str:
    finding, place = row.finding, row.place
    return (
        f"{line_start(row.path)}:{place.line}:{place.column}: "
        f"{finding.code}[{finding.severity}]{visible(behind(finding))}: {visible(finding.message)}"
    )


def open_sink(_: str, write: Write, __: Look) -> Sink:
    return Concise(write)
