"""a text contains an unparsed tool call

What it does
    Reports an assistant's text in which a call begins in one of the notations that models are trained to
    write: `<tool_call>`, `[TOOL_CALLS]`, `<function=…>` and their relatives. Fenced and quoted code is
    left alone.

Why it matters
    The model called a tool and the server did not notice: the call was never run, it has no result,
    and the model sees its own markup as prose and does it again.

How it happens
    The server runs without the tool parser that fits the model, or with one for another version. The call
    was malformed and the parser gave it back as text.

What fix does
    Nothing by itself: reading such a text as a call is offered separately.

Evidence
    The opening marks of the notations that cannot be mistaken for prose, from chat templates and parsers
    (vLLM, SGLang, trl, read 2026-11). Servers pass such a history on: 22 recorded requests with it were
    accepted, 21 of them by one local server, such as a6b097453e0bf7f6; so it is a warning.
"""

from collections.abc import Iterator

from turnlint.api import Case, Example, Finding, Rule, Text, quote

RULE = Rule("ST117", "call-left-in-text", "warning", triggers=frozenset({"marker"}))

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant  <tool_call> {"name": "get_weather", "arguments": {"city": "Paris"}} </tool_call>   <- ST117
        user       Well?
    """),
)
GOOD = (
    Example("""
        user       How does Hermes write a call?
        assistant  It opens with `<tool_call>` and a JSON object.
        user       Thanks.
    """),
    Example("""
        user       Is this right? <tool_call> {"name": "f"} </tool_call>
        assistant  Yes.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    for index, message in enumerate(case.messages):
        for block in message.blocks:
            if isinstance(block, Text) and block.call_marker is not None:
                yield RULE.at_message(
                    case,
                    index,
                    f"the text contains an unparsed tool call, which starts with {quote(block.call_marker)}",
                    below=block.at,
                )
