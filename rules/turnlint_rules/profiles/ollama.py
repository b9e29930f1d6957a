"""The profile of Ollama: `/api/chat`, where arguments are objects, and the OpenAI-compatible `/v1`.

Results are paired by position, and pairs are not checked. `/v1` rejects content that it cannot translate to
`/api/chat`.
"""

from turnlint.api import (
    AnyClause,
    ArgumentsEncoding,
    Capabilities,
    ContentKey,
    ContentKind,
    EmptyRequest,
    Known,
    Profile,
    Weight,
    accepted_format,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import CHAT, unchecked

_OWN = ("ollama",)
_UNREAD = (
    "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments "
    "of type api.ToolCallFunctionArguments"
)
_SOURCE = "ollama's openai/openai.go and middleware/openai.go"
_FORMAT = "invalid message format"
_NO_MESSAGES = "[] is too short - 'messages'"
_COMPATIBLE: tuple[AnyClause, ...] = (
    *(
        EmptyRequest(what=what, wires=CHAT, says=_NO_MESSAGES, source=_SOURCE, date="2026-11")
        for what in ("empty", "absent")
    ),
    ContentKind(
        kinds=("text", "image_url", "input_audio"), bare=False, wires=CHAT, says=_FORMAT, date="2026-11",
        source=f"recorded 5b5921bef3bac588, e4af7dd81cef2bca, 38eb8d8949732c44, of two libraries; {_SOURCE}",
    ),
    ContentKey(
        what="content", kinds=("null", "absent"), with_calls=False, wires=CHAT, severity="warning",
        says="invalid message content type: <nil>", source=f"{_SOURCE}, as recorded for an object: 71b8da6ff947a852",
        date="2026-11",
    ),
    ArgumentsEncoding(
        wants="json-object", wires=CHAT, severity="warning", says="invalid tool call arguments", date="2026-11",
        source=f"{_SOURCE}; all 478 accepted ones hold an object",
    ),
)  # fmt: skip
_KNOWN = (
    Known(
        pattern=r"\[\] is too short - .?messages", rules=("PR323",), sample=_NO_MESSAGES, source=_SOURCE, date="2026-11",
    ),
    Known(
        pattern=r"invalid tool call arguments", rules=("PR307", "ST115"), sample="invalid tool call arguments",
        source=_SOURCE, date="2026-11",
    ),
    Known(
        pattern=r"cannot unmarshal (?P<kind>\w+) into Go struct field (?:ChatRequest)?[\w.]*tool_calls\.function\.arguments",
        rules=("PR307",), sample=_UNREAD, source="public reports; ollama 0.6.3", date="2026-11",
    ),
    Known(
        pattern=r"Value looks like object, but can't find closing '\}' symbol", rules=("PR307",), source="promptfoo 10980",
        sample="Value looks like object, but can't find closing '}' symbol", date="2026-09",
        about="the arguments of a call are a text; `/api/chat` accepts an object",
    ),
    Known(
        pattern=r"cannot unmarshal (?P<kind>array|object) into Go struct field (?:ChatRequest)?[\w.]*messages\.content",
        rules=("ST103",), source="litellm 10127, 11273; ollama 0.9", date="2025-05",
        sample="json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
        about="the content is a list of parts; `/api/chat` accepts a text",
    ),
    Known(
        pattern=r"error parsing tool call: raw=", rules=(), sample="error parsing tool call: raw='…'", source="public reports",
        date="2026-11", about="the model just wrote an invalid call; the conversation is not the cause", status="abridged",
    ),
    Known(
        pattern=r"invalid message content type: (?P<kind>\S+)", rules=("ST103", "PR318"), source="recorded 71b8da6ff947a852",
        sample="invalid message content type: map[string]interface {}", date="2026-11",
    ),
    Known(
        pattern=r"\binvalid message format", rules=("PR325", "ST103", "ST116"), sample=_FORMAT, date="2026-11",
        source="recorded 5b5921bef3bac588", about="a content part is a plain string, or has an unsupported type",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="ollama",
        title="Ollama",
        wires=("ollama", "openai-chat"),
        hosts=("ollama.com",),
        models=r"^[a-z0-9][a-z0-9._-]*:(latest|cloud|\d+x\d+b|\d+(\.\d+)?[bmt])[a-z0-9._-]*$",
        capabilities=Capabilities(
            format="ollama",
            schema="JSON Schema",
            streaming="whole calls",
            quirks=("a result has the name of its tool and no call id", "parallel calls depend on the model"),
            sources=(
                accepted_format(75), source_of("schema", "streaming", source="ollama 0.6.3, its types of requests and responses"),
                source_of_quirks("ollama 0.6.3, and recorded requests"),
            ),
        ),
        clauses=(
            ArgumentsEncoding(wants="object", wires=_OWN, says=_UNREAD, source="ollama 0.6.3", date="2026-11"),
            ArgumentsEncoding(
                wants="text", wires=CHAT, severity="warning", source="the compatible API takes what OpenAI takes", date="2026-11"
            ),
            *_COMPATIBLE,
        ),
        weights=(
            Weight(
                rule="malformed-message", at="content", found="an object", source="recorded 71b8da6ff947a852",
                says="invalid message content type: map[string]interface {{}}", date="2026-11",
            ),
            *unchecked(
                source="ollama 0.6.3: results bear a tool's name; accepted with one id in two turns (8405ac666cda09a6)",
                date="2026-11", mild=("reused-call-id",),
            ),
            Weight(
                rule="conflicting-results", severity="warning", source="ollama 0.6.3: results bear a tool's name",
                date="2026-11",
            ),
            Weight(
                rule="missing-call-id", severity="info", wires=("ollama", "openai-chat"), date="2026-11",
                source="recorded 8532f200a440810c",
            ),
        ),
        known=_KNOWN,
    ),
)  # fmt: skip
