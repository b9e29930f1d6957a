r"""a string contains half of a surrogate pair

What it does
    Reports an escape such as `\ud83d` without its second half: it stands for no character.

Why it matters
    It cannot be written as UTF-8. Servers refuse the body, strict parsers refuse the record, and a
    program that reads it leniently fails when it writes it on. One such message poisons a session for
    good.

How it happens
    A program cut a string by UTF-16 units: a preview of 200 "characters", a truncated tool output,
    and the cut went through an emoji.

What fix does
    lossy: writes the replacement character in its place; no reader could have kept the half.

Evidence
    Python's json lets it pass, msgspec, orjson and simdjson refuse it (measured 2026-11). A whole family
    of repair scripts for Claude Code sessions exists for this one fault.
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
