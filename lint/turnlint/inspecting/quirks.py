"""Find properties of a conversation that are unusual for its format.

Some are faults, which `lint` reports, and many are normal.
"""

from collections.abc import Iterator
from itertools import pairwise

from turnlint import ledger
from turnlint.inspecting.forms import ABSENT, REDACTED, form_of
from turnlint.model import Block, Call, Message, Pointer, Record, Result, Text, Thinking, Transcript

QUIRKS = {
    "arguments-as-text": "arguments are JSON in a string",
    "arguments-as-free-text": "arguments are free text in the tool's own grammar",
    "arguments-torn": "arguments are truncated",
    "arguments-unreadable": "arguments are not a JSON object",
    "several-records-a-turn": "one assistant turn is split into several messages",
    "id-absent": "a call has no id",
    "id-redacted": "an id was redacted, so it identifies nothing",
    "id-reused": "a call has the id of an earlier call",
    "paired-by-position": "results are matched by position, not by id",
    "result-elsewhere": "a result is not directly after its call",
    "result-synthetic": "a result was written by a repair, not by a tool",
    "call-kept-twice": "a message contains the same call in two places",
    "call-echoed": "a message of results repeats a call",
    "call-in-text": "a call is written as text",
    "server-tools": "the provider runs a tool itself",
    "thinking-signed": "a thinking block has a signature, which must not change",
    "thinking-encrypted": "a thinking block is encrypted",
    "foreign-dialect": "part of a message is in another API's format",
    "misfit": "a value has an unexpected JSON type",
    "blank-text": "a text is empty",
    "begins-elsewhere": "earlier messages are stored elsewhere",
    "ends-open": "last calls may have no results",
}
Seen = tuple[str, Record, Pointer]


def seen(transcript: Transcript, pairs: ledger.Ledger) -> Iterator[Seen]:
    """Yield each quirk of a conversation with each of its locations."""
    said = transcript.messages
    for message in said:
        for block in message.blocks:
            for name in _of_block(block):
                yield name, message.record, (*message.at, *block.at)
        yield from _of_message(message)
    yield from _of_pairs(transcript, pairs)
    for record, misfit in transcript.misfits:
        yield "misfit", record, misfit.at
    if transcript.wire.joins:
        yield from _split_turns(said)
    if said and transcript.headless:
        yield "begins-elsewhere", said[0].record, said[0].at
    if said and transcript.open_end:
        yield "ends-open", said[-1].record, said[-1].at


def _of_block(block: Block) -> Iterator[str]:
    if isinstance(block, Call):
        yield from _of_call(block)
    elif isinstance(block, Result):
        if block.synthetic:
            yield "result-synthetic"
        if form_of(block.id) == REDACTED:
            yield "id-redacted"
    elif isinstance(block, Thinking):
        if block.signature in ("given", "bypass"):
            yield "thinking-signed"
        if block.cipher:
            yield "thinking-encrypted"
    elif isinstance(block, Text) and block.call_marker:
        yield "call-in-text"
    if not isinstance(block, Text | Thinking) and block.dialect is not None:
        yield "foreign-dialect"


def _of_call(call: Call) -> Iterator[str]:
    if call.written == "text" and call.arguments not in ("free", "broken"):
        yield "arguments-as-text"
    if call.arguments == "free":
        yield "arguments-as-free-text"
    elif call.arguments == "torn":
        yield "arguments-torn"
    elif call.arguments in ("broken", "other", "unfit"):
        yield "arguments-unreadable"
    form = form_of(call.id)
    if form == ABSENT:
        yield "id-absent"
    elif form == REDACTED:
        yield "id-redacted"
    if call.also:
        yield "call-kept-twice"
    if call.server:
        yield "server-tools"


def _of_message(message: Message) -> Iterator[Seen]:
    if message.dialect is not None:
        yield "foreign-dialect", message.record, message.at
    for echo in message.inner_calls:
        yield "call-echoed", message.record, (*message.at, *echo)
    for blank in message.blanks:
        yield "blank-text", message.record, (*message.at, *blank.at)


def _of_pairs(transcript: Transcript, pairs: ledger.Ledger) -> Iterator[Seen]:
    said = transcript.messages
    ids: set[str] = set()
    for one in pairs.interactions:
        call, here = one.asked.call, said[one.asked.message]
        if call.id is not None and ledger.usable(call.id):
            if call.id in ids:
                yield "id-reused", here.record, (*here.at, *call.at)
            ids.add(call.id)
        if one.answer is None or one.how in (None, "in-place"):
            continue
        there = said[one.answer.message]
        name = "paired-by-position" if one.how == "by-position" else "result-elsewhere"
        yield name, there.record, (*there.at, *one.answer.result.at)


def _split_turns(said: tuple[Message, ...]) -> Iterator[Seen]:
    """Yield messages of the model that follow another message of the model."""
    for before, message in pairwise(said):
        if before.role == message.role == "assistant" and before.record is not message.record:
            yield "several-records-a-turn", message.record, message.at
