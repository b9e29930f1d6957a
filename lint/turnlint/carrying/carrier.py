"""The values between a format and the engine.

This module owns what a carrier is. It refuses to know any.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import Decoded, Shape
from turnlint.model import Misfit, Record, Transcript

if TYPE_CHECKING:
    from turnlint.carrying.syntax import WireSyntax

SPEAKS, NEUTRAL, STRANGE = 100, 1, -100
"""What one thing in a record says for a format: it is this format's own, it could be anyone's, it is another's.

However many words could be anyone's, they never outweigh one block that is a format's own.
"""


class Stray(Struct, frozen=True):
    """A record that holds nothing this format knows."""

    record: Record
    misfit: Misfit | None
    """What stands where a conversation should, if anything does."""
    expected: bool = False
    """Records of this family may be so: an error answer, an expired batch line."""


class Vouched(Stray, frozen=True):
    """A conversation that somebody looked at first, and of which nothing is to be said. It counts as one."""


class Carrier(Struct, frozen=True):
    """A log format."""

    name: str
    title: str
    about: str
    sniff: Callable[[Decoded[Any]], int]
    """How strongly a decoded record speaks for this format; below zero, how strongly against it."""
    shape: Shape[Any]
    open: Callable[[], "Reader"]
    record_keys: frozenset[str]
    """Keys of which each says that an object is a record of this format."""
    message_keys: frozenset[str]
    """Keys of which each says that an object is one message of it."""
    writer: MessageWriter | None = None
    """A repair adds nothing to a format without a writer."""
    wires: frozenset[str] = frozenset()
    """Names that its conversations have besides its own, where it reads more than one wire."""

    syntax: "WireSyntax | None" = None
    """The tables for the native reader; a format without them has no fast path for requests."""
    session: bool = False
    """It is an agent's own log, which no wire may be preferred to."""
    is_whole: Callable[[Decoded[Any]], bool] | None = None
    """Whether a record holds all of its conversation, so that its format does not depend on other records."""

    def read(self, stream: Iterable[Decoded[Any]]) -> Iterator[Transcript | Stray]:
        """All that a stream of records holds."""
        reader = self.open()
        for decoded in stream:
            yield from reader.feed(decoded)
        yield from reader.finish()


class Reader(Protocol):
    """One reading of one source: records in, conversations out as they become whole.

    A decoded record is read once: there may be very many messages in it, and each is let go when it was read.
    """

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]: ...
    def finish(self) -> Iterable[Transcript | Stray]: ...
