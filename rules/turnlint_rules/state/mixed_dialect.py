"""part of a conversation is in the format of another API

What it does
    Reports roles, calls and results in another wire's spelling than the rest: a `tool` message
    among Anthropic blocks, a `tool_use` block in OpenAI content, a `functionCall` anywhere else.
    They are still parsed and paired, so that one change of format does not cause ten findings.

Why it matters
    The provider of either wire refuses the other's half: as an unknown role, an unknown block, or, worst,
    as calls without results.

How it happens
    The provider was switched in the middle of a session and only new messages were translated. A gateway
    logs what it got on one side and what it sent on the other.

What fix does
    lossless: writes the message as this wire spells it, where it holds nothing but texts, calls and
    results. Images and thinking blocks have no equivalent in some formats: such a message stays.

Evidence
    Anthropic refuses a message of role `tool` by its enumeration of roles; Kimi: "contains an invalid part
    type: tool_use". No accepted request among 3,249 on the Anthropic wire and 8,842 on OpenAI's had a
    piece of another (recorded exchanges, read 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import (
    Call,
    Case,
    Finding,
    Fix,
    Message,
    Other,
    Pointer,
    Raw,
    Result,
    Rule,
    Translate,
    quote,
)

RULE = Rule("ST116", "mixed-dialect", "error", fix="lossless", triggers=frozenset({"dialect"}))

BAD = (
    Raw(
        "anthropic",
        b'{"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "run", "input":'
        b' {}}]}, {"role": "tool", "tool_call_id": "t1", "content": "ok"}]}\n',
        (("ST116", 1),),
    ),
    Raw(
        "openai-chat",
        b'{"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "run", "input":'
        b' {}}]}, {"role": "tool", "tool_call_id": "t1", "content": "ok"}]}\n',
        (("ST116", 1),),
    ),
)
GOOD = (
    Raw(
        "openai-chat",
        b'{"messages": [{"role": "assistant", "content": [{"type": "text", "text": "so"}, {"type": "tool_use", "id":'
        b' "c1", "name": "run", "input": {}}], "tool_calls": [{"id": "c1", "type": "function", "function":'
        b' {"name": "run", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]}\n',
    ),
)


def check(case: Case) -> Iterator[Finding]:
    wire = case.transcript.wire.name
    for index, message in enumerate(case.messages):
        for dialect, place, what in _foreign(message):
            yield RULE.at_message(
                case,
                index,
                f"{what} is in the {quote(dialect)} format, but the conversation is in {quote(wire)}",
                below=place,
                label=f"{dialect} format",
                fix=Fix(
                    "lossless", "convert the message to the format of the conversation", (Translate(index),)
                ),
            )
            break  # one seam a message is enough to see


def _foreign(message: Message) -> Iterator[tuple[str, Pointer, str]]:
    if message.dialect is not None:
        yield message.dialect, (), f"this {message.written_role or message.role} message"
    for block in message.blocks:
        if isinstance(block, (Call, Result, Other)) and block.dialect is not None:
            kind = "this call" if isinstance(block, Call) else "this result"
            yield block.dialect, block.at, kind if not isinstance(block, Other) else f"this {block.kind}"
