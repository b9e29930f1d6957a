"""a result is written after the end of its turn

What it does
    Reports a result or a cancellation behind a later turn of the model, in logs also behind a later message of
    the user. It applies to OpenAI Responses and Codex, which accept results anywhere after their call. On other
    wires this is `misplaced-result`, and for a message in a request `results-not-together`.

Why it matters
    The model reads the result behind the new question or the new call, as if it belonged there. The next request
    to another provider is rejected, because most providers require results directly after their calls.

How it happens
    A tool finished after the user had interrupted it. A program writes cancellations by itself when the next
    question arrives, not where the turn ends.

What fix does
    Nothing, because the provider accepts this. `turnlint fix` moves the result where a provider requires it.

Evidence
    OpenAI's Responses API requires an output anywhere behind its call (openai-agents and codex issues, read
    2026-11), so it is no error there. None of 1,038 accepted requests with calls and of 8 recorded Codex
    sessions has such a result (read 2026-11). In one of them the message in between is empty
    (50dd369531354093), which is not reported.
"""

from bisect import bisect_left
from collections.abc import Iterator

from turnlint.api import (
    Answered,
    Asked,
    Case,
    Example,
    Finding,
    Raw,
    Result,
    Rule,
    answering,
    near,
    near_call,
    state_of,
)

RULE = Rule("PA210", "result-after-turn", "info", triggers=frozenset({"outside"}))

_SESSION = (
    b'{"timestamp": "2026-08-10T20:00:01.000Z", "type": "session_meta", "payload": {"id": "s1"}}\n'
    b'{"timestamp": "2026-08-10T20:00:02.000Z", "type": "response_item", "payload": {"type": "function_call", "name": '
    b'"run", "arguments": "{}", "call_id": "c1"}}\n'
    b'{"timestamp": "2026-08-10T20:00:03.000Z", "type": "response_item", "payload": {"type": "message", "role": "user", '
    b'"content": [{"type": "input_text", "text": "What is the time?"}]}}\n'
    b'{"timestamp": "2026-08-10T20:00:04.000Z", "type": "response_item", "payload": {"type": "function_call_output", '
    b'"call_id": "c1", "output": "aborted"}}\n'
)
BAD = (
    Raw("codex", _SESSION, (("PA210", 4),)),
    Example("""
        user       Run both.
        assistant
          call     c1 run {"job": 1}
          call     c2 run {"job": 2}
          result   c1 done
        assistant
          call     c3 run {"job": 3}
          result   c2 done                            <- PA210
          result   c3 done
        assistant  All are done.
    """, wires=("openai-responses",)),
)  # fmt: skip
GOOD = (
    Example("""
        user       Run both.
        assistant
          call     c1 run {"job": 1}
          call     c2 run {"job": 2}
          result   c2 done
          result   c1 done
        assistant  Both are done.
        user       What is the time?
        assistant  It is noon.
    """, wires=("openai-responses",)),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    if not case.transcript.wire.anywhere:
        return
    prompts = [
        index
        for index, message in enumerate(case.messages if case.transcript.is_log else ())
        if message.role == "user"
        and message.blocks
        and not any(isinstance(block, Result) for block in message.blocks)
    ]
    turns: dict[int, int] = {}
    for asked in case.asked:
        turns.setdefault(asked.turn, asked.message)
    for interaction in case.ledger.interactions:
        asked, answer = interaction.asked, interaction.answer
        if answer is None or asked.call.server:
            continue
        at = _boundary(asked, answer, prompts, turns)
        if at is not None:
            what = answering(answer.result)
            if answer.result.synthetic or state_of(answer.result) == "cancelled":
                what = what.replace("result", "cancellation", 1)
            yield RULE.at_result(
                case,
                answer,
                f"{what} is behind the end of its turn",
                label="behind a later message",
                related=(
                    near_call(case, asked, "its call"),
                    near(case, at, "its turn has ended here"),
                ),
            )


def _boundary(asked: Asked, answer: Answered, prompts: list[int], turns: dict[int, int]) -> int | None:
    """Return the message between a call and its result that ends the turn of the call; none if there is none."""
    place = bisect_left(prompts, asked.message + 1)
    prompt = prompts[place] if place < len(prompts) and prompts[place] < answer.message else None
    later = turns.get(answer.turn) if answer.turn > asked.turn else None
    found = [one for one in (prompt, later) if one is not None]
    return min(found, default=None)
