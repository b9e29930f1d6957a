"""a text is after the calls of a message

What it does
    Reports a text after a call in an assistant turn.

Why it matters
    The provider requires the results directly after the calls. A text between them looks like a missing
    result, and the provider rejects the request.

How it happens
    A client joined the parts of a stream in the wrong order. A client or the API joined two assistant
    messages.

What fix does
    lossless: moves the text before the calls, with the thinking before the text if that would become the last
    block. If the text is a message of its own after the calls, the two messages are joined first, or the
    message moves before them. lossy: joins a message that has keys of the program that stores it, and removes
    these keys.

Evidence
    Anthropic: recorded 610f3c5b201d5b69 was rejected with "`tool_use` ids were found without `tool_result`
    blocks immediately after". None of 1,107 accepted requests with tools has a text after a call. A probe
    with another outcome (pi-anthropic-auth 66) counts less than the recording.
"""

from collections.abc import Iterator
from itertools import takewhile

from turnlint.api import (
    Asked,
    BlockAfterCall,
    Call,
    Case,
    Example,
    Finding,
    Fix,
    Join,
    Message,
    Move,
    Piece,
    Pointer,
    Rule,
    Shift,
    Step,
    Text,
    Thinking,
    called,
    near_call,
)

RULE = Rule("PR322", "block-after-call", "error", fix="lossy", triggers=frozenset())

_OWN_KEYS = frozenset({"role", "type", "status", "content"})

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
        assistant  I will check.   <- PR322
          result   c1 18 degrees
        assistant  It is 18 degrees.
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant  I will check.
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  It is 18 degrees.
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    clauses = list(case.clauses(BlockAfterCall))
    if not clauses:
        return
    calls: dict[int, Asked] = {}
    joins = case.transcript.wire.joins
    for clause in clauses:
        open_call: Call | None = None
        for index, message in enumerate(case.messages):
            if message.role != "assistant":
                open_call = None
                continue
            if not joins or index == case.transcript.answer_at:
                open_call = None
            first: Call | None = None
            for place, block in enumerate(message.blocks):
                if isinstance(block, Call) and not block.server:
                    open_call = block
                    first = first or open_call
                elif isinstance(block, Text) and open_call is not None:
                    calls = calls or {id(one.call): one for one in case.asked}
                    asked = calls[id(open_call)]
                    fix = _fix(case, index, asked, _texts_to_move(message, place), first)
                    yield _finding(case, clause, index, block, asked, fix)
                    open_call = None


def _finding(
    case: Case, clause: BlockAfterCall, index: int, block: Text, asked: Asked, fix: Fix | None
) -> Finding:
    return RULE.at_message(
        case, index, f"a text is after {called(asked.call)}", below=block.at, label="after the call",
        related=(near_call(case, asked, "the call"),), under=clause,
        told={"ids": case.ids_of_turn[asked.turn], "index": asked.message, "next": asked.message + 1}, fix=fix,
    )  # fmt: skip


def _texts_to_move(message: Message, place: int) -> list[Pointer]:
    """Return the positions of the texts from a place behind a call on.

    The thinking before them is included if it would become the last block.
    """
    blocks = message.blocks
    texts = [*takewhile(lambda block: isinstance(block, Text), blocks[place:])]
    rest = blocks[place:]
    if isinstance(rest[-1], Text) and all(isinstance(block, Text | Thinking) for block in rest):
        thinking = [*takewhile(lambda block: isinstance(block, Thinking), reversed(blocks[:place]))]
        texts = [*reversed(thinking), *rest]
    return [block.at for block in texts]


def _fix(case: Case, index: int, asked: Asked, texts: list[Pointer], first: Call | None) -> Fix | None:
    """Return the repair: reorder one list of blocks, or join two messages, which the next pass reorders."""
    message, call_message = case.messages[index], case.messages[asked.message]
    only_texts = len(texts) == len(message.blocks) and not any(
        isinstance(block, Thinking) for block in call_message.blocks
    )
    steps: tuple[Step, ...] = ()
    if first is not None:
        at = first.at
        in_one_list = isinstance(at[-1], int) and all(text[:-1] == at[:-1] for text in texts)
        steps = tuple(Shift(Piece(index, text), int(at[-1])) for text in texts if in_one_list)
    elif message.content == call_message.content == "parts":
        steps = tuple(Join(number, asked.message) for number in (index, *_following(case, index)))
    elif only_texts:
        steps = tuple(Move(number, asked.message) for number in (index, *_following(case, index)))
    joined = [step.message for step in steps if isinstance(step, Join)]
    if any(_has_foreign_keys(case, number) for number in joined):
        title = "move the text before the calls, and remove the keys of its message that are not part of a request"
        return Fix("lossy", title, steps)
    return Fix("lossless", "move the text before the calls", steps) if steps else None


def _has_foreign_keys(case: Case, index: int) -> bool:
    """Whether a message has keys that the message for its blocks cannot have."""
    written = case.written(index)
    return isinstance(written, dict) and not written.keys() <= _OWN_KEYS


def _following(case: Case, index: int) -> Iterator[int]:
    """Yield the next messages that continue the turn of a message with texts alone, in the same encoding."""
    for number in range(index + 1, len(case.messages)):
        message = case.messages[number]
        has_only_texts = bool(message.blocks) and all(isinstance(block, Text) for block in message.blocks)
        if (
            message.role != "assistant"
            or message.content != case.messages[index].content
            or not has_only_texts
        ):
            return
        yield number
