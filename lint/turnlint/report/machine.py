"""Write the report for programs: `turnlint/report-v1` as one document, or as a line for each finding.

`turnlint schema report` prints the JSON Schema. Output is written immediately, so a report may be larger than
memory. It is ASCII, so no part of it controls a terminal.
"""

import re
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, UnsetType, json, to_builtins

from turnlint.engine import Diagnosis, Event, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import in_json
from turnlint.rows import Row
from turnlint.text import truncate

if TYPE_CHECKING:
    from turnlint.repair.spool import Spool
    from turnlint.report.statistics import Count

SCHEMA = "turnlint/report-v1"
LONGEST_NAME = 500
_WORDS = {True: "true", False: "false"}


class _Conversation(Struct, gc=False):
    id: str | None
    index: int


class _Related(Struct, gc=False):
    note: str
    line: int
    pointer: str


class _Repair(Struct, gc=False):
    level: str
    title: str


class Reported(Struct, gc=False):
    """A finding in the report, key by key."""

    code: str
    rule: str
    fault: str
    severity: str
    message: str
    provider: str | None
    provider_error: str | None
    path: str
    line: int
    column: int
    byte_offset: int
    byte_end: int
    pointer: str
    conversation: _Conversation | None
    message_index: int | None
    call_id: str | None
    tool: str | None
    related: list[_Related]
    fix: _Repair | None
    fingerprint: str
    count: int | UnsetType = UNSET


def reported(row: Row) -> Reported:
    finding, place, fix, conversation = row.finding, row.place, row.finding.fix, None
    if finding.conversation_index is not None:
        conversation = _Conversation(truncate(finding.conversation, LONGEST_NAME), finding.conversation_index)
    return Reported(
        finding.code, finding.rule, finding.fault, finding.severity, finding.message,
        finding.provider, finding.provider_error,
        row.path, place.line, place.column, place.offset, place.end, place.pointer,
        conversation, finding.message_index,
        truncate(finding.call_id, LONGEST_NAME), truncate(finding.tool, LONGEST_NAME),
        [_Related(note, there.line, there.pointer) for note, there in row.related],
        _Repair(fix.level, fix.title) if fix else None,
        row.fingerprint, row.count if row.count > 1 else UNSET,
    )  # fmt: skip


def written(value: Any) -> str:
    """Return a value as one line of JSON in ASCII, as `json.dumps` has it but three times as fast."""
    try:
        text = json.format(json.encode(value), indent=0).decode()
    except UnicodeEncodeError:  # a lone surrogate, which `json` can escape
        from json import dumps

        return dumps(to_builtins(value))
    return text if text.isascii() and text.isprintable() else re.sub(r"[^ -~]", _escaped, text)


def _escaped(char: re.Match[str]) -> str:
    units = char[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def summary_of(tally: Tally) -> dict[str, Any]:
    return {
        "files": tally.files,
        "skipped": tally.skipped,
        "conversations": tally.conversations,
        "messages": tally.messages,
        "calls": tally.calls,
        "results": tally.results,
        "findings": tally.findings,
        "rules": dict(sorted(tally.rules.items())),
        "providers": dict(sorted(tally.providers.items())),
        "across": dict(sorted(tally.across.items())),
        "ignored": dict(sorted(tally.ignored.items())),
        "noted": dict(sorted(tally.noted.items())),
    }


class _Counting:
    """The optional statistics beside the tally."""

    def __init__(self, look: Look) -> None:
        self.count: Count | None = None
        if look.statistics:
            from turnlint.report import statistics

            self.count = statistics.Count(look.statistics)

    def take(self, row: Row) -> None:
        if self.count:
            self.count.take(row)

    def summary(self, tally: Tally) -> str:
        summary = summary_of(tally)
        if self.count:
            from turnlint.report.statistics import report_of

            summary["statistics"] = report_of(self.count)
        return in_json(written(summary))


class Lines:
    """Sink that writes a line for each finding, and the summary last."""

    def __init__(self, write: Write, look: Look) -> None:
        self.write = write
        self.counting = _Counting(look)

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            self.write(in_json(written(reported(event))) + "\n")
            self.counting.take(event)
        elif isinstance(event, Diagnosis):
            self.write(f'{{"diagnostics": {_diagnosed(event)}}}\n')

    def finish(self, tally: Tally, *, complete: bool) -> None:
        summary = self.counting.summary(tally)
        self.write(f'{{"schema": "{SCHEMA}", "complete": {_WORDS[complete]}, "summary": {summary}}}\n')


class Document:
    """Sink that writes one JSON document with a finding on each line."""

    def __init__(self, write: Write, look: Look) -> None:
        self.write = write
        self.counting = _Counting(look)
        self.count = 0
        self.diagnosed: Spool[str] | None = None
        """The ids of conversations, which follow the findings; many of them are in a file."""

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            self._open()
            self.write(("\n  " if self.count == 0 else ",\n  ") + in_json(written(reported(event))))
            self.count += 1
            self.counting.take(event)
        elif isinstance(event, Diagnosis):
            if self.diagnosed is None:
                from turnlint.repair.spool import Spool

                self.diagnosed = Spool()
            self.diagnosed.append(_diagnosed(event))

    def _open(self) -> None:
        if not self.count:
            self.write(f'{{"schema": "{SCHEMA}", "findings": [')

    def finish(self, tally: Tally, *, complete: bool) -> None:
        self._open()
        self.write("\n" if self.count else "")
        if self.diagnosed is not None:
            self.write('], "conversations": [')
            for number, one in enumerate(self.diagnosed):
                self.write((",\n  " if number else "\n  ") + one)
            self.write("\n")
        self.write(f'], "summary": {self.counting.summary(tally)}, "complete": {_WORDS[complete]}}}\n')


def _diagnosed(event: Diagnosis) -> str:
    """Return the entry of a conversation as one line of JSON."""
    from turnlint.report.diagnostics import as_json

    return in_json(written(as_json(event)))


def open_sink(name: str, write: Write, look: Look) -> Sink:
    return Document(write, look) if name == "json" else Lines(write, look)
