"""the parent of a message does not exist

What it does
    Checks logs in which each record names its parent, the record before it. Reports a parent that does not
    exist in the conversation, a record that is its own ancestor, and an id that two records share. If nothing
    comes before the record, its parent is in another file, and the finding is an info.

Why it matters
    Readers of such a log follow these links from the last message to the first. At a broken link they stop.
    All earlier messages are lost from the context without an error, or the session cannot be resumed.

How it happens
    A line was deleted manually, and its children still name it. A summary names a parent that was never
    logged. Two branches were merged into one file.

What fix does
    lossless: sets the parent to the record that was written before this one and is not its descendant. The
    times of the records decide the order if all have one, otherwise the order in the file. In a cycle, the
    first record gets such a parent or none. The link stays after a record that is unreadable or has a damaged
    id, because that record may be the parent.

Evidence
    Claude Code issues 46603 and 55818: a parent that does not exist makes the history before it unreachable
    (read 2026-11). The session reader of claude-agent-sdk 0.2.184 stops at a `parentUuid` that does not
    exist.
"""

from collections.abc import Iterator, Sequence

from turnlint.api import Case, Finding, Fix, Link, Location, Raw, Related, Relink, Rule, is_scrubbed, quote

RULE = Rule("ST111", "broken-parent-link", "error", fix="lossless", triggers=frozenset({"link"}))

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
    Raw(
        "anthropic",
        b'{"session_id": "s", "uuid": "[trimmed for fixture]", "parentUuid": null, "role": "user", "content": "hi"}\n'
        b'{"session_id": "s", "uuid": "[trimmed for fixture]", "parentUuid": "<removed>", "role": "assistant", "content": "a"}\n',
    ),
)

NOTHING = "no earlier message to link it to"


def check(case: Case) -> Iterator[Finding]:
    if case.transcript.headless and not case.transcript.links:
        return
    links = case.transcript.links or [
        Link(message.record, message.id, message.parent, message.parent_at)
        for message in case.messages
        if message.parent_at or message.id is not None
    ]
    links = [
        Link(link.record, _id_or_none(link.id), _id_or_none(link.parent), link.at, link.start)
        for link in links
    ]
    if not any(link.at for link in links):
        return
    first: dict[str, int] = {}
    place: dict[str, int] = {}
    for number, link in enumerate(links):
        if link.id is None:
            continue
        if link.id in place:
            record = links[first[link.id]].record
            near = (Related("first used here", Location(record, ()), case.first_in.get(id(record))),)
            text = f"two messages have the id {quote(link.id)}"
            yield RULE.at_link(case, link, (), text, severity="warning", related=near)
        first.setdefault(link.id, number)
        place[link.id] = number  # readers keep the later of two records, so the id refers to it
    components = _Components(links, place)
    before: list[str | None] = [None]
    for number, link in enumerate(links):
        before.append(link.id if link.id is not None and place[link.id] == number else before[-1])
        if link.id is None:
            continue  # records for bookkeeping may refer to other sessions
        if link.parent is not None and link.parent not in place:
            text = f"the parent {quote(link.parent)} of this message does not exist in this conversation"
            if not link.parent:
                text = "the parent id of this message is empty, so the messages before it are lost"
            earlier = before[number]
            if earlier is not None and components.root_of(place[earlier]) == components.root_of(number):
                # The record may be written before its parent.
                earlier = before[components.first[components.root_of(number)]]
            if earlier is not None:
                components.join(number, place[earlier])
                yield RULE.at_link(case, link, link.at, text, fix=_fix(link, earlier))
            else:
                yield RULE.at_link(case, link, link.at, text, severity="info", label=NOTHING)
    for link, earlier in ((links[number], before[number]) for number in _starts_of_cycles(links, place)):
        text = f"message {quote(link.id)} is its own ancestor"
        yield RULE.at_link(case, link, link.at, text, fix=_fix(link, earlier))


def _id_or_none(identifier: str | None) -> str | None:
    """Return an id, or nothing if a redaction tool replaced it: such an id identifies no record."""
    return None if identifier is not None and is_scrubbed(identifier) else identifier


class _Components:
    """Sets of linked records, each with one of its records as root, and its first record in the file."""

    def __init__(self, links: Sequence[Link], place: dict[str, int]) -> None:
        self.upper, self.first = [*range(len(links))], [*range(len(links))]
        for number, link in enumerate(links):
            if link.parent is not None and link.parent in place:
                self.join(number, place[link.parent])

    def root_of(self, number: int) -> int:
        while (above := self.upper[number]) != number:
            self.upper[number] = self.upper[above]
            number = above
        return number

    def join(self, number: int, other: int) -> None:
        number, other = self.root_of(number), self.root_of(other)
        self.upper[number], self.first[other] = other, min(self.first[number], self.first[other])


def _fix(link: Link, parent: str | None) -> Fix:
    title = (
        f"set its parent to {quote(parent)}, the message before it"
        if parent
        else "make it the first message, without a parent"
    )
    return Fix("lossless", title, (Relink(link.at, parent),))


def _starts_of_cycles(links: Sequence[Link], place: dict[str, int]) -> Iterator[int]:
    """Yield the first record of each cycle. Each record is visited once."""
    done: set[int] = set()
    for start in range(len(links)):
        path: dict[int, None] = {}
        at: int | None = start
        while at is not None and at not in done and at not in path:
            path[at] = None
            parent = links[at].parent
            at = place.get(parent) if parent is not None else None
        if at is not None and at in path:
            walked = list(path)
            yield min(walked[walked.index(at) :])
        done.update(path)
