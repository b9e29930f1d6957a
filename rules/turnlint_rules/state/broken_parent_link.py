"""a message names a parent that is not there

What it does
    In logs whose messages name their parent, reports a parent that no message of the conversation is, a
    message that is its own ancestor, and an id that two messages share.

Why it matters
    Readers of such a log walk from the last message to the first along these links. At a broken one they
    stop: everything before it is gone from the context, silently, or the session cannot be resumed.

How it happens
    Somebody deleted a line by hand and its children still point to it. A summary wrote a parent that was
    never logged. Two branches were merged into one file.

What fix does
    Nothing yet on these wires; session formats relink a child to its parent's parent when they remove a
    line.

Evidence
    Claude Code issues 46603 and 55818: a parent that exists nowhere after compaction makes the history
    before it unreachable (read 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import Case, Finding, Raw, Rule, near, quote

RULE = Rule("ST111", "broken-parent-link", "error")

BAD = (
    Raw(
        "openai-chat",
        b'{"session_id": "s", "id": "m1", "parent_id": null, "role": "user", "content": "hi"}\n'
        b'{"session_id": "s", "id": "m3", "parent_id": "m2", "role": "assistant", "content": "hello"}\n',
        (("ST111", 2),),
    ),
    Raw(
        "anthropic",
        b'{"session_id": "s", "uuid": "a", "parentUuid": "b", "role": "user", "content": "hi"}\n'
        b'{"session_id": "s", "uuid": "b", "parentUuid": "a", "role": "assistant", "content": "hello"}\n',
        (("ST111", 1),),
    ),
)
GOOD = (
    Raw(
        "openai-chat",
        b'{"session_id": "s", "id": "m1", "parent_id": null, "role": "user", "content": "hi"}\n'
        b'{"session_id": "s", "id": "m2", "parent_id": "m1", "role": "assistant", "content": "hello"}\n',
    ),
)


def check(case: Case) -> Iterator[Finding]:
    if not any(message.parent_at for message in case.messages) or case.transcript.headless:
        return
    index_of: dict[str, int] = {}
    for index, message in enumerate(case.messages):
        if message.id is None:
            continue
        if message.id in index_of:
            yield RULE.at_message(
                case,
                index,
                f"two messages have the id {quote(message.id)}",
                severity="warning",
                related=(near(case, index_of[message.id], "first used here"),),
            )
        index_of.setdefault(message.id, index)
    for index, message in enumerate(case.messages):
        if message.parent is not None and message.parent not in index_of:
            yield RULE.at_message(
                case,
                index,
                f"its parent {quote(message.parent)} is not in this conversation",
                at=message.parent_at,
            )
    for index in _loops(case, index_of):
        yield RULE.at_message(case, index, f"message {quote(case.messages[index].id)} is its own ancestor")


def _loops(case: Case, index_of: dict[str, int]) -> Iterator[int]:
    """The first message of each circle. Every message is walked over once."""
    done: set[int] = set()
    for start in range(len(case.messages)):
        path: dict[int, None] = {}
        at: int | None = start
        while at is not None and at not in done and at not in path:
            path[at] = None
            parent = case.messages[at].parent
            at = index_of.get(parent) if parent is not None else None
        if at is not None and at in path:
            walked = list(path)
            yield min(walked[walked.index(at) :])
        done.update(path)
