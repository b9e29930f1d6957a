"""a call has the same result twice

What it does
    Reports a second result for a call where both results are equal. Also reports it where one of the two is a
    placeholder that a repair wrote, or is pending and holds nothing. Results are equal if they have the same
    state and the same content, in any spelling. Two results that say only that the call was cancelled are equal
    as well. Two results with different content are `conflicting-results`.

Why it matters
    Providers expect one result for each call. They reject a copy even though its content is correct.

How it happens
    A stream was replayed after a reconnect. A log keeps a result in the call and again in a message of its
    own. A repair added a placeholder, and the real result was logged later.

What fix does
    lossless: removes the copy, or the pending result that holds nothing. lossy: removes a copy that contains a
    call or a key that the first result does not have. lossy: removes a cancellation in other words. lossy: if
    one of the two is a placeholder, removes the placeholder. The real result always stays.

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
    has_same_content,
    holds_nothing,
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


NOTHING, PLACEHOLDER, REAL = range(3)
_FILLERS = {NOTHING: "pending result", PLACEHOLDER: "placeholder"}


def check(case: Case) -> Iterator[Finding]:
    for again, interaction in case.ledger.duplicates:
        first = interaction.answer
        if first is None or again.result.server:
            continue
        same = says_same(again, first)
        if not same and min(_worth(again), _worth(first)) == REAL:
            continue
        is_better = _worth(again) > _worth(first)
        yield RULE.at_result(
            case,
            again,
            f"call {quote(again.result.id)} has two results, {_pair(again, first, same=same)}",
            label=_label(again, first),
            related=(
                near_result(case, first, _FILLERS.get(_worth(first), "") if is_better else "first result"),
            ),
            fix=_fix(case, again, first, interaction, same=same),
        )


def _worth(one: Answered) -> int:
    """Return how much a result says: nothing, that the result is missing, or what the tool said."""
    return NOTHING if holds_nothing(one.result) else PLACEHOLDER if one.result.synthetic else REAL


def _pair(again: Answered, first: Answered, *, same: bool) -> str:
    """Return the two results as a part of a sentence."""
    less = min(_worth(again), _worth(first))
    if same and has_same_content(again, first):
        return "both the same"
    if same:
        return (
            "both placeholders"
            if less == _worth(again) == _worth(first) == PLACEHOLDER
            else "both cancellations"
        )
    return f"one of them a {_FILLERS[less]}"


def _label(again: Answered, first: Answered) -> str:
    if _worth(again) > _worth(first):
        return "the " + _FILLERS.get(_worth(again), "real result")
    if _worth(again) == _worth(first):
        return "the call already has a result"
    return "written by a repair" if _worth(again) == PLACEHOLDER else "holds nothing"


def _fix(case: Case, again: Answered, first: Answered, interaction: Interaction, *, same: bool) -> Fix:
    """Return the removal of the copy or the filler. A real result stays, at any position."""
    if _worth(again) > _worth(first):
        steps = (Drop(spot(first)), Settle(spot(interaction.asked), spot(again)))
        kept = _FILLERS.get(_worth(again), "real result")
        return Fix("lossy", f"replace the {_FILLERS[_worth(first)]} with the {kept}", steps)
    is_copy = same and has_same_content(again, first)
    what = "second result" if is_copy else _FILLERS.get(_worth(again), "second cancellation")
    title = f"remove the {what}{also_calls(len(case.calls_in(again)))}"
    exact = (is_copy or holds_nothing(again.result)) and not (
        case.loses_calls(again, first) or case.loses_keys(again, first)
    )
    return Fix("lossless" if exact else "lossy", title, (Drop(spot(again)),))
