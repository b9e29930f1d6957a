"""the status fields of a result contradict each other

What it does
    In formats that mark the state of a result, reports marks that contradict each other. Examples: complete
    but with neither a result nor an error, a result and an error, or not complete although the conversation
    continues.

Why it matters
    Readers derive the state of a call from these marks together. If the marks disagree, two readers derive
    two states, and a repair may replace a real result by a placeholder.

How it happens
    A result was written at its start and never updated. A cancelled tool kept its partial output beside the
    error. One program sets the mark and another does not.

What fix does
    Nothing: all values are kept. A call with a result or an error counts as answered.

Evidence
    In the canonical model `isComplete` is optional. The state follows from `isComplete`, `error` and `result`
    together.
"""

from collections.abc import Iterator

from turnlint.api import Answered, Case, Finding, Raw, Rule, quote

RULE = Rule("ST113", "inconsistent-lifecycle", "warning", triggers=frozenset({"lifecycle"}))

_HEAD = (
    b'{"history": [{"speaker": "ai", "blocks": [{"type": "tool_call", "id": "hist_tool_1", "name": "run",'
    b' "parameters": {}}]}, {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "hist_tool_1",'
    b' "toolName": "run", '
)
_TAIL = b'}]}, {"speaker": "ai", "blocks": [{"type": "text", "text": "done"}]}]}\n'

BAD = (
    Raw("canonical", _HEAD + b'"isComplete": true' + _TAIL, (("ST113", 1),)),
    Raw("canonical", _HEAD + b'"result": "ok", "error": "failed"' + _TAIL, (("ST113", 1),)),
    Raw("canonical", _HEAD + b'"result": "ok", "isComplete": false' + _TAIL, (("ST113", 1),)),
    Raw("canonical", _HEAD + b'"isComplete": false' + _TAIL, (("ST113", 1),)),
)
GOOD = (
    Raw("canonical", _HEAD + b'"result": "ok", "isComplete": true' + _TAIL),
    Raw("canonical", _HEAD + b'"error": "failed", "result": null' + _TAIL),
)


def check(case: Case) -> Iterator[Finding]:
    last = len(case.messages) - 1
    for interaction in case.ledger.interactions:
        answer = interaction.answer
        contradiction = _contradiction(answer, last) if answer is not None else None
        if answer is not None and contradiction:
            yield RULE.at_result(
                case, answer, f"the result for {quote(answer.result.id)} {contradiction}", key="whole"
            )


def _contradiction(answer: Answered, last: int) -> str | None:
    """Return the contradiction as the rest of a sentence about the result."""
    result = answer.result
    if result.value is None:
        return None
    has_outcome = result.value or result.error
    if result.value and result.error:
        return "has both a value and an error"
    if result.complete is False and has_outcome:
        return f"is marked as incomplete, but has {'a value' if result.value else 'an error'}"
    if result.complete and not has_outcome:
        return "is marked as complete, but has neither a value nor an error"
    if result.state == "pending" and answer.message < last:
        return "is still pending, but the conversation continues"
    return None
