"""The profile of Groq, which has a strict schema and names rejected keys of other providers in its texts."""

from turnlint.api import (
    AnyClause,
    Capabilities,
    ContentKey,
    Known,
    OverLimit,
    Profile,
    RoleOrder,
    Weight,
    accepted_format,
    accepted_parallel_calls,
    accepted_switch,
    accepted_without_tools,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import CHAT, CHAT_WIRE, KEYS, NO_MESSAGES, ROLES, STREAM, allowed, without

_HERE = "'messages.{index}' : for 'role:{role}' the following must be satisfied["
_STRING = _HERE + "('messages.{index}.content' : value must be a string)]"
_FOREIGN = _HERE + "('messages.{index}' : property '{key}' is unsupported)]"
_KEYS = without(KEYS, "assistant") | {
    "assistant": ("content", "function_call", "name", "reasoning", "role", "tool_calls"),
    "call": ("function", "id", "type"),
}

_CLAUSES: tuple[AnyClause, ...] = (
    *NO_MESSAGES,
    *allowed(
        _KEYS, says=_FOREIGN, date="2026-05",
        source="groq 1.7.0; jan 8136, chatbox 2081, odysseus 200; `name` of a result accepted in c8bbb05351083166",
    ),
    ContentKey(
        what="content", kinds=("absent", "null"), roles=("system", "developer", "user", "tool"), says=_STRING,
        source="gptme 375, ellmer 162", date="2025-05",
    ),
    ContentKey(
        what="content", kinds=("absent", "null"), roles=("assistant",), with_calls=False, last=False, says=_STRING,
        source="gptme 227, ellmer 162; beside calls both were accepted (ffd0b5846cc2590a, f88a2d6d442301fb)", date="2025-05",
    ),
    ContentKey(
        what="content", kinds=("absent", "null"), roles=("assistant",), with_calls=False, last=True, says=_STRING,
        severity="warning", source="gptme 227, ellmer 162; accepted in 8c7ad3ea10d50511", date="2026-11",
    ),
    ContentKey(
        what="content", kinds=("no-parts",), with_calls=False, source="OpenHands 9759; beside calls 13 were accepted",
        date="2026-11",
        says=_HERE + "('messages.{index}.content' : one of the following must be satisfied[('messages.{index}.content' : "
        "value must be a string) OR ('messages.{index}.content' : minimum number of items is 1)])]",
    ),
    RoleOrder(
        roles=ROLES, says="'messages.{index}' : discriminator property 'role' has invalid value",
        source="groq 1.7.0; obsidian-textgenerator 309", date="2024-08",
    ),
    OverLimit(what="tools", most=128, source="groq 1.7.0", date="2026-11"),
)  # fmt: skip
_WEIGHTS = (
    Weight(
        rule="missing-call-id", severity="error", source="hackclub/ai 22", date="2025-08",
        says="'messages.{index}' : for 'role:{role}' the following must be satisfied[('{path}' : property 'tool_call_id' is missing)]",
    ),
)  # fmt: skip

_KNOWN = (
    Known(
        pattern=r"messages\.(?P<index>\d+)\W+: for .?role:tool.? the following must be satisfied\W+"
        r"(?P<path>messages\.\d+\.tool_call_id)",
        rules=("ST104", "PR318"), source="hackclub/ai 22", date="2025-08",
        sample="'messages.2' : for 'role:tool' the following must be satisfied[('messages.2.tool_call_id' : property "
        "'tool_call_id' is missing)]",
    ),
    Known(
        pattern=r"(?P<path>messages\.(?P<index>\d+)\.content)\W+: (?:value must be a string|one of the following must be)",
        rules=("PR318", "PR321"), source="ellmer 162, gptme 227 and 375", date="2025-05",
        sample="'messages.4' : for 'role:assistant' the following must be satisfied[('messages.4.content' : value must be a "
        "string)]",
    ),
    Known(
        pattern=r"(?P<path>messages\.(?P<index>\d+)[\w.]*)\W+: property .?(?P<key>\w+).? is unsupported", rules=("PR317", "ST116"),
        sample="'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property "
        "'reasoning_content' is unsupported)]",
        source="jan 8136, gptel 774, chatbox 2081", date="2026-05",
    ),
    Known(
        pattern=r"messages\.(?P<index>\d+)\W+: discriminator property .?role.? has invalid value", date="2024-08",
        rules=("PR310", "ST103", "ST116"), sample="'messages.0' : discriminator property 'role' has invalid value",
        source="obsidian-textgenerator 309",
    ),
    Known(
        pattern=r"Tool call validation failed: ", rules=(), source="public reports", date="2026-11",
        sample="Tool call validation failed: attempted to call tool 'x' which was not in request.tools",
        about="the model just made a call that does not match the tools; the conversation is not the cause",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="groq",
        title="Groq",
        wires=CHAT,
        paths="dots",
        hosts=("api.groq.com",),
        models=r"^(llama-3\.\d-\d+b-(versatile|instant|specdec)|llama3-\d+b-8192|mixtral-8x7b-32768|groq/)",
        capabilities=Capabilities(
            format="openai-chat",
            parallel_calls=True,
            parallel_switch="parallel_tool_calls",
            max_tools=128,
            schema="JSON Schema",
            requires_schema=False,
            streaming=STREAM,
            quirks=("reasoning is in `reasoning`; reasoning_content is rejected",),
            sources=(
                accepted_format(174),
                accepted_parallel_calls(12, "e27c39bee4146b2f", 2),
                accepted_switch(13, "400bec9ce8682448"),
                CHAT_WIRE,
                accepted_without_tools(4, "c8bbb05351083166"),
                source_of_quirks(),
            ),
        ),
        clauses=_CLAUSES,
        weights=_WEIGHTS,
        known=_KNOWN,
    ),
)
