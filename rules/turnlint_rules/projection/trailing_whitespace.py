"""the last text ends with white space

What it does
    Reports a request whose last message is the assistant's and whose text ends in a space or a line end.

Why it matters
    Where the model is to go on from that text, white space at its end is refused.

How it happens
    A prefill is written as people write, with a space or a line end after the last word.

What fix does
    lossless: takes the white space at the end off.

Evidence
    Anthropic: "final assistant content cannot end with trailing whitespace" (many reports; the same text
    through Bedrock).
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
    said, at = case.said(index, block.at), block.at
    if isinstance(said, dict):
        said, at = said.get("text"), (*at, "text")
    data = dumps(said.rstrip()).encode() if isinstance(said, str) else None
    return Fix("lossless", "remove the white space", (Put(at, data, index),) if data else ())
