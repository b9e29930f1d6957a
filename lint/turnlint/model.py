"""The neutral conversation: what every wire says once its spelling is taken away.

This module owns the values that pass between the layers. It refuses to know any wire, any file
and any rule; nothing here does anything.
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
"""How far a repair may go for one rule."""
State = Literal["pending", "complete", "cancelled", "error"]
Life = Literal["stable", "preview", "deprecated"]
"""What may be expected of a rule: that it stays as it is, that it may still change, or that it will go."""
Arguments = Literal["object", "nothing", "other", "unfit", "broken", "torn", "free"]
"""What a call's arguments are: a JSON object; absent, null or blank; a text that holds other JSON; other JSON
in place of the object; a text that is no JSON; one that ends too early; or free text by the tool's own grammar."""

Written = Literal["absent", "null", "text", "object", "list", "other"]
"""The JSON kind of a value as the wire has it."""
Content = Literal["absent", "null", "text", "blank", "parts", "no-parts", "other"]
"""What a message's content is: a text, a text of nothing but white space, parts, an empty list, anything else."""
Signature = Literal["absent", "blank", "given", "bypass", "unfit"]
"""A proof by the provider that a thought is its own: `bypass` is the word that stands for none, `unfit` is no text."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class Keys(Struct, frozen=True, gc=False):
    """Where, below a block, a wire writes the three things rules point at."""

    id: Pointer
    name: Pointer
    body: Pointer


class Call(Struct, frozen=True, gc=False):
    """The model asks for a tool."""

    at: Pointer
    keys: Keys
    id: str | None
    name: str | None
    body: bytes
    """The arguments, good for telling two calls apart and nothing else: a digest may stand for long ones."""
    arguments: Arguments
    server: bool = False
    """The provider runs this tool itself and answers inside the same turn."""
    needs_id: bool = True
    dialect: str | None = None
    """The wire whose spelling this is, when it is not the transcript's own."""
    written: Written = "object"
    """How the arguments are written: as JSON inside a text, or as the object itself."""
    kind: str = ""
    """The type that the wire writes for this piece; empty where it must write one and does not."""
    item: str | None = None
    """The id of the piece itself, on wires where the call has another."""
    signature: Signature = "absent"
    also: tuple["Call", ...] = ()
    """The same call where the message has it once more: frameworks keep it in the content and beside it."""


class Result(Struct, frozen=True, gc=False):
    """A tool's answer."""

    at: Pointer
    keys: Keys
    id: str | None
    name: str | None
    body: bytes
    """The content, good for telling two results apart and nothing else: a digest may stand for a long one."""
    server: bool = False
    needs_id: bool = True
    dialect: str | None = None
    complete: bool | None = None
    error: bool | None = None
    value: bool | None = None
    """Lifecycle marks, `None` where the wire has no such mark: said to be complete, carries an error, carries a value."""
    state: State = "complete"
    """How far the call got, by all marks together."""
    synthetic: bool = False
    """Written by a repair, not by a tool."""
    written: Written = "text"
    """How the content is written."""
    parts: tuple[str, ...] = ()
    """Kinds of what its content holds, each once, in order: `text`, `image`, `json`, `json-other` for JSON that is
    no object, `document`, and so on."""
    kind: str = ""
    item: str | None = None


class Text(Struct, frozen=True, gc=False):
    at: Pointer
    call_marker: str | None = None
    """The opening mark of a call that the model wrote as text, where there is one."""
    trailing: bool = False
    """It ends in white space."""


class Blank(Struct, frozen=True, gc=False):
    """A piece of text that says nothing, which most wires ignore and some refuse."""

    at: Pointer
    before: int = 0
    """How many blocks of its message stand before it."""
    white: bool = False
    """It has white space in it; else it is empty."""


class Thinking(Struct, frozen=True, gc=False):
    at: Pointer
    kind: str = "thinking"
    words: bool = True
    """It has a text of its own, not only a signature or a cipher."""
    signature: Signature = "absent"
    cipher: bool = False
    """It carries an encrypted form of itself."""
    item: str | None = None


class Other(Struct, frozen=True, gc=False):
    """Something the wire carries that pairing does not look at: an image, a refusal, a document."""

    at: Pointer
    kind: str
    dialect: str | None = None


Block = Text | Thinking | Call | Result | Other


class Break(Struct, frozen=True, gc=False):
    """A line break that split a record."""

    at: int
    """Where in the bytes of the joined record."""
    old: bytes
    """The line end in the file."""
    new: bytes
    """What the record has in its place: an escape, or nothing."""


class Known(Struct, frozen=True, gc=False):
    """What the native scanner knows of a record that needs the plain reader."""

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
    """Where the record stands in a document that holds several."""
    column: int = 1
    """Where in its line it starts, in characters."""
    size: int = 0
    """How many bytes it has, once it was released."""
    kept: bool = False
    """It is being repaired, so it is never released."""
    once: bool = False
    """Its source cannot be read again, so a release moves its bytes to `spare`."""
    spare: bytes = b""
    """The bytes of a released record whose source cannot be read again."""
    extra: tuple[int, int] = (0, 0)
    """By how much what stands before it in its line is longer in bytes, and in UTF-16, than in characters."""
    plain: bool = False
    """It is known to be JSON of which no decoder misses anything."""
    known: Known | None = None
    breaks: tuple[Break, ...] = ()
    """The line breaks that split it in its file; its bytes are those without them."""


class Gap(Struct, frozen=True, gc=False):
    """A record that may hold a call or a result which is not known."""

    line: int
    offset: int
    until: int
    """The offset of the last record, if this value represents several records; else the same offset."""
    what: str = "is unreadable"
    """What is wrong with its line."""
    is_cut: bool = False
    """It ends in the middle."""
    names: frozenset[str] = frozenset()
    """The conversations that it may belong to; empty where it may be any."""


class Misfit(Struct, frozen=True, gc=False):
    """A place whose JSON kind is not what the wire has there."""

    at: Pointer
    expected: str
    found: str
    grave: bool = True
    """False where something is merely unusual and no provider is known to refuse it."""


class Message(Struct, frozen=True, gc=False):
    role: Role
    at: Pointer
    blocks: tuple[Block, ...]
    record: Record
    written_role: str = ""
    id: str | None = None
    parent: str | None = None
    parent_at: Pointer = ()
    """Where in the record it names its parent; nowhere in formats without such links."""
    dialect: str | None = None
    """The wire whose role or keys this message has, when it is not the transcript's own."""
    turn_id: str | None = None
    inner_calls: tuple[Pointer, ...] = ()
    """Calls, below `at`, that stand where only results belong: echoes, which pair with nothing."""
    empty: bool = False
    """Nothing at all in it, and the wire would show it to the model."""
    content: Content = "parts"
    blanks: tuple[Blank, ...] = ()
    """Texts that say nothing; they are no blocks."""
    no_calls: bool = False
    """It has a list of calls with none in it."""
    name: str | None = None
    """Who speaks, where the wire lets a message say so."""
    reasoning: Content = "absent"
    """What a key beside the content holds of the model's thoughts (`reasoning_content`), on wires that have one."""
    prefix: bool = False
    """It says that the model shall go on from it."""
    kind: str = ""
    """The type of the item, on wires whose messages are items."""
    item: str | None = None

    def calls_in(self, result: Result) -> tuple[Pointer, ...]:
        """The places of the calls inside a result: in its content, or in the message that is the result."""
        return tuple(one for one in self.inner_calls if one[: len(result.at)] == result.at)


class Wire(Struct, frozen=True):
    """What the ledger must know of a wire, as data."""

    name: str
    window: frozenset[str] = frozenset({"tool"})
    """Roles that may stand between a turn and its results without ending the wait for them."""
    joins: bool = False
    """Consecutive assistant messages are one turn."""
    idless: bool = False
    """Some dialects of it have no ids at all, and pair by position."""
    suspects: bool = False
    """A result without an id that no call waits for is suspicious, though no provider counts it."""
    counts: bool = False
    """Its provider counts results and does not look at their names, so where numbers agree, order decides."""
    anywhere: bool = False
    """A result may stand anywhere after its call."""
    like: str = ""
    """The request wire whose spelling of messages this is, where the format is not one itself."""

    @property
    def speaks(self) -> str:
        return self.like or self.name


class Link(Struct, frozen=True, gc=False):
    """A record of a session that names its parent, or another one, whether it holds a message or not."""

    record: Record
    id: str | None
    """Nothing for bookkeeping, which names a record and is none that others name."""
    parent: str | None
    at: Pointer
    """Where it names the other one."""
    start: bool = False
    """It names the first of what stays of the past: where that goes, the next one is meant."""


class Declared(Struct, frozen=True, gc=False):
    """A tool that a request offers to the model."""

    at: Pointer
    name: str | None
    kind: str = "function"
    """`function` for the caller's own; else the type the provider knows it by."""


class Request(Struct, frozen=True):
    """What a record says about the request around its conversation."""

    record: Record
    at: Pointer = ()
    """Where in the record the request body stands."""
    key: str = ""
    """The key of the body that holds the messages; nothing where only an answer was kept."""
    whole: bool = False
    """The record is a request as a provider gets it: it declares tools, or has another key that only requests have."""
    answered: bool = False
    """The record holds the answer too: whoever gave it has accepted the request."""
    model: str | None = None
    host: str | None = None
    tools: tuple[Declared, ...] | None = None
    """Nothing where the body has no such key."""
    tools_at: Pointer = ()
    thinking: Literal["off", "budget", "adaptive", "unsaid"] = "unsaid"
    forced: bool = False
    """The model must call a tool."""
    store: bool | None = None
    """Whether the provider shall keep the conversation; nothing where the body does not say."""


class Transcript(Struct, frozen=True):
    """One conversation as it would be replayed."""

    wire: Wire
    messages: tuple[Message, ...]
    index: int = 0
    id: str | None = None
    headless: bool = False
    """What came before is kept elsewhere: a first result may answer a call that is not here."""
    open_end: bool = False
    """A last unanswered call is how such a record ends: a training sample, a recorded response."""
    misfits: tuple[tuple[Record, Misfit], ...] = ()
    request: Request | None = None
    identity: str = ""
    """What tells it from others where it has no id, for conversations whose bytes are let go."""
    dead: str = ""
    """Why none of this would be replayed, for a part of a session that was left behind."""
    beside: tuple[Record, ...] = ()
    """The records that say what would be replayed: the conversation is what it is only together with them."""
    links: tuple[Link, ...] = ()
    """By which its records hang together, in the order in which they were written as far as that is known."""
    bound: str = ""
    """Why its file must not be rewritten in place, where something else relies on its bytes."""
    noted: tuple[tuple[str, int], ...] = ()
    """What a summary counts and no rule checks, by its name."""
    answer_at: int | None = None
    """Index of the first message of the recorded answer, where the record holds a request and its answer."""
    spread: bool = False
    """Its messages are records of a log, so that an unreadable record may belong to it."""
    gaps: tuple[Gap, ...] = ()
    """The unreadable records of its log that may belong to it, in the order of the file."""
    stored: bool = False
    """Its messages have keys of the program that stores them, so it is no request body."""

    @property
    def records(self) -> Iterator[Record]:
        """All that it is read from, some of it more than once."""
        return chain((message.record for message in self.messages), self.beside)

    @property
    def is_log(self) -> bool:
        """An agent's own log, from which it builds its requests, and no request itself."""
        return bool(self.wire.like) or self.stored


class Location(Struct, frozen=True, gc=False):
    """Where something is written, still symbolic: bytes are looked up only when a report needs them."""

    record: Record
    at: Pointer
    start: int | None = None
    end: int | None = None
    """A span inside the record's bytes, where a scanner knows better than a pointer."""


class Fix(Struct, frozen=True):
    """How a finding is repaired, and how much has to be given up for it."""

    level: Level
    title: str
    steps: "tuple[Step, ...]" = ()
    """Nothing where it can be said what to do but not done here."""
    blocked: bool = False
    """It is not made, because an unreadable record may hold what it needs."""
    let_go: bool = False
    """Its steps were, once nobody was to take them any more."""

    @property
    def is_done_here(self) -> bool:
        """Whether `fix` does it, rather than its user."""
        return bool(self.steps) or self.let_go

    def lean(self) -> "Fix":
        """All that is shown of it."""
        return Fix(self.level, self.title, blocked=self.blocked, let_go=self.is_done_here)


class Related(Struct, frozen=True):
    note: str
    where: Location
    message: int | None = None


class Finding(Struct, frozen=True):
    """One thing that is wrong, in one place."""

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
    """A few words to stand under the very place, where a report shows it."""
    call_id: str | None = None
    tool: str | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    provider: str | None = None
    provider_error: str | None = None
    kind: str = ""
    """The type of the call or result it stands at, as the wire writes it."""
