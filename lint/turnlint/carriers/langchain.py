"""Read LangChain's messages: `messages_to_dict`, `dumpd`, and the flat objects of LangGraph's states.

A message has one of three shells. A call may occur in `tool_calls`, in the content as its provider wrote it, and in
`additional_kwargs`, but counts once (langchain-core 1.7.2, read 2026-11). Binary checkpoints are not supported.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Raw, Struct, field, json, structs

from turnlint.carrying import chat_turns, foreign
from turnlint.carrying.carrier import SPEAKS, Reader, Stray
from turnlint.carrying.contents import arguments_in_place, arguments_in_text
from turnlint.carrying.draft import Draft
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.listed import Listed, listed
from turnlint.carrying.origin import read_origin
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import NOTHING, content_of, given, head, is_blank, string, written
from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import Decoded, Shape, without_space
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
    Transcript,
    Wire,
)  # fmt: skip


class ToolCall(Struct, gc=False):
    id: str | None = None
    name: str | None = None
    args: Raw = NOTHING


class Said(Struct, gc=False):
    """A message without its shell."""

    type: str | None = None
    role: str | None = None
    id: Raw = NOTHING
    name: str | None = None
    content: Raw = NOTHING
    tool_calls: list[ToolCall] | None = None
    invalid_tool_calls: list[ToolCall] | None = None
    tool_call_chunks: list[ToolCall] | None = None
    tool_call_id: str | None = None
    status: Raw = NOTHING
    additional_kwargs: Raw = NOTHING
    response_metadata: Raw = NOTHING


class Turn(Said, gc=False):
    lc: Raw = NOTHING
    data: Raw = NOTHING
    kwargs: Raw = NOTHING


class Body(Envelope, gc=False, kw_only=True):
    messages: list[Turn] | None = None
    history: list[Turn] | None = None
    values: Raw = NOTHING
    channel_values: Raw = NOTHING
    next: Raw = NOTHING
    interrupts: Raw = NOTHING
    interrupted: Raw = field(default=NOTHING, name="__interrupt__")
    lc: Raw = NOTHING
    data: Raw = NOTHING
    kwargs: Raw = NOTHING
    content: Raw = NOTHING


class Answer(Struct, gc=False):
    """The keys of `response_metadata` about the provider and its response."""

    id: Raw = NOTHING
    model: Raw = NOTHING
    model_name: Raw = NOTHING
    model_provider: Raw = NOTHING


class Beside(Struct, gc=False):
    """The keys of a provider's answer in `additional_kwargs`."""

    tool_calls: list[chat_turns.ToolCall] | None = None
    function_call: chat_turns.Function | None = None


ROLES: dict[str, Role] = {
    "human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool",
    "chat": "other", "remove": "other",
}  # fmt: skip
CLASSES = {f"{name.capitalize()}Message": name for name in ROLES} | {"AIMessage": "ai"}
CLASSES |= {f"{name}Chunk": kind for name, kind in CLASSES.items()}
"""The class names of messages in `dumpd`, and the names of chunks everywhere."""
SPOKEN = {"user": "human", "assistant": "ai", "developer": "system"} | {name: name for name in ROLES}
HOLDERS = ("values", "channel_values", "kwargs")
"""Keys under which a thread's state, a checkpoint and a prompt have their messages."""
PIECES = {
    "tool_call": ("id", "args"), "invalid_tool_call": ("id", "args"), "server_tool_call": ("id", "args"),
    "server_tool_use": ("id", "input"), "mcp_tool_use": ("id", "input"), "server_tool_result": ("tool_call_id", "output"),
}  # fmt: skip
"""The keys of the id and the body of a content part: LangChain's own parts, and those of provider tools."""
OWN = frozenset({"tool_call", "invalid_tool_call"})
KEYS = Keys(("id",), ("name",), ("args",))
REMOVE_ALL = "__remove_all__"
WIRE = Wire("langchain", window=frozenset({"tool", "other"}))

SAID, BODY, BESIDE = Shape(Said), Shape(Body), Shape(Beside)
_parts = json.Decoder(list[Raw])
_members = json.Decoder(dict[str, Raw])
_typed = json.Decoder(chat_turns.Part)
_answer = json.Decoder(Answer)


def kind_of(turn: Any) -> str | None:
    """Return the type of a LangChain message by its shell; none for any other object."""
    kind = turn.type if isinstance(turn, Turn) else string(turn.type)
    if given(turn.lc) and head(turn.kwargs) == b"{":
        return CLASSES.get(_class_of(turn.id))
    kind = CLASSES.get(kind or "", kind)
    return kind if kind in ROLES and (head(turn.data) == b"{" or given(turn.content)) else None


def _class_of(raw: Raw) -> str:
    try:
        return json.decode(raw, type=list[str])[-1]
    except (ValueError, IndexError):
        return ""


def read_turn(turn: Turn, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    below, said, wrong = _unpacked(turn, at)
    named = said.type or turn.type or ""
    kind = kind_of(turn) or SPOKEN.get(said.role or "") or CLASSES.get(named, named)
    if kind == "chat":  # a message of any role, which is named beside it
        kind = SPOKEN.get(said.role or "", kind)
    out = Draft(at, ROLES.get(kind, "other"))
    out.misfits += wrong
    if kind not in ROLES:
        known = "one of the types " + ", ".join(ROLES)
        out.misfits.append(Misfit(at, known, f"`{kind[:40]}`" if kind else "none"))
    if out.role == "tool":
        out.blocks.append(_result(said, below, kind))
    elif kind == "remove":
        out.blocks.append(Other(below, kind))
    else:
        _read_content(said.content, (*below, "content"), out)
        _read_calls(said, below, out)
    if foreign.only_results(out.blocks):
        out.role = "tool"
    is_answer = out.role == "assistant" and head(said.response_metadata) == b"{"
    answer = _answer.decode(said.response_metadata) if is_answer else Answer()
    message = Message(
        out.role, at, tuple(out.blocks), record, kind,
        origin=read_origin(answer.model_provider, answer.model_name if given(answer.model_name) else answer.model),
        response=string(answer.id), id=string(said.id), content=content_of(said.content), blanks=tuple(out.blanks),
        empty=out.role in ("user", "assistant") and not out.blocks and _is_bare(said.additional_kwargs),
        name=said.name if out.role != "tool" else None,
    )  # fmt: skip
    return message, out.misfits


def _unpacked(turn: Turn, at: Pointer) -> tuple[Pointer, Said, tuple[Misfit, ...]]:
    """Return the message without its shell, with its pointer in the shell."""
    name = "kwargs" if given(turn.lc) else "data"
    inside = getattr(turn, name)
    if not given(inside):
        return (), turn, ()
    said, wrong = SAID.inner(inside, (*at, name))
    return (name,), said or Said(), wrong


def _is_bare(raw: Raw) -> bool:
    return is_blank(raw) or without_space(bytes(raw)) == b"{}"


def _result(said: Said, below: Pointer, kind: str) -> Result:
    content, failed = bytes(said.content), string(said.status) == "error"
    by_name = kind == "function"
    key = "name" if by_name else "tool_call_id"
    return Result(
        (), Keys((*below, key), (*below, "name"), (*below, "content")), None if by_name else said.tool_call_id,
        said.name, content, needs_id=not by_name, error=True if failed else None,
        synthetic=is_placeholder(content), written=written(said.content), kind=kind,
        parts=tuple(dict.fromkeys(part.type for part in foreign.parts_of(said.content))),
    )  # fmt: skip


def _read_content(content: Raw, place: Pointer, out: Draft) -> None:
    first = head(content)
    if first == b'"':
        out.say(content, place)
    elif first == b"[":
        for index, raw in enumerate(_parts.decode(content)):
            _read_part(raw, (*place, index), out)
    elif first not in (b"", b"n"):
        out.amiss(place, "a string or a list of blocks", content)


def _read_part(raw: Raw, place: Pointer, out: Draft) -> None:
    if head(raw) == b'"':
        out.say(raw, place)
        return
    try:
        kind = _typed.decode(raw).type
    except ValueError:
        out.amiss(place, "an object with a type", raw)
        return
    if kind == "text":
        out.say(_typed.decode(raw).text, place)
    elif kind is not None and (kind in PIECES or kind.endswith("_tool_result")):
        out.blocks.append(_read_piece(raw, kind, place))
    else:
        block = foreign.block(raw, kind, place)
        # A content is as its provider wrote it, so that no part of it is foreign.
        out.blocks.append(structs.replace(block, dialect=None) if isinstance(block, Call | Result) else block)


def _read_piece(raw: Raw, kind: str, place: Pointer) -> Block:
    key, inside = PIECES.get(kind, ("tool_use_id", "content"))
    members, keys, server = _members.decode(raw), Keys((key,), ("name",), (inside,)), kind not in OWN
    identifier, name = string(members.get(key)), string(members.get("name"))
    value = members.get(inside, NOTHING)
    if kind.endswith("_result"):
        return Result(place, keys, identifier, name, bytes(value), server=server, kind=kind)
    in_text = kind == "invalid_tool_call"
    body, how = arguments_in_text(value) if in_text else arguments_in_place(value)
    return Call(place, keys, identifier, name, body, how, server=server, written=written(value), kind=kind)


def _calls_in(calls: Iterable[ToolCall] | None, place: Pointer, kind: str) -> Iterator[Call]:
    """Yield calls. Parsed calls have an object as arguments; the others have the model's text."""
    for index, call in enumerate(calls or ()):
        in_text = kind != "tool_call"
        body, how = arguments_in_text(call.args) if in_text else arguments_in_place(call.args, required=True)
        yield Call(
            (*place, index), KEYS, call.id, call.name, body, how, written=written(call.args), kind=kind
        )


def _beside(said: Said, below: Pointer, out: Draft) -> list[Call]:
    """Return the calls of the provider's answer: a list, or the single call of 2023."""
    if head(said.additional_kwargs) != b"{":
        return []
    place = (*below, "additional_kwargs")
    more, wrong = BESIDE.inner(said.additional_kwargs, (*out.at, *place))
    out.misfits += wrong
    more = more or Beside()
    turn = chat_turns.Turn(tool_calls=more.tool_calls, function_call=more.function_call)
    return [structs.replace(call, at=(*place, *call.at)) for call in chat_turns.calls_of(turn)]


def _read_calls(said: Said, below: Pointer, out: Draft) -> None:
    """Add each call once, with its copies. Calls beside a message count only if the message itself has none."""
    own = [
        *_calls_in(said.tool_calls, (*below, "tool_calls"), "tool_call"),
        *_calls_in(said.invalid_tool_calls, (*below, "invalid_tool_calls"), "invalid_tool_call"),
    ]
    beside = _beside(said, below, out)
    own, beside = (own, beside) if own else (beside, [])
    if own and out.role in ("user", "system"):
        out.amiss(own[0].at, "no calls in this type of message", "a call", grave=False)
    within = [block for block in out.blocks if isinstance(block, Call) and not block.server]
    pieces = _calls_in(said.tool_call_chunks, (*below, "tool_call_chunks"), "tool_call_chunk")
    twins = _twins(own, [*within, *beside, *pieces])
    same = {twin.at for some in twins for twin in some}
    out.blocks = [block for block in out.blocks if block.at not in same]
    out.blocks += [
        structs.replace(call, also=tuple(some)) if some else call
        for call, some in zip(own, twins, strict=True)
    ]


def _twins(own: Sequence[Call], others: Sequence[Call]) -> list[list[Call]]:
    """Return the copies of each call: with the same id, or with the same name where the copy has no id."""
    known: dict[tuple[str | None, str | None], list[int]] = {}
    for number, call in enumerate(own):
        for key in {(call.id, None), (None, call.name)}:
            known.setdefault(key, []).append(number)
    found: list[list[Call]] = [[] for _ in own]
    met: Counter[tuple[Pointer, str | None]] = Counter()
    for other in others:
        numbers = known.get((other.id, None) if other.id else (None, other.name), [])
        place = other.at[:-1], other.id or other.name
        met[place] += 1
        if numbers:  # of several calls with one name, the copies follow in the order of the calls
            found[numbers[min(met[place], len(numbers)) - 1]].append(other)
    return found


class _Reading:
    """A reader of one source that omits removed messages and sets the pointer of a state."""

    def __init__(self, inner: Reader) -> None:
        self.inner = inner

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]:
        return [*map(_settled, self.inner.feed(decoded))]

    def finish(self) -> list[Transcript | Stray]:
        return [*map(_settled, self.inner.finish())]


def _settled(found: Transcript | Stray) -> Transcript | Stray:
    if isinstance(found, Stray):
        return found
    request = found.request
    if request is not None and request.key in HOLDERS:
        request = structs.replace(request, at=(*request.at, request.key), key="messages")
    return structs.replace(found, messages=_standing(found.messages), request=request)


def _standing(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages without those that a later message removes by their id."""
    gone: set[str | None] = set()
    kept: list[Message] = []
    for message in reversed(messages):
        if message.written_role == "remove":
            gone.add(message.id)
        if message.written_role == "remove" or not gone & {message.id, REMOVE_ALL} - {None}:
            kept.append(message)
    return tuple(reversed(kept)) if gone else messages


def _asked(body: Any) -> Listed | None:
    """Return the messages of a state, a checkpoint or a prompt."""
    for name in HOLDERS:
        raw = getattr(body, name)
        holder, wrong = BODY.inner(raw, (name,)) if head(raw) == b"{" else (None, ())
        if holder is not None and holder.messages is not None:
            return structs.replace(listed(holder.messages, (name, "messages")), misfits=wrong)
    return None


def _ends_open(body: Any) -> bool:
    """Whether a graph was interrupted, or has steps left, so that its calls may be open."""
    return any(not _is_bare(raw) for raw in (body.next, body.interrupts, body.interrupted))


def _evidence(value: Any) -> int:
    if not isinstance(value, Turn):
        return 0
    kind = kind_of(value)
    if kind is None or given(value.lc):
        return SPEAKS * (kind is not None)
    below, said, _ = _unpacked(value, ())
    named = said.type is not None and SPOKEN.get(kind) == CLASSES.get(said.type, said.type)
    own = given(said.additional_kwargs) or given(said.response_metadata) or (bool(below) and named)
    return SPEAKS * (given(said.content) and (own or kind in ("human", "ai")))


class LangChainWriter(MessageWriter):
    """The writer of LangChain, for results only."""

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        """Write the result of a call, in the shell of the call."""
        by_name = call.kind == "function_call"
        if not (call.name if by_name else call.id):
            return None
        kind = "function" if by_name else "tool"
        own = {} if by_name else {"tool_call_id": call.id, "status": "error" if failed else "success"}
        said = {"content": "\n".join(texts), "type": kind, "name": call.name, **own}
        shell = call.at[0] if call.at else None
        if shell == "data":
            return {"type": kind, "data": said}
        if shell == "kwargs":
            name = "FunctionMessage" if by_name else "ToolMessage"
            return {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "messages", name],
                "kwargs": said,
            }
        return said


_carrier = make_carrier(
    Dialect(
        wire=WIRE,
        envelope=Body,
        turn=Turn,
        keys=("messages", "history"),
        listed="",
        turn_key="type",
        read_turn=read_turn,
        is_turn=lambda envelope: kind_of(envelope) is not None,
        lines=((), ("message",)),
        replies=lambda _: [],
        ends_open=_ends_open,
        evidence=_evidence,
        asked=_asked,
        typed=True,
        # Without a call beside a new message, the required shell is unknown, so only results are written.
        writer=LangChainWriter(),
        states={"status: error": "error", "status: success": "complete"},
    ),
    title="LangChain messages",
    about="messages of messages_to_dict, dumpd or as flat objects: arrays, LangGraph states, one message per line",
)
CARRIER = structs.replace(
    _carrier,
    open=lambda: _Reading(_carrier.open()),
    record_keys=_carrier.record_keys | {"values", "channel_values"},
    message_keys=frozenset[str](),
)
"""Half of all records have a type, so that a type does not identify a message."""
