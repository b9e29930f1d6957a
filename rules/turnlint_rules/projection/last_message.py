"""a request ends with a message that the provider does not accept as the last one

What it does
    Reports a request that ends with a call without a result, or with a role that the provider does not accept
    at the end. Stored logs and recorded answers may end with any message and are not checked.

Why it matters
    The provider rejects the request, even if everything else is correct.

How it happens
    The history was sent again before the tool had run. The request ends with the start of an answer that the
    model should continue, and newer models do not accept that.

What fix does
    placeholder: with a named provider, adds a result that states that the outcome is not known. placeholder:
    after a final assistant text, adds the user message `(continue)`. lossless: where the provider requires a
    mark on a text to continue, sets the mark, and removes it from earlier messages.

Evidence
    OpenAI Chat: recorded 640045b2ab2a78f1. Mistral: "Expected last role User or Tool (or Assistant with
    prefix True) for serving but got assistant" (mistral-common 1.13.0). Anthropic, new models: "The
    conversation must end with a user message". Gemini: "single turn requests end with a user role". OpenAI
    accepts an assistant text at the end: 10 recorded requests, such as 69c62ba659e29eb5. Bedrock, Claude 3
    with tools: two requests with results in the turn before were rejected. One without results was accepted
    (6ff4cec78051420c), so that case is a warning.
"""

from collections.abc import Iterator

from turnlint.api import (
    SEVERITIES,
    Case,
    Example,
    Finding,
    Fix,
    LastMessage,
    Put,
    Result,
    Rule,
    Say,
    Take,
    called,
    closing,
    quote,
)

RULE = Rule("PR311", "last-message", "error", fix="placeholder", triggers=frozenset())

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}   <- PR311, PA206
    """, wires=("openai-chat",), provider="openai"),
    Example("""
        user       What is two and two?
        assistant  Four.   <- PR311
    """, wires=("mistral",), provider="mistral"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is two and two?
        assistant  Four.
    """, wires=("openai-chat",), provider="openai"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    if not case.ends:
        return  # a stored conversation, which may continue
    last = len(case.messages) - 1
    yield from _prefixes(case, last)
    is_reported = False
    for clause in sorted(case.clauses(LastMessage), key=lambda one: SEVERITIES.index(case.severity(one))):
        if clause.open_calls:
            for finding in _open_calls(case, clause):
                is_reported = True
                yield finding
        message = case.messages[last]
        if message.blocks and getattr(message.blocks[-1], "server", False):
            continue  # the provider paused during its own tool calls, and continues there
        if message.role == "other" or message.dialect:
            continue  # the wire has no such role, which other rules report
        if not _applies(case, clause, last):
            continue
        written = {message.written_role, message.role} | ({"prefix"} if message.prefix else set())
        if clause.roles and not is_reported and written.isdisjoint(clause.roles):
            is_reported = True
            role = quote(message.written_role or "none")
            yield RULE.at_message(
                case, last, f"the request ends with a message of role {role}; expected {_either(clause.roles)}",
                label="last message", under=clause, fix=_continue(case, last, clause),
            )  # fmt: skip


def _applies(case: Case, clause: LastMessage, last: int) -> bool:
    """Whether the request has the tools and the results that a clause requires."""
    request = case.transcript.request
    if not (clause.with_tools or clause.after_results):
        return True
    if request is None or not request.tools:
        return False
    return not clause.after_results or _follows_results(case, last)


def _follows_results(case: Case, last: int) -> bool:
    """Whether the turn directly before the last one has results."""
    index = last
    while index >= 0 and case.messages[index].role == "assistant":
        index -= 1
    while index >= 0 and case.messages[index].role != "assistant":
        if any(isinstance(block, Result) for block in case.messages[index].blocks):
            return True
        index -= 1
    return False


def _prefixes(case: Case, last: int) -> Iterator[Finding]:
    for clause in case.clauses(LastMessage):
        for index, message in enumerate(case.messages[:last] if clause.only_prefix else ()):
            if message.prefix:
                yield RULE.at_message(
                    case, index, "a message with `prefix` is not the last message", below=("prefix",),
                    label="not the last message", under=clause,
                    fix=Fix("lossless", "remove `prefix`", (Take(("prefix",), index),)),
                )  # fmt: skip


def _continue(case: Case, last: int, clause: LastMessage) -> Fix:
    """Return the repair after which the model may answer, if the last role is assistant or system."""
    role = case.messages[last].role
    if case.messages[last].empty:  # another rule removes it, if it has nothing else
        return Fix("placeholder", "none while the last message is empty: remove it, or write its text")
    if role == "assistant" and "prefix" in clause.roles:
        return Fix(
            "lossless",
            "set `prefix`, so that the model continues this message",
            (Put(("prefix",), b"true", last),),
        )
    if role not in ("assistant", "system") or "user" not in clause.roles:
        return Fix(
            "placeholder",
            f"none; add a message of role {_either(clause.roles)}",
        )
    if not case.takes_message("user"):
        return Fix("placeholder", "none; a repair adds no user message to the session of an agent")
    return Fix("placeholder", "add a user message `(continue)`", (Say(last + 1, "user", "(continue)"),))


def _open_calls(case: Case, clause: LastMessage) -> Iterator[Finding]:
    waiting = [one.asked for one in case.ledger.pending]
    waiting = [asked for asked in waiting if not (asked.call.server or case.is_hollow_call(asked))]
    if clause.answered != "any":
        turns = {one.asked.turn for one in case.ledger.interactions if one.answer is not None}
        waiting = [asked for asked in waiting if (asked.turn in turns) is (clause.answered == "some")]
    ids = ", ".join(dict.fromkeys(filter(None, (asked.call.id for asked in waiting))))
    for asked in waiting:
        yield RULE.at_call(
            case, asked, f"{called(asked.call)} has no result at the end of the request", label="no result",
            under=clause, told={"ids": ids, "next": asked.message + 1},
            fix=closing(case, asked),
        )  # fmt: skip


def _either(roles: tuple[str, ...]) -> str:
    words = {"prefix": "`assistant` with `prefix`"}
    return " or ".join(words.get(role, quote(role)) for role in roles)
