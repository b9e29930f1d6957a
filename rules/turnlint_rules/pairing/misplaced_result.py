"""a result is not directly after its call

What it does
    Reports a result whose call is known but whose place is wrong: other messages stand between the
    turn that asked and the answer.

Why it matters
    Providers look for results directly after the turn that asked. A result that comes later is
    refused as if it were missing, and then once more as an orphan. The answer itself is fine.

How it happens
    The user typed while a tool ran. A sub-agent's turn was logged in between. A tool finished late
    and its result was appended at the end of the log.

What fix does
    lossless: moves the result to its call. It is never replaced by a placeholder. An assistant message that holds
    calls, results and texts is split at each result, and the order of its blocks stays. A result stays where it is
    if its message also holds a call that no assistant message has: that call may be its own.

Evidence
    OpenAI Chat and DeepSeek want `tool` messages contiguous after the assistant message; Anthropic
    and Bedrock want them in the next user message, where consecutive user messages count as one (31
    accepted requests of that shape, such as 848e705f5204da8d). Two of the repair libraries measured
    throw such results away (2026-11).
"""

from collections.abc import Iterator

from turnlint.api import (
    Answered,
    Asked,
    Case,
    Example,
    Finding,
    Fix,
    Rule,
    Settle,
    Split,
    Step,
    answering,
    near_call,
    spot,
)

RULE = Rule("PA203", "misplaced-result", "error", fix="lossless", triggers=frozenset({"late"}))

BAD = (
    Example("""
        user       Compare Paris and Lyon.
        assistant
          call     c1 get_weather {"city": "Paris"}
          call     c2 get_weather {"city": "Lyon"}
          result   c1 18 degrees
        assistant  Still waiting for Lyon.
        user       I have time.
          result   c2 20 degrees                      <- PA203
        assistant  Lyon is warmer.
    """),
    Example("""
        user       Run both.
        assistant
          call     c1 run {"job": 1}
        assistant  While that runs, some advice.
        user       Go on.
        assistant
          call     c2 run {"job": 2}
          result   c1 done                            <- PA203
          result   c2 done
        assistant  Both are done.
    """),
)
GOOD = (
    Example("""
        user       Run both.
        assistant
          call     c1 run {"job": 1}
          result   c1 done
        assistant
          call     c2 run {"job": 2}
          result   c2 done
        assistant  Both are done.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    for interaction in case.ledger.interactions:
        asked, answer = interaction.asked, interaction.answer
        if answer is None or interaction.how != "late" or asked.call.server:
            continue
        yield RULE.at_result(
            case,
            answer,
            f"{answering(answer.result)} is not directly after its call",
            label="should be directly after its call",
            related=(near_call(case, asked, "its call"),),
            fix=None
            if case.has_own_call(answer)
            else Fix("lossless", "move the result to its call", _steps(case, asked, answer)),
        )


def _steps(case: Case, asked: Asked, answer: Answered) -> tuple[Step, ...]:
    """A message of the assistant that goes on after the result is split there first."""
    settle = Settle(spot(asked), spot(answer))
    message = case.messages[answer.message]
    mixed = message.role == "assistant" and bool(answer.result.at) and len(message.blocks) > 1
    return (Split(answer.message), settle) if mixed else (settle,)
