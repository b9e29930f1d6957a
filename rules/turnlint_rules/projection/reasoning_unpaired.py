"""reasoning is missing, or separated from its output

What it does
    Reports reasoning items without the item that follows from them, and messages with calls that lack
    their reasoning where the conversation otherwise keeps it.

Why it matters
    Providers that remember their reasoning refuse one half without the other; others answer worse, or
    refuse calls that come without the thought behind them.

How it happens
    A history is cut between the two, or filtered by type. A store keeps `content` and `tool_calls` and
    drops the key beside them.

What fix does
    lossy: takes the lonely reasoning item out; the journal keeps it. An empty reasoning key is added where
    that is known to be enough (lossless).

Evidence
    Responses: "Item 'rs_…' of type 'reasoning' was provided without its required following item". DeepSeek:
    "The `reasoning_content` in the thinking mode must be passed back to the API". Kimi: "reasoning_content is
    missing in assistant tool call message at index N" (read 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import (
    Call,
    Case,
    Drop,
    Example,
    Finding,
    Fix,
    Piece,
    Put,
    Raw,
    ReasoningUnpaired,
    Result,
    Rule,
    Text,
    Thinking,
    quote,
)

RULE = Rule("PR315", "reasoning-unpaired", "warning", fix="lossy")

_REQUEST = (
    b'{"model": "gpt-5.1", "store": true, "input": [{"role": "user", "content": "hi"}, '
    b'{"type": "reasoning", "id": "rs_1", "summary": []}, %s{"role": "user", "content": "go on"}]}\n'
)  # fmt: skip

BAD = (
    Raw("openai-responses", _REQUEST % b"", (("PR315", 1),), provider="openai-responses"),
)  # fmt: skip
GOOD = (
    Raw(
        "openai-responses",
        _REQUEST % b'{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}, ',
        provider="openai-responses",
    ),
    Example("""
        user       What is the weather in Paris?
        assistant
          think    I must look.
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  It is 18 degrees.
    """, wires=("openai-chat",), provider="deepseek"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ReasoningUnpaired):
        yield from (_alone if clause.what == "alone" else _missing)(case, clause)


def _alone(case: Case, clause: ReasoningUnpaired) -> Iterator[Finding]:
    last = len(case.messages) - 1
    for index, message in enumerate(case.messages):
        if message.kind != "reasoning" or not any(_is_bound(block) for block in message.blocks):
            continue
        follower = case.messages[index + 1] if index < last else None
        if follower is None and case.transcript.open_end:
            continue
        if follower is None or follower.role != "assistant":
            yield RULE.at_message(
                case, index, f"reasoning item {quote(message.item)} is not followed by its output item",
                label="no output item follows", under=clause, told={"id": message.item or "", "ids": message.item or ""},
                fix=Fix("lossy", "remove the reasoning item", (Drop(Piece(index)),)),
            )  # fmt: skip


def _is_bound(block: object) -> bool:
    """A thought whose words the provider keeps; one that carries them in a cipher may stand alone."""
    return isinstance(block, Thinking) and not block.cipher


def _missing(case: Case, clause: ReasoningUnpaired) -> Iterator[Finding]:
    """Where other messages keep their reasoning, or the request says that the model thinks."""
    request = case.transcript.request
    kept = any(message.reasoning != "absent" for message in case.messages)
    thinking = request.thinking if request else "unsaid"
    if thinking == "off" or (not kept and thinking == "unsaid"):
        return
    why = "although other messages have it" if kept else "although thinking is enabled"
    start = _last_user(case) if clause.scope == "loop" else -1
    for index, message in enumerate(case.messages):
        calls = any(isinstance(block, Call) for block in message.blocks)
        if (
            index > start
            and message.role == "assistant"
            and calls
            and message.reasoning in ("absent", "null")
        ):
            yield RULE.at_message(
                case, index, f"a message with calls has no {quote(clause.key)}, {why}",
                label=f"no {clause.key}", under=clause, told={"key": clause.key},
                fix=Fix("lossless", f"add an empty {clause.key}", (Put((clause.key,), b'""', index),)),
            )  # fmt: skip


def _last_user(case: Case) -> int:
    for index in range(len(case.messages) - 1, -1, -1):
        message = case.messages[index]
        words = any(isinstance(block, Text) for block in message.blocks)
        if (
            message.role == "user"
            and words
            and not any(isinstance(block, Result) for block in message.blocks)
        ):
            return index
    return -1
