"""Compare the completions of a call: the same state and the same content, in any spelling."""

from functools import lru_cache

from msgspec import Raw, json

from turnlint.documents import census
from turnlint.documents.decode import normal
from turnlint.lifecycle import says_only_cancelled, state_of
from turnlint.model import Result

TEXT_TYPES = (b'"text"', b'"input_text"', b'"output_text"')
"""Types of a part that is a text."""
MAX_CONTENTS = 2
"""Number of contents kept in normal form, so that a result with many copies is read once."""


def is_same_completion(one: Result, other: Result) -> bool:
    """Whether two results complete a call in the same way: with one state and one content, or by a cancellation each.

    The words of a cancellation do not matter, but an output beside it does.
    """
    state = state_of(one)
    if state != state_of(other):
        return False
    if state == "cancelled" and says_only_cancelled(one) and says_only_cancelled(other):
        return True
    return has_same_content(one.body, other.body)


def has_same_content(one: bytes, other: bytes) -> bool:
    """Whether two contents of results are one value, in any spelling: a text may be the only part of a list."""
    return one == other or _kept(one) == _kept(other)


@lru_cache(maxsize=MAX_CONTENTS)
def _kept(body: bytes) -> bytes:
    return content_of(body)


def content_of(body: bytes) -> bytes:
    """Return a content in normal form: a text without a list around it, and with JSON inside it in normal form."""
    if body[:1] == b"[":
        body = _only_text(body)
    inner = _json_inside(body) if body[:1] == b'"' else None
    return normal(body) if inner is None else b'"' + normal(inner)


def _only_text(body: bytes) -> bytes:
    """Return the text of a list with one part that has nothing but this text; else the list."""
    try:
        parts = json.decode(body, type=list[dict[str, Raw]])
    except (ValueError, RecursionError):
        return body
    if len(parts) != 1 or not parts[0].keys() <= {"type", "text"}:
        return body
    kind, text = bytes(parts[0].get("type", TEXT_TYPES[0])), bytes(parts[0].get("text", b""))
    return text if kind in TEXT_TYPES and text[:1] == b'"' else body


def _json_inside(text: bytes) -> bytes | None:
    """Return the object or list inside of a text, unless readers may read it in several ways."""
    if text[1:].lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        inner = json.decode(text, type=str).encode()
    except (ValueError, RecursionError):
        return None
    return inner if census.is_plain(inner) else None
