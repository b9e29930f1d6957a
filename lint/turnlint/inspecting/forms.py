"""Classify the form of an id.

A form does not identify the provider: gateways make ids in the form of others.
"""

import re

from turnlint.ids import is_canonical
from turnlint.ledger import is_missing, is_redacted

FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (form, re.compile(pattern))
    for form, pattern in (
        ("call_…|fc_…", r"call_[^|]*\|fc_.*"),
        ("call_…", r"call_.*"),
        ("toolu_…", r"toolu_.*"),
        ("srvtoolu_…", r"srvtoolu_.*"),
        ("tooluse_…", r"tooluse_.*"),
        ("fc_…", r"fc_.*"),
        ("chatcmpl-tool-…", r"chatcmpl-tool-.*"),
        ("functions.NAME:N", r"functions\..*:[0-9]+"),
        ("NAME:N", r"[A-Za-z0-9_-]+:[0-9]+"),
        ("UUID", r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"),
        ("digits", r"[0-9]+"),
        ("9 letters or digits", r"[A-Za-z0-9]{9}"),
        ("[A-Za-z0-9_-]+", r"[A-Za-z0-9_-]+"),
    )
)
CANONICAL, REDACTED, ABSENT, OTHER = "hist_tool_…", "redacted", "none", "other"


def form_of(identifier: str | None) -> str:
    """Return the first form that matches an id."""
    if is_missing(identifier) or identifier is None:
        return ABSENT
    if is_redacted(identifier):
        return REDACTED
    if is_canonical(identifier):
        return CANONICAL
    return next((form for form, pattern in FORMS if pattern.fullmatch(identifier)), OTHER)
