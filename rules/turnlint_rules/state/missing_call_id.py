"""a call or a result has no id

What it does
    Reports a call without an id, and a result that names no call, in formats that pair by id. They are paired
    by position inside their turn where that is certain. A Chat Completions conversation without any ids gets
    one info. Ids that a redaction tool replaced (`REDACTED`) are not reported.

Why it matters
    Without an id, a server cannot assign the result to its call. It rejects the request, or it pairs by
    position.

How it happens
    A model server does not write ids. A client joined the parts of a stream and lost the part with the id. A
    field was written as an empty string.

What fix does
    lossless: gives the call and its result the same new id, derived from the content of the call.

Evidence
    Mistral: "Tool call id has to be defined". Anthropic: "String should match pattern '^[a-zA-Z0-9_-]+$'" for
    an empty id. Kimi: "tool_call_id  is not found", with two blanks. Samples for TRL and tool calls of Ollama
    have no ids by design (ollama 0.6.3 types, 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import (
    Answered,
    Asked,
    Call,
    Case,
    Example,
    Finding,
    Fix,
    Name,
    Pointer,
    Rename,
    Result,
    Rule,
    Take,
    has_no_ids,
    is_adoptable,
    is_missing,
    quote,
    spot,
    usable,
)

RULE = Rule("ST104", "missing-call-id", "error", fix="lossless", triggers=frozenset({"id"}))

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   "" 18 degrees                      <- ST104
        assistant  It is 18 degrees.
    """),
    Example("""
        user       What is the weather in Paris?
        assistant
          call     - get_weather {"city": "Paris"}    <- ST104
          result   - 18 degrees
        assistant  It is 18 degrees.
    """, wires=("openai-chat",)),
    Example("""
        user       What is the weather in Paris?
        assistant
          call     - get_weather {"city": "Paris"}    <- ST104
          result   - 18 degrees                       <- ST104
        assistant  It is 18 degrees.
    """, wires=("anthropic", "canonical")),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     REDACTED get_weather {"city": "Paris"}
          call     REDACTED get_weather {"city": "Lyon"}
          result   REDACTED 18 degrees
          result   REDACTED 20 degrees
        assistant  Lyon is warmer.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    every_call = (one.asked for one in case.ledger.interactions)
    asked = [one for one in every_call if one.call.needs_id and not case.is_hollow_call(one)]
    answered = [one.answer for one in case.ledger.interactions if one.answer and one.answer.result.needs_id]
    answered += [one for one in case.ledger.orphans if one.result.needs_id]
    malformed = {(id(record), misfit.at) for record, misfit in case.transcript.misfits}
    without = [
        one for one in asked if is_missing(one.call.id) and _place(case, one, one.call) not in malformed
    ]
    unnamed = [
        one
        for one in answered
        if is_missing(one.result.id) and _place(case, one, one.result) not in malformed
    ]
    if not without and not unnamed:
        return
    every = len(without) == len(asked) and len(unnamed) == len(answered)
    if every and has_no_ids(case.ledger, case.transcript.wire):
        if not asked:
            return  # all calls are empty, which another rule reports
        steps = tuple(Rename(spot(one)) for one in without)
        yield RULE.at_call(
            case, asked[0], "no call of this conversation has an id; results are matched by position", severity="info",
            fix=Fix("lossless", "add ids to all calls and results, derived from their content", steps),
        )  # fmt: skip
        return
    answers = {one.asked.seq: one.answer for one in case.ledger.interactions}
    for one in without:
        which = f"call to {quote(one.call.name)}" if one.call.name else "a call"
        yield RULE.at_call(
            case, one, f"{which} has no id", fix=_fix_call(one, answers.get(one.seq)),
        )  # fmt: skip
    for other in sorted(unnamed, key=lambda one: one.seq):
        of = f" of {quote(other.result.name)}" if other.result.name else ""
        yield RULE.at_result(case, other, f"result{of} has no call id", fix=_fix(case, other))


def _place(case: Case, piece: Asked | Answered, block: Call | Result) -> tuple[int, Pointer]:
    """Return the record and the position of an id. Another rule reports a value of the wrong kind there."""
    message = case.messages[piece.message]
    return id(message.record), (*message.at, *block.at, *block.keys.id)


def _fix_call(asked: Asked, answer: Answered | None) -> Fix:
    """Return the repair of a call: the id that its result names, or a new id."""
    known = answer is not None and is_adoptable(answer.result.id)
    title = (
        "set the id of the call to the one that its result names"
        if known
        else "add an id to the call and its result, derived from their content"
    )
    return Fix("lossless", title, (Rename(spot(asked)),))


def _fix(case: Case, answered: Answered) -> Fix | None:
    """Return the repair of a result: the id of its call.

    If the call has no id either, both get a new id, or neither if the wire needs no ids.
    """
    asked = case.asked_by.get(id(answered.result))
    if asked is None:
        return None
    if is_missing(asked.call.id) and not asked.call.needs_id:
        place = (*answered.result.at, *answered.result.keys.id)
        title = "remove the empty id of the result, whose call has no id"
        return Fix("lossless", title, (Take(place, answered.message),))
    known = asked.call.id if usable(asked.call.id) else None
    step = Name(spot(answered), known) if known else Rename(spot(asked))
    return Fix("lossless", "add the id of the call that it matches by position", (step,))
