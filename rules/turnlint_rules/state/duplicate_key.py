"""an object has the same key twice

What it does
    Reports every key that stands a second time in the same object.

Why it matters
    Readers take the last one, a few the first, and none says so. Whatever the other one held is gone:
    a second `content` hides the first, a second `tool_calls` hides calls whose results then are orphans.

How it happens
    A logger merges two dictionaries by writing both. A stream's deltas were appended as text. A
    template fills a key that the caller had set as well.

What fix does
    Nothing: which of the two was meant is not in the file.

Evidence
    RFC 8259, section 4: names should be unique, and what software does otherwise cannot be predicted.
    Python's json, orjson and msgspec keep the last without a word (measured 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import Damage, Finding, Location, Raw, Related, Rule, quote

RULE = Rule("ST102", "duplicate-key", "error", triggers=frozenset({"record"}))

BAD = (
    Raw(
        "openai-chat", b'{"messages": [{"role": "user", "content": "a", "content": "b"}]}\n', (("ST102", 1),)
    ),
    Raw("anthropic", b'{"messages": [{"role": "user", "role": "user", "content": "a"}]}\n', (("ST102", 1),)),
)
GOOD = (
    Raw(
        "openai-chat", b'{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}\n'
    ),
)


def check_record(damage: Damage) -> Iterator[Finding]:
    trouble = damage.trouble
    if trouble.kind == "duplicate-keys":
        yield RULE.at_record(
            damage.record,
            f"{trouble.detail} more duplicate keys in this record",
            at=trouble.at,
            span=(trouble.start, trouble.end),
            label="the next duplicate key",
        )
    if trouble.kind != "duplicate-key":
        return
    first = trouble.first or (trouble.start, trouble.end)
    yield RULE.at_record(
        damage.record,
        f"duplicate key {quote(trouble.detail)} in one object; most parsers keep only the last value",
        at=trouble.at,
        span=(trouble.start, trouble.end),
        label="most parsers keep this value",
        related=(Related("this value is lost", Location(damage.record, trouble.at, *first)),),
    )
