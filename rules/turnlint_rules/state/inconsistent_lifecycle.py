"""the status fields of a result contradict each other

What it does
    In formats that mark the state of a result, reports marks that contradict each other. Examples: complete
    but with neither a result nor an error, a result and an error, or not complete but with a result. A cancelled
    call may keep its partial output beside the error. A pending result that holds nothing is `unanswered-call`.

Why it matters
    Readers derive the state of a call from these marks together. If the marks disagree, two readers derive
    two states, and a repair may replace a real result by a placeholder.

How it happens
    A result was written at its start and never updated. A failed tool kept its partial output beside the error.
    One program sets the mark and another does not.

What fix does
    lossy: adds an error to a partial result, if the conversation continues. The error says that the rest is not
    known, and the output stays. Other marks are kept: a call with an error is complete.

Evidence
    In the canonical model `isComplete` is optional. The state follows from `isComplete`, `error` and `result`
    together (`docs/lifecycle.md` has the table).
"""

from collections.abc import Iterator

from turnlint.api import Case, Close, Finding, Fix, Raw, Result, Rule, quote, spot, state_of

RULE = Rule("ST113", "inconsistent-lifecycle", "warning", fix="lossy", triggers=frozenset({"lifecycle"}))

_HEAD = (
    b'{"history": [{"speaker": "ai", "blocks": [{"type": "tool_call", "id": "hist_tool_1", "name": "run",'
    b' "parameters": {}}]}, {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "hist_tool_1",'
    b' "toolName": "run", '
)
_TAIL = b'}]}, {"speaker": "ai", "blocks": [{"type": "text", "text": "done"}]}]}\n'

BAD = (
    Raw("canonical", _HEAD + b'"isComplete": true' + _TAIL, (("ST113", 1), ("PA201", 1))),
    Raw("canonical", _HEAD + b'"result": "ok", "error": "failed"' + _TAIL, (("ST113", 1),)),
    Raw("canonical", _HEAD + b'"result": "ok", "isComplete": false' + _TAIL, (("ST113", 1),)),
)
GOOD = (
    Raw("canonical", _HEAD + b'"result": "ok", "isComplete": true' + _TAIL),
    Raw("canonical", _HEAD + b'"error": "failed", "result": null' + _TAIL),
    Raw("canonical", _HEAD + b'"error": "Cancelled by the user", "result": "1 of 9"' + _TAIL),
)


def check(case: Case) -> Iterator[Finding]:
    last = len(case.messages) - 1
    for interaction in case.ledger.interactions:
        answer = interaction.answer
        contradiction = _contradiction(answer.result) if answer is not None else None
        if answer is None or not contradiction:
            continue
        is_partial = interaction.lifecycle.is_partial
        steps = (Close(spot(interaction.asked), pending=answer.message == last),) if is_partial else ()
        yield RULE.at_result(
            case,
            answer,
            f"the result for {quote(answer.result.id)} {contradiction}",
            key="whole",
            fix=Fix("lossy", "mark the partial result as interrupted", steps) if steps else None,
        )


def _contradiction(result: Result) -> str | None:
    """Return the contradiction as the rest of a sentence about the result."""
    if result.value is None:
        return None
    has_outcome = result.value or result.error
    if result.value and result.error and state_of(result) != "cancelled":
        return "has both a value and an error"
    if has_outcome and (result.complete is False or state_of(result) == "pending"):
        return f"is marked as incomplete, but has {'an error' if result.error else 'a value'}"
    if result.complete and not has_outcome:
        return "is marked as complete, but has neither a value nor an error"
    return None
