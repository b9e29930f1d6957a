"""something stands before the results in the message that answers

What it does
    Reports results with text or anything else before them in the message that answers a turn, where the
    provider wants results first; and anything beside them, where it wants them alone.

Why it matters
    The refusal reads as if the result were missing, so that people look for the wrong fault.

How it happens
    A client puts reminders, time stamps or the user's interruption before the results. Two messages of
    one role are joined by the API, and the first holds text.

What fix does
    lossless: moves the results to the front of the message; what is said stays, after them.

Evidence
    Anthropic's documentation on tool use, and tried live in 2026-07 (qwen-code 8161, hermes 65369): a text
    before the result is answered as "`tool_use` ids were found without `tool_result` blocks". Text after it
    is taken: 36 recorded requests. Bedrock, other vendors' models: "Conversation blocks and tool result
    blocks cannot be provided in the same turn" (strands 1.62).
"""

from collections.abc import Iterator

from turnlint.api import Case, Example, Finding, Fix, Result, ResultNotFirst, Rule, called, near, quote

RULE = Rule("PR308", "result-not-first", "error", fix="lossless")

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
        user       By the way:
          result   c1 18 degrees   <- PR308
        assistant  It is 18 degrees.
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        user       By the way, hurry.
        assistant  It is 18 degrees.
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ResultNotFirst):
        for start, end in _runs(case):
            yield from _run(case, clause, start, end)


def _runs(case: Case) -> Iterator[tuple[int, int]]:
    """Messages that the provider reads as one: neighbours of one role, where the wire joins them."""
    start = 0
    messages = case.messages
    for index in range(1, len(messages) + 1):
        joined = index < len(messages) and messages[index].role == messages[start].role == "user"
        if not (joined and case.transcript.wire.joins):
            yield start, index
            start = index


def _run(case: Case, clause: ResultNotFirst, start: int, end: int) -> Iterator[Finding]:
    before: tuple[int, tuple[str | int, ...]] | None = None
    for index in range(start, end):
        message = case.messages[index]
        said = [(blank.before, 0, blank.at) for blank in message.blanks]
        said += [
            (place, 1, block.at)
            for place, block in enumerate(message.blocks)
            if not isinstance(block, Result)
        ]
        results = [(place, block) for place, block in enumerate(message.blocks) if isinstance(block, Result)]
        for place, result in results:
            if result.server or message.role not in ("user", "tool"):
                continue
            earlier = [at for where, _, at in sorted(said) if where <= place]
            if clause.alone and said and not earlier:
                earlier = [said[0][2]]
            culprit = before or ((index, earlier[0]) if earlier else None)
            if culprit is not None:
                yield _finding(case, clause, index, result, culprit)
                return
        if said and before is None:
            before = (index, min(said)[2])


def _finding(
    case: Case, clause: ResultNotFirst, index: int, result: Result, culprit: tuple[int, tuple[str | int, ...]]
) -> Finding:
    asked = next(
        (one.asked for one in case.ledger.interactions if one.answer and one.answer.result is result), None
    )
    turn = [one.call.id or "" for one in case.asked if asked and one.turn == asked.turn]
    answers = (
        f"the result for {called(asked.call)}"
        if asked and asked.call.id == result.id
        else f"result {quote(result.id)}"
    )
    where, at = culprit
    return RULE.at_message(
        case,
        index,
        f"{answers} does not stand {'alone' if clause.alone else 'first'} in the message that answers",
        below=result.at,
        label="not alone" if clause.alone else "not first",
        related=(near(case, where, "this stands before it" if not clause.alone else "beside this", at),),
        under=clause,
        told={
            "ids": ", ".join(turn),
            "index": asked.message if asked else index,
            "next": asked.message + 1 if asked else index,
            "count": len(turn),
        },
        fix=Fix(
            "lossless",
            "put the rest into a message of its own" if clause.alone else "move the results before all else",
        ),
    )
