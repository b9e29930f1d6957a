"""an id contains a character that the provider rejects

What it does
    Reports the id of a call, or of a result without a call, that contains a character which the provider does
    not allow. A missing or empty id is `missing-call-id`.

Why it matters
    The provider rejects the whole request at the first such id, even if everything else is correct.

How it happens
    The history began at another provider. Kimi writes `functions.name:0`, proxies store Gemini's signatures
    in ids with `=` and `/`, and agents write ids with dots and bars.

What fix does
    lossless: gives the call and its results a new id that the provider accepts. It is derived from the old id
    and differs from all others.

Evidence
    Anthropic's API reference and "String should match pattern '^[a-zA-Z0-9_-]+$'" in public reports
    (forgecode 1142, bifrost 5097). botocore 1.43.11, shape ToolUseId, before and after its set of characters
    was extended.
"""

import re
from collections.abc import Iterator

from turnlint.api import (
    Case,
    Example,
    Finding,
    Fix,
    IdCharset,
    Rename,
    Rule,
    called,
    quote,
    spot,
    usable,
)  # fmt: skip

RULE = Rule("PR301", "id-charset", "error", fix="lossless", triggers=frozenset())

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     functions.get_weather:0 get_weather {"city": "Paris"}   <- PR301
          result   functions.get_weather:0 18 degrees
        assistant  It is 18 degrees.
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_1-a get_weather {"city": "Paris"}
          result   call_1-a 18 degrees
        assistant  It is 18 degrees.
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(IdCharset, spelled=False):
        fits = re.compile(clause.pattern).fullmatch
        for asked in case.asked:
            call = asked.call
            if call.server or not usable(call.id) or fits(call.id or ""):
                continue
            yield RULE.at_call(
                case,
                asked,
                f"the id of {called(call)} may only contain {clause.wants}",
                label=f"allowed: {clause.wants}",
                under=clause,
                fix=Fix(
                    "lossless",
                    "replace the id of the call and its results with a valid one",
                    (Rename(spot(asked)),),
                ),
            )
        for answered, call_of in case.answered:
            result = answered.result
            if result.server or not usable(result.id) or fits(result.id or ""):
                continue
            if call_of is None or call_of.call.id != result.id:
                yield RULE.at_result(
                    case,
                    answered,
                    f"the id of result {quote(result.id)} may only contain {clause.wants}",
                    label=f"allowed: {clause.wants}",
                    under=clause,
                    fix=Fix("lossless", "replace the id with a valid one", (Rename(spot(answered)),)),
                )
