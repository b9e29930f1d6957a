"""The profile of the Anthropic Messages API.

It also applies to Claude behind Bedrock's InvokeModel and behind Vertex: the same validators run there.
Bedrock adds a prefix to their texts.
"""

from turnlint.api import (
    AnyClause,
    ArgumentsEncoding,
    BlockAfterCall,
    Capabilities,
    ContentKind,
    EmptyContent,
    EmptyRequest,
    FinalThinking,
    IdCharset,
    IdCollision,
    IdForm,
    IdUnique,
    LastMessage,
    NameForm,
    OverLimit,
    Profile,
    ResultContent,
    ResultNotFirst,
    RoleOrder,
    ThinkingForm,
    TrailingSpace,
    UnknownKey,
    Weight,
    accepted_format,
    accepted_parallel_calls,
    accepted_switch,
    accepted_without_tools,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._anthropic_texts import (
    INTERLEAVES,
    KNOWN,
    NO_PREFILL,
    PROBES,
    UNNUMBERED,
    mid_system,
)

_HOSTS = ("api.anthropic.com", "amazonaws.com", "googleapis.com")
_CLAUDE_3 = r"claude-(?:3|2|instant)"
_SYSTEM_PARTS = ("text", "tool_addition", "tool_removal")

_NO_MESSAGES = (
    EmptyRequest(
        what="empty", says="messages: at least one message is required", source="dify 25953", date="2025-09"
    ),
    EmptyRequest(what="absent", says="messages: Field required", source="public reports", date="2026-11"),
)

_MISSING = (
    "messages.{next}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each "
    "`tool_use` block must have a corresponding `tool_result` block in the next message."
)
"""The number is the index of the message after the calls (recorded 610f3c5b201d5b69, mirascope 2503)."""
_MISSING_ELSEWHERE = _MISSING.replace("{next}", "{behind}")
_ORPHAN = (
    "messages.{index}.content.{block}: unexpected `tool_use_id` found in `tool_result` blocks: {ids}. Each "
    "`tool_result` block must have a corresponding `tool_use` block in the previous message."
)
_TWICE = (
    "messages.{index}.content.{block}: each tool_use must have a single result. Found multiple `tool_result` "
    "blocks with id: {id}"
)
_REPEATED = "messages.{index}.content.{block}: `tool_use` ids must be unique"

_IDS = (
    IdCharset(
        pattern="[a-zA-Z0-9_-]+", wants="letters, digits, `_` and `-`",
        says="{path}: String should match pattern '^[a-zA-Z0-9_-]+$'",
        source="API reference; forgecode 1142, bifrost 5097, opencode 1279", date="2026-11",
    ),
    IdForm(
        of="server", kinds=("server_tool_use",), wants="`srvtoolu_` with letters, digits and `_`",
        pattern="srvtoolu_[a-zA-Z0-9_]+|mcptoolu_[a-zA-Z0-9_-]+",
        says="{path}: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
        source="API reference; claude-code-hub 470. The MCP connector's own ids are mcptoolu_ (fa94d34c8de33955)",
        date="2026-11",
    ),
    IdCollision(
        keep="[a-zA-Z0-9_-]", replace="_", severity="warning", says=_REPEATED,
        source="pi-ai 0.73.1 and others put `_` for what is not taken", date="2026-11",
    ),
    IdUnique(
        of="call", over="turn", says=_REPEATED,
        source="cua 524, claude-code 20901, litellm 23510: each position names a second block of one merged message",
        date="2026-11",
    ),
    IdUnique(
        of="call", over="request", severity="warning", says=_REPEATED, date="2026-11",
        source="public reports without a position; two recorded requests with an id of an earlier turn were accepted "
        "(9d7028fbeb4c2a93, 0546a361ea8f28c2)",
    ),
)  # fmt: skip
_NAMES = (
    NameForm(
        of="server", kinds=("server_tool_use",), severity="warning", date="2026-11", source="anthropic 2.9.0, ServerToolUseBlockParam",
        says="messages.{index}.content.{block}.server_tool_use.name: Input should be 'web_search', 'web_fetch', 'code_execution', 'bash_code_execution', "
        "'text_editor_code_execution', 'tool_search_tool_regex' or 'tool_search_tool_bm25'",
        names=(
            "web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution",
            "tool_search_tool_regex", "tool_search_tool_bm25", "advisor",
        ),
    ),
    NameForm(
        of="call", most=200, wants="1 to 200 characters",
        says="{path}: String should have at most 200 characters", source="API reference", date="2026-11",
    ),
    NameForm(
        of="tool", pattern="[a-zA-Z0-9_-]{1,128}", wants="letters, digits, `_` and `-`, at most 128",
        says="{path}: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'",
        source="API reference; 64 in an older one", date="2026-11",
    ),
    NameForm(
        of="tool", unique=True, says="tools: Tool names must be unique.", source="forgecode 892", date="2026-11",
    ),
)  # fmt: skip
_RESULTS: tuple[AnyClause, ...] = (
    ArgumentsEncoding(
        wants="object", says="{path}: Input should be a valid dictionary",
        source="anthropic 2.9.0, ToolUseBlockParam; public reports", date="2026-11",
    ),
    ResultNotFirst(
        says=_MISSING, source="documentation; tried live in 2026-07 (qwen-code 8161, hermes 65369)", date="2026-07",
    ),
    BlockAfterCall(
        says=_MISSING, other_models=_CLAUDE_3, unnamed="error", source="recorded 610f3c5b201d5b69; no accepted request "
        "has it. A probe disagrees (pi-anthropic-auth 66)", date="2026-11",
    ),
    BlockAfterCall(
        says=_MISSING.replace("{next}", "{index}"), models=_CLAUDE_3, unnamed="silent", date="2025-05",
        source="recorded 71118d591a901fe3: the number is that of the message with the calls",
    ),
    ResultContent(
        parts=("text", "image", "search_result", "document", "tool_reference", "browser_state"),
        says="{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags",
        source="anthropic 2.9.0, ToolResultBlockParam", date="2026-11",
    ),
    *(
        ResultContent(
            sources=(f"{kind}:file",), unless_beta="files-api", severity="warning", date="2026-02",
            says="messages.{index}.content.{block}.tool_result.content.{count}." + kind + ".source: Input tag 'file' found using "
            f"'type' does not match any of the expected tags: {tags}",
            source=f"recorded {recorded}; in messages, a file was accepted 22 times. A body does not show the beta header of the "
            "Files API",
        )
        for kind, tags, recorded in (
            ("document", "'base64', 'content', 'text', 'url'", "760a0c9b6679e240"),
            ("image", "'base64', 'url'", "bd155e4808c8b029"),
        )
    ),
    EmptyContent(
        what="error-result", says="messages.{index}.content.{block}.tool_result: content cannot be empty if is_error is true",
        source="public reports, 56 in one run; an empty result without the mark is taken 309 times (a8d6129fd71e8b36)",
        date="2026-11",
    ),
)  # fmt: skip
_CONTENT = (
    EmptyContent(
        what="empty-text", says="messages: text content blocks must be non-empty",
        source="public reports; none of 3,249 accepted requests has one", date="2026-11",
    ),
    EmptyContent(
        what="white-text", roles=("user",), says="messages: text content blocks must contain non-whitespace text",
        source="public reports", date="2026-11",
    ),
    EmptyContent(
        what="white-text", roles=("assistant",), severity="warning",
        says="messages: text content blocks must contain non-whitespace text",
        source="public reports; Haiku 4.5 took one of its own back (303452d4ea359c1b, 3051c23e1c0c6aea, 8ffd561d9f9be69b)",
        date="2026-11",
    ),
    EmptyContent(
        what="message", but_last=True, roles=("user", "assistant"), date="2026-11", source="public reports",
        says="messages.{index}: all messages must have non-empty content except for the optional final assistant message",
    ),
    TrailingSpace(
        says="messages: final assistant content cannot end with trailing whitespace", source="public reports",
        date="2026-11",
    ),
    OverLimit(what="messages", most=100_000, source="API reference", date="2026-11"),
)  # fmt: skip
_TURNS: tuple[AnyClause, ...] = (
    RoleOrder(
        roles=("user", "assistant", "system"),
        says='messages: Unexpected role "{role}". Allowed roles are "user" or "assistant"{hint}', hint_role="tool",
        hint=". For instructions on how to use tools, see "
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview.",
        source="NyarchAssistant 157 of 2026-07; any first role was accepted (439ff046392d4bd0)", date="2026-11",
    ),
    *mid_system(source=PROBES),
    ContentKind(
        role="system", kinds=_SYSTEM_PARTS, date="2026-10", source=f"{PROBES}; 39 recorded requests keep it",
        says="messages.{index}: role 'system' supports text, tool_addition, and tool_removal blocks only",
    ),
    ContentKind(
        role="system", refused=("tool_addition", "tool_removal"), unless_tool_key="defer_loading", severity="warning",
        source=f"{PROBES}; all 18 recorded requests with such a block declare a tool so (no refusal is recorded). A body does not "
        "show the header that they need too: mid-conversation-tool-changes-2026-07-01", date="2026-10",
    ),
    EmptyContent(
        what="message", roles=("system",), unless="output_config", date="2026-10", source=PROBES,
        says="messages.{index}: system content must contain at least one block",
    ),
    LastMessage(
        roles=("user", "system"), models=NO_PREFILL, date="2026-09",
        says="This model does not support assistant message prefill. The conversation must end with a user message.",
        source="public reports, vercel/ai 12296, Biomni 284, lobehub 12373; Haiku 4.5 takes one (315169c5c41e9627)",
    ),
    LastMessage(open_calls=True, says=_MISSING, source="claude-code 5989", date="2026-11"),
)  # fmt: skip
_THINKING = (
    ThinkingForm(
        what="unsigned", says="messages.{index}.content.{block}.thinking.signature: Field required",
        source="public reports; all 98 accepted thoughts are signed", date="2026-11",
    ),
    ThinkingForm(
        what="unfit-signature", source="public reports", date="2026-11",
        says="messages.{index}.content.{block}.thinking.signature.str: Input should be a valid string",
    ),
    ThinkingForm(
        what="blank-signature", says="messages.{index}.content.{block}: Invalid `signature` in `thinking` block",
        source="live matrix in hermes 24107", date="2026-11",
    ),
    ThinkingForm(
        what="empty", says="messages.{index}.content.{block}.thinking: each thinking block must contain thinking",
        source="public reports; without words but signed is accepted (561fbabe87134873)", date="2026-11",
    ),
    FinalThinking(
        says="messages.{index}: The final block in an assistant message cannot be `{kind}`.", date="2026-04",
        source="forgecode 2107 and 3071, hermes 13010; none of about 3,800 accepted requests has one",
    ),
    ThinkingForm(
        what="not-first", other_models=f"{INTERLEAVES}|{UNNUMBERED}", date="2026-01",
        source="claude-code 20705; five recorded requests of Sonnet 4.6 and later have a text first",
        says="If an assistant message contains any thinking blocks, the first block must be `thinking` or "
        "`redacted_thinking`. Found `text`.",
    ),
)  # fmt: skip


def _thinking_clauses(*, always: bool) -> tuple[ThinkingForm, ...]:
    """Return the clauses that depend on enabled thinking, which the request of a record usually shows."""
    return (
        ThinkingForm(
            what="turn-start", always=always, date="2026-11",
            says="messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. When "
            "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost "
            "set of `tool_use` and `tool_result` blocks).",
            source="public reports; with a budget only: 19 accepted requests of adaptive thinking start with a text "
            "(1cf00bf4bb0e23cc)",
        ),
        ThinkingForm(
            what="forced-tool", always=always, says="Thinking may not be enabled when tool_choice forces tool use.",
            source="public reports; no accepted request has both", date="2026-11",
        ),
    )  # fmt: skip


_BLOCKS = {
    "text": "text citations",
    "image": "source transformations",
    "document": "source title context citations",
    "search_result": "source title content citations",
    "thinking": "thinking signature",
    "redacted_thinking": "data",
    "tool_use": "id name input caller toolset_name",
    "tool_result": "tool_use_id content is_error toolset_name",
    "server_tool_use": "id name input caller",
    "web_search_tool_result": "tool_use_id content caller",
    "web_fetch_tool_result": "tool_use_id content caller",
    "advisor_tool_result": "tool_use_id content",
    "code_execution_tool_result": "tool_use_id content",
    "bash_code_execution_tool_result": "tool_use_id content",
    "text_editor_code_execution_tool_result": "tool_use_id content",
    "tool_search_tool_result": "tool_use_id content",
    "mcp_tool_use": "id name input server_name",
    "mcp_tool_result": "tool_use_id content is_error",
    "mcp_tool_listing": "mcp_server_name tools",
    "container_upload": "file_id",
    "compaction": "content encrypted_content signature tool_changes",
    "tool_addition": "tool",
    "tool_removal": "tool",
    "fallback": "from to trigger",
}
"""Keys of each block, without `type`, and without `cache_control`, which most blocks accept."""
_UNCACHED = ("thinking", "redacted_thinking", "mcp_tool_listing", "fallback")
"""Blocks that reject `cache_control` too: "thinking.cache_control: Extra inputs are not permitted"."""
_MESSAGES = {
    "user": "role content",
    "assistant": "role content",
    "system": "role content clear_at output_config",
}


def _key(place: str, known: str, *roles: str) -> UnknownKey:
    return UnknownKey(
        place=place, roles=roles, known=tuple(known.split()), says="{path}: Extra inputs are not permitted",
        source="anthropic 2.9.0, types and beta types; claude-code 4378", date="2026-11",
    )  # fmt: skip


_KEYS = (
    *(_key("message", known, role) for role, known in _MESSAGES.items()),
    *(
        _key(kind, f"type {known}" + " cache_control" * (kind not in _UNCACHED))
        for kind, known in _BLOCKS.items()
    ),
)


def _weights() -> tuple[Weight, ...]:
    """Return the weights of rules about pairs and shapes, with the error texts of the API."""
    says = {
        "unanswered-call": _MISSING,
        "pending-call": _MISSING,
        "misplaced-result": _MISSING_ELSEWHERE,
        "orphan-result": _ORPHAN,
        "result-before-call": _ORPHAN,
        "duplicate-result": _TWICE,
        "conflicting-results": _TWICE,
        "missing-call-id": "{path}: String should match pattern '^[a-zA-Z0-9_-]+$'",
        "missing-tool-name": "messages.{index}.content.{block}.tool_use.name: String should have at least 1 character",
        "unreadable-arguments": "messages.{index}.content.{block}.tool_use.input: Input should be a valid dictionary",
        "call-inside-result": "messages.{index}: `tool_use` blocks can only be in `assistant` messages",
    }
    shapes = {
        "message": "messages.{index}: Input does not match the expected shape.",
        "content": "messages.{index}.content: Input should be a valid list",
    }
    recorded = "recorded a97467bc8f534fbe, 6bd72c2fccb889c3"
    own = {
        "server_tool_use": "messages.{index}: `{name}` tool use with id `{id}` was found without a corresponding "
        "`{name}_tool_result` block",
        "mcp_tool_use": "",
        "mcp_tool_result": "",
        "": "messages.{index}.content.{block}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each `{kind}` "
        "block must have a corresponding `server_tool_use` block before it.",
    }
    return (
        *(
            Weight(
                rule="unpaired-server-tool",
                found=kind,
                says=text,
                date="2026-07",
                source="claude-code 64383 and 80439; no text is known for the MCP connector",
            )
            for kind, text in own.items()
        ),
        *(
            Weight(
                rule=rule, says=text, source="public reports, as in the list of known texts", date="2026-11"
            )
            for rule, text in says.items()
        ),
        Weight(
            rule="malformed-message",
            at="content",
            found="an object",
            when="invoke-model",
            date="2026-11",
            source="recorded 65ec73129c4cf0c8: Bedrock checks the body of a request before Claude does",
            says='Malformed input request: #: subject must not be valid against schema {{"required":["messages"]}}'
            "#/messages/{index}/content: expected type: String, found: JSONObject#/messages/{index}/content: expected type: "
            "JSONArray, found: JSONObject, please reformat your input and try again.",
        ),
        *(
            Weight(rule="malformed-message", at=at, says=text, source=recorded, date="2026-11")
            for at, text in shapes.items()
        ),
    )


_FOUNDRY = (
    RoleOrder(
        role="system", after=("start", "user", "assistant"), severity="warning", date="2026-10",
        source=f"{PROBES}: other than the API, Bedrock and Vertex, Microsoft Foundry does not take it; no text is known",
    ),
)  # fmt: skip


def _profile(
    version: str, about: str, models: str, *more: AnyClause, hosts: tuple[str, ...] = _HOSTS
) -> Profile:
    return Profile(
        name="anthropic",
        version=version,
        about=about,
        title="Anthropic Messages API",
        wires=("anthropic",),
        paths="dots",
        hosts=hosts,
        models=models,
        capabilities=Capabilities(
            format="anthropic",
            parallel_calls=True,
            parallel_switch="tool_choice.disable_parallel_tool_use",
            max_messages=100_000,
            schema="JSON Schema",
            requires_schema=False,
            streaming="input_json_delta",
            quirks=(
                "consecutive messages of one role are merged",
                "results are first in the message after the calls",
                "a tool name may have 200 characters in the history, and 128 from a small set in a declaration",
                "only models before Opus 4.6 and Sonnet 4.6 accept an assistant message as the last one",
                "a thinking block is returned unchanged or omitted",
            ),
            sources=(
                accepted_format(4518),
                accepted_parallel_calls(196, "4f76fb2db2bb4c92", 34),
                accepted_switch(63, "ce47edd486e212bc"),
                source_of("schema", source="anthropic 2.9.0, ToolParam"),
                source_of("streaming", source="anthropic 2.9.0, InputJSONDelta"),
                accepted_without_tools(11, "b59990e27f0e4b8e"),
                source_of_quirks(),
            ),
        ),
        clauses=(
            *_NO_MESSAGES,
            *_IDS,
            *_NAMES,
            *_RESULTS,
            *_CONTENT,
            *_TURNS,
            *_THINKING,
            *_thinking_clauses(always=version == "thinking"),
            *_KEYS,
            *more,
        ),
        weights=_weights(),
        known=KNOWN,
    )


PROFILES = (
    _profile("", "any model; rules about thinking apply to requests that enable it", "claude"),
    _profile("thinking", "thinking is enabled with a budget, also if the record does not say so", ""),
    _profile("foundry", "Microsoft Foundry", "", *_FOUNDRY, hosts=("services.ai.azure.com",)),
)
