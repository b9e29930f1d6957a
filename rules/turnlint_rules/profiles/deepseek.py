"""The profile of DeepSeek's API, on the wires of OpenAI and of Anthropic.

It had two opposite rules for `reasoning_content`. The first R1 rejected it in a history (`@r1`). The thinking
mode of V3.2 and later requires it in messages with calls.
"""

from turnlint.api import (
    AnyClause,
    Capabilities,
    ContentKey,
    ContentKind,
    Known,
    LastMessage,
    NameForm,
    Profile,
    ReasoningUnpaired,
    ResultContent,
    ResultsTogether,
    RoleOrder,
    ThinkingForm,
    UnknownKey,
    Weight,
    accepted_format,
    accepted_parallel_calls,
    accepted_without_tools,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import (
    ANTHROPIC,
    CHAT,
    CHAT_WIRE,
    IN_WORDS,
    NO_MESSAGES,
    PATTERN,
    SAFE,
    STREAM,
    pairing,
)

_MISSING = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "(insufficient tool messages following tool_calls message)"
)
_ORPHAN = "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
_KEPT = "The `reasoning_content` in the thinking mode must be passed back to the API."
_THOUGHT = "The `content[].thinking` in the thinking mode must be passed back to the API."

_CLAUSES: tuple[AnyClause, ...] = (
    *NO_MESSAGES,
    NameForm(
        of="tool", pattern=SAFE, most=64, wants=IN_WORDS, says=PATTERN, source="stored:69626195579", date="2026-11"
    ),
    NameForm(
        of="call", pattern=SAFE, most=64, wants=IN_WORDS, says=PATTERN, severity="warning", wires=CHAT,
        source="stored:55071419020: seen for declared tools only", date="2026-11",
    ),
    RoleOrder(
        roles=("system", "user", "assistant", "tool", "latest_reminder"), wires=CHAT, date="2026-08",
        says="Failed to deserialize the JSON body into the target type: messages[{index}].role: unknown variant `{role}`, "
        "expected one of `system`, `user`, `assistant`, `tool`, `latest_reminder`",
        source="theia 15144, ai-auto-trading 14, codex-proxy 589, pix 34",
    ),
    ContentKey(
        what="content", kinds=("null", "absent"), roles=("assistant",), with_calls=False, wires=CHAT, date="2026-05",
        says="Invalid assistant message: content or tool_calls must be set",
        source="ProxyAI 830, 834; opencode-go-copilot 24",
    ),
    ResultContent(
        refused=("image_url",), wires=CHAT, date="2026-08", source="Zoo-Code 1106, rikkahub 1433, hermes-webui 2297",
        says="Failed to deserialize the JSON body into the target type: messages[{index}]: unknown variant `image_url`, "
        "expected `text`",
    ),
    ContentKind(
        role="user", refused=("image_url", "input_audio", "video_url", "file"), wires=CHAT, date="2026-08",
        other_models="vision", unnamed="warning",
        source="recorded 7b5617bc0fd8d751, 58f1188d79e5114a, 7db0e0da9cdb08b9, 5f4add88acfe1e47; Reasonix 7396; the vision model "
        "takes images",
        says="Failed to deserialize the JSON body into the target type: messages[{index}]: unknown variant `{kind}`, expected `text`",
    ),
    ContentKey(what="calls", wires=CHAT, source="live table, tingly-box", date="2026-09"),
    LastMessage(open_calls=True, says=_MISSING, wires=CHAT, source="live table, tingly-box", date="2026-09"),
    ResultsTogether(
        place="after-each-call", says="No tool output found for tool call {id}.", wires=("openai-responses",),
        source="awesome-deepseek-integration 740: other than OpenAI's, its Responses API wants the output next",
        date="2026-11",
    ),
    RoleOrder(
        roles=("user", "assistant"), wires=ANTHROPIC, date="2026-05",
        says="Failed to deserialize the JSON body into the target type: messages[{index}].role: unknown variant `{role}`, "
        "expected `user` or `assistant` at line 1 column …",
        source="DeepSeek-V3 1369 and 1370, claude-code 63569, awesome-deepseek-integration 639, deepclaude 29",
    ),
)  # fmt: skip
_THINKS = (
    ReasoningUnpaired(
        what="missing-field", key="reasoning_content", said=True, models=r"deepseek-v[4-9]", says=_KEPT, wires=CHAT,
        source="pi 3636, Newelle 404: the request itself enables thinking; fe0bdd091da50edc has the key", date="2026-11",
    ),
    ReasoningUnpaired(
        what="missing-field", key="reasoning_content", said=True, severity="warning", other_models=r"deepseek-v[4-9]",
        says=_KEPT, wires=CHAT, source="pi 3636, LibreChat 13366: reported of V4 alone", date="2026-11",
    ),
    ReasoningUnpaired(
        what="missing-field", key="reasoning_content", said=False, severity="warning", says=_KEPT, wires=CHAT, date="2026-09",
        source="thinking_mode guide; pi 3636, LibreChat 13366, Newelle 404; a live table took its absence",
    ),
    ReasoningUnpaired(
        what="missing-field", key="reasoning_content", said=False, by_default=True, severity="warning", says=_KEPT,
        models=r"deepseek-v[4-9]", unnamed="silent", doubtful="silent", wires=CHAT, date="2026-09",
        source="hermes 15353, laravel/ai 534, nanobot 3453: V4 thinks by default; all 13 accepted requests of V4 without the key "
        "disable thinking (8d4f6e8c4967ae62)",
    ),
    ThinkingForm(
        what="turn-start", by_default=True, severity="warning", says=_THOUGHT, wires=ANTHROPIC, date="2026-07",
        source="aether 31, OmniBot 307, 9router 2397, hermes 16149 and 22313",
    ),
    ThinkingForm(
        what="forced-tool", severity="warning", says="Thinking mode does not support this tool_choice", wires=CHAT,
        source="public reports", date="2026-11",
    ),
)  # fmt: skip
_R1 = (
    UnknownKey(
        place="message", roles=("assistant",), refused=("reasoning_content",), source="reasoning_model guide of R1",
        date="2025-01",
    ),
)  # fmt: skip
_WEIGHTS = (
    Weight(
        rule="malformed-message", at="content", source="recorded 7b121690ce894e73; the column is that of the bytes sent",
        says="Failed to deserialize the JSON body into the target type: messages[{index}]: data did not match any variant of "
        "untagged enum ChatCompletionRequestContent at line 1 column …", date="2026-11", wires=CHAT,
    ),
    Weight(
        rule="orphan-result", says="No tool call found for tool output with call_id {id}.", wires=("openai-responses",),
        source="obsidian-agent 12, DeepSeek-V3 1611", date="2026-08",
    ),
    Weight(
        rule="missing-call-id", found="tool", when="absent", source="anon-kode 87; the column is that of the bytes sent",
        says="Failed to deserialize the JSON body into the target type: messages[{index}]: missing field `tool_call_id` at "
        "line 1 column …", date="2025-04", wires=CHAT,
    ),
    *(
        Weight(
            rule=rule, wires=ANTHROPIC, source="cc-switch 6044: the place is that of the call", date="2026-10",
            says="messages.{index}.{block}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}.",
        )
        for rule in ("unanswered-call", "pending-call")
    ),
    *pairing(
        missing=_MISSING, orphan=_ORPHAN, wires=CHAT, date="2026-09",
        source="live table, tingly-box; agno 3105, deepchat 1078, deepx-code 94",
    ),
)  # fmt: skip

_Q = r"\\?['‘’]?"
_KNOWN = (
    Known(
        pattern=r"Invalid assistant message: content or tool_calls must be set", rules=("PR318", "ST110", "PR312"),
        sample="Invalid assistant message: content or tool_calls must be set", source="ProxyAI 830", date="2026-05",
    ),
    Known(
        pattern=r"messages\[(?P<index>\d+)\]: unknown variant .?(?P<kind>\w+).?, expected .?text", rules=("PR321", "PR325", "ST103"),
        sample="Failed to deserialize the JSON body into the target type: messages[137]: unknown variant `image_url`, "
        "expected `text` at line 1 column 460917",
        source="Zoo-Code 1106, rikkahub 1433", date="2026-08", about="the API accepts only text, also in user messages",
    ),
    Known(
        pattern=r"\(insufficient tool messages following tool_calls message\)", source="agno 3105, deepchat 1078",
        rules=("PA201", "PA203", "PA206", "PA202", "PA204", "PR311"), sample=_MISSING, date="2026-07",
    ),
    Known(
        pattern=rf"responding to each {_Q}tool_call_id{_Q}, The following tool_call_ids did not have response messages: "
        r"(?P<ids>[\w:.-]+(?:, [\w:.-]+)*)",
        rules=("PA201", "PA203", "PA206", "PA202"), source="public reports", date="2026-11",
        sample="An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id', "
        "The following tool_call_ids did not have response messages: call_00_x",
    ),
    Known(
        pattern=rf"Messages with role {_Q}tool{_Q} must be a response to a preceding message with {_Q}tool_calls",
        rules=("PA202", "PA204", "PA203", "PR318"), sample=_ORPHAN, source="deepx-code 94; live table, tingly-box",
        date="2026-09",
    ),
    Known(
        pattern=rf"Invalid {_Q}(?P<path>tools\[\d+\]\.function\.name){_Q}: string does not match pattern", rules=("PR306",),
        sample="Invalid 'tools[12].function.name': string does not match pattern. Expected a string that matches the pattern "
        "'^[a-zA-Z0-9_-]+$'.",
        source="stored:69626195579", date="2026-11",
    ),
    Known(
        pattern=r"The `?reasoning_(?:content|text)`? in the thinking mode must be passed back to the API", rules=("PR315",),
        sample=_KEPT, source="pi 3636, LibreChat 13366, Newelle 404", date="2026-07",
    ),
    Known(
        pattern=r"The `?content\[\]\.thinking`? in the thinking mode must be passed back to the API", rules=("PR314",),
        sample=_THOUGHT, source="aether 31, OmniBot 307, hermes 22313", date="2026-07",
    ),
    Known(
        pattern=r"[Mm]odel only supports text input; received unsupported content type .?(?P<kind>\w+)",
        rules=("PR325", "PR321", "ST103"), source="Proma 1794, of a gateway", date="2026-08",
        sample="Model only supports text input; received unsupported content type 'image_url'.",
        about="the API accepts only text, also in user messages",
    ),
    Known(
        pattern=r"Missing `?reasoning_content`? field in the assistant message at message index (?P<index>\d+)",
        rules=("PR315",), source="public reports", date="2026-11",
        sample="Missing reasoning_content field in the assistant message at message index 2. For more information, please "
        "refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
    ),
    Known(
        pattern=r"Thinking mode does not support this tool_choice", rules=("PR314",), source="public reports",
        sample="Thinking mode does not support this tool_choice", date="2026-11",
    ),
    Known(
        pattern=r"No tool output found for tool call (?P<ids>[\w\-:]+)", rules=("PR309", "PA201", "PA206"),
        sample="No tool output found for tool call call_x.", source="awesome-deepseek-integration 740", date="2026-11",
    ),
    Known(
        pattern=r"No tool call found for tool output with call_id (?P<ids>[\w\-:]+)", rules=("PA202", "PA204"), date="2026-08",
        sample="No tool call found for tool output with call_id call_x.", source="obsidian-agent 12, DeepSeek-V3 1611",
    ),
    Known(
        pattern=r"messages\[(?P<index>\d+)\](?:\.role)?: unknown (?:variant|role:) ?`?(?P<role>\w+)", source="theia 15144, pi 7603",
        rules=("PR310", "ST103", "ST116"), date="2026-08",
        sample="Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, "
        "expected one of `system`, `user`, `assistant`, `tool`, `latest_reminder` at line 1 column 60",
    ),
    Known(
        pattern=r"messages\[(?P<index>\d+)\]: data did not match any variant of untagged enum ChatCompletionRequestContent",
        rules=("ST103", "ST116", "PR321"), source="recorded 7b121690ce894e73", date="2026-11",
        sample="Failed to deserialize the JSON body into the target type: messages[0]: data did not match any variant of "
        "untagged enum ChatCompletionRequestContent at line 1 column 96",
        about="a content has an unsupported type or part, such as an image",
    ),
    Known(
        pattern=r"messages\[(?P<index>\d+)\](?:\.\w+)*: missing field `?tool_call_id`?", rules=("ST104",),
        source="anon-kode 87", date="2025-04",
        sample="Failed to deserialize the JSON body into the target type: messages[5]: missing field `tool_call_id` at line 1 "
        "column 11512",
    ),
    Known(
        pattern=r"messages\[(?P<index>\d+)\](?:\.\w+)*: invalid type: (?:sequence|map|null), expected a string",
        rules=("PR307", "ST103", "PR318"), source="cline 230, litellm 6642", date="2024-11",
        sample="Failed to deserialize the JSON body into the target type: messages[2]: invalid type: sequence, expected a "
        "string at line 1 column 13946",
    ),
)  # fmt: skip


def _profile(version: str, about: str, models: str, *clauses: AnyClause) -> Profile:  # fmt: skip
    return Profile(
        name="deepseek",
        version=version,
        title="DeepSeek",
        about=about,
        wires=("openai-chat", "openai-responses", "anthropic"),
        hosts=("api.deepseek.com",),
        models=models,
        capabilities=Capabilities(
            format="openai-chat",
            parallel_calls=True,
            schema="JSON Schema",
            requires_schema=False,
            streaming=STREAM,
            quirks=(
                "a forced tool_choice cannot be combined with thinking",
                "messages with calls need reasoning_content during a tool loop; an empty string is enough",
            ),
            sources=(
                accepted_format(586),
                accepted_parallel_calls(31, "e7481bccb0555653", 3),
                CHAT_WIRE,
                accepted_without_tools(6, "692de6e1eebf74cb"),
                source_of_quirks(),
            ),
        ),
        clauses=(*_CLAUSES, *clauses),
        weights=_WEIGHTS,
        known=_KNOWN,
    )


PROFILES = (
    _profile("", "V3 and later", r"^deepseek-(chat|reasoner|coder|v[4-9][0-9.]*-(pro|flash))$", *_THINKS),
    _profile("r1", "the first R1, which rejected its own reasoning_content", "", *_R1),
)
