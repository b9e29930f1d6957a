"""arguments are not encoded as the provider expects

What it does
    Reports arguments of a call in a form that the provider does not accept: an object where a string is
    expected, or a string where an object is expected. At providers that parse the string, it also reports a
    string that is not a JSON object.

Why it matters
    The provider rejects the whole request, or it shows the model other arguments than the model wrote.

How it happens
    An SDK parses the arguments and writes them back as an object. A framework encodes them twice. Another
    provider accepts any string, and the arguments were cut when a stream broke.

What fix does
    lossless: writes the same arguments in the expected form, and an empty object for empty arguments.
    Arguments that cannot be parsed are `unreadable-arguments`. An empty key stays, because its name is not
    known.

Evidence
    OpenAI: "expected a string, but got an object instead". It accepts a string that is not JSON (recorded
    bde57792f76e592e). Anthropic: "Input should be a valid dictionary". xAI parses the string (spiceai 4734).
    Qwen requires an object in it (qwen-code reports). Bedrock: "Provide a json object for the field". Mistral
    accepts both forms (mistralai 3.7.0, 17 recordings).
"""

from collections.abc import Iterator
from json import dumps

from msgspec import json

from turnlint.api import ArgumentsEncoding, Asked, Call, Case, Finding, Fix, Put, Raw, Rule, called

RULE = Rule("PR307", "arguments-encoding", "error", fix="lossless", triggers=frozenset())

BAD = (
    Raw(
        "openai-chat",
        b'{"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null, '
        b'"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}, '
        b'{"role": "tool", "tool_call_id": "c1", "content": "ok"}]}\n',
        (("PR307", 1),),
        provider="openai",
    ),
    Raw(
        "openai-chat",
        b'{"model": "grok-4", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "", '
        b'"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}]}, '
        b'{"role": "tool", "tool_call_id": "c1", "content": "ok"}]}\n',
        (("PR307", 1),),
        provider="xai",
    ),
)
GOOD = (
    Raw(
        "openai-chat",
        b'{"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null, '
        b'"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}]}, '
        b'{"role": "tool", "tool_call_id": "c1", "content": "ok"}]}\n',
        provider="openai",
    ),
)

_KINDS = {
    "absent": "missing",
    "null": "null",
    "object": "an object",
    "text": "a string",
    "other": "another value",
}
_NONE = ("absent", "null")
_EXPECTED = {"text": "a string", "object": "an object"}
_WORDS = {
    "text": "{written}; expected a string",
    "object": "{written}; expected an object",
    "json": "not valid JSON",
    "json-object": "not a JSON object",
    "no-empty-key": "an object with an empty key",
}


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ArgumentsEncoding):
        for asked in case.asked:
            call = asked.call
            if call.arguments in ("free", "unfit") or call.dialect or not _is_rejected(call, clause):
                continue  # `unreadable-arguments` reports a value that must be an object
            words = _words(call, clause)
            yield RULE.at_call(
                case,
                asked,
                f"the arguments of {called(call)} are {words}",
                key="body" if call.written != "absent" else "whole",
                label=words,
                under=clause,
                told={"kind": call.written},
                fix=_fix(case, asked, clause),
            )


def _words(call: Call, clause: ArgumentsEncoding) -> str:
    """Return the fault of the arguments of a call, in words."""
    if call.arguments == "nothing" and clause.wants in ("json", "json-object"):
        return f"{_KINDS[call.written] if call.written in _NONE else 'empty'}; expected a JSON object"
    return _WORDS[clause.wants].format(written=_KINDS.get(call.written, f"a {call.written}"))


def _fix(case: Case, asked: Asked, clause: ArgumentsEncoding) -> Fix | None:
    """Return the repair, if the arguments can be converted without a guess."""
    call, place = asked.call, (*asked.call.at, *asked.call.keys.body)
    title = f"encode the same arguments as {_EXPECTED.get(clause.wants, 'JSON')}"
    if call.written == "absent" and not call.name:
        return None  # the call has no object that could contain them
    if call.arguments == "nothing":
        title, text = "set the arguments to an empty object", b"{}"
    elif call.arguments != "object" or clause.wants not in ("text", "object"):
        return None
    elif call.body[:1] == b"#":  # a digest, so the arguments are decoded from the record
        value = case.said(asked.message, place)
        text = (value if isinstance(value, str) else dumps(value, ensure_ascii=False)).encode(
            "utf-8", "backslashreplace"
        )
        if value is None:
            return Fix("lossless", title)
    else:
        text = json.format(call.body, indent=0)  # white space between tokens has no meaning
    as_text = dumps(text.decode(), ensure_ascii=False).encode()
    data = json.format(text, indent=0) if clause.wants == "object" else as_text
    return Fix("lossless", title, (Put(place, data, asked.message),))


def _is_rejected(call: Call, clause: ArgumentsEncoding) -> bool:
    if clause.wants == "text":
        return call.written in ("object", "list", "other")
    if clause.wants == "object":
        return call.written in ("text", "list", "other") or (
            call.written in ("absent", "null") and not clause.optional
        )
    if clause.wants == "no-empty-key":
        return (
            call.arguments == "object"
            and call.body[:1] == b"{"
            and b'""' in call.body
            and "" in json.decode(call.body)
        )
    is_unparsable = call.arguments in ("broken", "torn") or (
        call.arguments == "nothing" and call.written == "text"
    )
    return is_unparsable or (clause.wants == "json-object" and call.arguments == "other")
