"""The profile of local servers (vLLM, SGLang, llama.cpp) and of the chat templates that they render.

Errors depend more on the template of the model than on the server, and users replace templates. Clauses by
model name are therefore warnings. Calls and results are not matched.
"""

from msgspec import structs

from turnlint.api import (
    AnyClause,
    ArgumentsEncoding,
    Capabilities,
    ContentKey,
    EmptyRequest,
    Known,
    OverLimit,
    Profile,
    ResultContent,
    RoleOrder,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import CHAT, CHAT_WIRE, STREAM, native_kimi, nine, unlooked

_EXECUTED = "templates of trl 1.16.0 and vllm a014e35, executed"
_DATE = "2026-11"
_MISTRAL = "[Mm]i[sx]tral|[Mm]agistral|[Dd]evstral"
_ALTERNATES = "[Mm]i[sx]tral|[Gg]emma-?[23]"
_TURNS = (
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
)
_BOTH = (
    "Cannot pass both content and thinking in an assistant message with tool calls! Put the analysis message in one or the "
    "other, but not both."
)
_UNTYPED = "Missing tool call type"
_NO_NAME = "Tool response dicts require a 'name' key indicating the name of the called function!"
_DROPS_TEXT = "[Ll]lama-?3|[Hh]ermes|[Mm]i[sx]tral|[Gg]ranite|gpt-oss|x[Ll][Aa][Mm]|functiongemma"

_IDS = tuple(
    # The formats contradict each other, so neither is required if no model is named.
    structs.replace(form, unnamed="silent")
    for form in (
        nine(
            models=_MISTRAL, severity="warning", says="Tool call IDs should be alphanumeric strings with length 9!",
            source="llama.cpp 11402; tokenizers from v13 on take others", date="2025-01",
        ),
        native_kimi(models="[Kk]imi-[Kk]2", source="K2-Vendor-Verifier; vllm 29596, kimchi 1063", date="2026-04"),
    )
)  # fmt: skip
_CLAUSES: tuple[AnyClause, ...] = (
    EmptyRequest(
        what="empty", says="Messages cannot be empty.", source="llm-d-inference-sim 666: HTTP 400 of vLLM 0.21.0; dynamo 2067. "
        "The text is that of sglang's serving_chat.py; other servers have other texts", date="2026-08",
    ),
    EmptyRequest(
        what="absent", source="`messages` has no default in the schemas of vLLM and of the servers that copy it", date=_DATE,
    ),
    ArgumentsEncoding(
        wants="json-object", severity="warning", says="Assistant tool call function.arguments must be valid JSON.",
        source="sglang 0.5.23 refuses it; vllm 0.33.0 makes it {}, before 48922 it failed", date="2026-07",
    ),
    OverLimit(
        what="calls", most=1, models=r"[Ll]lama-?3[.-][12]", severity="warning", source=_EXECUTED, date=_DATE,
        says="This model only supports single tool-calls at once!",
    ),
    OverLimit(
        what="calls", most=1, models="gpt-oss", severity="warning", date=_DATE,
        source=f"{_EXECUTED}: only the first call is rendered, and all results",
    ),
    ContentKey(
        what="content", kinds=("null",), roles=("assistant",), with_calls=True, severity="warning", date=_DATE,
        models=r"gpt-oss|[Ll]lama-?(3[.-]2|4)|lfm2\.5|LFM2\.5|[Qq]wen.*VL|[Pp]hi-?3|[Hh]unyuan|[Gg]emma-?3",
        says="argument of type 'NoneType' is not iterable", source=_EXECUTED,
    ),
    ContentKey(
        what="content", kinds=("text", "parts"), roles=("assistant",), with_calls=True, severity="info", date=_DATE,
        models=_DROPS_TEXT, source=f"{_EXECUTED}: words beside calls are dropped",
    ),
    ContentKey(
        what="content", kinds=("text", "parts"), roles=("assistant",), with_calls=True, with_reasoning=True, models="gpt-oss",
        severity="warning", unnamed="silent", says=_BOTH, source=f"{_EXECUTED}; llama.cpp 17040", date=_DATE,
    ),
    ContentKey(
        what="calls", models=r"[Ll]lama-?3[.-][12]", severity="warning", date="2025-02",
        says="This model only supports single tool-calls at once!", source="vllm 12937, 13978",
    ),
    ContentKey(what="call-type", severity="warning", says=_UNTYPED, source="lemonade 1481: llama.cpp", date="2026-03"),
    ContentKey(
        what="result-name", models="[Hh]ermes", severity="warning", says=_NO_NAME, source="xorbitsai/inference 2259",
        date="2024-09",
    ),
    ResultContent(
        written=("text",), severity="warning", models="[Dd]eep[Ss]eek|[Gg]ranite|[Hh]unyuan|[Qq]wen3", date=_DATE,
        source=f"{_EXECUTED}: a list raises, or the result is lost",
    ),
    RoleOrder(
        role="user", after=("user", "tool"), models=_ALTERNATES, severity="warning", says=_TURNS, source=_EXECUTED,
        date=_DATE,
    ),
    RoleOrder(
        role="system", only_after=("start", "system"), models=r"[Qq]wen-?3\.[5-9]", severity="warning", source=_EXECUTED,
        says="System message must be at the beginning.", date=_DATE,
    ),
    *_IDS,
)  # fmt: skip

_KNOWN = (
    Known(
        pattern=r"Can only get item pairs from a mapping|.str object. has no attribute .items|"
        r"function\.arguments must be a JSON object \(mapping\), not a string|"
        r"Tool call arguments must be a mapping, got a JSON-encoded string",
        rules=("PR307",), sample="Can only get item pairs from a mapping.", source=_EXECUTED, date=_DATE,
        about="the template expects an object and got a string: the server must decode it first",
    ),
    Known(
        pattern=r"can only concatenate str \(not .?dict.?\) to str", rules=("PR307",), source=_EXECUTED, date=_DATE,
        sample='can only concatenate str (not "dict") to str', about="the template expects a string and got an object",
    ),
    Known(
        pattern=r"Assistant tool call function\.arguments must be (?:valid JSON|a JSON object)",
        rules=("PR307", "ST106", "ST115"), sample="Assistant tool call function.arguments must be valid JSON.",
        source="sglang 0.5.23", date=_DATE,
    ),
    Known(
        pattern=r"chat completions only support assistant tool_calls of type .?function", rules=("PR318", "ST116"),
        sample="chat completions only support assistant tool_calls of type 'function'.", source="vllm 0.33.0", date=_DATE,
        about="a call is of another type than `function`",
    ),
    Known(
        pattern=r"Missing tool call type", rules=("PR318",), sample=_UNTYPED, source="lemonade 1481: llama.cpp",
        date="2026-03",
    ),
    Known(
        pattern=r"Failed to parse tool call arguments as JSON", rules=("PR307", "ST115", "ST106"), date="2026-07",
        sample="Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 2: "
        "syntax error while parsing object key - unexpected end of input; expected string literal",
        source="llama.cpp 25510, 22948; pentagi 313",
    ),
    Known(
        pattern=r"Cannot determine type of .?item", rules=(), sample="Cannot determine type of 'item'", date="2026-09",
        source="llama.cpp 26394, 29159; ellmer 1153",
        about="llama.cpp's Responses API: an assistant message has no `type`, or the `summary` of a reasoning item is null",
    ),
    Known(
        pattern=r"messages\.(?P<index>\d+)\.ChatCompletionMessage\w+\.content\b", rules=("PR318", "ST103", "PR325"),
        sample="messages.1.ChatCompletionMessageGenericParam.content.str", source="sglang 4236, LibreChat 6256",
        date="2025-03", status="abridged", about="SGLang lists a fault for each type of message that it tried",
    ),
    Known(
        pattern=r"This model only supports single tool-calls at once", rules=("PR319", "PR318"), source=_EXECUTED, date=_DATE,
        sample="This model only supports single tool-calls at once!",
    ),
    Known(
        pattern=r"Message has tool role, but there was no previous assistant message with a tool call", source="nanobot 2007",
        sample="Message has tool role, but there was no previous assistant message with a tool call!",
        rules=("PA202", "PA204", "PA203"), date="2026-03",
    ),
    Known(
        pattern=r"Cannot pass both content and thinking in an assistant message with tool calls", rules=("PR318",),
sample=_BOTH,
        source=_EXECUTED, date=_DATE, about="text and reasoning are both beside a call: gpt-oss accepts one of them",
    ),
    Known(
        pattern=r"argument of type .?NoneType.? is not iterable|.NoneType.? object is not iterable", rules=("PR318",),
        sample="argument of type 'NoneType' is not iterable", source=_EXECUTED, date=_DATE,
    ),
    Known(
        pattern=r"[Cc]onversation roles must alternate user/assistant", rules=("PR310", "PA201", "PA202"), sample=_TURNS,
        source=_EXECUTED, date=_DATE,
    ),
    Known(
        pattern=r"Tool call IDs should be alphanumeric strings with length 9", rules=("PR303", "ST104"), date="2025-01",
        sample="Tool call IDs should be alphanumeric strings with length 9!", source="llama.cpp 11402",
    ),
    Known(
        pattern=r"System message must be at the beginning", rules=("PR310",), source=_EXECUTED, date=_DATE,
        sample="System message must be at the beginning.",
    ),
    Known(
        pattern=r"Messages cannot be empty", rules=("PR323",), sample="Messages cannot be empty.", date="2026-11",
        source="sglang's serving_chat.py",
    ),
    Known(
        pattern=r"Tool response dicts require a .?name.? key", rules=("PR318",), source="xorbitsai/inference 2259",
        sample=_NO_NAME, date="2024-09",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="vllm",
        title="local servers (vLLM, SGLang, llama.cpp)",
        wires=CHAT,
        capabilities=Capabilities(
            format="openai-chat",
            schema="JSON Schema",
            streaming=STREAM,
            quirks=(
                "Llama 3.1 and 3.2 accept one call per turn; gpt-oss renders only the first of several",
                "the templates of Llama 3, Hermes, Mistral, Granite and gpt-oss drop text beside calls",
                "the templates of Llama 3, Phi 3 and LFM2 have no tools and drop calls",
            ),
            sources=(
                source_of("format", source="vllm 0.33.0, its server of this wire"),
                CHAT_WIRE,
                source_of_quirks(f"{_EXECUTED}, as in the clauses of this profile"),
            ),
        ),
        clauses=_CLAUSES,
        weights=unlooked(
            source=f"{_EXECUTED}: 51 of 62 render a result without a call; two refuse it", date=_DATE
        ),
        known=_KNOWN,
    ),
)
