"""Read and write Gemini's generateContent, on AI Studio and Vertex.

The wire has `contents`, `parts`, `functionCall` and `functionResponse`, in camel case or snake case, with or without
ids.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Raw, Struct, json, structs

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.contents import arguments_in_place
from turnlint.carrying.draft import Draft, settle_calls
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.guests import Guest, as_chat
from turnlint.carrying.listed import Listed, listed
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
from turnlint.carrying.writer import BlockWriter, present
from turnlint.documents.decode import Shape, without_space
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


class FunctionCall(Struct, gc=False):
    id: str | None = None
    name: str | None = None
    args: Raw = NOTHING


class FunctionResponse(Struct, gc=False):
    id: str | None = None
    name: str | None = None
    response: Raw = NOTHING
    parts: Raw = NOTHING


class Turn(Guest, gc=False):
    parts: Raw = NOTHING


class Reply(Turn, gc=False):
    """A content of a response. It belongs to the model even without a role, and may have been truncated to nothing."""


class Candidate(Struct, gc=False):
    content: Reply | None = None


class Body(Envelope, gc=False, kw_only=True):
    contents: list[Turn] | Turn | None = None
    history: list[Turn] | Turn | None = None
    candidates: list[Candidate] | None = None
    systemInstruction: Raw = NOTHING
    system_instruction: Raw = NOTHING
    generation_config: Raw = NOTHING
    tool_config: Raw = NOTHING
    cachedContent: Raw = NOTHING
    cached_content: Raw = NOTHING
    parts: Raw = NOTHING

    def __post_init__(self) -> None:
        """Copy the values under snake-case keys to the camel-case attributes."""
        for snake, camel in SNAKES.items():
            if given(getattr(self, snake)):
                setattr(self, camel, getattr(self, snake))


SNAKES = {
    "system_instruction": "systemInstruction", "generation_config": "generationConfig",
    "tool_config": "toolConfig", "cached_content": "cachedContent",
}  # fmt: skip
ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "function": "tool", "": "user"}
OTHER_ROLES: dict[str, tuple[Role, str | None]] = {
    **foreign.ROLES, "assistant": ("assistant", "openai-chat"), "system": ("system", None),
}  # fmt: skip
CALLS = ("functionCall", "function_call")
RESULTS = ("functionResponse", "function_response")
CALL_KEYS = {name: Keys((name, "id"), (name, "name"), (name, "args")) for name in CALLS}
RESULT_KEYS = {name: Keys((name, "id"), (name, "name"), (name, "response")) for name in RESULTS}
OWN_PARTS = {
    "inlineData": "inlineData", "inline_data": "inlineData",
    "fileData": "fileData", "file_data": "fileData",
    "executableCode": "executableCode", "executable_code": "executableCode",
    "codeExecutionResult": "codeExecutionResult", "code_execution_result": "codeExecutionResult",
    "toolCall": "toolCall", "tool_call": "toolCall",
    "toolResponse": "toolResponse", "tool_response": "toolResponse",
}  # fmt: skip
"""Parts that need no pairing. Code and tools that the model's own servers run include their outcome."""
SIGNATURES = ("thoughtSignature", "thought_signature")
KNOWN = frozenset(("text", "thought", *SIGNATURES, *CALLS, *RESULTS, *OWN_PARTS))
BYPASSES = frozenset({
    "skip_thought_signature_validator", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I",
    "context_engineering_is_the_way_to_go", "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv",
})  # fmt: skip
"""Values that replace a signature, also in base64, as SDKs with a type for bytes write them."""
MEDIA = frozenset({"image", "video", "audio"})

_items = json.Decoder(list[Raw])
_members = json.Decoder(dict[str, Raw])
CALL = Shape(FunctionCall)
RESULT = Shape(FunctionResponse)


def read_turn(turn: Turn, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    if not given(turn.parts) and (given(turn.content) or given(turn.tool_calls)):
        return as_chat(turn, at, record)
    reply = isinstance(turn, Reply)
    said = turn.role or ("model" if reply else "")
    role, dialect = (ROLES[said], None) if said in ROLES else OTHER_ROLES.get(said, ("other", None))
    out = Draft(at, role)
    if said not in ROLES and dialect is None:
        out.misfits.append(foreign.role_misfit(at, said, tuple(filter(None, ROLES))))
    for place, raw in _parts(turn.parts, out):
        _read_part(raw, place, out)
    _settle_roles(out, said)
    message = Message(
        out.role, at, tuple(out.blocks), record, said,
        dialect=dialect, inner_calls=tuple(out.echoes), blanks=tuple(out.blanks),
        empty=out.role in ("user", "assistant") and not (out.blocks or out.echoes or reply),
        content="parts" if head(turn.parts) == b"{" else content_of(turn.parts),
    )  # fmt: skip
    return message, out.misfits


def _parts(raw: Raw, out: Draft) -> Iterator[tuple[Pointer, Raw]]:
    """Yield the parts with their pointers. A single part may have no list around it (49 accepted contents).

    The servers flatten a list inside the list (recorded, 2026-11).
    """
    first = head(raw)
    if first == b"[":
        for index, part in enumerate(_items.decode(raw)):
            if head(part) != b"[":
                yield ("parts", index), part
                continue
            out.amiss(("parts", index), "an object", part, grave=False)
            yield from ((("parts", index, inner), one) for inner, one in enumerate(_items.decode(part)))
    elif first == b"{":
        yield ("parts",), raw
    elif first not in (b"", b"n"):
        out.amiss(("parts",), "a list of parts", raw)


def _read_part(raw: Raw, place: Pointer, out: Draft) -> None:
    """Read all content of one part. A valid part has one kind; a damaged part keeps all of its content."""
    if head(raw) != b"{":
        out.amiss(place, "an object", raw)
        return
    members = {name: value for name, value in _members.decode(raw).items() if head(value) != b"n"}
    signature = _signature(members)
    thought = bytes(members.get("thought", NOTHING)) == b"true"
    known = False
    for name, value in members.items():
        known = known or name in KNOWN
        if name in CALL_KEYS:
            _read_call(value, name, place, signature, out)
        elif name in RESULT_KEYS:
            _read_result(value, name, place, out)
        elif name in OWN_PARTS:
            out.blocks.append(Other(place, OWN_PARTS[name]))
        elif name == "text":
            _read_text(value, place, signature, out, thought=thought)
    if not known and members:
        out.blocks.append(foreign.block(raw, string(members.get("type")), place))
    elif KNOWN.isdisjoint(members.keys() - {"thought", *SIGNATURES}):
        if thought or signature != "absent":
            out.blocks.append(Thinking(place, "thought", words=False, signature=signature))
        else:
            out.blanks.append(Blank(place, len(out.blocks), hollow="text" not in members))


def _read_call(raw: Raw, name: str, place: Pointer, signature: Signature, out: Draft) -> None:
    if head(raw) != b"{":
        out.amiss((*place, name), "an object", raw)
        return
    call, wrong = CALL.inner(raw, (*out.at, *place, name))
    out.misfits += wrong
    if call is not None:
        body, arguments = arguments_in_place(call.args)
        out.blocks.append(Call(
            place, CALL_KEYS[name], call.id, call.name, body, arguments, needs_id=bool(call.id),
            written=written(call.args), kind="functionCall", signature=signature,
        ))  # fmt: skip


def _read_result(raw: Raw, name: str, place: Pointer, out: Draft) -> None:
    if head(raw) != b"{":
        out.amiss((*place, name), "an object", raw)
        return
    result, wrong = RESULT.inner(raw, (*out.at, *place, name))
    out.misfits += wrong
    if result is None:
        return
    if head(result.response) not in (b"", b"n", b"{"):
        out.amiss((*place, name, "response"), "an object", result.response)
    body = bytes(result.response)
    failed = _failed(result.response)
    out.blocks.append(Result(
        place, RESULT_KEYS[name], result.id, result.name, body + bytes(result.parts), needs_id=bool(result.id),
        error=True if failed else None, synthetic=is_placeholder(body),
        written=written(result.response), parts=_kinds(result, (*place, name), out), kind="functionResponse",
    ))  # fmt: skip


def _failed(response: Raw) -> bool:
    """Whether a result reports a failure. By convention it does so under `error`; there is no other mark."""
    if head(response) != b"{" or b'"error"' not in bytes(response):
        return False
    error = _members.decode(response).get("error", NOTHING)
    return not is_blank(error) and without_space(bytes(error)) not in (b"false", b"{}")


def _kinds(result: FunctionResponse, place: Pointer, out: Draft) -> tuple[str, ...]:
    """Return the distinct kinds of a result's content: its object, and media in parts of its own."""
    kinds = [] if is_blank(result.response) else ["json" if head(result.response) == b"{" else "json-other"]
    for index, raw in enumerate(_items.decode(result.parts) if head(result.parts) == b"[" else ()):
        if head(raw) != b"{":
            out.amiss((*place, "parts", index), "an object", raw)
            continue
        members = _members.decode(raw)
        if not members.keys().isdisjoint(CALLS):
            out.echoes.append((*place, "parts", index))
        kinds += [_medium(OWN_PARTS[name], members[name]) for name in members if name in OWN_PARTS]
        kinds += ["text"] * ("text" in members)
    return tuple(dict.fromkeys(kinds))


def _medium(kind: str, raw: Raw) -> str:
    """Return the kind of data by their media type: an image, a video, an audio; else a document."""
    if kind not in ("inlineData", "fileData") or head(raw) != b"{":
        return kind
    members = _members.decode(raw)
    medium = (string(members.get("mimeType", members.get("mime_type"))) or "").partition("/")[0]
    return medium if medium in MEDIA else "document"


def _read_text(raw: Raw, place: Pointer, signature: Signature, out: Draft, *, thought: bool) -> None:
    if head(raw) != b'"':
        out.amiss((*place, "text"), "a string", raw)
    elif thought or (is_blank(raw) and signature == "given"):
        # Streams end with an empty text that has the signature of the parts before it.
        out.blocks.append(Thinking(place, "thought", not is_blank(raw), signature))
    else:
        out.say(raw, place)


def _signature(members: dict[str, Raw]) -> Signature:
    raw = next((members[name] for name in SIGNATURES if name in members), NOTHING)
    text = string(raw)
    if text is None:
        return "unfit" if given(raw) else "absent"
    if not text.strip():
        return "blank"
    return "bypass" if text.rstrip("=") in BYPASSES else "given"


def _settle_roles(out: Draft, said: str) -> None:
    """Take calls beside results for echoes; report other calls and results whose message has the wrong role."""
    if out.role == "assistant" and foreign.only_results(out.blocks):
        out.role = "tool"
        out.amiss(("role",), "the role of results, user or function", f"`{said}`", grave=False)
    elif out.role in ("user", "tool"):
        for call in settle_calls(out)[:1]:
            out.amiss(call.at, "no calls in this role", "a call", grave=False)


def _asked(body: Any) -> Listed | None:
    """Return the contents; Google's servers accept a single content as a list of one.

    A cache may have earlier contents.
    """
    cached = given(body.cachedContent)
    for name in ("contents", "history"):
        turns = getattr(body, name)
        if turns is not None:
            said = listed(turns, (name,)) if isinstance(turns, list) else Listed([((name,), turns)])
            return structs.replace(said, headless=cached)
    return None


def _replies(body: Any) -> list[tuple[Pointer, Turn]]:
    candidates = enumerate(body.candidates or ())
    return [(("candidates", index, "content"), one.content) for index, one in candidates if one.content]


def _is_turn(envelope: Any) -> bool:
    return given(envelope.parts)


def _ends_open(body: Any) -> bool:
    """Whether a body is a tuning sample, which may end with a call: it declares tools and names no model."""
    return given(body.tools) and not given(body.model) and not given(body.generationConfig)


def _evidence(value: Any) -> int:
    if isinstance(value, Turn):
        return _evidence_of_parts(value)
    if isinstance(value, Body):
        if value.candidates is not None:
            return SPEAKS * any(candidate.content is not None for candidate in value.candidates)
        if value.contents is None:
            return 0
        declares = b"unction" in start(value.tools, 40)
        return SPEAKS * (declares + given(value.systemInstruction) + given(value.generationConfig))
    return 0


def _evidence_of_parts(turn: Turn) -> int:
    """Return the evidence of parts. Parts of this wire have no type; those of other wires do."""
    if head(turn.parts) not in (b"[", b"{"):
        return 0
    try:
        parts = [_members.decode(part) for raw in _flat(turn.parts) for part in _flat(raw)]
    except (ValueError, RecursionError):
        return STRANGE
    if any("type" in part or KNOWN.isdisjoint(part) for part in parts if part):
        return STRANGE
    return SPEAKS if parts or turn.role == "model" else 0


def _flat(raw: Raw) -> list[Raw]:
    """Return the entries of a list, or the value itself."""
    return _items.decode(raw) if head(raw) == b"[" else [raw]


class GeminiWriter(BlockWriter):
    """The writer of generateContent."""

    blocks_key = "parts"
    result_message_keys: ClassVar[Mapping[str, Any]] = {"role": "user"}
    examples_key = "contents"
    instructions_at = ("systemInstruction", "parts")
    example_roles: ClassVar[Mapping[str, str]] = {"user": "user", "assistant": "model"}

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        """Write the result of a call, with keys in the case of the call."""
        key = RESULTS[CALLS.index(call.keys.name[0])] if call.keys.name[0] in CALLS else RESULTS[0]
        own = {"id": call.id} if call.id else {}
        response = {"error" if failed else "output": "\n".join(texts)}
        return {key: {**own, "name": call.name or "", "response": response}}

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:
        own = {"id": identifier} if identifier else {}
        return {"functionCall": {**own, "name": name, "args": arguments}}

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        if role not in ("user", "assistant"):
            return None
        return {
            "role": "model" if role == "assistant" else "user",
            "parts": [*({"text": text} for text in texts), *calls],
        }

    def _text_block(self, text: str) -> dict[str, Any]:
        return {"text": text}

    def _example_block(self, example: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        if line.kind == "result":
            response = {"error" if line.failed else "output": line.answer}
            result = present(id=line.id, name=example.name_of(line), response=response)
            return {"functionResponse": result}
        if line.kind == "call":
            example.open_calls.append(line)
            return {"functionCall": present(id=line.id, name=line.name, args=line.arguments_value)}
        assert line.kind == "think", f"gemini has no {line.kind}"
        return {"text": line.text, "thought": True}

    def _takes_results(self, message: dict[str, Any]) -> bool:
        return message["role"] == "user" and all("functionResponse" in part for part in message["parts"])

    def _example_settings(self, example: "ExampleBuilder", more: dict[str, Any]) -> dict[str, Any]:
        declared = [{"name": name} for name in example.called_names()]
        tools = {"tools": [{"functionDeclarations": declared}]} if declared else {}
        return {"model": "gemini-2.5-flash", **more, **tools}


_CALL = {"id": "id", "name": "name", "args": "object_arguments"}
_ANSWER = {"id": "result_id", "name": "name", "response": "json:output", "parts": "output_parts:output"}
_DATA = PieceSyntax("media", means=(*sorted(MEDIA), "document"))
SYNTAX = WireSyntax(
    messages="contents",
    samples=(
        b'[{"role":"user","parts":[{"text":"x"}]}]',
        b'[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}]',
    ),
    classes=(
        MessageClass("user", "user"), MessageClass("user", "user", results=True), MessageClass("model", "assistant"),
        MessageClass("model", "assistant", calls=True), MessageClass("", "user"), MessageClass("", "user", results=True),
        MessageClass("function", "tool", results=True),
    ),
    shapes={
        "message": ObjectSyntax({"role": "role", "parts": "pieces:part"}),
        "part": ObjectSyntax(
            {
                "text": "text", "functionCall": "object:call", "function_call": "object:snake-call", "functionResponse": "object:answer",
                "function_response": "object:snake-answer", "inlineData": "media", "inline_data": "media", "fileData": "media",
                "file_data": "media", "thought": "thought", "executableCode": "media", "codeExecutionResult": "media", "thoughtSignature": "signature", "thought_signature": "signature",
            },
            {
                "text": PieceSyntax("text"), "functionCall": PieceSyntax("call"), "function_call": PieceSyntax("call"),
                "functionResponse": PieceSyntax("result"), "function_response": PieceSyntax("result"), "inlineData": PieceSyntax("media"),
                "inline_data": PieceSyntax("media"), "fileData": PieceSyntax("media"), "file_data": PieceSyntax("media"),
                "executableCode": PieceSyntax("media"), "codeExecutionResult": PieceSyntax("media"),
            },
            by_key=True, place="part",
        ),
        "call": ObjectSyntax(_CALL, place="functionCall"),
        "snake-call": ObjectSyntax(_CALL, place="function_call"),
        "answer": ObjectSyntax(_ANSWER, place="functionResponse"),
        "snake-answer": ObjectSyntax(_ANSWER, place="function_response"),
        "output": ObjectSyntax(
            {"json": "skip", "inlineData": "braces", "inline_data": "braces", "fileData": "braces", "file_data": "braces"},
            {
                "json": PieceSyntax("media"), "inlineData": _DATA, "inline_data": _DATA, "fileData": _DATA, "file_data": _DATA,
            },
            by_key=True,
        ),
    },
    result_types=("functionResponse",),
    window=("user", "tool"),
    joins=True,
    idless=True,
)  # fmt: skip

_CARRIER = make_carrier(
    Dialect(
        # Google's own SDK stores a streamed answer as one content per chunk, and sends them back so (python-genai
        # 1791).
        wire=Wire("gemini", window=frozenset({"user", "tool"}), joins=True, idless=True, counts=True),
        envelope=Body,
        turn=Turn,
        keys=(),
        turn_key="parts",
        read_turn=read_turn,
        is_turn=_is_turn,
        lines=((), ("content",), ("message",)),
        replies=_replies,
        ends_open=_ends_open,
        evidence=_evidence,
        syntax=SYNTAX,
        asked=_asked,
        listed="contents",
        claims_empty=True,
        writer=GeminiWriter(),
        states={"response.error: …": "error"},
    ),
    title="Gemini generateContent",
    about="request bodies, arrays of contents, request/response pairs, batch lines, one content per line; keys in camelCase or snake_case",
)
CARRIER = structs.replace(_CARRIER, record_keys=_CARRIER.record_keys | {"contents", "history", "candidates"})
"""Without server-sent events, a streamed response is an array of its chunks."""
