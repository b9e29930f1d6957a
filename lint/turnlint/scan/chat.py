"""Chat Completions, as far as nobody has to read it twice.

This module owns the lean shape of a conversation on that wire, and whether one of that shape is sound. It refuses
to know where a conversation stands.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, json

from turnlint.ledger import usable
from turnlint.scan.outline import Failed, encode
from turnlint.scan.requests import Wire
from turnlint.scan.saying import LONGEST_WORD, all_say_something, may_hold_calls, trails
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
    if not terms.roles.issuperset(roles) or not _may_be_ordered(roles, terms):
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


def _may_be_ordered(roles: list[str], terms: Terms) -> bool:
    return (
        not (terms.first and roles[0] not in terms.first)
        and not (terms.last and roles[-1] not in terms.last)
        and not (terms.needs and terms.needs.isdisjoint(roles))
    )


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
    return terms.spaced_end or not trails(contents[-1])


def _paired(messages: list[Message], roles: list[str], calling: list[int], terms: Terms) -> int | None:
    """Every turn's results follow it in the order of its calls, and there are no others."""
    if not terms.calls:
        return None
    ids: list[str] = []
    functions: list[Function] = []
    for index in calling:
        calls = messages[index].tool_calls
        assert calls
        count = len(calls)
        if roles[index] != "assistant" or count > terms.most_calls:
            return None
        if count == 1:
            (call,) = calls
            behind = index + 1
            if behind >= len(messages) or messages[behind].tool_call_id != call.id or not call.type:
                return None
            ids.append(call.id)
            functions.append(call.function)
            continue
        own = [call.id for call in calls]
        if [one.tool_call_id for one in messages[index + 1 : index + 1 + count]] != own:
            return None
        ids += own
        functions += [call.function for call in calls]
        if not all(call.type for call in calls):
            return None
    total = len(ids)
    answers = [message for message in messages if message.tool_call_id is not UNSET]
    if (
        len(answers) != total
        or any(message.role != "tool" for message in answers)
        or roles.count("tool") != total
    ):
        return None
    return total if _are_good(ids, functions, messages, answers, terms) else None


def _are_good(
    ids: list[str], functions: list[Function], messages: list[Message], answers: list[Message], terms: Terms
) -> bool:
    if len(set(ids)) != len(ids) or not terms.take_ids(ids):
        return False
    if min(map(len, ids)) <= LONGEST_WORD and not all(map(usable, ids)):
        return False
    names = [function.name for function in functions]
    if not terms.take_names(set(names)):
        return False
    named = [message for message in messages if message.name is not UNSET]
    if named and not _named_alike(named, answers, names):
        return False
    return _are_objects(functions)


def _named_alike(named: list[Message], answers: list[Message], names: list[str]) -> bool:
    """Whether only results are named, each as its call is."""
    alike = sum(answer.name == name for answer, name in zip(answers, names, strict=True))
    return len(named) == alike


def _are_objects(functions: list[Function]) -> bool:
    """Whether all arguments are texts that hold an object."""
    try:
        for text in _texts.decode(encode([function.arguments for function in functions])):
            _object.decode(text)
    except Failed:
        return False
    return True


WIRE = Wire(Message, ROLES, SHAPES, calls_in)
