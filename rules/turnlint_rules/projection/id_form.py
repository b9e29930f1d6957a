"""an id does not have the format that the provider expects

What it does
    Reports an id that does not have the provider's format. Mistral requires nine letters and digits, and
    Anthropic `srvtoolu_…` for its own tools. OpenAI Responses requires a prefix for the type of an item, and
    Kimi K2 `functions.name:0`, counted through the request.

Why it matters
    The provider rejects the request. Kimi accepts it, and its model then writes malformed calls or stops.

How it happens
    The history began at another provider, or an agent invented the ids.

What fix does
    lossless: gives the call and its results a new id of that format that differs from all others. The id of
    an item is removed, because no other item refers to it.

Evidence
    mistral-common 1.13.0, executed for every version; hosted: eca 233, code 3280. Anthropic: claude-code-hub
    470. Responses: "Expected an ID that begins with 'fc'". Kimi: its guidance on tool calls, vllm 29596.
"""

import re
from collections.abc import Iterator

from turnlint.api import (
    Call,
    Case,
    Example,
    Finding,
    Fix,
    IdForm,
    Pointer,
    Rename,
    Result,
    Rule,
    Take,
    Thinking,
    called,
    has_redaction,
    is_missing,
    quote,
    spot,
    usable,
)  # fmt: skip

RULE = Rule("PR303", "id-form", "error", fix="lossless", triggers=frozenset())

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_123 get_weather {"city": "Paris"}   <- PR303
          result   call_123 18 degrees
    """, wires=("openai-chat", "mistral"), provider="mistral"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     aB3dE6gH9 get_weather {"city": "Paris"}
          result   aB3dE6gH9 18 degrees
    """, wires=("openai-chat", "mistral"), provider="mistral"),
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_123 get_weather {"city": "Paris"}
          result   call_123 18 degrees
    """, wires=("openai-chat", "mistral"), provider="mistral@v13"),
)  # fmt: skip


_Item = tuple[int, str, str | None, Pointer]
"""The index of the message, the type of the item, its id, and the position of the piece."""


def check(case: Case) -> Iterator[Finding]:
    items: list[_Item] | None = None
    for clause in case.clauses(IdForm, spelled=False):
        if clause.of != "item":
            yield from (*_calls(case, clause), *_results(case, clause))
        elif case.spelled:
            items = list(_items_in(case)) if items is None else items
            yield from _items(case, clause, items)


def _calls(case: Case, clause: IdForm) -> Iterator[Finding]:
    fits = re.compile(clause.pattern or ".*", re.DOTALL).fullmatch
    count: int | None = None
    for asked in case.asked:
        call = asked.call
        if call.server != (clause.of == "server") or (clause.kinds and call.kind not in clause.kinds):
            continue
        # A history without its first messages continues the count.
        count = _number(call.id) if count is None else count + 1
        if is_missing(call.id):
            is_missed = clause.required and not call.needs_id and call.keys.id != call.keys.name
            wrong = is_missed and not case.is_hollow_call(asked)
        else:
            is_miscounted = clause.global_count and _number(call.id) != count
            wrong = usable(call.id) and (not fits(call.id or "") or is_miscounted)
        if wrong:
            sentence = _sentence(call, clause, count, formed=fits(call.id or "") is not None)
            yield RULE.at_call(
                case, asked, sentence, label=f"expected: {clause.wants}", under=clause,
                fix=Fix("lossless", "replace the id of the call and its results with one of that format", (Rename(spot(asked)),)),
            )  # fmt: skip


def _sentence(call: Call, clause: IdForm, count: int, *, formed: bool) -> str:
    if is_missing(call.id):
        return f"{called(call)} has no id"
    if clause.global_count and formed:
        return f"the id of {called(call)} does not end in {count}, the index of the call in the request"
    return f"the id of {called(call)} does not have the expected format: {clause.wants}"


def _number(identifier: str | None) -> int:
    """Return the number behind the last colon of an id, or 0."""
    digits = (identifier or "").rpartition(":")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 9 else 0


def _results(case: Case, clause: IdForm) -> Iterator[Finding]:
    """Yield findings for results with an id that is not the id of their call."""
    fits = re.compile(clause.pattern or ".*", re.DOTALL).fullmatch
    for answered, asked in case.answered:
        result = answered.result
        wrong = result.server == (clause.of == "server") and usable(result.id) and not fits(result.id or "")
        if wrong and (asked is None or asked.call.id != result.id):
            yield RULE.at_result(
                case, answered, f"the id of result {quote(result.id)} does not have the expected format: {clause.wants}",
                label=f"expected: {clause.wants}", under=clause,
                fix=Fix("lossless", "replace the id with one of that format", (Rename(spot(answered)),)),
            )  # fmt: skip


def _items_in(case: Case) -> Iterator[_Item]:
    for index, message in enumerate(case.messages):
        pieces = [block for block in message.blocks if isinstance(block, Call | Result | Thinking)]
        named = [(piece.kind, piece.item, piece.at) for piece in pieces] or [(message.kind, message.item, ())]
        # A recorder rewrote some ids (dc90fbcfd081105b), so their format is not from the client.
        yield from ((index, *one) for one in named if not has_redaction(one[1]))


def _items(case: Case, clause: IdForm, items: list[_Item]) -> Iterator[Finding]:
    fits = re.compile(clause.pattern).fullmatch
    for index, kind, item, at in items:
        if kind in clause.kinds and (clause.required if item is None else not fits(item)):
            yield RULE.at_message(
                case, index, f"the item id {quote(item)} does not have the expected format: {clause.wants}", below=(*at, "id") if item is not None else (),
                label=f"expected: {clause.wants}", under=clause, told={"id": item or "", "ids": item or "", "kind": kind},
                fix=Fix("lossless", "remove the `id` of the item", (Take((*at, "id"), index),)) if item is not None else None,
            )  # fmt: skip
