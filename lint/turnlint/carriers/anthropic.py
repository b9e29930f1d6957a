"""Read and write Anthropic Messages: content blocks, `tool_use` and `tool_result`, server tools.

The API joins consecutive messages of one role into one turn, so the wire joins them too.
"""

from collections.abc import Mapping, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Raw, Struct, json

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.contents import arguments_in_place
from turnlint.carrying.draft import CONTENT, Draft, settle_calls, signature_of, text_of
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.guests import Guest, add_chat
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import (
    KINDS,
    NOTHING,
    QUOTE,
    SHORT,
    content_of,
    given,
    head,
    is_blank,
    start,
    string,
)
from turnlint.carrying.syntax import MessageClass, ObjectSyntax, PieceSyntax, WireSyntax
from turnlint.carrying.writer import ABSENT, BlockWriter, one_or_parts, present
from turnlint.documents.decode import Shape
from turnlint.lifecycle import is_placeholder
from turnlint.model import (
    Block,
    Call,
    Keys,
    Message,
    Misfit,
    Origin,
    Other,
    Pointer,
    Record,
    Result,
    Role,
    State,
    Thinking,
    Wire,
)  # fmt: skip

if TYPE_CHECKING:
    from turnlint.carrying.examples import ExampleBuilder, NotationLine


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


class ModelInfo(Struct, gc=False):
    """The model of a message, as Cline stores it."""

    id: Raw = NOTHING
    provider: Raw = NOTHING


class Turn(Guest, gc=False):
    parts: Raw = NOTHING
    model: Raw = NOTHING
    modelInfo: Raw = NOTHING


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
"""The types of calls, and whether the provider runs them itself."""
OWN_PARTS = frozenset({
    "image", "document", "search_result", "container_upload", "tool_reference", "compaction", "file",
    "fallback",
})  # fmt: skip
THINKING = frozenset({"thinking", "redacted_thinking"})

_parts = json.Decoder(list[Raw])
_all_parts = json.Decoder(list[Part])
_model_info = json.Decoder(ModelInfo)


class _Source(Struct, gc=False):
    type: Raw = NOTHING


_source = json.Decoder(_Source)
STATES: dict[str, State] = {"is_error: true": "error", "is_error: false": "complete"}
ERROR_TYPE = "_tool_result_error"
"""The end of the type of the content of a failed tool that the provider runs."""
_PLAIN = frozenset({"text", "tool_result", *CALLS, *THINKING})
"""Types of blocks for which only the keys of `Part` matter."""
_TOLD = frozenset({*CALLS, *THINKING})
_SAID = _TOLD | {"text"}
"""Types of blocks in an answer."""
_UNDERSCORE = 0x5F
_TAKEN = frozenset({"absent", "null", "text", "list"})
"""The JSON kinds that a result's content may have."""
PART = Shape(Part)


def read_turn(turn: Turn, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    said = intern(turn.role or "")
    role = ROLES.get(said, "other")
    bare = turn.tool_calls is NOTHING and turn.tool_call_id is NOTHING
    origin = None if turn.model is turn.modelInfo is NOTHING or role != "assistant" else _origin_of(turn)
    text = memoryview(turn.content)
    if bare and role != "other" and text.nbytes > SHORT and text[0] == QUOTE:  # the most common case
        block = text_of(text, CONTENT, role)
        return Message(role, at, (block,), record, said, content="text", origin=origin), []
    dialect = None
    out = Draft(at, role)
    if role == "other":
        role, dialect = foreign.ROLES.get(said, (role, None))
        out.role = role
        if dialect is None:
            out.misfits.append(foreign.role_misfit(at, turn.role, tuple(ROLES)))
    _read_content(turn.content, out)
    if not bare and (given(turn.tool_calls) or given(turn.tool_call_id)):
        add_chat(turn, out)
        dialect = "openai-chat"
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
        empty=role in ("user", "assistant") and not out.blocks and not out.echoes,
        content=content_of(turn.content),
        blanks=tuple(out.blanks),
        origin=origin,
    )
    return message, out.misfits


def _origin_of(turn: Turn) -> Origin | None:
    """Return the maker of a message that a program stores: a response as it was, or a message with `modelInfo`."""
    from turnlint.carrying.origin import read_origin  # no request has such keys

    if head(turn.modelInfo) == b"{":
        info = _model_info.decode(turn.modelInfo)
        return read_origin(info.provider, info.id)
    return read_origin(None, turn.model)


def _read_content(content: Raw, out: Draft) -> None:
    first = head(content)
    if first == b'"':
        out.say(content, CONTENT)
    elif first == b"[":
        parts = _plain_parts(content)
        if parts is not None:
            _read_plain(parts, out)
            return
        for index, raw in enumerate(_parts.decode(content)):
            place: Pointer = ("content", index)
            if head(raw) == b"{":
                _read_block(raw, place, out)
            else:
                out.amiss(place, "an object", raw)
    elif first not in (b"", b"n"):
        out.amiss(("content",), "a string or a list of blocks", content)


def _plain_parts(content: Raw) -> list[Part] | None:
    """Decode all blocks at once, if each has one of the common types."""
    try:
        parts = _all_parts.decode(content)
    except (ValueError, RecursionError):
        return None
    return parts if _PLAIN.issuperset([part.type for part in parts]) else None


def _read_plain(parts: list[Part], out: Draft) -> None:
    blocks = out.blocks
    for index, part in enumerate(parts):
        kind, place = part.type or "", ("content", index)
        if kind == "text":
            out.say(part.text, place)
            continue
        block = _block(NOTHING, part, kind, place)
        blocks.append(block)
        if kind == "tool_result" and type(block) is Result:
            _look_inside(part, block, place, out)


def _look_inside(part: Part, block: Result, place: Pointer, out: Draft) -> None:
    if block.written not in _TAKEN:
        out.amiss((*place, "content"), "a string or a list of blocks", part.content)
    if _UNDERSCORE in block.body and b"tool_use" in block.body:
        out.echoes += [(*place, *inner) for inner in _calls_inside(block.body)]


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


def _read_block(raw: Raw, place: Pointer, out: Draft) -> None:
    part, wrong = PART.inner(raw, (*out.at, *place))
    out.misfits += wrong
    if part is None:
        return
    kind = part.type or ""
    if kind == "text":
        out.say(part.text, place)
        return
    block = _block(raw, part, kind, place)
    out.blocks.append(block)
    if isinstance(block, Result) and not block.server:
        if kind == "tool_result":
            _look_inside(part, block, place, out)
        elif b"tool_use" in block.body:
            out.echoes += [(*place, *inner) for inner in _calls_inside(block.body)]


def _block(raw: Raw, part: Part, kind: str, place: Pointer) -> Block:
    if kind in CALLS:
        body, arguments = arguments_in_place(part.input, required=True)
        how = KINDS.get(body[:1], "other")
        return Call(
            place, CALL_KEYS, part.id, part.name, body, arguments, CALLS[kind], written=how, kind=intern(kind)
        )  # fmt: skip
    if kind == "tool_result" or kind.endswith("_tool_result"):
        return _result(part, place, server=kind != "tool_result")
    if kind in THINKING:
        words = kind == "thinking" and not is_blank(part.thinking)
        # Null is not absent: clients that send it get the error "signature.str: Input should be a valid string".
        return Thinking(place, kind, words, signature_of(part.signature), cipher=kind == "redacted_thinking")
    if kind in OWN_PARTS:
        return Other(place, kind)
    return foreign.block(raw, part.type, place)


def _is_file(source: Raw) -> bool:
    """Whether the source of a part is a file that the provider keeps."""
    return head(source) == b"{" and string(_source.decode(source).type) == "file"


def _is_server_error(content: Raw) -> bool:
    return (string(_source.decode(content).type) or "").endswith(ERROR_TYPE)


def _result(part: Part, place: Pointer, *, server: bool) -> Result:
    body = bytes(part.content)
    how = KINDS.get(body[:1], "other")
    parts = foreign.parts_of(part.content) if how == "list" else ()
    return Result(
        place,
        RESULT_KEYS,
        part.tool_use_id,
        part.name,
        body,
        server=server,
        error=part.is_error,
        status="error" if server and how == "object" and _is_server_error(part.content) else None,
        synthetic=is_placeholder(body),
        written=how,
        parts=tuple(dict.fromkeys(one.type for one in parts)),
        may_be_file=any(_is_file(one.source) for one in parts),
        kind=intern(part.type or ""),
    )


def _replies(body: Any) -> list[tuple[Pointer, Turn]]:
    is_message = text_is(body.type, b'"message"') and text_is(body.role, b'"assistant"')
    if is_message or _is_bare_answer(body):
        return [((), Turn("assistant", body.content))]
    return []


def _is_bare_answer(body: Any) -> bool:
    """Whether a body has only the content of an answer, without a type and a role."""
    if body.messages is not None or given(body.type) or given(body.role) or head(body.content) != b"[":
        return False
    kinds = {part.type for part in foreign.parts_of(body.content)}
    is_own = all(kind in _SAID or kind.endswith("_tool_result") for kind in kinds)
    return bool(kinds) and is_own and (given(body.stop_reason) or not kinds.isdisjoint(_TOLD))


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
        if value.role == "developer":
            return STRANGE
        # Plain texts may belong to any wire, and count for the most common one.
        return SPEAKS if any(part.type in THINKING for part in parts) else 0
    if isinstance(value, Body):
        replies = [] if value.messages is not None else _replies(value)
        if value.messages is None and not replies:
            return 0
        calls = any(part.type in CALLS for _, turn in replies for part in foreign.parts_of(turn.content))
        if value.messages and value.messages[0].role == "system":
            return STRANGE  # the first system prompt is a key of the request; later ones may be messages
        declares = b'"input_schema"' in start(value.tools, 4000)
        keys = value.system, value.anthropic_version, value.stop_reason
        model = start(value.model, 80)
        claude = (
            b"claude" in model and b"/" not in model
        )  # a router's name for the model is no evidence for the wire
        hosts = value.host, value.url, value.base_url, value.api_base, value.endpoint
        sent = any(b"api.anthropic.com" in start(raw, 200) for raw in hosts)
        return SPEAKS * (declares + claude + calls + 3 * sent + any(given(raw) for raw in keys))
    return 0


class AnthropicWriter(BlockWriter):
    """The writer of Anthropic Messages."""

    blocks_key = "content"
    result_message_keys: ClassVar[Mapping[str, Any]] = {"role": "user"}
    examples_key = "messages"

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        result = {"type": "tool_result", "tool_use_id": call.id or "", "content": one_or_parts(texts) or ""}
        return {**result, "is_error": True} if failed else result

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:
        return {"type": "tool_use", "id": identifier, "name": name, "input": arguments}

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        if calls or len(texts) != 1:
            return {"role": role, "content": [*({"type": "text", "text": text} for text in texts), *calls]}
        return {"role": role, "content": texts[0]}

    example_roles: ClassVar[Mapping[str, str]] = {
        "user": "user",
        "assistant": "assistant",
        "system": "system",
    }

    def _example_block(self, _: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        if line.kind == "result":
            failed = True if line.failed else ABSENT
            return present(
                type="tool_result", tool_use_id=line.id, name=line.name, content=line.answer, is_error=failed
            )
        if line.kind in ("call", "server-call"):
            kind = "tool_use" if line.kind == "call" else "server_tool_use"
            return present(type=kind, id=line.id, name=line.name, input=line.arguments_value)
        if line.kind == "server-result":
            return present(type=f"{line.name}_tool_result", tool_use_id=line.id, content=[])
        return {"type": "thinking", "thinking": line.text, "signature": "c2ln"}

    def _takes_results(self, message: dict[str, Any]) -> bool:
        blocks = message["content"]
        is_of_user = message["role"] == "user" and bool(blocks)
        return is_of_user and all(block["type"] == "tool_result" for block in blocks)

    def _example_settings(self, example: "ExampleBuilder", more: dict[str, Any]) -> dict[str, Any]:
        called = dict.fromkeys(line.name for line in example.lines if line.kind in ("call", "server-call"))
        tools = [
            {"name": name, "input_schema": {"type": "object"}}
            for name in called
            if isinstance(name, str) and name
        ]
        settings = {"model": "claude-sonnet-4-5", "max_tokens": 64}
        return {**settings, **more, **({"tools": tools} if tools else {})}


_SERVER_RESULTS = tuple(
    f"{name}_tool_result"
    for name in (
        "web_search",
        "web_fetch",
        "code_execution",
        "bash_code_execution",
        "text_editor_code_execution",
        "tool_search",
    )
)
_OUTPUT_PARTS = {
    "text": PieceSyntax("text", "text", "cache_control citations"), "image": PieceSyntax("media", "source", "cache_control"),
    "document": PieceSyntax("media", "source", "cache_control title context citations"),
}  # fmt: skip
SYNTAX = WireSyntax(
    messages="messages",
    samples=(
        b'[{"role":"user","content":"x"}]',
        b'[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}]',
    ),
    classes=(
        MessageClass("system", "system"), MessageClass("user", "user"), MessageClass("user", "user", results=True), MessageClass("assistant", "assistant"),
        MessageClass("assistant", "assistant", calls=True), MessageClass("assistant", "assistant", calls=True, results=True),
    ),
    shapes={
        "message": ObjectSyntax({"role": "role", "content": "content:block"}),
        "block": ObjectSyntax(
            {
                "type": "type", "text": "text", "id": "id", "name": "name", "input": "object_arguments", "tool_use_id": "result_id",
                "content": "output:output", "is_error": "failed", "source": "media", "thinking": "words",
                "signature": "signature", "data": "skip", "cache_control": "skip", "caller": "skip", "citations": "skip",
                "title": "skip", "context": "skip", "file_id": "skip", "tool": "skip",
            },
            {
                **_OUTPUT_PARTS,
                "tool_use": PieceSyntax("call", "id name input", "cache_control caller"),
                "tool_result": PieceSyntax("result", "tool_use_id", "content is_error cache_control"),
                "thinking": PieceSyntax("thought", "thinking", "signature"),
                "redacted_thinking": PieceSyntax("cipher", "data"),
                "server_tool_use": PieceSyntax("server_call", "id name input", "cache_control caller"),
                **dict.fromkeys(_SERVER_RESULTS, PieceSyntax("server_result", "tool_use_id content", "cache_control caller")),
                "container_upload": PieceSyntax("other", "file_id", "cache_control"),
                "tool_addition": PieceSyntax("other", "tool", "cache_control"),
                "tool_removal": PieceSyntax("other", "tool", "cache_control"),
            },
        ),
        "source": ObjectSyntax({"type": "type"}, is_open=True),
        "output": ObjectSyntax(
            {
                "type": "type", "text": "text", "source": "source:source", "cache_control": "skip", "citations": "skip", "title": "skip",
                "context": "skip",
                **dict.fromkeys(("url", "encrypted_content", "page_age", "tool_name", "file_id", "content"), "skip"),
            },
            {
                **_OUTPUT_PARTS,
                "web_search_result": PieceSyntax("other", "", "title url encrypted_content page_age"),
                "search_result": PieceSyntax("other", "source title content", "citations cache_control"),
                "tool_reference": PieceSyntax("other", "tool_name", "cache_control"),
                "bash_code_execution_output": PieceSyntax("other", "file_id"),
                "code_execution_output": PieceSyntax("other", "file_id"),
            },
        ),
    },
    window=("user", "tool"),
    joins=True,
    needs_arguments=True,
)  # fmt: skip

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
        syntax=SYNTAX,
        writer=AnthropicWriter(),
        states={**STATES, f"content.type: …{ERROR_TYPE}": "error"},
    ),
    title="Anthropic Messages",
    about="request bodies, message arrays, request/response pairs, batch lines, one message per line; server tools",
)
