"""a call has no tool name

What it does
    Reports a call whose tool name is absent or empty, and a result in the older `function` role without a
    name. In that role the name identifies the call.

Why it matters
    No server accepts such a call, and no program can run it.

How it happens
    A client joined the parts of a stream and lost the part with the name. A model wrote an empty name, and
    the agent logged the call with an error as its result.

What fix does
    lossless: writes the name from its result, if the result has one. placeholder: otherwise writes
    `unknown_tool`, so that the call and its result can stay.

Evidence
    OpenAI Chat, recorded exchange c0e5c02f0158bb42: "Missing parameter 'name': messages with role 'function'
    must have a 'name'". Anthropic: "tool_use.name: String should have at least 1 character". Empty names come
    from gateways of OpenAI-compatible models (read 2026-11).
"""

from collections.abc import Iterator
from json import dumps

from turnlint.api import Answered, Asked, Case, Example, Finding, Fix, Put, Raw, Rule, called

UNKNOWN = "unknown_tool"
RULE = Rule("ST105", "missing-tool-name", "error", fix="placeholder", triggers=frozenset({"name"}))

BAD = (
    Example("""
        user       Do something.
        assistant
          call     c1 "" {"x": 1}                     <- ST105
          result   c1 there is no such tool
        assistant  I could not.
    """),
    Example("""
        user       Do something.
        assistant
          call     c1 - {"x": 1}                      <- ST105
          result   c1 there is no such tool
        assistant  I could not.
    """),
    Raw(
        "openai-chat",
        b'{"messages": [{"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},'
        b' {"role": "function", "content": "done"}]}\n',
        (("ST105", 1),),
    ),
)
GOOD = (
    Example("""
        user       Do something.
        assistant
          call     c1 run {"x": 1}
          result   c1 done
        assistant  Done.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    for interaction in case.ledger.interactions:
        asked = interaction.asked
        if not asked.call.name and not case.is_no_object(asked):
            yield RULE.at_call(
                case, asked, f"{called(asked.call)} has no tool name", key="name", label="no tool name",
                fix=_fix(case, asked, interaction.answer),
            )  # fmt: skip
    answers = [pair.answer for pair in case.ledger.interactions if pair.answer is not None]
    for answer in (*answers, *case.ledger.orphans):
        if answer.result.kind == "function" and not answer.result.name:
            yield RULE.at_result(
                case, answer, "a result with the role `function` has no function name", key="name"
            )


def _fix(case: Case, asked: Asked, answer: Answered | None) -> Fix | None:
    """Return the repair: the name in the result, otherwise a placeholder; none if no object can contain it."""
    holder = (*asked.call.at, *asked.call.keys.name[:-1])
    if case.messages[asked.message].record.data and not isinstance(case.said(asked.message, holder), dict):
        return None
    known = answer.result.name if answer else None
    step = Put((*asked.call.at, *asked.call.keys.name), dumps(known or UNKNOWN).encode(), asked.message)
    if known:
        return Fix("lossless", "set the name to that of its result", (step,))
    return Fix("placeholder", f"set the name to `{UNKNOWN}`", (step,))
