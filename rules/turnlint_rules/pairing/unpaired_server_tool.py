"""a server tool call and its result are not in the same turn

What it does
    Reports a call of a server tool without its result in the same turn, and such a result without its call.
    Server tools are web search, code execution and MCP connectors. Also reports pairs that another message
    separates. It is silent on the last turn, and on a turn that waits for results of the client's own tools.

Why it matters
    The provider writes such a pair inside one assistant turn and checks it there. It rejects a call or a
    result without the other.

How it happens
    The stream was cut between the call and the result. A command of the user was logged in the middle of the
    turn and split it. A filter removed one type of block.

What fix does
    lossy: removes a call or a result whose counterpart is lost. lossless: joins a pair that another message
    separates.

Evidence
    Anthropic: "`web_fetch` tool use with id `srvtoolu_…` was found without a corresponding
    `web_fetch_tool_result` block", and "unexpected `tool_use_id` found in `advisor_tool_result` blocks"
    (Claude Code issue 64383). An open call beside client calls with results was accepted: recorded
    b6cc244226750b1c.
"""

from collections.abc import Iterator

from turnlint.api import (
    Case,
    Drop,
    Example,
    Finding,
    Fix,
    Result,
    Rule,
    Settle,
    Severity,
    has_redaction,
    near_call,
    quote,
    spot,
)

RULE = Rule("PA209", "unpaired-server-tool", "error", fix="lossy", triggers=frozenset({"server"}))

BAD = (
    Example("""
        user       Search the web.
        assistant  Searching.
          server-call    s1 web_search {"query": "x"}   <- PA209
        user       Hello?
    """, wires=("anthropic",)),
    Example("""
        user       Search the web.
        assistant
          server-result  s1 web_search found            <- PA209
        user       Thanks.
    """, wires=("anthropic",)),
)  # fmt: skip
GOOD = (
    Example("""
        user       Search the web.
        assistant
          server-call    s1 web_search {"query": "x"}
          server-result  s1 web_search found
        user       Thanks.
    """, wires=("anthropic",)),
)  # fmt: skip


def _counts_of_content(case: Case) -> list[int]:
    """Return how many messages before each position have content other than results.

    Between two positions with equal counts, there are only results.
    """
    counts = [0]
    for message in case.messages:
        only_results = bool(message.blocks) and all(isinstance(block, Result) for block in message.blocks)
        counts.append(counts[-1] + (not only_results))
    return counts


def check(case: Case) -> Iterator[Finding]:
    counts = _counts_of_content(case)
    for interaction in case.ledger.interactions:
        asked, answer = interaction.asked, interaction.answer
        if not asked.call.server or interaction.pending or interaction.how == "in-place":
            continue
        name = f"{quote(asked.call.id)} to {quote(asked.call.name)}"
        if answer and asked.seq < answer.seq and counts[asked.message + 1] == counts[answer.message]:
            continue  # the provider's tool called tools of the client and continued after their results
        if answer is None:
            yield RULE.at_call(
                case,
                asked,
                f"server tool call {name} has no result in its turn",
                label="no result in this turn",
                fix=Fix("lossy", "remove the call", (Drop(spot(asked)),)),
            )
        else:
            yield RULE.at_result(
                case,
                answer,
                f"result for server tool call {name} is outside the turn of its call",
                label="belongs in the turn of its call",
                related=(near_call(case, asked, "its call"),),
                fix=Fix(
                    "lossless",
                    "join the two parts of the turn",
                    (Settle(spot(asked), spot(answer)),),
                ),
            )
    unmatched = [*case.ledger.orphans, *(again for again, _ in case.ledger.duplicates)]
    for orphan in unmatched:
        if orphan.result.server:
            yield RULE.at_result(
                case,
                orphan,
                f"result for {quote(orphan.result.id)} has no server tool call before it in its turn",
                label="no call has this id",
                severity=_severity(case, orphan.result.id),
                fix=Fix("lossy", "remove the result", (Drop(spot(orphan)),)),
            )


def _severity(case: Case, identifier: str | None) -> Severity:
    """Return the severity. A recorder that rewrites ids may have given a result another id than its call."""
    if case.transcript.headless:
        return "info"
    return "warning" if has_redaction(identifier) else "error"
