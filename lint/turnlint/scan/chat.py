"""Chat Completions, as far as nobody has to read it twice.

This module owns the lean shape of a conversation on that wire, and whether one of that shape is sound. It refuses
to know where a conversation stands.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, json

from turnlint.carrying.lines import Unread
from turnlint.ledger import usable
from turnlint.ledger.values import LONGEST_WORD
from turnlint.scan.around import Wire
from turnlint.scan.outline import Failed, encode
from turnlint.scan.saying import all_say_something, may_hold_calls, trails
from turnlint.scan.terms import Shapes, Terms


class Function(Struct, gc=False):
    name: str
    arguments: Raw


class Call(Struct, gc=False):
    id: str
    type: str
    function: Function


class Message(Struct, gc=False, omit_defaults=True):
    role: str
    content: Raw
    tool_calls: Annotated[list[Call], Meta(min_length=1)] | UnsetType | None = UNSET
    tool_call_id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    refusal: UnsetType | None = UNSET
    audio: UnsetType | None = UNSET
    function_call: UnsetType | None = UNSET


ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_SAID = frozenset({"role", "content"})
SHAPES = Shapes(
    arguments="text",
    result="tool",
    alone=False,
    keys={
        **dict.fromkeys(ROLES, _SAID),
        "assistant": _SAID | {"tool_calls"},
        "tool": _SAID | {"tool_call_id"},
        "call": frozenset({"id", "type", "function"}),
        "function": frozenset({"name", "arguments"}),
    },
    extras=frozenset({"name", "tool_calls", "refusal", "audio", "function_call"}),
    lax=frozenset({"absent", "blank", "blank-result", "parts", "media", "author"}),
)


class _Any(Struct):
    pass


_texts = json.Decoder(list[str])
_object = json.Decoder(_Any)
_QUOTE, _NULL = 0x22, 0x6E


def calls_in(messages: list[Message], terms: Terms) -> int | None:
    """How many calls, each answered once, a sound conversation has; nothing where one may not be sound."""
    if not messages or len(messages) > terms.most_messages:
        return None
    roles = [message.role for message in messages]
    if not terms.may_speak(roles):
        return None
    contents = [bytes(message.content) for message in messages]
    calling = [index for index, message in enumerate(messages) if message.tool_calls]
    if not _are_texts(messages, roles, contents, terms):
        return None
    if not terms.extras and any(map(_has_extras, messages)):
        return None
    if not calling:
        silent = all(message.tool_call_id is message.name is UNSET for message in messages)
        return 0 if silent and "tool" not in roles else None
    return _paired(messages, roles, calling, terms)


def _has_extras(message: Message) -> bool:
    spare = message.name, message.refusal, message.audio, message.function_call
    return message.tool_calls is None or not all(one is UNSET for one in spare)


def _are_texts(messages: list[Message], roles: list[str], contents: list[bytes], terms: Terms) -> bool:
    kinds = {content[0] for content in contents}
    if _NULL in kinds:
        if not terms.null_beside_calls or not all(
            message.tool_calls
            for message, content in zip(messages, contents, strict=True)
            if content == b"null"
        ):
            return False
        kinds.discard(_NULL)
    if kinds != {_QUOTE}:
        return False
    said = [text for text, role in zip(contents, roles, strict=True) if role == "assistant"]
    if may_hold_calls(said) or not all_say_something(contents):
        return False
    return terms.spaced_end or roles[-1] != "assistant" or not trails(contents[-1])


def _paired(messages: list[Message], roles: list[str], calling: list[int], terms: Terms) -> int | None:
    """Every turn's results follow it in the order of its calls, and there are no others."""
    asked = [messages[index].tool_calls or [] for index in calling]
    calls = [call for some in asked for call in some]
    answers = [index for index, message in enumerate(messages) if message.tool_call_id is not UNSET]
    places = [
        index + place for index, some in zip(calling, asked, strict=True) for place in range(1, len(some) + 1)
    ]
    ids = [call.id for call in calls]
    if (
        answers != places
        or places[-1] >= len(messages)
        or [messages[index].tool_call_id for index in places] != ids
    ):
        return None
    if roles.count("tool") != len(ids) or {roles[index] for index in places} != {"tool"}:
        return None
    if {roles[index] for index in calling} != {"assistant"} or max(map(len, asked)) > terms.most_calls:
        return None
    return len(ids) if terms.calls and _are_good(ids, calls, messages, terms) else None


def _are_good(ids: list[str], calls: list[Call], messages: list[Message], terms: Terms) -> bool:
    if len(set(ids)) != len(ids) or not terms.take_ids(ids) or "" in {call.type for call in calls}:
        return False
    if min(map(len, ids)) <= LONGEST_WORD and not all(map(usable, ids)):
        return False
    names = [call.function.name for call in calls]
    if not terms.take_names(set(names)):
        return False
    answers = [message for message in messages if message.tool_call_id is not UNSET]
    if any(len(bytes(answer.content)) > terms.longest_result for answer in answers):
        return False
    named = [message for message in messages if message.name is not UNSET]
    if named and not _named_alike(named, messages, names):
        return False
    return _are_objects(calls)


def _named_alike(named: list[Message], messages: list[Message], names: list[str]) -> bool:
    """Whether only results are named, each as its call is."""
    answers = [message for message in messages if message.tool_call_id is not UNSET]
    return len(named) == sum(answer.name == name for answer, name in zip(answers, names, strict=True))


def _are_objects(calls: list[Call]) -> bool:
    """Whether all arguments are texts that hold an object."""
    try:
        for text in _texts.decode(encode([call.function.arguments for call in calls])):
            _object.decode(text)
    except Failed:
        return False
    return True


def follows(message: Message, unread: Unread, terms: Terms) -> bool:
    """Whether a message may come next in a conversation that is sound so far."""
    content, role, calls = bytes(message.content), message.role, message.tool_calls
    if role not in terms.roles or (not terms.extras and _has_extras(message)):
        return False
    if terms.first and not unread.role and role not in terms.first:
        return False
    unread.role = role
    if content[0] != _QUOTE and not (content == b"null" and calls and terms.null_beside_calls):
        return False
    if content[0] == _QUOTE and not all_say_something([content]):
        return False
    if role == "tool":
        if not unread.waiting or calls:
            return False
        identifier, name = unread.waiting[0]
        if message.tool_call_id != identifier or (message.name is not UNSET and message.name != name):
            return False
        unread.waiting.popleft()
        return len(content) <= terms.longest_result
    if unread.waiting or message.tool_call_id is not UNSET or message.name is not UNSET:
        return False
    if role != "assistant":
        return not calls
    if content[0] == _QUOTE and may_hold_calls([content]):
        return False
    return not calls or _asks(calls, unread, terms)


def _asks(calls: list[Call], unread: Unread, terms: Terms) -> bool:
    ids = [call.id for call in calls]
    if not terms.calls or len(ids) > terms.most_calls or not unread.ids.isdisjoint(ids):
        return False
    if not _are_good(ids, calls, [], terms):
        return False
    unread.ids.update(ids)
    unread.waiting += [(call.id, call.function.name) for call in calls]
    unread.calls += len(ids)
    return True


WIRE = Wire(Message, ROLES, SHAPES, calls_in, follows)
