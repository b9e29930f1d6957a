"""a result contains content that the provider does not accept

What it does
    Reports images or other parts in a result where the provider accepts text only, and JSON that is not an
    object where it expects one. Also reports content in another form than the provider expects. Also reports
    a part with a source that the provider does not accept in a result: an uploaded file, an audio file.

Why it matters
    The provider rejects the request, although the call and its result are paired correctly.

How it happens
    A tool returned a picture, and the client wrote it into the text field. A tool returned a list, and the
    API expects an object.

What fix does
    lossless: writes the same content in the expected form: JSON as a text, as `{"result": …}` where an object
    is expected, or as a block. If the provider accepts no pictures or files in a result, they stay. Move them
    into a message of the user manually.

Evidence
    OpenAI: "Image URLs are only allowed for messages with role 'user', but this message with role 'tool'
    contains an image URL" (recorded df6f279d0c7a1b19). Bedrock: "toolResult.content.0.json is invalid.
    Provide a json object". Gemini: `response` is a Struct (google-genai 3.3.0). Cohere v1: `outputs` are
    objects (litellm 3351). Anthropic without the beta of its Files API: "Input tag 'file' found" (recorded
    760a0c9b6679e240). Responses: "unsupported MIME type 'audio/mpeg'" (recorded cc9635357041067f).
"""

import re
from collections.abc import Callable, Iterator
from json import dumps
from typing import Any

from turnlint.api import (
    Answered,
    Asked,
    Case,
    Example,
    Finding,
    Fix,
    Put,
    Raw,
    ResultContent,
    Rule,
    called,
    quote,
)

RULE = Rule("PR321", "result-content", "error", fix="lossless", triggers=frozenset())

BAD = (
    Raw(
        "openai-chat",
        b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null, '
        b'"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, '
        b'{"role": "tool", "tool_call_id": "c1", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]}\n',
        (("PR321", 1),),
        provider="azure-openai",
    ),
)
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  It is 18 degrees.
    """, wires=("openai-chat",), provider="openai"),
)  # fmt: skip

_MIME_TYPE = re.compile(r"data:(\w{1,40})/[\w.+-]{1,80}(?=;)")
_KINDS = {"text": "a string", "list": "a list", "object": "an object", "absent": "absent", "null": "null"}
_REPORTABLE = frozenset({
    "text", "image", "image_url", "document", "document_url", "file", "video", "video_url", "audio", "input_audio",
    "input_image", "input_text", "json", "tool_use", "tool_result", "thinking", "search_result", "reference", "refusal",
    "toolUse", "toolResult", "searchResult", "functionCall", "input_file",
})  # fmt: skip
"""Kinds that a report may name; any other kind may be content of the conversation."""


def _describe_kind(part: str) -> str:
    if part == "json-other":
        return "JSON that is not an object"
    return quote(part) if part in _REPORTABLE else "a part of an unknown type"


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ResultContent):
        for answered, asked in case.answered:
            result = answered.result
            if not (result.server or result.dialect or (clause.kinds and result.kind not in clause.kinds)):
                yield from _result(case, clause, answered, asked)


def _source(part: Any) -> tuple[str, str]:
    """Return the source of a part in the words of clauses and of the provider; a MIME type for a data URL."""
    if not isinstance(part, dict):
        return "", ""
    source, data = part.get("source"), part.get("file_data")
    if isinstance(source, dict):
        kind = source.get("type")
        return (kind, kind) if isinstance(kind, str) else ("", "")
    mime = _MIME_TYPE.match(data) if isinstance(data, str) else None
    return (mime[1], mime[0].removeprefix("data:")) if mime else ("", "")


def _enables(case: Case, beta: str) -> bool:
    """Whether the request names a beta feature."""
    request = case.transcript.request
    if not beta or request is None:
        return False
    named = [case.value_in(request.record, (*request.at, key)) for key in ("betas", "anthropic_beta")]
    return any(
        str(feature).startswith(beta)
        for features in named
        if isinstance(features, list)
        for feature in features
    )


def _sources(case: Case, clause: ResultContent, answered: Answered, subject: str) -> Iterator[Finding]:
    """Yield a finding for the first part of a result that has a rejected source."""
    result = answered.result
    if _enables(case, clause.unless_beta):
        return
    parts = case.said(answered.message, (*result.at, *result.keys.body))
    for number, part in enumerate(parts if isinstance(parts, list) else ()):
        source, written = _source(part)
        kind = part.get("type") if isinstance(part, dict) else None
        if source and f"{kind}:{source}" in clause.sources:
            yield RULE.at_result(
                case, answered, f"{subject} contains {_describe_kind(str(kind))} with the source {quote(written)}, which is not accepted in a "
                "result", key="body", label=f"source {quote(written)}", under=clause, told={"count": number, "kind": written},
                fix=Fix("lossy", "none; send the file in a user message"),
            )  # fmt: skip
            return


def _result(case: Case, clause: ResultContent, answered: Answered, asked: Asked | None) -> Iterator[Finding]:
    result = answered.result
    named = f"for {called(asked.call)}" if asked and asked.call.id == result.id else quote(result.id)
    subject, known = f"the result {named}", clause.parts or result.parts
    if any(source.partition(":")[0] in result.parts for source in clause.sources):
        yield from _sources(case, clause, answered, subject)
    wrong = next((part for part in result.parts if part in clause.refused or part not in known), None)
    if wrong is not None:
        yield RULE.at_result(
            case, answered, f"{subject} contains {_describe_kind(wrong)}, which is not accepted in a result", key="body",
            label=f"contains {_describe_kind(wrong)}", under=clause, told={"kind": wrong if wrong in _REPORTABLE else "…"},
            fix=_fix(case, answered, _blocks) if wrong == "json-other" else None,
        )  # fmt: skip
    elif clause.written and result.written not in clause.written:
        wanted = " or ".join(
            _KINDS.get(kind, "another value") for kind in clause.written if kind not in ("absent", "null")
        )
        found = _KINDS.get(result.written, "another value")
        media = set(result.parts) != {"text"} if result.written == "list" else bool(result.parts)
        yield RULE.at_result(
            case, answered, f"{subject} is {found}; expected {wanted}", key="body",
            label=f"expected {wanted}", under=clause, told={"kind": result.written},
            fix=None if media and clause.written[0] == "text" else _fix(case, answered, _FORMS[clause.written[0]]),
        )  # fmt: skip


def _fix(case: Case, answered: Answered, form: Callable[[Any], Any]) -> Fix:
    result, place = answered.result, (*answered.result.at, *answered.result.keys.body)
    value = case.said(answered.message, place)
    title = "convert the result to the expected type"
    if value is None and result.written not in ("null", "absent"):
        return Fix("lossless", title)  # its record was released
    data = dumps(form(value), ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Fix("lossless", title, (Put(place, data, answered.message),))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(str(part.get("text") or "") for part in value)
    return "" if value is None else dumps(value, ensure_ascii=False)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"result": value}


def _blocks(value: Any) -> list[Any]:
    if isinstance(value, list):  # a list of blocks, at least one with JSON that is no object
        return [{**part, "json": _object(part["json"])} if isinstance(part, dict) and "json" in part else part for part in value]  # fmt: skip
    texts = [{"text": value}] if value else []
    return texts if isinstance(value, str | None) else [{"json": _object(value)}]


_FORMS: dict[str, Callable[[Any], Any]] = {"text": _text, "list": _blocks, "object": _object}
