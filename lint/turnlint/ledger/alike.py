"""Compare calls, results and ids regardless of their spelling.

Calls are compared by name and by the values of their arguments. Ids are brought into one form.
"""

from turnlint.documents.decode import are_equal, normal
from turnlint.ledger.values import Answered
from turnlint.model import Call

NEAR = 16
"""The maximum number of comparisons per result, so that ten thousand results under one id take linear time."""


def is_same_call(one: Call, other: Call) -> bool:
    """Whether two calls have the same tool and equal arguments, in any spelling."""
    return one.name == other.name and are_equal(one.body, other.body)


def is_copy(one: Answered, other: Answered) -> bool:
    """Whether one result repeats the other: the same text, or the same text extended."""
    from turnlint.completions import has_same_content  # few logs have a second result of a call

    if has_same_content(one.result.body, other.result.body):
        return True
    short, long = sorted((normal(one.result.body), normal(other.result.body)), key=len)
    return short[:1] == b'"' and len(short) > 2 and long.startswith(short[:-1])


def normal_form(identifier: str) -> str:
    """Return an id without white space at its ends, in one Unicode form."""
    stripped = identifier.strip()
    if stripped.isascii():
        return stripped
    from unicodedata import normalize

    return normalize("NFC", stripped)
