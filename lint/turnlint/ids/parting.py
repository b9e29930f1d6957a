"""Messages of the assistant, split at the results inside them.

A repair splits such a message before it decides which calls keep an id of an earlier turn.
"""

from itertools import groupby

from msgspec import structs

from turnlint.model import Block, Call, Message, Result, Transcript


def parted(transcript: Transcript) -> Transcript:
    """Return the conversation with split messages, or the conversation itself where no message is split."""
    messages: list[Message] = []
    firsts: list[int] = []
    for message in transcript.messages:
        firsts.append(len(messages))
        messages += _parts(message, transcript.wire.window) if message.role == "assistant" else (message,)
    if len(messages) == len(firsts):
        return transcript
    place = transcript.answer_at
    if place is not None:
        place = firsts[place] if place < len(firsts) else len(messages)
    return structs.replace(transcript, messages=tuple(messages), answer_at=place)


def _parts(message: Message, window: frozenset[str]) -> tuple[Message, ...]:
    if not any(map(_is_inner, message.blocks)) or not any(isinstance(one, Call) for one in message.blocks):
        return (message,)
    role = "tool" if "tool" in window else "user"
    return tuple(
        structs.replace(message, role=role if inner else message.role, blocks=tuple(blocks))
        for inner, blocks in groupby(message.blocks, _is_inner)
    )


def _is_inner(block: Block) -> bool:
    return isinstance(block, Result) and not block.server
