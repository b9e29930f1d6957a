"""a role stands where the provider does not take it

What it does
    Reports messages under a role that the provider does not have, and messages that follow on one they
    may not follow: system after assistant, a call after something other than a user or a result, a
    conversation that begins with the wrong speaker.

Why it matters
    The request is refused. Some servers answer with the roles alone, so that the place must be found.

How it happens
    A system prompt is added or replaced in the middle. A truncation cut off the first user message. A
    history of another provider brings `developer` or `function`.

What fix does
    Nothing yet that is safe for all: what was said in which role is the author's to decide. The message
    names the neighbour that is in the way.

Evidence
    Mistral: "Unexpected role 'system' after role 'assistant'" (recorded 794aa3b4506cc972, ed7ad341dda2f362,
    f5bcf8c0b5ba82bd; mistral-common 1.13.0). Gemini: "function call turn comes immediately after a user
    turn" (gemini-cli, many). Perplexity: recorded 5df5f7296693dde2.
"""

from collections.abc import Iterator

from turnlint.api import Call, Case, Example, Finding, Message, Result, RoleOrder, Rule, Thinking, near, quote

RULE = Rule("PR310", "role-order", "error")

BAD = (
    Example("""
        system     Be brief.
        user       What is two and two?
        assistant  Four.
        system     Be long-winded.   <- PR310
        user       And three and three?
    """, wires=("openai-chat",), provider="mistral"),
)  # fmt: skip
GOOD = (
    Example("""
        system     Be brief.
        system     Be polite.
        user       What is two and two?
        assistant  Four.
        user       And three and three?
    """, wires=("openai-chat",), provider="mistral"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    labels = [_labels(message) for message in case.messages]
    for clause in case.clauses(RoleOrder):
        yield from _unknown(case, clause)
        if labels and clause.first and not case.transcript.headless and labels[0].isdisjoint(clause.first):
            yield RULE.at_message(
                case, 0, f"the conversation begins with {_role(case, 0)}, not with {_either(clause.first)}",
                below=_at_role(case.messages[0]), label="may not begin", under=clause,
            )  # fmt: skip
        if clause.role:
            yield from _followers(case, clause, labels)
        request = case.transcript.request
        asked = not clause.needs or any(not one.isdisjoint(clause.needs) for one in labels)
        if not asked and labels and request and request.key:
            who = _either(clause.needs)
            yield RULE.at_message(case, 0, f"no message is of role {who}", label="nobody asks", under=clause)


def _labels(message: Message) -> set[str]:
    """What a message is, for the order: its role, and whether it calls or answers."""
    names = {message.written_role}
    kinds = {type(block) for block in message.blocks}
    return names | ({"call"} if Call in kinds else set()) | ({"result"} if Result in kinds else set())


def _unknown(case: Case, clause: RoleOrder) -> Iterator[Finding]:
    known = ", ".join(filter(None, clause.roles))
    for index, message in enumerate(case.messages):
        if clause.roles and message.written_role not in clause.roles and message.role != "other":
            role = message.written_role
            said = f"there is no role {quote(role)} here" if role else "the message names no role"
            yield RULE.at_message(
                case, index, f"{said}; known are {known}", below=_at_role(message), label="no such role", under=clause
            )  # fmt: skip


def _followers(case: Case, clause: RoleOrder, labels: list[set[str]]) -> Iterator[Finding]:
    before = {"start"}
    for start, end in _runs(case):
        here: set[str] = set().union(*labels[start:end])
        wrong = before.intersection(clause.after) or (
            clause.only_after and before.isdisjoint(clause.only_after)
        )
        if wrong and clause.role in here and not (start == 0 and case.transcript.headless):
            first = next(index for index in range(start, end) if clause.role in labels[index])
            yield _follower(case, clause, first, start)
        # A result follows on what was last said; a chunk of a stream may say nothing.
        said = [n for n in range(start, end) if {type(one) for one in case.messages[n].blocks} - {Thinking}]
        before = labels[said[-1]] if said and clause.role == "result" else here


def _runs(case: Case) -> Iterator[tuple[int, int]]:
    """Messages that are one turn: neighbours of the assistant, where the wire joins them."""
    start = 0
    for index in range(1, len(case.messages) + 1):
        own = [message.role for message in case.messages[index - 1 : index + 1]]
        if own != ["assistant", "assistant"] or not case.transcript.wire.joins:
            yield start, index
            start = index


def _follower(case: Case, clause: RoleOrder, index: int, start: int) -> Finding:
    after = case.messages[start - 1].written_role if start else "start"
    what = {"call": "a turn of calls", "result": "a result"}.get(clause.role, _role(case, index))
    behind = f"after {quote(after)}" if start else "at the start"
    return RULE.at_message(
        case, index, f"{what} may not stand {behind}", below=_at_role(case.messages[index]),
        label=f"not {behind.replace('`', '')}",
        related=(near(case, start - 1, "after this"),) if start else (), under=clause, told={"after": after},
    )  # fmt: skip


def _role(case: Case, index: int) -> str:
    return quote(case.messages[index].written_role or "no role")


def _at_role(message: Message) -> tuple[str, ...]:
    return ("role",) if message.written_role and not message.kind else ()


def _either(roles: tuple[str, ...]) -> str:
    return " or ".join(quote(role) for role in roles if role)
