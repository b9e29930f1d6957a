r"""a string contains half of a surrogate pair

What it does
    Reports an escape such as `\ud83d` without its second half. It is not a character.

Why it matters
    The string cannot be written as UTF-8. Servers reject the request and strict parsers reject the record. A
    program that accepts it on input fails when it writes it. One such message stops every later request of a
    session.

How it happens
    A program cut a string by UTF-16 units, for a preview or a shortened tool output, in the middle of an
    emoji.

What fix does
    lossy: writes the replacement character `U+FFFD` instead.

Evidence
    Python's json accepts it. msgspec, orjson and simdjson reject it (measured 2026-11). Several repair
    scripts for Claude Code sessions exist for this fault alone.
"""

from collections.abc import Iterator

from turnlint.api import Damage, Finding, Fix, Patch, Raw, Rule

RULE = Rule("ST112", "lone-surrogate", "error", fix="lossy", triggers=frozenset({"record"}))

BAD = (
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": "fine \\ud83d cut"}]}\n', (("ST112", 1),)),
    Raw("anthropic", b'{"messages": [{"role": "user", "content": "\\udc00"}]}\n', (("ST112", 1),)),
)
GOOD = (Raw("openai-chat", b'{"messages": [{"role": "user", "content": "\\ud83d\\ude00"}]}\n'),)


def check_record(damage: Damage) -> Iterator[Finding]:
    trouble = damage.trouble
    if trouble.kind == "lone-surrogate":
        step = Patch(trouble.start, trouble.end, rb"\ufffd")
        yield RULE.at_record(
            damage.record,
            f"{trouble.detail} is half of a surrogate pair; the other half is missing",
            at=trouble.at,
            span=(trouble.start, trouble.end),
            fix=Fix("lossy", "replace it with U+FFFD, the replacement character", (step,)),
        )
