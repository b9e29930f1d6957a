"""a key is not accepted by the provider

What it does
    Reports keys of messages, calls and content blocks that the provider rejects. If all keys of the provider
    are known, it reports every other key, otherwise only keys that were seen rejected. It checks requests
    only, because a provider does not see the keys that a log adds.

Why it matters
    A strict provider rejects the whole request. The key stays in the history, so every later request fails
    too.

How it happens
    Reasoning of one provider (`reasoning_content`, `thinking_blocks`) is sent to another. A client stores its
    own data (`timestamp`, `tool_name`, `cache_control`) in the messages.

What fix does
    lossy: removes the key. The journal keeps it. A key with calls, or with the id of the call that a result
    answers, stays. lossless: moves an id beside a call or a result into it.

Evidence
    Groq: "property 'reasoning_content' is unsupported". Fireworks: "Extra inputs are not permitted, field:
    'messages[3].tool_name'" (pi 4514). Mistral: 422 `extra_forbidden`. Anthropic: "tool_use.text: Extra
    inputs are not permitted" (claude-code 4378). Lists of keys: the SDKs' own types (2026-11).
"""

import re
from collections.abc import Iterator
from json import dumps

from turnlint.api import (
    Call,
    Case,
    Finding,
    Fix,
    Pointer,
    Put,
    Raw,
    Result,
    Rule,
    Severity,
    Take,
    UnknownKey,
    by_place,
    is_missing,
    quote,
    strange,
)

RULE = Rule("PR317", "unknown-key", "error", fix="lossy", triggers=frozenset())

_TALK = (
    b'{"model": "llama-3.3-70b-versatile", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", '
    b'"content": "yes"%s}, {"role": "user", "content": "go on"}]}\n'
)  # fmt: skip

_CALLED = (
    b'{"generationConfig": {}, "contents": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"functionCall": '
    b'{"name": "f", "args": {}}, "id": "a1"}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}, '
    b'"id": "a1"}]}]}\n'
)  # fmt: skip

BAD = (
    Raw("openai-chat", _TALK % b', "reasoning_content": "hm"', (("PR317", 1),), provider="groq"),
    Raw("gemini", _CALLED, (("PR317", 1), ("PR317", 1)), provider="gemini"),
)  # fmt: skip
GOOD = (
    Raw("openai-chat", _TALK % b', "reasoning": "hm"', provider="groq"),
)  # fmt: skip


_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.-]{0,63}")
"""Form of keys that a report may name; another key may be content of the conversation."""
_LINKS = frozenset({"tool_call_id", "call_id", "tool_use_id", "id"})
"""Keys that link a result to its call are only corrected, not removed. The id of a message links nothing."""
_CALLS = frozenset({"tool_calls", "function_call", "functionCall", "toolUse"})
"""Keys of calls are not removed, because results answer these calls."""
_CONTENTS = frozenset({"content", "parts", "blocks", "message", "text", "items", "refusal", "images"})
"""Keys of content in the format of another wire are not removed."""


def check(case: Case) -> Iterator[Finding]:
    if case.transcript.request is None:
        return
    clauses = by_place(case.clauses(UnknownKey))
    if not clauses:
        return
    for index, message in enumerate(case.messages):
        if message.dialect or not case.sent(index):
            continue
        for clause, place, below in strange(case.written(index), message.written_role, clauses):
            key = str(below[-1])
            named = key if _NAME.fullmatch(key) else ""
            shown = f"the key {quote(named)}" if named else "a key"
            yield RULE.at_message(
                case, index, f"{_describe_place(place)} has {shown} that is not accepted",
                below=below if named else below[:-1], label=f"{quote(named) if named else shown} is not accepted",
                under=clause, told={"key": named or "…", "kind": place}, severity=_severity(case, clause),
                fix=_fix(case, index, place, named, below),
            )  # fmt: skip


def _fix(case: Case, index: int, place: str, shown: str, below: Pointer) -> Fix | None:
    key = str(below[-1])
    if key in _CALLS or (place == "message" and key in _CONTENTS):
        return None
    if key in _LINKS and (place, key) != ("message", "id"):
        identifier = case.said(index, below)
        if place != "message":
            return _move_id(case, index, below)
        if any(asked.call.id == identifier for asked in case.asked):
            return Fix(
                "lossy", f"none; the key names call {quote(identifier)}, so write a message of role `tool`"
            )
    title = f"remove {quote(shown) if shown else 'it'}"
    return Fix("lossy", title, (Take(below, index),))


def _move_id(case: Case, index: int, below: Pointer) -> Fix | None:
    """Return the move of an id beside a call or a result to the place where the wire has the id."""
    identifier = case.said(index, below)
    if not isinstance(identifier, str) or not identifier:
        return None
    for piece in case.messages[index].blocks:
        if isinstance(piece, Call | Result) and piece.at and piece.at == below[:-1]:
            place = (*piece.at, *piece.keys.id)
            holder = "call" if isinstance(piece, Call) else "result"
            if is_missing(piece.id) and place != below:
                step = Put(place, dumps(identifier).encode(), index)
                return Fix("lossless", f"move it into the {holder}", (step, Take(below, index)))
            if piece.id == identifier and place != below:
                return Fix(
                    "lossless", f"remove it, because the {holder} has the same id", (Take(below, index),)
                )
    return None


def _severity(case: Case, clause: UnknownKey) -> Severity:
    """Return the severity: a client may clean a stored conversation before it sends it, so no error there."""
    request, severity = case.transcript.request, case.severity(clause)
    return severity if (request and request.whole) or severity != "error" else "warning"


def _describe_place(place: str) -> str:
    return {"message": "a message", "call": "a call", "function": "a function", "part": "a part"}.get(
        place, f"a part of type {quote(place)}"
    )
