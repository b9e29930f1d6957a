"""Anthropic Messages: content blocks, `tool_use` and `tool_result`, server tools.

This module owns how that wire spells a conversation. Consecutive messages of one role are one turn
to its API, so the wire joins them. It refuses to know what the API makes of the rest.
"""

from typing import Any

from msgspec import Raw, Struct, json

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.contents import arguments_in_place, call_marker
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
    trails,
    written,
)
from turnlint.documents.decode import Shape
from turnlint.documents.fit import kind_of
from turnlint.lifecycle import ending, is_placeholder
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
    Signature,
    Text,
    Thinking,
    Wire,
)  # fmt: skip


class Part(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    text: Raw = NOTHING
    input: Raw = NOTHING
    content: Raw = NOTHING
    is_error: bool | None = None
    thinking: Raw = NOTHING
    signature: Raw = NOTHING


class Turn(Struct, gc=False):
    role: str | None = None
    content: Raw = NOTHING
    tool_calls: Raw = NOTHING
    tool_call_id: Raw = NOTHING
    parts: Raw = NOTHING


class Body(Envelope, gc=False, kw_only=True):
    messages: list[Turn] | None = None
    content: Raw = NOTHING
    system: Raw = NOTHING
    anthropic_version: Raw = NOTHING
    stop_reason: Raw = NOTHING


ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
CALL_KEYS = Keys(("id",), ("name",), ("input",))
RESULT_KEYS = Keys(("tool_use_id",), ("name",), ("content",))
CALLS = {"tool_use": False, "server_tool_use": True, "mcp_tool_use": True}
"""Call types, and whether the provider runs them itself."""
OWN_PARTS = frozenset({
    "image", "document", "search_result", "container_upload", "tool_reference", "compaction", "file",
    "fallback",
})  # fmt: skip
THINKING = frozenset({"thinking", "redacted_thinking"})

_parts = json.Decoder(list[Raw])
PART = Shape(Part)


def read_turn(turn: Turn, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    misfits: list[Misfit] = []
    said = turn.role or ""
    role = ROLES.get(said, "other")
    dialect = None
    if role == "other":
        role, dialect = foreign.ROLES.get(said, (role, None))
        if dialect is None:
            misfits.append(foreign.role_misfit(at, turn.role, tuple(ROLES)))
    echoes: list[Pointer] = []
    blanks: list[Blank] = []
    blocks = _blocks(turn.content, role, misfits, at, echoes, blanks)
    if given(turn.tool_calls) or given(turn.tool_call_id):
        role, blocks = _as_openai(turn, role, blocks)
        dialect = "openai-chat"
    if role == "user":
        blocks = _without_calls(blocks, misfits, at, echoes)
    message = Message(
        role,
        at,
        tuple(blocks),
        record,
        said,
        dialect=dialect,
        inner_calls=tuple(echoes),
        empty=role in ("user", "assistant") and not blocks and not echoes,
        content=content_of(turn.content),
        blanks=tuple(blanks),
    )
    return message, misfits


def _without_calls(
    blocks: list[Block], misfits: list[Misfit], at: Pointer, echoes: list[Pointer]
) -> list[Block]:
    """A call in a user message beside results is an echo; alone it is a call under the wrong role."""
    calls = [block for block in blocks if isinstance(block, Call)]
    if not calls:
        return blocks
    if any(isinstance(block, Result) for block in blocks):
        echoes += [call.at for call in calls]
        return [block for block in blocks if not isinstance(block, Call)]
    misfits += [Misfit((*at, *call.at), "a block of a user turn", "a call") for call in calls]
    return blocks


def _as_openai(turn: Turn, role: Role, blocks: list[Block]) -> tuple[Role, list[Block]]:
    """A message that carries another wire's keys beside or instead of its content."""
    from turnlint.carriers import openai_chat

    keys = {"tool_calls": turn.tool_calls, "tool_call_id": turn.tool_call_id}
    text = json.encode({key: raw for key, raw in keys.items() if given(raw)})
    try:
        other = json.decode(text, type=openai_chat.Turn)
    except (ValueError, RecursionError):
        return role, blocks
    if role == "tool":
        body = bytes(turn.content)
        result = Result(
            (), openai_chat.RESULT_KEYS, other.tool_call_id, None, body,
            dialect="openai-chat", synthetic=is_placeholder(body),
        )  # fmt: skip
        return role, [result]
    seen = {block.id for block in blocks if isinstance(block, Call)}
    calls = openai_chat.calls_of(other, dialect="openai-chat")
    return role, [*blocks, *(call for call in calls if isinstance(call, Call) and call.id not in seen)]


def _blocks(
    content: Raw, role: Role, misfits: list[Misfit], at: Pointer, echoes: list[Pointer], blanks: list[Blank]
) -> list[Block]:
    first = head(content)
    if first == b'"':
        if is_blank(content):
            blanks.append(Blank(("content",), 0, is_white(content)))
            return []
        return [Text(("content",), call_marker(content, role), trails(content))]
    if first != b"[":
        if first not in (b"", b"n"):
            found = kind_of(json.decode(content))
            misfits.append(Misfit((*at, "content"), "a string or an array of blocks", found))
        return []
    blocks: list[Block] = []
    for index, raw in enumerate(_parts.decode(content)):
        place: Pointer = ("content", index)
        if head(raw) != b"{":
            misfits.append(Misfit((*at, *place), "an object", kind_of(json.decode(raw))))
            continue
        block = _block(raw, role, place, misfits, at)
        if isinstance(block, Blank):
            blanks.append(Blank(place, len(blocks), block.white))
        elif block is not None:
            blocks.append(block)
        if isinstance(block, Result) and not block.server and b"tool_use" in block.body:
            echoes += [(*place, *inner) for inner in _calls_inside(block.body)]
    return blocks


def _calls_inside(body: bytes) -> list[Pointer]:
    items = json.decode(body)
    if not isinstance(items, list):
        return []
    inside = enumerate(items)
    return [
        ("content", index)
        for index, item in inside
        if isinstance(item, dict) and str(item.get("type")) in CALLS
    ]


def _block(raw: Raw, role: Role, place: Pointer, misfits: list[Misfit], at: Pointer) -> Block | Blank | None:
    part, wrong = PART.inner(raw, (*at, *place))
    misfits += wrong
    if part is None:
        return None
    kind = part.type or ""
    if kind == "text":
        if is_blank(part.text):
            return Blank(place, white=is_white(part.text))
        return Text(place, call_marker(part.text, role), trails(part.text))
    if kind in CALLS:
        body, arguments = arguments_in_place(part.input, required=True)
        return Call(
            place, CALL_KEYS, part.id, part.name, body, arguments, server=CALLS[kind],
            written=written(part.input), kind=kind,
        )  # fmt: skip
    if kind == "tool_result" or kind.endswith("_tool_result"):
        if kind == "tool_result" and head(part.content) not in (b"", b"n", b'"', b"["):
            found = kind_of(json.decode(part.content))
            misfits.append(Misfit((*at, *place, "content"), "a string or an array of blocks", found))
        return _result(part, place, server=kind != "tool_result")
    if kind in THINKING:
        words = kind == "thinking" and not is_blank(part.thinking)
        return Thinking(place, kind, words, _signature(part.signature), cipher=kind == "redacted_thinking")
    if kind in OWN_PARTS:
        return Other(place, kind)
    return foreign.block(raw, part.type, place)


def _signature(raw: Raw) -> Signature:
    kind = written(raw)
    if kind == "text":
        return "blank" if is_blank(raw) else "given"
    return "absent" if kind == "absent" else "unfit"


def _parts_of(content: Raw) -> tuple[str, ...]:
    """The kinds of what a result holds, each once."""
    return tuple(dict.fromkeys(part.type for part in foreign.parts_of(content)))


def _result(part: Part, place: Pointer, *, server: bool) -> Result:
    body = bytes(part.content)
    return Result(
        place,
        RESULT_KEYS,
        part.tool_use_id,
        part.name,
        body,
        server=server,
        error=part.is_error,
        synthetic=is_placeholder(body),
        state=ending(body, failed=bool(part.is_error)),
        written=written(part.content),
        parts=_parts_of(part.content),
        kind=part.type or "",
    )


def _replies(body: Any) -> list[tuple[Pointer, Turn]]:
    if text_is(body.type, b'"message"') and text_is(body.role, b'"assistant"'):
        return [((), Turn("assistant", body.content))]
    return []


def text_is(raw: Raw, expected: bytes) -> bool:
    return start(raw, 20) == expected


def _is_turn(envelope: Any) -> bool:
    return given(envelope.role) and not given(envelope.type)


def _evidence(value: Any) -> int:
    if isinstance(value, Turn):
        parts = foreign.parts_of(value.content)
        own = any(part.type in CALLS or part.type.endswith("tool_result") for part in parts)
        if own and not any(given(part.toolUseID) for part in parts):
            return SPEAKS
        if given(value.parts) or foreign.is_strange(value.content, OWN_PARTS):
            return STRANGE
        if value.role in ("system", "developer"):
            return STRANGE  # this API keeps its system prompt beside the messages
        # Plain words could be anyone's, and are taken for the commonest wire's.
        return SPEAKS if any(part.type in THINKING for part in parts) else 0
    if isinstance(value, Body):
        if value.messages is None and not _replies(value):
            return 0
        declares = b'"input_schema"' in start(value.tools, 4000)
        keys = value.system, value.anthropic_version, value.stop_reason
        model = start(value.model, 80)
        claude = (
            b"claude" in model and b"/" not in model
        )  # a router's name for it says nothing about the wire
        hosts = value.host, value.url, value.base_url, value.api_base, value.endpoint
        sent = any(b"api.anthropic.com" in start(raw, 200) for raw in hosts)
        return SPEAKS * (declares + claude + 3 * sent + any(given(raw) for raw in keys))
    return 0


CARRIER = make_carrier(
    Dialect(
        wire=Wire("anthropic", window=frozenset({"user", "tool"}), joins=True),
        envelope=Body,
        turn=Turn,
        keys=("messages",),
        turn_key="role",
        read_turn=read_turn,
        is_turn=_is_turn,
        lines=((), ("message",)),
        replies=_replies,
        ends_open=lambda _: False,
        evidence=_evidence,
    ),
    title="Anthropic Messages",
    about="request bodies, message arrays, request/response pairs, batch lines, one message a line; server tools",
)
