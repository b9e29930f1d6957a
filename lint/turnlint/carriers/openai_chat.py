"""OpenAI Chat Completions: `messages`, `tool_calls`, `role: tool`.

This module owns how that wire, and everything that calls itself compatible with it, spells a
conversation, and lends its reading to wires that differ from it in a few words. It refuses to know which
those are, and what any server makes of a request.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Raw, Struct, json, structs

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS, STRANGE, Carrier
from turnlint.carrying.contents import arguments_in_text, call_marker
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import (
    NOTHING,
    content_of,
    given,
    head,
    is_blank,
    is_white,
    start,
    string,
    trails,
    written,
)  # fmt: skip
from turnlint.carrying.requests import HOSTS
from turnlint.documents.decode import Decoded
from turnlint.documents.fit import kind_of
from turnlint.lifecycle import is_placeholder
from turnlint.model import (
    Blank,
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
    type: str | None = None
    function: Function | None = None
    custom: Custom | None = None


class Turn(Struct, gc=False):
    role: str | None = None
    content: Raw = NOTHING
    tool_calls: Sequence[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    function_call: Function | None = None
    refusal: Raw = NOTHING
    audio: Raw = NOTHING
    reasoning: Raw = NOTHING
    reasoning_content: Raw = NOTHING
    reasoning_details: Raw = NOTHING
    prefix: bool | None = None
    parts: Raw = NOTHING
    items: Raw = NOTHING


class Choice(Struct, gc=False):
    message: Turn | None = None


class Part(Struct, gc=False):
    type: str | None = None
    text: Raw = NOTHING


class Body(Envelope, gc=False, kw_only=True):
    messages: Sequence[Turn] | None = None
    choices: Sequence[Choice] | None = None


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
OWN_PARTS = frozenset({
    "image_url", "input_audio", "file", "file_url", "refusal", "video_url", "document", "image",
})  # fmt: skip
"""Parts of content that this wire and its dialects define, besides text."""

_parts = json.Decoder(list[Raw])
_part = json.Decoder(Part)


def calls_of(turn: Turn, dialect: str | None = None) -> list[Call]:
    """The calls beside a message's content: functions, custom tools, and the one call of 2023."""
    blocks = calls_in(turn.tool_calls or (), "tool_calls", dialect)
    if turn.function_call is not None:
        body, kind = arguments_in_text(turn.function_call.arguments)
        name = turn.function_call.name
        how = written(turn.function_call.arguments)
        blocks.append(Call(
            ("function_call",), LEGACY_KEYS, None, name, body, kind, needs_id=False, written=how, kind="function_call"
        ))  # fmt: skip
    return blocks


def calls_in(calls: Sequence[ToolCall], key: str, dialect: str | None = None) -> list[Call]:
    blocks: list[Call] = []
    for index, call in enumerate(calls):
        place: Pointer = (key, index)
        typed = call.type or ""
        if call.function is not None:
            raw = call.function.arguments
            body, kind = arguments_in_text(raw)
            blocks.append(Call(
                place, FUNCTION_KEYS, call.id, call.function.name, body, kind, dialect=dialect,
                written=written(raw), kind=typed,
            ))  # fmt: skip
        elif call.custom is not None:
            body = bytes(call.custom.input)
            blocks.append(Call(
                place, CUSTOM_KEYS, call.id, call.custom.name, body, "free", dialect=dialect,
                written=written(call.custom.input), kind=typed,
            ))  # fmt: skip
        else:  # a call all the same, and its result must not lose it
            blocks.append(Call(
                place, FUNCTION_KEYS, call.id, None, b"", "nothing", dialect=dialect, written="absent", kind=typed
            ))  # fmt: skip
    return blocks


def result_of(turn: Turn) -> Result:
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
        written=written(turn.content),
        parts=tuple(dict.fromkeys(part.type for part in foreign.parts_of(turn.content))),
        kind=turn.role or "",
    )


ReadPart = Callable[[Raw, str, Pointer], Block]
"""A part of a content, its type and its place."""


def other(_: Raw, kind: str, at: Pointer) -> Block:
    return Other(at, kind)


def instead(turn: Turn) -> list[Block]:
    """What may stand for a content: the model refused, or spoke in sound."""
    found = (("refusal", turn.refusal), ("audio", turn.audio))
    return [Other((key,), key) for key, raw in found if not is_blank(raw)]


class Spelling(Struct, frozen=True):
    """The words in which wires differ that are spelled like this one."""

    roles: Mapping[str, Role]
    parts: Mapping[str, ReadPart]
    """Parts of content besides text."""
    beside: Callable[[Any], list[Block]] = instead
    """What a message holds before its content and beside it."""
    calls: Callable[[Any], list[Call]] = calls_of
    result: Callable[[Any], Result] = result_of
    listed: bool = True
    """A content may be an array of parts."""
    closed: bool = True
    """A role that is none of these is refused."""


PARTS: dict[str, ReadPart] = dict.fromkeys(OWN_PARTS, other)
PLAIN = Spelling(ROLES, PARTS)


def read_turn(
    turn: Turn, at: Pointer, record: Record, spelling: Spelling = PLAIN
) -> tuple[Message, list[Misfit]]:
    misfits: list[Misfit] = []
    blanks: list[Blank] = []
    said = turn.role or ""
    role = spelling.roles.get(said, "other")
    dialect = None
    if role == "other":
        role, dialect = foreign.ROLES.get(said, (role, None))
        if dialect is None:
            misfit = foreign.role_misfit(at, turn.role, tuple(spelling.roles))
            misfits.append(structs.replace(misfit, grave=spelling.closed or turn.role is None))
    echoes: tuple[Pointer, ...] = ()
    if role == "tool":
        blocks: list[Block] = [spelling.result(turn)]
        _content(turn.content, role, misfits, at, [], spelling)  # only for what does not belong there
        echoes = tuple(call.at for call in spelling.calls(turn) if len(call.at) > 1)
    else:
        blocks = [
            *spelling.beside(turn),
            *_content(turn.content, role, misfits, at, blanks, spelling),
        ]
        mirrored = {block.id for block in blocks if isinstance(block, Call) and block.id}
        own = spelling.calls(turn)
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
        said,
        dialect=dialect,
        inner_calls=echoes,
        empty=role in ("user", "assistant") and not blocks and _says_nothing(turn),
        content=content_of(turn.content),
        blanks=tuple(blanks),
        name=turn.name if role != "tool" else None,
        reasoning=content_of(turn.reasoning_content),
        prefix=bool(turn.prefix),
        no_calls=turn.tool_calls is not None and not turn.tool_calls,
    )
    return message, misfits


def _content(
    content: Raw, role: Role, misfits: list[Misfit], at: Pointer, blanks: list[Blank], spelling: Spelling
) -> list[Block]:
    """Text, parts, or nothing; anything else does not belong there."""
    first = head(content)
    if first == b'"':
        if is_blank(content):
            blanks.append(Blank(("content",), 0, is_white(content)))
            return []
        return [Text(("content",), call_marker(content, role), trails(content))]
    if first not in (b"", b"n", b"[" if spelling.listed else b""):
        expected = "a string or an array of parts" if spelling.listed else "a string"
        misfits.append(Misfit((*at, "content"), expected, kind_of(json.decode(content))))
    return _content_parts(content, role, misfits, at, blanks, spelling) if first == b"[" else []


def _content_parts(
    content: Raw, role: Role, misfits: list[Misfit], at: Pointer, blanks: list[Blank], spelling: Spelling
) -> list[Block]:
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
            if is_blank(text):
                blanks.append(Blank(place, len(blocks), is_white(text)))
            else:
                blocks.append(Text(place, call_marker(text, role), trails(text)))
        elif kind is not None and kind in spelling.parts:
            blocks.append(spelling.parts[kind](raw, kind, place))
        else:
            blocks.append(foreign.block(raw, kind, place))
    return blocks


def _type_of(raw: Raw) -> str | None:
    value = json.decode(raw, type=dict[str, Raw]).get("type", NOTHING)
    return string(value)


def _says_nothing(turn: Turn) -> bool:
    others = (turn.refusal, turn.audio, turn.reasoning, turn.reasoning_content, turn.reasoning_details)
    return all(map(is_blank, others))


def replies_of(body: Any) -> list[tuple[Pointer, Turn]]:
    choices = enumerate(body.choices or ())
    return [(("choices", index, "message"), choice.message) for index, choice in choices if choice.message]


def is_turn(envelope: Any) -> bool:
    return given(envelope.role) and not given(envelope.type)


def ends_open(body: Any) -> bool:
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
        is_turn=is_turn,
        lines=((), ("message",)),
        replies=replies_of,
        ends_open=ends_open,
        evidence=_evidence,
    ),
    title="OpenAI Chat Completions",
    about="request bodies, message arrays, request/response pairs, batch and fine-tuning lines, one message a line",
)


def was_sent_to(value: Any, *places: str) -> bool:
    """Whether a record with a chat in it names one of these places as where it was sent."""
    holders = value.messages is not None, value.choices is not None, head(value.request) == b"{"
    named = (string(getattr(value, name)) or "" for name in HOSTS) if any(holders) else ()
    return any(place in name for name in named for place in places)


def make_kin(dialect: Dialect, title: str, about: str) -> Carrier:
    """A format whose messages are spelled almost like this one's.

    Only what is its own speaks for it, so its evidence is about nothing else; where there is any, what both
    formats share counts too, or long conversations would outweigh it.
    """
    carrier = make_carrier(dialect, title, about)

    def sniff(decoded: Decoded[Any]) -> int:
        own = carrier.sniff(decoded)
        return own + max(0, CARRIER.sniff(decoded)) if own > 0 else own

    return structs.replace(carrier, sniff=sniff)
