"""Read items of OpenAI's Responses API that are no messages.

They are calls, outputs, reasoning, and items that need no answer. The form is the same in requests, in responses and in
the logs of agents.
"""

from msgspec import Raw, Struct, json, structs

from turnlint.carrying import foreign
from turnlint.carrying.contents import arguments_in_text
from turnlint.carrying.guests import Guest
from turnlint.carrying.raws import NOTHING, given, head, is_blank, start, string, written
from turnlint.documents.decode import Shape
from turnlint.lifecycle import is_placeholder
from turnlint.model import Block, Call, Keys, Other, Result, Role, State, Thinking


class Item(Guest, gc=False):
    type: str | None = None
    id: str | None = None
    call_id: str | None = None
    approval_request_id: str | None = None
    name: str | None = None
    arguments: Raw = NOTHING
    input: Raw = NOTHING
    action: Raw = NOTHING
    actions: Raw = NOTHING
    operation: Raw = NOTHING
    output: Raw = NOTHING
    tools: Raw = NOTHING
    approve: Raw = NOTHING
    status: Raw = NOTHING
    execution: Raw = NOTHING
    summary: Raw = NOTHING
    encrypted_content: Raw = NOTHING
    parts: Raw = NOTHING


class Part(Struct, gc=False):
    type: str | None = None
    text: Raw = NOTHING


class _Form(Struct, frozen=True):
    """The keys of an item type."""

    body: str
    id: str = "call_id"
    name: str | None = None
    """The name of the tool, where the type has only one."""

    @property
    def keys(self) -> Keys:
        return Keys((self.id,), ("type" if self.name else "name",), (self.body,))


CALLS = {
    "function_call": _Form("arguments"),
    "custom_tool_call": _Form("input"),
    "computer_call": _Form("action", name="computer"),
    "local_shell_call": _Form("action", name="local_shell"),
    "shell_call": _Form("action", name="shell"),
    "apply_patch_call": _Form("operation", name="apply_patch"),
    "tool_search_call": _Form("arguments", name="tool_search"),
    "mcp_approval_request": _Form("arguments", id="id"),
}
_CALL_KEYS = {kind: form.keys for kind, form in CALLS.items()}
STATES: dict[str, State] = {
    "completed": "complete",
    "failed": "error",
    "in_progress": "pending",
    "incomplete": "pending",
}
"""States of a call by the `status` of its output (types of openai 3.51.0)."""
AS_TEXT = frozenset({"function_call", "mcp_approval_request"})
"""Calls whose arguments are JSON in a text. The arguments of other calls have a form of their tool."""
RESULTS = {
    "function_call_output": _Form("output"),
    "custom_tool_call_output": _Form("output"),
    "computer_call_output": _Form("output"),
    "local_shell_call_output": _Form("output"),
    "shell_call_output": _Form("output"),
    "apply_patch_call_output": _Form("output"),
    "tool_search_output": _Form("tools"),
    "mcp_approval_response": _Form("approve", id="approval_request_id"),
}
_RESULT_KEYS = {kind: form.keys for kind, form in RESULTS.items()}
PROVIDERS = frozenset({
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
    "mcp_list_tools", "program", "program_output", "compaction",
})  # fmt: skip
"""Items that the provider runs or creates itself. They include their outcome and need no result."""
SETTINGS = frozenset({"additional_tools", "configuration_update", "compaction_trigger"})
"""Settings that a client sends between turns."""
REFERENCE = "item_reference"
KINDS = frozenset({*CALLS, *RESULTS, *PROVIDERS, *SETTINGS, REFERENCE, "reasoning", "message"})

_parts = json.Decoder(list[Raw])
PART = Shape(Part)


def kind_of_item(item: Item) -> str:
    """Return the type of an item. Messages and references may omit it."""
    if item.type is not None:
        return item.type
    if item.role is not None or given(item.content):
        return "message"
    return REFERENCE if item.id is not None else ""


def piece_of(item: Item, kind: str) -> tuple[Role, Block | None]:
    """Return the role and the block of an item that is no message."""
    if kind == "reasoning":
        words = _has_words(item.summary) or _has_words(item.content)
        return "assistant", Thinking(
            (),
            kind,
            words,
            cipher=not is_blank(item.encrypted_content),
            item=item.id,
            summed=item.summary is not NOTHING,
        )
    hosted = kind.startswith("tool_search_") and (
        item.call_id is None or string(item.execution) == "server"
    )  # the provider's own search includes its answer, and its ids are null
    if kind in CALLS and not hosted:
        return "assistant", _call(item, kind)
    if kind in RESULTS and not hosted:
        return "tool", _result(item, kind)
    if kind in SETTINGS:
        return "system", Other((), kind)
    unknown = kind not in KINDS
    role: Role = "tool" if unknown and kind.endswith("_output") else "assistant" if kind else "other"
    return role, Other((), kind) if kind else None


def _has_words(raw: Raw) -> bool:
    """Whether a text, or one text of a list of parts, is not blank."""
    if head(raw) != b"[":
        return head(raw) == b'"' and not is_blank(raw)
    objects = (PART.inner(one)[0] for one in _parts.decode(raw) if head(one) == b"{")
    return any(part is not None and not is_blank(part.text) for part in objects)


def _call(item: Item, kind: str) -> Call:
    form = CALLS[kind]
    keys, raw = _CALL_KEYS[kind], getattr(item, form.body)
    if kind == "computer_call" and given(item.actions) and not given(item.action):
        keys, raw = structs.replace(keys, body=("actions",)), item.actions
    body, arguments = arguments_in_text(raw) if kind in AS_TEXT else (bytes(raw), "free")
    return Call(
        (), keys, getattr(item, form.id), form.name or item.name, body, arguments,
        written=written(raw), kind=kind, item=item.id,
    )  # fmt: skip


def _result(item: Item, kind: str) -> Result:
    form = RESULTS[kind]
    key, dialect = _key_of(item, form, kind)
    identifier = string(item.tool_call_id) if dialect else getattr(item, key)
    raw = getattr(item, form.body)
    body = bytes(raw)
    status = string(item.status)
    failed = status == "failed" if kind == "apply_patch_call_output" else None
    keys = _RESULT_KEYS[kind]
    return Result(
        (), keys if keys.id == (key,) else structs.replace(keys, id=(key,)), identifier, item.name, body,
        needs_id=identifier is not None or not item.name,  # since 2026-08 a name may replace the id
        dialect=dialect,
        error=failed,
        status=STATES.get(status or ""),
        synthetic=is_placeholder(body),
        written=written(raw),
        parts=_kinds_in(raw) if form.body == "output" else (),
        may_be_file=form.body == "output" and any(_is_sound(one.file_data) for one in foreign.parts_of(raw)),
        kind=kind,
        item=item.id if key != "id" else None,
    )  # fmt: skip


def _key_of(item: Item, form: _Form, kind: str) -> tuple[str, str | None]:
    """Return the key of the call id in an output, and its dialect where the key belongs to another wire."""
    if getattr(item, form.id) is None:
        if kind == "local_shell_call_output" and item.id is not None:
            return "id", None  # the API's types have the id of the call there (openai 3.51.0)
        if head(item.tool_call_id) == b'"':
            return "tool_call_id", "openai-chat"
    return form.id, None


def _is_sound(data: Raw) -> bool:
    """Whether the data of a file may be a URL with a sound."""
    first = start(data, 20)
    return first.startswith(b'"data:audio') or b"\\" in first


def _kinds_in(output: Raw) -> tuple[str, ...]:
    """Return the distinct types of an output's parts. A screenshot is an object by itself."""
    if head(output) == b"{":
        part = PART.inner(output)[0]
        return (part.type,) if part is not None and part.type else ()
    return tuple(dict.fromkeys(part.type for part in foreign.parts_of(output) if part.type))
