"""The profile of xAI Grok, which parses the arguments of every call in a history.

No error about pairing is known: repeated ids and results without ids were accepted.
"""

from turnlint.api import (
    AnyClause,
    ArgumentsEncoding,
    Capabilities,
    ContentKey,
    EmptyContent,
    Known,
    OverLimit,
    Profile,
    accepted_format,
    accepted_parallel_calls,
    accepted_without_tools,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import CHAT, CHAT_WIRE, NO_MESSAGES, STREAM, unchecked

_EMPTY = "Invalid request content: Each message must have at least one content element."
_NO_TEXT = (
    "An empty {role} message was provided. Every {role} message needs at least one non-empty content element."
)
_CLAUSES: tuple[AnyClause, ...] = (
    *NO_MESSAGES,
    ArgumentsEncoding(
        wants="text", severity="warning", wires=CHAT, source="API reference: a text; all 358 accepted ones were", date="2026-11"
    ),
    ArgumentsEncoding(
        wants="json", wires=CHAT, source="spiceai 4734: an empty text too; all 358 accepted ones were JSON", date="2025-02",
        says="The arguments to a tool_call with ID '{id}' are not a valid JSON string.",
    ),
    ContentKey(
        what="content", kinds=("no-parts",), with_calls=False, says=_EMPTY, wires=CHAT, date="2026-11",
        source="AstrBot 6447 and 6551; beside calls 39 were accepted",
    ),
    ContentKey(
        what="content", kinds=("absent", "null"), roles=("assistant",), with_calls=True, says=_EMPTY, wires=CHAT,
        severity="warning", models="grok-4-1-fast-reasoning", date="2025-11",
        source="langchain 34140; other models took it 62 times, such as eba4516d77d261cd",
    ),
    EmptyContent(
        what="message", roles=("user", "system"), says=_NO_TEXT, wires=CHAT, severity="warning", date="2025-04",
        source="cherry-studio 4967, LangBot 1205; an empty text of the assistant was accepted 128 times (e58dfa3696d5da7d)",
    ),
    OverLimit(what="tools", most=128, source="langchain's parameters of xAI", date="2026-11"),
)  # fmt: skip

_KNOWN = (
    Known(
        pattern=r"Each message must have at least one content element", rules=("PR318", "PR312", "ST110"), sample=_EMPTY,
        source="langchain 34140, AstrBot 6551", date="2026-03",
    ),
    Known(
        pattern=r"An empty (?:(?P<role>\w+) )?message was provided\. Every", rules=("PR312", "PR318", "ST110"),
        sample=_NO_TEXT.replace("{role}", "user"), source="cherry-studio 4967, LangBot 1205", date="2025-04",
    ),
    Known(
        pattern=r"The arguments to a tool_call with ID .?(?P<ids>[^'\"‘’]{0,500}?).? are not a valid JSON string",
        rules=("PR307", "ST106", "ST115"), source="spiceai 4734", date="2025-02",
        sample="The arguments to a tool_call with ID 'initial_list_datasets' are not a valid JSON string. Parsing error: "
        'Error("EOF while parsing a value", line: 1, column: 0)',
    ),
    Known(
        pattern=r"A tool_choice was set on the request but no tools were specified", rules=("PR316",), date="2025-08",
        sample="Invalid request content: A tool_choice was set on the request but no tools were specified.",
        source="livekit/agents 3114", about="the request sets tool_choice and declares no tools",
    ),
    Known(
        pattern=r"The model expects a single `?text`? element per message", rules=("ST116",), date="2026-11",
        sample="The model expects a single `text` element per message.", source="LLMSearchPlus 2",
        about="some models accept one text in a message and no list",
    ),
    Known(
        pattern=r"did not match any variant of untagged enum ModelInput", rules=(), source="CLIProxyAPI 3734", date="2026-06",
        sample="Failed to deserialize the JSON body into the target type: data did not match any variant of untagged enum "
        "ModelInput",
        about="an unsupported item: custom_tool_call, web_search_call, or reasoning without encrypted_content",
    ),
    Known(
        pattern=r"Could not decrypt the provided encrypted_content", rules=(), source="public reports", date="2026-11",
        sample="Could not decrypt the provided encrypted_content",
        about="reasoning was encrypted for another account or provider: remove it",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="xai",
        title="xAI Grok",
        wires=("openai-chat", "openai-responses"),
        hosts=("api.x.ai",),
        models=r"^grok-[0-9a-z.-]+$",
        capabilities=Capabilities(
            format="openai-chat",
            parallel_calls=True,
            max_tools=128,
            schema="JSON Schema",
            requires_schema=False,
            streaming=STREAM,
            quirks=("the arguments of every call in the history are parsed",),
            sources=(
                accepted_format(492),
                accepted_parallel_calls(33, "f8e79c5bf93a9b88", 3),
                CHAT_WIRE,
                accepted_without_tools(1, "b4638d0b2707fa3f"),
                source_of_quirks(),
            ),
        ),
        clauses=_CLAUSES,
        weights=unchecked(
            source="openclaw 84730: ids given twice are taken; no refusal is known", date="2026-05"
        ),
        known=_KNOWN,
    ),
)
