"""an id is longer than the provider allows

What it does
    Reports the id of a call, or of a result without a call, that is longer than the provider allows. On
    OpenAI Responses it also checks the ids of items.

Why it matters
    The provider rejects the whole request at the first such id.

How it happens
    Proxies store a signature in the id (hundreds of characters). Gateways join two ids with a bar. The ids of
    one provider are longer than the limit of another.

What fix does
    lossless: gives the call and its results a new, shorter id. It is derived from the old id and differs from
    all others. The id of an item is removed, because no other item refers to it.

Evidence
    OpenAI Chat: "Expected a string with maximum length 40" (autogen 6377, agno 5382). The limit is 64 on
    newer deployments (openclaw 875), and 51 characters were accepted (vercel/ai 17233). Responses: 64 in the
    OpenAPI document (2026-08). Bedrock: 64, botocore 1.43.11, and litellm 34239.
"""

from collections.abc import Iterator

from turnlint.api import (
    Call,
    Case,
    Example,
    Finding,
    Fix,
    IdLength,
    Message,
    Pointer,
    Rename,
    Result,
    Rule,
    Take,
    Thinking,
    quote,
    spot,
    usable,
)  # fmt: skip

RULE = Rule("PR302", "id-length", "error", fix="lossless", triggers=frozenset())

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_0123456789012345678901234567890123456789012345678901234567890123 get_weather {}   <- PR302
          result   call_0123456789012345678901234567890123456789012345678901234567890123 18 degrees
        assistant  It is 18 degrees.
    """, wires=("openai-chat",), provider="openai"),
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_012345678901234567890123456789012345 get_weather {}   <- PR302
          result   call_012345678901234567890123456789012345 18 degrees
        assistant  It is 18 degrees.
    """, wires=("openai-chat",), provider="openai@40"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_0123456789012345678901234567890123 get_weather {}
          result   call_0123456789012345678901234567890123 18 degrees
        assistant  It is 18 degrees.
    """, wires=("openai-chat",), provider="openai"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    of_calls = [clause for clause in case.clauses(IdLength, spelled=False) if clause.of == "call"]
    if of_calls:
        yield from _calls(case, of_calls)
    for clause in case.clauses(IdLength):
        if clause.of == "item":
            yield from _items(case, clause)


def _violated(clauses: list[IdLength], identifier: str | None) -> IdLength | None:
    """Return the violated clause with the highest limit, which is the most certain."""
    violated = [clause for clause in clauses if len(identifier or "") > clause.most]
    return max(violated, key=lambda clause: clause.most, default=None)


def _calls(case: Case, clauses: list[IdLength]) -> Iterator[Finding]:
    for asked in case.asked:
        identifier = asked.call.id
        clause = None if asked.call.server else _violated(clauses, identifier)
        if clause and identifier and usable(identifier):
            yield RULE.at_call(
                case, asked, _sentence("call", identifier, clause), label=f"{len(identifier)} characters",
                under=clause, told={"most": clause.most, "length": len(identifier)},
                fix=Fix("lossless", "give the call and its results a shorter id", (Rename(spot(asked)),)),
            )  # fmt: skip
    for answered, asked_by in case.answered:
        identifier = answered.result.id
        clause = None if answered.result.server else _violated(clauses, identifier)
        if (
            clause
            and identifier
            and usable(identifier)
            and (asked_by is None or asked_by.call.id != identifier)
        ):
            yield RULE.at_result(
                case, answered, _sentence("result", identifier, clause), label=f"{len(identifier)} characters",
                under=clause, told={"most": clause.most, "length": len(identifier)},
                fix=Fix("lossless", "replace the id with a shorter one", (Rename(spot(answered)),)),
            )  # fmt: skip


def _items(case: Case, clause: IdLength) -> Iterator[Finding]:
    for index, message in enumerate(case.messages):
        pieces = [block for block in message.blocks if isinstance(block, Call | Result | Thinking)]
        items = {message.item: (), **{block.item: block.at for block in pieces if block.item != message.item}}
        for item, at in items.items():
            if item and len(item) > clause.most:
                yield RULE.at_message(
                    case, index, _sentence("item", item, clause), below=("id",), label=f"its item id has {len(item)} characters",
                    under=clause, told={"id": item, "most": clause.most, "length": len(item)},
                    fix=_fix_item(message, index, at),
                )  # fmt: skip


def _fix_item(message: Message, index: int, at: Pointer) -> Fix | None:
    """Return the removal of an item id; none for a reference, or for a call without another id."""
    own = any(isinstance(block, Call) and block.keys.id == ("id",) for block in message.blocks)
    if own or message.kind == "item_reference":
        return None
    return Fix("lossless", "remove the `id` of the item", (Take((*at, "id"), index),))


def _sentence(what: str, identifier: str, clause: IdLength) -> str:
    return f"the id of {what} {quote(identifier)} is longer than {clause.most} characters"
