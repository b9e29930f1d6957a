"""Recognize blocks and roles of one wire inside another.

A switch between providers leaves them in a history. The tables here name the wire of a foreign block or role. A carrier
reads such blocks so that pairing stays complete, and a rule reports them.
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
"""Roles that belong to another wire than that of their message."""


class _Spelling(Struct, frozen=True):
    """The form of a call or a result as a content block of a wire."""

    dialect: str
    is_call: bool
    type: str | None
    """The `type` of the block, or none where the block is an object under `holder`."""
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
"""Part types that a switch between providers leaves in a history. They are no evidence for another format."""

_members = json.Decoder(dict[str, Raw])
_THINKING = frozenset({"thinking", "redacted_thinking", "reasoning"})


def block(raw: Raw, kind: str | None, at: Pointer) -> Block:
    """Read a block that does not belong to the wire, as far as any wire's form is known."""
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
    """A key of a thread format whose blocks otherwise look like Anthropic's."""
    source: Raw = NOTHING
    file_data: Raw = NOTHING


_typed = json.Decoder(list[_Typed])


def parts_of(content: Raw) -> list[_Typed]:
    """Return the parts of a content with their types; empty where it is no array of typed objects."""
    try:
        return _typed.decode(content) if head(content) == b"[" else []
    except (ValueError, RecursionError):
        return []


def is_strange(content: Raw, own: frozenset[str]) -> bool:
    """Whether a content has a part that neither this wire nor any other in the tables defines."""
    known = own | _FAMILIAR
    return any(
        given(part.toolUseID)
        or (part.type not in known and not part.type.endswith(("_tool_result", "_tool_use")))
        for part in parts_of(content)
    )


def only_results(blocks: list[Block]) -> bool:
    """Whether a message has only results. It then takes the role of results, whatever its own role."""
    return bool(blocks) and all(type(one) is Result for one in blocks)


def role_misfit(at: Pointer, role: str | None, known: tuple[str, ...]) -> Misfit:
    """Return the misfit of a missing or unknown role, with which the message cannot be sent."""
    if role is None:
        return Misfit(at, "a role", "none")
    return Misfit((*at, "role"), "one of the roles " + ", ".join(known), f"`{role[:40]}`")
