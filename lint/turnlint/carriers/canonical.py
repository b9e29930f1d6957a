"""Read and write the canonical conversation: speakers with blocks, `tool_call` and `tool_response`.

It is the provider-neutral model of stored histories (`IContent`). Ids start with `hist_tool_`. The keys `isComplete`,
`error` and `result` give the lifecycle of a result, and the metadata has turn ids. `turnlint schema transcript` prints
its JSON Schema.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from msgspec import UNSET, Raw, Struct, UnsetType, json, structs

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS
from turnlint.carrying.contents import arguments_in_place, call_mark
from turnlint.carrying.draft import signature_of, with_mark
from turnlint.carrying.envelope import Dialect, has_previous_response, make_carrier
from turnlint.carrying.origin import read_origin
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import NOTHING, given, head, is_blank, is_white, string, written
from turnlint.carrying.writer import BlockWriter, present
from turnlint.documents.decode import Shape, below
from turnlint.documents.fit import kind_of
from turnlint.lifecycle import is_cancellation, is_placeholder
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
    State,
    Text,
    Thinking,
    Wire,
)  # fmt: skip

if TYPE_CHECKING:
    from turnlint.carrying.examples import ExampleBuilder, NotationLine


class Part(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    name: str | None = None
    text: Raw = NOTHING
    thought: Raw = NOTHING
    parameters: Raw = NOTHING
    callId: str | None = None
    toolName: str | None = None
    result: Raw = NOTHING
    error: Raw = NOTHING
    isComplete: bool | UnsetType | None = UNSET
    metadata: Raw = NOTHING
    signature: Raw = NOTHING
    encryptedContent: Raw = NOTHING


class Metadata(Struct, gc=False):
    turnId: Raw = NOTHING
    synthetic: Raw = NOTHING
    state: Raw = NOTHING
    id: Raw = NOTHING
    provider: Raw = NOTHING
    model: Raw = NOTHING


class HistoryMetadata(Struct, gc=False):
    continued: bool = False
    """Whether earlier messages are stored elsewhere."""
    openEnd: bool = False
    """Whether the history may end with an unanswered call."""


class Turn(Struct, gc=False):
    speaker: str | None = None
    blocks: list[Raw] | None = None
    metadata: Raw = NOTHING


class Body(Envelope, gc=False, kw_only=True):
    history: list[Turn] | None = None
    contents: list[Turn] | None = None
    messages: list[Turn] | None = None
    metadata: Raw = NOTHING


ROLES: dict[str, Role] = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
CALL_KEYS = Keys(("id",), ("name",), ("parameters",))
RESULT_KEYS = Keys(("callId",), ("toolName",), ("result",))
ERROR_KEYS = Keys(("callId",), ("toolName",), ("error",))
STATES: dict[str, State] = {one: one for one in get_args(State)}
"""States of a call by `state` in the metadata of its response, for what the error and the result do not show."""
TEXTS = {"text": "text", "thinking": "thought"}
"""The keys of texts, by the type of their block."""
OWN_PARTS = frozenset({"media", "code", "image", "file"})
PART = Shape(Part)
_metadata = json.Decoder(Metadata)
_history = json.Decoder(HistoryMetadata)


def read_turn(turn: Turn, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    misfits: list[Misfit] = []
    said = turn.speaker or ""
    role = ROLES.get(said, "other")
    if role == "other":
        misfits.append(_speaker_misfit(at, turn.speaker))
    metadata = _metadata_of(turn.metadata)
    synthetic = bytes(metadata.synthetic) == b"true"
    blocks: list[Block] = []
    blanks: list[Blank] = []
    echoes: list[Pointer] = []
    for index, raw in enumerate(turn.blocks or ()):
        place: Pointer = ("blocks", index)
        if head(raw) != b"{":
            misfits.append(Misfit((*at, *place), "an object", kind_of(json.decode(raw))))
            continue
        block = _block(raw, role, place, misfits, at, synthetic=synthetic)
        if isinstance(block, Blank):
            blanks.append(structs.replace(block, before=len(blocks)))
            continue
        if isinstance(block, Call) and role == "tool":
            echoes.append(place)
            continue
        if isinstance(block, Call) and role in ("user", "system"):
            misfits.append(Misfit((*at, *place), "no call of this speaker", "a call"))
        if block is not None:
            blocks.append(block)
    message = Message(
        role, at, tuple(blocks), record, said,
        turn_id=string(metadata.turnId),
        inner_calls=tuple(echoes),
        blanks=tuple(blanks),
        empty=role in ("user", "assistant") and not blocks,
        content="absent" if turn.blocks is None else "parts",
        origin=read_origin(metadata.provider, metadata.model) if role == "assistant" else None,
        response=string(metadata.id) if role == "assistant" else None,
    )  # fmt: skip
    return message, misfits


def _speaker_misfit(at: Pointer, speaker: str | None) -> Misfit:
    if speaker is None:
        return Misfit(at, "a speaker", "none")
    return Misfit((*at, "speaker"), "one of the speakers " + ", ".join(ROLES), f"`{speaker[:40]}`")


def _metadata_of(raw: Raw) -> Metadata:
    return _metadata.decode(raw) if head(raw) == b"{" else Metadata()


def _block(
    raw: Raw, role: Role, place: Pointer, misfits: list[Misfit], at: Pointer, *, synthetic: bool
) -> Block | Blank | None:
    part, wrong = PART.inner(raw, (*at, *place))
    misfits += wrong
    if part is None:
        return None
    if part.type in TEXTS and head(text := getattr(part, TEXTS[part.type])) != b'"':
        found = kind_of(json.decode(text)) if given(text) else "nothing"
        misfits.append(Misfit((*at, *place), f"a string as `{TEXTS[part.type]}`", found, grave=False))
    if part.type == "text":
        if is_blank(part.text):
            return Blank(place, white=is_white(part.text))
        return with_mark(Text(place), call_mark(part.text, role))
    if part.type == "tool_call":
        body, arguments = arguments_in_place(part.parameters, required=True)
        return Call(
            place,
            CALL_KEYS,
            part.id,
            part.name,
            body,
            arguments,
            written=written(part.parameters),
            kind="tool_call",
        )
    if part.type == "tool_response":
        return _response(part, place, synthetic=synthetic)
    if part.type == "thinking":
        cipher = head(part.encryptedContent) == b'"'
        return Thinking(place, signature=signature_of(part.signature), cipher=cipher)
    if part.type in OWN_PARTS:
        return Other(place, part.type or "")
    block = foreign.block(raw, part.type, place)
    if not part.type and isinstance(block, Other):
        misfits.append(Misfit((*at, *place), "a `type`", "none", grave=False))
    return block


def _response(part: Part, place: Pointer, *, synthetic: bool) -> Result:
    failed = bytes(part.error) not in (b"", b"null", b'""')
    there = bytes(part.result) not in (b"", b"null")
    error, value = bytes(part.error), bytes(part.result) if there else b""
    metadata = _metadata_of(part.metadata)
    status = STATES.get(string(metadata.state) or "")
    synthetic = synthetic or bytes(metadata.synthetic) == b"true"
    # The body is a list if the error is beside a partial output, so that a comparison sees both.
    body = b"[%s,%s]" % (error, value) if failed and there else error if failed else value
    return Result(
        place,
        ERROR_KEYS if failed else RESULT_KEYS,
        part.callId,
        part.toolName,
        body,
        complete=None if part.isComplete is UNSET else part.isComplete,
        error=failed,
        value=there,
        status="cancelled" if failed and is_cancellation(error) else status,
        synthetic=is_placeholder(error if failed else value) or (synthetic and (failed or there)),
    )


def _history_metadata(body: Any) -> HistoryMetadata:
    try:
        return _history.decode(body.metadata) if head(body.metadata) == b"{" else HistoryMetadata()
    except (ValueError, RecursionError):
        return HistoryMetadata()


def _is_continued(body: Any) -> bool:
    return has_previous_response(body) or _history_metadata(body).continued


def _ends_open(body: Any) -> bool:
    return _history_metadata(body).openEnd


def _is_turn(envelope: Any) -> bool:
    return given(envelope.speaker)


def _evidence(value: Any) -> int:
    if isinstance(value, Turn):
        return SPEAKS if value.speaker is not None else 0
    return 0


SPEAKERS: dict[Role, str] = {role: speaker for speaker, role in ROLES.items()}


class CanonicalWriter(BlockWriter):
    """The writer of the canonical form."""

    blocks_key = "blocks"
    result_message_keys: ClassVar[Mapping[str, Any]] = {"speaker": "tool"}
    placeholder_mark: ClassVar[Mapping[str, Any]] = {
        "metadata": {"synthetic": True, "reason": "no result was recorded"}
    }
    examples_key = "history"
    role_key = "speaker"
    example_roles: ClassVar[Mapping[str, str]] = {"user": "human", "assistant": "ai", "system": "system"}

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        ending = {"error" if failed else "result": "\n".join(texts)}
        return {"type": "tool_response", "callId": call.id or "", "toolName": call.name or "", **ending}

    def completed_values(self, result: Mapping[str, Any], text: str) -> Mapping[Pointer, Any]:
        values: dict[Pointer, Any] = {
            ("error",): text,
            ("isComplete",): True,
            ("metadata", "state"): "cancelled",
        }
        # A mark that is absent stays absent: the error alone completes the result.
        return {
            at: value for at, value in values.items() if at == ("error",) or below(result, at) is not None
        }

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:
        return {"type": "tool_call", "id": identifier, "name": name, "parameters": arguments}

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        blocks = [*({"type": "text", "text": text} for text in texts), *calls]
        return {"speaker": SPEAKERS[role], "blocks": blocks}

    def _example_block(self, _: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        if line.kind == "result":
            ending = {"error": line.answer} if line.failed else {"result": {"output": line.answer}}
            return present(type="tool_response", callId=line.id, toolName=line.name) | ending
        if line.kind == "call":
            return present(type="tool_call", id=line.id, name=line.name, parameters=line.arguments_value)
        assert line.kind == "think", f"canonical has no {line.kind}"
        return {"type": "thinking", "thought": line.text}

    def _takes_results(self, message: dict[str, Any]) -> bool:
        return bool(message["speaker"] == "tool")


CARRIER = make_carrier(
    Dialect(
        wire=Wire("canonical", joins=True),
        envelope=Body,
        turn=Turn,
        keys=("history", "contents", "messages"),
        listed="",
        turn_key="speaker",
        read_turn=read_turn,
        is_turn=_is_turn,
        lines=((),),
        replies=lambda _: [],
        ends_open=_ends_open,
        is_continued=_is_continued,
        evidence=_evidence,
        writer=CanonicalWriter(),
        states={f"metadata.state: {name}": state for name, state in STATES.items()},
    ),
    title="canonical transcript",
    about="messages with a speaker and blocks: arrays, `history` records, one message per line",
)
