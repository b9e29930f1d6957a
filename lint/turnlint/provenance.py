"""Read models and day from a record: from the record, a request, an answer or an envelope.

Missing values are unknown: no value is guessed, and no clock is read.
"""

import re
from collections.abc import Iterator
from typing import Any

from turnlint.documents.decode import value_of
from turnlint.rows import Said

MODELS = ("model", "modelVersion", "model_version", "modelId", "model_id", "modelName", "model_name")
DAYS = (
    "timestamp", "created_at", "createdAt", "created", "create_time", "createTime", "datetime", "date", "time", "ts",
    "start_time", "startTime", "started_at", "startedAt",
)  # fmt: skip
INSIDE = (
    "request", "request_body", "body", "params", "input", "response", "response_body", "result", "output",
    "message", "payload", "metadata", "meta",
)  # fmt: skip
"""Keys below which more of these fields may be."""
DEEPEST = 3
LONGEST = 400
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)", re.ASCII)
_SCALES = ((10**8, 1), (10**11, 10**3), (10**14, 10**6), (10**17, 10**9), (10**20, 0))
"""Least value of a timestamp in seconds, milliseconds and so on, with its divisor: no log is older than 1973."""


def said_in(data: bytes, model: str | None = None) -> Said:
    """Return the models and the day of a record, with the model of its request as read before."""
    levels = list(_levels(value_of(data))) if data else []
    models = [model] if model else []
    models += [one for level in levels for one in _texts(level, MODELS)]
    days = (day for level in levels for key in DAYS if key in level and (day := day_of(level[key])))
    return Said(tuple(dict.fromkeys(models)), next(days, ""))


def _levels(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the record and the envelopes in it, from outside to inside."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [one for one in level if isinstance(one, dict)]
        yield from level
        level = [one[key] for one in level for key in INSIDE if key in one]


def _texts(level: dict[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        text = level.get(key)
        if isinstance(text, str) and 0 < len(text) <= LONGEST:
            yield text


def day_of(value: Any) -> str:
    """Return the day of a time in a log; the day in UTC for a timestamp; empty for any other value."""
    from datetime import UTC, date, datetime, timedelta

    try:
        if isinstance(value, str):
            found = _DAY.match(value)
            return date.fromisoformat(found[0]).isoformat() if found else ""
        if isinstance(value, int | float) and not isinstance(value, bool):
            scale = next((scale for start, scale in reversed(_SCALES) if value >= start), 0)
            start = datetime(1970, 1, 1, tzinfo=UTC)
            return (start + timedelta(seconds=value / scale)).date().isoformat() if scale else ""
    except (ValueError, OverflowError):
        pass
    return ""
