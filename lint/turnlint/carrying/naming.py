"""Mask the values of naming keys in an envelope, so that records which differ only in a name share a cache entry.

An envelope is a record without its messages. Its identifiers and times differ in each line of a real log,
and no format, provider or rule depends on them.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from turnlint.carrying.saying import TIMES

NAMES = frozenset({
    "chat_id", "conversation_id", "conversationId", "custom_id", "id", "request_id", "requestId",
    "session_id", "sessionId", "thread_id", "threadId", "trace_id",
})  # fmt: skip
"""Keys whose value names a record. A key with a second meaning (`conversation`, `key`) is not masked."""
MAX_NAME_BYTES = 200

_MARK = b"turnlint masks name "
_VALUE = re.compile(
    rb'("(?:%b)"[ \t]*:[ \t]*)"[0-9A-Za-z_.:+ -]{1,%d}"|("(?:%b)"[ \t]*:[ \t]*)-?[0-9][0-9.]{0,30}(?=[ \t]*[,}])'
    % (
        b"|".join(sorted(one.encode() for one in NAMES | TIMES)),
        MAX_NAME_BYTES,
        b"|".join(sorted(one.encode() for one in TIMES)),
    )
)
"""A naming key with a plain string, or a time as a number."""


class Masked(NamedTuple):
    """An envelope with masked values, and the values in order."""

    envelope: bytes
    values: Sequence[bytes]

    def original(self, name: str | None) -> str | None:
        """Return the value that a masked name replaces, or the name itself."""
        start = _MARK.decode()
        if name is None or not self.values or not name.startswith(start):
            return name
        return self.values[int(name.removeprefix(start))].decode()


def mask(envelope: bytes) -> Masked:
    """Replace each value of a naming key."""
    values: list[bytes] = []

    def replace(found: re.Match[bytes]) -> bytes:
        key, time = found.groups()
        if key is None:
            return bytes(time) + b"0"
        values.append(found[0][len(key) + 1 : -1])
        return bytes(key) + b'"%b%d"' % (_MARK, len(values) - 1)

    if _MARK in envelope:
        return Masked(envelope, ())
    return Masked(_VALUE.sub(replace, envelope), values)
