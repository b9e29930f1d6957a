"""results are not first in their message

What it does
    Reports text or other content before the results of a message, if the provider requires results first.
    Also reports other content beside results, if the provider requires results alone.

Why it matters
    The error text claims that the result is missing, so that users search for the wrong fault.

How it happens
    A client writes reminders, times or a message of the user before the results. The API joins two messages
    of one role, and the first contains text.

What fix does
    lossless: moves the results to the start of the message, or before the message with the text. lossless:
    where results must be alone, moves the other content into a message of its own after them.

Evidence
    Anthropic's documentation on tool use, and live tests of 2026-07 (qwen-code 8161, hermes 65369): a text
    before the result gives "`tool_use` ids were found without `tool_result` blocks". A text after it is
    accepted: 36 recorded requests. Bedrock, models of other vendors: "Conversation blocks and tool result
    blocks cannot be provided in the same turn" (strands 1.62).
"""

from collections.abc import Iterator

from turnlint.api import (
    Apart,
    Case,
    Example,
    Finding,
    Fix,
    Piece,
    Pointer,
    Result,
    ResultNotFirst,
    Rule,
    Settle,
    Shift,
    Step,
    called,
    near,
    quote,
    spot,
)

RULE = Rule("PR308", "result-not-first", "error", fix="lossless", triggers=frozenset())

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
    """Yield runs of messages that the provider reads as one: of the same role, if the wire joins them."""
    start = 0
    messages = case.messages
    for index in range(1, len(messages) + 1):
        joined = index < len(messages) and messages[index].role == messages[start].role == "user"
        if not (joined and case.transcript.wire.joins):
            yield start, index
            start = index


def _run(case: Case, clause: ResultNotFirst, start: int, end: int) -> Iterator[Finding]:
    before: tuple[int, Pointer] | None = None
    for index in range(start, end):
        message = case.messages[index]
        others = [(blank.before, 0, blank.at) for blank in message.blanks]
        blocks = enumerate(message.blocks)
        others += [(place, 1, block.at) for place, block in blocks if not isinstance(block, Result)]
        first = min(others, default=None)
        for place, result in enumerate(message.blocks):
            if not isinstance(result, Result) or result.server or id(result) not in case.asked_by:
                continue
            is_rejected = first is not None and (first[0] <= place or clause.alone)
            other = before or ((index, first[2]) if first and is_rejected else None)
            if other is not None and message.role in ("user", "tool"):
                steps = _steps(case, clause, range(index, end), other)
                yield _finding(case, clause, index, result, other, steps)
                return
        if first is not None and before is None:
            before = (index, first[2])


def _steps(case: Case, clause: ResultNotFirst, run: range, other: tuple[int, Pointer]) -> Iterator[Step]:
    """Yield the steps that move the results of the messages in a run to the front."""
    index, (where, at) = run[0], other
    if clause.alone and where == index:
        yield Apart(index)
        return
    for place in run if where < index else [index]:
        for block in case.messages[place].blocks:
            asked = case.asked_by.get(id(block)) if isinstance(block, Result) and not block.server else None
            if asked and where < index:
                yield Settle(spot(asked), Piece(place, block.at))
            elif asked and isinstance(at[-1], int) and block.at > at:
                yield Shift(Piece(place, block.at), at[-1])


def _finding(
    case: Case, clause: ResultNotFirst, index: int, result: Result, other: tuple[int, Pointer], steps: Iterator[Step]
) -> Finding:  # fmt: skip
    asked, (where, at) = case.asked_by[id(result)], other
    answers = (
        f"the result for {called(asked.call)}" if asked.call.id == result.id else f"result {quote(result.id)}"
    )
    how, title = ("alone", "move the other content to a separate message") if clause.alone else ("first", "move the results to the front of the message")  # fmt: skip
    return RULE.at_message(
        case, index, f"{answers} is not {how} in its message", below=result.at,
        label=f"not {how}", related=(near(case, where, "other content" if clause.alone else "this is before it", at),),
        under=clause, told={"ids": case.ids_of_turn[asked.turn], "index": asked.message, "next": asked.message + 1},
        fix=Fix("lossless", title, tuple(steps)),
    )  # fmt: skip
