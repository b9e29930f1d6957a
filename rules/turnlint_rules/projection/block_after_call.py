"""something stands after the calls of a message

What it does
    Reports texts that stand after a call in the assistant's turn.

Why it matters
    The provider then no longer sees the results as following on the calls, and refuses the request as if
    they were missing.

How it happens
    A stream was put together in the wrong order. A client joined two assistant messages, or the API did.

What fix does
    lossless: moves the text before the calls.

Evidence
    Anthropic: recorded 610f3c5b201d5b69 was refused with "`tool_use` ids were found without `tool_result` blocks
    immediately after"; none of 1,107 accepted requests with tools has a text after a call. A probe that says
    otherwise (pi-anthropic-auth 66) is outranked by the recording.
"""

from collections.abc import Iterator

from turnlint.api import (
    Asked,
    BlockAfterCall,
    Call,
    Case,
    Example,
    Finding,
    Fix,
    Rule,
    Text,
    called,
    near_call,
)

RULE = Rule("PR322", "block-after-call", "error", fix="lossless")

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
    calls = {id(asked.call): asked for asked in case.asked}
    for clause in clauses:
        open_call: Asked | None = None
        for index, message in enumerate(case.messages):
            if message.role != "assistant" or not case.transcript.wire.joins:
                open_call = None
            if message.role != "assistant":
                continue
            for block in message.blocks:
                if isinstance(block, Call) and not block.server:
                    open_call = calls[id(block)]
                elif open_call is not None and isinstance(block, Text):
                    yield _finding(case, clause, index, block, open_call)
                    open_call = None


def _finding(case: Case, clause: BlockAfterCall, index: int, block: Text, asked: Asked) -> Finding:
    return RULE.at_message(
        case, index, f"a text stands after {called(asked.call)}", below=block.at, label="after the call",
        related=(near_call(case, asked, "this call"),), under=clause,
        told={"ids": case.ids_of_turn[asked.turn], "index": asked.message, "next": asked.message + 1},
        fix=Fix("lossless", "move the text before the calls"),
    )  # fmt: skip
