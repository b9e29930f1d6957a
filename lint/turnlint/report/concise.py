"""One line a finding: `path:line:column: CODE[severity] rule: message`.

This module owns that line. It refuses to group or to show content.
"""

from turnlint.engine import Crash, Event, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import line_start, visible
from turnlint.rows import Row


class Concise:
    def __init__(self, write: Write) -> None:
        self.write = write

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            finding, place = event.finding, event.place
            named = finding.fault == "projection" and finding.provider
            here = f" at {visible(finding.provider or '')}" if named else ""
            self.write(
                f"{line_start(event.path)}:{place.line}:{place.column}: "
                f"{finding.code}[{finding.severity}] {finding.rule}{here}: {visible(finding.message)}\n"
            )
        elif isinstance(event, Crash):
            self.write(
                f"{line_start(event.path)}:{event.line}:1: {event.rule} crashed: {visible(event.reason)}\n"
            )

    def finish(self, tally: Tally, *, complete: bool) -> None:
        """Lines speak for themselves: no sum."""


def open_sink(_: str, write: Write, __: Look) -> Sink:
    return Concise(write)
