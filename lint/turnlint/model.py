"""Define the neutral conversation: the content of all wires without their encoding.

These values pass between the layers. They depend on no wire, no file and no rule, and have no behaviour.
"""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from turnlint.steps import Step

Pointer = tuple[str | int, ...]
"""Keys and indices from the root of a record down to one value."""

Role = Literal["system", "user", "assistant", "tool", "other"]
Severity = Literal["error", "warning", "info"]
Fault = Literal["state", "pairing", "projection", "contract"]
Level = Literal["lossless", "placeholder", "lossy"]
Reach = Level | Literal["never"]
"""Level of repairs for one rule."""
State = Literal["pending", "complete", "cancelled", "error"]
Life = Literal["stable", "preview", "deprecated"]
"""Stability of a rule: it stays as it is, it may still change, or it will be removed."""
Arguments = Literal["object", "nothing", "other", "unfit", "broken", "torn", "free"]
"""Kind of a call's arguments.

A JSON object; absent, null or blank; a text with other JSON; other JSON in place of the object; a text that
is no JSON; a truncated text; or free text in the tool's own grammar.
"""

Written = Literal["absent", "null", "text", "object", "list", "other"]
"""The JSON kind of a value on the wire."""
Content = Literal["absent", "null", "text", "blank", "parts", "no-parts", "other"]
"""Kind of a message's content: a text, a text of nothing but white space, parts, an empty list, any other value."""
Signature = Literal["absent", "blank", "given", "bypass", "unfit"]
"""A proof by the provider that a thought is its own: `bypass` is the word for none, `unfit` is no text."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class Keys(Struct, frozen=True, gc=False):
    """The pointers, below a block, of the three values to which rules point."""

    id: Pointer
    name: Pointer
    body: Pointer


class Call(Struct, frozen=True, gc=False):
    """A call of a tool by the model."""

    at: Pointer
    keys: Keys
    id: str | None
    name: str | None
    body: bytes
    """The arguments, only for comparing two calls: long ones may be represented by a digest."""
    arguments: Arguments
    server: bool = False
    """Whether the provider runs this tool itself and adds the result in the same turn."""
    needs_id: bool = True
    dialect: str | None = None
    """The wire whose encoding this is, if it is not that of the transcript."""
    written: Written = "object"
    """Encoding of the arguments: JSON inside a text, or the object itself."""
    kind: str = ""
    """The type of this piece on the wire; empty where a required type is missing."""
    item: str | None = None
    """The id of the piece itself, on wires where the call has another."""
    signature: Signature = "absent"
    also: tuple["Call", ...] = ()
    """The same call where the message has it once more: frameworks keep it in the content and beside it."""


class Result(Struct, frozen=True, gc=False):
    """The result of a tool."""

    at: Pointer
    keys: Keys
    id: str | None
    name: str | None
    body: bytes
    """The content, only for comparing two results: a long one may be represented by a digest."""
    server: bool = False
    needs_id: bool = True
    dialect: str | None = None
    complete: bool | None = None
    error: bool | None = None
    value: bool | None = None
    """Lifecycle marks, `None` where the wire has no such mark: it is complete, has an error, has a value."""
    status: State | None = None
    """The state that a key of the format names, where it has such a key; `lifecycle` gives the state by all marks."""
    synthetic: bool = False
    """Whether a repair wrote it, and not a tool."""
    cancelled: bool = False
    """Whether its text says only that the call was cancelled, where `body` is a digest of this text."""
    written: Written = "text"
    """Encoding of the content."""
    parts: tuple[str, ...] = ()
    """Kinds of the parts of its content, each once, in order.

    Examples are `text`, `image`, `json`, `json-other` for JSON that is no object, and `document`.
    """
    may_be_file: bool = False
    """Whether a part may be a file that the provider keeps, or a sound: some providers reject these in results."""
    kind: str = ""
    item: str | None = None


class Text(Struct, frozen=True, gc=False):
    at: Pointer
    call_marker: str | None = None
    """The opening mark of a call that the model wrote as text, if there is one."""
    trailing: bool = False
    """Whether it ends in white space."""
    grammar: str = ""
    """The name of the grammar to which that mark belongs."""


class Blank(Struct, frozen=True, gc=False):
    """A blank piece of text, which most wires ignore and some reject."""

    at: Pointer
    before: int = 0
    """Number of blocks of its message before it."""
    white: bool = False
    """Whether it has white space; otherwise it is empty."""
    hollow: bool = False
    """Whether it is a piece without any content, not a text."""


class Thinking(Struct, frozen=True, gc=False):
    at: Pointer
    kind: str = "thinking"
    words: bool = True
    """Whether it has a text of its own, not only a signature or a cipher."""
    signature: Signature = "absent"
    cipher: bool = False
    """Whether it has an encrypted form of itself."""
    item: str | None = None
    summed: bool = True
    """Whether it has the key of its summary, on wires where reasoning is an item."""


class Other(Struct, frozen=True, gc=False):
    """A piece that pairing ignores: an image, a refusal, a document."""

    at: Pointer
    kind: str
    dialect: str | None = None


Block = Text | Thinking | Call | Result | Other


class Break(Struct, frozen=True, gc=False):
    """A line break that split a record."""

    at: int
    """Offset in the bytes of the joined record."""
    old: bytes
    """The line end in the file."""
    new: bytes
    """The bytes of the record in its place: an escape, or nothing."""


class Known(Struct, frozen=True, gc=False):
    """The result of the native scanner for a record that needs the plain reader."""

    format: str
    rules: frozenset[str]
    """Triggers and codes of the rules that may report something."""


class Record(Struct, gc=False):
    """One framed JSON text of a file: a line, an array element, or the whole document."""

    line: int
    offset: int
    data: bytes
    """Empty for a record that was released and can be read again."""
    prefix: Pointer = ()
    """Pointer of the record in a document with several records."""
    column: int = 1
    """Column in its line at which it starts, in characters."""
    size: int = 0
    """Size in bytes, after it was released."""
    kept: bool = False
    """Whether it is being repaired, so that it is never released."""
    once: bool = False
    """Its source cannot be read again, so a release moves its bytes to `spare`."""
    spare: bytes = b""
    """The bytes of a released record whose source cannot be read again."""
    extra: tuple[int, int] = (0, 0)
    """Difference of the length before it in its line in bytes, and in UTF-16, to that in characters."""
    plain: bool = False
    """Whether it is known to be JSON that every decoder reads completely."""
    known: Known | None = None
    breaks: tuple[Break, ...] = ()
    """The line breaks that split it in its file; its bytes are those without them."""


class Gap(Struct, frozen=True, gc=False):
    """A record that may have an unknown call or result."""

    line: int
    offset: int
    until: int
    """The offset of the last record, if this value represents several records; else the same offset."""
    what: str = "is unreadable"
    """The problem of its line."""
    is_cut: bool = False
    """Whether it is truncated."""
    names: frozenset[str] = frozenset()
    """The conversations to which it may belong; empty if it may belong to any."""


class Misfit(Struct, frozen=True, gc=False):
    """A position whose JSON kind is not that of the wire."""

    at: Pointer
    expected: str
    found: str
    grave: bool = True
    """False where a value is merely unusual and no provider is known to reject it."""


class Origin(Struct, frozen=True, gc=False):
    """The maker of a message, as its log names it."""

    provider: str | None = None
    model: str | None = None


class Message(Struct, frozen=True, gc=False):
    role: Role
    at: Pointer
    blocks: tuple[Block, ...]
    record: Record
    written_role: str = ""
    id: str | None = None
    parent: str | None = None
    parent_at: Pointer = ()
    """Position in the record of the parent's id; empty in formats without such links."""
    dialect: str | None = None
    """The wire whose role or keys this message has, if it is not that of the transcript."""
    turn_id: str | None = None
    inner_calls: tuple[Pointer, ...] = ()
    """Calls, below `at`, in a place for results only: echoes, which are not paired."""
    empty: bool = False
    """Whether it has no content at all, and the wire would show it to the model."""
    content: Content = "parts"
    blanks: tuple[Blank, ...] = ()
    """Blank texts; they are no blocks."""
    no_calls: bool = False
    """Whether it has an empty list of calls."""
    name: str | None = None
    """Name of the author, where the wire supports it."""
    reasoning: Content = "absent"
    """Content of a key for the model's thoughts beside the content (`reasoning_content`), on wires that have one."""
    prefix: bool = False
    """Whether the model shall continue it."""
    has_odd_text: bool = False
    """Whether a text part has the type of another role, or a type that the wire does not have."""
    kind: str = ""
    """The type of the item, on wires whose messages are items."""
    item: str | None = None
    origin: Origin | None = None
    """Provider and model of a message of the assistant, in logs that name them for each message."""
    response: str | None = None
    """Id of the provider's response of which the message is a part, in logs that keep it."""

    def calls_in(self, result: Result) -> tuple[Pointer, ...]:
        """Return the positions of the calls inside a result: in its content, or in the message that is the result."""
        return tuple(one for one in self.inner_calls if one[: len(result.at)] == result.at)


class Wire(Struct, frozen=True):
    """The properties of a wire that the ledger needs."""

    name: str
    window: frozenset[str] = frozenset({"tool"})
    """Roles that may be between a turn and its results without ending the wait for them."""
    joins: bool = False
    """Whether consecutive assistant messages are one turn."""
    idless: bool = False
    """Whether some dialects of it have no ids at all, and pair by position."""
    suspects: bool = False
    """Whether a result without an id and without a waiting call is suspicious, although no provider counts it."""
    counts: bool = False
    """Whether its provider counts results and ignores their names, so that order decides where numbers agree."""
    anywhere: bool = False
    """Whether a result may be anywhere after its call."""
    like: str = ""
    """The request wire with the same encoding of messages, where the format is no request itself."""

    @property
    def speaks(self) -> str:
        return self.like or self.name


class Link(Struct, frozen=True, gc=False):
    """A record of a session that names its parent, or another record, with or without a message."""

    record: Record
    id: str | None
    """Nothing for bookkeeping, which names a record and is never named."""
    parent: str | None
    at: Pointer
    """Pointer of the name of the other record."""
    start: bool = False
    """Whether it names the first record that stays of the past: if that is removed, it means the next one."""


class Declared(Struct, frozen=True, gc=False):
    """A tool that a request offers to the model."""

    at: Pointer
    name: str | None
    kind: str = "function"
    """`function` for the caller's own tools; else the type of the provider."""
    style: str = ""
    """The way in which the tool is declared, such as `openai-function`."""


class Request(Struct, frozen=True):
    """The properties of the request around a conversation."""

    record: Record
    at: Pointer = ()
    """Pointer of the request body in the record."""
    key: str = ""
    """The key of the body that holds the messages; empty where only an answer was recorded."""
    whole: bool = False
    """Whether the record is a request as sent to a provider: it declares tools, or has another key of requests only.
    """
    answered: bool = False
    """Whether the record has the answer too: then a provider has accepted the request."""
    model: str | None = None
    host: str | None = None
    tools: tuple[Declared, ...] | None = None
    """Nothing where the body has no such key."""
    tools_at: Pointer = ()
    thinking: Literal["off", "budget", "adaptive", "unsaid"] = "unsaid"
    thinking_at: Pointer = ()
    """Pointer of that setting."""
    forced: bool = False
    """Whether the model must call a tool."""
    store: bool | None = None
    """Whether the provider shall keep the conversation; nothing where the body does not state it."""


class Unread(Struct, frozen=True, gc=False):
    """The further messages of a conversation, which were only scanned: each call has its result, and each result its call."""

    messages: int
    calls: int
    results: int


class Omitted(Struct, frozen=True, gc=False):
    """A call or a result that a compaction removed from a conversation, at a place that still has it."""

    piece: Call | Result
    wire: Wire
    record: Record
    """The record of the piece. In another file it has no place in the file of the conversation."""
    at: Pointer
    """Pointer of the message in the record."""
    beside: frozenset[str] = frozenset()
    """The ids of the calls of its message."""
    path: str | None = None
    """The file of the piece, if it is not the file of the conversation."""
    message: bytes = b""
    raw: bytes = b""
    """The bytes of the message and of the piece from another file. The file of the conversation has its own."""

    @property
    def place(self) -> Pointer:
        return (*self.at, *self.piece.at)


class Transcript(Struct, frozen=True):
    """One conversation as it would be replayed."""

    wire: Wire
    messages: tuple[Message, ...]
    index: int = 0
    id: str | None = None
    headless: bool = False
    """Whether earlier messages are stored elsewhere: a first result may belong to a call that is not here."""
    open_end: bool = False
    """Whether such a record may end with an unanswered call: a training sample, a recorded response."""
    misfits: tuple[tuple[Record, Misfit], ...] = ()
    request: Request | None = None
    identity: str = ""
    """Identity of a conversation without an id, for conversations whose bytes are released."""
    dead: str = ""
    """The reason why none of this would be replayed, for an abandoned part of a session."""
    unread: Unread | None = None
    """Further messages of an abandoned part. Calls without a result are then none, also not among `messages`."""
    beside: tuple[Record, ...] = ()
    """The records that decide what would be replayed: the conversation is complete only with them."""
    links: tuple[Link, ...] = ()
    """The links between its records, in the order of writing as far as that is known."""
    bound: str = ""
    """The reason why its file must not be rewritten in place, where another file depends on its bytes."""
    noted: tuple[tuple[str, int], ...] = ()
    """Deviations that a summary counts and no rule checks, by name."""
    answer_at: int | None = None
    """Index of the first message of the recorded answer, where the record has a request and its answer."""
    spread: bool = False
    """Whether its messages are records of a log, so that an unreadable record may belong to it."""
    gaps: tuple[Gap, ...] = ()
    """The unreadable records of its log that may belong to it, in the order of the file."""
    origin: str | None = None
    """The provider that made the calls, if the user named it."""
    stored: bool = False
    """Whether its messages have keys of the program that stores them, so that it is no request body."""
    compaction: Record | None = None
    """The record of the newest compaction, which replaced the messages before it."""
    omitted: tuple[Omitted, ...] = ()
    """Calls of its results, and results of its calls, that only the replaced messages or another file have."""

    @property
    def records(self) -> Iterator[Record]:
        """Return all its records, some of them more than once."""
        return chain((message.record for message in self.messages), self.beside)

    @property
    def is_log(self) -> bool:
        """Whether it is an agent's own log, from which the agent builds its requests, and no request itself."""
        return bool(self.wire.like) or self.stored


class Location(Struct, frozen=True, gc=False):
    """A symbolic position: bytes are located only when a report needs them."""

    record: Record
    at: Pointer
    start: int | None = None
    end: int | None = None
    """A span inside the record's bytes, where a scanner is more exact than a pointer."""


class Fix(Struct, frozen=True):
    """The repair of a finding, and its level."""

    level: Level
    title: str
    steps: "tuple[Step, ...]" = ()
    """Empty where the repair can only be described and not done here."""
    blocked: bool = False
    """Whether it is not made, because an unreadable record may have a missing part."""
    let_go: bool = False
    """Whether its steps were released because no caller needs them."""
    seeks: str | None = None
    """The id of a missing call. If another file has this call, a repair adds it instead."""

    @property
    def is_done_here(self) -> bool:
        """Whether `fix` makes the repair, and not the user."""
        return bool(self.steps) or self.let_go

    def lean(self) -> "Fix":
        """Return only the parts that are shown."""
        return Fix(self.level, self.title, blocked=self.blocked, let_go=self.is_done_here)


class Related(Struct, frozen=True):
    note: str
    where: Location
    message: int | None = None


class Finding(Struct, frozen=True):
    """One error in one position."""

    code: str
    rule: str
    fault: Fault
    severity: Severity
    message: str
    where: Location
    conversation: str | None = None
    conversation_index: int | None = None
    message_index: int | None = None
    label: str = ""
    """A short note to show under the position in a report."""
    call_id: str | None = None
    tool: str | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    provider: str | None = None
    provider_error: str | None = None
    kind: str = ""
    """The type of the call or result at the position, as the wire writes it."""
