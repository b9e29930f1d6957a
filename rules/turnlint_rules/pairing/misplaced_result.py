"""a result is not directly after its call

What it does
    Reports a result that has a call, but at the wrong position: other messages are between the message with
    the call and the result.

Why it matters
    Providers expect results directly after the message with the calls. They reject a later result twice: the
    call has no result, and the result has no call. The result itself is intact.

How it happens
    The user wrote while a tool ran. The messages of a sub-agent were logged between the call and its result.
    A tool finished late, and its result was appended at the end of the log.

What fix does
    lossless: moves the result to its call. A placeholder never replaces it. An assistant message with calls,
    results and texts is split at each result, and the order of its blocks stays. A result stays in place if
    its message also contains a call that occurs in no assistant message. The result may belong to that call.

Evidence
    OpenAI Chat and DeepSeek require the `tool` messages directly after the assistant message. Anthropic and
    Bedrock require the results in the next user message, and read consecutive user messages as one (31
    accepted requests, such as 848e705f5204da8d). Two of the repair libraries that were measured remove such
    results (2026-11).
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
    Unmix,
    answering,
    near_call,
    spot,
    usable,
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
    doubtful = _doubtful(case)
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
            else Fix("lossless", "move the result to its call", _steps(case, asked, answer, doubtful)),
        )


def _doubtful(case: Case) -> frozenset[int]:
    """Return the messages with an open call that has the id of an orphan result.

    A split would leave such a call alone in its turn, and the orphan would be paired with it.
    """
    ids = {orphan.result.id for orphan in case.ledger.orphans if usable(orphan.result.id)}
    open_calls = (pair.asked for pair in case.ledger.interactions if ids and pair.answer is None)
    return frozenset(asked.message for asked in open_calls if asked.call.id in ids)


def _steps(case: Case, asked: Asked, answer: Answered, doubtful: frozenset[int]) -> tuple[Step, ...]:
    """Return the steps that move a result to its call.

    A message with other content is split first, unless a pair depends on it.
    """
    settle = Settle(spot(asked), spot(answer))
    message = case.messages[answer.message]
    if not answer.result.at or len(message.blocks) < 2 or answer.message in doubtful:
        return (settle,)
    if message.role == "assistant":
        return (Split(answer.message), settle)
    is_mixed = message.role == "user" and asked.message == answer.message and asked.seq < answer.seq
    return (Unmix(answer.message), settle) if is_mixed and len(asked.call.at) > 1 else (settle,)
