"""Read pi and OpenClaw sessions: one line per entry, a tree of `id` and `parentId`, in old files a list of messages.

The module selects the messages that would be replayed, as does pi's own session manager (pi-coding-agent 0.73.1, read
2026-11). They are on the path from the last entry to the root, cut at a compaction or a reset. Aborted and failed turns
are left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Raw, Struct, json, structs

from turnlint.carrying import foreign
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.contents import arguments_in_place, arguments_in_text
from turnlint.carrying.draft import Draft, settle_calls, signature_of
from turnlint.carrying.guests import Guest, add_chat
from turnlint.carrying.origin import origin_of, read_origin
from turnlint.carrying.raws import NOTHING, content_of, given, head, is_blank, string, written
from turnlint.carrying.sessions import (
    Entry,
    Ids,
    NativeLines,
    Replay,
    Tree,
    conversation,
    left_behind,
    make_session,
)
from turnlint.carrying.syntax import GIVEN, MessageClass, ObjectSyntax, PieceSyntax, WireSyntax, role_in
from turnlint.carrying.writer import Frame, MessageWriter
from turnlint.documents.decode import Decoded, Shape
from turnlint.documents.fit import kind_of
from turnlint.lifecycle import is_placeholder
from turnlint.model import (
    Block,
    Call,
    Keys,
    Link,
    Message,
    Misfit,
    Other,
    Pointer,
    Record,
    Result,
    Role,
    Text,
    Thinking,
    Wire,
)  # fmt: skip


class Line(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    parentId: Raw = NOTHING
    timestamp: Raw = NOTHING
    version: Raw = NOTHING
    cwd: Raw = NOTHING
    firstKeptEntryId: Raw = NOTHING
    firstKeptEntryIndex: Raw = NOTHING
    targetId: Raw = NOTHING
    summary: Raw = NOTHING
    content: Raw = NOTHING
    message: Raw = NOTHING


class Said(Guest, gc=False):
    toolCallId: str | None = None
    toolName: str | None = None
    isError: bool | None = None
    stopReason: Raw = NOTHING
    provider: Raw = NOTHING
    model: Raw = NOTHING
    responseId: Raw = NOTHING
    excludeFromContext: Raw = NOTHING
    timestamp: Raw = NOTHING


class Part(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    name: str | None = None
    text: Raw = NOTHING
    arguments: Raw = NOTHING
    input: Raw = NOTHING
    partialJson: Raw = NOTHING
    thoughtSignature: Raw = NOTHING
    thinking: Raw = NOTHING
    thinkingSignature: Raw = NOTHING
    redacted: Raw = NOTHING


class Head(Entry, gc=False):
    """The first line of a session, which is no entry of its tree."""

    name: str | None = None
    linear: bool = False
    """Whether the session is a list, as in old versions."""

    is_bookkeeping: ClassVar[bool] = False


class Node(Entry, gc=False):
    """An entry of the tree."""

    kind: str = ""
    loose: bool = False
    """Whether the entry lacks the required parent; the first entry needs none."""
    stopped: str = ""
    """The end of its turn, if that is the reason that the turn is not replayed."""
    kept: str | None = None
    """For a compaction, the id of the first entry before it that stays."""
    kept_index: int | None = None
    """For a compaction in an old session, the number of that entry in the file."""
    target: str | None = None
    """The target of an entry that only refers to another one."""
    answers: bool = False
    """Whether its message is a result."""

    @property
    def is_bookkeeping(self) -> bool:  # type: ignore[override]
        return not self.said and self.kind not in SPEAKING


ROLES: dict[str, Role] = {
    "user": "user", "assistant": "assistant", "toolResult": "tool", "custom": "user", "hookMessage": "user",
    "bashExecution": "user", "branchSummary": "user", "compactionSummary": "user",
}  # fmt: skip
"""Roles and how they are sent: all but the model's messages and results as the user's. Other roles are not sent."""
OWN_ROLES = ROLES.keys() - {"user", "assistant"}
TEXTS = {"bashExecution": "command", "branchSummary": "summary", "compactionSummary": "summary"}
"""The keys of the text in messages without a content."""
STOPPED = {
    "aborted": ("the turn was aborted", "their turns were aborted"),
    "error": ("the turn ended in an error", "their turns ended in an error"),
}
OLD_KINDS = frozenset({"compaction", "model_change", "thinking_level_change"})
KINDS = OLD_KINDS | {"branch_summary", "custom", "custom_message", "label", "leaf", "reset", "session_info"}
"""Types of entries that are no messages."""
SPEAKING = frozenset({"message", "custom_message", "compaction", "branch_summary"})
SUMMARIES = {"compaction": "compactionSummary", "branch_summary": "branchSummary"}
CALLS = frozenset({"toolCall", "toolUse", "tool_use"})
CALL_KEYS = Keys(("id",), ("name",), ("arguments",))
INPUT_KEYS = Keys(("id",), ("name",), ("input",))
TORN_KEYS = Keys(("id",), ("name",), ("partialJson",))
RESULT_KEYS = Keys(("toolCallId",), ("toolName",), ("content",))
WIRE = Wire("pi", like="pi")
PARENT: Pointer = ("parentId",)
GIVEN_PARENT = GIVEN << 1

SAID, PART = Shape(Said), Shape(Part)
_parts = json.Decoder(list[Raw])


def _evidence(line: Line) -> int:
    kind, timed = line.type or "", given(line.timestamp)
    linked = line.id is not None and given(line.parentId)
    if kind == "session":  # event streams begin with such a line too
        return int(line.id is not None and timed and (given(line.cwd) or given(line.version)))
    if kind in KINDS and timed and (linked or kind in OLD_KINDS):
        return SPEAKS
    if kind != "message":
        return 0 if linked and kind and "." not in kind else STRANGE
    said = SAID.inner(line.message)[0] if head(line.message) == b"{" else None
    if said is None or (said.role not in ROLES and said.role not in foreign.ROLES):
        return 0 if linked else STRANGE
    if _holds_results(said.content):
        return STRANGE  # Factory Droid's lines have the same keys (seen in its logs, 2026-11)
    own = said.role in OWN_ROLES or given(said.stopReason) or written(said.timestamp) == "other"
    return SPEAKS if timed and own else 0


def _holds_results(content: Raw) -> bool:
    """Whether a message has results of another wire, which has no role for results."""
    return any(part.type == "tool_result" for part in foreign.parts_of(content))


def _look(decoded: Decoded[Any]) -> Entry | None:
    line: Any = decoded.value
    if line.type is None:
        return None
    if line.type == "session":
        version = _number(line.version)
        return Head(decoded.record, name=line.id, linear=version is None or version < 2)
    node = Node(
        decoded.record, line.id, string(line.parentId), PARENT, kind=line.type, loose=not given(line.parentId),
        kept=string(line.firstKeptEntryId), kept_index=_number(line.firstKeptEntryIndex), target=string(line.targetId),
    )  # fmt: skip
    if line.type == "message":
        _read(node, line.message)
    elif line.type == "custom_message":
        out = Draft((), "user")
        _read_content(line.content, out)
        _speak(node, out, "custom", line.content)
    elif line.type in SUMMARIES and not is_blank(line.summary):
        _speak(node, Draft((), "user", [Text(("summary",))]), SUMMARIES[line.type], line.summary)
    # A session that returns to its first message continues without a parent; a turn of the model never does.
    follows = node.kind == "compaction" or any(message.role != "user" for message in node.said)
    node.loose = node.loose or (follows and node.parent is None)
    return node


def _entry_of(
    record: Record, kind: str, message: int, flags: int, calls: Ids, results: Ids, identifier: str | None, parent: str | None,
    kept: str | None, index: str | None, stopped: str | None, provider: str | None, model: str | None, response: str | None,
) -> Entry | None:  # fmt: skip
    """Return the entry of a line whose message was not read."""
    role = role_in(flags)
    is_loose = not flags & GIVEN_PARENT or (
        parent is None and (role not in (None, "user") or kind == "compaction")
    )
    is_answer = role == "assistant"
    return Node(  # in the order of the fields: names would double the time
        record, identifier, parent, PARENT, (), (), message, False, origin_of(provider, model) if is_answer else None,
        response if is_answer else None, calls, results, kind, is_loose,
        stopped if is_answer and stopped in STOPPED else "", kept, _integer(index), None, role == "tool",
    )  # fmt: skip


def _number(raw: Raw) -> int | None:
    return _integer(string(raw) or bytes(raw).decode())


def _integer(text: str | None) -> int | None:
    digits = (text or "")[:18]
    return int(digits) if digits.isascii() and digits.isdigit() else None


def _read(node: Node, raw: Raw) -> None:
    if head(raw) != b"{":
        found = kind_of(json.decode(raw)) if given(raw) else "nothing"
        node.misfits = (Misfit(("message",), "an object", found),)
        return
    said, node.misfits = SAID.inner(raw, ("message",))
    if said is None:
        return
    name = said.role or ""
    role, dialect = (ROLES[name], None) if name in ROLES else foreign.ROLES.get(name, ("other", None))
    out = Draft(("message",), role)
    if said.role is None:
        out.misfits.append(foreign.role_misfit(out.at, None, tuple(ROLES)))
    elif role == "other" or head(said.excludeFromContext) == b"t":
        return
    if name == "toolResult":
        out.blocks.append(_result(said, out))
    elif name in TEXTS:
        out.blocks.append(Text((TEXTS[name],)))
    else:
        _read_content(said.content, out)
    if given(said.tool_calls) or given(said.tool_call_id):
        add_chat(said, out)
        dialect = "openai-chat"
    for call in settle_calls(out) if role == "user" else ():
        out.amiss(call.at, "no calls in a user message", "a call")
    _speak(node, out, name, said.content, dialect)
    if role == "assistant":
        origin = read_origin(said.provider, said.model)
        node.said = tuple(
            structs.replace(one, origin=origin, response=string(said.responseId)) for one in node.said
        )
    stopped = string(said.stopReason)
    node.stopped = stopped if role == "assistant" and stopped in STOPPED else ""


def _speak(node: Node, out: Draft, role: str, content: Raw, dialect: str | None = None) -> None:
    message = Message(
        out.role, out.at, tuple(out.blocks), node.record, role, id=node.id, parent=node.parent, dialect=dialect,
        inner_calls=tuple(out.echoes), content=content_of(content), blanks=tuple(out.blanks),
    )  # fmt: skip
    node.said, node.misfits = (message,), (*node.misfits, *out.misfits)
    node.answers = message.role == "tool"


def _read_content(content: Raw, out: Draft) -> None:
    kind, expected = written(content), "a list of blocks"
    if kind == "text":
        out.say(content, ("content",))
    if out.role != "assistant":
        expected = f"a string or {expected}"
    if kind != "list" and (kind != "text" or out.role == "assistant"):
        out.amiss(("content",), expected, content if given(content) else "nothing")
    for index, raw in enumerate(_parts.decode(content) if kind == "list" else ()):
        at = ("content", index)
        if head(raw) != b"{":
            out.amiss(at, "an object", raw)
            continue
        part, wrong = PART.inner(raw, (*out.at, *at))
        out.misfits += wrong
        if part is not None and part.type == "text":
            out.say(part.text, at)
        elif part is not None:
            out.blocks.append(_block(raw, part, at))


def _block(raw: Raw, part: Part, at: tuple[str, int]) -> Block:
    kind = part.type or ""
    if kind in CALLS:
        return _call(part, kind, at)
    if kind == "thinking":
        words, cipher = not is_blank(part.thinking), head(part.redacted) == b"t"
        return Thinking(at, kind, words, signature_of(part.thinkingSignature), cipher)
    return Other(at, kind) if kind == "image" else foreign.block(raw, part.type, at)


def _call(part: Part, kind: str, at: tuple[str, int]) -> Call:
    own = given(part.arguments) or not given(part.input)
    raw, keys = (part.arguments, CALL_KEYS) if own else (part.input, INPUT_KEYS)
    body, arguments = arguments_in_place(raw, required=True)
    # A stream's buffer: where an incomplete one is still present, the arguments beside it are a guess.
    if head(part.partialJson) == b'"' and arguments_in_text(part.partialJson)[1] == "torn":
        keys, arguments = TORN_KEYS, "torn"
    return Call(
        at, keys, part.id, part.name, body, arguments, written=written(raw), kind=kind,
        signature=signature_of(part.thoughtSignature),
    )  # fmt: skip


def _result(said: Said, out: Draft) -> Result:
    if head(said.content) != b"[":
        out.amiss(("content",), "a list of blocks", said.content if given(said.content) else "nothing")
    body = bytes(said.content)
    return Result(
        (), RESULT_KEYS, said.toolCallId, said.toolName, body, error=said.isError, synthetic=is_placeholder(body),
        written=written(said.content),
        parts=tuple(dict.fromkeys(part.type for part in foreign.parts_of(said.content))), kind="toolResult",
    )  # fmt: skip


def _settle(entries: list[Entry]) -> Iterator[Replay]:
    """Yield the conversation of each session, and its abandoned branches."""
    sessions: dict[str | None, list[Entry]] = {}
    heads: dict[str | None, Head] = {}
    name: str | None = None
    for entry in entries:
        if isinstance(entry, Head):
            if not heads and None in sessions:
                sessions[entry.name] = sessions.pop(None)  # lines were shuffled
            name = entry.name
            heads.setdefault(name, entry)
        sessions.setdefault(name, []).append(entry)
    for name, some in sessions.items():
        if nodes := [entry for entry in some if isinstance(entry, Node)]:
            yield from _of_session(heads.get(name), some, nodes)


def _of_session(first: Head | None, entries: list[Entry], nodes: list[Node]) -> Iterator[Replay]:
    tree = Tree(nodes)
    flat = (first is not None and first.linear) or not tree.by_id or tree.is_flat()
    for node in () if flat else nodes[1:]:
        node.parent = "" if node.loose else node.parent  # the required parent id is missing
    last = tree.by_id.get(nodes[-1].target or "") if nodes[-1].kind == "leaf" else nodes[-1]
    path: list[Any] = [*nodes] if flat else tree.path(last) if last is not None else []
    boundary, live = _context(path, entries if flat else None)
    said, name = list(_spoken(live)), first.name if first else None
    if any(node.has_messages or node.misfits for node in said):
        # pi empties a file without a header, and starts a new session in it.
        misfit = Misfit((), "the header of the session before it", "none", grave=False)
        compaction = boundary if boundary is not None and boundary.kind == "compaction" else None
        walked, sent = {id(node) for node in path}, {id(node) for node in live}
        yield conversation(
            WIRE, said, name=name, beside=(entry.record for entry in entries), linked=() if flat else nodes,
            pointers=() if flat else _pointers(nodes, boundary),
            misfits=() if isinstance(entries[0], Head) else ((entries[0].record, misfit),), headless=first is None,
            compaction=compaction.record if compaction else None,
            replaced=[node for node in nodes if compaction and id(node) in walked and id(node) not in sent],
        )  # fmt: skip
    yield from _left(name, nodes, path, live, boundary)


def _pointers(nodes: Sequence[Node], boundary: Node | None) -> Iterator[Link]:
    """Yield the links of entries that name another entry than their parent, where these affect the replay."""
    for node in nodes:
        if node.kind == "leaf" and node.target is not None:
            yield Link(node.record, None, node.target, ("targetId",))
        elif node is boundary and node.kept is not None:
            yield Link(node.record, None, node.kept, ("firstKeptEntryId",), start=True)


def _context(path: Sequence[Node], numbered: Sequence[Entry] | None) -> tuple[Node | None, list[Node]]:
    """Return the last compaction or reset on the path, and the entries that it leaves, its summary first."""
    place = next((n for n in range(len(path) - 1, -1, -1) if path[n].kind in ("compaction", "reset")), None)
    if place is None:
        return None, [*path]
    boundary, first = path[place], place
    if numbered is None:
        first = next((n for n in range(place) if path[n].id == boundary.kept and path[n].id), place)
    elif boundary.kept_index is not None and boundary.kept_index < len(numbered):
        start = numbered[boundary.kept_index]
        first = next((n for n in range(place) if path[n] is start), place)
    kept = [node for node in path[first:place] if node.kind != "compaction"]  # one summary replaces all
    return boundary, [boundary, *kept, *path[place + 1 :]]


def _spoken(live: Iterable[Node]) -> Iterator[Node]:
    """Yield the entries that are sent.

    A skipped turn still ends the wait for results: where a result follows, the turn stays without content.
    """
    shell: Node | None = None
    for node in live:
        if shell is not None and node.answers:
            said = tuple(structs.replace(one, blocks=(), blanks=()) for one in shell.said)
            yield structs.replace(shell, said=said, misfits=(), hollow=True)
        if node.has_messages:
            shell = node if node.stopped else None
        if not node.stopped:
            yield node


def _left(
    name: str | None, nodes: Sequence[Node], path: Sequence[Node], live: Sequence[Node], boundary: Node | None
) -> Iterator[Replay]:
    sent, walked = {id(node) for node in live}, {id(node) for node in path}
    root = path[0].record if path else None
    cut = "the links of the session end" if path and path[0].parent is not None else "the session began anew"
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        if id(node) in sent:
            why = node.stopped
        elif id(node) in walked:
            assert boundary is not None, "only that leaves a part of the path away"
            why = f"replaced by the {boundary.kind} at line {boundary.record.line:,}"
        elif root is None:
            why = "the session went back to before its first message"
        else:
            before = node.record.offset < root.offset
            why = (
                f"{cut} at line {root.line:,}" if before else "the session continued from an earlier message"
            )
        groups.setdefault(why, []).append(node)
    for why, some in groups.items():
        one, several = STOPPED.get(why, (why, why))
        dead = left_behind(WIRE, some, several if len(some) > 1 else one, name=name) if why else None
        if dead is not None:
            yield dead


_GUESTS = frozenset(Said.__struct_fields__) & {"tool_calls", "tool_call_id"}
_PART = ObjectSyntax(
    {
        "type": "type", "text": "text", "textSignature": "skip", "data": "skip", "mimeType": "skip", "id": "id", "name": "name",
        "arguments": "object_arguments", "partialJson": "buffer", "thoughtSignature": "signature", "thinking": "words",
        "thinkingSignature": "signature",
    },
    {
        "text": PieceSyntax("text", "text", "textSignature"),
        "image": PieceSyntax("media", "", "data mimeType"),
        "thinking": PieceSyntax("thought", "", "thinking thinkingSignature"),
        "toolCall": PieceSyntax("call", "id name arguments", "partialJson thoughtSignature"),
    },
)  # fmt: skip
_MAYBE = "id parentId"
_LINE = ObjectSyntax(
    {
        "type": "type", "id": "column:id", "parentId": "loose:parent", "message": "said:message",
        "summary": "told:compactionSummary", "firstKeptEntryId": "loose:kept", "firstKeptEntryIndex": "number:index",
        "targetId": "absent",
    },
    {
        "message": PieceSyntax("other", "message", _MAYBE),
        "compaction": PieceSyntax("other", "summary", _MAYBE + " firstKeptEntryId firstKeptEntryIndex"),
        **dict.fromkeys(("model_change", "thinking_level_change", "session_info", "custom"), PieceSyntax("other", "", _MAYBE)),
    },
    is_open=True,
)  # fmt: skip
LINES = NativeLines(
    WireSyntax(
        messages="messages",
        classes=(
            MessageClass("user", "user"), MessageClass("bashExecution", "user"), MessageClass("custom", "user"),
            MessageClass("assistant", "assistant"), MessageClass("assistant", "assistant", calls=True),
            MessageClass("toolResult", "tool", results=True), MessageClass("compactionSummary", "user"),
        ),
        shapes={
            "line": _LINE,
            "message": ObjectSyntax(
                {
                    "role": "role", "content": "content:part", "command": "beside", "toolCallId": "result_id", "toolName": "name",
                    "isError": "failed", "stopReason": "loose:stopped", "provider": "loose:provider", "model": "loose:model", "responseId": "loose:response",
                    **dict.fromkeys(sorted({*_GUESTS, "excludeFromContext"}), "absent"),
                },
                is_open=True,
            ),
            "part": _PART,
        },
        columns=("id", "parent", "kept", "index", "stopped", "provider", "model", "response"),
        result_role="toolResult",
        result_types=("toolResult",),
        list_roles=("assistant", "toolResult"),
        needs_arguments=True,
        may_be_empty=True,
    ),
    WIRE,
    _entry_of,
)  # fmt: skip


class PiWriter(MessageWriter):
    """The writer of pi sessions."""

    placeholder_text = "No result provided"
    has_record_frame = True
    id_and_parent_keys = ("id", "parentId")

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        content = [{"type": "text", "text": text} for text in texts]
        named = {"toolCallId": call.id or "", "toolName": call.name or ""}
        return {"role": "toolResult", **named, "content": content, "isError": failed}

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:
        return {"type": "toolCall", "id": identifier, "name": name, "arguments": arguments}

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        """Write a message of the user. A message of the model has a cost, which cannot be invented."""
        content = [{"type": "text", "text": text} for text in texts]
        return {"role": role, "content": content} if role == "user" and not calls else None

    def record_frame(self, near: Mapping[str, Any], asking: Mapping[str, Any] | None) -> Frame:  # noqa: ARG002 - the line beside it has all keys
        both = (one if isinstance(one, dict) else {} for one in (near, near.get("message")))
        outer, inner = ({key: one[key] for key in ("timestamp",) if key in one} for one in both)
        return {"type": "message", **outer}, inner

    def new_id(self, digest: str) -> str:
        return digest[:8]


CARRIER = make_session(
    "pi",
    "pi and OpenClaw sessions",
    "sessions of pi and OpenClaw with branches, compaction, resets and failed turns; versions 1 to 3",
    shape=Line,
    evidence=_evidence,
    look=_look,
    settle=_settle,
    writer=PiWriter(),
    lines=LINES,
    states={"isError: true": "error", "isError: false": "complete"},
)  # fmt: skip
