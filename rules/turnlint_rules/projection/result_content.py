"""a result holds something that the provider does not take in a result

What it does
    Reports results with images or other parts in them where only text is taken, JSON that is no object
    where an object is wanted, and contents written in another way than the provider reads.

Why it matters
    The request is refused, although the call and its result belong together.

How it happens
    A tool returned a picture, and the client put it where the text goes. A list was returned as it is, on a
    wire that wants an object around it.

What fix does
    Nothing yet that loses nothing: put the picture into a user message after the result, the list into an
    object.

Evidence
    OpenAI: "Image URLs are only allowed for messages with role 'user', but this message with role 'tool'
    contains an image URL" (recorded df6f279d0c7a1b19). Bedrock: "toolResult.content.0.json is invalid. Provide a
    json object". Gemini: `response` is a Struct (google-genai 3.3.0). Cohere v1: `outputs` are objects (litellm
    3351).
"""

from collections.abc import Iterator

from turnlint.api import Answered, Asked, Case, Example, Finding, Raw, ResultContent, Rule, called, quote

RULE = Rule("PR321", "result-content", "error")

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

_KINDS = {
    "text": "a text", "list": "a list", "object": "an object", "absent": "absent", "null": "null",
    "other": "another value",
}  # fmt: skip
_TELLABLE = frozenset({
    "text", "image", "image_url", "document", "document_url", "file", "video", "video_url", "audio", "input_audio",
    "input_image", "input_text", "json", "tool_use", "tool_result", "thinking", "search_result", "reference", "refusal",
    "toolUse", "toolResult", "searchResult", "functionCall",
})  # fmt: skip
"""Kinds that a report may name: any other may be what somebody said."""


def _named(part: str) -> str:
    if part == "json-other":
        return "JSON that is no object"
    return quote(part) if part in _TELLABLE else "a part of a kind that is not known"


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ResultContent):
        for answered, asked in case.answered:
            result = answered.result
            if result.server or result.dialect or (clause.kinds and result.kind not in clause.kinds):
                continue
            yield from _result(case, clause, answered, asked)


def _result(case: Case, clause: ResultContent, answered: Answered, asked: Asked | None) -> Iterator[Finding]:
    result = answered.result
    named = asked is not None and asked.call.id == result.id
    of = f"the result for {called(asked.call)}" if named and asked else f"the result {quote(result.id)}"
    wrong = next(
        (
            part
            for part in result.parts
            if part in clause.refused or (clause.parts and part not in clause.parts)
        ),
        None,
    )
    if wrong is not None:
        yield RULE.at_result(
            case, answered, f"{of} holds {_named(wrong)}, which is not accepted in a result", key="body",
            label=f"holds {_named(wrong)}", under=clause, told={"kind": wrong if wrong in _TELLABLE else "…"},
        )  # fmt: skip
    elif clause.written and result.written not in clause.written:
        wanted = " or ".join(_KINDS[kind] for kind in clause.written if kind not in ("absent", "null"))
        found = _KINDS.get(result.written, "something else")
        yield RULE.at_result(
            case, answered, f"{of} is {found}, where {wanted} is expected", key="body",
            label=f"{found}, not {wanted}", under=clause, told={"kind": result.written},
        )  # fmt: skip
