"""a message does not match the schema of its format

What it does
    Reports values of the wrong kind where the wire says what must stand there: a message that is
    not an object, an unknown role, content that is a number, a call without its function. What is
    wrong is set aside and the rest of the conversation is still checked. A record that holds no
    conversation at all is a warning.

Why it matters
    A request with it is refused by its schema before the conversation is looked at; a reader without a
    schema fails later, somewhere else.

How it happens
    An SDK object was dumped with its internals. A proxy put a redaction notice where the messages were.
    Records of another kind were appended to the file.

What fix does
    Nothing: the right shape is known, the right content is not.

Evidence
    OpenAI Chat, recorded exchange 4a701ec87220729f: "Invalid type for 'messages[0].content': expected
    one of a string or array of objects, but got an object instead". Anthropic, 6bd72c2fccb889c3:
    "messages.0.content: Input should be a valid list".
"""

from collections.abc import Iterator

from turnlint.api import Case, Damage, Finding, Raw, Rule

RULE = Rule("ST103", "malformed-message", "error", triggers=frozenset({"misfit", "record"}))

BAD = (
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": {"text": "hi"}}]}\n', (("ST103", 1),)),
    Raw("openai-chat", b'{"messages": [{"content": "who says this?"}]}\n', (("ST103", 1),)),
    Raw("openai-chat", b'{"messages": ["hi"]}\n', (("ST103", 1),)),
    Raw("openai-chat", b'{"messages": "[removed by the proxy]"}\n', (("ST103", 1),)),
    Raw("anthropic", b'{"messages": [{"role": "narrator", "content": "once"}]}\n', (("ST103", 1),)),
    Raw("canonical", b'{"history": [{"speaker": "human", "blocks": "hi"}]}\n', (("ST103", 1),)),
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": "a"}]}\n42\n', (("ST103", 2),)),
)
GOOD = (
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}\n'),
    Raw("openai-chat", b'{"messages": [{"role": "assistant", "content": "a", "tool_calls": null}]}\n'),
)


def check(case: Case) -> Iterator[Finding]:
    for record, misfit in case.transcript.misfits:
        yield RULE.at_record(
            record,
            f"expected {misfit.expected}, got {misfit.found}",
            at=misfit.at,
            severity="error" if misfit.grave else "warning",
            kind=misfit.found,
        )


def check_record(damage: Damage) -> Iterator[Finding]:
    if damage.trouble.kind == "stray":
        yield RULE.at_record(
            damage.record,
            f"the record contains no conversation in the format of the file{damage.trouble.detail}",
            at=damage.trouble.at,
            severity="warning",
        )
