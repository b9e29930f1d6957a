"""Read and write Amazon Bedrock's Converse: blocks without a type, `toolUse` and `toolResult`.

The wire occurs in requests, responses and the service's own invocation logs. The API joins consecutive messages of one
role into one turn.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Raw, Struct, json

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.contents import arguments_in_place
from turnlint.carrying.draft import Draft, settle_calls, signature_of
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.guests import Guest, as_chat
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import (
    NOTHING,
    content_of,
    given,
    head,
    is_blank,
    start,
    string,
    written,
)
from turnlint.carrying.syntax import MessageClass, ObjectSyntax, PieceSyntax, WireSyntax
from turnlint.carrying.writer import ABSENT, BlockWriter, present
from turnlint.documents.decode import Shape
from turnlint.lifecycle import is_placeholder
from turnlint.model import (
    Blank,
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
    Thinking,
    Wire,
)  # fmt: skip

if TYPE_CHECKING:
    from turnlint.carrying.examples import ExampleBuilder, NotationLine


class ToolUse(Struct, gc=False):
    toolUseId: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    type: str | None = None


class ToolResult(Struct, gc=False):
    toolUseId: str | None = None
    content: Raw = NOTHING
    status: str | None = None
    type: str | None = None


class ReasoningText(Struct, gc=False):
    text: Raw = NOTHING
    signature: Raw = NOTHING


class Reasoning(Struct, gc=False):
    reasoningText: ReasoningText | None = None
    redactedContent: Raw = NOTHING


class Turn(Guest, gc=False):
    meta: Raw = NOTHING


class Output(Struct, gc=False):
    message: Turn | None = None


class Body(Envelope, gc=False, kw_only=True):
    messages: list[Turn] | None = None
    guardrailConfig: Raw = NOTHING
    additionalModelRequestFields: Raw = NOTHING
    stopReason: Raw = NOTHING

    def __post_init__(self) -> None:
        """Set `thinking` from Claude's setting, which is among the fields that the service only passes through."""
        if head(self.additionalModelRequestFields) == b"{":
            fields = _members.decode(self.additionalModelRequestFields)
            self.thinking = fields.get("thinking") or fields.get("reasoning_config") or self.thinking

    def thinking_place(self) -> Pointer:
        if head(self.additionalModelRequestFields) == b"{":
            fields = _members.decode(self.additionalModelRequestFields)
            key = next((key for key in ("thinking", "reasoning_config") if key in fields), None)
            if key:
                return ("additionalModelRequestFields", key)
        return super().thinking_place()


ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
CALL_KEYS = Keys(("toolUse", "toolUseId"), ("toolUse", "name"), ("toolUse", "input"))
RESULT_KEYS = Keys(("toolResult", "toolUseId"), ("toolResult", "name"), ("toolResult", "content"))
OWN_PARTS = frozenset({
    "image", "document", "video", "audio", "guardContent", "cachePoint", "citationsContent", "searchResult",
    "toolAddition", "toolRemoval",
})  # fmt: skip
PAIRING = frozenset({"toolUse", "toolResult", "reasoningContent"})
OBJECTS = OWN_PARTS | PAIRING
STATUS = {"error": True, "success": False}

_items = json.Decoder(list[Raw])
_members = json.Decoder(dict[str, Raw])
_output = Shape(Output)
CALL = Shape(ToolUse)
RESULT = Shape(ToolResult)
REASONING = Shape(Reasoning)


def read_turn(turn: Turn, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    if given(turn.tool_calls) or given(turn.tool_call_id):
        return as_chat(turn, at, record)
    said = turn.role or ""
    role, dialect = ROLES.get(said, "other"), None
    if role == "other":
        role, dialect = foreign.ROLES.get(said, (role, None))
    out = Draft(at, role)
    if role == "other":
        out.misfits.append(foreign.role_misfit(at, turn.role, tuple(ROLES)))
    _read_content(turn.content, out)
    for call in settle_calls(out) if role == "user" else ():
        out.amiss(call.at, "no calls in a user message", "a call")
    message = Message(
        role,
        at,
        tuple(out.blocks),
        record,
        said,
        dialect=dialect,
        inner_calls=tuple(out.echoes),
        empty=role in ("user", "assistant") and not (out.blocks or out.echoes),
        content=content_of(turn.content),
        blanks=tuple(out.blanks),
    )
    return message, out.misfits


def _read_content(content: Raw, out: Draft) -> None:
    first = head(content)
    if first == b"[":
        for index, raw in enumerate(_items.decode(content)):
            _read_block(raw, ("content", index), out)
    elif first == b'"':
        # The service's model has lists only, yet two recorded requests with a bare text were answered.
        out.amiss(("content",), "a list of blocks", "a string", grave=False)
        _read_text(content, ("content",), ("content",), out)
    elif first not in (b"", b"n"):
        out.amiss(("content",), "a list of blocks", content)


def _read_block(raw: Raw, place: Pointer, out: Draft) -> None:
    """Read all content of one block. A valid block has one kind; a damaged block keeps all of its content."""
    if head(raw) != b"{":
        out.amiss(place, "an object", raw)
        return
    members = {name: value for name, value in _members.decode(raw).items() if head(value) != b"n"}
    typed = string(members.get("type"))
    known = False
    # Nova's own schema, messages-v1, has the cache point in the block of a text.
    kinds = [name for name in members if name in READERS and name != _CACHE_POINT]
    if len(kinds) > 1 and typed is None:
        out.amiss(place, "one kind of content", f"{len(kinds)} kinds")
    for name, value in members.items():
        read = READERS.get(name)
        if read is None or (typed is not None and typed != name):
            continue
        known = True
        if name in OBJECTS and head(value) != b"{":
            out.amiss((*place, name), "an object", value)
        else:
            read(value, place, (*place, name), out)
    if not members:
        out.blanks.append(Blank(place, len(out.blocks)))
    elif not known:
        out.blocks.append(foreign.block(raw, typed, place))


def _read_text(raw: Raw, place: Pointer, inner: Pointer, out: Draft) -> None:
    if head(raw) != b'"':
        out.amiss(inner, "a string", raw)
    else:
        out.say(raw, place)


def _read_call(raw: Raw, place: Pointer, inner: Pointer, out: Draft) -> None:
    call, wrong = CALL.inner(raw, (*out.at, *inner))
    out.misfits += wrong
    if call is not None:
        body, arguments = arguments_in_place(call.input, required=True)
        out.blocks.append(Call(
            place, CALL_KEYS, call.toolUseId, call.name, body, arguments, server=call.type == "server_tool_use",
            written=written(call.input), kind="toolUse",
        ))  # fmt: skip


def _read_result(raw: Raw, place: Pointer, inner: Pointer, out: Draft) -> None:
    result, wrong = RESULT.inner(raw, (*out.at, *inner))
    out.misfits += wrong
    if result is None:
        return
    body = bytes(result.content)
    failed = STATUS.get(result.status or "")
    out.blocks.append(Result(
        place, RESULT_KEYS, result.toolUseId, None, body, error=failed,
        server=result.type is not None and out.role == "assistant",
        synthetic=_is_placeholder(result.content),
        written=written(result.content), parts=_kinds(result.content, (*inner, "content"), out), kind="toolResult",
    ))  # fmt: skip


def _kinds(content: Raw, inner: Pointer, out: Draft) -> tuple[str, ...]:
    """Return the distinct kinds of a result's content."""
    if head(content) != b"[":
        if head(content) not in (b"", b"n"):
            out.amiss(inner, "a list of blocks", content)
        return ()
    kinds: list[str] = []
    for index, raw in enumerate(_items.decode(content)):
        if head(raw) != b"{":
            out.amiss((*inner, index), "an object", raw)
            continue
        members = _members.decode(raw)
        if "toolUse" in members:
            out.echoes.append((*inner, index))
        for name, value in members.items():
            other = name == "json" and head(value) != b"{"
            kinds.append("json-other" if other else name)
    return tuple(dict.fromkeys(kinds))


def _is_placeholder(content: Raw) -> bool:
    """Whether the only text of a result is a placeholder that repairs write."""
    items = _items.decode(content) if head(content) == b"[" else []
    if len(items) != 1 or head(items[0]) != b"{":
        return False
    return is_placeholder(bytes(_members.decode(items[0]).get("text", NOTHING)))


def _read_reasoning(raw: Raw, place: Pointer, inner: Pointer, out: Draft) -> None:
    thought, wrong = REASONING.inner(raw, (*out.at, *inner))
    out.misfits += wrong
    said = thought.reasoningText if thought else None
    out.blocks.append(Thinking(
        place, "reasoningContent", words=said is not None and not is_blank(said.text),
        signature=_signature(said),
        cipher=thought is not None and given(thought.redactedContent),
    ))  # fmt: skip


def _signature(said: ReasoningText | None) -> Signature:
    """Return the signature. Null counts as absent: no rejection of it is known here, unlike in Anthropic's own API."""
    return signature_of(said.signature) if said and head(said.signature) != b"n" else "absent"


def _read_other(_: Raw, place: Pointer, inner: Pointer, out: Draft) -> None:
    out.blocks.append(Other(place, str(inner[-1])))


READERS = {
    **dict.fromkeys(OWN_PARTS, _read_other),
    "text": _read_text,
    "toolUse": _read_call,
    "toolResult": _read_result,
    "reasoningContent": _read_reasoning,
}


def _replies(body: Any) -> list[tuple[Pointer, Turn]]:
    output = _output.inner(body.output)[0] if head(body.output) == b"{" else None
    return [(("output", "message"), output.message)] if output and output.message else []


def _is_turn(envelope: Any) -> bool:
    return given(envelope.role) and not given(envelope.type)


def _evidence(value: Any) -> int:
    if isinstance(value, Turn):
        return _evidence_of_blocks(value)
    if isinstance(value, Body):
        replies = _replies(value)
        if value.messages is None and not replies:
            return 0
        declares = b'"toolSpec"' in start(value.toolConfig, 400)
        settings = (
            value.inferenceConfig,
            value.guardrailConfig,
            value.additionalModelRequestFields,
            value.stopReason,
        )
        if not declares and not any(map(given, settings)) and _is_of_chat(value.messages or ()):
            return STRANGE * (1 + len(value.messages or ()))
        return SPEAKS * (declares + sum(map(given, settings))) + sum(_evidence(turn) for _, turn in replies)
    return 0


def _is_of_chat(turns: Sequence[Turn]) -> bool:
    """Whether calls have the form of Chat Completions and all content is text without a type."""
    if not any(given(turn.tool_calls) or given(turn.tool_call_id) for turn in turns):
        return False
    return not any(mark in bytes(turn.content) for turn in turns for mark in _MARKS)


def _evidence_of_blocks(turn: Turn) -> int:
    """Return the evidence of a turn's blocks.

    Blocks of this wire have no type, and all but texts are objects under the name of their kind.
    """
    if head(turn.content) != b"[":
        return 0
    try:
        blocks = [_members.decode(raw) for raw in _items.decode(turn.content)]
    except (ValueError, RecursionError):
        return STRANGE
    if not blocks:
        return 0
    own = all(map(_is_own, blocks)) and turn.role in ROLES and not given(turn.meta)
    return SPEAKS if own else STRANGE


_CACHE_POINT = "cachePoint"
_MARKS = (b'"toolUse"', b'"toolResult"', b'"reasoningContent"', b'"cachePoint"', b'"guardContent"')


def _is_own(block: dict[str, Raw]) -> bool:
    named = [name for name, raw in block.items() if head(raw) != b"n"]
    if len(named) == 2 and head(block.get(_CACHE_POINT, NOTHING)) == b"{":
        named.remove(_CACHE_POINT)
    if len(named) != 1 or named[0] not in READERS:
        return False
    return named[0] == "text" or head(block[named[0]]) == b"{"


class BedrockWriter(BlockWriter):
    """The writer of Bedrock Converse."""

    blocks_key = "content"
    result_message_keys: ClassVar[Mapping[str, Any]] = {"role": "user"}
    examples_key = "messages"
    instructions_at = ("system",)

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        status = {"status": "error"} if failed else {}
        content = [{"text": text} for text in texts]
        return {"toolResult": {"toolUseId": call.id or "", "content": content, **status}}

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:
        return {"toolUse": {"toolUseId": identifier, "name": name, "input": arguments}}

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        return {"role": role, "content": [*({"text": text} for text in texts), *calls]}

    def _text_block(self, text: str) -> dict[str, Any]:
        return {"text": text}

    def _example_block(self, _: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        if line.kind in ("result", "server-result"):
            status = "error" if line.failed else ABSENT
            kind = f"{line.name}_result" if line.kind == "server-result" else ABSENT
            result = present(toolUseId=line.id, content=[{"text": line.answer}], status=status, type=kind)
            return {"toolResult": result}
        if line.kind in ("call", "server-call"):
            kind = "server_tool_use" if line.kind == "server-call" else ABSENT
            call = present(toolUseId=line.id, name=line.name, input=line.arguments_value, type=kind)
            return {"toolUse": call}
        return {"reasoningContent": {"reasoningText": {"text": line.text, "signature": "c2ln"}}}

    def _takes_results(self, message: dict[str, Any]) -> bool:
        return message["role"] == "user" and all("toolResult" in block for block in message["content"])

    def _example_settings(self, example: "ExampleBuilder", more: dict[str, Any]) -> dict[str, Any]:
        called = dict.fromkeys(
            (line.name, line.kind) for line in example.lines if line.kind in ("call", "server-call")
        )
        tools = [
            {"systemTool": {"name": name}}
            if kind == "server-call"
            else {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}}
            for name, kind in called
            if isinstance(name, str) and name
        ]
        settings = {"toolConfig": {"tools": tools}} if tools else {}
        return {"modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0", **more, **settings}


_MEDIA = {
    "image": ObjectSyntax({"format": "skip", "source": "skip"}, place="image"),
    "document": ObjectSyntax(
        {"format": "skip", "name": "skip", "source": "skip", "context": "skip", "citations": "skip"},
        place="document",
    ),
    "video": ObjectSyntax({"format": "skip", "source": "skip"}, place="video"),
    "cache-point": ObjectSyntax({"type": "skip", "ttl": "skip"}, place="cachePoint"),
    "guard": ObjectSyntax({"text": "skip", "image": "skip"}, place="guardContent"),
}
SYNTAX = WireSyntax(
    messages="messages",
    samples=(
        b'[{"role":"user","content":[{"text":"x"}]}]',
        b'[{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"f","input":{}}}]}]',
    ),
    classes=(
        MessageClass("system", "system"), MessageClass("user", "user"), MessageClass("user", "user", results=True), MessageClass("assistant", "assistant"),
        MessageClass("assistant", "assistant", calls=True),
    ),
    shapes={
        "message": ObjectSyntax({"role": "role", "content": "pieces:block"}),
        "block": ObjectSyntax(
            {
                "text": "text", "toolUse": "object:use", "toolResult": "object:outcome", "reasoningContent": "object:reasoning",
                "image": "object:image", "document": "object:document", "video": "object:video",
                "cachePoint": "object:cache-point", "guardContent": "object:guard",
            },
            {
                "text": PieceSyntax("text"), "toolUse": PieceSyntax("call"), "toolResult": PieceSyntax("result"),
                "reasoningContent": PieceSyntax("thought"), "image": PieceSyntax("media"), "document": PieceSyntax("media"),
                "video": PieceSyntax("media"), "cachePoint": PieceSyntax("media"), "guardContent": PieceSyntax("media"),
            },
            by_key=True, place="part",
        ),
        "use": ObjectSyntax({"toolUseId": "id", "name": "name", "input": "object_arguments"}, place="toolUse"),
        "outcome": ObjectSyntax(
            {"toolUseId": "result_id", "content": "outputs:output", "status": "status"}, place="toolResult"
        ),
        "reasoning": ObjectSyntax(
            {"reasoningText": "object:reasoning-text", "redactedContent": "encrypted"}, place="reasoningContent"
        ),
        "reasoning-text": ObjectSyntax({"text": "words", "signature": "signature"}),
        "output": ObjectSyntax(
            {"text": "text", "json": "braces", "image": "skip", "document": "skip", "video": "skip"},
            {
                "text": PieceSyntax("text"), "json": PieceSyntax("media"), "image": PieceSyntax("media"), "document": PieceSyntax("media"),
                "video": PieceSyntax("media"),
            },
            by_key=True,
        ),
        **_MEDIA,
    },
    window=("user", "tool"),
    joins=True,
    needs_arguments=True,
    keep=("additionalModelRequestFields", "guardrailConfig"),
)  # fmt: skip

CARRIER = make_carrier(
    Dialect(
        wire=Wire("bedrock", window=frozenset({"user", "tool"}), joins=True),
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
        syntax=SYNTAX,
        writer=BedrockWriter(),
        states={f"status: {name}": "error" if failed else "complete" for name, failed in STATUS.items()},
    ),
    title="Bedrock Converse",
    about="request bodies, message arrays, request/response pairs, model invocation logs, one message per line",
)
