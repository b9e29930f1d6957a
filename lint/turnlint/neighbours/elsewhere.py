"""Calls, results and contents that a message has under keys of another format."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Raw, json

from turnlint.carrying.raws import KINDS, is_blank
from turnlint.documents.source import Source
from turnlint.model import Call, Message, Result, Transcript

MOST_MESSAGES = 32
"""The messages that are read again: one shows the keys of its format, and the cost stays linear."""
_READ = frozenset({
    "role", "content", "tool_calls", "tool_call_id", "name", "function_call", "refusal", "audio", "reasoning",
    "reasoning_content", "reasoning_details", "type",
})  # fmt: skip
_ID = re.compile(r"(?:.*_)?(?:tool|call|use)\w*ids?", re.IGNORECASE)
"""AG-UI and CopilotKit have `toolCallId`, SWE-agent has `tool_call_ids` (read 2026-11)."""
_CONTENT = re.compile(r"content|block|part|segment", re.IGNORECASE)
"""Snowflake has `content_list`, Chatbox has `contentParts` (read 2026-11)."""
_members = json.Decoder(dict[str, Raw])
Members = dict[str, Raw]


def has_pairs_elsewhere(transcript: Transcript, source: Source) -> bool:
    """Whether calls and results are tied by keys of another format.

    No call has a result by the keys of the wire. A result without an id has an id under another key, or the id of a call
    or result that is alone stands in the message of its partner.
    """
    called, answered = _ids(transcript.messages)
    alone = (called ^ answered) - {None}
    if not (alone or None in answered) or (called & answered) - {None}:
        return False
    lone_calls = [one for one in called if one and one in alone]
    lone_results = [one for one in answered if one and one in alone]
    asked = [
        one for one in transcript.messages if one.role == "tool" or (lone_results and one.role == "assistant")
    ]
    for message, members in _read_again(asked, source):
        others = {key: value for key, value in members.items() if key not in _READ and not is_blank(value)}
        if message.role == "tool":
            if any(type(one) is Result and one.needs_id and one.id is None for one in message.blocks) and any(
                map(_ID.fullmatch, others)
            ):
                return True
            if _holds(others.values(), lone_calls):
                return True
        elif _holds(others.values(), lone_results):
            return True
    return False


def has_content_elsewhere(transcript: Transcript, source: Source) -> bool:
    """Whether each message that says nothing has a list of objects under a key that is named as a content."""
    silent = [one for one in transcript.messages if one.empty]
    if not silent:
        return False
    found = [
        any(key not in _READ and _CONTENT.search(key) and _is_list(value) for key, value in members.items())
        for _, members in _read_again(silent, source)
    ]
    return bool(found) and all(found)


def _ids(said: Iterable[Message]) -> tuple[set[str | None], set[str | None]]:
    called: set[str | None] = set()
    answered: set[str | None] = set()
    for message in said:
        for block in message.blocks:
            if type(block) is Call:
                called.add(block.id)
            elif type(block) is Result and block.needs_id:
                answered.add(block.id)
    return called, answered


def _read_again(messages: Sequence[Message], source: Source) -> Iterator[tuple[Message, Members]]:
    """The first of some messages, each with its members as they are written."""
    from turnlint.documents.locate import locate_all  # both compile the expressions of all walks over JSON
    from turnlint.documents.reread import reread

    some = list(messages[:MOST_MESSAGES])
    groups = (
        [some] if all(one.record.data for one in some) else reread(source, some, lambda one: (one.record,))
    )
    for group in groups:
        for data, same in groupby(group, lambda one: one.record.data):
            placed = list(same)
            spans = locate_all(data, [one.at for one in placed])
            for message in placed:
                found, start, end = spans[message.at]
                if found == message.at:
                    yield message, _members_of(data[start:end])


def _members_of(data: bytes) -> Members:
    try:
        return _members.decode(data)
    except (ValueError, RecursionError):
        return {}


def _holds(values: Iterable[Raw], ids: Sequence[str]) -> bool:
    """Whether one of some ids is a whole string in one of some values."""
    texts = [bytes(one) for one in values]
    marks = [mark for one in ids for mark in (json.encode(one), json.encode(one).replace(b'"', b'\\"'))]
    return any(mark in text for text in texts for mark in marks)


def _is_list(value: Raw) -> bool:
    data = bytes(value)
    return KINDS.get(data[:1]) == "list" and data[1:].lstrip()[:1] == b"{"
