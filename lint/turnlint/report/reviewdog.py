"""Write diagnostics for reviewdog, one on each line or in one document.

Columns are in bytes, and an end is the first column behind the range, by the protocol. Output is written
immediately, so a report may be larger than memory.
"""

from json import dumps
from typing import Any

from turnlint.engine import Crash, Event, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import in_json, visible
from turnlint.report.paths import shown
from turnlint.report.words import crashed, title
from turnlint.rows import Point, Row

SOURCE = {"name": "turnlint"}
SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


class Diagnostics:
    def __init__(self, write: Write) -> None:
        self.write = write

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            finding, place = event.finding, event.place
            start, end = place.span or (None, None)
            where = (
                {"start": _position(start), "end": _position(end)}
                if start and end
                else {"start": {"line": place.line}}
            )
            words = f"{title(finding)}: {finding.message}"
            self._diagnostic(words, event.path, where, SEVERITIES[finding.severity], finding.code)
        elif isinstance(event, Crash):
            self._diagnostic(crashed(event), event.path, {"start": {"line": event.line}}, "ERROR", "crash")

    def _diagnostic(self, words: str, path: str, where: dict[str, Any], severity: str, code: str) -> None:
        diagnostic = {
            "message": visible(words),
            "location": {"path": visible(shown(path)), "range": where},
            "severity": severity,
            "source": SOURCE,
            "code": {"value": visible(code)},
        }
        self._put(in_json(dumps(diagnostic)))

    def _put(self, diagnostic: str) -> None:
        self.write(diagnostic + "\n")

    def finish(self, tally: Tally, *, complete: bool) -> None:
        """Write nothing: this format has no summary."""


class Result(Diagnostics):
    """Sink that writes one `DiagnosticResult` with a diagnostic on each line."""

    def __init__(self, write: Write) -> None:
        super().__init__(write)
        self.begun = False

    def _put(self, diagnostic: str) -> None:
        self.write((",\n  " if self.begun else self._head() + "\n  ") + diagnostic)
        self.begun = True

    def _head(self) -> str:
        return f'{{"source": {dumps(SOURCE)}, "diagnostics": ['

    def finish(self, tally: Tally, *, complete: bool) -> None:  # noqa: ARG002 - the protocol has no word for either
        self.write("\n]}\n" if self.begun else self._head() + "]}\n")


def _position(point: Point) -> dict[str, int]:
    return {"line": point.line, "column": point.octet}


def open_sink(name: str, write: Write, _: Look) -> Sink:
    return Result(write) if name == "rdjson" else Diagnostics(write)
