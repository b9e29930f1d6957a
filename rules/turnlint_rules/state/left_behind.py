"""part of a session is not sent again

What it does
    In session logs of agents, reports messages that are in the file but would not be sent again: messages
    that a compaction replaced, an abandoned branch, a turn that was rolled back. It counts their calls
    without a result. No other rule reports anything in these messages.

Why it matters
    A fault in these messages breaks no request. But a program that reads the whole file as one conversation,
    for training or for another provider, still reads them.

How it happens
    Agents only append to their logs. After an edit of an earlier prompt, a rewind or a compaction, the older
    messages stay in the file.

What fix does
    Nothing: this is normal for such a log.

Evidence
    The agents' own readers: claude-agent-sdk 0.2.184 follows `parentUuid` from the newest leaf, Codex replays
    from its newest compaction, Gemini CLI applies `$rewindTo` and `$set`, pi follows the links from the last
    entry (sources read 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import Case, Finding, Raw, Rule, called, near

RULE = Rule("ST118", "left-behind", "info", dead=True, triggers=frozenset({"dead"}))

_SESSION = (
    b'{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "s", '
    b'"message": {"role": "user", "content": "hi"}}\n'
    b'{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s", '
    b'"message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "hello"}]}}\n'
)
BAD = (
    Raw(
        "claude-code",
        _SESSION + b'{"type": "user", "uuid": "c", "parentUuid": null, "sessionId": "s", '
        b'"message": {"role": "user", "content": "hello there"}}\n'
        b'{"type": "assistant", "uuid": "d", "parentUuid": "c", "sessionId": "s", '
        b'"message": {"id": "n", "role": "assistant", "content": [{"type": "text", "text": "hi"}]}}\n',
        (("ST118", 1),),
    ),
)
GOOD = (Raw("claude-code", _SESSION),)
MAX_SHOWN_CALLS = 5


def check(case: Case) -> Iterator[Finding]:
    if not case.transcript.dead:
        return
    unread = case.transcript.unread
    count = len(case.messages) + (unread.messages if unread else 0)
    open_calls = [] if unread else [pair.asked for pair in case.ledger.interactions if pair.answer is None]
    orphans = len(case.ledger.orphans)
    notes = [f"calls without a result: {len(open_calls):,}"] * bool(open_calls)
    notes += [f"results without a call: {orphans:,}"] * bool(orphans)
    yield RULE.at_message(
        case,
        0,
        f"{count:,} messages from here on are not sent again: {case.transcript.dead}"
        if count > 1
        else f"this message is not sent again: {case.transcript.dead}",
        label="; ".join(notes),
        related=tuple(
            near(case, asked.message, f"{called(asked.call)} has no result", asked.call.at)
            for asked in open_calls[:MAX_SHOWN_CALLS]
        ),
    )
