"""the same call appears twice

What it does
    Reports a call with the id, the tool and the arguments of an earlier call. In the same turn it is an
    error, in a later turn a warning.

Why it matters
    One call is logged as two, and at most one of them has a result. Programs that count or rerun calls
    process it twice. Strict providers reject repeated ids.

How it happens
    A stream was replayed after a reconnect, and both copies were kept. A client wrote a group of calls again
    for each of its results. A framework resumed from a checkpoint and appended the messages again.

What fix does
    lossless: removes the copy. If both calls have a result, or the copy has thinking of its own, both stay
    and the copy gets a new id.

Evidence
    Anthropic: "`tool_use` ids must be unique" (Claude Code issue 20901). In the recorded exchanges,
    OpenAI-compatible servers accepted the same call again in later turns, each with its result, 254 times,
    such as in a3973ae0f3130681.
"""

from collections.abc import Iterator
from typing import Any

from turnlint.api import (
    Case,
    Drop,
    Example,
    Finding,
    Fix,
    Interaction,
    Piece,
    Rename,
    Rule,
    Settle,
    Step,
    Thinking,
    called,
    near_call,
    repeats,
    spot,
)

RULE = Rule("ST109", "replayed-call", "error", fix="lossless", triggers=frozenset({"taken"}))

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          call     c1 get_weather {"city": "Paris"}   <- ST109
          result   c1 18 degrees
        assistant  It is 18 degrees.
    """),
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  Let me look again.
          call     c1 get_weather {"city": "Paris"}   <- ST109
          result   c1 18 degrees
        assistant  It is 18 degrees.
    """),
)
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  Let me look again.
          call     c2 get_weather {"city": "Paris"}
          result   c2 18 degrees
        assistant  It is 18 degrees.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    for repeat in repeats(case.ledger):
        if not repeat.same:
            continue
        asked, first = repeat.again.asked, repeat.first.asked
        where = "in the same turn" if repeat.same_turn else "in a later turn"
        yield RULE.at_call(
            case,
            asked,
            f"{called(asked.call)} appears again {where}",
            severity="error" if repeat.same_turn else "warning",
            label="copy",
            related=(near_call(case, first, "first occurrence"),),
            fix=_fix(case, repeat.first, repeat.again),
        )


def _fix(case: Case, first: Interaction, again: Interaction) -> Fix:
    """Return the removal of the copy.

    The copy gets a new id instead if both calls have results, or if it has thinking of its own.
    """
    both_answered = first.answer is not None and again.answer is not None
    if both_answered or not _has_no_own_thinking(case, first.asked.message, again.asked.message):
        return Fix("lossless", "give the copy and its result a new id", (Rename(spot(again.asked)),))
    removals: tuple[Step, ...] = (
        Drop(spot(again.asked)),
        *_copied_item(case, first.asked.message, again.asked.message),
    )
    if again.answer is None:
        return Fix("lossless", "remove the copy", removals)
    steps = (*removals, Settle(spot(first.asked), spot(again.answer)))
    return Fix("lossless", "remove the copy and attach its result to the first call", steps)


def _copied_item(case: Case, first: int, again: int) -> tuple[Drop, ...]:
    """Return the removal of a thinking item before the copy, if it equals the item before the first call."""
    known, copy = _item_before(case, first), _item_before(case, again)
    return (Drop(Piece(again - 1)),) if copy is not None and copy == known else ()


def _item_before(case: Case, index: int) -> str | None:
    blocks = case.messages[index - 1].blocks if index else ()
    return blocks[0].item if len(blocks) == 1 and isinstance(blocks[0], Thinking) else None


def _has_no_own_thinking(case: Case, first: int, again: int) -> bool:
    """Whether a copy has no thinking of its own, which its removal would lose."""
    if first == again:
        return True  # a message with many copies would otherwise be searched once for each copy
    thoughts, copied = _thoughts_in(case, first), _thoughts_in(case, again)
    return not copied or (thoughts == copied and None not in copied)


def _thoughts_in(case: Case, index: int) -> list[Any]:
    message = case.messages[index]
    beside = [("reasoning_content",)] if message.reasoning == "text" else []
    own = [block.at for block in message.blocks if isinstance(block, Thinking)]
    return [case.said(index, at) for at in (*own, *beside)]
