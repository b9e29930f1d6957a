"""When a conversation was had, and by which model, as far as a record says.

This module owns where formats and gateways write it. A finding's own record is asked first, then those that belong to its
story, so that the answer is the same however a log is cut. A day is taken as it is written; a number is seconds of UTC or
a decimal fraction of them. It refuses to guess, and to look at a clock.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import DecodeError, Raw, json, structs

from turnlint.model import Finding, Record, Transcript
from turnlint.rows import Row

HOLDERS = (
    (), ("message",), ("request",), ("body",), ("request", "body"), ("params",), ("payload",), ("response",), ("metadata",),
    ("response_metadata",), ("kwargs",), ("kwargs", "response_metadata"),
)  # fmt: skip
MODELS = ("model", "modelId", "model_name", "model_id")
DAYS = (
    "timestamp", "created_at", "createdAt", "created", "start_time", "startTime", "started_at", "@timestamp", "datetime",
    "date", "time", "ts",
)  # fmt: skip
LONGEST = 200
"""No model's name is longer."""
_KEYS = json.Decoder(dict[str, Raw])
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])")
_NEAREST, _LAST = 86_400 * 365 * 20, 86_400 * 365 * 230
"""Seconds from 1990 to 2200: no other unit of a time that a log holds falls between them."""

Fields = dict[tuple[str, ...], dict[str, Raw]]


def told(rows: list[Row], transcripts: list[Transcript | None], wanted: tuple[str, ...]) -> list[Row]:
    """Rows with the `model` and the `day` of each, while the bytes of their records are there."""
    said = _Said(wanted)
    return [
        structs.replace(row, **said.of(row.finding, transcript))
        for row, transcript in zip(rows, transcripts, strict=True)
    ]


class _Said:
    """What records say, each looked into once."""

    def __init__(self, wanted: tuple[str, ...]) -> None:
        self.wanted = wanted
        self.met: dict[int, Fields] = {}

    def of(self, finding: Finding, transcript: Transcript | None) -> dict[str, str]:
        """The `model` and the `day` of a finding; nothing where nobody says."""
        found: dict[str, str] = {}
        records = [finding.where.record, *(one.where.record for one in finding.related)]
        if "model" in self.wanted:
            request = transcript.request if transcript else None
            said = request.model if request else None
            found["model"] = (said or _first(_models(self._fields(one)) for one in records))[:LONGEST]
        if "day" in self.wanted:
            found["day"] = _first(_days(self._fields(one)) for one in records)
        return found

    def _fields(self, record: Record) -> Fields:
        if id(record) not in self.met:
            self.met[id(record)] = _opened(record.data)
        return self.met[id(record)]


def _opened(data: bytes | Raw) -> Fields:
    fields: Fields = {(): _keys_of(data)}
    for path in HOLDERS[1:]:
        held = fields.get(path[:-1], {}).get(path[-1])
        if held is not None and (inside := _keys_of(held)):
            fields[path] = inside
    return fields


def _keys_of(data: bytes | Raw) -> dict[str, Raw]:
    """The keys of an object that can be read; what is damaged says nothing."""
    try:
        return _KEYS.decode(data)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _first(answers: Iterable[Iterator[str]]) -> str:
    return next((found for answer in answers for found in answer), "")


def _models(fields: Fields) -> Iterator[str]:
    for value in _values(fields, MODELS):
        if isinstance(value, str) and value.strip():
            yield value


def _days(fields: Fields) -> Iterator[str]:
    for value in _values(fields, DAYS):
        if day := _day(value):
            yield day


def _values(fields: Fields, names: tuple[str, ...]) -> Iterator[Any]:
    for path in HOLDERS:
        inside = fields.get(path, {})
        for name in names:
            if name in inside:
                try:
                    yield json.decode(inside[name])
                except (DecodeError, UnicodeDecodeError, RecursionError):
                    continue


def _day(value: Any) -> str:
    from datetime import UTC, date, datetime, timedelta

    if isinstance(value, str) and (match := _DAY.match(value.strip())):
        try:
            return date(*map(int, match.groups())).isoformat()
        except ValueError:
            return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):
        seconds = value / unit
        if _NEAREST <= seconds < _LAST:
            return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).date().isoformat()
    return ""
