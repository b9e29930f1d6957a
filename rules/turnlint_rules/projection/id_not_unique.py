"""several calls share an id that must be unique

What it does
    Reports a call with the id of another call in the same message, turn or request, depending on where the
    provider requires different ids. Also reports two items of OpenAI Responses with the same item id.

Why it matters
    The provider rejects the request. Some providers compare ids inside one message only. For those, the same
    id in a later turn is not reported.

How it happens
    A counter starts again with each answer (`call_0`). Parts of a stream were replayed. Two histories were
    joined. An item was sent again together with `previous_response_id`.

What fix does
    lossless: gives the later call and its results a new id. The id of an item is removed. A reference to an
    item that the request contains is removed.

Evidence
    Anthropic, one merged message: "`tool_use` ids must be unique" (cua 524, claude-code 20901, litellm
    23510). An id of an earlier turn was accepted twice (9d7028fbeb4c2a93, 0546a361ea8f28c2) and is a warning.
    mistral-common 1.13.0 from v11 on, one message. MiniMax: "duplicate tool_call id". Responses: "Duplicate
    item found with id" (vercel/ai 13307). OpenAI Chat accepts an id again in later turns: 48 recorded
    requests, such as a3973ae0f3130681.
"""

from collections.abc import Iterator

from turnlint.api import (
    Asked,
    Call,
    Case,
    Drop,
    Example,
    Finding,
    Fix,
    IdUnique,
    Piece,
    Pointer,
    Rename,
    Result,
    Rule,
    Take,
    Thinking,
    called,
    near,
    near_call,
    quote,
    spot,
    usable,
)  # fmt: skip

RULE = Rule("PR305", "id-not-unique", "error", fix="lossless", triggers=frozenset())

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_0 get_weather {"city": "Paris"}
          result   call_0 18 degrees
        user       And in Lyon?
        assistant
          call     call_0 get_weather {"city": "Lyon"}   <- PR305, ST108
          result   call_0 20 degrees
        assistant  It is 20 degrees.
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_0 get_weather {"city": "Paris"}
          result   call_0 18 degrees
        user       And in Lyon?
        assistant
          call     call_1 get_weather {"city": "Lyon"}
          result   call_1 20 degrees
        assistant  It is 20 degrees.
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip


_SCOPES = ("message", "turn", "request")
"""Narrowest first: a call is reported once, for the narrowest scope in which its id is not unique."""


def check(case: Case) -> Iterator[Finding]:
    reported: set[int] = set()
    for clause in sorted(case.clauses(IdUnique, spelled=False), key=lambda one: _SCOPES.index(one.over)):
        if clause.of == "call":
            yield from _calls(case, clause, reported)
        elif clause.of == "item" and case.spelled:
            yield from _items(case, clause)


def _calls(case: Case, clause: IdUnique, reported: set[int]) -> Iterator[Finding]:
    first: dict[tuple[str, int], Asked] = {}
    for asked in case.asked:
        identifier = asked.call.id
        if identifier is None or not usable(identifier):
            continue
        scope = {"message": asked.message, "turn": asked.turn, "request": 0}[clause.over]
        other = first.setdefault((identifier, scope), asked)
        if other is not asked and asked.seq not in reported:
            reported.add(asked.seq)
            yield RULE.at_call(
                case, asked, f"the id of {called(asked.call)} is already used by another call of the same {clause.over}",
                label="duplicate id", related=(near_call(case, other, "first used here"),), under=clause,
                fix=Fix("lossless", "give this call and its results a unique id", (Rename(spot(asked)),)),
            )  # fmt: skip


def _items(case: Case, clause: IdUnique) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, message in enumerate(case.messages):
        pieces = [block for block in message.blocks if isinstance(block, Call | Result | Thinking)]
        items = {message.item: (), **{block.item: block.at for block in pieces if block.item != message.item}}
        for item, at in items.items():
            if not item:
                continue
            other = first.setdefault(item, index)
            if other != index:
                yield RULE.at_message(
                    case, index, f"the item id {quote(item)} appears twice", below=("id",), label="duplicate id",
                    related=(near(case, other, "first used here", ("id",)),), under=clause,
                    told={"id": item, "ids": item}, fix=_fix_item(case, index, other, at),
                )  # fmt: skip


def _fix_item(case: Case, index: int, other: int, at: Pointer) -> Fix | None:
    """Return the removal of a reference or of an item id; none for a call without another id."""
    for number in (index, other):
        if case.messages[number].kind == "item_reference":
            title = "remove the reference; the item itself is present"
            return Fix("lossless", title, (Drop(Piece(number)),))
    if any(isinstance(block, Call) and block.keys.id == ("id",) for block in case.messages[index].blocks):
        return None
    return Fix("lossless", "remove the `id` of the item", (Take((*at, "id"), index),))
