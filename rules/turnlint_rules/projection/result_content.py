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
    is expected, or as a block. A picture or file stays where none is accepted. Move it into a message of the user by
    hand.

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
_TELLABLE = frozenset({
    "text", "image", "image_url", "document", "document_url", "file", "video", "video_url", "audio", "input_audio",
    "input_image", "input_text", "json", "tool_use", "tool_result", "thinking", "search_result", "reference", "refusal",
    "toolUse", "toolResult", "searchResult", "functionCall", "input_file",
})  # fmt: skip
"""Kinds that a report may name: any other may be what somebody said."""


def _named(part: str) -> str:
    if part == "json-other":
        return "JSON that is not an object"
    return quote(part) if part in _TELLABLE else "a part of an unknown type"


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ResultContent):
        for answered, asked in case.answered:
            result = answered.result
            if not (result.server or result.dialect or (clause.kinds and result.kind not in clause.kinds)):
                yield from _result(case, clause, answered, asked)


def _source(part: Any) -> tuple[str, str]:
    """The source of a part, as clauses name it and as the provider names it; a MIME type for a data URL."""
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
    return any(str(one).startswith(beta) for some in named if isinstance(some, list) for one in some)


def _sources(case: Case, clause: ResultContent, answered: Answered, of: str) -> Iterator[Finding]:
    """The first part of a result that has a refused source."""
    result = answered.result
    if _enables(case, clause.unless_beta):
        return
    parts = case.said(answered.message, (*result.at, *result.keys.body))
    for number, part in enumerate(parts if isinstance(parts, list) else ()):
        source, written = _source(part)
        kind = part.get("type") if isinstance(part, dict) else None
        if source and f"{kind}:{source}" in clause.sources:
            yield RULE.at_result(
                case, answered, f"{of} contains {_named(str(kind))} with the source {quote(written)}, which is not accepted in a "
                "result", key="body", label=f"source {quote(written)}", under=clause, told={"count": number, "kind": written},
                fix=Fix("lossy", "none, the log does not hold the file in another form: send it in a message of the user"),
            )  # fmt: skip
            return


def _result(case: Case, clause: ResultContent, answered: Answered, asked: Asked | None) -> Iterator[Finding]:
    result = answered.result
    named = f"for {called(asked.call)}" if asked and asked.call.id == result.id else quote(result.id)
    of, known = f"the result {named}", clause.parts or result.parts
    if any(one.partition(":")[0] in result.parts for one in clause.sources):
        yield from _sources(case, clause, answered, of)
    wrong = next((part for part in result.parts if part in clause.refused or part not in known), None)
    if wrong is not None:
        yield RULE.at_result(
            case, answered, f"{of} contains {_named(wrong)}, which is not accepted in a result", key="body",
            label=f"contains {_named(wrong)}", under=clause, told={"kind": wrong if wrong in _TELLABLE else "…"},
            fix=_fix(case, answered, _blocks) if wrong == "json-other" else None,
        )  # fmt: skip
    elif clause.written and result.written not in clause.written:
        wanted = " or ".join(
            _KINDS.get(kind, "another value") for kind in clause.written if kind not in ("absent", "null")
        )
        found = _KINDS.get(result.written, "another value")
        media = set(result.parts) != {"text"} if result.written == "list" else bool(result.parts)
        yield RULE.at_result(
            case, answered, f"{of} is {found}; expected {wanted}", key="body",
            label=f"expected {wanted}", under=clause, told={"kind": result.written},
            fix=None if media and clause.written[0] == "text" else _fix(case, answered, _FORMS[clause.written[0]]),
        )  # fmt: skip


def _fix(case: Case, answered: Answered, form: Callable[[Any], Any]) -> Fix:
    result, place = answered.result, (*answered.result.at, *answered.result.keys.body)
    said = case.said(answered.message, place)
    title = "convert the result to the expected type"
    if said is None and result.written not in ("null", "absent"):
        return Fix("lossless", title)  # its record was let go
    data = dumps(form(said), ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Fix("lossless", title, (Put(place, data, answered.message),))


def _text(said: Any) -> str:
    if isinstance(said, list):
        return "\n".join(str(part.get("text") or "") for part in said)
    return "" if said is None else dumps(said, ensure_ascii=False)


def _object(said: Any) -> dict[str, Any]:
    return said if isinstance(said, dict) else {"result": said}


def _blocks(said: Any) -> list[Any]:
    if isinstance(said, list):  # of blocks, one of which holds JSON that is no object
        return [{**one, "json": _object(one["json"])} if isinstance(one, dict) and "json" in one else one for one in said]  # fmt: skip
    texts = [{"text": said}] if said else []
    return texts if isinstance(said, str | None) else [{"json": _object(said)}]


_FORMS: dict[str, Callable[[Any], Any]] = {"text": _text, "list": _blocks, "object": _object}
