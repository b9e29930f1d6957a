"""a message does not match the schema of its format

What it does
    Reports a value of the wrong kind: a message that is not an object, an unknown role, a number as content,
    a call without its function. The value is left out, and the rest of the conversation is still checked. A
    record without any conversation is a warning.

Why it matters
    A provider checks the schema first and rejects the request. A reader without a schema fails later, at
    another place.

How it happens
    An SDK object was written with its internal fields. A proxy replaced the messages by a redaction notice.
    Records of another kind were appended to the file.

What fix does
    lossless: writes an empty string for an empty list where a text is expected. Moves a call of another speaker
    into a message of the model, if that is an error. Otherwise nothing: the intended content is not known.

Evidence
    OpenAI Chat, recorded exchange 4a701ec87220729f: "Invalid type for 'messages[0].content': expected one of
    a string or array of objects, but got an object instead". Anthropic, 6bd72c2fccb889c3:
    "messages.0.content: Input should be a valid list".
"""

from collections.abc import Iterator

from msgspec import structs

from turnlint.api import (
    Call,
    Case,
    Damage,
    Finding,
    Fix,
    Misfit,
    Pointer,
    Put,
    Raw,
    Record,
    Rule,
    Unmix,
    name_key,
)

RULE = Rule("ST103", "malformed-message", "error", fix="lossless", triggers=frozenset({"misfit", "record"}))

BAD = (
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": {"text": "hi"}}]}\n', (("ST103", 1),)),
    Raw("openai-chat", b'{"messages": [{"content": "who says this?"}]}\n', (("ST103", 1),)),
    Raw("openai-chat", b'{"messages": ["hi"]}\n', (("ST103", 1),)),
    Raw("openai-chat", b'{"messages": "[removed by the proxy]"}\n', (("ST103", 1),)),
    Raw("anthropic", b'{"messages": [{"role": "narrator", "content": "once"}]}\n', (("ST103", 1),)),
    Raw("canonical", b'{"history": [{"speaker": "human", "blocks": "hi"}]}\n', (("ST103", 1),)),
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": "a"}]}\n42\n', (("ST103", 2),)),
    Raw("canonical", b'{"history": [{"speaker": "human", "blocks": [{"type": "text", "text": "a"}, {"type": "tool_call", "id": "c1", "name": "run", "parameters": {}}]}, {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "c1", "result": "r"}]}]}\n', (("ST103", 1),)),
    Raw("ollama", b'{"model": "m", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": []}], "think": true}\n', (("ST103", 1),)),
)  # fmt: skip
GOOD = (
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}\n'),
    Raw("openai-chat", b'{"messages": [{"role": "assistant", "content": "a", "tool_calls": null}]}\n'),
)


def check(case: Case) -> Iterator[Finding]:
    misfits = case.transcript.misfits
    places = (
        {(id(message.record), message.at): n for n, message in enumerate(case.messages)} if misfits else {}
    )
    for record, misfit in misfits:
        finding = RULE.at_record(
            record,
            f"{name_key(misfit.at)}expected {misfit.expected}, got {misfit.found}",
            at=misfit.at,
            severity="error" if misfit.grave else "warning",
            kind=misfit.found,
        )
        yield structs.replace(finding, fix=_fix(case, record, misfit, places))


def _fix(case: Case, record: Record, misfit: Misfit, places: dict[tuple[int, Pointer], int]) -> Fix | None:
    """Return the repair of a call of another speaker, or of an empty list in place of a string without content."""
    # The messages of an agent's log are records of their own: a block has no list to go to.
    is_request = misfit.grave and not case.transcript.is_log
    if is_request and (owner := places.get((id(record), misfit.at[:-2]))) is not None:
        message = case.messages[owner]
        calls = {one.at for one in message.blocks if isinstance(one, Call)}
        if misfit.at[-2:] in calls and message.role != "assistant":
            return Fix("lossless", "move the call into a message of the model", (Unmix(owner),))
    index = places.get((id(record), misfit.at[:-1]))
    if index is None or misfit.at[-1:] != ("content",) or misfit.expected != "a string":
        return None
    if case.value_in(record, misfit.at) != []:
        return None
    return Fix("lossless", "set the content to an empty string", (Put(("content",), b'""', index),))


def check_record(damage: Damage) -> Iterator[Finding]:
    if damage.trouble.kind == "stray":
        yield RULE.at_record(
            damage.record,
            f"the record is no message or request, and is not checked{damage.trouble.detail}",
            at=damage.trouble.at,
            severity="warning",
        )
