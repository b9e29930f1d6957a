"""The syntax of a request wire as tables, for the native reader.

A format declares its tables as `SYNTAX`. They name the keys of each object and the meaning of each key. A key or a kind
without a row makes the plain reader take the record: a table may lack rows, but a row must be true.
"""

from collections.abc import Mapping

from msgspec import Struct

from turnlint.model import Role


class PieceSyntax(Struct, frozen=True):
    """A kind of object: a piece of a message, or a part of an output."""

    piece: str
    """One of the native `PIECES`."""
    needed: str = ""
    """Keys that it must have, separated by spaces."""
    also: str = ""
    """Other keys that it may have."""
    prefix: str = ""
    """How the id of such an item begins."""
    mark: str = ""
    """A mark of a conversation that has such a piece."""


class ObjectSyntax(Struct, frozen=True):
    """An object: the meaning of its keys, and its kinds."""

    keys: Mapping[str, str]
    """The action for each key, as `ACTION` or `ACTION:ARGUMENT`; the argument names another object or a mark."""
    kinds: Mapping[str, PieceSyntax] = {}
    by_key: bool = False
    """The key that it has shows its kind; else its `type`."""
    default: str = ""
    """The kind of an object without a type."""
    place: str = ""
    """How `UnknownKey.place` names this object; nothing where no provider checks its keys."""
    is_envelope: bool = False
    is_open: bool = False
    """Other keys have no meaning."""


class MessageClass(Struct, frozen=True):
    """A class of messages."""

    written: str
    """The role as written; empty for items and messages without a role."""
    role: Role
    calls: bool = False
    results: bool = False


class WireSyntax(Struct, frozen=True):
    """The syntax of one wire."""

    messages: str
    """The key of the list of messages."""
    classes: tuple[MessageClass, ...]
    """At most seven; a message of another class has no facts."""
    shapes: Mapping[str, ObjectSyntax]
    """`message`, and the objects below it."""
    items: bool = False
    """Messages, calls and results are items of one list."""
    result_role: str = ""
    """The written role of messages that are one result each."""
    result_types: tuple[str, ...] = ()
    """`Result.kind` of a message that is a result."""
    window: tuple[Role, ...] = ("tool",)
    joins: bool = False
    anywhere: bool = False
    idless: bool = False
    """Calls need no id; results without one follow in the order of the calls."""
    needs_call_type: bool = False
    needs_arguments: bool = False
    """Arguments are an object, and never absent."""
    keep: tuple[str, ...] = ()
    """Keys of the envelope whose value the reader of the format needs."""
    samples: tuple[bytes, bytes] = (b"", b"")
    """Messages by which a format is recognized, in place of those of a record: without calls, and with calls."""
    wrapped: tuple[str, ...] = ("request", "request_body", "body", "params", "inputBodyJson", "content")
    """Keys of a record that may hold the request."""
