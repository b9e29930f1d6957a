"""a message holds a kind of content that the provider does not accept in it

What it does
    Reports a content block of a kind that the provider does not accept, in any message or in messages of one
    role. On OpenAI Responses, it reports text parts with the type of another role.

Why it matters
    The provider rejects the whole request.

How it happens
    A client writes a picture, a document or a tool call into a `system` message of the history. Another
    writes plain strings into a list of parts. OpenAI accepts them, and other servers of its API reject them.
    A converter writes the same type for all texts, such as `input_text` also for the assistant.

What fix does
    lossy: changes the role of the message to `user` if it contains only texts, pictures and documents.
    lossless: writes a plain string as a text part, or the type of a text part that the role of the message has.

Evidence
    Anthropic: "role 'system' supports text, tool_addition, and tool_removal blocks only" (probes of nine
    models on 2026-09-10, of claude-opus-5-5 on 2026-10-06; claude-code 73821). Ollama: "invalid message
    format" (recorded 5b5921bef3bac588, e4af7dd81cef2bca, 38eb8d8949732c44; ollama's openai/openai.go). OpenAI
    accepted plain strings (88e9f004620881f3). OpenAI Responses: "Invalid value: 'input_text'. Supported values
    are: 'output_text' and 'refusal'." (rust-genai 119, ai-dial-adapter-openai 511, litellm 17507, openhuman
    3624). All 3,300 accepted text parts at OpenAI have the type of their role. LM Studio accepted another
    (560eba4bb2dd3698).
"""

from collections.abc import Iterator
from json import dumps

from turnlint.api import Case, ContentKind, Finding, Fix, Message, Put, Raw, Rule, Text, quote

RULE = Rule("PR325", "content-kind", "error", fix="lossy", triggers=frozenset())

_TALK = (
    b'{"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}, {"role": '
    b'"system", "content": [%s]}]}\n'
)  # fmt: skip
_PARTS = b'{"model": "gemma3:4b", "messages": [{"role": "user", "content": [%s]}], "temperature": 0}\n'

_ITEMS = (
    b'{"model": "gpt-5", "store": false, "input": [{"role": "user", "content": [{"type": "%s", "text": "hi"}]}, {"role": '
    b'"assistant", "content": [{"type": "%s", "text": "hi"}]}, {"role": "user", "content": "go"}]}\n'
)  # fmt: skip

BAD = (
    Raw(
        "openai-responses",
        _ITEMS % (b"input_text", b"input_text"),
        (("PR325", 1),),
        provider="openai-responses",
    ),
    Raw(
        "openai-responses",
        _ITEMS % (b"output_text", b"output_text"),
        (("PR325", 1),),
        provider="openai-responses",
    ),
    Raw(
        "openai-responses",
        _ITEMS % (b"text", b"text"),
        (("PR325", 1), ("PR325", 1)),
        provider="openai-responses",
    ),
    Raw(
        "anthropic",
        _TALK % b'{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}',
        (("PR325", 1),),
        provider="anthropic",
    ),
    Raw("openai-chat", _PARTS % b'"hi"', (("PR325", 1),), provider="ollama"),
    Raw(
        "openai-chat",
        _PARTS % b'{"type": "file", "file": {"file_data": "JVBERi0="}}',
        (("PR325", 1),),
        provider="ollama",
    ),
)
GOOD = (
    Raw("openai-responses", _ITEMS % (b"input_text", b"output_text"), provider="openai-responses"),
    Raw("anthropic", _TALK % b'{"type": "text", "text": "Be brief."}', provider="anthropic"),
    Raw("openai-chat", _PARTS % b'{"type": "text", "text": "hi"}', provider="ollama"),
    Raw("openai-chat", _PARTS % b'"hi"', provider="openai"),
)  # fmt: skip

_TEXTS = frozenset({"text", "input_text", "output_text"})
_USER_KINDS = frozenset({"text", "image", "document"})
"""Kinds of content that a user message may have on every wire."""


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ContentKind):
        if clause.unless_tool_key and _has_tool_with_key(case, clause.unless_tool_key):
            continue
        for index, message in enumerate(case.messages):
            if clause.text_type:
                if message.has_odd_text and not message.dialect and clause.role in ("", message.written_role):
                    yield from _texts(case, clause, index, message)
            elif not clause.role and message.content == "parts":
                yield from _parts(case, clause, index)
            elif clause.role and message.written_role == clause.role:
                yield from _blocks(case, clause, index, message)


def _has_tool_with_key(case: Case, key: str) -> bool:
    """Whether a declared tool has a key, or the tools are not known."""
    request = case.transcript.request
    if request is None or request.tools is None:
        return True
    tools = case.value_in(request.record, request.tools_at)
    return any(isinstance(tool, dict) and tool.get(key) for tool in tools if isinstance(tools, list))


def _blocks(case: Case, clause: ContentKind, index: int, message: Message) -> Iterator[Finding]:
    kinds = [("text" if isinstance(block, Text) else block.kind, block) for block in message.blocks]
    refused = clause.refused
    wrong = next(
        (block for kind, block in kinds if (kind in refused if refused else kind not in clause.kinds)), None
    )
    if wrong is None:
        return
    kind = quote(getattr(wrong, "kind", ""))
    movable = clause.role != "user" and {kind for kind, _ in kinds} <= _USER_KINDS
    fix = Fix("lossy", "give the message the role `user`", (Put(("role",), b'"user"', index),))
    none = Fix("lossy", "none; the provider accepts no such content") if clause.role == "user" else None
    yield RULE.at_message(
        case, index, f"{quote(clause.role)} message holds a block of kind {kind}", below=wrong.at,
        label=f"needs a declared tool with `{clause.unless_tool_key}`" if clause.unless_tool_key else
        f"not in a {quote(clause.role)} message", under=clause, told={"kind": getattr(wrong, "kind", "")}, fix=fix if movable else none,
    )  # fmt: skip


def _texts(case: Case, clause: ContentKind, index: int, message: Message) -> Iterator[Finding]:
    """Yield a finding for the first text part whose type is not that of the role of its message."""
    if message.role == "assistant" and clause.role != "assistant":
        return
    content = case.said(index, ("content",))
    parts = enumerate(content if isinstance(content, list) else ())
    kinds = [(number, part.get("type")) for number, part in parts if isinstance(part, dict)]
    wrong = [(number, kind) for number, kind in kinds if kind in _TEXTS and kind != clause.text_type]
    if not wrong:
        return
    number, kind = wrong[0]
    data = dumps(clause.text_type).encode()
    changes = tuple(Put(("content", one, "type"), data, index) for one, _ in wrong)
    yield RULE.at_message(
        case, index, f"a text part of {quote(message.written_role)} has the type {quote(kind)}", below=("content", number),
        label=f"expected {quote(clause.text_type)}", under=clause, told={"kind": kind},
        fix=Fix("lossless", f"write the type {quote(clause.text_type)}", changes),
    )  # fmt: skip


def _parts(case: Case, clause: ContentKind, index: int) -> Iterator[Finding]:
    """Yield findings for parts of a kind that is not accepted, and for strings in place of parts."""
    content = case.said(index, ("content",))
    for number, part in enumerate(content if isinstance(content, list) else ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, str) and not clause.bare:
            what, label = "a string in its list of parts", "expected an object"
            data = dumps({"type": "text", "text": part}, ensure_ascii=False, separators=(", ", ": ")).encode()
            fix = Fix("lossless", "write the string as a text part", (Put(("content", number), data, index),))
        elif isinstance(kind, str) and kind not in clause.kinds:
            what, label = f"a part of kind {quote(kind)}", "not accepted"
            fix = Fix("lossy", "none; write it as a text")
        else:
            continue
        yield RULE.at_message(
            case, index, f"the message holds {what}", below=("content", number), label=label, under=clause, fix=fix,
        )  # fmt: skip
