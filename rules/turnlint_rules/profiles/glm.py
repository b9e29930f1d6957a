"""The profile of Zhipu and Z.ai GLM, which have one unspecific text for nearly all faults in messages."""

from turnlint.api import (
    AnyClause,
    Capabilities,
    EmptyContent,
    Known,
    LastMessage,
    Profile,
    RoleOrder,
    Weight,
    accepted_format,
    accepted_parallel_calls,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import CHAT, CHAT_WIRE, NO_MESSAGES, STREAM, pairing

_OPAQUE = "The messages parameter is illegal. Please check the documentation."

_CLAUSES: tuple[AnyClause, ...] = (
    *NO_MESSAGES,
    RoleOrder(needs=("user",), says=_OPAQUE, source="opencode 2557 (tested live) and 2659", date="2025-09"),
    EmptyContent(
        what="empty-text", says="messages[{index}].content[{block}].text:text cannot be empty.", date="2026-03",
        source="QwenPaw 287, zed 38153",
    ),
    EmptyContent(
        what="message", roles=("user", "assistant"), severity="warning", says="The prompt parameter was not received normally.",
        source="llxprt-code 2410, zed 45704", date="2025-12",
    ),
    LastMessage(open_calls=True, says=_OPAQUE, severity="warning", source="assumed: the text is opaque", date="2026-11"),
)  # fmt: skip

_KNOWN = (
    Known(
        pattern=r"messages 参数非法|The messages parameter is illegal",
        rules=("PA201", "PA202", "PR310", "PR312", "ST108", "ST109", "PA205", "PA203", "ST110", "PA206"),
        sample='{"error":{"code":"1214","message":"messages 参数非法。请检查文档。"}}', date="2026-09",
        source="zhipuai-sdk 14, opencode 2557, continue 13259", about="the server has one text for all faults in messages",
    ),
    Known(
        pattern=r"messages\[(?P<index>\d+)\]\.content\[(?P<block>\d+)\]\.text\W+(?:不能为空|text cannot be empty)",
        rules=("PR312",), source="QwenPaw 287, zed 38153", date="2026-03",
        sample='{"error": {"code": "1214", "message": "messages[20].content[0].text:text cannot be empty."}}',
    ),
    Known(
        pattern=r"The prompt parameter was not received normally|messages\W+输入不能为空", rules=("PR312", "ST110"),
        sample='{"error":{"code":"1213","message":"The prompt parameter was not received normally."}}', source="zed 45704",
        date="2025-12",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="glm",
        title="Z.ai GLM",
        wires=CHAT,
        hosts=("api.z.ai", "open.bigmodel.cn"),
        models=r"^(glm-[0-9z][a-z0-9.-]*|charglm-[a-z0-9-]+|codegeex-4)$",
        capabilities=Capabilities(
            format="openai-chat",
            parallel_calls=True,
            schema="JSON Schema",
            streaming=STREAM,
            quirks=("a request needs a user message",),
            sources=(
                accepted_format(149),
                accepted_parallel_calls(24, "ffe7673812089061", 2),
                CHAT_WIRE,
                source_of_quirks(),
            ),
        ),
        clauses=_CLAUSES,
        weights=(
            *pairing(missing=_OPAQUE, orphan=_OPAQUE, duplicate=_OPAQUE, source="code 1214", date="2026-09"),
            Weight(
                rule="missing-call-id",
                severity="warning",
                when="one-call",
                date="2026-11",
                source="20 recorded requests with one open call were accepted",
            ),
            Weight(
                rule="missing-call-id", severity="error", says=_OPAQUE, source="code 1214", date="2026-11"
            ),
        ),
        known=_KNOWN,
    ),
)
