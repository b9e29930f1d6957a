"""Define the syntax of a request wire as tables for the native parser.

A format declares its tables as `SYNTAX`. They name the keys of each object and the meaning of each key. For a key or a
kind without a row, the Python parser parses the record: a table may lack rows, but a row must be true.
"""

from collections.abc import Mapping

from msgspec import Struct

from turnlint.model import Role

GIVEN = 1 << 8
"""The flag of the first column, which is set if the column is loose and the line has its key."""
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
"""In the order of `native/syntax.h`."""
_ROLE_SHIFT, _ROLE_BITS = 24, 7
HAS_CONTENT = 1 << 28
"""The flag of a line of a session whose message has a content."""


def role_in(flags: int) -> Role | None:
    """Return the role of the message of a line of a session."""
    number = flags >> _ROLE_SHIFT & _ROLE_BITS
    return ROLES[number - 1] if number else None


class PieceSyntax(Struct, frozen=True):
    """A kind of object: a piece of a message, or a part of an output."""

    piece: str
    """One of the native `PIECES`."""
    needed: str = ""
    """Required keys, separated by spaces."""
    also: str = ""
    """Optional keys, separated by spaces."""
    mark: str = ""
    """A mark that such a piece sets on its conversation."""
    means: tuple[str, ...] = ()
    """The possible kinds of such a part of an output, if its data decide the kind; else it has its own name."""
    speaker: str = ""
    """The role of messages with such parts, if it is fixed: `assistant`, or `others`."""
    tool: str = ""
    """The name of the tool, if all calls of this kind have one; their arguments have a form of the tool.

    For a kind of lines a word: if it may be in the payload, the line has no facts.
    """
    may_be_hosted: bool = False
    """Whether the provider may run the tool: without an id such a call or result needs no partner."""


class ObjectSyntax(Struct, frozen=True):
    """An object: the meaning of its keys, and its kinds."""

    keys: Mapping[str, str]
    """The action for each key, as `ACTION` or `ACTION:ARGUMENT`; the argument names another object or a mark."""
    kinds: Mapping[str, PieceSyntax] = {}
    by_key: bool = False
    """Whether a key determines the kind of the object; else its `type` does."""
    default: str = ""
    """The kind of an object without a type."""
    place: str = ""
    """The name of this object in `UnknownKey.place`; empty where no provider checks its keys."""
    is_envelope: bool = False
    is_open: bool = False
    """Whether other keys are allowed, without a meaning."""


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
    """At most seven classes; a message of another class has no facts."""
    shapes: Mapping[str, ObjectSyntax]
    """`message`, and the objects below it; of a session also `line`, whose kinds are types of lines."""
    items: bool = False
    """Whether messages, calls and results are items of one list."""
    result_role: str = ""
    """The role as written of messages that are one result each."""
    result_types: tuple[str, ...] = ()
    """`Result.kind` of a message that is a result."""
    window: tuple[Role, ...] = ("tool",)
    joins: bool = False
    anywhere: bool = False
    idless: bool = False
    """Whether calls need no id. Results without an id follow in the order of the calls."""
    list_roles: tuple[str, ...] = ()
    """Roles as written whose content is always a list."""
    has_bare_lines: bool = False
    """Whether a line of a session may be the message itself."""
    may_be_empty: bool = False
    """Whether a message may have nothing at all in it."""
    needs_call_type: bool = False
    needs_arguments: bool = False
    """Whether arguments must be an object, and never absent."""
    keep: tuple[str, ...] = ()
    """Keys of the envelope whose value the parser of the format needs."""
    samples: tuple[bytes, bytes] = (b"", b"")
    """Messages by which a format is detected, in place of those of a record: without calls, and with calls."""
    evidence: Mapping[str, bytes] = {}
    """Keys by which a format is detected, with a value for the sample of a record that has the key.

    They are keys of messages, or, with `call.` before them, of calls. An object as the value is a message of its own, behind
    the calls.
    """
    columns: tuple[str, ...] = ()
    """Texts that the native parser returns of a line of a session; `column:NAME`, `loose:NAME` and `number:NAME` fill them.

    A loose column may have a value of any kind, and the flags of a line show whether it has the key (`GIVEN`).
    """
    flags: tuple[str, ...] = ()
    """Booleans of such a line; `flag:NAME` sets them if the value is true, `given:NAME` if it is not null."""
    wrapped: tuple[str, ...] = ("request", "request_body", "body", "params", "inputBodyJson", "content")
    """Keys of a record that may hold the request."""
