"""OpenAI Chat Completions: `messages`, `tool_calls`, `role: tool`.

This module owns how that wire, and everything that calls itself compatible with it, spells a
conversation. It refuses to know what any server makes of it.
"""

from typing import Any

from msgspec import Raw, Struct, json

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.contents import arguments_in_text, call_marker
from turnlint.carrying.envelope import Dialect, Envelope, make_carrier
from turnlint.carrying.raws import NOTHING, given, head, is_blank, start, string
from turnlint.documents.fit import kind_of
from turnlint.lifecycle import is_placeholder
from turnlint.model import (
    Block,
    Call,
    Keys,
    Message,
    Misfit,
    Other,
    Pointer,
    Record,
    Result,
    Role,
    Text,
    Wire,
)  # fmt: skip


class Function(Struct, gc=False):
    name: str | None = None
    arguments: Raw = NOTHING


class Custom(Struct, gc=False):
    name: str | None = None
    input: Raw = NOTHING


class ToolCall(Struct, gc=False):
    id: str | None = None
    function: Function | None = None
    custom: Custom | None = None


class Turn(Struct, gc=False):
    role: str | None = None
    content: Raw = NOTHING
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    function_call: Function | None = None
    refusal: Raw = NOTHING
    audio: Raw = NOTHING
    reasoning: Raw = NOTHING
    reasoning_content: Raw = NOTHING
    reasoning_details: Raw = NOTHING
    parts: Raw = NOTHING
    items: Raw = NOTHING


class Choice(Struct, gc=False):
    message: Turn | None = None


class Part(Struct, gc=False):
    type: str | None = None
    text: Raw = NOTHING


class Body(Envelope, gc=False, kw_only=True):
    messages: list[Turn] | None = None
    choices: list[Choice] | None = None
    tools: Raw = NOTHING
    functions: Raw = NOTHING


ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
FUNCTION_KEYS = Keys(("id",), ("function", "name"), ("function", "arguments"))
CUSTOM_KEYS = Keys(("id",), ("custom", "name"), ("custom", "input"))
LEGACY_KEYS = Keys(("name",), ("name",), ("arguments",))
RESULT_KEYS = Keys(("tool_call_id",), ("name",), ("content",))
OWN_PARTS = frozenset({"image_url", "input_audio", "file", "refusal", "video_url", "document", "image"})
"""Parts of content that this wire and its dialects define, besides text."""

_parts = json.Decoder(list[Raw])
_part = json.Decoder(Part)


def read_turn(turn: Turn, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    misfits: list[Misfit] = []
    written = turn.role or ""
    role = ROLES.get(written, "other")
    dialect = None
    if role == "other":
        role, dialect = foreign.ROLES.get(written, (role, None))
        if dialect is None:
            misfits.append(foreign.role_misfit(at, turn.role, tuple(ROLES)))
    echoes: tuple[Pointer, ...] = ()
    if role == "tool":
        blocks: list[Block] = [_result(turn)]
        _content(turn.content, role, misfits, at)  # only for what does not belong there
        echoes = tuple(("tool_calls", index) for index in range(len(turn.tool_calls or ())))
    else:
        blocks = _content(turn.content, role, misfits, at)
        mirrored = {block.id for block in blocks if isinstance(block, Call) and block.id}
        own = calls_of(turn)
        if own and role in ("user", "system"):
            misfits.append(Misfit((*at, *own[0].at), "no calls in this role", "a call", grave=False))
        twice = mirrored & {call.id for call in own}  # frameworks keep a call in both places: it is one call
        blocks = [block for block in blocks if not (isinstance(block, Call) and block.id in twice)]
        blocks += own
        if foreign.only_results(blocks):
            role = "tool"
    message = Message(
        role,
        at,
        tuple(blocks),
        record,
        written,
        dialect=dialect,
        inner_calls=echoes,
        empty=role in ("user", "assistant") and not blocks and _says_nothing(turn),
    )
    return message, misfits


def _result(turn: Turn) -> Result:
    content = bytes(turn.content)
    legacy = turn.role == "function"
    return Result(
        (),
        RESULT_KEYS,
        None if legacy else turn.tool_call_id,
        turn.name,
        content,
        needs_id=not legacy,
        synthetic=is_placeholder(content),
    )


def calls_of(turn: Turn, dialect: str | None = None) -> list[Call]:
    """The calls beside a message's content: functions, custom tools, and the one call of 2023."""
    blocks: list[Call] = []
    for index, call in enumerate(turn.tool_calls or ()):
        place: Pointer = ("tool_calls", index)
        if call.function is not None:
            name, (body, kind) = call.function.name, arguments_in_text(call.function.arguments)
            blocks.append(Call(place, FUNCTION_KEYS, call.id, name, body, kind, dialect=dialect))
        elif call.custom is not None:
            body = bytes(call.custom.input)
            blocks.append(Call(place, CUSTOM_KEYS, call.id, call.custom.name, body, "free", dialect=dialect))
        else:  # a call all the same, and its result must not lose it
            blocks.append(Call(place, FUNCTION_KEYS, call.id, None, b"", "nothing", dialect=dialect))
    if turn.function_call is not None:
        body, kind = arguments_in_text(turn.function_call.arguments)
        name = turn.function_call.name
        blocks.append(Call(("function_call",), LEGACY_KEYS, None, name, body, kind, needs_id=False))
    return blocks


def _content(content: Raw, role: Role, misfits: list[Misfit], at: Pointer) -> list[Block]:
    """Text, parts, or nothing; anything else does not belong there."""
    first = head(content)
    if first == b'"':
        return [] if is_blank(content) else [Text(("content",), call_marker(content, role))]
    if first == b"[":
        return _content_parts(content, role, misfits, at)
    if first not in (b"", b"n"):
        found = kind_of(json.decode(content))
        misfits.append(Misfit((*at, "content"), "a string or an array of parts", found))
    return []


def _content_parts(content: Raw, role: Role, misfits: list[Misfit], at: Pointer) -> list[Block]:
    blocks: list[Block] = []
    for index, raw in enumerate(_parts.decode(content)):
        place: Pointer = ("content", index)
        first = head(raw)
        if first == b'"':  # some clients write bare strings, and servers take them
            blocks.append(Text(place, call_marker(raw, role)))
            continue
        if first != b"{":
            misfits.append(Misfit((*at, *place), "an object", kind_of(json.decode(raw))))
            continue
        kind = _type_of(raw)
        if kind == "text":
            text = _part.decode(raw).text
            if not is_blank(text):
                blocks.append(Text(place, call_marker(text, role)))
        elif kind in OWN_PARTS:
            blocks.append(Other(place, kind or ""))
        else:
            blocks.append(foreign.block(raw, kind, place))
    return blocks


def _type_of(raw: Raw) -> str | None:
    value = json.decode(raw, type=dict[str, Raw]).get("type", NOTHING)
    return string(value)


def _says_nothing(turn: Turn) -> bool:
    others = (turn.refusal, turn.audio, turn.reasoning, turn.reasoning_content, turn.reasoning_details)
    return all(map(is_blank, others))


def _replies(body: Any) -> list[tuple[Pointer, Turn]]:
    choices = enumerate(body.choices or ())
    return [(("choices", index, "message"), choice.message) for index, choice in choices if choice.message]


def _is_turn(envelope: Any) -> bool:
    return given(envelope.role) and not given(envelope.type)


def _ends_open(body: Any) -> bool:
    """A fine-tuning sample declares tools but no model, and may end on the call it teaches."""
    declares = head(body.tools) == b"[" or head(body.functions) == b"["
    return declares and not given(body.model)


def _evidence(value: Any) -> int:
    if isinstance(value, Turn):
        own = value.tool_calls or value.tool_call_id or value.function_call
        if own:
            return SPEAKS
        if given(value.parts) or given(value.items) or foreign.is_strange(value.content, OWN_PARTS):
            return STRANGE
        if value.role in ("tool", "function", "developer"):
            return SPEAKS
        return int(value.role in ROLES and given(value.content))
    if isinstance(value, Body):
        answers = any(choice.message for choice in value.choices or ())
        declares = value.messages is not None and b'"function"' in start(value.tools, 400)
        return SPEAKS * (answers + declares)
    return 0


CARRIER = make_carrier(
    Dialect(
        wire=Wire("openai-chat", idless=True),
        envelope=Body,
        turn=Turn,
        keys=("messages",),
        turn_key="role",
        read_turn=read_turn,
        is_turn=_is_turn,
        lines=((), ("message",)),
        replies=_replies,
        ends_open=_ends_open,
        evidence=_evidence,
    ),
    title="OpenAI Chat Completions",
    about="request bodies, message arrays, request/response pairs, batch and fine-tuning lines, one message a line",
)
