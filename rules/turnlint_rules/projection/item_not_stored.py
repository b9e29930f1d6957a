"""an item refers to an item that the provider does not store

What it does
    Reports references to items, and reasoning items with an id and without their encrypted text, in a request
    with `store: false`.

Why it matters
    With `store: false` the provider keeps no items. It cannot find the item with this id and rejects the
    request.

How it happens
    A client was written for stored responses and now sends `store: false`. The request did not include
    `reasoning.encrypted_content`, so the answer had no encrypted text to keep.

What fix does
    lossy: removes the item. The journal keeps it.

Evidence
    "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false" (public reports). No
    accepted request has either form. 56 with `store: false` and encrypted reasoning were accepted (read
    2026-11).
"""

from collections.abc import Iterator

from turnlint.api import Case, Drop, Finding, Fix, ItemNotStored, Piece, Raw, Rule, Thinking, quote

RULE = Rule("PR326", "item-not-stored", "error", fix="lossy", triggers=frozenset())

_REQUEST = (
    b'{"model": "gpt-5.1", "store": false, "input": [{"role": "user", "content": "hi"}, %s, '
    b'{"role": "assistant", "content": "yes"}, {"role": "user", "content": "go on"}]}\n'
)  # fmt: skip

BAD = (
    Raw("openai-responses", _REQUEST % b'{"type": "reasoning", "id": "rs_1", "summary": []}', (("PR326", 1),), provider="openai-responses"),
    Raw("openai-responses", _REQUEST % b'{"type": "item_reference", "id": "rs_1"}', (("PR326", 1),), provider="openai-responses"),
)  # fmt: skip
GOOD = (
    Raw(
        "openai-responses",
        _REQUEST % b'{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}',
        provider="openai-responses",
    ),
)


def check(case: Case) -> Iterator[Finding]:
    request = case.transcript.request
    if request is None or request.store is not False:
        return
    for clause in case.clauses(ItemNotStored):
        for index, message in enumerate(case.messages):
            if message.kind not in clause.kinds or not message.item or not case.sent(index):
                continue
            if message.kind == "reasoning" and any(
                isinstance(block, Thinking) and block.cipher for block in message.blocks
            ):
                continue
            what = "reasoning item" if message.kind == "reasoning" else "reference to item"
            yield RULE.at_message(
                case, index, f"{what} {quote(message.item)} needs a stored item, and the request says `store: false`",
                below=("id",), label="not stored", under=clause, told={"id": message.item, "ids": message.item},
                fix=Fix("lossy", "remove the item", (Drop(Piece(index)),)),
            )  # fmt: skip
