"""a text contains an unparsed tool call

What it does
    Reports an assistant text that contains the start of a tool call in the notation of a model, such as
    `<tool_call>`, `[TOOL_CALLS]` or `<function=…>`. Code blocks and quoted code are ignored.

Why it matters
    The model called a tool and the server did not recognize the call. The tool never ran, the call has no
    result, and the model sees its own markup as text and repeats it.

How it happens
    The server runs without the tool parser of the model, or with the parser of another version. The call was
    malformed, and the parser returned it as text.

What fix does
    Nothing: `fix` does not turn a text into a call.

Evidence
    The start marks of notations that do not occur in normal text, from chat templates and parsers (vLLM,
    SGLang, trl, read 2026-11). It is a warning, because servers accept such a history: 22 recorded requests
    with it were accepted, 21 of them by one local server, such as a6b097453e0bf7f6.
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
