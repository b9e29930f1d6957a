"""the arguments of a call are truncated

What it does
    Reports arguments whose JSON ends before it is complete. Arguments that are wrong in another way are
    `unreadable-arguments`.

Why it matters
    What the model wanted is not known, so nothing may be run and nothing should be invented. A
    placeholder result for such a call makes things worse: it pretends that half a call was made.

How it happens
    The model hit its output limit in the middle of a call. The stream broke and the part that had come
    was logged as if it were the call.

What fix does
    lossless: writes an object whose one member `raw` is what was there, so that the call can be read and nothing
    is guessed at or thrown away.

Evidence
    MiniMax refuses it: "invalid params, invalid function arguments json string". OpenAI takes arguments
    back unread. OpenClaw issues 50059 and 9769: a synthetic result for a partial call kept sessions
    stuck (read 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import Case, Example, Finding, Rule, called, kept_raw

RULE = Rule("ST115", "truncated-call", "warning", fix="lossless", triggers=frozenset({"arguments"}))

BAD = (
    Example("""
        user       Write the report.
        assistant
          call     c1 write_file raw:{"path": "a.md", "text": "It was   <- ST115
          result   c1 error: could not read the arguments
        assistant  I try again.
    """, wires=("openai-chat",)),
)  # fmt: skip
GOOD = (
    Example("""
        user       Write the report.
        assistant
          call     c1 write_file {"path": "a.md", "text": "It was night."}
          result   c1 written
        assistant  Done.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    for interaction in case.ledger.interactions:
        call = interaction.asked.call
        if call.arguments == "torn":
            yield RULE.at_call(
                case,
                interaction.asked,
                f"the arguments of {called(call)} are truncated",
                key="body",
                label="the JSON ends too early",
                fix=kept_raw(case, interaction.asked),
            )
