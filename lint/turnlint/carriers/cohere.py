"""Read and write the two chat APIs of Cohere.

The second is Chat Completions with a plan and with documents as results. The first has its own speakers.

The module reads the second API, and decides for which of the two a record is written.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct, json, structs

from turnlint.carriers import openai_chat
from turnlint.carrying import chat_turns, cohere_v1
from turnlint.carrying.carrier import SPEAKS, STRANGE, Reader, Stray
from turnlint.carrying.envelope import Dialect
from turnlint.carrying.listed import Listed
from turnlint.carrying.raws import NOTHING, given, head, is_blank, string
from turnlint.carrying.syntax import MessageClass, ObjectSyntax, PieceSyntax, WireSyntax
from turnlint.carrying.writer import ChatWriter, declared_functions, present, put_first
from turnlint.documents.decode import Decoded, Shape
from turnlint.model import Block, Call, Message, Misfit, Pointer, Record, Role, Thinking, Transcript, Wire

if TYPE_CHECKING:
    from turnlint.carrying.examples import ExampleBuilder, NotationLine


class ToolCall(chat_turns.ToolCall, gc=False):
    name: str | None = None
    parameters: Raw = NOTHING


class Turn(chat_turns.Turn, gc=False):
    tool_calls: Sequence[ToolCall] | None = None
    tool_plan: Raw = NOTHING
    message: Raw = NOTHING
    text: Raw = NOTHING
    tool_results: Sequence[cohere_v1.PastResult] | None = None


class Brought(Turn, gc=False):
    """A turn under a key of the body itself. Alone it is no evidence."""


class Body(openai_chat.Body, gc=False, kw_only=True):
    messages: Sequence[Turn] | None = None
    finish_reason: Raw = NOTHING
    safety_mode: Raw = NOTHING
    citation_options: Raw = NOTHING

    chat_history: Sequence[Turn] | None = None
    tool_calls: Sequence[ToolCall] | None = None
    tool_results: Sequence[cohere_v1.PastResult] | None = None
    text: Raw = NOTHING
    generation_id: Raw = NOTHING
    preamble: Raw = NOTHING
    connectors: Raw = NOTHING

    def __post_init__(self) -> None:
        """Separate responses and errors from requests.

        A response of the first API repeats the conversation beside its answer. An error has a text as its message.
        """
        if head(self.message) != b'"':
            self.chat_history = None if given(self.generation_id) else self.chat_history
        elif given(self.id) and not given(self.model) and not given(self.error):
            self.error = self.message


class Chunk(Struct, gc=False):
    type: str = ""
    thinking: Raw = NOTHING
    document: Raw = NOTHING


ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "System": "system",
    "User": "user",
    "Chatbot": "assistant",
}
"""Roles with a capital are those of samples for fine-tuning."""
FAMILIES = ("command-", "c4ai-")
HOSTED = r"(?:command|c4ai)-[a-z0-9-]+-\d\d-\d{4}|c4ai-aya-[a-z0-9-]+"
"""Models under the names of Cohere's own platform, with their month; other servers have `command-r` too."""
FIRST, SECOND = Wire("cohere-v1"), Wire("cohere")
TURN = Shape(Turn)

_chunk = json.Decoder(Chunk)
_chunks = json.Decoder(list[Chunk])


def read_turn(turn: Turn, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    if cohere_v1.is_past(turn):
        return cohere_v1.read_turn(turn, at, record)
    return chat_turns.read_turn(turn, at, record, SPELLING)


def _beside(turn: Turn) -> list[Block]:
    return [] if is_blank(turn.tool_plan) else [Thinking(("tool_plan",), "tool_plan")]


def _thinking(raw: Raw, kind: str, at: Pointer) -> Block:
    return Thinking(at, kind, not is_blank(_chunk.decode(raw).thinking))


SPELLING = chat_turns.Spelling(ROLES, {**chat_turns.PARTS, "thinking": _thinking}, beside=_beside)


def _asked(body: Any) -> Listed | None:
    return cohere_v1.asked(body, Brought)


def _answered(body: Any) -> Listed | None:
    """Return the answer of either API."""
    if head(body.message) != b"{" or not given(body.finish_reason):
        return cohere_v1.answered(body, Brought)
    turn, misfits = TURN.inner(body.message, ("message",))
    return Listed([(("message",), turn)], misfits) if turn else None


def _evidence(value: Any) -> int:
    """Return the evidence of keys that no other server of Chat Completions accepts or returns."""
    if isinstance(value, Brought):
        return 0
    if isinstance(value, Turn):
        planned = head(value.tool_plan) == b'"'
        past = cohere_v1.is_past(value) and value.role in cohere_v1.ROLES
        return SPEAKS * (planned or past or value.role == "Chatbot" or _holds_document(value.content))
    if isinstance(value, Body):
        if value.choices is not None or openai_chat.was_sent_to(value, "/compatibility/"):
            return 2 * STRANGE  # the same models through Chat Completions
        model = string(value.model) or ""
        hosted = model.startswith(FAMILIES) and re.fullmatch(HOSTED, model) is not None
        asks = value.messages is not None or _asked(value) is not None
        keys = (value.safety_mode, value.citation_options, value.preamble, value.connectors)
        past = value.messages is None and (value.tool_results is not None or model.startswith("command"))
        asks = asks and (hosted or past or any(map(given, keys)))
        answers = _answered(value) is not None
        return SPEAKS * (openai_chat.was_sent_to(value, "api.cohere.") + asks + 2 * answers)
    return 0


def _holds_document(content: Raw) -> bool:
    try:
        chunks = _chunks.decode(content) if head(content) == b"[" else []
    except (ValueError, RecursionError):
        return False
    return any(chunk.type == "document" and head(chunk.document) == b"{" for chunk in chunks)


class _Reading:
    """A reader of one source that labels each conversation with its API."""

    def __init__(self, inner: Reader) -> None:
        self.inner = inner

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]:
        return [*map(_labelled, self.inner.feed(decoded))]

    def finish(self) -> list[Transcript | Stray]:
        return [*map(_labelled, self.inner.finish())]


def _labelled(one: Transcript | Stray) -> Transcript | Stray:
    """Label a conversation of the first API, since provider facts about the second API do not apply to it."""
    if isinstance(one, Stray) or all(said.written_role not in cohere_v1.ROLES for said in one.messages):
        return one
    return structs.replace(one, wire=FIRST)


class CohereWriter(ChatWriter):
    """The writer of the chat API of Cohere."""

    example_model = "command-a-03-2025"

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        """Write a message with the result; nothing for the calls of the first API, which have no ids."""
        return super().write_result(call, texts, failed) if call.needs_id else None

    def write_example(self, example: "ExampleBuilder") -> dict[str, Any]:
        return {**super().write_example(example), "stream": False, **declared_functions(example)}

    def _settle_content(self, message: dict[str, Any]) -> None:
        if not message.get("content"):
            message.pop("content", None)

    def _example_result(self, _: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        return present(role="tool", tool_call_id=line.id, content=line.answer)

    def _add_thought(self, example: "ExampleBuilder", line: "NotationLine") -> None:
        put_first(example.messages[-1], {"type": "thinking", "thinking": line.text})
        example.expect(line)


SYNTAX = WireSyntax(
    messages="messages",
    samples=(
        b'[{"role":"user","content":"x"}]',
        b'[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}]',
    ),
    classes=(
        MessageClass("system", "system"), MessageClass("user", "user"), MessageClass("assistant", "assistant"),
        MessageClass("assistant", "assistant", calls=True), MessageClass("tool", "tool", results=True),
    ),
    shapes={
        "message": ObjectSyntax({
            "role": "role", "content": "content:part", "tool_calls": "list:call", "tool_call_id": "result_id",
            "citations": "skip", "tool_plan": "plan",
        }),
        "part": ObjectSyntax(
            {"type": "type", "text": "text", "image_url": "media", "document": "media", "thinking": "words"},
            {
                "text": PieceSyntax("text", "text"), "thinking": PieceSyntax("thought", "thinking"), "image_url": PieceSyntax("media", "image_url"),
                "document": PieceSyntax("media", "document"),
            },
        ),
        "call": ObjectSyntax(
            {"id": "id", "type": "type", "function": "object:function"},
            {"function": PieceSyntax("call", "id function")}, default="function", place="call",
        ),
        "function": ObjectSyntax({"name": "name", "arguments": "text_arguments"}, place="function"),
    },
    result_role="tool",
    result_types=("tool",),
    needs_call_type=True,
    evidence={"tool_plan": b'"x"'},
)  # fmt: skip

_carrier = openai_chat.make_kin(
    Dialect(
        wire=SECOND,
        envelope=Body,
        turn=Turn,
        keys=("messages",),
        turn_key="role",
        read_turn=read_turn,
        is_turn=openai_chat.is_turn,
        lines=((), ("message",)),
        replies=lambda _: [],
        ends_open=lambda _: False,
        evidence=_evidence,
        syntax=SYNTAX,
        asked=_asked,
        answered=_answered,
        writer=CohereWriter(),
    ),
    title="Cohere chat",
    about="request bodies of both chat APIs, message arrays, request/response pairs, one message per line",
)
CARRIER = structs.replace(
    _carrier,
    open=lambda: _Reading(_carrier.open()),
    record_keys=_carrier.record_keys | {"chat_history"},
    wires=frozenset({FIRST.name}),
)
