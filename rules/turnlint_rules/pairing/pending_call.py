"""the conversation ends before a call has its result

What it does
    Reports a call without a result, or with a pending one, at the end of the conversation. It is silent where
    such an end is normal:
    in a recorded response, in a fine-tuning sample, and for a tool of the provider that still runs.

Why it matters
    A provider rejects the history if it is sent in this state. But the log of a running session looks exactly
    the same, and its result may still arrive.

How it happens
    The agent is still running. The process was killed, which leaves no mark in the log. A training sample was
    cut after the model's turn.

What fix does
    placeholder: adds a result that states that the outcome is not known. It does so only with
    `--close-pending` or with a named provider.

Evidence
    OpenAI rejected it in recorded exchange 640045b2ab2a78f1. In a log it is a warning, because it may be no
    fault. A killed Claude Code session ends with a call and has no marker (seen with 2.1.270). OpenAI's
    fine-tuning accepts samples that end with a call. Anthropic's `pause_turn` ends with an open
    `server_tool_use` (recorded b6cc244226750b1c was accepted with one).
"""

from collections.abc import Iterator

from turnlint.api import Case, Example, Finding, Rule, called, closing

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
            label="its result is still pending"
            if interaction.answer
            else "the conversation ends without its result",
            fix=closing(case, asked),
        )
