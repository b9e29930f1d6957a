"""The profile of Cohere's v2 chat API, with error texts of v1.

Plans are in `tool_plan`, and each result has the id of its call. The older Command R models did not check
that every call has a result; Command A does.
"""

from turnlint.api import (
    AnyClause,
    ArgumentsEncoding,
    Capabilities,
    ContentKey,
    EmptyContent,
    EmptyRequest,
    Known,
    LastMessage,
    Profile,
    Weight,
    accepted_format,
    accepted_parallel_calls,
    accepted_without_tools,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import allowed, pairing

_OWN = ("cohere",)
_MISSING = (
    "invalid request: An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
)
_NOTHING = "invalid request: all elements in history must have a message."
_CLAUSES: tuple[AnyClause, ...] = (
    ArgumentsEncoding(wants="text", source="cohere 7.3.1, ToolCallV2Function", date="2026-11"),
    ContentKey(
        what="content", kinds=("absent", "null"), roles=("system", "user", "tool"), wires=_OWN, date="2026-11",
        source="cohere 7.3.1: required in these messages",
    ),
    EmptyContent(
        what="message", roles=("assistant",), says=_NOTHING, date="2026-11",
        source="pydantic-ai 2.66.0; Risuai 458; parts of an empty text were accepted 39 times (4979ed361bdc013b)",
    ),
    EmptyRequest(
        what="empty", wires=_OWN, source="cohere 7.3.1; none of 246 accepted requests has an empty list", date="2026-11"
    ),
    LastMessage(open_calls=True, says=_MISSING, source="oracle/langchain-oracle 10", date="2025-08"),
    *allowed(
        {
            "system": ("content", "role"), "user": ("content", "role"),
            "assistant": ("citations", "content", "role", "tool_calls", "tool_plan"),
            "tool": ("content", "role", "tool_call_id"),
            "call": ("function", "id", "type"), "in-function": ("arguments", "name"),
        },
        says="unknown field: parameter {key} is not a valid field. For proper usage, please refer to "
        "https://docs.cohere.com/reference/chat", wires=_OWN, severity="warning", date="2026-11",
        source="cohere 7.3.1; recorded 9b6da7f41721b14f, one library; agno 3503 and 3af33a040a272515, for a key of a tool",
    ),
)  # fmt: skip
_WEIGHTS = (
    *pairing(
        missing=_MISSING,
        source="oracle/langchain-oracle 10, agentdojo 200: Command A and later",
        date="2026-09",
    ),
    Weight(rule="missing-call-id", severity="error", source="cohere 7.3.1: required", date="2026-11"),
)

_Q = r"\\?['‘’]?"
_KNOWN = (
    Known(
        pattern=rf"invalid request: An assistant message with {_Q}{_Q}tool_calls{_Q}{_Q} must be followed by tool messages"
        r"(?:.{0,120}?did not have response messages: (?P<ids>[\w-]+(?:, [\w-]+)*))?",
        rules=("PA201", "PA203", "PA206", "ST104"), sample=_MISSING.format(ids="call_x"), source="oracle/langchain-oracle 10",
        date="2025-08",
    ),
    Known(
        pattern=r"all elements in history must have a message", rules=("PR312", "ST110"), sample=_NOTHING,
        source="Risuai 458, langchain-cohere 15", date="2024-04",
    ),
    Known(
        pattern=r"unknown field: parameter .?(?P<key>[^'\"]{1,200}?).? is not a valid field", rules=("PR317",), date="2025-06",
        sample="unknown field: parameter 'requires_confirmation' is not a valid field.", source="agno 3503",
    ),
    Known(
        pattern=r"message must be at least 1 token long or tool results must be specified", rules=("PR312", "ST110"),
        sample="invalid request: message must be at least 1 token long or tool results must be specified.",
        source="Risuai 504", date="2024-06", about="v1: the request has neither a message nor results",
    ),
    Known(
        pattern=r"cannot specify both message and tool_results in multistep mode", rules=("PR308",), date="2024-08",
        sample="invalid request: cannot specify both message and tool_results in multistep mode",
        source="cohere-python 525, chat-ui 1404", about="v1: the request has both results and a message",
    ),
    Known(
        pattern=r"cannot specify message if the last entry in chat history contains tool results", rules=("PR310",),
        sample="invalid request: cannot specify message if the last entry in chat history contains tool results",
        source="oracle/langchain-oracle 9", date="2025-08", about="v1: a user message is directly after results",
    ),
    Known(
        pattern=r"parameter tool_results\.outputs is of type \w+ but should be of type", rules=("PR321",), date="2024-04",
        sample="invalid type: parameter tool_results.outputs is of type string but should be of type map[string]interface {}.",
        source="litellm 3351", about="v1: the outputs of a result must be objects",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="cohere",
        title="Cohere",
        wires=("cohere", "openai-chat"),
        hosts=("api.cohere.com", "api.cohere.ai"),
        models=r"^(command-(a|r|r7b|light|nightly)|command$|c4ai-)",
        capabilities=Capabilities(
            format="cohere",
            parallel_calls=True,
            schema="JSON Schema",
            requires_schema=False,
            streaming="delta.message.tool_calls.function.arguments",
            quirks=("text before the calls of a message is in `tool_plan`",),
            sources=(
                accepted_format(249),
                accepted_parallel_calls(17, "be371e4258900533", 3),
                source_of("schema", "streaming", source="cohere 5, ToolV2 and its events of a stream"),
                accepted_without_tools(2, "f2e56d4157c03c8a"),
                source_of_quirks("cohere 5, and recorded requests"),
            ),
        ),
        clauses=_CLAUSES,
        weights=_WEIGHTS,
        known=_KNOWN,
    ),
)
