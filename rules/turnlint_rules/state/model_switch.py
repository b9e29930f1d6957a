"""the model changes inside an open tool turn

What it does
    Reports a message of another model or provider than the calls before it, where the user said nothing in
    between. Only logs that name the model of each message have such findings: Claude Code, Cline, Codex,
    Gemini CLI, LangChain, pi, stored responses of Anthropic and the canonical form. It is a warning if the provider changes or if the turn has signed thinking, and
    an info otherwise.

Why it matters
    The next request sends calls and signed thinking of one model to another. A provider rejects signatures
    of other models and ids in a form that it does not have. It cannot be solved inside the turn: with thinking
    on, the turn must have its thinking until it ends. A change between turns is harmless, because the thinking
    of earlier turns can be left out.

How it happens
    The first model had an error or a limit, and a router or an agent continued with a fallback. The user
    chose another model while a tool ran.

What fix does
    Nothing: both models really answered. Before the next request, run `turnlint fix` with `--provider` of the
    provider that receives it. `inspect` shows the models of the file.

Evidence
    "Invalid `signature` in `thinking` block" after a change of the model (llxprt-code 2335 of 2026-07) and
    between the calls of Gemini and Claude (opencode-antigravity-auth 70 of 2025-12); ids of the first
    provider in a request to the second (openclaw 16693 of 2026-02, tau 557 of 2026-08). One agent removes
    all thinking before a fallback inside a turn (stella 2679 of 2026-08). None of 30 recorded conversations of agents
    with 843 calls has such a change (read 2026-11).
"""

import re
from collections.abc import Iterator

from turnlint.api import (
    Call,
    Case,
    Finding,
    Message,
    Origin,
    Raw,
    Result,
    Rule,
    Severity,
    Thinking,
    near,
    quote,
)

RULE = Rule("ST119", "model-switch", "warning", triggers=frozenset({"switch"}))

_TURNS = (
    b'{"speaker": "human", "blocks": [{"type": "text", "text": "Run it."}]}, '
    b'{"speaker": "ai", "blocks": [%s{"type": "tool_call", "id": "hist_tool_1", "name": "run", "parameters": {}}], '
    b'"metadata": {"provider": "anthropic", "model": "claude-opus-4-5"}}, '
    b'{"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "hist_tool_1", "toolName": "run", '
    b'"result": "ok"}]}, %s'
    b'{"speaker": "ai", "blocks": [{"type": "text", "text": "It ran."}], '
    b'"metadata": {"provider": "%s", "model": "%s"}}'
)
_SIGNED = b'{"type": "thinking", "thought": "so", "signature": "c2ln"}, '
_ASKED = b'{"speaker": "human", "blocks": [{"type": "text", "text": "Did it run?"}]}, '


def _history(*parts: bytes) -> bytes:
    return b'{"history": [' + _TURNS % parts + b"]}\n"


BAD = (
    Raw("canonical", _history(b"", b"", b"openai", b"gpt-5"), (("ST119", 1),)),
    Raw("canonical", _history(_SIGNED, b"", b"anthropic", b"claude-sonnet-4-5"), (("ST119", 1),)),
    Raw("canonical", _history(b"", b"", b"anthropic", b"claude-sonnet-4-5"), (("ST119", 1),)),
)
GOOD = (
    Raw("canonical", _history(_SIGNED, b"", b"anthropic", b"claude-opus-4-5")),
    Raw("canonical", _history(_SIGNED, b"", b"anthropic", b"claude-opus-4-5-20251101")),
    Raw("canonical", _history(_SIGNED, _ASKED, b"openai", b"gpt-5")),
)
_VERSION = re.compile(r"(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest))+$")


def check(case: Case) -> Iterator[Finding]:
    asking: int | None = None
    origin: Origin | None = None
    is_signed = False
    for index, message in enumerate(case.messages):
        if message.role == "user" and message.blocks and not _has(message, Result):
            asking, is_signed = None, False
        if message.role != "assistant" or message.origin is None:
            continue
        if asking is not None and origin is not None and not _is_same(origin, message.origin):
            yield _finding(case, index, asking, origin, message.origin, is_signed=is_signed)
            asking, is_signed = None, False
        if _has(message, Call):
            asking, origin = index, message.origin
        is_signed = is_signed or any(map(_is_signed, message.blocks))


def _finding(
    case: Case, index: int, asking: int, before: Origin, after: Origin, *, is_signed: bool
) -> Finding:
    kind, old, new = "model", before.model, after.model
    is_foreign = _is_other(before.provider, after.provider)
    if is_foreign:
        kind, old, new = "provider", before.provider, after.provider
    severity: Severity = "warning" if is_foreign or is_signed else "info"
    call = next(block for block in case.messages[asking].blocks if isinstance(block, Call))
    return RULE.at_message(
        case,
        index,
        f"the {kind} changes from {quote(old)} to {quote(new)} inside an open tool turn",
        severity=severity,
        label="signed thinking of the first model is in this turn" if is_signed else f"another {kind}",
        related=(near(case, asking, "the last call before the change", call.at),),
    )


def _has(message: Message, kind: type[Call] | type[Result]) -> bool:
    """Whether a message has a call or a result of the caller's own tools."""
    return any(isinstance(block, kind) and not block.server for block in message.blocks)


def _is_signed(block: object) -> bool:
    if isinstance(block, Thinking):
        return block.cipher or block.signature == "given"
    return isinstance(block, Call) and block.signature == "given"


def _is_same(one: Origin, other: Origin) -> bool:
    return not _is_other(one.provider, other.provider) and not _is_other(one.model, other.model)


def _is_other(one: str | None, other: str | None) -> bool:
    """Whether two names are known and differ in more than the date of a version."""
    return bool(one and other) and _bare(one or "") != _bare(other or "")


def _bare(name: str) -> str:
    return _VERSION.sub("", name.lower().rpartition("/")[2])
