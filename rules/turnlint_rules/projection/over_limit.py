"""the request exceeds a limit of the provider

What it does
    Reports a turn with too many calls, a request with too many tools or messages, and a result that is too
    long. The limits come from the provider's profile.

Why it matters
    The provider rejects the whole request.

How it happens
    All tools of all connected servers are declared. A tool returned a whole file. Calls of several turns were
    joined into one.

What fix does
    Nothing: only the author can decide what to leave out.

Evidence
    OpenAI: "Expected an array with maximum length 128, but got an array with length 217". Responses: outputs
    of at most 10,485,760 characters (OpenAPI document, 2026-08). Anthropic: 100,000 messages (API reference).
    Llama 3.1 templates: "This model only supports single tool-calls at once!" (executed).
"""

from collections.abc import Iterator

from msgspec import json

from turnlint.api import Call, Case, Example, Finding, OverLimit, Raw, Rule, called, quote

RULE = Rule("PR319", "over-limit", "error", triggers=frozenset())

BAD = (
    Raw(
        "openai-chat",
        b'{"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}], "tools": ['
        + b", ".join(b'{"type": "function", "function": {"name": "f%d"}}' % number for number in range(129))
        + b"]}\n",
        (("PR319", 1),),
        provider="openai",
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


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(OverLimit, spelled=False):
        if clause.what == "calls":
            yield from _calls(case, clause)
        elif clause.what == "result-characters":
            yield from _results(case, clause)
        elif clause.what == "messages":
            count = len(case.messages)
            if count > clause.most:
                yield _counted(case, clause, count, "messages", clause.most)
        elif case.transcript.request:
            request = case.transcript.request
            count = len(request.tools or ())
            if count > clause.most:
                yield RULE.at_request(
                    case, request.tools_at, f"{count:,} tools are declared; the maximum is {clause.most:,}",
                    label=f"{count:,} tools", under=clause, told={"count": count, "length": count, "most": clause.most},
                )  # fmt: skip


def _calls(case: Case, clause: OverLimit) -> Iterator[Finding]:
    for index, message in enumerate(case.messages):
        count = sum(isinstance(block, Call) and not block.server for block in message.blocks)
        if count > clause.most:
            yield _counted(case, clause, count, "calls in this message", index)


def _counted(case: Case, clause: OverLimit, count: int, what: str, index: int) -> Finding:
    return RULE.at_message(
        case, index, f"{count:,} {what}; the maximum is {clause.most:,}", label=f"{count:,} {what.split(maxsplit=1)[0]}",
        under=clause, told={"count": count, "length": count, "most": clause.most},
    )  # fmt: skip


def _results(case: Case, clause: OverLimit) -> Iterator[Finding]:
    for answered, asked in case.answered:
        length = _characters(answered.result.body, clause.most)
        if length > clause.most:
            subject = (
                f"for {called(asked.call)}"
                if asked and asked.call.id == answered.result.id
                else quote(answered.result.id)
            )
            yield RULE.at_result(
                case, answered, f"the result {subject} is longer than {clause.most:,} characters", key="body",
                under=clause, told={"length": length, "most": clause.most},
            )  # fmt: skip


def _characters(body: bytes, most: int) -> int:
    """Return the length of a text, decoded if it may be over the limit; otherwise, and for a digest, 0."""
    if len(body) <= most or body[:1] == b"#":
        return 0
    return len(json.decode(body, type=str)) if body[:1] == b'"' else len(body)
