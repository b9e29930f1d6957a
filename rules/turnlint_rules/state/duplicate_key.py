"""an object has the same key twice

What it does
    Reports each key that occurs a second time in the same object.

Why it matters
    Most parsers use the last value, some the first, and none reports it. The other value is lost: a second
    `content` hides the first, and a second `tool_calls` hides calls whose results then have no call.

How it happens
    A logger merges two dictionaries and writes both. The parts of a stream were appended as text. A template
    writes a key that the caller had already set.

What fix does
    Nothing: the file does not show which of the two values was intended.

Evidence
    RFC 8259, section 4: names should be unique, and otherwise the behavior of software cannot be predicted.
    Python's json, orjson and msgspec keep the last value without an error (measured 2026-11).
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
