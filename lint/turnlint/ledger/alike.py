"""Equality of calls, of results and of ids, whatever the spelling.

This module compares two calls by name and by the values of their arguments, and brings ids into one form.
"""

from turnlint.documents.decode import are_equal, normal
from turnlint.ledger.values import Answered
from turnlint.model import Call

NEAR = 16
"""With how many others a result is compared, so that ten thousand under one id cost no more than their number."""


def is_same_call(one: Call, other: Call) -> bool:
    """Whether two calls ask one tool for the same: equal values are the same, however they are written."""
    return one.name == other.name and are_equal(one.body, other.body)


def is_copy(one: Answered, other: Answered) -> bool:
    """Whether one result says what the other does: the same text, or all of it with something added."""
    if one.result.body == other.result.body:
        return True
    short, long = sorted((normal(one.result.body), normal(other.result.body)), key=len)
    return short == long or (short[:1] == b'"' and len(short) > 2 and long.startswith(short[:-1]))


def normal_form(identifier: str) -> str:
    """An id without white space at its ends, in one Unicode form."""
    stripped = identifier.strip()
    if stripped.isascii():
        return stripped
    from unicodedata import normalize

    return normalize("NFC", stripped)
