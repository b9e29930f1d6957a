"""the arguments of a call are truncated

What it does
    Reports arguments whose JSON text ends before it is complete. Other faults in arguments are
    `unreadable-arguments`.

Why it matters
    The complete arguments are not known, so the call must not be run, and its arguments must not be invented.
    A placeholder result for such a call is wrong too: it claims that the call was made.

How it happens
    The model reached its output limit in the middle of a call. The stream broke, and the received part was
    logged as a complete call.

What fix does
    lossless: writes an object whose only key `raw` contains the old text. The call becomes readable, nothing
    is removed and nothing is invented.

Evidence
    MiniMax rejects it: "invalid params, invalid function arguments json string". OpenAI accepts arguments
    without parsing them. OpenClaw issues 50059 and 9769: a synthetic result for a partial call kept sessions
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
