"""Read Claude Code sessions: one line per content block, a tree of `uuid` and `parentUuid`, subagents, compaction.

The module selects the lines that would be replayed, as does the session reader of Anthropic's own agent SDK
(claude-agent-sdk 0.2.184, read 2026-11). They are the newest leaf, its ancestors, and the parallel calls and results
that fork from them. Messages have the form of Anthropic's wire.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Raw, Struct, structs

from turnlint.carriers.anthropic import STATES, SYNTAX, AnthropicWriter, Turn, read_turn
from turnlint.carrying.carrier import SPEAKS, STRANGE
from turnlint.carrying.origin import origin_of
from turnlint.carrying.raws import NOTHING, given, head, string
from turnlint.carrying.sessions import (
    Entry,
    Ids,
    NativeLines,
    Replay,
    Replayed,
    Tree,
    conversation,
    left_behind,
    make_session,
)
from turnlint.carrying.syntax import ObjectSyntax, PieceSyntax, role_in
from turnlint.carrying.writer import Frame
from turnlint.documents.decode import Decoded, Shape
from turnlint.model import Call, Pointer, Record, Result, Role, State, Wire


class Line(Struct, gc=False):
    type: str | None = None
    uuid: str | None = None
    parentUuid: Raw = NOTHING
    sessionId: str | None = None
    agentId: str | None = None
    isSidechain: bool | None = None
    isMeta: bool | None = None
    isApiErrorMessage: bool | None = None
    teamName: Raw = NOTHING
    subtype: str | None = None
    leafUuid: str | None = None
    messageId: Raw = NOTHING
    timestamp: Raw = NOTHING
    compactMetadata: Raw = NOTHING
    toolDenialKind: Raw = NOTHING
    message: Raw = NOTHING


class Said(Turn, gc=False):
    id: str | None = None


class Node(Replayed, gc=False):
    """A line of the tree."""

    session: str | None = None
    agent: str | None = None
    side: bool = False
    aside: bool = False
    """Whether the line is never the last replayed one: a team mate wrote it, or it is about the session itself."""
    speaks: bool = False
    """Whether the line has the type of the user or the assistant, with or without content."""
    time: str = ""
    boundary: bool = False
    keeps: bool = False
    """Whether a compaction kept some earlier lines unchanged."""

    @property
    def writer(self) -> tuple[bool, str | None]:
        return self.side, self.agent


TREE = frozenset({"user", "assistant", "attachment", "system", "progress"})
"""Types of lines that belong to the tree; other lines are bookkeeping."""
SPEAKING = frozenset({"user", "assistant"})
PARENT: Pointer = ("parentUuid",)
BOOKKEEPING = frozenset({
    "summary", "custom-title", "ai-title", "tag", "agent-name", "last-prompt", "queue-operation",
    "file-history-snapshot", "file-history-delta", "mode", "permission-mode", "worktree-state", "pr-link",
    "content-replacement", "cost-state", "fork-context-ref", "continued-in",
})  # fmt: skip
WIRE = Wire("claude-code", window=frozenset({"user", "tool"}), joins=True, like="anthropic")
COPIED = (
    "isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug", "timestamp",
)  # fmt: skip
"""Keys that a line shares with its neighbours."""

DENIALS: dict[str, State] = {
    "user-rejected": "cancelled", "cancelled": "cancelled", "permission-rule": "error", "automode-unavailable": "error",
}  # fmt: skip
"""States of a call by the key that a line has beside a result that the user or a rule denied (observed 2026-11)."""

COPIES = "a later line has the same `uuid`"

SAID = Shape(Said)


def _evidence(line: Line) -> int:
    if line.type in BOOKKEEPING:
        own = line.sessionId is not None or line.leafUuid is not None or given(line.messageId)
        return SPEAKS if own else 0
    if line.type not in TREE or line.uuid is None or not given(line.parentUuid) or line.sessionId is None:
        # The format changes weekly: an unknown type is bookkeeping, if it belongs to a session.
        new = line.type is not None and line.sessionId is not None and not given(line.message)
        return 0 if new else STRANGE
    if line.type in ("user", "assistant"):
        said = SAID.inner(line.message)[0] if head(line.message) == b"{" else None
        # Other programs store the same tree with messages of their own form, with `parts`.
        return SPEAKS if said is not None and given(said.content) and not given(said.parts) else STRANGE
    return SPEAKS


SIDE, META, FAILED = 1, 2, 4
"""The flags of a line: a subagent wrote it, it is about the session itself, it reports an error of the API."""


def _look(decoded: Decoded[Any]) -> Entry | None:
    line: Any = decoded.value
    if line.type is None:
        return None
    flags = SIDE * bool(line.isSidechain) + META * bool(line.isMeta) + FAILED * bool(line.isApiErrorMessage)
    entry = _entry_of(
        decoded.record, line.type, -1, flags, (), (), line.uuid, string(line.parentUuid), line.sessionId, line.agentId,
        line.leafUuid, line.subtype, string(line.teamName), string(line.timestamp), None, None,
    )  # fmt: skip
    if isinstance(entry, Node):
        entry.keeps = line.compactMetadata is not NOTHING and b'"preserved' in bytes(line.compactMetadata)
        if entry.speaks and head(line.message) == b"{" and not flags & FAILED:
            _read(entry, line)
    return entry


def _entry_of(
    record: Record, kind: str, message: int, flags: int, calls: Ids, results: Ids, uuid: str | None, parent: str | None,
    session: str | None, agent: str | None, leaf: str | None, subtype: str | None, team: str | None, time: str | None,
    response: str | None, model: str | None,
) -> Entry:  # fmt: skip
    """Return the entry of a line. Its message was not read."""
    if kind not in TREE or uuid is None:
        return Entry(record, None, leaf, ("leafUuid",))
    speaks = kind in SPEAKING
    is_said = speaks and message >= 0 and not flags & FAILED
    is_answer = is_said and kind == "assistant"
    origin = origin_of(None, model) if is_said and role_in(flags) == "assistant" else None
    return Node(  # in the order of the fields: names would double the time
        record, uuid, parent, PARENT, (), (), message if is_said else -1, False, origin,
        response if is_answer else None, calls if is_said else (), results if is_said else (), session, agent,
        flags & SIDE > 0, flags & META > 0 or team is not None, speaks, time or "", subtype == "compact_boundary", False,
    )  # fmt: skip


def _read(node: Node, line: Line) -> None:
    said, wrong = SAID.inner(line.message, ("message",))
    if said is None:
        return
    message, misfits = read_turn(said, ("message",), node.record)
    denied = DENIALS.get(string(line.toolDenialKind) or "")
    if denied is not None:
        blocks = (
            structs.replace(one, status=denied) if isinstance(one, Result) else one for one in message.blocks
        )
        message = structs.replace(message, blocks=tuple(blocks))
    node.misfits = (*wrong, *misfits)
    node.response = said.id if line.type == "assistant" else None
    node.calls = tuple(block.id for block in message.blocks if isinstance(block, Call))
    node.results = tuple(block.id for block in message.blocks if isinstance(block, Result))
    node.said = (structs.replace(message, id=node.id, parent=node.parent, response=node.response),)


def _settle(entries: list[Entry]) -> Iterator[Replay]:
    """Yield the main conversation of each session, those of its agents, and their abandoned branches."""
    nodes = [entry for entry in entries if isinstance(entry, Node)]
    others = [entry for entry in entries if not isinstance(entry, Node) and entry.parent is not None]
    session_of = {node.id: node.session for node in nodes} if others else {}
    pointers: dict[str | None, list[Entry]] = {}
    for entry in others:
        if entry.parent in session_of:
            pointers.setdefault(session_of[entry.parent], []).append(entry)
    writers: dict[str | None, list[Node]] = {}
    if any(node.side for node in nodes):
        for node, agent in zip(nodes, _agents(nodes), strict=True):
            writers.setdefault(agent, []).append(node)
    elif nodes:
        writers[None] = nodes
    for agent, some in writers.items():
        yield from _of_writer(agent, some, pointers if agent is None else {})


def _agents(nodes: Sequence[Node]) -> Iterator[str | None]:
    """Yield the agent of each line: none in the main conversation, else its id or the root of its tree."""
    by_id = {node.id: node for node in nodes if node.side}
    root: dict[str | None, str] = {}
    for node in nodes:
        if not node.side:
            yield None
            continue
        above = root.get(node.parent)
        if above and node.agent is None:  # the parent was walked before
            yield root.setdefault(node.id, above)
            continue
        path: dict[str | None, None] = {}
        at: Node | None = node
        while at is not None and at.id not in root and at.id not in path:
            path[at.id] = None
            if at.agent is not None:
                break
            at = by_id.get(at.parent) if at.parent is not None else None
        if path:
            last = by_id[next(reversed(path))]
            found = root.get(at.id) if at is not None else None
            root.update(dict.fromkeys(path, found or last.agent or last.id or ""))
        yield root[node.id]


def _of_writer(
    agent: str | None, nodes: list[Node], pointers: Mapping[str | None, Sequence[Entry]]
) -> Iterator[Replay]:
    """Yield the conversations of the main writers of a file, or of one agent."""
    for some in _connected(nodes):
        tree = Tree(some)
        flat = tree.is_flat()
        path = some if flat else _replayed(tree, some)
        name = agent or (path or some)[-1].session
        every: list[Entry] = [*some]
        if pointers:
            every += (one for session in {node.session for node in some} for one in pointers.get(session, ()))
            every.sort(key=lambda one: one.record.offset)
        live = {id(node) for node in path}
        gone = [node for node in some if id(node) not in live] if len(live) < len(some) else []
        meant = [node for node in gone if tree.is_meant(node)]
        start = next((node.record for node in reversed(path) if node.boundary), None)
        before = [node for node in meant if start is not None and node.record.offset < start.offset]
        rest = [node for node in meant if start is None or node.record.offset > start.offset]
        if path:
            yield conversation(
                WIRE, path, name=name, beside=(entry.record for entry in every),
                linked=() if flat else _as_written(every), headless=any(node.keeps for node in path),
                compaction=start, replaced=before,
            )  # fmt: skip
        yield from _left(name, before, rest, start)
        copies = left_behind(WIRE, [node for node in gone if not tree.is_meant(node)], COPIES, name=name)
        if copies is not None:
            yield copies


def _connected(nodes: list[Node]) -> Iterable[list[Node]]:
    """Return the lines of each session, joined with those of sessions that it continues or that continue it.

    A session that was resumed as a copy repeats the `uuid`s; a link then refers to a line of the same session.
    """
    if len({node.session for node in nodes}) == 1:
        return [nodes]
    own = {(node.session, node.id) for node in nodes}
    session_of = {node.id: node.session for node in nodes}
    under: dict[str | None, str | None] = {}

    def top(name: str | None) -> str | None:
        while (above := under.get(name, name)) != name:
            under[name] = under.get(above, above)
            name = above
        return name

    for node in nodes:
        if (node.session, node.parent) not in own and node.parent in session_of:
            under[top(node.session)] = top(session_of[node.parent])
    groups: dict[str | None, list[Node]] = {}
    for node in nodes:
        groups.setdefault(top(node.session), []).append(node)
    return groups.values()


def _as_written(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return entries in the order of their times if all have one, so that a rule can report moved lines."""
    nodes = [entry for entry in entries if isinstance(entry, Node)]
    times = [node.time for node in nodes]
    if not all(times) or (times == sorted(times) and len(nodes) == len(entries)):
        return entries
    return [
        *sorted(nodes, key=lambda node: node.time),
        *(one for one in entries if not isinstance(one, Node)),
    ]


def _left(name: str | None, before: list[Node], rest: list[Node], start: Record | None) -> Iterator[Replay]:
    """Yield the lines before the last compaction, and the branches that the session abandoned."""
    for some, why in (
        (before, f"replaced by the compaction at line {start.line:,}" if start else ""),
        (rest, "the session continued from an earlier message"),
    ):
        dead = left_behind(WIRE, some, why, name=name)
        if dead is not None:
            yield dead


def _replayed(tree: Tree, nodes: Sequence[Node]) -> list[Any]:
    """Return the newest leaf and its ancestors, with the parallel calls and results that fork from them."""
    leaves: dict[int, Any] = {}
    seen: set[int] = set()
    for end in filter(tree.is_end, nodes):
        for node in tree.upward(end):
            if id(node) in seen:
                break
            seen.add(id(node))
            if node.speaks:  # type: ignore[attr-defined]
                leaves[tree.place[id(node)]] = node
                break
    if not leaves:  # a cycle has no end; a reader would then begin with the last line
        leaves = {tree.place[id(node)]: node for node in nodes if node.speaks}
    if not leaves:
        return []
    newest = max([place for place, leaf in leaves.items() if not leaf.aside] or leaves)
    path = tree.path(leaves[newest])
    walked = {id(node) for node in path}
    beside = [node for node in nodes if id(node) not in walked and tree.is_meant(node)]
    return _with_forks(path, [*path, *beside]) if beside else path


def _with_forks(path: Sequence[Any], nodes: Sequence[Any]) -> list[Any]:
    """Insert the calls and results beside the path. Each result is a child of its own call, so parallel calls fork."""
    walked = {id(node) for node in path}
    anchors: dict[str | None, Any] = {node.response: node for node in path if node.response is not None}
    blocks: dict[str, list[Any]] = {}
    results: list[Any] = []
    for node in nodes:
        if node.response in anchors:
            blocks.setdefault(node.response, []).append(node)
        elif node.parent is not None and node.results:
            results.append(node)
    home = _Home(blocks)
    found: dict[str, list[Any]] = {}
    answered = {one for node in path for one in node.results}
    strays = []
    for node in results:
        if id(node) in walked:
            continue
        response = home.of_parent(node)
        if response is None:
            strays.append(node)
            continue
        found.setdefault(response, []).append(node)
        answered.update(node.results)
    for node in strays:
        response = home.of_open_call(node, answered)
        if response is not None:
            found.setdefault(response, []).append(node)
            answered.update(node.results)
    out: list[Any] = []
    for node in path:
        out.append(node)
        if node.response in anchors and anchors[node.response] is node:
            beside = [one for one in blocks.get(node.response, ()) if id(one) not in walked]
            out += sorted(beside, key=lambda one: one.time)
            out += sorted(found.get(node.response, ()), key=lambda one: one.time)
    return out


class _Home:
    """The responses to which results beside the path belong."""

    def __init__(self, blocks: dict[str, list[Any]]) -> None:
        self.response = {node.id: name for name, some in blocks.items() for node in some}
        self.caller: dict[str | None, Any] = {}
        for some in blocks.values():
            for node in some:
                for call in node.calls:
                    # An id in two responses identifies neither.
                    if self.response_of(call, node) != node.response:
                        self.caller[call] = None
                    elif call not in self.caller:
                        self.caller[call] = node

    def response_of(self, identifier: str | None, otherwise: Any) -> str | None:
        caller = self.caller.get(identifier, otherwise)
        return None if caller is None else caller.response

    def of_parent(self, node: Any) -> str | None:
        return self.response.get(node.parent)

    def of_open_call(self, node: Any, answered: set[str | None]) -> str | None:
        for result in node.results:
            caller = self.caller.get(result)
            if caller is not None and result not in answered and caller.writer == node.writer:
                return str(caller.response)
        return None


_MAYBE = "uuid parentUuid sessionId agentId leafUuid subtype teamName timestamp isSidechain isMeta messageId"
_LINE = ObjectSyntax(
    {
        "type": "type", "uuid": "column:uuid", "parentUuid": "loose:parent", "sessionId": "column:session", "agentId": "column:agent",
        "leafUuid": "column:leaf", "subtype": "column:subtype", "teamName": "loose:team", "timestamp": "loose:time",
        "isSidechain": "flag:side", "isMeta": "flag:meta", "isApiErrorMessage": "flag:failed", "compactMetadata": "absent",
        "messageId": "skip", "message": "said:message",
    },
    {
        **dict.fromkeys(sorted(SPEAKING), PieceSyntax("other", "uuid", _MAYBE + " message isApiErrorMessage")),
        **dict.fromkeys((*sorted(TREE - SPEAKING), *sorted(BOOKKEEPING)), PieceSyntax("other", "", _MAYBE)),
    },
    is_open=True,
)  # fmt: skip
_GUESTS = frozenset(Said.__struct_fields__) - {"role", "content", "id", "model"}
"""Keys of messages of other wires."""
LINES = NativeLines(
    structs.replace(
        SYNTAX,
        shapes={
            **SYNTAX.shapes,
            "line": _LINE,
            "message": ObjectSyntax(
                {
                    "role": "role", "content": "content:block", "id": "column:response", "model": "loose:model",
                    **dict.fromkeys(sorted(_GUESTS), "absent"),
                },
                is_open=True,
            ),
        },
        columns=("uuid", "parent", "session", "agent", "leaf", "subtype", "team", "time", "response", "model"),
        flags=("side", "meta", "failed"),
    ),
    WIRE,
    _entry_of,
)  # fmt: skip


class ClaudeCodeWriter(AnthropicWriter):
    """The writer of Claude Code sessions."""

    one_result_per_message = True
    has_record_frame = has_continued_frame = True
    id_and_parent_keys = ("uuid", "parentUuid")
    examples_key = ""

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        """Write a message of the user."""
        return super().write_message(role, texts, calls) if role == "user" and not calls else None

    def record_frame(self, near: Mapping[str, Any], asking: Mapping[str, Any] | None) -> Frame:
        """Write a line of the user, without `toolUseResult`: programs parse its value (reported 2026)."""
        copied = {key: near[key] for key in COPIED if key in near}
        source = asking.get("uuid") if asking else None
        return {"type": "user", **copied, **({"sourceToolAssistantUUID": source} if source else {})}, {}

    def continued_frame(self, near: Mapping[str, Any], identifier: str) -> Frame:
        """Write a line of the assistant. Lines with one message id are one message, so it gets a new message id."""
        message = near.get("message")
        own = {}
        if isinstance(message, Mapping):
            own = {key: message[key] for key in ("id", "model") if key in message}
        if "id" in own:
            own["id"] = f"msg_{identifier.replace('-', '')}"
        return {"type": "assistant", **{key: near[key] for key in COPIED if key in near}}, own

    def new_id(self, digest: str) -> str:
        """Write an id in the form of a random UUID, which readers expect."""
        return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"


def _beside(path: str) -> tuple[str, ...]:
    """Return patterns of the files of a session: each subagent has a file, since 2.1 in a folder of the session."""
    folder, slash, name = path.rpartition("/")
    folder += slash
    above = folder.removesuffix("subagents/")
    if above != folder:
        return f"{above.removesuffix('/')}.jsonl", f"{folder}agent-*.jsonl"
    return f"{folder}{name.removesuffix('.jsonl')}/subagents/agent-*.jsonl", f"{folder}agent-*.jsonl"


CARRIER = make_session(
    "claude-code",
    "Claude Code session",
    "sessions; subagents in the same file or in separate files; with compaction and branches",
    shape=Line,
    evidence=_evidence,
    look=_look,
    settle=_settle,
    writer=ClaudeCodeWriter(),
    lines=LINES,
    beside=_beside,
    states={**STATES, **{f"toolDenialKind: {name}": state for name, state in DENIALS.items()}},
)  # fmt: skip
