"""a required key is missing, null or of the wrong type

What it does
    Reports content that is missing, null or of a wrong type. Also reports a call without its `type`, and a
    reasoning item without its `summary`. Reports a result without the name or the id that the provider
    requires.

Why it matters
    The provider rejects the request, often with an error text that does not name the cause.

How it happens
    OpenAI writes `content: null` beside calls, and other providers reject it. A client leaves out a key that
    another provider does not require.

What fix does
    lossless: adds the key with the shortest value that the provider accepts, or with the value from the call.
    lossless: removes an empty list of calls. lossy: removes a text that the provider does not accept beside
    calls, or the reasoning if only both together are rejected. The journal keeps it.

Evidence
    OpenAI: "Invalid value for 'content': expected a string, got null", and "Missing required parameter:
    'messages[2].tool_calls[0].type'" (langchain-azure 35). Groq: "property 'tool_call_id' is missing".
    Gemini: "function_response.name: Name cannot be empty". Responses: "Missing required parameter:
    'input[6].summary'" (WaLiAPI 61); all 3,600 accepted reasoning items have it. mistral-common 1.13.0, v1 to v3: "either content
    or tool_calls, but not both".
"""

from collections.abc import Iterator
from json import dumps

from turnlint.api import (
    Answered,
    Asked,
    Call,
    Case,
    ContentKey,
    Finding,
    Fix,
    Message,
    Other,
    Put,
    Raw,
    Rule,
    Take,
    Thinking,
    called,
    is_missing,
    quote,
)

RULE = Rule("PR318", "content-key", "error", fix="lossy", triggers=frozenset())

_TALK = b'{"model": "gpt-4.1", "messages": [{"role": "user", "content": %s}]}\n'

_REASONED = (
    b'{"model": "gpt-5.4", "store": false, "input": [{"role": "user", "content": "hi"}, {"type": "reasoning", '
    b'"encrypted_content": "gAAAA"%s}, {"role": "assistant", "content": "hi"}, {"role": "user", "content": "go on"}]}\n'
)  # fmt: skip

BAD = (
    Raw("openai-chat", _TALK % b"null", (("PR318", 1),  ("ST110", 1)), provider="openai"),
    Raw("openai-responses", _REASONED % b"", (("PR318", 1),), provider="openai-responses"),
)  # fmt: skip
GOOD = (
    Raw("openai-chat", _TALK % b'"hi"', provider="openai"),
    Raw("openai-responses", _REASONED % b', "summary": []', provider="openai-responses"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ContentKey):
        if clause.what == "content":
            final = len(case.messages) - 1
            for index, message in enumerate(case.messages):
                if clause.last in (None, index == final):
                    yield from _content(case, clause, index, message)
        elif clause.what == "calls":
            yield from _no_calls(case, clause)
        elif clause.what == "call-type":
            yield from _types(case, clause)
        elif clause.what == "summary":
            yield from _summaries(case, clause)
        else:
            yield from _results(case, clause)


def _content(case: Case, clause: ContentKey, index: int, message: Message) -> Iterator[Finding]:
    if not message.written_role or (clause.roles and message.written_role not in clause.roles):
        return  # `malformed-message` reports a message without a role; content would not repair it
    calls = any(isinstance(block, Call) for block in message.blocks)
    if clause.with_calls is not None and calls is not clause.with_calls:
        return
    if clause.with_reasoning and message.reasoning in ("absent", "null", "blank"):
        return
    others = {block.kind for block in message.blocks if isinstance(block, Other)}
    if message.content in ("null", "absent") and others & {"refusal", "audio"}:
        return  # a refusal or audio replaces its content
    if message.content not in (("absent", "null") if clause.neither else clause.kinds) or (clause.neither and calls):  # fmt: skip
        return
    what = {
        "absent": "no content", "null": "null as content", "no-parts": "an empty list as content",
        "blank": "empty content", "text": "a string as content", "parts": "a list as content",
    }.get(message.content, "content")  # fmt: skip
    beside = " next to its calls" if calls else ""
    yield RULE.at_message(
        case, index, f"the {quote(message.written_role)} message has {what}{beside}{' and its reasoning' if clause.with_reasoning else ''}",
        below=() if message.content == "absent" else ("content",), label=what, under=clause,
        told={"kind": message.content, "key": "content"}, fix=_fix_content(clause, index, message),
    )  # fmt: skip


def _fix_content(clause: ContentKey, index: int, message: Message) -> Fix:
    if clause.with_reasoning:
        return Fix("lossy", "remove `reasoning_content`", (Take(("reasoning_content",), index),))
    steps = (Put(("content",), b'""', index),)
    if message.content in ("text", "parts"):
        return Fix("lossy", "replace the content with an empty string", steps)
    return Fix("lossless", "set the content to an empty string", steps)


def _no_calls(case: Case, clause: ContentKey) -> Iterator[Finding]:
    for index, message in enumerate(case.messages):
        if message.no_calls:
            yield RULE.at_message(
                case, index, f"the {quote(message.written_role)} message has an empty list of calls",
                below=("tool_calls",), label="empty list", under=clause, told={"key": "tool_calls"},
                fix=Fix("lossless", "remove the empty list", (Take(("tool_calls",), index),)),
            )  # fmt: skip


def _types(case: Case, clause: ContentKey) -> Iterator[Finding]:
    for asked in case.asked:
        if not (call := asked.call).kind and not call.dialect and not case.is_hollow_call(asked):
            step = Put((*call.at, "type"), dumps(call.keys.body[0]).encode(), asked.message)
            yield RULE.at_call(
                case, asked, f"{called(call)} has no `type`", key="whole", label="no `type`", under=clause,
                told={"key": "type"}, fix=Fix("lossless", "add the `type`", (step,)),
            )  # fmt: skip


def _summaries(case: Case, clause: ContentKey) -> Iterator[Finding]:
    for index, message in enumerate(case.messages):
        if any(isinstance(block, Thinking) and not block.summed for block in message.blocks):
            yield RULE.at_message(
                case, index, "a reasoning item has no `summary`", label="no `summary`", under=clause, told={"key": "summary"},
                fix=Fix("lossless", "add an empty list as `summary`", (Put(("summary",), b"[]", index),)),
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
                case, answered, f"the result {of} has no {key}", key="id" if key == "id" else "name",
                label=f"no {key}", under=clause, told={"key": key}, fix=_fix_result(answered, asked, key),
            )  # fmt: skip


def _fix_result(answered: Answered, asked: Asked | None, key: str) -> Fix | None:
    """Return the repair: the id or the name of the call, if it has one."""
    result, value = answered.result, (asked.call.id if key == "id" else asked.call.name) if asked else None
    place = (*result.at, *(result.keys.id if key == "id" else result.keys.name))
    steps = (Put(place, dumps(value).encode(), answered.message),)
    if not value:
        return Fix("lossless", f"none; no call has the {key}")
    return Fix("lossless", f"add the {key} of its call", steps)
