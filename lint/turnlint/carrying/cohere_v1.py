"""Read turns of Cohere's first chat API.

A request has a message, the chat history, and results that repeat their calls. The module defines the spelling of a
turn and the order of the turns of a request.
"""

from typing import Any

from msgspec import Raw, Struct, json

from turnlint.carrying import foreign
from turnlint.carrying.contents import arguments_in_place
from turnlint.carrying.draft import Draft
from turnlint.carrying.listed import Listed, Placed, listed
from turnlint.carrying.raws import NOTHING, content_of, given, head, is_blank, written
from turnlint.lifecycle import is_placeholder
from turnlint.model import (
    Call,
    Keys,
    Message,
    Misfit,
    Pointer,
    Record,
    Result,
    Role,
)


class PastCall(Struct, gc=False):
    name: str | None = None
    parameters: Raw = NOTHING


class PastResult(Struct, gc=False):
    call: PastCall | None = None
    outputs: Raw = NOTHING


SPEAKERS: dict[str, Role] = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
ROLES = SPEAKERS | {name.capitalize(): role for name, role in SPEAKERS.items()}
"""Older documents and fine-tuning samples capitalize only the first letter."""
CALL_KEYS = Keys(("name",), ("name",), ("parameters",))
RESULT_KEYS = Keys(("call",), ("call", "name"), ("outputs",))
"""There are no ids: a result repeats its call."""
WRAPPINGS = ("request", "request_body", "body", "params", "input", "inputs")

_items = json.Decoder(list[Raw])


def is_past(turn: Any) -> bool:
    """Whether a turn has the form of this API. Fine-tuning samples only share its speakers."""
    own = given(turn.message) or given(turn.text) or turn.tool_results is not None or turn.role in ROLES
    return own and not given(turn.content)


def asked(body: Any, turn: type[Any]) -> Listed | None:
    """Return all turns of a request body: the history, then its own message and results."""
    says = head(body.message) == b'"' and (body.chat_history is not None or _is_bare(body))
    brings = body.tool_results
    if body.chat_history is None and brings is None and not says:
        return None
    turns: Placed = listed(body.chat_history or (), ("chat_history",)).turns
    waits = bool(turns and turns[-1][1].tool_calls)
    said: Placed = [((), turn(role="USER", message=body.message))] if says else []
    if brings is None:
        turns += said
    else:
        said = [] if is_blank(body.message) else said
        results = ((), turn(role="TOOL", tool_results=brings))
        repeated = ((), turn(role="CHATBOT", tool_results=brings))
        turns += [results, *said] if waits else [*said, repeated, results]
    return Listed(turns, headless=given(body.conversation_id) and body.chat_history is None)


def _is_bare(body: Any) -> bool:
    """Whether the `message` may be that of a request: the body wraps no other body and is no error."""
    wraps = any(head(getattr(body, name)) == b"{" for name in WRAPPINGS)
    return not wraps and not given(body.role) and (given(body.model) or not given(body.id))


def answered(body: Any, turn: type[Any]) -> Listed | None:
    """Return the answer of a response body."""
    if not given(body.generation_id) or not (given(body.text) or body.tool_calls):
        return None
    return Listed([((), turn(role="CHATBOT", text=body.text, tool_calls=body.tool_calls))])


def read_turn(turn: Any, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    """Read one turn. The answer of a response has its text in `text`."""
    said = turn.role or ""
    role = ROLES.get(said, "other")
    out = Draft(at, role)
    if role == "other":
        out.misfits.append(foreign.role_misfit(at, turn.role, tuple(SPEAKERS)))
    key, words = ("text", turn.text) if given(turn.text) else ("message", turn.message)
    if head(words) == b'"':
        out.say(words, (key,))
    elif not is_blank(words):
        out.amiss((key,), "a string", words)
    out.blocks += [_call(call, ("tool_calls", index)) for index, call in enumerate(turn.tool_calls or ())]
    for index, result in enumerate(turn.tool_results or ()):
        place: Pointer = ("tool_results", index)
        call = result.call or PastCall()
        out.blocks.append(_result(result, call, place) if role == "tool" else _call(call, (*place, "call")))
    message = Message(
        role, at, tuple(out.blocks), record, said,
        empty=role in ("user", "assistant") and not out.blocks,
        content=content_of(words),
        blanks=tuple(out.blanks),
    )  # fmt: skip
    return message, out.misfits


def _call(call: Any, place: Pointer) -> Call:
    body, arguments = arguments_in_place(call.parameters)
    how = written(call.parameters)
    return Call(
        place, CALL_KEYS, None, call.name, body, arguments, needs_id=False, written=how, kind="function"
    )


def _result(result: Any, call: PastCall, place: Pointer) -> Result:
    content = bytes(result.outputs)
    return Result(
        place, RESULT_KEYS, None, call.name, content,
        needs_id=False,
        synthetic=is_placeholder(content),
        written=written(result.outputs),
        parts=_kinds(result.outputs),
        kind="tool_result",
    )  # fmt: skip


def _kinds(outputs: Raw) -> tuple[str, ...]:
    """Return the kinds of outputs. An output is an object; the API rejects any other kind."""
    items = _items.decode(outputs) if head(outputs) == b"[" else []
    return tuple(dict.fromkeys("json" if head(item) == b"{" else "json-other" for item in items))
