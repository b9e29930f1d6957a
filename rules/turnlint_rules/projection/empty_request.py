"""a request has no messages

What it does
    Reports a request whose list of messages is empty or missing. It is a warning for a record with no other
    keys than a model and a system prompt, unless the provider is named: such a record may be a stored
    conversation. It does not check a bare list of messages, or a request that continues a conversation
    which the provider keeps.

Why it matters
    The provider rejects the request, because it contains nothing to answer.

How it happens
    A client writes its only message into the system prompt. A filter or a context limit removes all messages.

What fix does
    Nothing: the log does not contain the request of the user. Add a user message.

Evidence
    Gemini: "contents is not specified", recorded 475c5384b77f0207, bf06e413a7f70dde, 440884585e6a37f6.
    Anthropic: "messages: Field required". vLLM 0.21.0: HTTP 400 (llm-d-inference-sim 666). No accepted
    request of any API has an empty list. Ollama's own API loads a model with an empty list (documentation,
    2026-11). A request without a known provider and with keys of that API only is therefore a warning.
"""

from collections.abc import Iterator

from msgspec import structs

from turnlint.api import Case, EmptyRequest, Finding, Fix, Raw, Rule, quote

RULE = Rule("PR323", "empty-request", "error", fix="placeholder", triggers=frozenset())

_SETTINGS = b'"generationConfig": {"temperature": 0}, "systemInstruction": {"parts": [{"text": "Be brief."}]}'

_OF_ANY_RECORD = frozenset({"model", "system", "systemInstruction", "system_instruction", "instructions"})
"""Keys of a request that a stored conversation can have too."""

BAD = (
    Raw("gemini", b'{"contents": [], %s}\n' % _SETTINGS, (("PR323", 1),), provider="gemini"),
    Raw("gemini", b"{%s}\n" % _SETTINGS, (("PR323", 1),), provider="gemini"),
    Raw("gemini", b'{"contents": [], "systemInstruction": {"parts": [{"text": "Be brief."}]}}\n', (("PR323", 1),), provider="auto"),
    Raw("openai-chat", b'{"model": "gpt-4.1", "messages": [], "temperature": 0}\n', (("PR323", 1),), provider="openai"),
    Raw("openai-chat", b'{"model": "gpt-4.1", "temperature": 0}\n', (("PR323", 1),), provider="openai"),
    Raw("anthropic", b'{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": []}\n', (("PR323", 1),), provider="anthropic"),
    Raw("anthropic", b'{"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "hi"}\n', (("PR323", 1),), provider="anthropic"),
    Raw("openai-responses", b'{"model": "gpt-5", "input": [], "store": true}\n', (("PR323", 1),), provider="openai-responses"),
    Raw("openai-responses", b'{"model": "gpt-5", "instructions": "hi"}\n', (("PR323", 1),), provider="openai-responses"),
    Raw("openai-chat", b'{"model": "m", "messages": []}\n', (("PR323", 1),), provider="vllm"),
)  # fmt: skip
GOOD = (
    Raw("gemini", b'{"contents": [{"parts": [{"text": "hi"}]}], %s}\n' % _SETTINGS, provider="gemini"),
    Raw(
        "openai-responses",
        b'{"model": "gpt-5", "input": [], "previous_response_id": "resp_1"}\n',
        provider="openai-responses",
    ),
    Raw("openai-responses", b'{"model": "gpt-5", "prompt": {"id": "pmpt_1"}}\n', provider="openai-responses"),
)


def check(case: Case) -> Iterator[Finding]:
    request, transcript = case.transcript.request, case.transcript
    if transcript.messages or transcript.headless or request is None or not request.key:
        return
    place = (*request.at, request.key)
    body = case.value_in(request.record, request.at)
    keys = frozenset(body) if isinstance(body, dict) else frozenset[str]()
    if transcript.misfits or not (request.whole or case.named or keys <= {request.key, *_OF_ANY_RECORD}):
        return  # its messages are malformed, or the record is a stored list and no request
    is_absent = case.value_in(request.record, place) is None
    for clause in case.clauses(EmptyRequest):
        if (clause.what == "absent") is not is_absent:
            continue
        what = f"no {quote(request.key)}" if is_absent else f"no message in {quote(request.key)}"
        finding = RULE.at_request(
            case, request.at if is_absent else place, f"the request has {what}",
            label="no messages" if is_absent else "empty", under=clause,
            fix=Fix("placeholder", "none; add a user message"),
        )  # fmt: skip
        is_doubtful = not case.named and (not request.whole or keys <= {*clause.elsewhere})
        is_milder = is_doubtful and finding.severity == "error"
        yield structs.replace(finding, severity="warning") if is_milder else finding
