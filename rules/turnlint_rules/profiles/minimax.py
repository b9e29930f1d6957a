"""The profile of MiniMax, on the wires of OpenAI and Anthropic; its error texts all have the number 2013."""

from turnlint.api import (
    ArgumentsEncoding,
    Capabilities,
    IdUnique,
    Known,
    LastMessage,
    Profile,
    ResultNotFirst,
    RoleOrder,
    Weight,
    accepted_format,
    source_of,
)
from turnlint_rules.profiles._chat import CHAT, CHAT_WIRE, STREAM, VLLM_PARSER, no_messages, pairing

_MISSING = "invalid params, tool call result does not follow tool call (2013)"
_ORPHAN = "invalid params, tool result's tool id({id}) not found (2013)"
_DUPLICATE = "invalid params, duplicate tool_call id: {id} (2013)"
_SYSTEM = "invalid params, chat content has invalid message role: {role} (2013)"
_TWO_SYSTEMS = "invalid params, invalid chat setting (2013)"
_ARGUMENTS = "invalid params, invalid function arguments json string, tool_call_id: {id} (2013)"

_KNOWN = (
    Known(
        pattern=r"tool call result does not follow tool call", rules=("PA201", "PA203", "PA206", "PA204", "PR308", "PR311"),
        sample=_MISSING, source="public reports", date="2026-11",
    ),
    Known(
        pattern=r"tool result.?s tool id\s?\((?P<ids>[^)]{0,500})\) not found", rules=("PA202", "PA203", "PA204"), date="2026-03",
        sample=_ORPHAN.format(id="call_function_g094w5htkglv_1"), source="MiniMax-M2 76",
    ),
    Known(
        pattern=r"duplicate tool_call id: (?P<ids>\S+)", rules=("PR305", "ST108", "ST109"), sample=_DUPLICATE.format(id="call_x"),
        source="public reports", date="2026-11",
    ),
    Known(
        pattern=r"invalid function arguments json string(?:, tool_?call_?id: (?P<ids>[\w-]*))?", date="2026-04",
        rules=("PR307", "ST115", "ST106"), sample=_ARGUMENTS.format(id="call_function_abraty2ssz2_1"),
        source="pi 5468, hermes-agent 12167, oh-my-pi 181",
    ),
    Known(
        pattern=r"chat content has invalid message role: (?P<role>\w+)", rules=("PR310", "ST116"), date="2026-05",
        sample="invalid params, chat content has invalid message role: system (2013)", source="CodexPlusPlus 267",
    ),
    Known(
        pattern=r"invalid chat setting", rules=("PR310",), sample=_TWO_SYSTEMS, source="MiniMax-M2 51, openclaw 19386",
        date="2026-05", about="the request has several system messages",
    ),
    Known(
        pattern=r"function parameters is empty", rules=("CO406",), source="qwen-code 11905", date="2026-09",
        sample="invalid params, function parameters is empty (2013)",
        about="a declared tool has no parameters: give it an empty object schema",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="minimax",
        title="MiniMax",
        wires=("openai-chat", "anthropic"),
        hosts=("api.minimax.io", "api.minimaxi.com", "api.minimax.chat"),
        models=r"^(MiniMax-(M|Text)|abab\d)",
        capabilities=Capabilities(
            format="openai-chat", parallel_calls=True, schema="JSON Schema", streaming=STREAM,
            sources=(accepted_format(4), source_of("parallel_calls", source=VLLM_PARSER), CHAT_WIRE),
        ),
        clauses=(
            *no_messages(
                source="no accepted request of any provider has an empty list", date="2026-11", wires=(*CHAT, "anthropic")
            ),
            IdUnique(over="request", says=_DUPLICATE, source="public reports", date="2026-11"),
            ArgumentsEncoding(
                wants="json", says=_ARGUMENTS, wires=CHAT, source="pi 5468, hermes-agent 12167", date="2026-06"
            ),
            ResultNotFirst(
                alone=True, wires=("anthropic",), says=_MISSING, date="2026-06",
                source="opencode 32609, tried live: refused with a text behind the result, accepted in two messages",
            ),
            RoleOrder(
                role="system", after=("system",), wires=CHAT, models="(?i)minimax-m[12]", unnamed="error", says=_TWO_SYSTEMS,
                source="MiniMax-M2 51: its maker confirms it; openclaw 19386 and oh-my-pi 954, tried live: one is accepted",
                date="2026-05",
            ),
            RoleOrder(
                role="system", after=("system",), wires=CHAT, other_models="(?i)minimax-m[12]", unnamed="silent",
                severity="warning", says=_TWO_SYSTEMS, source="as for the M2 family; nothing is known of later models",
                date="2026-05",
            ),
            RoleOrder(
                role="system", after=("user", "assistant", "tool"), wires=CHAT, severity="warning", date="2026-05",
                says=_SYSTEM, source="temm1e 59, CodexPlusPlus 267",
            ),
            RoleOrder(
                roles=("user", "assistant"), wires=("anthropic",), severity="warning", date="2026-05",
                says=_SYSTEM,
                source="MiniMax-M2.7 43, note-gen 918: since Claude Code sends such messages",
            ),
            LastMessage(open_calls=True, says=_MISSING, source="public reports", date="2026-11"),
        ),
        weights=(
            *pairing(missing=_MISSING, orphan=_ORPHAN, source="MiniMax-M2 76 and public reports", date="2026-03"),
            Weight(rule="missing-call-id", severity="error", says=_ORPHAN.format(id=""), source="MiniMax-M2 76", date="2026-03"),
        ),
        known=_KNOWN,
    ),
)  # fmt: skip
