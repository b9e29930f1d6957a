"""The profile of Qwen on DashScope, which has OpenAI's texts with double quotes and parses arguments."""

from turnlint.api import (
    AnyClause,
    ArgumentsEncoding,
    Capabilities,
    Known,
    LastMessage,
    Profile,
    RoleOrder,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import ANTHROPIC, CHAT, CHAT_WIRE, NO_MESSAGES, STREAM, pairing

_HEAD = "<400> InternalError.Algo.InvalidParameter: "
_MISSING = (
    _HEAD
    + 'An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". '
    "The following tool_call_ids did not have response messages: message[{next}].role"
)
_ORPHAN = _HEAD + 'messages with role "tool" must be a response to a preceeding message with "tool_calls".'
_ARGUMENTS = _HEAD + 'The "function.arguments" parameter of the code model must be in JSON format.'
_NO_USER = _HEAD + "The input messages do not contain elements with the role of user"

_CLAUSES: tuple[AnyClause, ...] = (
    *NO_MESSAGES,
    ArgumentsEncoding(
        wants="json-object", says=_ARGUMENTS, source="qwen-code issues, cc-switch 4735", date="2026-06", wires=CHAT,
    ),
    RoleOrder(
        roles=("system", "assistant", "user", "tool", "function"), source="Proma 1496 (live), openclaw 22710", date="2026-08",
        wires=CHAT,
        says="{role} is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.[{index}].role'",
    ),
    RoleOrder(
        needs=("user",), says=_NO_USER, source="langfuse 10513, agentscope-java 613", date="2026-01", wires=CHAT,
    ),
    RoleOrder(
        roles=("user", "assistant"), wires=ANTHROPIC, severity="warning", date="2026-05", source="QwenLM/Qwen 2244",
        says="messages[{index}].role: unknown variant `{role}`, expected `user` or `assistant`",
    ),
    LastMessage(open_calls=True, says=_MISSING, source="spring-ai-alibaba 2430", date="2025-09", wires=CHAT),
)  # fmt: skip

_DQ = r"\\*[\"“”]?"
_KNOWN = (
    Known(
        pattern=rf"An assistant message with {_DQ}tool_calls{_DQ} must be followed by tool\s+messages.{{0,160}}?"
        r"message\[(?P<index>\d+)\]\.role",
        rules=("PA201", "PA203", "PA206", "PA202", "PA205", "PR311"), sample=_MISSING.format(next=532), date="2025-07",
        source="gemini-cli 5031, qwen-code 315",
    ),
    Known(
        pattern=r"messages with role (?:\\*[\"“”])tool(?:\\*[\"“”]) must be a response to a pre?ce?eding message",
        rules=("PA202", "PA204", "PA203", "PR318"), sample=_ORPHAN, source="qwen-code 2360, aichat 993", date="2026-03",
    ),
    Known(
        pattern=rf"The {_DQ}function\.arguments{_DQ} parameter of the code model must be in JSON format",
        rules=("PR307", "ST106", "ST115"), sample=_ARGUMENTS, source="cc-switch 4735", date="2026-06",
    ),
    Known(
        pattern=r"\b(?P<role>\w{1,40}) is not one of \[.?system.?, ?.?assistant.?, ?.?user.?, ?.?tool.?, ?.?function",
        rules=("PR310", "ST116"), sample="developer is not one of ['system', 'assistant', 'user', 'tool', 'function']",
        source="Proma 1496, openclaw 14040", date="2026-08",
    ),
    Known(
        pattern=r"The input messages do not contain elements with the role of user", rules=("PR310",), sample=_NO_USER,
        source="langfuse 10513, agentscope-java 613", date="2026-01",
    ),
    Known(
        pattern=r"Repetitive tool calls detected in the conversation history", rules=("ST109", "CO405"), date="2026-08",
        sample=_HEAD + "Repetitive tool calls detected in the conversation history. The same tool call with identical name "
        "and arguments has been repeated across multiple consecutive rounds.",
        source="MiMo-Code 2160", about="the same call was made in several consecutive turns", status="abridged",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="qwen",
        title="Alibaba Qwen (DashScope)",
        wires=(*CHAT, *ANTHROPIC),
        hosts=("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com", "maas.aliyuncs.com"),
        models=r"^(qwen[0-9.]*-(max|plus|turbo|flash|long|vl-max|vl-plus|coder-plus|coder-flash)|qwq-plus|qvq-(max|plus))",
        capabilities=Capabilities(
            format="openai-chat",
            parallel_calls=True,
            schema="JSON Schema",
            streaming=STREAM,
            quirks=("arguments are a string with a JSON object", "the role developer is rejected"),
            sources=(
                source_of("format", source="public reports: gemini-cli 5031, qwen-code 315 and 2360", date="2026-03"),
                source_of("parallel_calls", source="the templates of Qwen 2.5 and 3 write several calls of a turn (trl 1.16.0)"),
                CHAT_WIRE, source_of_quirks("public reports, as in the clauses of this profile"),
            ),
        ),
        clauses=_CLAUSES,
        weights=pairing(
            missing=_MISSING, orphan=_ORPHAN, source="gemini-cli 5031, qwen-code 315 and 2360", date="2026-03", wires=CHAT,
        ),
        known=_KNOWN,
    ),
)  # fmt: skip
