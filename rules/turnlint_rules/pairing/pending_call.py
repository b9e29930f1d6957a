"""the conversation ends before a call has its result

What it does
    Reports a call without a result where nothing follows. It does not report records that are meant
    to end like this: a recorded response, a fine-tuning sample, a provider's own tool that is still
    at work.

Why it matters
    Sent as it is, the history is refused. But this is also what a live session looks like, byte for
    byte, and the result may be on its way.

How it happens
    The agent is still running. The process was killed: that leaves no mark at all. A sample was cut
    behind the model's turn.

What fix does
    placeholder, and only when asked (`--close-pending`, or a provider is named): adds a result that
    says the answer is not known.

Evidence
    Sent on, it is refused: recorded exchange 640045b2ab2a78f1 is OpenAI's 400 for it. As a log it is no
    fault, so it is a warning. A killed Claude Code session ends on a bare call with no marker (studied
    with 2.1.270). OpenAI fine-tuning takes samples that end on a call: that is what they teach.
    Anthropic's `pause_turn` ends on an open `server_tool_use` (recorded b6cc244226750b1c was accepted
    with one).
"""

from collections.abc import Iterator

from turnlint.api import Case, Close, Example, Finding, Fix, Rule, called, spot

RULE = Rule("PA206", "pending-call", "warning", fix="placeholder", triggers=frozenset({"pending"}))

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant  Let me look.
          call     c1 get_weather {"city": "Paris"}   <- PA206
    """),
    Example("""
        user       Compare Paris and Lyon.
        assistant
          call     c1 get_weather {"city": "Paris"}
          call     c2 get_weather {"city": "Lyon"}    <- PA206
          result   c1 18 degrees
    """),
)
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant  Let me look.
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
    """),
)


def check(case: Case) -> Iterator[Finding]:
    if case.transcript.open_end:
        return
    for interaction in case.ledger.pending:
        asked = interaction.asked
        if asked.call.server or case.is_hollow_call(asked):
            continue
        yield RULE.at_call(
            case,
            asked,
            f"{called(asked.call)} has no result yet",
            label="the conversation ends without its result",
            fix=Fix(
                "placeholder",
                "with --close-pending: add a placeholder result that says the outcome is unknown",
                (Close(spot(asked), pending=True),),
            ),
        )
