"""What is told of a source.

This module owns those values; written as JSON they are `turnlint/inspect-v1`. It refuses to find any of them out, and to
lay them out. Content has no place among them but in `Example.shown`, which is never written as JSON.
"""

from typing import Literal

from msgspec import Struct

from turnlint.neighbours.families import Family

Layout = Literal["lines", "array", "document", "documents", "nothing"]
"""A record a line; the elements of one array; one JSON text; several one after another, over lines as they like."""
Packing = Literal["gzip", "zstd"]


class Place(Struct, frozen=True):
    line: int
    pointer: str


class Container(Struct, frozen=True, kw_only=True):
    """How the file holds its records."""

    packing: Packing | None
    layout: Layout
    size: int
    """In bytes, as it lies there."""
    unpacked: int
    records: int


class Evidence(Struct, frozen=True, kw_only=True):
    """What the records that were looked at say for a format."""

    format: str
    title: str
    own: int
    """Records with something in them that only this format has."""
    possible: int
    """Records that could be this format's, and others' as well."""
    against: int


class Recognition(Struct, frozen=True, kw_only=True):
    """How the format was found."""

    sampled: int
    told: bool
    """The user said which it is."""
    format: Evidence | None
    others: tuple[Evidence, ...]
    """Other formats that some records speak for, the nearest first."""


class Key(Struct, frozen=True):
    name: str
    type: str


class Look(Struct, frozen=True):
    """What one record looks like: its kind, and its keys where it has some."""

    line: int
    type: str
    keys: tuple[Key, ...]
    more: int
    """How many keys are not told."""


class Near(Struct, frozen=True):
    """A format, and which of the keys by which it is known are there."""

    format: str
    has: tuple[str, ...]
    lacks: tuple[str, ...]


class Unknown(Struct, frozen=True):
    nearest: tuple[Near, ...]
    resembles: tuple[Family, ...]
    looks: tuple[Look, ...]
    near: str | None
    """The name of what it looks like, which `lint` and `fix` give as well."""
    sentence: str
    """What `lint` and `fix` say of it."""


class Named(Struct, frozen=True):
    name: str
    count: int


class Names(Struct, frozen=True):
    """Names with their counts, the most frequent first; `more` are not told."""

    names: tuple[Named, ...]
    more: int


class Provider(Struct, frozen=True, kw_only=True):
    """Whose rules `auto` takes, and what says so."""

    provider: str | None
    """Nothing where the record names somebody whose rules are not known."""
    because: tuple[str, ...]
    certain: bool
    """Else what it refuses is no error, for only a model's name tells."""
    projection: bool
    """Else its form is judged only where the user names a provider: it is a log and no request."""
    conversations: int


class Part(Struct, frozen=True):
    """A part of a session that is not sent again."""

    why: str
    messages: int


class Grouping(Struct, frozen=True, kw_only=True):
    """How conversations lie in records."""

    conversations: int
    record: int
    """Each within one record."""
    lines: int
    """Each in many records that hold a message."""
    session: int
    """Each in many records of an agent's own log."""
    left_behind: tuple[Part, ...]
    more_left_behind: int


class Counts(Struct, frozen=True, kw_only=True):
    messages: int
    roles: dict[str, int]
    calls: int
    server_calls: int
    unanswered: int
    waiting: int
    """Calls at the end, which may still be answered."""
    results: int
    orphans: int
    duplicates: int
    thoughts: int
    signed_thoughts: int
    ciphered_thoughts: int
    declared_tools: int


class Ids(Struct, frozen=True, kw_only=True):
    """What the ids of calls are like."""

    given: int
    absent: int
    redacted: int
    reused: int
    """Calls whose id another call of their conversation has already."""
    canonical: int
    longest: int
    forms: dict[str, int]


class Quirk(Struct, frozen=True):
    """Something that a reader of this file must be ready for."""

    name: str
    what: str
    count: int
    first: Place | None


class Example(Struct, frozen=True, kw_only=True):
    """One call, without its values."""

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
    """Beginnings of its arguments and of its result, where content may be shown."""


class Able(Struct, frozen=True, kw_only=True):
    """What the other commands can do with it."""

    lint: bool
    projection: Literal["auto", "named", "mixed"]
    """Whether `auto` holds it against a provider's form, or only one that the user names."""
    fix: bool
    in_place: bool
    bound: tuple[str, ...]
    """Why it is not rewritten in place."""
    adds: bool
    """Results and messages can be added, not only moved, renamed and removed."""
    render: bool


class Content(Struct, frozen=True, kw_only=True):
    """What a source of a known format holds."""

    formats: dict[str, int]
    """Conversations by the format they were read as."""
    wires: dict[str, int]
    grouping: Grouping
    providers: tuple[Provider, ...]
    models: Names
    counts: Counts
    tools: Names
    arguments: dict[str, int]
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
