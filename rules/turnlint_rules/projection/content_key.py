"""a key that the provider wants is missing, or null, or of another kind

What it does
    Reports contents that are missing, null or of a kind the provider does not take in that place, calls
    without their `type`, and results without the name or id that this provider asks for.

Why it matters
    The request is refused, often with a text about something else.

How it happens
    `content: null` beside calls is how OpenAI writes them, and others refuse it. A client leaves out
    what another provider does not ask for.

What fix does
    lossless: adds the key with the emptiest value that is taken.

Evidence
    OpenAI: "Invalid value for 'content': expected a string, got null", and "Missing required parameter:
    'messages[2].tool_calls[0].type'" (langchain-azure 35). Groq: "property 'tool_call_id' is missing".
    Gemini: "function_response.name: Name cannot be empty". mistral-common 1.13.0, v1 to v3: "either content or
    tool_calls, but not both".
"""

from collections.abc import Iterator

from turnlint.api import (
    Call,
    Case,
    ContentKey,
    Finding,
    Fix,
    Message,
    Other,
    Raw,
    Rule,
    called,
    is_missing,
    quote,
)

RULE = Rule("PR318", "content-key", "error", fix="lossless")

_TALK = b'{"model": "gpt-4.1", "messages": [{"role": "user", "content": %s}]}\n'

BAD = (
    Raw("openai-chat", _TALK % b"null", (("PR318", 1),  ("ST110", 1)), provider="openai"),
)  # fmt: skip
GOOD = (
    Raw("openai-chat", _TALK % b'"hi"', provider="openai"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ContentKey):
        if clause.what == "content":
            for index, message in enumerate(case.messages):
                yield from _content(case, clause, index, message)
        elif clause.what == "calls":
            yield from _no_calls(case, clause)
        elif clause.what == "call-type":
            yield from _types(case, clause)
        else:
            yield from _results(case, clause)


def _content(case: Case, clause: ContentKey, index: int, message: Message) -> Iterator[Finding]:
    if clause.roles and message.written_role not in clause.roles:
        return
    calls = any(isinstance(block, Call) for block in message.blocks)
    if clause.with_calls is not None and calls is not clause.with_calls:
        return
    hollow = message.content in ("null", "absent")
    if hollow and any(
        isinstance(block, Other) and block.kind in ("refusal", "audio") for block in message.blocks
    ):
        return  # something else stands for its content
    if clause.neither and (calls or message.content not in ("absent", "null")):
        return
    if not clause.neither and message.content not in clause.kinds:
        return
    what = {
        "absent": "no content", "null": "a null content", "no-parts": "an empty list for its content",
        "blank": "an empty content", "text": "a text for its content", "parts": "a list for its content",
    }.get(message.content, "a content")  # fmt: skip
    beside = " beside its calls" if calls else ""
    yield RULE.at_message(
        case, index, f"the {quote(message.written_role)} message has {what}{beside}",
        below=() if message.content == "absent" else ("content",), label=what, under=clause,
        told={"kind": message.content, "key": "content"},
        fix=Fix("lossless", "write an empty text"),
    )  # fmt: skip


def _no_calls(case: Case, clause: ContentKey) -> Iterator[Finding]:
    for index, message in enumerate(case.messages):
        if message.no_calls:
            yield RULE.at_message(
                case, index, f"the {quote(message.written_role)} message has an empty list of calls",
                below=("tool_calls",), label="no calls in it", under=clause, told={"key": "tool_calls"},
                fix=Fix("lossless", "leave the list out"),
            )  # fmt: skip


def _types(case: Case, clause: ContentKey) -> Iterator[Finding]:
    for asked in case.asked:
        if not asked.call.kind and not asked.call.dialect:
            yield RULE.at_call(
                case, asked, f"{called(asked.call)} lacks its `type`", key="whole", label="no type", under=clause,
                told={"key": "type"}, fix=Fix("lossless", "add the type"),
            )  # fmt: skip


def _results(case: Case, clause: ContentKey) -> Iterator[Finding]:
    key = "id" if clause.what == "result-id" else "name"
    for answered, asked in case.answered:
        result = answered.result
        if clause.roles and result.kind not in clause.roles:
            continue
        if is_missing(result.id) if key == "id" else not result.name:
            of = f"for {called(asked.call)}" if asked and asked.call.id == result.id else quote(result.id)
            yield RULE.at_result(
                case, answered, f"the result {of} lacks its {key}", key="id" if key == "id" else "name",
                label=f"no {key}", under=clause,
                told={"key": key}, fix=Fix("lossless", f"add the {key} of its call"),
            )  # fmt: skip
