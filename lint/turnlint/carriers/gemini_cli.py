"""Read Gemini CLI sessions: messages appended again at each change, with rewinds and replaced histories.

The module selects the messages and parts that would be replayed, as does the CLI's own loader (@google/gemini-cli-core
0.61.0, read and run 2026-11). It merges records by their ids. A message of the model contains its calls with their
results. Parts have the form of Gemini's wire.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Raw, Struct, field, structs

from turnlint.carriers._gemini_cli_messages import CALL, STATES, TYPES, Item, Said, elements, read_message
from turnlint.carriers.gemini import GeminiWriter
from turnlint.carrying.carrier import NEUTRAL, SPEAKS, STRANGE
from turnlint.carrying.raws import NOTHING, given, head, string
from turnlint.carrying.sessions import Entry, Replay, conversation, left_behind, make_session
from turnlint.documents.decode import Decoded, Shape
from turnlint.model import Block, Call, Pointer, Record, Result, Role, Wire


class Line(Said, gc=False):
    """A record: a message, facts of the session, or a change of earlier messages."""

    sessionId: Raw = NOTHING
    projectHash: Raw = NOTHING
    startTime: Raw = NOTHING
    lastUpdated: Raw = NOTHING
    messages: Raw = NOTHING
    update: Raw = field(default=NOTHING, name="$set")
    rewind: Raw = field(default=NOTHING, name="$rewindTo")


class Update(Struct, gc=False):
    sessionId: Raw = NOTHING
    lastUpdated: Raw = NOTHING
    messages: Raw = NOTHING
    summary: Raw = NOTHING
    directories: Raw = NOTHING
    memoryScratchpad: Raw = NOTHING


class Node(Entry, gc=False):
    """A record."""

    items: Sequence[Item] = ()
    clears: bool = False
    """Whether its messages replace all earlier ones."""
    back: str | None = None
    """The id of the message that the record removes, with all later ones."""
    name: str | None = None
    """The id of the session, if the record has one."""
    whole: bool = False
    """Whether the record has messages beside the facts of the session, as files had before the line format."""

    @property
    def is_bookkeeping(self) -> bool:  # type: ignore[override]
        return not self.items and not self.clears and self.back is None


LOST = "The tool execution result was lost due to context management truncation."
"""The text that the CLI itself sends for a call without a result (`historyHardening`)."""
WIRE = Wire(
    "gemini-cli", window=frozenset({"user", "tool"}), joins=True, idless=True, counts=True, like="gemini"
)

SAID = Shape(Said)
UPDATE = Shape(Update)


def _evidence(line: Line) -> int:
    if given(line.role) or given(line.message):
        return STRANGE
    if string(line.rewind) is not None:
        return SPEAKS
    if head(line.update) == b"{":
        known = UPDATE.inner(line.update)[0]
        return SPEAKS if known is not None and any(map(given, structs.astuple(known))) else STRANGE
    kind = string(line.type)
    if string(line.id) is not None and kind in TYPES and (given(line.content) or given(line.toolCalls)):
        return SPEAKS if kind == "gemini" and not given(line.sessionId) else NEUTRAL
    if string(line.sessionId) is None or kind is not None:
        return STRANGE
    if sum(map(_is_foreign, elements(line.messages)[:20])) > 1:
        return STRANGE
    if string(line.projectHash) is not None:
        return SPEAKS
    return SPEAKS if any(map(_is_own, elements(line.messages)[:20])) else STRANGE


def _is_own(raw: Raw) -> bool:
    said = SAID.inner(raw)[0] if head(raw) == b"{" else None
    return said is not None and string(said.type) == "gemini" and not given(said.role)


def _is_foreign(raw: Raw) -> bool:
    """Whether a message has a type that the CLI does not write.

    One such message is damage, several are another format.
    """
    said = SAID.inner(raw)[0] if head(raw) == b"{" else None
    kind = string(said.type) if said is not None else None
    return kind is not None and kind not in TYPES


def _look(decoded: Decoded[Any]) -> Entry | None:
    """Return the entry of a record. The checks have the order of the loader."""
    line: Any = decoded.value
    record = decoded.record
    back, own = string(line.rewind), string(line.id)
    if back is not None:
        return Node(record, back=back)
    if own is not None:
        return Node(record, items=(read_message(line, own, (), record),))
    if head(line.update) == b"{":
        update = UPDATE.inner(line.update)[0]
        if update is None:
            return None
        clears = head(update.messages) == b"["
        instead = tuple(_listed(update.messages, ("$set", "messages"), record))
        return Node(record, items=instead, clears=clears, name=string(update.sessionId))
    name = string(line.sessionId)
    if name is None or not (given(line.projectHash) or given(line.startTime) or given(line.messages)):
        return None
    before = tuple(_listed(line.messages, ("messages",), record))
    return Node(record, items=before, name=name, whole=bool(before))


def _listed(raw: Raw, at: Pointer, record: Record, *, unnamed: bool = False) -> Iterator[Item]:
    """Yield the messages of a list. The loader ignores those without an id, except in files before the line format."""
    for index, one in enumerate(elements(raw)):
        said = SAID.inner(one, (*at, index))[0] if head(one) == b"{" else None
        own = string(said.id) if said is not None else None
        if said is not None and (own is not None or unnamed):
            yield read_message(said, own, (*at, index), record)


def _whole(value: Any, record: Record) -> Iterator[Replay]:
    """Yield the conversation of a file from before the line format: one indented object."""
    messages = string(value.sessionId) is not None and not given(value.id) and head(value.messages) == b"["
    if messages and b"\n" in record.data.strip():
        items = _listed(value.messages, ("messages",), record, unnamed=True)
        yield conversation(WIRE, [*_once(items)], name=string(value.sessionId), beside=())


def _settle(entries: Sequence[Node]) -> Iterator[Replay]:
    """Yield the sessions of a source: usually one, but a file may collect whole sessions line by line."""
    nodes: list[Node] = []
    name: str | None = None
    for node in entries:
        if node.whole and nodes and node.name != name:
            yield from _of_session(nodes, name)
            nodes = []
        nodes.append(node)
        name = node.name or name
    yield from _of_session(nodes, name)


def _of_session(nodes: Sequence[Node], name: str | None) -> Iterator[Replay]:
    live: dict[str | None, Item] = {}
    gone: list[tuple[str, list[Item]]] = []
    for node in nodes:
        line = f"{node.record.line:,}"
        if node.clears:
            gone.append((f"replaced by the history at line {line}", [*live.values()]))
            live.clear()
        elif node.back in live:
            gone.append((f"removed by the rewind at line {line}", _taken(live, node.back)))
        elif node.back is not None:
            why = (
                f"the rewind at line {line} names a message that does not exist, and so removes all messages"
            )
            gone.append((why, [*live.values()]))
            live.clear()
        for item in node.items:
            live[item.id] = item
    said: list[Entry] = [*_once(live.values())]
    said += (Entry(node.record, misfits=node.misfits) for node in nodes if node.misfits)
    if any(one.said or one.misfits for one in said):
        yield conversation(WIRE, said, name=name, beside=(node.record for node in nodes))
    yield from _left(gone, set(live), name)


def _taken(live: dict[str | None, Item], back: str | None) -> list[Item]:
    """Remove a message and all later ones."""
    taken: list[Item] = []
    while not taken or taken[-1].id != back:
        taken.append(live.popitem()[1])
    return taken[::-1]


def _left(
    gone: Sequence[tuple[str, Sequence[Item]]], known: set[str | None], name: str | None
) -> Iterator[Replay]:
    """Yield the abandoned messages. A message that is replayed, or that a later group contains, is omitted."""
    found = []
    for why, items in reversed(gone):
        own = [entry for item, entry in zip(items, _once(items), strict=True) if item.id not in known]
        known |= {item.id for item in items}
        found.append(left_behind(WIRE, own, why, name=name))
    yield from (one for one in reversed(found) if one is not None)


def _once(items: Iterable[Item]) -> Iterator[Entry]:
    """Yield the messages without results that repeat those stored with the calls before them: newer files have both."""
    held: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    for item in items:
        if item.model and item.said:
            held, named = item.held, item.named
        if item.model or not item.said or not held:
            yield item
            continue
        (message,) = item.said
        blocks = tuple(block for block in message.blocks if not _repeats(block, held, named))
        kept = (structs.replace(message, blocks=blocks),) if blocks else ()
        yield Entry(item.record, item.id, said=kept, misfits=item.misfits)


def _repeats(block: Block, held: frozenset[str], named: frozenset[str]) -> bool:
    return isinstance(block, Result) and (block.id in held if block.id else block.name in named)


class GeminiCliWriter(GeminiWriter):
    """The writer of Gemini CLI sessions."""

    blocks_key = "content"
    result_message_keys: ClassVar[Mapping[str, Any]] = {"type": "user"}
    placeholder_mark: ClassVar[Mapping[str, Any]] = {"status": "error"}
    placeholder_text = LOST
    result_pointer_in_call = ("result",)
    id_and_parent_keys = ("id", "")
    examples_key = ""

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        """Write a part, or a list of parts for a call whose object has its results."""
        part = super().write_result(call, texts, failed)
        return [part] if call.keys == CALL else part

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:  # noqa: ARG002 - the tool writes all messages
        """Write nothing: a repair never invents a message of this log."""
        return None

    def new_id(self, digest: str) -> str:
        return f"fixed-{digest[:16]}"


CARRIER = make_session(
    "gemini-cli",
    "Gemini CLI session",
    "sessions and subagents: one record per line, with rewinds and replaced histories; one object per file (older versions)",
    shape=Line,
    evidence=_evidence,
    look=_look,
    settle=_settle,
    whole=_whole,
    record_keys=frozenset({"projectHash"}),
    writer=GeminiCliWriter(),
    states={f"status: {name}": state for name, state in STATES.items()},
)  # fmt: skip
