"""a role is not accepted at this position

What it does
    Reports a role that the provider does not have, and a message that may not follow or precede its neighbor.
    Examples: system after assistant, a call after a message that is neither user nor result, a wrong role at
    the start.

Why it matters
    The provider rejects the request. Some error texts name only the roles and no position.

How it happens
    A client inserts a system prompt in the middle. The first user message was cut off. The role `developer`
    is left from another provider.

What fix does
    lossless: writes the provider's name of the role. lossless: moves a system message to the start, or after
    the nearest user message where the provider accepts it there. lossless: appends a system message to the
    one before it where the provider accepts one only. lossless: moves a result to its call.
    placeholder: inserts a message `(no content)` where a role is missing. lossy: changes the role of a system
    message to `user`.

Evidence
    Mistral: "Unexpected role 'system' after role 'assistant'" (794aa3b4506cc972, ed7ad341dda2f362,
    f5bcf8c0b5ba82bd; mistral-common 1.13.0). Gemini: "function call turn comes immediately after a user
    turn". Perplexity: 5df5f7296693dde2. Anthropic, `system` between the messages: probes of nine models on
    2026-09-10 and of claude-opus-5-5 on 2026-10-06, claude-code 73821, and 39 accepted requests, such as
    f04a8da6bfb53c03. MiniMax takes one system message only (MiniMax-M2 51 of 2025-11, its maker).
"""

from collections.abc import Iterator
from json import dumps

from turnlint.api import (
    Call,
    Case,
    Drop,
    Example,
    Finding,
    Fix,
    Message,
    Move,
    Piece,
    Put,
    Result,
    RoleOrder,
    Rule,
    Say,
    Settle,
    Thinking,
    near,
    quote,
    spot,
)

RULE = Rule("PR310", "role-order", "error", fix="lossy", triggers=frozenset())

BAD = (
    Example("""
        assistant  Four.
        system     Be long-winded.   <- PR310
        user       And three and three?
    """, wires=("openai-chat",), provider="mistral"),
    Example("""
        system     Be brief.
        system     Write French.     <- PR310
        user       What is two and two?
    """, wires=("openai-chat",), provider="minimax"),
)  # fmt: skip
GOOD = (
    Example("""
        system     Be brief.
        user       What is two and two?
    """, wires=("openai-chat",), provider="mistral"),
)  # fmt: skip

_LIKE = {"system": ("system", "developer"), "assistant": ("assistant", "model"), "user": ("user",)}
_KINDS: dict[type, str] = {Call: "call", Result: "result"}
Wrong = tuple[int, str, str, Fix | None, int]
"""The index of a message, the fault, the label, the repair, and the index at which its turn begins."""


def check(case: Case) -> Iterator[Finding]:
    labels = [_labels_of(message) for message in case.messages]
    front = next((n for n, message in enumerate(case.messages) if message.role != "system"), len(labels))
    misplaced: set[int] = set()
    for clause in case.clauses(RoleOrder):
        for index, sentence, label, fix, start in _wrong(case, clause, labels, front) if labels else ():
            if clause.only_before and index in misplaced:
                continue
            misplaced.add(index)
            message = case.messages[index]
            yield RULE.at_message(
                case, index, sentence, below=("role",) if message.written_role and not message.kind else (), label=label, under=clause, fix=fix,
                related=(near(case, start - 1, "after this"),) if start else (), told={
                    "after": case.messages[start - 1].written_role if start else "start",
                    "hint": clause.hint if message.written_role == clause.hint_role else "",
                },
            )  # fmt: skip


def _labels_of(message: Message) -> set[str]:
    found = {message.written_role} | {_KINDS.get(type(block), "") for block in message.blocks} - {""}
    last = message.blocks[-1] if message.blocks else None
    return found | {"server-result"} if isinstance(last, Result) and last.server else found


def _wrong(case: Case, clause: RoleOrder, labels: list[set[str]], front: int) -> Iterator[Wrong]:
    for index, message in enumerate(case.messages if clause.roles else ()):
        role, known = message.written_role, ", ".join(filter(None, clause.roles))
        if role not in clause.roles and message.role != "other":
            sentence = f"unknown role {quote(role)}" if role else "the message has no role"
            same = next((one for one in _LIKE.get(message.role, ()) if one in clause.roles), None)
            fix = _change_role(index, same) if same or message.role == "system" else None
            yield index, f"{sentence}; expected one of {known}", "unknown role" if role else "no role", fix, 0
    if clause.first and not case.transcript.headless and labels[0].isdisjoint(clause.first):
        sentence = f"the conversation starts with role {_names(case.messages[0].written_role)}; expected {_names(*clause.first)}"  # fmt: skip
        yield 0, sentence, "may not be first", _move(case, 0, 0, front, range(0)), 0
    if clause.needs and set().union(*labels).isdisjoint(clause.needs) and case.sent(0):
        yield 0, f"no message has the role {_names(*clause.needs)}", "no such message", _insert(case, front), 0  # fmt: skip
    yield from _not_after(case, clause, labels, front) if clause.role else ()
    yield from _not_before(case, clause, labels) if clause.only_before else ()


def _not_before(case: Case, clause: RoleOrder, labels: list[set[str]]) -> Iterator[Wrong]:
    """Yield faults for runs of messages of a role before a message that they may not precede."""
    for start, end in _runs(clause.role, labels):
        behind = labels[end] if end < len(labels) else {"end"}
        if behind.isdisjoint(clause.only_before) and not _is_directive(case, start):
            role = _names(case.messages[end].written_role) if end < len(labels) else "the end"
            sentence = f"{_names(case.messages[start].written_role)} is not accepted before {role}"
            yield (
                start,
                sentence,
                f"not before {role.replace('`', '')}",
                _move_after_user(case, start, end),
                start,
            )


def _runs(role: str, labels: list[set[str]]) -> Iterator[tuple[int, int]]:
    start = 0
    for end in range(1, len(labels) + 1):
        if end == len(labels) or (role in labels[end]) != (role in labels[start]):
            if role in labels[start]:
                yield start, end
            start = end


def _is_directive(case: Case, index: int) -> bool:
    """Whether a system message has no content and only sets the output: any position is accepted."""
    message = case.messages[index]
    return message.content == "no-parts" and case.said(index, ("output_config",)) is not None


def _move_after_user(case: Case, start: int, end: int) -> Fix:
    """Return the move of system messages to the nearest place after a user message, before the assistant."""
    roles = [message.role for message in case.messages]
    places = [n for n in range(1, len(roles) + 1) if roles[n - 1] == "user" and roles[n : n + 1] != ["user"]]
    free = [n for n in places if n > end] or [n for n in reversed(places) if n < start]
    if not free:
        return _change_role(start, None)
    return Fix("lossless", "move it after the nearest user message", tuple(Move(n, free[0]) for n in range(start, end)))  # fmt: skip


def _not_after(case: Case, clause: RoleOrder, labels: list[set[str]], front: int) -> Iterator[Wrong]:
    before, past, start = {"start"}, 0, 0
    for end in range(1, len(labels) + 1):
        if case.transcript.wire.joins and [one.role for one in case.messages[end - 1 : end + 1]] == ["assistant"] * 2:  # fmt: skip
            continue  # consecutive assistant messages are one turn
        here: set[str] = set().union(*labels[start:end])
        wrong = before & {*clause.after} or (clause.only_after and before.isdisjoint(clause.only_after))
        if (
            wrong
            and clause.role in here
            and not _is_directive(case, start)
            and not (start == 0 and case.transcript.headless)
        ):
            index = next(index for index in range(start, end) if clause.role in labels[index])
            calls = [n for n in range(past, start) if "call" in labels[n]]
            words = range(calls[-1] + 1, start) if calls else range(0)
            behind = f"after {quote(case.messages[start - 1].written_role)}" if start else "at the start"
            what = {"call": "a turn with calls", "result": "a result"}.get(clause.role, _names(case.messages[index].written_role))  # fmt: skip
            fix = _move(case, index, start, front, words)
            yield index, f"{what} is not accepted {behind}", f"not {behind.replace('`', '')}", fix, start
        # A result follows the last message with content; a chunk of a stream may have none.
        last = [n for n in range(start, end) if {type(one) for one in case.messages[n].blocks} - {Thinking}]
        before, past, start = labels[last[-1]] if last and clause.role == "result" else here, start, end


def _move(case: Case, index: int, start: int, front: int, words: range) -> Fix | None:
    """Return the repair that moves a message to an accepted place, or makes its place accepted."""
    message = case.messages[index]
    if message.role == "system":
        clauses = [one for one in case.clauses(RoleOrder) if one.role == "system"]
        if any("system" in one.after for one in clauses) and (fix := _append(case, index)):
            return fix
        if any(one.only_before for one in clauses):
            labels = [_labels_of(message) for message in case.messages]
            end = next(end for first, end in _runs(message.written_role, labels) if first <= index < end)
            return _move_after_user(case, index, end)
        is_front_rejected = any("start" in one.after for one in clauses)
        return _change_role(index, None) if is_front_rejected or index < front else Fix("lossless", "move the message to the front", (Move(index, front),))  # fmt: skip
    results = [block for block in message.blocks if isinstance(block, Result)]
    moves = tuple(Move(n, words[0] - 1) for n in words if {type(one) for one in case.messages[n].blocks} - {Thinking})  # fmt: skip
    settled = tuple(Settle(spot(case.asked_by[id(one)]), Piece(index, one.at)) for one in results if id(one) in case.asked_by)  # fmt: skip
    if settled:
        return Fix("lossless", "move the results directly after their call", moves or settled)
    misplaced = message.role == "user" and any(isinstance(block, Call) for block in message.blocks)
    return None if results or misplaced else _insert(case, start)


def _append(case: Case, index: int) -> Fix | None:
    """Return the repair that joins the run of system messages at this index into its first message.

    All findings of a run have the same steps, so that no step drops a text that another one wrote.
    """
    start, end = index, index + 1
    while start and case.messages[start - 1].role == "system":
        start -= 1
    while end < len(case.messages) and case.messages[end].role == "system":
        end += 1
    texts = [case.said(number, ("content",)) for number in range(start, end)]
    others = {key for number in range(start + 1, end) for key in case.written(number)} - {"role", "content"}
    if len(texts) < 2 or others or not all(isinstance(text, str) for text in texts):
        return None
    whole = Put(("content",), dumps("\n\n".join(texts)).encode(), start)
    drops = tuple(Drop(Piece(number)) for number in range(start + 1, end))
    return Fix("lossless", "append its text to the system message before it", (whole, *drops))


def _change_role(index: int, role: str | None) -> Fix:
    title = f"change the role to {quote(role or 'user')}"
    return Fix("lossless" if role else "lossy", title, (Put(("role",), dumps(role or "user").encode(), index),))  # fmt: skip


def _insert(case: Case, before: int) -> Fix:
    step = Say(before, "assistant" if [one.role for one in case.messages[before : before + 1]] == ["user"] else "user", "(no content)")  # fmt: skip
    if not case.takes_message(step.role):
        return Fix("placeholder", f"none; a repair adds no {step.role} message to the session of an agent")
    return Fix("placeholder", f"insert the {step.role} message `(no content)` before it", (step,))


def _names(*roles: str) -> str:
    return " or ".join(quote(role) for role in roles if role) or quote("no role")
