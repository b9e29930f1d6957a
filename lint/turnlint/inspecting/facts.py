"""Define the facts about a source; as JSON they are `turnlint/inspect-v1`.

Only `Example.shown` has content of a conversation, and it is never written as JSON.
"""

from typing import Literal

from msgspec import Struct

from turnlint.neighbours.families import Family

Layout = Literal["lines", "array", "document", "documents", "nothing"]
"""Each record on a line; elements of one array; one JSON text; several texts, independent of lines; no record."""
Packing = Literal["gzip", "zstd"]


class Place(Struct, frozen=True):
    line: int
    pointer: str


class Container(Struct, frozen=True, kw_only=True):
    """How the file holds its records."""

    packing: Packing | None
    layout: Layout
    size: int
    """Bytes on the disk."""
    unpacked: int
    records: int


class Evidence(Struct, frozen=True, kw_only=True):
    """Evidence of the sampled records for a format."""

    format: str
    title: str
    own: int
    """Records with a feature of this format alone."""
    possible: int
    """Records that fit this format and others."""
    against: int


class Recognition(Struct, frozen=True, kw_only=True):
    """The format and the evidence for it."""

    sampled: int
    told: bool
    """Whether the user named the format."""
    format: Evidence | None
    others: tuple[Evidence, ...]
    """Other formats with some evidence, the most likely first."""


class Key(Struct, frozen=True):
    name: str
    type: str


class Look(Struct, frozen=True):
    """Structure of one record: its type, and its keys if it has any."""

    line: int
    type: str
    keys: tuple[Key, ...]
    more: int
    """Number of keys that are not listed."""


class Near(Struct, frozen=True):
    """A format, with its typical keys that are present and those that are missing."""

    format: str
    has: tuple[str, ...]
    lacks: tuple[str, ...]


class Unknown(Struct, frozen=True):
    nearest: tuple[Near, ...]
    resembles: tuple[Family, ...]
    looks: tuple[Look, ...]
    near: str | None
    """The name of the resembled format, also in messages of `lint` and `fix`."""
    sentence: str
    """The sentence of `lint` and `fix` about it."""


class Named(Struct, frozen=True):
    name: str
    count: int


class Names(Struct, frozen=True):
    """Names with their counts, the most frequent first; `more` names are not listed."""

    names: tuple[Named, ...]
    more: int


class Provider(Struct, frozen=True, kw_only=True):
    """The provider whose rules `auto` applies, and the evidence for it."""

    provider: str | None
    """Nothing where the record names a provider without known rules."""
    because: tuple[str, ...]
    certain: bool
    """Whether the evidence is more than the name of a model; otherwise its rejections are no errors."""
    projection: bool
    """Whether `auto` checks the format of the provider; not in a log, which is no request."""
    conversations: int


class Part(Struct, frozen=True):
    """A part of a session that is not sent again."""

    why: str
    messages: int


class Grouping(Struct, frozen=True, kw_only=True):
    """How conversations are stored in records."""

    conversations: int
    record: int
    """Conversations within one record each."""
    lines: int
    """Conversations in many records with a message each."""
    session: int
    """Conversations in many records of an agent's own log."""
    left_behind: tuple[Part, ...]
    more_left_behind: int


class Counts(Struct, frozen=True, kw_only=True):
    messages: int
    roles: dict[str, int]
    calls: int
    server_calls: int
    unanswered: int
    waiting: int
    """Calls at the end, which may still get a result."""
    results: int
    orphans: int
    duplicates: int
    thoughts: int
    signed_thoughts: int
    ciphered_thoughts: int
    declared_tools: int


class Tooling(Struct, frozen=True, kw_only=True):
    """How calls and tools are written, each with its count."""

    formats: dict[str, int]
    """Calls by the syntax of their arguments: `json`, `xml` or `custom`."""
    parsers: dict[str, int]
    """Calls by the reader that finds them: `WIRE/TYPE`, or `text/GRAMMAR` for a call that was left in a text."""
    schema_styles: dict[str, int]
    """Declared tools by the style of their declaration."""


class Ids(Struct, frozen=True, kw_only=True):
    """Properties of the ids of calls."""

    given: int
    absent: int
    redacted: int
    reused: int
    """Calls with the id of an earlier call in their conversation."""
    canonical: int
    longest: int
    forms: dict[str, int]


class Quirk(Struct, frozen=True):
    """An unusual property that a reader of this file must support."""

    name: str
    what: str
    count: int
    first: Place | None


class Example(Struct, frozen=True, kw_only=True):
    """One call without its values."""

    format: str
    tool: str | None
    id: str
    """The form of its id."""
    length: int | None
    written: str
    arguments: tuple[Key, ...]
    more: int
    call: Place
    result: Place | None
    state: str
    shown: tuple[str, str] = ("", "")
    """Start of its arguments and of its result, if content may be shown."""


class Able(Struct, frozen=True, kw_only=True):
    """What the other commands support for the file."""

    lint: bool
    projection: Literal["auto", "named", "mixed"]
    """Whether `auto` checks the format of a provider, or only a provider that the user names."""
    fix: bool
    in_place: bool
    bound: tuple[str, ...]
    """Reasons why it cannot be rewritten in place."""
    adds: bool
    """Whether results and messages can be added, beside moving, renaming and removing."""
    render: bool


class Content(Struct, frozen=True, kw_only=True):
    """The content of a source in a known format."""

    formats: dict[str, int]
    """Number of conversations by format."""
    wires: dict[str, int]
    grouping: Grouping
    providers: tuple[Provider, ...]
    models: Names
    counts: Counts
    tools: Names
    arguments: dict[str, int]
    tooling: Tooling
    noted: dict[str, int]
    """Counts of items that are not checked or not findings, as in the summary of `lint`."""
    ids: Ids
    quirks: tuple[Quirk, ...]
    example: Example | None
    able: Able


class Inspection(Struct, frozen=True, kw_only=True):
    path: str
    container: Container
    damaged_records: int
    damage: dict[str, int]
    recognition: Recognition
    content: Content | None
    unknown: Unknown | None
    named: bool = True
