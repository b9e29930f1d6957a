"""Group messages that are logged one per line into conversations.

Grouping is by conversation key, in file order, with a bound on the messages in memory. The messages are already
read.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

from msgspec import Struct, structs

from turnlint.carrying.carrier import AcceptedConversation, Stray
from turnlint.completions import content_of
from turnlint.documents.decode import normal
from turnlint.documents.reread import release
from turnlint.lifecycle import says_only_cancelled, state_of
from turnlint.model import Block, Call, Message, Misfit, Record, Result, Transcript, Wire

HELD = 20_000
"""The maximum number of messages in memory. Beyond it, the conversation with the oldest last message is closed."""
SHORT = 64


Place = tuple[int, int, int]
"""The number, the offset and the size of a line that was not read."""


class Scanner(Protocol):
    """Decides about conversations whose lines were not read."""

    def accepts(self, places: list[Place], /, *, headless: bool) -> bool:
        """Return whether a conversation has no finding. An accepted conversation is counted."""
        ...

    def read(self, key: str | None, places: list[Place], /) -> "Open | None":
        """Read the lines of a conversation."""
        ...


class Open(Struct):
    """A conversation that may continue."""

    messages: list[Message] = []
    misfits: list[tuple[Record, Misfit]] = []
    headless: bool = False
    identity: str = ""
    unread: list[Place] = []
    """The lines of a conversation of which no line was read."""

    @property
    def start(self) -> int:
        return self.unread[0][1] if self.unread else self.messages[0].record.offset


class Lines:
    """The open conversations of a source by key. The key `None` is the file's only conversation."""

    def __init__(self, wire: Wire, held: int = HELD) -> None:
        self.wire = wire
        self.limit = held
        self.held = 0
        self.open: dict[str | None, Open] = {}
        self.closed: set[str | None] = set()
        self.scanner: Scanner | None = None

    def add(self, key: str | None, message: Message, misfits: list[tuple[Record, Misfit]]) -> None:
        conversation = self.reopen(key)
        if conversation.unread:
            self._read(key, conversation)
        if key is None and not conversation.identity and message.role != "system":
            conversation.identity = digest(message.record.data)
        conversation.messages.append(lean(message))
        conversation.misfits += misfits
        self.held += 1
        record = message.record
        if not record.kept:
            release(record)

    def reopen(self, key: str | None) -> Open:
        """Return the conversation with a key, as the last one that got a message."""
        if key in self.open and key == next(reversed(self.open)):
            return self.open[key]
        conversation = self.open.pop(key, None) or Open(headless=key in self.closed)
        self.open[key] = conversation
        return conversation

    def overflow(self) -> list[Transcript | Stray]:
        done: list[Transcript | Stray] = []
        while self.held > self.limit and len(self.open) > 1:
            key = next(iter(self.open))
            self.closed.add(key)
            found = self._close(key)
            done.append(structs.replace(found, open_end=True) if isinstance(found, Transcript) else found)
        return done

    def finish(self) -> Iterator[Transcript | Stray]:
        for key in sorted(self.open, key=lambda key: self.open[key].start):
            yield self._close(key)

    def _read(self, key: str | None, conversation: Open) -> None:
        """Read the lines of a conversation that cannot be accepted."""
        assert self.scanner is not None
        unread, conversation.unread = conversation.unread, []
        self.held -= len(unread)
        found = self.scanner.read(key, unread)
        if found is not None:
            conversation.messages, conversation.misfits = found.messages, found.misfits
            conversation.identity = found.identity
            self.held += len(found.messages)

    def _close(self, key: str | None) -> Transcript | Stray:
        conversation = self.open.pop(key)
        if conversation.unread and self.scanner is not None:
            if self.scanner.accepts(conversation.unread, headless=conversation.headless):
                self.held -= len(conversation.unread)
                return AcceptedConversation(Record(1, 0, b""), None, expected=True)
            self._read(key, conversation)
        self.held -= len(conversation.messages)
        is_answer = _is_one_answer(conversation)
        return Transcript(
            self.wire,
            tuple(conversation.messages),
            id=key,
            headless=conversation.headless or is_answer,
            open_end=is_answer,
            identity=conversation.identity,
            misfits=tuple(conversation.misfits),
            spread=True,
        )


def _is_one_answer(conversation: Open) -> bool:
    """Whether a conversation is one message of the model: the request before it was recorded nowhere."""
    return (
        len(conversation.messages) == 1
        and conversation.messages[0].role == "assistant"
        and not conversation.headless
    )


def lean(message: Message) -> Message:
    """Return the message with digests for its long bodies, so that memory does not grow with the texts."""
    for block in message.blocks:
        if (type(block) is Result or type(block) is Call) and len(block.body) > SHORT:
            return structs.replace(message, blocks=tuple(map(_lean, message.blocks)))
    return message


def _lean(block: Block) -> Block:
    if isinstance(block, (Call, Result)) and len(block.body) > SHORT:
        body = short_body(block)
        if isinstance(block, Result) and state_of(block) == "cancelled":
            return structs.replace(block, body=body, cancelled=says_only_cancelled(block))
        return structs.replace(block, body=body)
    return block


def short_body(block: Call | Result) -> bytes:
    """Return the body of a call or a result, or the digest of its normal spelling if that is long."""
    if len(block.body) <= SHORT:
        return block.body
    text = content_of(block.body) if isinstance(block, Result) else normal(block.body)
    return b"#" + _blake2b()(text, digest_size=24).digest() if len(text) > SHORT else text


@cache
def _blake2b() -> Any:
    from hashlib import blake2b

    return blake2b


def long_digest(data: bytes) -> str:
    return str(_blake2b()(data, digest_size=16).hexdigest())


def digest(data: bytes) -> str:
    return str(_blake2b()(data, digest_size=8).hexdigest())
