"""Read Codex rollouts: items of the Responses API in envelopes, with compactions, rollbacks and forks.

Files of 2025 may have bare items. The module selects the items that would be replayed, as Codex does when it rebuilds
its history (openai/codex, read 2026-11). The newest compaction with a history is the base. Later items are appended,
and a rollback removes the user's last turns. Items have the form of OpenAI's wire.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Raw, Struct, json, structs

from turnlint.carriers.openai_responses import SYNTAX, ResponsesWriter, read_turn
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.items import KINDS, PART, STATES, Item, kind_of_item
from turnlint.carrying.listed import moved
from turnlint.carrying.origin import read_origin, shared_origin
from turnlint.carrying.raws import NOTHING, given, head, is_blank, string
from turnlint.carrying.sessions import (
    Entry,
    Ids,
    NativeLines,
    Replay,
    Replayed,
    conversation,
    left_behind,
    make_session,
)
from turnlint.carrying.syntax import ObjectSyntax, PieceSyntax, role_in
from turnlint.carrying.writer import Frame
from turnlint.documents.decode import Decoded, Shape, value_of
from turnlint.model import Call, Message, Origin, Other, Pointer, Record, Result, Wire


class Line(Item, gc=False):
    """A record, or in files of mid-2025 an item by itself."""

    timestamp: Raw = NOTHING
    ordinal: Raw = NOTHING
    payload: Raw = NOTHING
    record_type: Raw = NOTHING
    instructions: Raw = NOTHING


class Payload(Struct, gc=False):
    """The payload of a record that is no item."""

    type: Raw = NOTHING
    id: Raw = NOTHING
    history_mode: Raw = NOTHING
    history_base: Raw = NOTHING
    num_turns: Raw = NOTHING
    message: Raw = NOTHING
    replacement_history: Sequence[Item] | None = None
    content: Raw = NOTHING
    model: Raw = NOTHING
    model_provider: Raw = NOTHING


class Node(Replayed, gc=False):
    """A record with messages, or one that changes the replayed messages."""

    marks: tuple[str, ...] = ()
    """For each message: whether it starts a user's turn (`turn`), or Codex itself inserted it (`context`)."""
    head: bool = False
    """Whether the record is the header with the session's id."""
    name: str | None = None
    elsewhere: bool = False
    """Whether earlier records are in another file."""
    paged: bool = False
    """Whether records are numbered, so that other files can refer to them."""
    replaces: str = ""
    """The replacement of all earlier messages: a `history`, or a `summary` after the user's own messages."""
    back: int = 0
    """The number of the user's turns that the record rolls back."""
    unnamed: bool = False
    """Whether the record has a shell call without a call id."""
    provider: Origin | None = None
    """For a header, the provider of the session."""
    is_answer: bool = False
    """Whether an unread message is of the model."""


class Setting(Entry):
    """A record of the settings of the turn that follows."""

    model: Origin | None = None
    """The model of that turn."""


ENVELOPES = frozenset({
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record",
    "inter_agent_communication", "inter_agent_communication_metadata", "retained_context", "security_risk_score",
    "realtime_item",
})  # fmt: skip
UNSENT = frozenset({"ghost_snapshot", "compaction_trigger", "other"})
"""Items that are stored in the file and sent in no request."""
FOR_SURE = 100 * SPEAKS
"""The evidence of a record of mid-2025. It identifies the bare items around it, which alone look like the API's own."""

WIRE = Wire(
    "codex", window=frozenset({"tool", "user", "system"}), joins=True, anywhere=True, like="openai-responses"
)
BOUND = "threads that were forked from it point into it by the byte"

OF_USER = (
    ("# agents.md instructions", "</instructions>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<environment_context>", "</environment_context>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<skill>", "</skill>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<agent_message_board_notification>", "</agent_message_board_notification>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
    ("<extension_context>", "</extension_context>"),
    ("<goal_context>", "</goal_context>"),
    ("<codex_internal_context", "</codex_internal_context>"),
    ("<hook_prompt", "</hook_prompt>"),
    ("<external_", ">"),
    ("warning: apply_patch was requested via ", "use the apply_patch tool instead of exec_command."),
    ("warning: the maximum number of unified exec processes", ""),
    ("warning: your account was flagged", ""),
)
"""The start and the end, in lower case, of texts that Codex writes in the user's name."""
OF_DEVELOPER = (
    "<permissions instructions>", "<model_switch>", "<collaboration_mode>", "<multi_agent_mode>",
    "<realtime_conversation>", "<skills_instructions>", "<personality_spec>", "<token_budget", "<context_window",
    "<rollout_budget>",
)  # fmt: skip
"""The start of texts that inform the model of new settings. They belong to the turn that follows."""
EDGE = 80
"""A length greater than that of any of these texts."""

ITEM = Shape(Item)
PAYLOAD = Shape(Payload)
_list = json.Decoder(list[Raw])


def _evidence(line: Line) -> int:
    if line.type in ENVELOPES:
        return SPEAKS if head(line.payload) == b"{" else STRANGE
    if line.type is None:
        state = string(line.record_type) == "state"
        return FOR_SURE if state or _is_old_head(line) else STRANGE * (line.role is None)
    # A bare item may belong to the API itself; a new type may be a record of a later Codex.
    return 0 if line.type in KINDS or (given(line.payload) and given(line.timestamp)) else STRANGE


def _is_old_head(line: Line) -> bool:
    return (
        line.id is not None
        and head(line.timestamp) == b'"'
        and given(line.instructions)
        and line.role is None
    )


def _look(decoded: Decoded[Any]) -> Entry | None:
    line: Any = decoded.value
    node: Entry | None = None
    if line.type is not None and given(line.payload):
        read = READERS.get(line.type)
        node = (read(line, decoded.record) if read else None) or Entry(decoded.record)
    elif line.type in KINDS or line.role is not None:
        node = _of_item(line, (), decoded.record)
    elif line.type is None and _is_old_head(line):
        node = Node(decoded.record, head=True, name=line.id)
    elif string(line.record_type) == "state":
        node = Entry(decoded.record)
    if isinstance(node, Node):
        node.paged = node.paged or head(line.ordinal) not in (b"", b"n")
    return node


def _entry_of(record: Record, _kind: str, message: int, flags: int, *_ids: Ids) -> Entry:
    """Return the entry of a line that is an item, or whose payload has no effect. It was not read."""
    if message < 0:
        return Entry(record)
    return Node(record, unread=message, paged=flags & 1 > 0, is_answer=role_in(flags) == "assistant")


def _needs_messages(entries: Sequence[Entry]) -> bool:
    """Whether a record changes earlier ones, or a call is paired by the id of its item."""
    nodes = (entry for entry in entries if isinstance(entry, Node))
    return any(node.back or node.replaces or node.unnamed for node in nodes)


def _of_meta(line: Line, record: Record) -> Node | None:
    said = PAYLOAD.inner(line.payload)[0] or Payload()
    return Node(
        record, head=True, name=string(said.id), elsewhere=head(said.history_base) == b"{",
        paged=string(said.history_mode) == "paginated", provider=read_origin(said.model_provider, None),
    )  # fmt: skip


def _of_event(line: Line, record: Record) -> Node | None:
    """Read a record of the log for users. It repeats the items' content, and is never paired with them."""
    maybe = b"_rolled_" in (data := bytes(line.payload)) or b"\\u" in data
    said = (PAYLOAD.inner(line.payload)[0] if maybe else None) or Payload()
    count = bytes(said.num_turns)
    rolled = string(said.type) == "thread_rolled_back" and count.isdigit() and len(count) < 20
    return Node(record, back=int(count)) if rolled else None


def _of_response(line: Line, record: Record) -> Node | None:
    item, wrong = ITEM.inner(line.payload, ("payload",))
    node = None if item is None else _of_item(item, ("payload",), record)
    return structs.replace(node, misfits=(*wrong, *node.misfits)) if node and wrong else node


def _of_settings(line: Line, record: Record) -> Setting:
    said = PAYLOAD.inner(line.payload)[0] or Payload()
    return Setting(record, model=read_origin(None, said.model))


def _of_agents(line: Line, record: Record) -> Node | None:
    """Read a message between agents: the model gets it as a turn of the user."""
    said = PAYLOAD.inner(line.payload)[0]
    there = said is not None and head(said.content) == b'"'
    return _of_item(Item(role="user", content=said.content), ("payload",), record) if said and there else None


def _of_compaction(line: Line, record: Record) -> Node | None:
    said, wrong = PAYLOAD.inner(line.payload, ("payload",))
    if said is None:
        return None
    items = said.replacement_history
    if items is None:
        return structs.replace(_of_summary(said.message, record), misfits=wrong)
    nodes = [
        _of_item(item, ("payload", "replacement_history", index), record) for index, item in enumerate(items)
    ]
    return Node(
        record, said=tuple(one for node in nodes for one in node.said),
        marks=tuple(one for node in nodes for one in node.marks),
        misfits=(*wrong, *(one for node in nodes for one in node.misfits)),
        unnamed=any(node.unnamed for node in nodes), replaces="history",
    )  # fmt: skip


def _of_summary(message: Raw, record: Record) -> Node:
    """Read a compaction of 2025, which has only a summary: the user's own messages stay before it."""
    if head(message) != b'"' or is_blank(message):
        return Node(record, replaces="summary")
    (said,) = _of_item(Item(role="user", content=message), ("payload",), record).said
    blocks = tuple(structs.replace(block, at=("message",)) for block in said.blocks)
    return Node(record, said=(structs.replace(said, blocks=blocks),), marks=("turn",), replaces="summary")


READERS: Mapping[str, Callable[[Any, Record], Entry | None]] = {
    "session_meta": _of_meta,
    "response_item": _of_response,
    "event_msg": _of_event,
    "compacted": _of_compaction,
    "turn_context": _of_settings,
    "inter_agent_communication": _of_agents,
}


def _of_item(item: Item, at: Pointer, record: Record) -> Node:
    kind = kind_of_item(item)
    if kind in UNSENT:
        return Node(record)
    # The Responses reader takes a text below a key for a whole input; here it is an ordinary content.
    message, misfits = read_turn(item, (), record)
    role = "user" if kind == "agent_message" else message.role
    said = structs.replace(message, at=at, role=role)
    unnamed = kind == "local_shell_call" and item.call_id is None
    return Node(record, said=(said,), misfits=moved(misfits, at), marks=(_mark(item, kind),), unnamed=unnamed)


def _mark(item: Item, kind: str) -> str:
    if kind == "agent_message":
        return "turn"
    if kind != "message":
        return ""
    if item.role == "user":
        return "context" if any(map(_is_context, _texts(item.content))) else "turn"
    if item.role == "developer":
        texts = (text.lstrip()[:EDGE].lower() for text in _texts(item.content))
        return "context" if any(text.startswith(OF_DEVELOPER) for text in texts) else ""
    return "turn" if item.role == "assistant" and _is_from_agent(item.content) else ""


def _texts(content: Raw) -> Iterator[str]:
    if head(content) == b'"':
        yield string(content) or ""
    for raw in _list.decode(content) if head(content) == b"[" else ():
        part = PART.inner(raw)[0] if head(raw) == b"{" else None
        yield (string(part.text) or "") if part is not None else ""


def _is_context(text: str) -> bool:
    said = text.strip()
    first, last = said[:EDGE].lower(), said[-EDGE:].lower()
    return any(first.startswith(opening) and last.endswith(closing) for opening, closing in OF_USER)


def _is_from_agent(content: Raw) -> bool:
    """Whether a content is one agent's task for another, as JSON text: early subagents of 2026 wrote that form."""
    said = b"".join(text.encode(errors="replace") for text in _texts(content))
    task = value_of(said) if said.startswith(b"{") else None
    return isinstance(task, dict) and task.keys() >= {"author", "recipient", "trigger_turn"}


class _View:
    """The replayed messages, record after record."""

    def __init__(self) -> None:
        self.live: list[Node] = []
        """The replayed records, each with one message at most."""
        self.turns: list[int] = []
        """The indices in `live` at which the user's turns begin."""
        self.kept = 0
        """The number of records that a summary kept; all of them start turns."""
        self.base: Node | None = None
        self.summed: list[Node] = []
        """The records that compactions replaced."""
        self.undone: list[tuple[list[Node], str]] = []
        """The records that were rolled back, with the reason."""

    def take(self, node: Node) -> None:
        if node.back:
            self._roll_back(node)
        elif node.replaces:
            self._compact(node)
        for one in _parts(node):
            if "turn" in one.marks:
                self.turns.append(len(self.live))
            self.live.append(one)

    def _compact(self, node: Node) -> None:
        if node.replaces == "history":
            self.kept = 0
        own: list[Node] = []
        for one in self.live[self.kept :]:
            stays = node.replaces == "summary" != one.replaces and "turn" in one.marks
            (own if stays else self.summed).append(one)
        self.live[self.kept :] = own
        self.turns[self.kept :] = range(self.kept, len(self.live))
        self.kept = len(self.live)
        self.base = node

    def _roll_back(self, node: Node) -> None:
        """Remove the last turns of the user, and the settings that were made for them."""
        count = min(node.back, len(self.turns))
        if not count:
            return
        first, cut = self.turns[0], self.turns[-count]
        while cut > first and "context" in self.live[cut - 1].marks:
            cut -= 1
        self.undone.append((self.live[cut:], f"rolled back at line {node.record.line:,}"))
        del self.live[cut:]
        del self.turns[-count:]
        self.kept = min(self.kept, cut)


def _parts(node: Node) -> Iterator[Node]:
    """Yield one record per message. The misfits of the record belong to the first."""
    if len(node.said) < 2:
        if node.has_messages or node.misfits:
            yield node
        return
    for number, (message, mark) in enumerate(zip(node.said, node.marks, strict=True)):
        misfits = () if number else node.misfits
        yield structs.replace(node, said=(message,), marks=(mark,), misfits=misfits)


def _name_origins(entries: Sequence[Entry]) -> None:
    """Add provider and model to the messages of the model: a header and the settings before a turn name them."""
    provider: str | None = None
    model: str | None = None
    for entry in entries:
        if isinstance(entry, Setting):
            model = entry.model.model if entry.model else None
        elif isinstance(entry, Node) and entry.provider is not None:
            provider = entry.provider.provider
        elif isinstance(entry, Node) and model and not entry.replaces:
            entry.origin = shared_origin(provider, model) if entry.is_answer else None
            entry.said = tuple(_made_by(one, shared_origin(provider, model)) for one in entry.said)


def _made_by(message: Message, origin: Origin | None) -> Message:
    return structs.replace(message, origin=origin) if message.role == "assistant" else message


def _settle(entries: list[Entry]) -> Iterator[Replay]:
    _name_origins(entries)
    nodes = [entry for entry in entries if isinstance(entry, Node)]
    view, start = _View(), 0
    for number, node in enumerate(nodes):
        view.take(node)
        start = number if node.replaces == "history" else start
    first = next((node for node in nodes if node.head), None)
    name = first.name if first else None
    if any(node.has_messages for node in view.live):
        # Records before a compaction no longer affect the result, except those with a call that lacks in it.
        deciding = {node.record.offset: node.record for node in (*([first] if first else ()), *nodes[start:])}
        yield conversation(
            WIRE, _named(view.live), name=name, beside=[deciding[offset] for offset in sorted(deciding)],
            headless=first is not None and first.elsewhere, bound=BOUND * any(node.paged for node in nodes),
            compaction=view.base.record if view.base else None, replaced=_named(view.summed),
        )  # fmt: skip
    line = f"{view.base.record.line:,}" if view.base else ""
    for some, why in ((view.summed, f"replaced by the compaction at line {line}"), *view.undone):
        dead = left_behind(WIRE, _named(some), why, name=name)
        if dead is not None:
            yield dead


def _named(nodes: list[Node]) -> list[Node]:
    """Pair shell calls without a call id: Codex answers them under the item's id, or not at all."""
    if not any(node.unnamed for node in nodes):
        return nodes
    blocks = (block for node in nodes for message in node.said for block in message.blocks)
    known = {block.id for block in blocks if isinstance(block, Result)}
    return [
        structs.replace(node, said=tuple(_with_name(message, known) for message in node.said))
        for node in nodes
    ]


def _with_name(message: Message, known: set[str | None]) -> Message:
    block = message.blocks[0] if message.blocks else None
    if not isinstance(block, Call) or block.kind != "local_shell_call" or block.id is not None:
        return message
    if block.item is None or block.item not in known:
        return structs.replace(message, blocks=(Other(block.at, block.kind),))
    named = structs.replace(block, id=block.item, keys=structs.replace(block.keys, id=("id",)))
    return structs.replace(message, blocks=(named,))


_LINE = ObjectSyntax(
    {"timestamp": "skip", "type": "type", "payload": "payload:message", "ordinal": "given:paged"},
    {
        "response_item": PieceSyntax("message", "payload", "timestamp ordinal"),
        "event_msg": PieceSyntax("other", "payload", "timestamp ordinal", tool="_rolled_"),
        **dict.fromkeys(
            sorted(ENVELOPES - READERS.keys()), PieceSyntax("other", "payload", "timestamp ordinal")
        ),
    },
)
LINES = NativeLines(
    structs.replace(SYNTAX, shapes={**SYNTAX.shapes, "line": _LINE}, flags=("paged",), has_bare_lines=True),
    WIRE,
    _entry_of,
    _needs_messages,
)


class CodexWriter(ResponsesWriter):
    """The writer of Codex sessions."""

    placeholder_text = "aborted"
    has_record_frame = True
    examples_key = ""

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        """Write an output as Codex does: for a shell call a function output, for a search the list of found tools."""
        if call.kind == "tool_search_call":
            is_placeholder = [*texts] == [self.placeholder_text]
            found = {"type": "tool_search_output", "call_id": call.id or "", "status": "completed"}
            return {**found, "execution": "client", "tools": []} if is_placeholder else None
        kind = "function_call" if call.kind == "local_shell_call" else call.kind
        return super().write_result(structs.replace(call, kind=kind), texts, failed)

    def record_frame(self, near: Mapping[str, Any], asking: Mapping[str, Any] | None) -> Frame:  # noqa: ARG002 - the line beside it has all keys
        """Write the envelope with the time and number of the adjacent line: Codex continues from the last number."""
        shell = {key: near[key] for key in ("timestamp", "ordinal") if key in near}
        return ({**shell, "type": "response_item"} if "payload" in near else {}), {}


CARRIER = make_session(
    "codex",
    "Codex rollout",
    "sessions with compactions, rollbacks and forks; bare items (format of mid-2025); custom tools and local shell tools",
    shape=Line, evidence=_evidence, look=_look, settle=_settle,
    writer=CodexWriter(), lines=LINES,
    states={f"status: {name}": state for name, state in STATES.items()},
)  # fmt: skip
