"""a message is empty

What it does
    Reports a message of the user or the assistant without text, calls, results or other content. A text of
    white space counts as empty. An empty result and an empty user message at the end of a stored log are not
    reported. An item of a program's own type may have its content under another key.

Why it matters
    Several providers reject empty messages. Others show the model an empty turn, and the model answers it.

How it happens
    A stream was cancelled before its first token, and the empty message was kept. A filter removed all blocks
    of a message and kept the message. A user pressed return.

What fix does
    lossless: removes the message. A message with a key that its format does not have stays.

Evidence
    Anthropic: "all messages must have non-empty content except for the optional final assistant message".
    Kimi: "the message at position 79 with role 'assistant' must not be empty". It is a warning, because
    OpenAI accepts it (recorded 089fdadfd9e95c14 and three more). mini-swe-agent ends its logs with an empty
    user message, and Roo Code keeps encrypted reasoning in items beside an empty content (logs of 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import OTHER_KEYS, Case, Drop, Example, Finding, Fix, Piece, Raw, Rule

RULE = Rule("ST110", "empty-turn", "warning", fix="lossless", triggers=frozenset({"empty"}))

BAD = (
    Example("""
        user       Hello.
        assistant                                     <- ST110
        user       Are you there?
    """),
    Example("""
        user       Hello.
        assistant  Hi.
        user                                          <- ST110
        user       A real question.
    """),
)
GOOD = (
    Example("""
        user       Run it.
        assistant
          call     c1 run {"job": 1}
          result   c1
        assistant  It printed nothing.
    """),
    Raw("openai-chat", b'[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "bye"}, {"role": "user", "content": ""}]\n'),
    Raw(
        "anthropic",
        b'[{"role": "user", "content": [{"type": "text", "text": "hi"}]}, {"type": "reasoning", "role": "assistant", '
        b'"content": "", "encrypted_content": "gA", "ts": 3}, {"role": "user", "content": [{"type": "text", "text": "go"}]}]\n',
    ),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    malformed = {
        (id(record), misfit.at[:depth])
        for record, misfit in case.transcript.misfits
        for depth in range(len(misfit.at) + 1)
    }
    last = len(case.messages) - 1 if case.transcript.request is None else -1
    first = [n for n, message in enumerate(case.messages) if message.role in ("user", "assistant")][:1]
    for index, message in enumerate(case.messages):
        if message.empty and (id(message.record), message.at) not in malformed:
            if (index == last and message.role == "user") or case.is_other_item(index):
                continue
            role = message.written_role or message.role
            if not case.is_hollow(index):
                fix = Fix("lossless", OTHER_KEYS)
            elif message.role == "user" and index in first:
                # Without its first user message a conversation is no better; rules about providers report it.
                fix = Fix("lossless", "none; write the text of the message")
            else:
                fix = Fix("lossless", "remove the empty message", (Drop(Piece(index)),))
            yield RULE.at_message(case, index, f"{role} message is empty", fix=fix)
