"""a call has the same result twice

What it does
    Reports a second result for a call where both results are equal, or where one of the two is a placeholder
    that a repair wrote. Two results with different content are `conflicting-results`.

Why it matters
    Providers expect one result for each call. They reject a copy even though its content is correct.

How it happens
    A stream was replayed after a reconnect. A log keeps a result in the call and again in a message of its
    own. A repair added a placeholder, and the real result was logged later.

What fix does
    lossless: removes the copy. lossy: removes a copy that contains a call or a key that the first result does
    not have. lossy: if one of the two is a placeholder, removes the placeholder. The real result always
    stays.

Evidence
    Anthropic: "each tool_use must have a single result. Found multiple `tool_result` blocks with id". OpenAI
    Chat: "Duplicate value for 'tool_call_id'". mistral-common from tokenizer v11 on: "Duplicate tool call id
    in tool results" (executed 2026-11).
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
    near_result,
    quote,
    says_same,
    spot,
)

RULE = Rule("PA205", "duplicate-result", "error", fix="lossy", triggers=frozenset({"duplicate"}))

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
          result   c1 18 degrees                      <- PA205
        assistant  It is 18 degrees.
    """),
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 No result provided              <- PA205
        assistant  I could not find out.
        user       And now?
          result   c1 18 degrees                      <- PA203
        assistant  It is 18 degrees.
    """),
)
GOOD = (
    Example("""
        user       Ask twice.
        assistant
          call     c1 get_weather {"city": "Paris"}
          call     c2 get_weather {"city": "Paris"}
          result   c1 18 degrees
          result   c2 18 degrees
        assistant  Both say 18 degrees.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    for again, interaction in case.ledger.duplicates:
        first = interaction.answer
        if first is None or again.result.server:
            continue
        same = says_same(again, first)
        is_filler = again.result.synthetic or first.result.synthetic
        if not same and not is_filler:
            continue
        both = again.result.synthetic and first.result.synthetic
        is_real = first.result.synthetic and not again.result.synthetic
        yield RULE.at_result(
            case,
            again,
            f"call {quote(again.result.id)} has two results, "
            + ("both the same" if same else "both placeholders" if both else "one of them a placeholder"),
            label=_label(is_real=is_real, is_filler=again.result.synthetic and not both),
            related=(near_result(case, first, "placeholder" if is_real else "first result"),),
            fix=_fix(case, again, interaction, same=same, is_real=is_real),
        )


def _label(*, is_real: bool, is_filler: bool) -> str:
    if is_real:
        return "the real result"
    return "written by a repair" if is_filler else "the call already has a result"


def _fix(case: Case, again: Answered, interaction: Interaction, *, same: bool, is_real: bool) -> Fix:
    """Return the removal of the copy or the placeholder. A real result stays, at any position."""
    first = interaction.answer
    if is_real and first is not None:
        steps = (Drop(spot(first)), Settle(spot(interaction.asked), spot(again)))
        return Fix("lossy", "replace the placeholder with the real result", steps)
    title = f"remove the {'second result' if same else 'placeholder'}{also_calls(len(case.calls_in(again)))}"
    loses = first is None or case.loses_calls(again, first) or case.loses_keys(again, first)
    exact = same and not loses
    return Fix("lossless" if exact else "lossy", title, (Drop(spot(again)),))
