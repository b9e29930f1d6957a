"""Guards against reading the log of another format as the format that it resembles."""

import re
from collections import Counter

from turnlint.documents.decode import value_of
from turnlint.documents.source import Source
from turnlint.model import Call, Message, Pointer, Result, Transcript
from turnlint.neighbours import SHARE, Near, readable
from turnlint.neighbours.elsewhere import (
    has_calls_elsewhere,
    has_content_elsewhere,
    has_pairs_elsewhere,
    has_parts_elsewhere,
)
from turnlint.neighbours.families import OTHER_CHAT

_PLAIN = frozenset({"openai-chat", "anthropic", "mistral", "ollama", "cohere"})
"""Wires whose messages are known by `role` and `content`, which many formats have."""
_SHARED = _PLAIN | {"gemini", "bedrock", "canonical", "openai-responses"}
"""Wires with keys that other formats have, too, such as `parts`, `text`, `speaker` and `type`."""
_PRIVATE = "_"
"""The prefix of roles for the bookkeeping of programs; no provider has such a role (2026-11)."""
_OBJECT = "an object"
_WORD = re.compile(r"`[A-Za-z_][A-Za-z0-9_./-]*`")
"""A role or a type that a program may have chosen. One with other characters is damage."""
_ABSENT = "none"


def neighbour_in(transcript: Transcript, source: Source) -> Near | None:
    """Return the format that a conversation resembles, if its roles, keys or shapes are not of its own format.

    A request body with a model, tools or settings is judged unless every role in it is unknown.
    """
    if transcript.wire.name == "langchain":
        return similar_to(transcript) if _has_no_ids(transcript.messages) else None
    if transcript.wire.name not in _SHARED or transcript.wire.like:  # a session is known by its events
        return None
    said = transcript.messages
    request = transcript.request
    if _keeps_elsewhere(transcript, source):
        return similar_to(transcript)
    if (
        transcript.wire.name == "gemini"
        and (request is None or request.key != "contents")
        and _is_spoken_as_chat(said)
    ):
        return similar_to(transcript)
    is_nameless = _has_nameless(transcript)
    is_wordless = _has_no_content(transcript)
    if not (transcript.misfits or is_nameless or is_wordless):
        return None
    if any(one.role == "other" and one.written_role.startswith(_PRIVATE) for one in said):
        return similar_to(transcript)
    if request is not None and (request.whole or (request.model and request.key == "input")):
        is_strange = transcript.wire.name in _PLAIN and all(one.role == "other" for one in said)
        return similar_to(transcript) if said and is_strange else None
    if is_nameless or is_wordless or _has_one_shape(transcript) or _has_role_of_its_own(said):
        return similar_to(transcript)
    marks = _marks(transcript)
    strange = sum((id(one.record), one.at) in marks for one in said)
    most = max(SHARE * len(said), 1.0 if _has_calls(said) else 0.0)
    return similar_to(transcript) if strange > most else None


def _keeps_elsewhere(transcript: Transcript, source: Source) -> bool:
    """Whether keys of another format hold what the messages lack. A provider refuses them in a request for a model."""
    request = transcript.request
    is_sent = request is not None and (request.model is not None or request.host is not None)
    if transcript.wire.name == "openai-chat" and not is_sent and has_pairs_elsewhere(transcript, source):
        return True
    if transcript.wire.name in _PLAIN and not is_sent and has_calls_elsewhere(transcript, source):
        return True
    if not is_sent and has_parts_elsewhere(transcript, source):
        return True
    return transcript.wire.name in _PLAIN and has_content_elsewhere(transcript, source)


def _is_spoken_as_chat(said: tuple[Message, ...]) -> bool:
    """Whether messages with `parts` have the roles of Chat Completions, and nothing of Gemini: no role and no call."""
    blocks = [block for message in said for block in message.blocks]
    return (
        any(one.written_role == "assistant" for one in said)
        and not any(one.written_role == "model" for one in said)
        and not any(type(one) is Call or type(one) is Result for one in blocks)
    )


def _has_role_of_its_own(said: tuple[Message, ...]) -> bool:
    """Whether several messages have the same unknown role: a program chose it. Damage is in one, or differs."""
    roles = Counter(one.written_role for one in said if one.role == "other" and one.written_role)
    return any(count > 1 for count in roles.values())


def _has_one_shape(transcript: Transcript) -> bool:
    """Whether all messages with a content have the same unknown shape, and are several: damage is in some of them."""
    shapes: dict[tuple[str, str], set[tuple[int, Pointer]]] = {}
    places = {(id(one.record), one.at): one for one in transcript.messages}
    for record, misfit in transcript.misfits:
        for depth in range(len(misfit.at) + 1):
            if (id(record), misfit.at[:depth]) in places:
                tail = "/".join("*" if isinstance(one, int) else one for one in misfit.at[depth:])
                shapes.setdefault((tail, misfit.found), set()).add((id(record), misfit.at[:depth]))
    several = sum(one.content != "absent" for one in transcript.messages)
    return several > 1 and any(len(found) >= several for found in shapes.values())


def _marks(transcript: Transcript) -> set[tuple[int, Pointer]]:
    """The places of another format's shapes, with all places around them, by record.

    Other formats have a role or a type of their own, none at all, or an object for a text. Null, a number or a list at
    such a place is damage: no format of the corpus has them there (2026-11). A damaged role is not a missing role.
    """
    damaged = {
        (id(record), misfit.at[:-1])
        for record, misfit in transcript.misfits
        if not _WORD.fullmatch(misfit.found) and misfit.found not in (_OBJECT, _ABSENT)
    }
    return {
        (id(record), misfit.at[:depth])
        for record, misfit in transcript.misfits
        if _WORD.fullmatch(misfit.found)
        or misfit.found == _OBJECT
        or (misfit.found == _ABSENT and (id(record), misfit.at) not in damaged)
        for depth in range(len(misfit.at) + 1)
    }


def similar_to(transcript: Transcript) -> Near:
    """The name of a conversation that only resembles its wire."""
    return readable(OTHER_CHAT, transcript.wire.speaks)


def _has_calls(said: tuple[Message, ...]) -> bool:
    """Whether there is a call with a name, and a result that names the id of a call: one wrong message is damage then."""
    blocks = [block for message in said for block in message.blocks]
    named = {one.id for one in blocks if type(one) is Call and one.name}
    return any(type(one) is Result and one.id is not None and one.id in named for one in blocks)


def _has_no_ids(said: tuple[Message, ...]) -> bool:
    """Whether calls and results are there, and none of them has an id: LangChain writes one to each (read 2026-11)."""
    pairs = [
        block for message in said for block in message.blocks if type(block) is Call or type(block) is Result
    ]
    return len({type(one) for one in pairs}) > 1 and all(one.needs_id and one.id is None for one in pairs)


def _has_nameless(transcript: Transcript) -> bool:
    """Whether calls have no names. A call with a name shows that the others are damaged."""
    if not transcript.wire.idless:
        return False
    said = transcript.messages
    if not any(map(_is_nameless, said)):
        return False
    return not any(type(block) is Call and block.name for message in said for block in message.blocks)


def _has_no_content(transcript: Transcript) -> bool:
    """Whether no message has the key of the content, and some have nothing at all: their texts are under another key."""
    said = transcript.messages
    return all(one.content == "absent" for one in said) and any(one.empty for one in said)


def _is_nameless(message: Message) -> bool:
    """Whether a message has a call without the object that holds its name: another format keeps the name elsewhere."""
    return any(
        type(one) is Call and one.arguments == "nothing" and one.name is None and _may_hold_name(message, one)
        for one in message.blocks
    )


def _may_hold_name(message: Message, call: Call) -> bool:
    """Whether a call may have its name elsewhere. Null, a number and an empty value hold no name: they are damage."""
    from turnlint.documents.locate import locate

    data, at = message.record.data, (*message.at, *call.at)
    found, start, end = locate(data, at) if data else ((), 0, 0)
    value = value_of(data[start:end]) if found == at else at
    return isinstance(value, dict | list | str | tuple) and bool(value)
