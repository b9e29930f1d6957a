"""two ids become equal when a client makes them valid for the provider

What it does
    Reports two calls with different ids that would become equal when a client makes them valid. Clients
    usually cut an id to the maximum length and remove or replace invalid characters. At least one of the two
    ids is not valid for the provider.

Why it matters
    The provider rejects the request because of equal ids, or it assigns a result to the wrong call.

How it happens
    Two ids differ only after the ninth character, or only in a dot and a colon.

What fix does
    lossless: gives each call with an invalid id a new id, and its results the same. The new ids are checked
    to be different.

Evidence
    Clients that cut or replace: pi-ai 0.73.1 and @ai-sdk/mistral (their code, read 2026-11). Reports of equal
    ids as the effect: opencode 1680, ironclaw 1241.
"""

import re
from collections.abc import Iterator

from turnlint.api import (
    Asked,
    Case,
    Example,
    Finding,
    Fix,
    IdCharset,
    IdCollision,
    IdForm,
    IdLength,
    Rename,
    Rule,
    near_call,
    quote,
    spot,
    usable,
)  # fmt: skip

RULE = Rule("PR304", "id-collision", "warning", fix="lossless", triggers=frozenset())

BAD = (
    Example("""
        user       Compare Paris and Lyon.
        assistant
          call     call_weather_1 get_weather {"city": "Paris"}   <- PR303
          call     call_weather_2 get_weather {"city": "Lyon"}    <- PR303, PR304
          result   call_weather_1 18 degrees
          result   call_weather_2 20 degrees
        assistant  Lyon is warmer.
        user       Thanks.
    """, wires=("openai-chat",), provider="mistral"),
)  # fmt: skip
GOOD = (
    Example("""
        user       Compare Paris and Lyon.
        assistant
          call     call_1weather get_weather {"city": "Paris"}   <- PR303
          call     call_2weather get_weather {"city": "Lyon"}    <- PR303
          result   call_1weather 18 degrees
          result   call_2weather 20 degrees
        assistant  Lyon is warmer.
        user       Thanks.
    """, wires=("openai-chat",), provider="mistral"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(IdCollision, spelled=False):
        first: dict[str, Asked] = {}
        reported: set[str] = set()
        for asked in case.asked:
            identifier = asked.call.id
            if identifier is None or not usable(identifier) or asked.call.server:
                continue
            valid_id = _made_valid(identifier, clause)
            other = first.setdefault(valid_id, asked)
            other_id = other.call.id or ""
            if (
                other_id == identifier
                or identifier in reported
                or (_is_accepted(case, identifier) and _is_accepted(case, other_id))
            ):
                continue
            reported.add(identifier)
            yield RULE.at_call(
                case,
                asked,
                f"ids {quote(other_id)} and {quote(identifier)} both become {quote(valid_id)} when a client makes them valid",
                label="becomes the same id",
                related=(near_call(case, other, "as this one"),),
                under=clause,
                fix=Fix("lossless", "give each call a unique id", (Rename(spot(other)), Rename(spot(asked)))),
            )


def _made_valid(identifier: str, clause: IdCollision) -> str:
    kept = re.sub(f"(?!{clause.keep}).", lambda _: clause.replace, identifier, flags=re.DOTALL)
    return kept[: clause.most] if clause.most else kept


def _is_accepted(case: Case, identifier: str) -> bool:
    """Whether the provider accepts an id unchanged."""
    patterns = [one.pattern for one in case.clauses(IdCharset, spelled=False)]
    patterns += [
        one.pattern for one in case.clauses(IdForm, spelled=False) if one.of == "call" and one.pattern
    ]
    lengths = [one.most for one in case.clauses(IdLength, spelled=False) if one.of == "call"]
    return all(re.fullmatch(one, identifier) for one in patterns) and all(
        len(identifier) <= one for one in lengths
    )
