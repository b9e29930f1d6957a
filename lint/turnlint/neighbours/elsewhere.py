"""Calls, results and contents that a message has under keys of another format."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Raw, json

from turnlint.carrying.raws import KINDS, is_blank
from turnlint.documents.source import Source
from turnlint.model import Call, Message, Pointer, Result, Text, Transcript

MOST_MESSAGES = 32
"""The messages that are read again: one shows the keys of its format, and the cost stays linear."""
_READ = frozenset({
    "role", "content", "tool_calls", "tool_call_id", "name", "function_call", "refusal", "audio", "reasoning",
    "reasoning_content", "reasoning_details", "type",
})  # fmt: skip
_ID = re.compile(r"(?:.*_)?(?:tool|call|use)\w*ids?", re.IGNORECASE)
_RESULT_ID = re.compile(r"id|(?:.*_)?(?:tool|call|use)\w*ids?", re.IGNORECASE)
"""AG-UI and CopilotKit have `toolCallId`, SWE-agent has `tool_call_ids` (read 2026-11)."""
_CONTENT = re.compile(r"content|block|part|segment", re.IGNORECASE)
"""Snowflake has `content_list`, Chatbox has `contentParts` (read 2026-11)."""
_PAIR = re.compile(r"tool|call|function|invocation|result|observation|action", re.IGNORECASE)
_RESULT_WORDS = (b"result", b"output", b"response", b"observation", b"return")
_RESULT = re.compile(rf"\w*(?:{b'|'.join(_RESULT_WORDS).decode()})\w*", re.IGNORECASE)
_ARGUMENTS = re.compile(r"param\w*|arg\w*|kwargs", re.IGNORECASE)
_RESULTS = re.compile(r"(?:tool|function|call)\w*(?:result|output|response)s?", re.IGNORECASE)
_SHELLS = ("function", "toolUse", "functionCall")
"""Keys under which a wire has the name and the arguments of a call."""
_OWN_ARGUMENTS = frozenset({"input", "function", "custom"})
"""Names that programs give to calls in a message, and to the result and the arguments in a call: `toolInvocations` of the
AI SDK, `result` of Mastra (read 2026-11)."""
_members = json.Decoder(dict[str, Raw])
Members = dict[str, Raw]
Place = tuple[Message, Pointer]


def has_pairs_elsewhere(transcript: Transcript, source: Source) -> bool:
    """Whether calls and results are tied by keys of another format.

    No call has a result by the keys of the wire. A result without an id has an id under another key, or the message of
    the partner contains the id of an unpaired call or result.
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


def has_calls_elsewhere(transcript: Transcript, source: Source) -> bool:
    """Whether each message without a content has its calls or results under a key of another format."""
    silent = [
        one
        for one in transcript.messages
        if one.empty
        or any(type(block) is Result and block.needs_id and block.id is None for block in one.blocks)
    ]
    if not silent or _has_pair(transcript.messages):
        return False
    found = [_may_have_pair(members) for _, members in _read_again(silent, source)]
    return bool(found) and all(found)


def _may_have_pair(members: Members) -> bool:
    """Whether a message has a call or a result under a key of another format, or in an object of other keys.

    LlamaIndex has `tool_calls` and `tool_call_id` in `additional_kwargs` (read 2026-11).
    """
    for key, value in members.items():
        if key in _READ or is_blank(value):
            continue
        if _PAIR.search(key) and _is_structured(value):
            return True
        if KINDS.get(bytes(value)[:1]) == "object" and any(
            (_PAIR.search(inner) and _is_structured(one)) or (_ID.fullmatch(inner) and not is_blank(one))
            for inner, one in _members_of(bytes(value)).items()
        ):
            return True
    return False


def has_parts_elsewhere(transcript: Transcript, source: Source) -> bool:
    """Whether the calls have their results or their arguments, or the results their ids, under keys of another format.

    Keys of arguments and ids are so in all of them: a damaged conversation of a supported format has sound ones, too. The
    last calls of an interrupted conversation have no result.
    """
    blocks = [
        (message, block)
        for message in transcript.messages
        for block in message.blocks
        if (type(block) is Call and not block.server) or type(block) is Result
    ]
    calls = [(message, block) for message, block in blocks if type(block) is Call]
    results = [(message, block) for message, block in blocks if type(block) is Result]
    if calls and all(block.arguments in ("nothing", "unfit") for _, block in calls):
        return all(_which_have(calls, source, _ARGUMENTS, never=_OWN_ARGUMENTS))
    called = {block.item for _, block in calls if block.needs_id and block.id is None}
    if any(block.id is None and block.item and block.item in called for _, block in results):
        return True
    for some in (calls, results):
        if some and all(block.needs_id and block.id is None for _, block in some):
            # A call, an item or a message may have an id of its own.
            name = _RESULT_ID if some is results and some[0][1].at else _ID
            if all(_which_have(some, source, name)):
                return True
    if not calls and _are_in_text(transcript.messages, results, source):
        return True
    may_have = bool(calls) and not results and _mentions_result(calls[0][0])
    return may_have and (
        any(_which_have(calls, source, _RESULT)) or _has_results_beside(transcript, calls[0][0], source)
    )


def _are_in_text(
    messages: Sequence[Message], results: Sequence[tuple[Message, Call | Result]], source: Source
) -> bool:
    """Whether each result follows a text of the model, and neither has an id: the calls are in the texts."""
    if not results or any(not block.needs_id or block.id is not None for _, block in results):
        return False
    asked: Message | None = None
    for message in messages:
        if message.role == "assistant":
            asked = message
        elif message.role != "tool":
            asked = None
        elif asked is None or not any(type(block) is Text for block in asked.blocks):
            return False
    return not has_blank(
        [(message, (*message.at, *block.at, *block.keys.id)) for message, block in results], source
    )


def has_blank(places: Sequence[Place], source: Source) -> bool:
    """Whether the object around a place has the key of the place, with null or an empty value.

    `MOST_MESSAGES` of the places are read.
    """
    keys = {(id(message), at[:-1]): at[-1] for message, at in places[:MOST_MESSAGES] if at}
    around = [(message, at[:-1]) for message, at in places[:MOST_MESSAGES] if at]
    return any(keys[id(message), at] in members for message, at, members in _read_places(around, source))


def _has_results_beside(transcript: Transcript, message: Message, source: Source) -> bool:
    """Whether the object that holds the list of messages has a list or an object of results."""
    request = transcript.request
    if request is None or request.record is not message.record:
        return False
    return any(
        _RESULTS.fullmatch(key) and _is_structured(value)
        for _, members in _read_at([(message, request.at)], source)
        for key, value in members.items()
    )


def _mentions_result(message: Message) -> bool:
    """Whether the record of a message may have a key for a result: a search of bytes is faster than a second parse."""
    data = message.record.data
    return not data or any(word in data or word.title() in data for word in _RESULT_WORDS)


def _which_have(
    blocks: Sequence[tuple[Message, Call | Result]],
    source: Source,
    name: re.Pattern[str],
    never: frozenset[str] = frozenset(),
) -> list[bool]:
    """Whether each of some blocks has a key with such a name and a value, and none of some other keys."""
    places = [(message, (*message.at, *block.at)) for message, block in blocks[:MOST_MESSAGES]]
    found = [
        never.isdisjoint(members)
        and any(name.fullmatch(key) and not is_blank(value) for key, value in _with_inner(members))
        for _, members in _read_at(places, source)
    ]
    return found or [False]


def _with_inner(members: Members) -> Iterator[tuple[str, Raw]]:
    """The members of a block, with those of the object that holds its name and arguments."""
    yield from members.items()
    for shell in _SHELLS:
        if shell in members:
            yield from _members_of(bytes(members[shell])).items()


def has_content_elsewhere(transcript: Transcript, source: Source) -> bool:
    """Whether each empty message has a list of objects under a key that is named like a content."""
    silent = [one for one in transcript.messages if one.empty]
    if not silent:
        return False
    found = [
        any(key not in _READ and _CONTENT.search(key) and _is_list(value) for key, value in members.items())
        for _, members in _read_again(silent, source)
    ]
    return bool(found) and all(found)


def _has_pair(said: Iterable[Message]) -> bool:
    called, answered = _ids(said)
    return bool((called & answered) - {None})


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
    yield from _read_at([(one, one.at) for one in messages[:MOST_MESSAGES]], source)


def _read_at(places: list[Place], source: Source) -> Iterator[tuple[Message, Members]]:
    """The members of objects in messages."""
    for message, _, members in _read_places(places, source):
        yield message, members


def _read_places(places: list[Place], source: Source) -> Iterator[tuple[Message, Pointer, Members]]:
    """The members of objects in messages, with the place of each."""
    from turnlint.documents.locate import locate_all  # both compile the expressions of all walks over JSON
    from turnlint.documents.reread import reread

    is_here = all(one.record.data for one, _ in places)
    groups = [places] if is_here else reread(source, places, lambda place: (place[0].record,))
    for group in groups:
        for data, same in groupby(group, lambda place: place[0].record.data):
            placed = list(same)
            spans = locate_all(data, [at for _, at in placed])
            for message, at in placed:
                found, start, end = spans[at]
                if found == at:
                    yield message, at, _members_of(data[start:end])


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


def _is_structured(value: Raw) -> bool:
    return not is_blank(value) and (_is_list(value) or KINDS.get(bytes(value)[:1]) == "object")


def _is_list(value: Raw) -> bool:
    data = bytes(value)
    return KINDS.get(data[:1]) == "list" and data[1:].lstrip()[:1] == b"{"
