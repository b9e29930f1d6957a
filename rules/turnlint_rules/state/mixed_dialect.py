"""part of a conversation is in the format of another API

What it does
    Reports a role, a call or a result in the format of another API than the rest of the conversation: a
    `tool` message between Anthropic blocks, a `tool_use` block in OpenAI content, a `functionCall` outside
    Gemini. It is still parsed and paired, so that one change of format does not cause ten findings.

Why it matters
    Each provider rejects the other's format, as an unknown role, as an unknown block, or as calls without
    results.

How it happens
    The provider changed in the middle of a session, and only new messages were translated. A gateway logs
    what it received from one side and what it sent to the other.

What fix does
    lossless: rewrites the message in the format of the conversation if it contains only texts, calls and
    results. A message with images or thinking stays, because some formats have no equivalent.

Evidence
    Anthropic rejects a message of role `tool`, because it is none of its roles. Kimi: "contains an invalid
    part type: tool_use". None of 3,249 accepted requests on Anthropic's API and 8,842 on OpenAI's contained a
    part in another format (recorded exchanges, read 2026-11).
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
            break  # one finding for each message is enough


def _foreign(message: Message) -> Iterator[tuple[str, Pointer, str]]:
    """Yield the format, the position and the description of each part in another format."""
    if message.dialect is not None:
        yield message.dialect, (), f"this {message.written_role or message.role} message"
    for block in message.blocks:
        if isinstance(block, (Call, Result, Other)) and block.dialect is not None:
            kind = "this call" if isinstance(block, Call) else "this result"
            yield block.dialect, block.at, kind if not isinstance(block, Other) else f"this {block.kind}"
