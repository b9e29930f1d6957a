"""a call has two results with different content

What it does
    Reports a second result for a call where the two results differ and neither is a placeholder. Equal copies
    are `duplicate-result`.

Why it matters
    Only one of the two can be the output of the tool. Providers use one of them or reject both. Check
    manually which result is right before a repair removes one.

How it happens
    A tool ran twice for one call. The result of the provider and an error of the SDK were both logged. A
    retry wrote its result and did not remove the first one.

What fix does
    lossy: keeps a complete result rather than an incomplete one, otherwise the first. It removes the other.
    The journal keeps both.

Evidence
    Anthropic: "each tool_use must have a single result". Of the repair tools that were measured, seven keep
    the first result, one keeps the last, and four keep both and fail (2026-11).
"""

from collections.abc import Iterator

from turnlint.api import (
    Answered,
    Case,
    Drop,
    Example,
    Finding,
    Fix,
    Interaction,
    Rule,
    Settle,
    also_calls,
    holds_nothing,
    near_result,
    quote,
    says_same,
    spot,
    state_of,
)

RULE = Rule("ST107", "conflicting-results", "error", fix="lossy", triggers=frozenset({"duplicate"}))

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
          result   c1 25 degrees                      <- ST107
        assistant  It is 18 degrees, or 25.
    """),
)
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  Once more, to be sure.
          call     c2 get_weather {"city": "Paris"}
          result   c2 25 degrees
        assistant  It changed.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    for again, interaction in case.ledger.duplicates:
        first = interaction.answer
        if first is None or again.result.server or says_same(again, first):
            continue
        if any(one.synthetic or holds_nothing(one) for one in (again.result, first.result)):
            continue  # `duplicate-result` reports it
        yield RULE.at_result(
            case,
            again,
            f"call {quote(again.result.id)} has a second result with different content",
            label="differs from the first result",
            related=(near_result(case, first, "first result"),),
            fix=_fix(case, again, first, interaction),
        )


def _fix(case: Case, again: Answered, first: Answered, interaction: Interaction) -> Fix:
    """Return the repair: keep a complete result rather than a partial one, otherwise the first."""
    is_second_better = _is_partial(first) and not _is_partial(again)
    calls = also_calls(len(case.calls_in(first if is_second_better else again)))
    removal = f"; remove the other one{calls}" if calls else ""
    if is_second_better:
        steps = (Drop(spot(first)), Settle(spot(interaction.asked), spot(again)))
        return Fix("lossy", f"keep the complete result{removal}", steps)
    return Fix("lossy", f"keep the first result{removal}", (Drop(spot(again)),))


def _is_partial(answered: Answered) -> bool:
    """Whether a result is marked as incomplete."""
    return state_of(answered.result) == "pending" or answered.result.complete is False
