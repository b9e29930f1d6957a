"""The report that programs read: `turnlint/report-v1` as one document, or as a line a finding.

This module owns those shapes; their JSON Schema is what `turnlint schema report` prints. Both are
written as they come, so a report may be larger than memory. ASCII only: nothing in it can steer a
terminal that shows it.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import json

from turnlint.engine import Event, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import in_json
from turnlint.rows import Row
from turnlint.text import truncate

if TYPE_CHECKING:
    from turnlint.report.statistics import Count

SCHEMA = "turnlint/report-v1"
LONGEST_NAME = 500
_WORDS = {True: "true", False: "false"}


def finding_of(row: Row) -> dict[str, Any]:
    """A finding as the report has it."""
    finding, place = row.finding, row.place
    return {
        "code": finding.code,
        "rule": finding.rule,
        "fault": finding.fault,
        "severity": finding.severity,
        "message": finding.message,
        "provider": finding.provider,
        "provider_error": finding.provider_error,
        "path": row.path,
        "line": place.line,
        "column": place.column,
        "byte_offset": place.offset,
        "byte_end": place.end,
        "pointer": place.pointer,
        "conversation": None
        if finding.conversation_index is None
        else {"id": truncate(finding.conversation, LONGEST_NAME), "index": finding.conversation_index},
        "message_index": finding.message_index,
        "call_id": truncate(finding.call_id, LONGEST_NAME),
        "tool": truncate(finding.tool, LONGEST_NAME),
        "related": [
            {"note": note, "line": there.line, "pointer": there.pointer} for note, there in row.related
        ],
        "fix": {"level": finding.fix.level, "title": finding.fix.title} if finding.fix else None,
        "fingerprint": row.fingerprint,
        **({"count": row.count} if row.count > 1 else {}),
    }


def written(row: Row) -> str:
    """The same as it is written, in a third of the time: a log may have very many of them."""
    finding, place, fix = row.finding, row.place, row.finding.fix
    heard = "null"
    if finding.conversation_index is not None:
        heard = f'{{"id": {_name(finding.conversation)}, "index": {finding.conversation_index}}}'
    related = [
        f'{{"note": {_word(note)}, "line": {there.line}, "pointer": {_quoted(there.pointer)}}}'
        for note, there in row.related
    ]
    count = f', "count": {row.count}' if row.count > 1 else ""
    index = "null" if finding.message_index is None else finding.message_index
    error = finding.provider_error
    return (
        f'{{"code": {_word(finding.code)}, "rule": {_word(finding.rule)}, "fault": {_word(finding.fault)}, '
        f'"severity": {_word(finding.severity)}, "message": {_quoted(finding.message)}, '
        f'"provider": {_word(finding.provider)}, "provider_error": {"null" if error is None else _quoted(error)}, '
        f'"path": {_word(row.path)}, "line": {place.line}, "column": {place.column}, '
        f'"byte_offset": {place.offset}, "byte_end": {place.end}, "pointer": {_quoted(place.pointer)}, '
        f'"conversation": {heard}, "message_index": {index}, "call_id": {_name(finding.call_id)}, '
        f'"tool": {_name(finding.tool)}, "related": [{", ".join(related)}], '
        f'"fix": {_fix(fix.level, fix.title) if fix else "null"}, "fingerprint": {_quoted(row.fingerprint)}{count}}}'
    )


def _quoted(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return _dumps()(text)


@lru_cache(maxsize=512)
def _word(text: str | None) -> str:
    """What is said again and again."""
    return "null" if text is None else _quoted(text)


@lru_cache(maxsize=512)
def _fix(level: str, title: str) -> str:
    return f'{{"level": {_quoted(level)}, "title": {_quoted(title)}}}'


def _name(name: str | None) -> str:
    return "null" if name is None else _quoted(truncate(name, LONGEST_NAME) or "")


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
    """What is counted beside the tally, where that was asked for."""

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
            return _text(summary)
        return _sum(summary)


def _text(said: dict[str, Any]) -> str:
    return in_json(_dumps()(said))


@cache
def _dumps() -> Callable[[Any], str]:
    """A run that finds nothing does without: 1.5 of its 40 ms (2026-11)."""
    from json import dumps

    return dumps


def _sum(summary: dict[str, Any]) -> str:
    """The same text for what has no letter to escape."""
    try:
        text = json.format(json.encode(summary), indent=0).decode()
    except UnicodeEncodeError:
        return _text(summary)
    return in_json(text) if text.isascii() and text.isprintable() else _text(summary)


class Lines:
    """A finding a line, the summary last."""

    def __init__(self, write: Write, look: Look) -> None:
        self.write = write
        self.counting = _Counting(look)

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            self.write(in_json(written(event)) + "\n")
            self.counting.take(event)

    def finish(self, tally: Tally, *, complete: bool) -> None:
        summary = self.counting.summary(tally)
        self.write(f'{{"schema": "{SCHEMA}", "complete": {_WORDS[complete]}, "summary": {summary}}}\n')


class Document:
    """One JSON document, its findings one a line."""

    def __init__(self, write: Write, look: Look) -> None:
        self.write = write
        self.counting = _Counting(look)
        self.count = 0

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            self._open()
            self.write(("\n  " if self.count == 0 else ",\n  ") + in_json(written(event)))
            self.count += 1
            self.counting.take(event)

    def _open(self) -> None:
        if not self.count:
            self.write(f'{{"schema": "{SCHEMA}", "findings": [')

    def finish(self, tally: Tally, *, complete: bool) -> None:
        self._open()
        self.write("\n" if self.count else "")
        self.write(f'], "summary": {self.counting.summary(tally)}, "complete": {_WORDS[complete]}}}\n')


def open_sink(name: str, write: Write, look: Look) -> Sink:
    return Document(write, look) if name == "json" else Lines(write, look)
