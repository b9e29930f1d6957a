"""a result is before its call

What it does
    Reports a result that comes before the only call that it can belong to.

Why it matters
    Providers reject the result, because no call is before it, and then the call, because no result follows.

How it happens
    Two programs append to one log, and the program of the tool was faster. Records were sorted by the time at
    which they ended. A merge changed the order of the blocks of a turn.

What fix does
    lossless: moves the result after its call. If both are blocks of one assistant message, the result first
    moves after the calls. Then the message is split at the result.

Evidence
    All providers read in order. They use the texts of `orphan-result` and `unanswered-call`. Most of the
    repair tools that were measured remove the real result and write a placeholder (2026-11).
"""

from collections.abc import Iterator

from turnlint.api import (
    Answered,
    Asked,
    Call,
    Case,
    Example,
    Finding,
    Fix,
    Message,
    Rule,
    Settle,
    Shift,
    Step,
    answering,
    near_call,
    spot,
)

RULE = Rule("PA204", "result-before-call", "error", fix="lossless", triggers=frozenset({"early"}))

BAD = (
    Example("""
        user       What is the weather in Paris?
          result   c1 18 degrees                     <- PA204
        assistant
          call     c1 get_weather {"city": "Paris"}
        assistant  It is 18 degrees.
    """),
)
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  It is 18 degrees.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    ends: dict[int, dict[int, int]] = {}
    for interaction in case.ledger.interactions:
        asked, answer = interaction.asked, interaction.answer
        if answer is None or interaction.how != "early" or asked.call.server:
            continue
        yield RULE.at_result(
            case,
            answer,
            f"{answering(answer.result)} is before its call",
            label="should be after its call",
            related=(near_call(case, asked, "its call"),),
            fix=None
            if case.has_own_call(answer)
            else Fix("lossless", "move the result after its call", (_step(case, asked, answer, ends),)),
        )


def _step(case: Case, asked: Asked, answer: Answered, ends: dict[int, dict[int, int]]) -> Step:
    """Return the step that moves a result after its call.

    In one list of an assistant message, the result first moves behind the run of calls with its call.
    """
    call, result, message = asked.call.at, answer.result.at, case.messages[asked.message]
    in_one_message = asked.message == answer.message and message.role == "assistant"
    if not in_one_message or not result or call[:-1] != result[:-1] or not isinstance(call[-1], int):
        return Settle(spot(asked), spot(answer))
    if asked.message not in ends:
        ends[asked.message] = _ends_of_runs(message)
    return Shift(spot(answer), ends[asked.message][call[-1]])


def _ends_of_runs(message: Message) -> dict[int, int]:
    """Return, for the position of each call, the position behind the last call of its run."""
    ends: dict[int, int] = {}
    for block in reversed(message.blocks):
        if isinstance(block, Call) and block.at and isinstance(block.at[-1], int):
            following = block.at[-1] + 1
            ends[block.at[-1]] = ends.get(following, following)
    return ends
