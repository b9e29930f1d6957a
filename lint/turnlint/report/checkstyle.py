"""Write Checkstyle XML, version 4.3: an `error` for each finding, in the element of its file.

CI servers and review tools read this format. No specification defines the unit of its columns; here it is
characters. A source has the form `turnlint.FAMILY.CODE`: readers use the part behind the last dot as the
rule, and the part before it as the category. Output is written immediately.
"""

from turnlint.engine import Crash, Event, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import in_xml
from turnlint.report.paths import shown
from turnlint.report.words import crashed, left_out, title
from turnlint.rows import Row


class Checkstyle:
    def __init__(self, write: Write) -> None:
        self.write = write
        self.path: str | None = None
        self.begun = False
        self.crashed = False

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            finding, place = event.finding, event.place
            words = f"{title(finding)}: {finding.message}"
            source = f"{finding.fault}.{finding.code}"
            self._error(event.path, (place.line, place.column), finding.severity, words, source)
        elif isinstance(event, Crash):
            self.crashed = True
            self._error(event.path, (event.line, 1), "error", crashed(event), "crash")

    def _error(self, path: str, at: tuple[int, int], severity: str, words: str, source: str) -> None:
        if path != self.path:
            self._close()
            self.write(f'<file name="{in_xml(shown(path))}">\n')
            self.path = path
        line, column = at
        self.write(
            f'<error line="{line}" column="{column}" severity="{severity}" message="{in_xml(words)}"'
            f' source="turnlint.{in_xml(source)}"/>\n'
        )

    def _close(self) -> None:
        if not self.begun:
            self.write('<?xml version="1.0" encoding="UTF-8"?>\n<checkstyle version="4.3">\n')
            self.begun = True
        if self.path is not None:
            self.write("</file>\n")
            self.path = None

    def finish(self, tally: Tally, *, complete: bool) -> None:
        if not complete and not self.crashed:
            self._error("turnlint", (1, 1), "error", left_out(tally), "incomplete")
        self._close()
        self.write("</checkstyle>\n")


def open_sink(_: str, write: Write, __: Look) -> Sink:
    return Checkstyle(write)
