"""Read and write OpenAI Chat Completions: `messages`, `tool_calls`, `role: tool`.

The module defines the envelope of this wire and of all compatible servers. Formats with small differences reuse it.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS, STRANGE, Carrier
from turnlint.carrying.chat_turns import OWN_PARTS, ROLES, Turn, read_turn
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import given, head, start, string
from turnlint.carrying.requests import HOSTS
from turnlint.carrying.syntax import MessageClass, ObjectSyntax, PieceSyntax, WireSyntax
from turnlint.carrying.writer import CHAT_WRITER
from turnlint.documents.decode import Decoded
from turnlint.model import Pointer, Wire


class Choice(Struct, gc=False):
    message: Turn | None = None


class Body(Envelope, gc=False, kw_only=True):
    messages: Sequence[Turn] | None = None
    choices: Sequence[Choice] | None = None


def replies_of(body: Any) -> list[tuple[Pointer, Turn]]:
    """Return the messages of all choices. Only the model answers, so a choice without a role is its message."""
    found: list[tuple[Pointer, Turn]] = []
    for index, choice in enumerate(body.choices or ()):
        if choice.message:
            choice.message.role = choice.message.role or "assistant"
            found.append((("choices", index, "message"), choice.message))
    return found


def is_turn(envelope: Any) -> bool:
    return given(envelope.role) and not given(envelope.type)


def ends_open(body: Any) -> bool:
    """Whether a body is a fine-tuning sample, which may end with a call: it declares tools but no model."""
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


PARTS = {
    "part": ObjectSyntax(
        {
            "type": "type", "text": "text", "cache_control": "skip", "prompt_cache_breakpoint": "skip",
            "additional_properties": "skip",
            **dict.fromkeys(("image_url", "file", "input_audio", "video_url", "document_url"), "media"),
        },
        {
            "text": PieceSyntax("text", "text", "cache_control prompt_cache_breakpoint additional_properties"),
            "image_url": PieceSyntax("media", "image_url", "cache_control"), "file": PieceSyntax("media", "file", "cache_control"),
            "input_audio": PieceSyntax("media", "input_audio"), "video_url": PieceSyntax("media", "video_url"),
        },
    ),
    "call": ObjectSyntax(
        {"id": "id", "type": "type", "function": "object:function", "index": "skip", "cache_control": "skip"},
        {"function": PieceSyntax("call", "function", "id index cache_control")}, default="function", place="call",
    ),
    "function": ObjectSyntax({"name": "name", "arguments": "text_arguments"}, place="function"),
}  # fmt: skip
"""The objects below a message, which other formats share."""
SYNTAX = WireSyntax(
    messages="messages",
    samples=(
        b'[{"role":"user","content":"x"}]',
        b'[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}]',
    ),
    classes=(
        MessageClass("system", "system"), MessageClass("developer", "system"), MessageClass("user", "user"), MessageClass("assistant", "assistant"),
        MessageClass("assistant", "assistant", calls=True), MessageClass("tool", "tool", results=True),
    ),
    shapes={
        "message": ObjectSyntax({
            "role": "role", "content": "content:part", "tool_calls": "list:call", "tool_call_id": "result_id", "name": "name",
            **dict.fromkeys(("refusal", "audio", "function_call"), "null"),
            "reasoning_content": "beside:reasoning-field", "reasoning": "beside", "reasoning_details": "beside",
            "annotations": "skip", "cache_control": "skip", "type": "skip", "charset": "skip",
        }),
        **PARTS,
    },
    result_role="tool",
    result_types=("tool",),
    needs_call_type=True,
)  # fmt: skip

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
        syntax=SYNTAX,
        writer=CHAT_WRITER,
        claims_empty=True,
    ),
    title="OpenAI Chat Completions",
    about="request bodies, message arrays, request/response pairs, batch and fine-tuning lines, one message per line",
)


def was_sent_to(value: Any, *places: str) -> bool:
    """Whether a record with a chat names one of these places as its destination."""
    holders = value.messages is not None, value.choices is not None, head(value.request) == b"{"
    named = (string(getattr(value, name)) or "" for name in HOSTS) if any(holders) else ()
    return any(place in name for name in named for place in places)


def make_kin(dialect: Dialect, title: str, about: str) -> Carrier:
    """Return a format whose messages have almost the spelling of this one.

    Its own evidence covers only its differences. Where it has some, the evidence that both formats share counts too;
    otherwise long conversations would outweigh it.
    """
    carrier = make_carrier(dialect, title, about)

    def sniff(decoded: Decoded[Any]) -> int:
        own = carrier.sniff(decoded)
        return own + max(0, CARRIER.sniff(decoded)) if own > 0 else own

    return structs.replace(carrier, sniff=sniff)
