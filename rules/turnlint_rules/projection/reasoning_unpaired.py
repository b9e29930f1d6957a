"""reasoning is missing, or separated from its output

What it does
    Reports a stored reasoning item without an item with an id after it. Reports a stored call without
    reasoning if other calls of the conversation have it. Reports a message with calls that lacks its
    reasoning key if the conversation otherwise keeps it, or if the request or its model enables thinking. With
    `store: false`, a reasoning item may be alone.

Why it matters
    Providers that store reasoning reject a reasoning item without its output. Others reject calls without
    their reasoning, or answer worse.

How it happens
    A history was cut between the two, or a filter removed one type of item. A store keeps `content` and
    `tool_calls` and drops the key with the reasoning.

What fix does
    lossy: removes the reasoning item. The journal keeps it. lossless: removes the id of such a call.
    lossless: adds an empty reasoning key where the provider accepts it.

Evidence
    Responses: "Item 'rs_…' of type 'reasoning' was provided without its required following item", recorded
    24a30041973d6edf. Each of about 3,400 accepted items of GPT-5 has an item with an id after it. DeepSeek:
    "The `reasoning_content` in the thinking mode must be passed back to the API". Kimi: "reasoning_content is
    missing in assistant tool call message at index N" (read 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import (
    Call,
    Case,
    Drop,
    Example,
    Finding,
    Fix,
    Piece,
    Put,
    Raw,
    ReasoningUnpaired,
    Result,
    Rule,
    Take,
    Text,
    near,
    quote,
)

RULE = Rule("PR315", "reasoning-unpaired", "warning", fix="lossy", triggers=frozenset())

_REQUEST = (
    b'{"model": "gpt-5.1", "store": true, "input": [{"role": "user", "content": "hi"}, '
    b'{"type": "reasoning", "id": "rs_1", "summary": []}, %s{"role": "user", "content": "go on"}]}\n'
)  # fmt: skip

_ANSWER = b'{"type": "message", %s"role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}, '
_CALLED = (
    b'{"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}, '
    b'{"type": "function_call_output", "call_id": "c1", "output": "ok"}, '
)

_THINKS_BY_DEFAULT = (
    b'{"model": "deepseek-v4-flash", "stream": true, %s"messages": [{"role": "user", "content": "look"}, {"role": "assistant", '
    b'"content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, '
    b'{"role": "tool", "tool_call_id": "c1", "content": "x"}]}\n'
)  # fmt: skip

BAD = (
    Raw("openai-responses", _REQUEST % b"", (("PR315", 1),), provider="openai-responses"),
    Raw("openai-responses", _REQUEST % (_ANSWER % b""), (("PR315", 1),), provider="openai-responses"),
    Raw(
        "openai-responses", _REQUEST % (_ANSWER % b'"id": "msg_1", ' + b'{"role": "user", "content": "look"}, ' + _CALLED),
        (("PR315", 1),), provider="openai-responses",
    ),
    Raw("openai-chat", _THINKS_BY_DEFAULT % b"", (("PR315", 1),), provider="deepseek"),
)  # fmt: skip
GOOD = (
    Raw("openai-chat", _THINKS_BY_DEFAULT % b'"thinking": {"type": "disabled"}, ', provider="deepseek"),
    Raw("openai-responses", _REQUEST % (_ANSWER % b'"id": "msg_1", '), provider="openai-responses"),
    Raw("openai-responses", _REQUEST % _CALLED, provider="openai-responses"),
    Example("""
        user       What is the weather in Paris?
        assistant
          think    I must look.
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  It is 18 degrees.
    """, wires=("openai-chat",), provider="deepseek"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    checks = {"alone": _alone, "call-alone": _calls_alone, "missing-field": _missing}
    seen: set[int | None] = set()
    for clause in case.clauses(ReasoningUnpaired):
        for finding in checks[clause.what](case, clause):
            if finding.message_index not in seen:  # if no model is named, clauses for several models apply
                yield finding
            seen.add(finding.message_index)


def _are_stored(case: Case) -> bool:
    """Whether the provider stores the items, and the request has all of them."""
    request = case.transcript.request
    if case.transcript.is_log or request is None or not request.key:
        return False
    return request.store is not False and not case.transcript.headless


def _alone(case: Case, clause: ReasoningUnpaired) -> Iterator[Finding]:
    if not _are_stored(case):
        return
    last = len(case.messages) - 1
    for index, message in enumerate(case.messages):
        if message.kind != "reasoning" or not message.item:
            continue
        follower = case.messages[index + 1] if index < last else None
        if follower is None and case.transcript.open_end:
            continue
        if follower is None or (follower.kind != "reasoning" and not follower.item):
            what = "is the last item" if follower is None else "is followed by an item without an id"
            yield RULE.at_message(
                case, index, f"reasoning item {quote(message.item)} {what}", label="no item with an id follows",
                under=clause, told={"id": message.item, "ids": message.item},
                related=() if follower is None else (near(case, index + 1, "this item has no id"),),
                fix=Fix("lossy", "remove the reasoning item", (Drop(Piece(index)),)),
            )  # fmt: skip


def _calls_alone(case: Case, clause: ReasoningUnpaired) -> Iterator[Finding]:
    """Yield findings for calls after a user message without any reasoning, if calls after others have it."""
    reasons = any(message.kind == "reasoning" and message.item for message in case.messages)
    if not reasons or not _are_stored(case):
        return
    reasoned = False
    for index, message in enumerate(case.messages):
        reasoned = message.kind == "reasoning" or (reasoned and message.role != "user")
        if reasoned or not message.item or not message.item.startswith("fc_"):
            continue
        if not any(isinstance(block, Call) and block.keys.id != ("id",) for block in message.blocks):
            continue
        yield RULE.at_message(
            case, index, f"the call with the item id {quote(message.item)} has no reasoning item before it",
            below=("id",), label="no reasoning before it", under=clause,
            told={"id": message.item, "ids": message.item, "kind": message.kind},
            fix=Fix("lossless", "remove the item's own id", (Take(("id",), index),)),
        )  # fmt: skip


def _missing(case: Case, clause: ReasoningUnpaired) -> Iterator[Finding]:
    """Yield findings for absent reasoning, if other messages have it or the request enables thinking."""
    request = case.transcript.request
    others_have_it = any(message.reasoning != "absent" for message in case.messages)
    thinking = request.thinking if request else "unsaid"
    if thinking == "off" or (not others_have_it and thinking == "unsaid" and not clause.by_default):
        return
    if clause.said is not None and clause.said is not (thinking != "unsaid"):
        return
    enabled = "enabled by default" if thinking == "unsaid" else "enabled"
    why = "although other messages have it" if others_have_it else f"although thinking is {enabled}"
    start = _last_user(case) if clause.scope == "loop" else -1
    for index, message in enumerate(case.messages):
        calls = any(isinstance(block, Call) for block in message.blocks)
        if (
            index > start
            and message.role == "assistant"
            and calls
            and message.reasoning in ("absent", "null")
        ):
            yield RULE.at_message(
                case, index, f"a message with calls has no {quote(clause.key)}, {why}",
                label=f"no {clause.key}", under=clause, told={"key": clause.key},
                fix=Fix("lossless", f"add an empty {clause.key}", (Put((clause.key,), b'""', index),)),
            )  # fmt: skip


def _last_user(case: Case) -> int:
    for index in range(len(case.messages) - 1, -1, -1):
        message = case.messages[index]
        has_text = any(isinstance(block, Text) for block in message.blocks)
        if (
            message.role == "user"
            and has_text
            and not any(isinstance(block, Result) for block in message.blocks)
        ):
            return index
    return -1
