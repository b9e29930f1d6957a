"""results without ids are in a different order than their calls

What it does
    Reports results without ids that are not in the order of their calls, as their tool names show. With ids,
    results may have any order, and this rule is silent.

Why it matters
    A server that pairs by position assigns each of these results to the wrong call and reports no error.

How it happens
    Parallel tools did not finish in the order of their calls, and the log has no ids or lost them.

What fix does
    lossless: puts the results in the order of their calls.

Evidence
    With ids, OpenAI Chat accepted results in another order than the calls (recorded 78bbb7a694e14621 and two
    more). Gemini pairs by name and order where ids are absent. Ollama's types have no ids (google-genai
    3.3.0, ollama 0.6.3).
"""

from collections.abc import Iterator

from turnlint.api import Case, Example, Finding, Fix, Rule, Sort, near, quote, spot, usable

RULE = Rule("PA208", "result-order", "warning", fix="lossless", triggers=frozenset({"by-position"}))

BAD = (
    Example("""
        user       Read it and write it.
        assistant
          call     - read {"path": "a"}               <- ST104
          call     - write {"path": "b"}
          result   - (write) done                     <- PA208
          result   - (read) some text
        assistant  Done.
    """, wires=("openai-chat",)),
)  # fmt: skip
GOOD = (
    Example("""
        user       Read it and write it.
        assistant
          call     c1 read {"path": "a"}
          call     c2 write {"path": "b"}
          result   c2 (write) done
          result   c1 (read) some text
        assistant  Done.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    latest = -1
    turn = -1
    is_reported = False
    for interaction in case.ledger.interactions:
        asked, answer = interaction.asked, interaction.answer
        if asked.turn != turn:
            turn, latest, is_reported = asked.turn, -1, False
        if answer is None or interaction.how != "by-position":
            continue
        if answer.seq < latest and not is_reported:
            is_reported = True
            yield RULE.at_result(
                case,
                answer,
                f"results without ids are in a different order than their calls, {quote(answer.result.name)} first",
                key="name",
                label="its call is not the first one",
                related=(near(case, asked.message, "its call", asked.call.at),),
                fix=_fix(case, turn),
            )
        latest = max(latest, answer.seq)


def _fix(case: Case, turn: int) -> Fix | None:
    """Return the repair: sort the results of a turn by its calls, results without a call last.

    There is none if only their number pairs the results.
    """
    pairs = [
        pair for pair in case.ledger.interactions if pair.asked.turn == turn and pair.how == "by-position"
    ]
    answers = [pair.answer for pair in pairs if pair.answer is not None]
    names = ((pair.asked.call.name, pair.answer.result.name) for pair in pairs if pair.answer is not None)
    if any(asked and answered and asked != answered for asked, answered in names):
        return None
    # An orphan before the result of a call to the same tool would be paired with that call.
    others = [answered for answered, _ in case.ledger.duplicates] + [*case.ledger.orphans]
    rest = [answered for answered in others if answered.turn == turn and not usable(answered.result.id)]
    order = (*answers, *sorted(rest, key=lambda answered: answered.seq))
    return Fix("lossless", "sort the results in the order of their calls", (Sort(tuple(map(spot, order))),))
