"""Read and write OpenAI Responses: items under `input` and `output`, paired by `call_id`.

Each item is a message of its own, and consecutive items of the model are one turn.
"""

from collections.abc import Sequence
from itertools import count, takewhile
from json import dumps
from typing import TYPE_CHECKING, Any

from msgspec import Raw, json, structs

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.draft import Draft
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.guests import add_chat
from turnlint.carrying.items import (
    CALLS,
    KINDS,
    PART,
    REFERENCE,
    RESULTS,
    STATES,
    Item,
    kind_of_item,
    piece_of,
)
from turnlint.carrying.listed import Listed, listed
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import (
    NOTHING,
    content_of,
    given,
    head,
    start,
    string,
)  # fmt: skip
from turnlint.carrying.requests import has_settings
from turnlint.carrying.syntax import MessageClass, ObjectSyntax, PieceSyntax, WireSyntax
from turnlint.carrying.writer import MessageWriter, present
from turnlint.documents.decode import Shape
from turnlint.documents.fit import kind_of
from turnlint.model import (
    Call,
    Message,
    Misfit,
    Other,
    Pointer,
    Record,
    Role,
    Wire,
)  # fmt: skip

if TYPE_CHECKING:
    from turnlint.carrying.examples import ExampleBuilder, NotationLine


class Body(Envelope, gc=False, kw_only=True):
    object: Raw = NOTHING
    content: Raw = NOTHING
    messages: Raw = NOTHING
    voice: Raw = NOTHING
    instructions: Raw = NOTHING
    include: Raw = NOTHING
    text: Raw = NOTHING
    reasoning: Raw = NOTHING
    prompt: Raw = NOTHING
    max_output_tokens: Raw = NOTHING
    summary: Raw = NOTHING
    encrypted_content: Raw = NOTHING


ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
INPUT_TEXT, OUTPUT_TEXT = "input_text", "output_text"
"""Types of text parts: for messages of the assistant, and for others."""
TEXTS = frozenset({INPUT_TEXT, OUTPUT_TEXT, "text"})
OWN_PARTS = frozenset({
    "input_text", "output_text", "refusal", "input_image", "input_file", "input_audio", "computer_screenshot",
})  # fmt: skip

WORDED = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
"""Outputs that may be a text."""

_parts = json.Decoder(list[Raw])
ITEM = Shape(Item)
ITEMS = Shape(list[Item])


def read_turn(item: Item, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    kind = kind_of_item(item)
    if kind == "message":
        return _message(item, at, record)
    misfits = [] if kind else [Misfit(at, "a type or a role", "none")]
    role, block = piece_of(item, kind)
    blocks = () if block is None else (block,)
    return Message(
        role, at, blocks, record, item.role or "", content=content_of(item.content), kind=kind, item=item.id
    ), misfits  # fmt: skip


def _message(item: Item, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    said = item.role or ""
    role = ROLES.get(said, "other")
    dialect = None
    out = Draft(at, role)
    if role == "other":
        role, dialect = foreign.ROLES.get(said, (role, None))
        out.role = role
        if dialect is None:
            out.misfits.append(foreign.role_misfit(at, item.role, tuple(ROLES)))
    _read_content(item.content, out)
    if _is_chat(item):  # a Chat Completions message among the items, as a switch of APIs leaves behind
        dialect = "openai-chat"
        add_chat(item, out, item.name)
    if foreign.only_results(out.blocks):
        role = "tool"
    message = Message(
        role,
        at,
        tuple(out.blocks),
        record,
        said,
        dialect=dialect,
        empty=role in ("user", "assistant") and not out.blocks,
        content=content_of(item.content),
        blanks=tuple(out.blanks),
        name=item.name if role != "tool" else None,
        has_odd_text=out.has_odd_text,
        kind="message",
        item=item.id,
    )
    return message, out.misfits


def _there(raw: Raw) -> bool:
    return head(raw) not in (b"", b"n")


def _is_chat(item: Item) -> bool:
    return item.role in ("tool", "function") or _there(item.tool_calls) or _there(item.tool_call_id)


def _read_content(content: Raw, out: Draft) -> None:
    """Read a text, parts, or nothing. A text that is the whole input has the pointer of its message."""
    first = head(content)
    if first == b'"':
        out.say(content, () if out.at and isinstance(out.at[-1], str) else ("content",))
    elif first == b"[":
        for index, raw in enumerate(_parts.decode(content)):
            place: Pointer = ("content", index)
            if head(raw) == b"{":
                _read_part(raw, place, out)
            else:
                out.amiss(place, "an object", raw)
    elif first not in (b"", b"n"):
        out.amiss(("content",), "a string or a list of parts", content)


def _read_part(raw: Raw, place: Pointer, out: Draft) -> None:
    part, wrong = PART.inner(raw, (*out.at, *place))
    out.misfits += wrong
    if part is None:
        return
    if part.type in TEXTS:
        out.say(part.text, place)
        out.has_odd_text |= part.type != (OUTPUT_TEXT if out.role == "assistant" else INPUT_TEXT)
    elif part.type in OWN_PARTS:
        out.blocks.append(Other(place, part.type or ""))
    elif part.type in CALLS or part.type in RESULTS:
        out.amiss(place, "a part of a message", "an item")
        item, wrong = ITEM.inner(raw, (*out.at, *place))
        out.misfits += wrong
        block = piece_of(item, part.type)[1] if item is not None else None
        out.blocks += [structs.replace(block, at=place)] if block is not None else []
    else:
        out.blocks.append(foreign.block(raw, part.type, place))


def _asked(body: Any) -> Listed | None:
    """Return the messages under `input` of a request: a text, which is one message of the user, or items."""
    first = head(body.input)
    if given(body.type) or first in (b"", b"n", b"{") or _is_for_embeddings(body):
        return None
    headless = head(body.conversation) in (b'"', b"{") or head(body.prompt) == b"{"
    if first == b'"':
        return Listed([(("input",), Item(role="user", content=body.input))], headless=headless)
    if first == b"[":
        return structs.replace(_items(body.input, "input"), headless=headless)
    if not given(body.model):
        return None
    found = kind_of(json.decode(body.input))
    return Listed([], (Misfit(("input",), "a string or a list of items", found),))


def _is_for_embeddings(body: Any) -> bool:
    """Whether a body is a request for embeddings: a list of texts or numbers under `input`, and no setting of a model's turn."""
    data = bytes(body.input)
    if data[:1] != b"[" or data[1:].lstrip()[:1] in (b"{", b"]", b"n") or has_settings(body):
        return False
    return all(head(one) != b"{" for one in _parts.decode(data))


def _items(raw: Raw, key: str) -> Listed:
    items, misfits = ITEMS.inner(raw, (key,))
    if items is None:
        return Listed([], (*misfits, Misfit((key,), "items", "nesting beyond the depth limit")))
    return structs.replace(listed(items, (key,)), misfits=misfits)


def _answered(body: Any) -> Listed | None:
    """Return the items under `output` of a response. Other records have other lists under this key."""
    if given(body.type) or head(body.output) != b"[":
        return None
    answer = _items(body.output, "output")
    own = _is_response(body) or any(item.type in KINDS for _, item in answer.turns)
    return answer if own and answer.turns else None


def _is_response(body: Any) -> bool:
    return start(body.object, 24) in (b'"response"', b'"response.compaction"')


def _refers(messages: list[Message]) -> bool:
    return any(message.kind == REFERENCE for message in messages)


def _is_turn(envelope: Any) -> bool:
    """Whether an object is one item of a log of one item per line."""
    kind = string(envelope.type)
    if kind is None:
        bare = given(envelope.messages) or given(envelope.input)
        return given(envelope.role) and given(envelope.content) and not given(envelope.type) and not bare
    if kind == "message":
        return given(envelope.role)
    if kind == "reasoning":
        return given(envelope.summary) or given(envelope.encrypted_content)
    unheard = (
        kind.endswith(("_call", "_call_output")) and kind != "tool_call"
    )  # a name for other logs' events
    return kind in KINDS or unheard


def _evidence(value: Any) -> int:
    return _item_evidence(value) if isinstance(value, Item) else _body_evidence(value)


def _item_evidence(item: Item) -> int:
    if item.type in CALLS or item.type in RESULTS:
        bodies = (
            item.arguments,
            item.input,
            item.action,
            item.actions,
            item.operation,
            item.output,
            item.tools,
        )
        named = item.call_id is not None or item.approval_request_id is not None
        # Other logs have events of these types, with an id and without the body of a call.
        return SPEAKS if named or any(map(given, bodies)) else STRANGE
    if item.type == "reasoning":
        return SPEAKS * (given(item.summary) or given(item.encrypted_content))
    if item.type in KINDS and item.type != "message":
        return SPEAKS
    if any(part.type in OWN_PARTS for part in foreign.parts_of(item.content)):
        return SPEAKS
    return STRANGE if given(item.parts) or foreign.is_strange(item.content, OWN_PARTS) else 0


def _body_evidence(body: Body) -> int:
    if start(body.type, 10) == b'"response.':
        return STRANGE  # an event of a stream
    if _is_response(body) and head(body.output) == b"[":
        return SPEAKS
    asked = _asked(body)
    if b"/responses" in start(body.url, 200) or b"/responses" in start(body.endpoint, 200):
        return SPEAKS * (
            asked is not None or b"{" in (head(body.body), head(body.request), head(body.request_body))
        )
    if asked is None or asked.misfits or given(body.messages) or given(body.voice):
        return 0
    kinds = (
        (body.instructions, b'"['), (body.include, b"["), (body.text, b"{"), (body.reasoning, b"{"),
        (body.max_output_tokens, b"0123456789"), (body.store, b"tf"), (body.previous_response_id, b'"'),
        (body.conversation, b'"{'), (body.tools, b"["),
    )  # fmt: skip
    own = any(_there(raw) and head(raw) in first for raw, first in kinds)
    return SPEAKS * (given(body.model) and (own or _are_messages(asked)))


def _are_messages(asked: Listed) -> bool:
    """Whether all items are plain messages, none of Chat Completions: other bodies with `input` have texts there."""
    return bool(asked.turns) and all(
        isinstance(place[-1], int) and item.role in ROLES and given(item.content) and not _is_chat(item)
        for place, item in asked.turns
    )


class ResponsesWriter(MessageWriter):
    """The writer of OpenAI Responses."""

    calls_are_messages = True
    examples_key = "input"

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:  # noqa: ARG002 - the wire has no key for it
        """Write an output of the kind of the call, if it can be a text: a screenshot cannot be invented."""
        kind = f"{call.kind or 'function_call'}_output"
        if kind not in WORDED:
            return None
        return {"type": kind, "call_id": call.id or "", "output": "\n".join(texts)}

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:
        return {"type": "function_call", "call_id": identifier, "name": name, "arguments": dumps(arguments)}

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        """Write a message without calls: calls are items of their own."""
        if calls:
            return None
        kind = "output_text" if role == "assistant" else "input_text"
        parts = [{"type": kind, "text": text} for text in texts]
        content = parts if len(parts) != 1 or kind == "output_text" else texts[0]
        return {"type": "message", "role": role, "content": content}

    def write_example(self, example: "ExampleBuilder") -> dict[str, Any]:
        lines, numbers = example.lines, count(1)
        following = iter(range(len(lines)))
        for index in following:
            line = lines[index]
            if line.kind == "assistant":
                thoughts = list(takewhile(lambda one: one.kind == "think", lines[index + 1 :]))
                for thought in thoughts:  # a thought precedes the message that follows from it
                    next(following)
                    example.add(thought, _example_thought(thought, next(numbers)))
                after = lines[index + 1 + len(thoughts) :][:1]
                has_calls = bool(after) and after[0].kind == "call"
                if line.text or line.codes or not has_calls:
                    example.add(line, {"role": "assistant", "content": line.text})
            elif line.is_spoken:
                example.add(line, {"role": line.kind, "content": line.text})
            elif line.kind == "think":
                example.add(line, _example_thought(line, next(numbers)))
            else:
                example.add(line, _example_item(line))
        tools = [
            {"type": "function", "name": name, "parameters": {"type": "object"}}
            for name in example.called_names()
        ]
        return {"model": "gpt-5.1", **({"tools": tools} if tools else {})}


def _example_thought(line: "NotationLine", number: int) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": line.text}] if line.text else []
    return {"type": "reasoning", "id": f"rs_{number}", "summary": summary}


def _example_item(line: "NotationLine") -> dict[str, Any]:
    if line.kind == "call":
        return present(type="function_call", call_id=line.id, name=line.name, arguments=line.arguments_text)
    assert line.kind == "result", f"openai-responses has no {line.kind}"
    return present(type="function_call_output", call_id=line.id, name=line.name, output=line.answer)


_CALLER = "id status caller"
SYNTAX = WireSyntax(
    messages="input",
    samples=(
        b'[{"role":"user","content":"x"}]',
        b'[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]',
    ),
    classes=(
        MessageClass("system", "system"), MessageClass("developer", "system"), MessageClass("user", "user"), MessageClass("assistant", "assistant"),
        MessageClass("", "assistant", calls=True), MessageClass("", "tool", results=True), MessageClass("", "assistant"),
    ),
    shapes={
        "message": ObjectSyntax(
            {
                "type": "type", "role": "role", "content": "content:part", "id": "item", "call_id": "id", "name": "name",
                "arguments": "arguments", "input": "free", "output": "output:output", "encrypted_content": "encrypted",
                "execution": "hosted", "tools": "list_output",
                **dict.fromkeys(
                    (
                        "status", "phase", "namespace", "summary", "caller", "action", "queries", "results", "code", "container_id",
                        "outputs", "result", "background", "output_format", "quality", "revised_prompt", "size", "server_label",
                        "error", "created_by",
                    ),
                    "skip",
                ),
            },
            {
                "message": PieceSyntax("message", "role content", "id status phase"),
                "function_call": PieceSyntax("call", "call_id name arguments", f"{_CALLER} namespace"),
                "function_call_output": PieceSyntax("result", "call_id output", _CALLER),
                "custom_tool_call": PieceSyntax("call", "call_id name input", f"{_CALLER} namespace"),
                "custom_tool_call_output": PieceSyntax("result", "call_id output", _CALLER),
                "tool_search_call": PieceSyntax(
                    "call", "arguments", "call_id execution id status", tool="tool_search", may_be_hosted=True
                ),
                "tool_search_output": PieceSyntax(
                    "result", "tools", "call_id execution id status", may_be_hosted=True
                ),
                "additional_tools": PieceSyntax("setting", "role tools", "id"),
                "reasoning": PieceSyntax("thought", "summary", "id content encrypted_content status"),
                "compaction": PieceSyntax("other", "encrypted_content", "id created_by"),
                "item_reference": PieceSyntax("other", "id", mark="reference"),
                "web_search_call": PieceSyntax("other", "", "id status action"),
                "file_search_call": PieceSyntax("other", "", "id status queries results"),
                "code_interpreter_call": PieceSyntax("other", "", "id status code container_id outputs"),
                "mcp_list_tools": PieceSyntax("other", "", "id server_label tools error"),
                "mcp_call": PieceSyntax("other", "", "id status name arguments server_label output error"),
            },
            default="message",
        ),
        "part": ObjectSyntax(
            {
                "type": "type", "text": "text", "annotations": "skip", "logprobs": "skip", "detail": "skip", "filename": "skip",
                "prompt_cache_breakpoint": "skip",
                **dict.fromkeys(("image_url", "file_data", "file_url", "file_id"), "media"),
            },
            {
                "reasoning_text": PieceSyntax("other", "text"),
                INPUT_TEXT: PieceSyntax("text", "text", "prompt_cache_breakpoint", speaker="others"),
                OUTPUT_TEXT: PieceSyntax("text", "text", "annotations logprobs", speaker="assistant"),
                "input_image": PieceSyntax("media", "", "image_url detail file_id"),
                "input_file": PieceSyntax("media", "", "file_data filename file_url file_id"),
            },
        ),
        "output": ObjectSyntax(
            {
                "type": "type", "text": "text", "annotations": "skip", "logprobs": "skip", "detail": "skip", "filename": "skip",
                **dict.fromkeys(("image_url", "file_data", "file_url", "file_id"), "media"),
            },
            {
                "input_text": PieceSyntax("text", "text"), "output_text": PieceSyntax("text", "text", "annotations logprobs"),
                "input_image": PieceSyntax("media", "", "image_url detail file_id"),
                "input_file": PieceSyntax("media", "", "file_data filename file_url file_id", mark="file-result"),
            },
        ),
    },
    items=True,
    window=("tool", "user", "system"),
    joins=True,
    anywhere=True,
)  # fmt: skip

_CARRIER = make_carrier(
    Dialect(
        wire=Wire(
            "openai-responses", window=frozenset({"tool", "user", "system"}), joins=True, anywhere=True
        ),
        envelope=Body,
        turn=Item,
        keys=(),
        turn_key="role",
        read_turn=read_turn,
        is_turn=_is_turn,
        lines=((),),
        replies=lambda _: [],
        ends_open=lambda _: False,
        evidence=_evidence,
        syntax=SYNTAX,
        asked=_asked,
        answered=_answered,
        listed="input",
        claims_empty=True,
        refers=_refers,
        typed=True,
        writer=ResponsesWriter(),
        states={f"status: {name}": state for name, state in STATES.items()},
    ),
    title="OpenAI Responses",
    about="request bodies, item arrays, request/response pairs, batch lines, one item per line; hosted tools and custom tools",
)
CARRIER = structs.replace(_CARRIER, message_keys=_CARRIER.message_keys | {"call_id"})
"""A list that begins with an output is a list of items, even if it looks like the record of an answer."""
