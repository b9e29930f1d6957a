"""the last text ends with white space

What it does
    Reports a request whose last message is an assistant message with a text that ends with a space or a line
    break.

Why it matters
    The provider does not let the model continue a text with white space at its end, and rejects the request.

How it happens
    A client writes the start of the answer with a space or a line break after the last word.

What fix does
    lossless: removes the white space at the end.

Evidence
    Anthropic: "final assistant content cannot end with trailing whitespace" (many reports; Bedrock returns
    the same text).
"""

from collections.abc import Iterator
from json import dumps

from turnlint.api import Case, Example, Finding, Fix, Put, Raw, Rule, Text, TrailingSpace

RULE = Rule("PR313", "trailing-whitespace", "error", fix="lossless", triggers=frozenset())

BAD = (
    Raw(
        "anthropic",
        b'{"model": "claude-3-5-haiku-20241022", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}, '
        b'{"role": "assistant", "content": "The answer is "}]}\n',
        (("PR313", 1),),
        provider="anthropic",
    ),
)
GOOD = (
    Example("""
        user       What is two and two?
        assistant  The answer is
        user       Yes?
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    if not case.ends:
        return
    last = len(case.messages) - 1
    message = case.messages[last]
    if message.role != "assistant" or not message.blocks:
        return
    block = message.blocks[-1]
    for clause in case.clauses(TrailingSpace):
        if isinstance(block, Text) and block.trailing:
            yield RULE.at_message(
                case, last, "the request ends with an assistant text that ends with white space", below=block.at,
                label="trailing white space", under=clause, fix=_fix(case, last, block),
            )  # fmt: skip


def _fix(case: Case, index: int, block: Text) -> Fix:
    value, at = case.said(index, block.at), block.at
    if isinstance(value, dict):
        value, at = value.get("text"), (*at, "text")
    data = dumps(value.rstrip()).encode() if isinstance(value, str) else None
    return Fix("lossless", "remove the white space", (Put(at, data, index),) if data else ())
