"""Define the interface between a format and the engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import Decoded, Shape
from turnlint.model import Misfit, Record, State, Transcript

if TYPE_CHECKING:
    from turnlint.carrying.syntax import WireSyntax

SPEAKS, NEUTRAL, STRANGE = 100, 1, -100
"""The evidence of one part of a record: specific to this format, shared by several, specific to another.

Any number of shared parts weighs less than one block that is specific to a format.
"""


class Stray(Struct, frozen=True):
    """A record without anything that this format has."""

    record: Record
    misfit: Misfit | None
    """The value in place of a conversation, if any."""
    expected: bool = False
    """Whether records of this family may be without a conversation: an error response, an expired batch line."""


class AcceptedConversation(Stray, frozen=True):
    """A conversation that a scanner accepted without findings. It counts as a conversation."""


class Carrier(Struct, frozen=True):
    """A log format."""

    name: str
    title: str
    about: str
    sniff: Callable[[Decoded[Any]], int]
    """Return the evidence of a decoded record for this format; below zero, the evidence against it."""
    shape: Shape[Any]
    open: Callable[[], "Reader"]
    record_keys: frozenset[str]
    """Keys each of which identifies an object as a record of this format."""
    message_keys: frozenset[str]
    """Keys each of which identifies an object as a message of this format."""
    writer: MessageWriter | None = None
    """Without a writer, a repair adds nothing to the format."""
    states: Mapping[str, State] = {}
    """States of a call by a mark of its result, as `key: value`; other results are complete."""
    wires: frozenset[str] = frozenset()
    """Further names of its conversations, where the format covers more than one wire."""

    syntax: "WireSyntax | None" = None
    """The tables for the native parser; a format without them has no fast path for requests."""
    session: bool = False
    """Whether the format is an agent's own log, over which no wire is preferred."""
    beside: Callable[[str], tuple[str, ...]] | None = None
    """Return patterns of the other files of a session, from the path of one of them."""
    is_whole: Callable[[Decoded[Any]], bool] | None = None
    """Return whether a record holds its whole conversation, so that its format does not depend on other records."""

    def read(self, stream: Iterable[Decoded[Any]]) -> Iterator[Transcript | Stray]:
        """Yield all conversations and stray records of a stream."""
        reader = self.open()
        for decoded in stream:
            yield from reader.feed(decoded)
        yield from reader.finish()


class Reader(Protocol):
    """The state of reading one source: it takes records and returns conversations as they become complete.

    A decoded record is read once. It may have very many messages, each released when it is read.
    """

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]: ...
    def finish(self) -> Iterable[Transcript | Stray]: ...
