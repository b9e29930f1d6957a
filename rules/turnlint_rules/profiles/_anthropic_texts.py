"""Error texts of Anthropic's API, with the rules that explain them, and groups of Claude models.

The expressions also match texts that lost their quotes or backticks. Other services share the groups of
models. This module defines no profile.
"""

from typing import Literal

from turnlint.api import Known, RoleOrder, Severity

NO_PREFILL = r"claude-[a-z]+-(?:4[-.](?:[6-9]|1\d)(?!\d)|[5-9])"
"""Opus 4.6, Sonnet 4.6 and all later models; the last accepted recordings are of Haiku 4.5."""
INTERLEAVES = NO_PREFILL
"""Sonnet 4.6 and later models think between texts and calls, and accept such a message (five recorded)."""
MID_SYSTEM = r"claude-[a-z]+-(?:4[-.](?:[89]|1\d)(?!\d)|[5-9])"
"""Opus 4.8, 5, 5.5; Sonnet 5, 5.5; Haiku 5.5; Fable 5, 5.1; Mythos 5, 5.1. All before Opus 4.8 reject it."""
UNNUMBERED = r"claude(?:-[a-z]+)*$"
"""Names that do not contain the generation of the model, such as `claude-mythos-preview`."""

PROBES = "probes of nine models on 2026-09-10 and of claude-opus-5-5 on 2026-10-06; claude-code 73821"
_DIRECTIVE = "; the directive-only form (content: [] with output_config) is accepted at any position"
"""The API appends this text since 2026-09."""
_KEPT = "all 39 recorded requests keep it (f04a8da6bfb53c03, 16f366d7f32664fc, 70a321f0b601168f)"


def mid_system(
    *, source: str, behind: str = "", models: str = "", severity: Severity = "error"
) -> tuple[RoleOrder, ...]:
    """Return the clauses with the positions at which Claude accepts a system message among the messages.

    `behind` is the prefix of each text.
    """
    unnamed: Literal["error", "silent"] = "silent" if models else "error"
    return (
        RoleOrder(
            role="system", after=("user", "assistant"), models=models, other_models=f"{MID_SYSTEM}|{UNNUMBERED}", unnamed="silent",
            says=behind + "role 'system' is not supported on this model", source=source, date="2026-10", severity=severity,
        ),
        RoleOrder(
            role="system", after=("start",), models=models, unnamed=unnamed, date="2026-10", source=source, severity=severity,
            says=behind + "messages.{index}: use the top-level 'system' parameter for the initial system prompt",
        ),
        RoleOrder(
            role="system", only_after=("start", "user", "server-result", "system"), models=MID_SYSTEM, unnamed=unnamed,
            says=behind + "messages.{index}: role 'system' must follow a 'user' message or an 'assistant' message ending in a "
            "server tool result" + _DIRECTIVE,
            source=f"{source}; {_KEPT}", date="2026-10", severity=severity,
        ),
        RoleOrder(
            role="system", only_before=("assistant", "end"), models=MID_SYSTEM, unnamed=unnamed,
            says=behind + "messages.{index}: role 'system' must precede an 'assistant' message or end the array" + _DIRECTIVE,
            source=f"{source}; {_KEPT}", date="2026-10", severity=severity,
        ),
    )  # fmt: skip


_Q = r"""[\\`'"]*"""
"""A quote or a backtick, escaped or missing."""
_IDS = r"(?P<ids>[\w:.|-]*[\w-](?:,\s*[\w:.|-]*[\w-])*)"
_AT = r"(?P<path>messages\.(?P<index>\d+)(?:\.\w+)*)"

_PAIRING = (
    Known(
        pattern=rf"messages\.(?P<index>\d+)(?:\.\d+)?: {_Q}tool_use{_Q} ids were found without {_Q}tool_result{_Q} "
        rf"blocks immediately after: {_IDS}",
        rules=("PA201", "PA206", "PA203", "PR308", "PR322", "PR311", "PR305", "PR310", "PA204"),
        sample="messages.33: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01Abc. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message.",
        source="recorded 610f3c5b201d5b69; claude-code 5989, 3512, kilocode 5163", date="2026-11",
    ),
    Known(
        pattern=rf"messages\.(?P<index>\d+): Did not find (?P<count>\d+) {_Q}tool_result{_Q} block\(s\) at the beginning",
        rules=("PR308", "PA201", "PA206", "PA203"),
        sample="messages.2: Did not find 1 `tool_result` block(s) at the beginning of this message. Messages following "
        "`tool_use` blocks must begin with a matching number of `tool_result` blocks.",
        source="langchain-aws 389, claude-code 473; older models", date="2026-11",
    ),
    Known(
        pattern=rf"(?:messages\.(?P<index>\d+)(?:\.\w+)*: )?unexpected {_Q}tool_use_id{_Q} found in "
        rf"{_Q}tool_result{_Q} blocks: {_IDS}",
        rules=("PA202", "PA203", "PA204", "PR305", "ST108", "PA201"),
        sample="messages.12.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A. Each "
        "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
        source="claude-code, opencode and many others", date="2026-11",
    ),
    Known(
        pattern=rf"(?:messages\.(?P<index>\d+)(?:\.\w+)*: )?unexpected {_Q}tool_use_id{_Q} found in "
        rf"{_Q}\w+_tool_result{_Q} blocks: {_IDS}",
        rules=("PA209",),
        sample="messages.1.content.3: unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_01A. Each "
        "`advisor_tool_result` block must have a corresponding `server_tool_use` block before it.",
        source="claude-code 64383", date="2026-11",
    ),
    Known(
        pattern=rf"each tool_use must have a single result\. Found multiple {_Q}tool_result{_Q} blocks with id: {_IDS}",
        rules=("PA205", "ST107", "PR305", "ST108"),
        sample="messages.148.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks "
        "with id: toolu_01A",
        source="public reports", date="2026-11",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?{_Q}tool_use{_Q} ids must be unique", rules=("PR305", "ST108", "ST109", "PR304"),
        sample="messages.1.content.1: `tool_use` ids must be unique",
        source="cua 524, claude-code 20901, litellm 23510, opencode 1279", date="2026-11",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?{_Q}tool_(?:result|use){_Q} blocks can only be in {_Q}(?:user|assistant){_Q} messages",
        rules=("ST114", "PA202", "PA203", "ST103", "PR310"),
        sample="messages.9: `tool_result` blocks can only be in `user` messages", source="public reports", date="2026-11",
    ),
    Known(
        pattern=rf"{_Q}(?P<name>\w+){_Q} tool use with id {_Q}(?P<ids>\w+){_Q} was found without a corresponding",
        rules=("PA209",),
        sample="messages.3: `web_fetch` tool use with id `srvtoolu_01A` was found without a corresponding "
        "`web_fetch_tool_result` block",
        source="documentation on server tools; public reports", date="2026-11",
        about="another possible cause: content after the results, while a server tool has no result",
    ),
    Known(
        pattern=rf"but no {_Q}(?P<name>\w+){_Q} tool was provided", rules=("PR316", "PA209"), status="abridged",
        sample="… but no `web_fetch` tool was provided", source="public reports", date="2026-11",
    ),
)  # fmt: skip
_SHAPE = (
    Known(
        pattern=r"messages: (?:at least one message is required|Field required)", rules=("PR323",), date="2025-09",
        sample="messages: at least one message is required", source="dify 25953, DevoxxGenie 567",
    ),
    Known(
        pattern=rf"{_AT}: String should match pattern {_Q}\^\[a-zA-Z0-9_-\]\+\$", rules=("PR301", "ST104"),
        sample="messages.5.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        source="forgecode 1142, ClawRouter 17, bifrost 5097, opencode 1279", date="2026-11",
    ),
    Known(
        pattern=rf"{_AT}: String should match pattern {_Q}\^srvtoolu_", rules=("PR303", "ST104"),
        sample="messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
        source="claude-code-hub 470", date="2026-11",
    ),
    Known(
        pattern=rf"{_AT}(?<=server_tool_use\.name): Input should be", rules=("PR306",),
        sample="messages.1.content.0.server_tool_use.name: Input should be 'web_search', 'web_fetch', 'code_execution'",
        source="anthropic 2.9.0; public reports", date="2026-11",
    ),
    Known(
        pattern=rf"{_AT}(?<=tool_use\.name): String should have at (?:most \d+ characters|least 1 character)",
        rules=("PR306", "ST105"),
        sample="messages.1.content.1.tool_use.name: String should have at most 200 characters",
        source="API reference; public reports", date="2026-11",
    ),
    Known(
        pattern=r"(?P<path>tools\.\d+\.(?:\w+\.)?name): String should match pattern", rules=("PR306",),
        sample="tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        source="API reference; public reports", date="2026-11",
    ),
    Known(
        pattern=r"tools: Tool names must be unique", rules=("PR306",), sample="tools: Tool names must be unique.",
        source="forgecode 892", date="2026-11",
    ),
    Known(
        pattern=rf"{_AT}(?<=tool_use\.input): Input should be a valid dictionary", rules=("ST106", "PR307"),
        sample="messages.35.content.0.tool_use.input: Input should be a valid dictionary",
        source="public reports", date="2026-11",
    ),
    Known(
        pattern=rf"{_AT}: Extra inputs are not permitted", rules=("PR317",),
        sample="messages.65.content.1.tool_use.text: Extra inputs are not permitted", source="claude-code 4378",
        date="2026-11",
    ),
    Known(
        pattern=rf"{_AT}: Input tag {_Q}(?P<kind>\w+){_Q} found using {_Q}type{_Q} does not match",
        rules=("ST116", "PR321"), source="public reports", date="2026-11", status="abridged",
        sample="messages.2.content.0: Input tag 'image_url' found using 'type' does not match any of the expected tags: 'text'",
    ),
    Known(
        pattern=rf"{_AT}: Input does not match the expected shape", rules=("ST103",),
        sample="messages.0: Input does not match the expected shape.", date="2026-11",
        source="recorded a97467bc8f534fbe, d577b6ee08a29442",
    ),
    Known(
        pattern=rf"{_AT}: Input should be a valid list", rules=("ST103",),
        sample="messages.0.content: Input should be a valid list", source="recorded 6bd72c2fccb889c3", date="2026-11",
    ),
    Known(
        pattern=r"Malformed input request: #: subject must not be valid against schema", rules=("ST103",),
        sample='Malformed input request: #: subject must not be valid against schema {"required":["messages"]}'
        "#/messages/0/content: expected type: String, found: JSONObject",
        source="recorded 65ec73129c4cf0c8, Bedrock's InvokeModel", date="2026-11",
    ),
)  # fmt: skip
_CONTENT = (
    Known(
        pattern=r"text content blocks must be non-empty", rules=("PR312", "ST110"),
        sample="messages: text content blocks must be non-empty", source="public reports", date="2026-11",
        about="another possible cause: an empty text inside a result",
    ),
    Known(
        pattern=r"text content blocks must contain non-whitespace text", rules=("PR312", "ST110"),
        sample="messages: text content blocks must contain non-whitespace text", source="public reports", date="2026-11",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?cache_control cannot be set for empty text blocks", rules=("PR312", "ST110"),
        sample="messages.1124.content.6.text: cache_control cannot be set for empty text blocks",
        source="claude-code 50082, 54013", date="2026-04",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?all messages must have non-empty content except", rules=("PR312", "ST110"),
        sample="messages.1: all messages must have non-empty content except for the optional final assistant message",
        source="public reports", date="2026-11",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?content cannot be empty if {_Q}is_error{_Q} is true", rules=("PR312",),
        sample="messages.150.content.0.tool_result: content cannot be empty if is_error is true",
        source="public reports, oh-my-pi 15.11.2", date="2026-06",
    ),
    Known(
        pattern=r"final assistant content cannot end with trailing whitespace", rules=("PR313",),
        sample="messages: final assistant content cannot end with trailing whitespace", source="public reports",
        date="2026-11",
    ),
    Known(
        pattern=r"does not support assistant message prefill", rules=("PR311",),
        sample="This model does not support assistant message prefill. The conversation must end with a user message.",
        source="Biomni 284, vercel/ai 12296", date="2026-09",
    ),
    Known(
        pattern=rf"When using tools, pre-filling the {_Q}assistant{_Q} response is not supported", rules=("PR311",),
        sample="Your API request included an `assistant` message in the final position, which would pre-fill the "
        "`assistant` response. When using tools, pre-filling the `assistant` response is not supported.", date="2026-11",
        source="recorded 6ef353233be98dbf, 8d8cdcbf90682670, Claude 3 at Bedrock",
    ),
    Known(
        pattern=rf"first message must use the {_Q}user{_Q} role", rules=("PR310",),
        sample='messages: first message must use the "user" role', source="anthropic-sdk-typescript 622", date="2024-12",
        about="older API versions; the API now accepts any first role (439ff046392d4bd0)",
    ),
    Known(
        pattern=rf"roles must alternate between {_Q}user{_Q} and {_Q}assistant{_Q}, but found multiple {_Q}(?P<role>\w+)",
        rules=("PR310",),
        sample='messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
        source="public reports", date="2024-12", about="older API versions; the API now merges consecutive messages of one role",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?use the top-level {_Q}system{_Q} parameter for the initial system prompt",
        rules=("PR310",), source="documentation", date="2026-11",
        sample="messages.0: use the top-level 'system' parameter for the initial system prompt",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?role {_Q}system{_Q} must (?:follow a|precede an) {_Q}(?:user|assistant){_Q} message",
        rules=("PR310",), source="probes of nine models on 2026-09-10; claude-code 73821", date="2026-10",
        sample="messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool "
        "result; the directive-only form (content: [] with output_config) is accepted at any position",
        about="the index is that of the first of several such messages",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?role {_Q}system{_Q} supports text, tool_addition, and tool_removal blocks only",
        rules=("PR325",), source="probes of nine models on 2026-09-10", date="2026-10",
        sample="messages.2: role 'system' supports text, tool_addition, and tool_removal blocks only",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?system content must contain at least one block", rules=("PR312",), date="2026-10",
        sample="messages.2: system content must contain at least one block", source="probes of nine models on 2026-09-10",
    ),
    Known(
        pattern=rf"role {_Q}system{_Q} is not supported on this model", rules=("PR310",),
        sample="role 'system' is not supported on this model", source="public reports", date="2026-11",
    ),
    Known(
        pattern=rf"Unexpected role {_Q}(?P<role>\w+){_Q}\. The Messages API accepts a top-level", rules=("PR310",),
        sample='messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" '
        "as an input message role.", source="public reports", date="2026-11", status="recalled",
    ),
    Known(
        pattern=rf"Unexpected role {_Q}(?P<role>\w+){_Q}\. Allowed roles are", rules=("ST116", "PR310"),
        sample='messages: Unexpected role "tool". Allowed roles are "user" or "assistant".', source="public reports",
        date="2026-11",
    ),
    Known(
        pattern=rf"Requests which include {_Q}tool_use{_Q} or {_Q}tool_result{_Q} blocks must define tools",
        rules=("PR316",), source="public reports", date="2026-11",
        sample="Requests which include `tool_use` or `tool_result` blocks must define tools.",
        about="older API versions; the API now accepts this history (12 recorded requests, b59990e27f0e4b8e)",
    ),
    Known(
        pattern=r"tools: List should have at least 1 item after validation", rules=("PR316",),
        sample="tools: List should have at least 1 item after validation, not 0", source="public reports", date="2026-11",
        about="an empty list is accepted if the history has no calls (33 recorded requests, 33e57c4c1956cabc)",
    ),
    Known(
        pattern=r"prompt is too long: (?P<length>\d+) tokens > (?P<most>\d+) maximum", rules=(),
        sample="prompt is too long: 200016 tokens > 200000 maximum", source="recorded 6cf6c3d956be099d", date="2026-11",
        about="the conversation exceeds the context window of the model; shorten it",
    ),
    Known(
        pattern=r"too many total text bytes: (?P<length>\d+) > (?P<most>\d+)", rules=(), date="2026-11",
        sample="too many total text bytes: 10000002 > 9000000", source="recorded 31df7c1ba976a40d, Bedrock",
        about="the conversation exceeds the limit of the service; shorten it",
    ),
)  # fmt: skip
_THINKING = (
    Known(
        pattern=rf"(?:{_AT}: )?The final block in an assistant message cannot be {_Q}\w+{_Q}",
        rules=("PR324",), source="forgecode 2107, 3071; hermes 13010", date="2026-04",
        sample="messages.1: The final block in an assistant message cannot be `thinking`.",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?Invalid {_Q}signature{_Q} in {_Q}thinking{_Q} block(?!\. The block is bound)",
        rules=("PR314",), sample="messages.1.content.0: Invalid `signature` in `thinking` block",
        source="claude-code and litellm reports; live matrix in hermes 24107", date="2026-11",
        about="the signature is of another provider, or the thinking was edited; a log does not show this: remove the "
        "thinking block",
    ),
    Known(
        pattern=rf"Invalid {_Q}signature{_Q} in {_Q}thinking{_Q} block\. The block is bound to a different conversation",
        rules=(), source="documentation", date="2026-11",
        sample="messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
        about="the thinking block belongs to another conversation; a log does not show this: remove the block",
    ),
    Known(
        pattern=rf"{_AT}(?<=\.signature|nature\.str): (?:Input should be a valid string|Field required)", rules=("PR314",),
        sample="messages.2.content.0.thinking.signature.str: Input should be a valid string", source="public reports",
        date="2026-11",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?each thinking block must contain thinking", rules=("PR314",),
        sample="messages.1.content.0.thinking: each thinking block must contain thinking", source="public reports",
        date="2026-11",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?{_Q}thinking{_Q} or {_Q}redacted_thinking{_Q} blocks in the latest assistant message cannot",
        rules=("PR314",), source="claude-code reports", date="2026-11",
        sample="messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified. These blocks must remain as they were in the original response.",
        about="thinking blocks of the last turn were edited, reordered or merged; a log rarely shows this",
    ),
    Known(
        pattern=rf"(?:{_AT}: )?Expected {_Q}thinking{_Q} or {_Q}redacted_thinking{_Q}, but found {_Q}(?P<kind>\w+)",
        rules=("PR314",), source="litellm, langchain, claude-code", date="2026-11",
        sample="messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When "
        "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost "
        "set of `tool_use` and `tool_result` blocks).",
    ),
    Known(
        pattern=r"If an assistant message contains any thinking blocks, the first block must be", rules=("PR314",),
        sample="If an assistant message contains any thinking blocks, the first block must be `thinking` or "
        "`redacted_thinking`. Found `text`.", source="public reports", date="2026-11",
    ),
    Known(
        pattern=rf"Thinking may not be enabled when {_Q}tool_choice{_Q} forces tool use", rules=("PR314",),
        sample="Thinking may not be enabled when tool_choice forces tool use.", source="public reports", date="2026-11",
    ),
    Known(
        pattern=rf"Invalid {_Q}encrypted_content{_Q} in {_Q}search_result{_Q} block", rules=(), source="public reports",
        sample="messages.1.content.2: Invalid `encrypted_content` in `search_result` block", date="2026-11",
        about="a web search result was written or edited by a client; the API accepts only its own results",
    ),
    Known(
        pattern=r"web_search_tool_result[\w.]*encrypted_content: Field required", rules=(), status="abridged",
        sample="messages.3.content.1.web_search_tool_result.content.encrypted_content: Field required",
        source="public reports", date="2026-11",
        about="a web search result lacks its encrypted content, which the API requires",
    ),
)  # fmt: skip

KNOWN = (*_PAIRING, *_SHAPE, *_CONTENT, *_THINKING)
