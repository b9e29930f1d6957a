"""the same call is written twice

What it does
    Reports a call with the id, the tool and the arguments of an earlier one: in the same turn an error,
    in a later turn a warning.

Why it matters
    One call became two, and at most one of them has a result. Readers that count or re-run calls do it
    twice; strict providers refuse ids that come again.

How it happens
    A stream was replayed after a reconnect and both parts were kept. A whole group of calls was written
    again for each of its results. A framework resumes from a checkpoint and appends what is there.

What fix does
    lossless: removes the copy; with two results it keeps both and gives the copy an id of its own.

Evidence
    Anthropic: "`tool_use` ids must be unique" (Claude Code issue 20901). Servers of OpenAI's
    wire accepted the same call again in later turns, each with its result, 254 times in the recorded
    exchanges, for one in a3973ae0f3130681.
"""

from collections.abc import Iterator

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

RULE = Rule("ST109", "replayed-call", "error", fix="lossless")

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
            f"{called(asked.call)} is written again {where}",
            severity="error" if repeat.same_turn else "warning",
            label="a copy",
            related=(near_call(case, first, "first written here"),),
            fix=_fix(case, repeat.first, repeat.again),
        )


def _fix(case: Case, first: Interaction, again: Interaction) -> Fix:
    """One call stays where there is one result; two results are kept with two calls."""
    if first.answer is not None and again.answer is not None:
        return Fix(
            "lossless", "give the copy and its result an id of their own", (Rename(spot(again.asked)),)
        )
    gone: tuple[Step, ...] = (Drop(spot(again.asked)), *_thoughts(case, again.asked.message))
    if again.answer is None:
        return Fix("lossless", "remove the copy", gone)
    steps = (*gone, Settle(spot(first.asked), spot(again.answer)))
    return Fix("lossless", "remove the copy, and give its result to the first", steps)


def _thoughts(case: Case, index: int) -> tuple[Drop, ...]:
    """The copy of a thought that stands as an item before the copy of its call."""
    before = case.messages[index - 1] if index else None
    blocks = before.blocks if before else ()
    if len(blocks) != 1 or not isinstance(blocks[0], Thinking) or blocks[0].item is None:
        return ()
    known = {
        block.item
        for one in case.messages[: index - 1]
        for block in one.blocks
        if isinstance(block, Thinking)
    }
    return (Drop(Piece(index - 1)),) if blocks[0].item in known else ()
