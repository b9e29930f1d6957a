"""Detect messages that a program stores, by keys that no request has."""

from msgspec import Raw, Struct, json

from turnlint.carrying.raws import NOTHING
from turnlint.documents.decode import dig
from turnlint.model import Pointer

KEYS = ("ts", "timestamp", "createdAt", "created_at", "updatedAt", "modelInfo", "metrics", "turn_idx")
"""Cline, Roo Code, Mastra and tau2 write them (seen in their logs, 2026-11)."""
_MARKS = tuple(b'"%s"' % key.encode() for key in KEYS)
_LARGEST_SHARE = 0.2


class _Stored(Struct, gc=False):
    ts: Raw = NOTHING
    timestamp: Raw = NOTHING
    createdAt: Raw = NOTHING
    created_at: Raw = NOTHING
    updatedAt: Raw = NOTHING
    modelInfo: Raw = NOTHING
    metrics: Raw = NOTHING
    turn_idx: Raw = NOTHING


_messages = json.Decoder(list[_Stored])
_NEW = _Stored()


def may_be_stored(data: bytes) -> bool:
    """Whether a record may have such a key."""
    return any(mark in data for mark in _MARKS)


def is_stored(data: bytes, at: Pointer) -> bool:
    """Whether more than a fifth of the messages at a pointer have such a key."""
    if not may_be_stored(data):
        return False
    try:
        messages = _messages.decode(_listed(data, at))
    except (ValueError, RecursionError, KeyError):
        return False
    return sum(one != _NEW for one in messages) > _LARGEST_SHARE * len(messages)


def _listed(data: bytes, at: Pointer) -> bytes | Raw:
    if not at:
        return data
    holder = dig(data, at[:-1])
    return json.decode(holder or b"{}", type=dict[str, Raw])[str(at[-1])]
