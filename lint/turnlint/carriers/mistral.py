"""Read and write Mistral's chat: Chat Completions with chunks, `prefix`, and arguments that may be objects.

The module covers the differences of Mistral's API from OpenAI's, in the spelling of either of its SDKs.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct, json, structs

from turnlint.carriers import openai_chat
from turnlint.carriers._marks import AGAINST
from turnlint.carrying import chat_turns
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.envelope import Dialect
from turnlint.carrying.raws import NOTHING, given, head, is_blank, start, string
from turnlint.carrying.syntax import MessageClass, ObjectSyntax, WireSyntax
from turnlint.carrying.writer import ChatWriter, declared_functions, put_first
from turnlint.model import Block, Call, Keys, Pointer, Result, Role, Thinking, Wire

if TYPE_CHECKING:
    from turnlint.carrying.examples import ExampleBuilder, NotationLine


class Turn(chat_turns.Turn, gc=False):
    toolCalls: Sequence[chat_turns.ToolCall] | None = None
    toolCallId: str | None = None


class Choice(openai_chat.Choice, gc=False):
    message: Turn | None = None


class Body(openai_chat.Body, gc=False, kw_only=True):
    messages: Sequence[Turn] | None = None
    choices: Sequence[Choice] | None = None
    safe_prompt: Raw = NOTHING
    random_seed: Raw = NOTHING


class Chunk(Struct, gc=False):
    type: str = ""
    text: Raw = NOTHING
    thinking: Raw = NOTHING
    document_url: Raw = NOTHING
    reference_ids: Raw = NOTHING


ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
SDK_KEYS = Keys(("toolCallId",), ("name",), ("content",))
HOSTED = (
    r"(?:mistral-(?:tiny|small|medium|large|saba)|ministral-\d+b|codestral(?:-mamba)?|magistral-(?:small|medium)"
    r"|pixtral-(?:12b|large)|devstral(?:-small|-medium)?|voxtral-(?:mini|small))-(?:latest|\d{4})"
    r"|open-(?:mistral|mixtral|codestral)-[\w-]+"
)
"""Models under the names of Mistral's own platform.

Other servers have the models too, without the month: Ollama has a `mistral-small3.1`.
"""
HINTS = ("mi", "co", "ma", "pi", "de", "vo", "op")
"""The first letters of such names; compiling the expression costs more than the rest of the check."""

_chunk = json.Decoder(Chunk)
_chunks = json.Decoder(list[Chunk])


def _calls(turn: Turn) -> list[Call]:
    """Return the calls of a turn. A call may omit its type, since there is only one."""
    calls = chat_turns.calls_of(turn) or chat_turns.calls_in(turn.toolCalls or (), "toolCalls")
    return [call if call.kind else structs.replace(call, kind="function") for call in calls]


def _result(turn: Turn) -> Result:
    result = chat_turns.result_of(turn)
    if turn.tool_call_id is not None or turn.toolCallId is None:
        return result
    return structs.replace(result, id=turn.toolCallId, keys=SDK_KEYS)


def _thinking(raw: Raw, kind: str, at: Pointer) -> Block:
    """Read a thought: a list of chunks, or a text from the library for fine-tuning (mistral-common 1.13.0)."""
    inner = _chunk.decode(raw).thinking
    if head(inner) != b"[":
        return Thinking(at, kind, not is_blank(inner))
    return Thinking(at, kind, any(not is_blank(chunk.text) for chunk in _chunks_of(inner)))


def _chunks_of(raw: Raw) -> list[Chunk]:
    try:
        return _chunks.decode(raw) if head(raw) == b"[" else []
    except (ValueError, RecursionError):
        return []


SPELLING = chat_turns.Spelling(
    ROLES,
    {
        **chat_turns.PARTS,
        **dict.fromkeys(("document_url", "reference"), chat_turns.other),
        "thinking": _thinking,
    },
    calls=_calls,
    result=_result,
)


def _is_own_chunk(chunk: Chunk) -> bool:
    return (
        (chunk.type == "thinking" and head(chunk.thinking) == b"[")
        or (chunk.type == "reference" and given(chunk.reference_ids))
        or (chunk.type == "document_url" and given(chunk.document_url))
    )


def _is_hosted(model: str | None) -> bool:
    return bool(model and model.startswith(HINTS) and re.fullmatch(HOSTED, model))


def _evidence(value: Any) -> int:
    """Return the evidence of keys that no other server of Chat Completions uses, and of hosted model names."""
    if isinstance(value, Turn):
        # DeepSeek has `prefix` too, beside a key of its own.
        continued = value.prefix is not None and not given(value.reasoning_content)
        return SPEAKS * (continued or any(map(_is_own_chunk, _chunks_of(value.content))))
    if isinstance(value, Body):
        if AGAINST["mistral"] in start(value.model, 80):
            return STRANGE
        holds = value.messages is not None or value.choices is not None
        keys = given(value.safe_prompt) or given(value.random_seed)
        own = holds and (keys or _is_hosted(string(value.model)))
        return SPEAKS * (own + openai_chat.was_sent_to(value, "mistral.ai"))
    return 0


class MistralWriter(ChatWriter):
    """The writer of Mistral's chat."""

    example_model = "mistral-large-latest"

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        """Write the result of a call. Older models also need the name of the tool (mistral-common 1.13.0 writes it)."""
        result = super().write_result(call, texts, failed)
        return {**result, "name": call.name} if call.name else result

    def write_example(self, example: "ExampleBuilder") -> dict[str, Any]:
        return {**super().write_example(example), **declared_functions(example)}

    def _settle_content(self, message: dict[str, Any]) -> None:
        pass

    def _add_thought(self, example: "ExampleBuilder", line: "NotationLine") -> None:
        thought = [{"type": "text", "text": line.text}]
        put_first(example.messages[-1], {"type": "thinking", "thinking": thought})
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
            "role": "role", "content": "content:part", "tool_calls": "list:call", "tool_call_id": "result_id", "name": "name",
            "prefix": "mark:prefix",
        }),
        **openai_chat.PARTS,
    },
    result_role="tool",
    result_types=("tool",),
)  # fmt: skip

CARRIER = openai_chat.make_kin(
    Dialect(
        wire=Wire("mistral"),
        envelope=Body,
        turn=Turn,
        keys=("messages",),
        turn_key="role",
        read_turn=partial(chat_turns.read_turn, spelling=SPELLING),
        is_turn=openai_chat.is_turn,
        lines=((), ("message",)),
        replies=openai_chat.replies_of,
        ends_open=openai_chat.ends_open,
        evidence=_evidence,
        syntax=SYNTAX,
        writer=MistralWriter(),
    ),
    title="Mistral chat",
    about="request bodies, message arrays, request/response pairs, fine-tuning lines, one message per line; keys of both SDKs",
)
