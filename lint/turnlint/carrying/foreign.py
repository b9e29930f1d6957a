"""Pieces of one wire inside another: what a provider switch leaves behind.

This module owns the tables that recognise a foreign block or role and say whose it is. It refuses
to judge them: a carrier reads them so that pairing stays whole, and a rule names them.
"""

from msgspec import Raw, Struct, json

from turnlint.carrying.contents import arguments_in_place, arguments_in_text
from turnlint.carrying.raws import NOTHING, given, head, string, written
from turnlint.lifecycle import is_placeholder
from turnlint.model import Block, Call, Keys, Misfit, Other, Pointer, Result, Role, Thinking

ROLES: dict[str, tuple[Role, str]] = {
    "developer": ("system", "openai-chat"),
    "tool": ("tool", "openai-chat"),
    "function": ("tool", "openai-chat"),
    "model": ("assistant", "gemini"),
    "human": ("user", "canonical"),
    "ai": ("assistant", "canonical"),
    "toolResult": ("tool", "pi"),
}
"""Roles that mean something on another wire than the one they stand on."""


class _Spelling(Struct, frozen=True):
    """How a wire writes a call or a result as a block of content."""

    dialect: str
    is_call: bool
    type: str | None
    """The block's `type`, or nothing where the block is an object under `holder`."""
    holder: str | None
    id: str
    name: str
    body: str


_SPELLINGS = (
    _Spelling("anthropic", True, "tool_use", None, "id", "name", "input"),
    _Spelling("anthropic", False, "tool_result", None, "tool_use_id", "name", "content"),
    _Spelling("canonical", True, "tool_call", None, "id", "name", "parameters"),
    _Spelling("canonical", False, "tool_response", None, "callId", "toolName", "result"),
    _Spelling("openai-responses", True, "function_call", None, "call_id", "name", "arguments"),
    _Spelling("openai-responses", False, "function_call_output", None, "call_id", "name", "output"),
    _Spelling("vercel", True, "tool-call", None, "toolCallId", "toolName", "input"),
    _Spelling("vercel", False, "tool-result", None, "toolCallId", "toolName", "output"),
    _Spelling("pi", True, "toolCall", None, "id", "name", "arguments"),
    _Spelling("bedrock", True, None, "toolUse", "toolUseId", "name", "input"),
    _Spelling("bedrock", False, None, "toolResult", "toolUseId", "name", "content"),
    _Spelling("gemini", True, None, "functionCall", "id", "name", "args"),
    _Spelling("gemini", False, None, "functionResponse", "id", "name", "response"),
)
_BY_TYPE = {spelling.type: spelling for spelling in _SPELLINGS if spelling.type}
_BY_HOLDER = {spelling.holder: spelling for spelling in _SPELLINGS if spelling.holder}
_FAMILIAR = frozenset({
    "text", "thinking", "redacted_thinking", "tool_use", "tool_result", "tool_call", "tool_response",
    "function_call", "function_call_output",
})  # fmt: skip
"""Part types that a switch between providers leaves in a history, and that so speak for no other format."""

_members = json.Decoder(dict[str, Raw])
_THINKING = frozenset({"thinking", "redacted_thinking", "reasoning"})


def block(raw: Raw, kind: str | None, at: Pointer) -> Block:
    """Read a block that is not the wire's own, as far as any wire is known to write it."""
    if kind in _THINKING:
        return Thinking(at)
    members = _members.decode(raw)
    spelling = _BY_TYPE.get(kind or "")
    if spelling is None and kind is None:
        holder = next((key for key in members if key in _BY_HOLDER), None)
        if holder is not None and head(members[holder]) == b"{":
            spelling = _BY_HOLDER[holder]
            members = _members.decode(members[holder])
    if spelling is None:
        return Other(at, kind or "untyped")
    return _read(spelling, members, at)


def _read(spelling: _Spelling, members: dict[str, Raw], at: Pointer) -> Block:
    below = (spelling.holder,) if spelling.holder else ()
    kind = spelling.type or spelling.holder or ""
    keys = Keys((*below, spelling.id), (*below, spelling.name), (*below, spelling.body))
    identifier = string(members.get(spelling.id))
    name = string(members.get(spelling.name))
    raw = members.get(spelling.body, NOTHING)
    if spelling.is_call:
        as_text = head(raw) == b'"'
        body, arguments = arguments_in_text(raw) if as_text else arguments_in_place(raw)
        return Call(
            at, keys, identifier, name, body, arguments, dialect=spelling.dialect, written=written(raw), kind=kind
        )  # fmt: skip
    content = bytes(raw)
    return Result(
        at, keys, identifier, name, content, dialect=spelling.dialect, synthetic=is_placeholder(content),
        written=written(raw), kind=kind,
    )  # fmt: skip


class _Typed(Struct, gc=False):
    type: str = ""
    toolUseID: Raw = NOTHING
    """A key of a thread format that otherwise looks like Anthropic's blocks."""


_typed = json.Decoder(list[_Typed])


def parts_of(content: Raw) -> list[_Typed]:
    """The parts of a content by their types; nothing where it is no array of typed objects."""
    try:
        return _typed.decode(content) if head(content) == b"[" else []
    except (ValueError, RecursionError):
        return []


def is_strange(content: Raw, own: frozenset[str]) -> bool:
    """Whether a content holds a part that neither this wire nor any other in the tables has."""
    known = own | _FAMILIAR
    return any(
        given(part.toolUseID)
        or (part.type not in known and not part.type.endswith(("_tool_result", "_tool_use")))
        for part in parts_of(content)
    )


def only_results(blocks: list[Block]) -> bool:
    """A message of nothing but results waits on its turn, whatever role it bears."""
    return bool(blocks) and all(type(one) is Result for one in blocks)


def role_misfit(at: Pointer, role: str | None, known: tuple[str, ...]) -> Misfit:
    """A role nobody has: the message cannot be sent to anyone."""
    if role is None:
        return Misfit(at, "a role", "none")
    return Misfit((*at, "role"), "one of the roles " + ", ".join(known), f"`{role[:40]}`")
