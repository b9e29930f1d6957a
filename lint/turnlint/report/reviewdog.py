"""Reviewdog's diagnostics, one a line.

This module owns that shape. Columns are in bytes, and ends are the first place behind, as its protocol says.
"""

from json import dumps
from typing import Any

from turnlint.engine import Crash, Event, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import in_json, visible
from turnlint.report.paths import shown
from turnlint.report.words import crashed, title
from turnlint.rows import Point, Row

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
            "source": {"name": "turnlint"},
            "code": {"value": visible(code)},
        }
        self.write(in_json(dumps(diagnostic)) + "\n")

    def finish(self, tally: Tally, *, complete: bool) -> None:
        """Lines speak for themselves: no sum."""


def _position(point: Point) -> dict[str, int]:
    return {"line": point.line, "column": point.octet}


def open_sink(_: str, write: Write, __: Look) -> Sink:
    return Diagnostics(write)
