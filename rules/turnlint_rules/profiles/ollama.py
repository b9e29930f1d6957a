"""Ollama: its own `/api/chat`, where arguments are objects, and the OpenAI-compatible `/v1`.

Results are paired by position; nothing is checked.
"""

from turnlint.api import ArgumentsEncoding, Capabilities, Known, Profile, Weight
from turnlint_rules.profiles._chat import CHAT, unchecked

_OWN = ("ollama",)
_UNREAD = (
    "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments "
    "of type api.ToolCallFunctionArguments"
)
_KNOWN = (
    Known(
        pattern=r"cannot unmarshal (?P<kind>\w+) into Go struct field (?:ChatRequest)?[\w.]*tool_calls\.function\.arguments",
        rules=("PR307",), sample=_UNREAD, source="public reports; ollama 0.6.3", date="2026-11",
    ),
    Known(
        pattern=r"error parsing tool call: raw=", rules=(), sample="error parsing tool call: raw='…'", source="public reports",
        date="2026-11", about="what the model wrote just now is no call; the conversation is not at fault", status="abridged",
    ),
    Known(
        pattern=r"invalid message content type: (?P<kind>\S+)", rules=("ST103",), source="recorded 71b8da6ff947a852",
        sample="invalid message content type: map[string]interface {}", date="2026-11",
    ),
    Known(
        pattern=r"\binvalid message format", rules=("ST103", "ST116"), sample="invalid message format", date="2026-11",
        source="recorded 5b5921bef3bac588", about="a part of a content is a bare text or of a type that is not read",
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
            quirks=("results name their tool, not their call", "whether calls may be parallel hangs on the model"),
        ),
        clauses=(
            ArgumentsEncoding(wants="object", wires=_OWN, says=_UNREAD, source="ollama 0.6.3", date="2026-11"),
            ArgumentsEncoding(
                wants="text", wires=CHAT, severity="warning", source="the compatible API takes what OpenAI takes", date="2026-11"
            ),
        ),
        weights=(
            Weight(
                rule="malformed-message", at="content", found="an object", source="recorded 71b8da6ff947a852",
                says="invalid message content type: map[string]interface {{}}", date="2026-11",
            ),
            *unchecked(source="ollama 0.6.3: results bear a tool's name", date="2026-11"),
            Weight(
                rule="conflicting-results", severity="warning", source="ollama 0.6.3: results bear a tool's name",
                date="2026-11",
            ),
            Weight(rule="missing-call-id", severity="info", source="recorded 8532f200a440810c", date="2026-11"),
        ),
        known=_KNOWN,
    ),
)  # fmt: skip
