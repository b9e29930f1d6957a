"""a call has no valid thought signature

What it does
    Reports a call without a thought signature where the model requires one: the first call of each step of
    the current turn. Also reports a signature that is not a string. Earlier turns are not checked, because
    the provider does not check them.

Why it matters
    Newer models reject such a request. Older models answer worse.

How it happens
    A store or a gateway keeps the name and the arguments of a call and drops the signature beside them. Or
    the history comes from another provider.

What fix does
    lossless: writes the value with which the provider accepts a call of another model.

Evidence
    Gemini: "Function call is missing a thought_signature in functionCall parts". Vertex: "Function call `x`
    in the `1.` content block is missing a `thought_signature`". Google's page on thought signatures names the
    value (read 2026-11). Gemini 3 accepted ten recorded requests with it on a call of the current turn, such as
    ff67834acc5e6bb9, and rejected none.
"""

from collections.abc import Iterator
from json import dumps
from typing import Any

from turnlint.api import (
    Asked,
    Call,
    Case,
    Example,
    Finding,
    Fix,
    Pointer,
    Put,
    Raw,
    Result,
    Rule,
    Text,
    ThoughtSignature,
    called,
)

RULE = Rule("PR320", "thought-signature", "error", fix="lossless", triggers=frozenset())
BYPASS = "skip_thought_signature_validator"
_PLACE = ("extra_content", "google", "thought_signature")

_SIGNED = b'"thoughtSignature": "c2ln"'
_STEPS = (
    b'{"contents": [{"role": "user", "parts": [{"text": "hi"}]}, '
    b'{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}%s}]}, '
    b'{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}%s}]}, '
    b'{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}, '
    b'{"functionResponse": {"name": "f", "response": {}}}]}]}\n'
)
_CHAT = (
    b'{"model": "gemini-3-pro-preview", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", '
    b'"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}%s}]}, '
    b'{"role": "tool", "tool_call_id": "c1", "content": "ok"}]}\n'
)

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     - get_weather {"city": "Paris"}   <- PR320
          result   - (get_weather) 18 degrees
    """, wires=("gemini",), provider="gemini@3"),
    Raw("gemini", _STEPS % (b"", b", " + _SIGNED), (("PR320", 1),), provider="gemini@3"),
    Raw("gemini", _STEPS % (b", " + _SIGNED, b""), (("PR320", 1),), provider="gemini@3"),
    Raw("openai-chat", _CHAT % b"", (("PR320", 1),), provider="gemini"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     - get_weather {"city": "Paris"}
          result   - (get_weather) 18 degrees
        assistant  It is 18 degrees.
        user       Thanks.
    """, wires=("gemini",), provider="gemini@3"),
    Raw("gemini", _STEPS % (b", " + _SIGNED, b", " + _SIGNED), provider="gemini@3"),
    Raw("openai-chat", _CHAT % b', "extra_content": {"google": {"thought_signature": "c2ln"}}', provider="gemini"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    if case.transcript.open_end:
        return
    for clause in case.clauses(ThoughtSignature):
        start = _current_turn(case) if clause.what == "missing" else 0
        seen: set[int] = set()
        for asked in case.asked:
            first = asked.message not in seen  # each content of the model with calls begins a step
            seen.add(asked.message)
            if asked.message < start or asked.call.server:
                continue
            if clause.what == "unfit" and asked.call.signature == "unfit":
                yield _finding(case, clause, asked, "is not a string")
            elif clause.what == "missing" and first and asked.call.signature in ("absent", "blank"):
                yield _finding(case, clause, asked, "is missing")


def _current_turn(case: Case) -> int:
    """Return the index of the last message of the user, which starts the current turn."""
    for index in range(len(case.messages) - 1, -1, -1):
        message = case.messages[index]
        if message.role != "user" or any(isinstance(block, Result) for block in message.blocks):
            continue
        if any(isinstance(block, Text) or not isinstance(block, Call) for block in message.blocks):
            return index
    return 0


def _finding(case: Case, clause: ThoughtSignature, asked: Asked, what: str) -> Finding:
    place = next((part for part in asked.call.at if isinstance(part, int)), 0)
    return RULE.at_call(
        case, asked, f"the thought signature of {called(asked.call)} {what}", key="whole",
        label=f"signature {what}", under=clause, told={"block": place},
        fix=Fix("lossless", f"set it to `{BYPASS}`, which skips the check", _steps(case, asked)),
    )  # fmt: skip


def _steps(case: Case, asked: Asked) -> tuple[Put, ...]:
    """Return the step that sets the signature, under the existing key or in the case of the call."""
    call, part = asked.call, case.said(asked.message, asked.call.at)
    if case.transcript.wire.speaks == "openai-chat":
        return _chat_steps(asked, part)
    if call.dialect or (part is None and call.signature != "absent"):
        return ()
    usual = "thought_signature" if call.keys.id[0] == "function_call" else "thoughtSignature"
    key = next((key for key in ("thoughtSignature", "thought_signature") if key in (part or ())), usual)
    return (Put((*call.at, key), f'"{BYPASS}"'.encode(), asked.message),)


def _chat_steps(asked: Asked, call: Any) -> tuple[Put, ...]:
    """Return the step for Google's endpoint for Chat Completions, which has another key for the signature."""
    at: Pointer = asked.call.at
    value: Any = BYPASS
    for depth, key in enumerate(_PLACE):
        inner = call.get(key) if isinstance(call, dict) else None
        if not isinstance(inner, dict):
            for left in reversed(_PLACE[depth + 1 :]):
                value = {left: value}
            return (Put((*at, *_PLACE[: depth + 1]), dumps(value).encode(), asked.message),)
        call = inner
    return ()
