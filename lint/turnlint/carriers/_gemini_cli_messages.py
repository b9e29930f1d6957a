"""Read one message of a Gemini CLI session.

The module returns its content and the results of its calls, each once. It follows the CLI's own loader
(`convertSessionToClientHistory` of @google/gemini-cli-core 0.61.0, read and run 2026-11).
"""

from collections import deque
from collections.abc import Iterator, Sequence

from msgspec import Raw, Struct, json, structs

from turnlint.carriers.gemini import RESULTS, Turn, read_turn
from turnlint.carrying.contents import arguments_in_place
from turnlint.carrying.lines import lean
from turnlint.carrying.origin import read_origin
from turnlint.carrying.raws import NOTHING, content_of, given, head, is_blank, string, written
from turnlint.carrying.sessions import Entry
from turnlint.documents.decode import Shape
from turnlint.documents.fit import kind_of
from turnlint.lifecycle import is_placeholder
from turnlint.model import Block, Call, Keys, Message, Misfit, Pointer, Record, Result, State, Thinking


class Said(Struct, gc=False):
    """A message."""

    id: Raw = NOTHING
    type: Raw = NOTHING
    timestamp: Raw = NOTHING
    content: Raw = NOTHING
    thoughts: Raw = NOTHING
    toolCalls: Raw = NOTHING
    model: Raw = NOTHING
    role: Raw = NOTHING
    message: Raw = NOTHING


class ToolCall(Struct, gc=False):
    """A call that the CLI has run or was about to run."""

    id: str | None = None
    name: str | None = None
    args: Raw = NOTHING
    result: Raw = NOTHING
    status: Raw = NOTHING


class Item(Entry):
    """A message, and the ids of its calls."""

    model: bool = False
    held: frozenset[str] = frozenset()
    """Ids of calls with results in this message, and of these results.

    A later result with such an id is a repetition.
    """
    named: frozenset[str] = frozenset()
    """Names of tools whose calls in this message all have results."""


TYPES = frozenset({"user", "gemini", "info", "warning", "error"})
SHOWN = frozenset({"info", "warning", "error"})
"""Types of messages that are only displayed to the user."""
UNSENT = ("/", "?", "<session_context>", "<hook_context>")
"""Prefixes of user texts that the CLI does not send again: its own commands, and context that it renews each time."""
LABELLED = frozenset({
    "videoMetadata", "thought", "codeExecutionResult", "executableCode", "fileData", "functionCall",
    "functionResponse", "inlineData",
})  # fmt: skip
"""Parts that the loader represents by their kind in the text of a message."""
CALL = Keys(("id",), ("name",), ("args",))
VALUE = Keys((), (), ())
"""The keys of a result that is no part and has no id of its own: the loader adds the id of its call."""
STATES: dict[str, State] = {
    "success": "complete", "error": "error", "cancelled": "cancelled", "validating": "pending", "scheduled": "pending",
    "executing": "pending", "awaiting_approval": "pending",
}  # fmt: skip
"""States of a call by its `status` (gemini-cli, `ToolCallStatus`, read 2026-11)."""

_items = json.Decoder(list[Raw])
_keys = json.Decoder(dict[str, Raw])
TOOL_CALL = Shape(ToolCall)


def elements(raw: Raw) -> list[Raw]:
    return _items.decode(raw) if head(raw) == b"[" else []


def read_message(said: Said, own: str | None, at: Pointer, record: Record) -> Item:
    kind = string(said.type)
    if kind == "gemini":
        item = _read_answer(said, at, record)
    elif kind == "user":
        item = _read_prompt(said, at, record)
    else:
        item = Item(record)
        if kind not in SHOWN:
            wrong = f"`{kind[:40]}`" if kind else _kind(said.type) if given(said.type) else "none"
            item.misfits = (Misfit((*at, "type"), "one of " + ", ".join(sorted(TYPES)), wrong, grave=False),)
    item.id = own
    item.said = tuple(lean(structs.replace(message, id=own)) for message in item.said)
    return item


def _kind(raw: Raw) -> str:
    return kind_of(json.decode(raw))


def _read_prompt(said: Said, at: Pointer, record: Record) -> Item:
    message, wrong = _parts(said.content, "user", ("content",), at, record)
    # The loader skips a message with such a text completely, so that it is no part of the conversation.
    sent = message.blocks and not _opening(said.content).startswith(UNSENT)
    return Item(record, said=(message,) if sent else (), misfits=tuple(wrong))


def _opening(content: Raw) -> str:
    """Return the start of a message's text, as the loader composes it."""
    for raw in elements(content) or [content]:
        part = _keys.decode(raw) if head(raw) == b"{" else {"text": raw}
        if not LABELLED.isdisjoint(part):
            return "["
        text = part.get("text", NOTHING)
        if head(text) == b'"' and not is_blank(text):
            return (string(text) or "").lstrip()
    return ""


def _read_answer(said: Said, at: Pointer, record: Record) -> Item:
    """Read an answer of the model with its calls, and the results of these calls that are stored with them."""
    message, wrong = _parts(said.content, "model", ("content",), at, record)
    tools = [*_tools(said.toolCalls, at, wrong)]
    blocks = _with_calls(message.blocks, tools)
    if not any(isinstance(block, Call | Thinking) for block in message.blocks):
        thoughts = (Thinking(("thoughts", index), "thought") for index in range(len(elements(said.thoughts))))
        blocks = [*thoughts, *blocks]
    answers = tuple(_answers(tools, at, record, wrong))
    origin = read_origin(None, said.model)
    messages = [structs.replace(message, blocks=tuple(blocks), origin=origin)] if blocks or answers else []
    if answers:
        messages.append(Message("tool", at, answers, record))
    answered = [tool for tool in tools if tool.answered]
    closed = {tool.call.at for tool in answered}
    waiting = {call.name for call in blocks if isinstance(call, Call) and call.at not in closed}
    return Item(
        record, said=tuple(messages), misfits=tuple(wrong), model=True,
        held=frozenset(one for tool in answered for one in tool.ids),
        named=frozenset(tool.call.name for tool in answered if tool.call.name and tool.call.name not in waiting),
    )  # fmt: skip


def _parts(
    content: Raw, role: str, where: Pointer, at: Pointer, record: Record
) -> tuple[Message, list[Misfit]]:
    """Read parts of Gemini's wire, a single part, or texts in their place. Pointers are below `where`."""
    text = head(content) == b'"'
    pieces = [content] if text else elements(content)
    if b'"' in map(head, pieces):
        said = (b'{"text":%b}' % one if head(one) == b'"' else bytes(one) for one in pieces)
        parts = Raw(b"[" + b",".join(said) + b"]")
    else:
        parts = content
    message, wrong = read_turn(Turn(role=role, parts=parts), at, record)

    def there(place: Pointer) -> Pointer:
        return (*where, *place[2 if text else 1 :]) if place[:1] == ("parts",) else ("type",)

    return structs.replace(
        message,
        blocks=tuple(structs.replace(block, at=there(block.at)) for block in message.blocks),
        blanks=tuple(structs.replace(blank, at=there(blank.at)) for blank in message.blanks),
        inner_calls=tuple(map(there, message.inner_calls)),
        content=content_of(content), empty=False,
    ), [structs.replace(one, at=(*at, *there(one.at[len(at) :]))) for one in wrong]  # fmt: skip


# Calls that are stored with their results.


class Tool(Struct):
    """A call as the CLI stores it."""

    call: Call
    index: int
    result: Raw
    status: str | None
    ids: set[str]
    """The ids that refer to the call: its own, that of the same call in the content, and those of its results."""
    answered: bool = False


def _tools(raw: Raw, at: Pointer, wrong: list[Misfit]) -> Iterator[Tool]:
    if head(raw) not in (b"", b"n", b"["):
        wrong.append(Misfit((*at, "toolCalls"), "a list of calls", _kind(raw)))
    for index, one in enumerate(elements(raw)):
        if head(one) != b"{":
            wrong.append(Misfit((*at, "toolCalls", index), "an object", _kind(one)))
            continue
        tool, misfits = TOOL_CALL.inner(one, (*at, "toolCalls", index))
        wrong += misfits
        if tool is not None:
            body, arguments = arguments_in_place(tool.args)
            call = Call(
                ("toolCalls", index), CALL, tool.id, tool.name, body, arguments, needs_id=bool(tool.id),
                written=written(tool.args), kind="functionCall", signature="bypass",
            )  # fmt: skip
            yield Tool(call, index, tool.result, string(tool.status), {tool.id} if tool.id else set())


def _with_calls(blocks: Sequence[Block], tools: Sequence[Tool]) -> list[Block]:
    """Return the blocks of the content, and the calls that are missing there. A call in both places is one call."""
    said = [block for block in blocks if isinstance(block, Call)]
    twin_of: dict[Pointer, Tool] = {}
    for same in (_id_of, _name_of):
        free: dict[str | None, deque[Tool]] = {}
        for tool in tools:
            if not tool.call.also:
                free.setdefault(same(tool.call), deque()).append(tool)
        for call in said:
            if call.at not in twin_of and same(call) and free.get(same(call)):
                tool = twin_of[call.at] = free[same(call)].popleft()
                tool.call = structs.replace(call, also=(tool.call,))
                tool.ids |= {call.id} if call.id else set()
    # The CLI signs calls that have no signature before it sends them.
    out = [_signed(twin_of[block.at].call if block.at in twin_of else block) for block in blocks]
    return [*out, *(tool.call for tool in tools if not tool.call.also)]


def _id_of(call: Call) -> str | None:
    return call.id


def _name_of(call: Call) -> str | None:
    return call.name


def _signed(block: Block) -> Block:
    unsigned = isinstance(block, Call) and block.signature == "absent"
    return structs.replace(block, signature="bypass") if unsigned else block


def _answers(tools: Sequence[Tool], at: Pointer, record: Record, wrong: list[Misfit]) -> Iterator[Block]:
    """Yield each result of the calls once: the CLI may store the results of parallel calls with each of the calls."""
    found = [[*_brought(tool, at, record, wrong)] for tool in tools]
    has = [{block.id for block in blocks if isinstance(block, Result)} for blocks in found]
    homes: dict[str, int] = {}
    for number, tool in enumerate(tools):
        for one in tool.ids:
            homes.setdefault(one, number)
    met: set[tuple[int, str]] = set()
    kept: set[bytes] = set()
    for number, (tool, blocks) in enumerate(zip(tools, found, strict=True)):
        again = bytes(tool.result) in kept
        kept.add(bytes(tool.result))
        for block in blocks:
            if not isinstance(block, Result):
                if not again:
                    yield block
                continue
            own = not block.id or block.id in tool.ids
            home = number if own else homes.get(block.id or "", number)
            if block.id and ((home, block.id) in met or (home != number and block.id in has[home])):
                continue
            if block.id:
                met.add((home, block.id))
                tools[home].ids.add(block.id)
            # A result stored with a call belongs to that call, with any id or none.
            astray = home == number and not tool.answered and tool.call.id and tool.call.id not in has[number]
            tools[home].answered = True
            yield structs.replace(
                block, status=STATES.get(tool.status or ""),
                id=None if astray else block.id, needs_id=bool(astray) or block.needs_id,
            )  # fmt: skip


def _brought(tool: Tool, at: Pointer, record: Record, wrong: list[Misfit]) -> Iterator[Block]:
    """Yield the result of a call: parts, or a value that the loader converts into a part."""
    raw, place = tool.result, ("toolCalls", tool.index, "result")
    kind = head(raw)
    if kind in (b"", b"n") or bytes(raw) in (b'""', b"false"):
        return
    if kind == b"[" or (kind == b"{" and not _keys.decode(raw).keys().isdisjoint(RESULTS)):
        message, misfits = _parts(raw, "user", place, at, record)
        wrong += misfits
        yield from message.blocks
    elif kind in (b'"', b"{"):
        body = bytes(raw)
        yield Result(
            place, VALUE, tool.call.id, tool.call.name, body, needs_id=False,
            synthetic=is_placeholder(body), written=written(raw), kind="functionResponse",
        )  # fmt: skip
    else:
        wrong.append(Misfit((*at, *place), "parts, a string or null", _kind(raw)))
