"""Conversations that are logged one message a line.

This module owns the grouping: by conversation key, in file order, with a bound on what is held. It
refuses to know a wire; messages come to it already read.
"""

from collections.abc import Iterator

from msgspec import Struct, structs

from turnlint.model import Call, Message, Misfit, Record, Result, Transcript, Wire

HELD = 20_000
"""How many messages may wait before the conversation that was silent longest is closed."""

SHORT = 64


class _Open(Struct):
    messages: list[Message]
    misfits: list[tuple[Record, Misfit]]
    headless: bool
    identity: str = ""


class Lines:
    """Messages in, transcripts out. The key `None` is the file's one conversation."""

    def __init__(self, wire: Wire, held: int = HELD) -> None:
        self.wire = wire
        self.limit = held
        self.held = 0
        self.open: dict[str | None, _Open] = {}
        self.closed: set[str | None] = set()

    def add(self, key: str | None, message: Message, misfits: list[tuple[Record, Misfit]]) -> None:
        conversation = self.open.pop(key, None) or _Open([], [], key in self.closed)
        self.open[key] = conversation  # the one that spoke last stands last
        if key is None and not conversation.identity and message.role != "system":
            conversation.identity = digest(message.record.data)
        conversation.messages.append(lean(message))
        conversation.misfits += misfits
        self.held += 1
        record = message.record
        if not record.kept:
            record.data, record.size = b"", len(record.data)

    def overflow(self) -> list[Transcript]:
        done = []
        while self.held > self.limit and len(self.open) > 1:
            key = next(iter(self.open))
            self.closed.add(key)
            done.append(structs.replace(self._close(key), open_end=True))
        return done

    def finish(self) -> Iterator[Transcript]:
        for key in sorted(self.open, key=lambda key: self.open[key].messages[0].record.offset):
            yield self._close(key)

    def _close(self, key: str | None) -> Transcript:
        conversation = self.open.pop(key)
        self.held -= len(conversation.messages)
        return Transcript(
            self.wire,
            tuple(conversation.messages),
            id=key,
            headless=conversation.headless,
            identity=conversation.identity,
            misfits=tuple(conversation.misfits),
        )


def lean(message: Message) -> Message:
    """The message with digests for its long bodies: what is held must not grow with what was said."""
    blocks = tuple(
        structs.replace(block, body=_digest(block.body))
        if isinstance(block, (Call, Result)) and len(block.body) > SHORT
        else block
        for block in message.blocks
    )
    return structs.replace(message, blocks=blocks)


def _digest(body: bytes) -> bytes:
    from hashlib import blake2b

    return b"#" + blake2b(body, digest_size=24).digest()


def long_digest(data: bytes) -> str:
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def digest(data: bytes) -> str:
    from hashlib import blake2b

    return blake2b(data, digest_size=8).hexdigest()
