"""The profiles of Moonshot Kimi: the K2 family, and K3.

K2 was trained with ids of the form `functions.NAME:N`, where N counts over the whole conversation. It accepts
other ids, but its calls get worse. K3 creates no ids, and servers restart the count in every response.
"""

from turnlint.api import (
    AnyClause,
    Capabilities,
    EmptyContent,
    IdForm,
    IdUnique,
    Known,
    LastMessage,
    Profile,
    ReasoningUnpaired,
    Weight,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import (
    CHAT,
    CHAT_WIRE,
    NO_MESSAGES,
    STREAM,
    VLLM_PARSER,
    native_kimi,
    pairing,
)

_MISSING = (
    "Invalid request: an assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
)
_TAKEN = "Invalid request: tool call id {id} is duplicated"
_NO_TEXT = "Invalid request: text content is empty"
_NO_THOUGHT = (
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}"
)

_CLAUSES: tuple[AnyClause, ...] = (
    *NO_MESSAGES,
    IdUnique(over="message", says=_TAKEN, source="openclaw 84730 and 51155", date="2026-05"),
    EmptyContent(
        what="message", roles=("system", "assistant"), source="kimi-code 1985, AstrBot 7200, opencode 37887", date="2026-11",
        says="Invalid request: the message at position {index} with role '{role}' must not be empty",
    ),
    EmptyContent(
        what="empty-text", roles=("assistant",), says=_NO_TEXT, source="public reports of parts beside calls", date="2026-11"
    ),
    ReasoningUnpaired(
        what="missing-field", key="reasoning_content", said=True, says=_NO_THOUGHT, date="2026-11",
        source="new-api 3121, opencode 16318: the request itself enables thinking",
    ),
    ReasoningUnpaired(
        what="missing-field", key="reasoning_content", models="k2-thinking", said=False, says=_NO_THOUGHT,
        source="litellm 1.109.1; obsidian-yolo 243: an empty text is enough", date="2026-04",
    ),
    ReasoningUnpaired(
        what="missing-field", key="reasoning_content", severity="warning", said=False, says=_NO_THOUGHT,
        other_models="k2-thinking",
        source="new-api 3121, FastGPT 6357, opencode 16318: with thinking on, as it is by default from K2.5", date="2026-03",
    ),
    ReasoningUnpaired(
        what="missing-field", key="reasoning_content", severity="warning", said=False, by_default=True, says=_NO_THOUGHT,
        models=r"k2[.-][5-9]|k2-thinking|kimi-for-coding", unnamed="silent", doubtful="silent", date="2026-05",
        source="continue 11600, hermes 14018: these models think by default; other hosts of them accept it",
    ),
    LastMessage(open_calls=True, says=_MISSING, source="kimi-cli 2405 and 1977", date="2026-11"),
)  # fmt: skip
_WEIGHTS = (
    *pairing(
        missing=_MISSING, orphan="Invalid request: tool_call_id {id} is not found", source="kimi-cli 2405, LangBot 1040",
        date="2026-11",
    ),
    Weight(rule="reused-call-id", says=_TAKEN, source="openclaw 51593: across turns too", date="2026-05"),
    Weight(rule="replayed-call", says=_TAKEN, source="openclaw 51593: across turns too", date="2026-05"),
    Weight(
        rule="missing-call-id", severity="error", says="Invalid request: tool_call_id  is not found",
        source="LangBot 1040, gentle-pi 1052", date="2026-11",
    ),
)  # fmt: skip

_Q = r"\\?['‘’]?"
_KNOWN = (
    Known(
        pattern=rf"(?<![A-Za-z])an assistant message with {_Q}tool_calls{_Q} must be followed by tool messages"
        r"(?:.{0,120}?did not have response messages: (?P<ids>[^\s'\"}]+(?:, [^\s'\"}]+)*))?",
        rules=("PA201", "PA203", "PA206", "PA202", "ST108", "ST104"), source="kimi-cli 2405 and 1977", date="2026-11",
        sample="Invalid request: an assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: Agent:0",
    ),
    Known(
        pattern=r"tool_call_id (?P<ids>\S*) ?is not found", rules=("ST104", "PA202", "PA203", "PA204"), date="2025-02",
        sample="Invalid request: tool_call_id  is not found", source="LangBot 1040, gentle-pi 1052",
    ),
    Known(
        pattern=r"tool call id (?P<ids>\S+) is duplicated", rules=("PR305", "ST108", "ST109"), date="2026-03",
        sample="Invalid request: tool call id write:12 is duplicated", source="openclaw 51155",
    ),
    Known(
        pattern=r"the message at position (?P<index>\d+) with role .?(?P<role>\w+).? must not be empty",
        rules=("PR312", "ST110"), source="kimi-code 1985, AstrBot 7200", date="2026-07",
        sample="Invalid request: the message at position 79 with role 'assistant' must not be empty",
    ),
    Known(
        pattern=r"text content is empty", rules=("PR312",), sample=_NO_TEXT, source="public reports", date="2026-11"
    ),
    Known(
        pattern=r"thinking is enabled but reasoning_content is missing in assistant tool call message at index (?P<index>\d+)",
        rules=("PR315",), source="new-api 3121, continue 11711", date="2026-03",
        sample="thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    ),
    Known(
        pattern=r"(?:the message at position (?P<index>\d+) with role .?(?P<role>\w+).? )?contains an invalid part type: "
        r"(?P<kind>\w+)",
        rules=("ST116", "PR321"), source="kimi-cli 788; stored:15750185555", date="2026-01",
        sample="the message at position 1 with role 'user' contains an invalid part type: tool_use", status="abridged",
    ),
)  # fmt: skip


def _profile(version: str, about: str, models: str, *ids: IdForm) -> Profile:
    return Profile(
        name="kimi",
        version=version,
        title="Moonshot Kimi",
        about=about,
        wires=CHAT,
        hosts=("api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"),
        models=models,
        capabilities=Capabilities(
            format="openai-chat",
            parallel_calls=True,
            schema="JSON Schema",
            streaming=STREAM,
            quirks=(
                "tool_choice `required` is rejected",
                "with thinking, every message with calls needs reasoning_content; a blank string is enough",
            ),
            sources=(
                source_of("format", source="Moonshot's guide to tool calls; public reports"),
                source_of("parallel_calls", source=f"{VLLM_PARSER}; Moonshot's guide to tool calls"),
                CHAT_WIRE,
                source_of_quirks("public reports, as in the clauses of this profile"),
            ),
        ),
        clauses=(*ids, *_CLAUSES),
        weights=_WEIGHTS,
        known=_KNOWN,
    )


PROFILES = (
    _profile(
        "k2",
        "the K2 family and moonshot-v1",
        r"^(kimi-(?!k3)[a-z0-9.-]+|moonshot-v1-[a-z0-9-]+)$",
        native_kimi(
            source="MoonshotAI tool_call_guidance; kimchi 1063, openclaw 70030, vllm 29596", date="2026-04"
        ),
    ),
    _profile("k3", "Kimi K3, which does not create ids", r"^kimi-k3"),
)
