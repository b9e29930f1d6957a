"""Check whether a message has any content at all.

A format reads only the keys that its wire defines. This check covers all other keys, so that a message with content in
an unknown key is not taken for empty.
"""

from typing import Any

from turnlint.carrying.envelope import GROUPS, OWN_IDS, PARENT_IDS

TIMES = frozenset({"timestamp", "time", "ts", "created_at", "createdAt", "created", "date"})
_SHELL = frozenset({"role", "speaker", "type", "status", "index", "name", "prefix"})
_ORIGIN = frozenset({"model", "usage", "stop_reason", "stop_sequence", "stopReason"})
"""Keys for the origin of the message, and for the reason of its end."""
_RECORD = frozenset({*GROUPS, *OWN_IDS, *PARENT_IDS, "turnId", "turn_id"}) | TIMES

_BESIDE = frozenset({"toolUseResult"})
"""Keys under which an agent stores a tool's output, in the record beside the message."""


def keeps_something(record: Any) -> bool:
    """Whether a record has content beside its message."""
    return isinstance(record, dict) and any(not _is_nothing(record.get(key)) for key in _BESIDE)


def says_something(message: Any) -> bool:
    """Whether any key outside the shell has more than white space, empty lists and types."""
    if not isinstance(message, dict):
        return not _is_nothing(message)
    beside = message.get("metadata")
    if isinstance(beside, dict):
        message = {**message, "metadata": {key: beside[key] for key in beside if key not in _RECORD}}
    named = _SHELL | _RECORD | _ORIGIN
    return any(not _is_nothing(value) for key, value in message.items() if key not in named)


def _is_nothing(value: Any) -> bool:
    """Whether a value has no content. The walk does not recurse, since a value may be nested deeply."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += [inner for key, inner in one.items() if key != "type"]
        elif isinstance(one, list):
            waiting += one
        elif one is not None and one is not False and not (isinstance(one, str) and not one.strip()):
            return False
    return True
