"""two different calls have the same id

What it does
    Reports a call with the id of an earlier, different call. In the same turn it is an error. In a later turn
    it is a warning, or an error if a result with that id fits several of these calls. Redacted ids are not
    compared. The same call written again is `replayed-call`.

Why it matters
    In one turn, only the order shows which result belongs to which call. Across turns, some providers require
    ids that are unique in the whole request. Readers that keep a map from id to call give the later result to
    the wrong call.

How it happens
    Some servers count from `call_0` in every response. Ids were cut to nine characters and are now equal. A
    gateway gave parallel calls the same id.

What fix does
    lossless: gives the later call and its result a new id.

Evidence
    Anthropic: "`tool_use` ids must be unique". mistral-common from v11 on: "Duplicate tool call id in
    assistant message" for one turn, no error for later turns (executed 2026-11). In the recorded exchanges,
    OpenAI-compatible servers accepted an id again for another call in a later turn ten times, such as in
    31ca6daa99ff8ea3.
"""

from collections.abc import Iterator

from turnlint.api import Case, Example, Finding, Fix, Rename, Rule, near_call, quote, repeats, spot

RULE = Rule("ST108", "reused-call-id", "error", fix="lossless", triggers=frozenset({"taken"}))

BAD = (
    Example("""
        user       Recall, then expand.
        assistant
          call     c1 recall {"q": "a"}
          call     c1 expand {"n": 7}                 <- ST108
          result   c1 recalled
          result   c1 expanded
        assistant  Done.
    """),
    Example("""
        user       Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  18 degrees. And Lyon:
          call     c1 get_weather {"city": "Lyon"}    <- ST108
          result   c1 20 degrees
        assistant  20 degrees.
    """),
)
GOOD = (
    Example("""
        user       Recall, then expand.
        assistant
          call     c1 recall {"q": "a"}
          call     c2 expand {"n": 7}
          result   c1 recalled
          result   c2 expanded
        assistant  Done.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    orphan_ids = {orphan.result.id for orphan in case.ledger.orphans}
    for repeat in repeats(case.ledger):
        if repeat.same:
            continue
        asked, first = repeat.again.asked, repeat.first.asked
        where = "in the same turn" if repeat.same_turn else "in an earlier turn"
        yield RULE.at_call(
            case,
            asked,
            f"id {quote(asked.call.id)} is already used by another call {where}",
            severity="error" if repeat.same_turn or asked.call.id in orphan_ids else "warning",
            label="duplicate id",
            related=(near_call(case, first, "first used here"),),
            fix=Fix("lossless", "give this call and its result a new id", (Rename(spot(asked)),)),
        )
