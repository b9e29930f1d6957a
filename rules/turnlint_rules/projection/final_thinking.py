"""an assistant message ends with a thinking block

What it does
    Reports an assistant message whose last block is `thinking` or `redacted_thinking`, if the provider
    rejects that. A message with another assistant message after it is not reported, because the API joins the
    two.

Why it matters
    The provider rejects the whole request, also if the message is in the middle of the history.

How it happens
    A stream stopped after the thinking. A client removed the tool call or the text after it.

What fix does
    lossy: removes the thinking of the message, or the message if it contains nothing else. The journal keeps
    it. If thinking is on and the message has calls, only the thinking after the last other block is removed.

Evidence
    Anthropic: "The final block in an assistant message cannot be `thinking`" (forgecode 2107 and 3071 of
    2026-04, hermes 13010). None of about 3,800 accepted requests has an assistant message with such an end
    (read 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import (
    Call,
    Case,
    Drop,
    Example,
    FinalThinking,
    Finding,
    Fix,
    Message,
    Piece,
    Raw,
    Rule,
    Thinking,
)

RULE = Rule("PR324", "final-thinking", "error", fix="lossy", triggers=frozenset())

_TALK = (
    b'{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}, {"role": '
    b'"assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}%s]}, {"role": "user", '
    b'"content": "go on"}]}\n'
)  # fmt: skip

BAD = (
    Raw("anthropic", _TALK % b"", (("PR324", 1),), provider="anthropic"),
)  # fmt: skip
GOOD = (
    Raw("anthropic", _TALK % b', {"type": "text", "text": "Hello."}', provider="anthropic"),
    Example("""
        user       What is two and two?
        assistant
          think    Easy.
        assistant  Four.
        user       Well?
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    if case.transcript.is_log:
        return  # an agent builds its requests from its log, and omits such a block
    for clause in case.clauses(FinalThinking):
        for index, message in enumerate(case.messages):
            last = message.blocks[-1] if message.blocks else None
            if (
                message.role != "assistant"
                or not isinstance(last, Thinking)
                or _has_content_after(case, index)
            ):
                continue
            yield RULE.at_message(
                case, index, "the last block of the assistant message is a thinking block", below=last.at,
                label="the last block", under=clause, told={"kind": last.kind}, fix=_fix(case, index, message),
            )  # fmt: skip


def _has_content_after(case: Case, index: int) -> bool:
    """Whether content follows the last block in the message as the provider joins it."""
    message = case.messages[index]
    behind = any(blank.before >= len(message.blocks) for blank in message.blanks)
    after = case.messages[index + 1].role if index + 1 < len(case.messages) else ""
    return behind or (after == "assistant" and case.transcript.wire.joins)


def _fix(case: Case, index: int, message: Message) -> Fix:
    blocks = message.blocks
    others = [place for place, block in enumerate(blocks) if not isinstance(block, Thinking)]
    if not others and not message.blanks:
        return Fix("lossy", "remove the message, which holds nothing else", (Drop(Piece(index)),))
    request = case.transcript.request
    needed = any(isinstance(block, Call) for block in blocks) and request and request.thinking == "budget"
    start = others[-1] if others and needed else 0
    removed = [block for block in blocks[start:] if isinstance(block, Thinking)]
    return Fix(
        "lossy",
        "remove the thinking of the message",
        tuple(Drop(Piece(index, block.at)) for block in removed),
    )
