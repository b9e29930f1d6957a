"""Read and write Ollama's own chat: arguments as objects, results by the name of their tool, optional ids.

The module covers `/api/chat`, and joins answers that were streamed one chunk per line. Ollama's Chat Completions
endpoint has the format of OpenAI.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Raw, json, structs

from turnlint.carriers import openai_chat
from turnlint.carrying import chat_turns
from turnlint.carrying.carrier import SPEAKS, Reader, Stray
from turnlint.carrying.envelope import Dialect
from turnlint.carrying.listed import Listed
from turnlint.carrying.raws import NOTHING, given, head, is_blank, string, written
from turnlint.carrying.syntax import MessageClass, ObjectSyntax, PieceSyntax, WireSyntax
from turnlint.carrying.writer import ChatWriter, declared_functions, present
from turnlint.documents.decode import Decoded, Shape
from turnlint.lifecycle import is_placeholder
from turnlint.model import (
    Block,
    Call,
    Keys,
    Message,
    Misfit,
    Other,
    Record,
    Result,
    Role,
    Thinking,
    Transcript,
    Wire,
)

if TYPE_CHECKING:
    from turnlint.carrying.examples import ExampleBuilder, NotationLine


class Turn(chat_turns.Turn, gc=False):
    tool_name: str | None = None
    thinking: Raw = NOTHING
    images: Sequence[Raw] | None = None


class Body(openai_chat.Body, gc=False, kw_only=True):
    messages: Sequence[Turn] | None = None
    options: Raw = NOTHING
    keep_alive: Raw = NOTHING
    think: Raw = NOTHING
    created_at: Raw = NOTHING
    done: Raw = NOTHING


ROLES: dict[str, Role] = {
    "system": "system",
    "control": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
"""A role may be any text: the template of each model defines its meaning, if any."""
RESULT_KEYS = Keys(("tool_call_id",), ("tool_name",), ("content",))
BARE_KEYS = Keys(("tool_call_id",), ("name",), ("content",))
OPTIONS = frozenset({
    "num_ctx", "num_predict", "num_keep", "num_gpu", "num_thread", "num_batch", "main_gpu", "use_mmap", "seed",
    "temperature", "top_k", "top_p", "min_p", "typical_p", "tfs_z", "repeat_last_n", "repeat_penalty", "mirostat",
    "presence_penalty", "frequency_penalty", "stop",
})  # fmt: skip
WIRE = Wire("ollama", idless=True)
STREAMED = structs.replace(WIRE, joins=True)
"""The wire of a streamed answer, whose chunks are one turn."""

TURN = Shape(Turn)
_members = json.Decoder(dict[str, Raw])


def _beside(turn: Turn) -> list[Block]:
    thoughts = [] if is_blank(turn.thinking) else [Thinking(("thinking",))]
    return [*thoughts, *(Other(("images", index), "image") for index in range(len(turn.images or ())))]


def _calls(turn: Turn) -> list[Call]:
    """Return the calls of a turn. A call may omit its id and its type."""
    return [
        structs.replace(call, needs_id=bool(call.id), kind=call.kind or "function")
        for call in chat_turns.calls_of(turn)
    ]


def _result(turn: Turn) -> Result:
    content = bytes(turn.content)
    return Result(
        (),
        RESULT_KEYS if turn.tool_name or not turn.name else BARE_KEYS,
        turn.tool_call_id,
        turn.tool_name or turn.name,
        content,
        needs_id=bool(turn.tool_call_id),
        synthetic=is_placeholder(content),
        written=written(turn.content),
        kind="tool",
    )


SPELLING = chat_turns.Spelling(
    ROLES, chat_turns.PARTS, beside=_beside, calls=_calls, result=_result, listed=False, closed=False
)


def _answered(body: Any) -> Listed | None:
    """Return a whole answer, or one chunk of an answer."""
    if head(body.message) != b"{" or bytes(body.done) not in (b"true", b"false"):
        return None
    turn, misfits = TURN.inner(body.message, ("message",))
    return Listed([(("message",), turn)], misfits) if turn else None


class _Reading:
    """A reader of one source that joins the chunks of a streamed answer into one conversation."""

    def __init__(self, inner: Reader) -> None:
        self.inner = inner
        self.pieces: list[Message] = []
        """The first chunk with content, and all chunks with calls, so that memory does not grow with the text."""
        self.misfits: list[tuple[Record, Misfit]] = []
        self.first: Transcript | None = None

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]:
        value = decoded.value
        done = bytes(value.done) if isinstance(value, Body) and value.messages is None else b""
        if done != b"false" and not (done and self.first):
            return [*self._end(), *self.inner.feed(decoded)]
        said = self.inner.feed(decoded)
        for one in said:
            if isinstance(one, Stray):
                return [*self._end(), *said]
            self._take(one)
        return self._end() if done == b"true" else []

    def finish(self) -> list[Transcript | Stray]:
        return [*self._end(), *self.inner.finish()]

    def _take(self, piece: Transcript) -> None:
        self.first = self.first or piece
        self.misfits += piece.misfits
        for message in piece.messages:
            calls = any(isinstance(block, Call) for block in message.blocks)
            if not self.pieces or calls:
                self.pieces.append(message)
            elif self.pieces[0].empty:
                self.pieces[0] = message

    def _end(self) -> list[Transcript | Stray]:
        first, pieces, misfits = self.first, self.pieces, self.misfits
        self.first, self.pieces, self.misfits = None, [], []
        if first is None:
            return []
        whole = [piece for piece in pieces if not piece.empty] or pieces[:1]
        return [structs.replace(first, wire=STREAMED, messages=tuple(whole), misfits=tuple(misfits))]


def _evidence(value: Any) -> int:
    """Return the evidence of keys that no server of Chat Completions uses.

    Arguments as objects alone also occur in training samples.
    """
    if isinstance(value, Turn):
        named = value.role == "tool" and value.tool_name is not None and value.tool_call_id is None
        return SPEAKS * (named or bool(value.images) or any(map(_is_own_call, value.tool_calls or ())))
    if isinstance(value, Body):
        local = openai_chat.was_sent_to(value, ":11434/api/chat", "ollama.com/api/chat")
        answers = given(value.created_at) and _answered(value) is not None
        asks = value.messages is not None and string(value.model) is not None
        keys = given(value.keep_alive) or given(value.think) or _has_options(value.options)
        keys = keys or (asks and _has_own_turns(value.messages or ()))
        return SPEAKS * (local + 2 * answers + (asks and keys))
    return 0


def _is_own_call(call: chat_turns.ToolCall) -> bool:
    return call.type is None and call.function is not None and head(call.function.arguments) == b"{"


def _has_own_turns(turns: Sequence[Turn]) -> bool:
    """Whether calls have objects as arguments and results name their tool, with or without ids (10728a874a957fc5)."""
    calls = (call.function for turn in turns for call in turn.tool_calls or ())
    return any(turn.role == "tool" and turn.tool_name is not None for turn in turns) and any(
        function is not None and head(function.arguments) == b"{" for function in calls
    )


def _has_options(raw: Raw) -> bool:
    return head(raw) == b"{" and not OPTIONS.isdisjoint(_members.decode(raw))


class OllamaWriter(ChatWriter):
    """The writer of the API of Ollama."""

    example_model = "llama3.3"

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:  # noqa: ARG002 - the wire has no key for it
        own = {"tool_call_id": call.id} if call.id else {}
        return {"role": "tool", **own, "tool_name": call.name or "", "content": "\n".join(texts)}

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:
        own = {"id": identifier} if identifier else {}
        return {**own, "function": {"name": name, "arguments": arguments}}

    def write_example(self, example: "ExampleBuilder") -> dict[str, Any]:
        return {**super().write_example(example), "stream": False, **declared_functions(example)}

    def _settle_content(self, message: dict[str, Any]) -> None:
        pass

    def _example_call(self, example: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        example.open_calls.append(line)
        return present(id=line.id, function=present(name=line.name, arguments=line.arguments_value))

    def _example_result(self, example: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        return present(
            role="tool", tool_name=example.name_of(line), tool_call_id=line.id, content=line.answer
        )

    def _add_thought(self, example: "ExampleBuilder", line: "NotationLine") -> None:
        example.messages[-1]["thinking"] = line.text
        example.expect(line, "thinking")


SYNTAX = WireSyntax(
    messages="messages",
    samples=(
        b'[{"role":"user","content":"x"}]',
        b'[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]}]',
    ),
    classes=(
        MessageClass("system", "system"), MessageClass("user", "user"), MessageClass("assistant", "assistant"),
        MessageClass("assistant", "assistant", calls=True), MessageClass("tool", "tool", results=True),
    ),
    shapes={
        "message": ObjectSyntax({
            "role": "role", "content": "content", "tool_calls": "list:call", "tool_call_id": "result_id", "tool_name": "name",
            "thinking": "plan",
        }),
        "call": ObjectSyntax(
            {"id": "id", "type": "type", "function": "object:function"},
            {"function": PieceSyntax("call", "function", "id")}, default="function", place="call",
        ),
        "function": ObjectSyntax({"name": "name", "arguments": "object_arguments", "index": "skip"}, place="function"),
    },
    result_role="tool",
    result_types=("tool",),
    idless=True,
    evidence={"call.type": b'"function"', "tool_name": b'{"role":"tool","tool_name":"f","content":"x"}'},
)  # fmt: skip

_carrier = openai_chat.make_kin(
    Dialect(
        wire=WIRE,
        envelope=Body,
        turn=Turn,
        keys=("messages",),
        turn_key="role",
        read_turn=partial(chat_turns.read_turn, spelling=SPELLING),
        is_turn=openai_chat.is_turn,
        lines=((), ("message",)),
        replies=lambda _: [],
        ends_open=lambda _: False,
        evidence=_evidence,
        syntax=SYNTAX,
        answered=_answered,
        writer=OllamaWriter(),
    ),
    title="Ollama chat",
    about="request bodies of /api/chat, message arrays, request/response pairs; whole responses, and streams with one chunk per line",
)
CARRIER = structs.replace(_carrier, open=lambda: _Reading(_carrier.open()))
