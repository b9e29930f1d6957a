"""the arguments of a call are not a JSON object

What it does
    Reports arguments that are not a JSON object: a text that is not JSON, JSON of another kind, or, in
    formats with parsed arguments, a value that is not an object. Arguments in XML are named as such. Empty arguments of a call without parameters
    are valid, and so is the free text of a custom tool. Arguments that are only cut off are `truncated-call`.

Why it matters
    No program can run such a call. Some providers accept it unread, others parse every call of the history
    and reject the request. Chat templates replace the arguments by `{}` or fail.

How it happens
    The model wrote them: a bare expression, single quotes, a raw line break inside a string, or XML from its
    training. A gateway translated between formats and encoded the arguments twice.

What fix does
    lossless: writes XML as an object, if it has only one reading; the journal keeps the old text. The types
    are those that the tool declares. Without a declaration each value stays a text. For any other arguments
    it writes an object whose only key `raw` contains the old text. Nothing is removed and nothing is invented.

Evidence
    A text that is not JSON is a warning, because OpenAI accepted nine recorded requests with such arguments,
    such as bde57792f76e592e. xAI: "The arguments to a tool_call … are not a valid JSON string". Anthropic:
    "tool_use.input: Input should be a valid dictionary", an error. The notations of XML are those of chat
    templates and parsers (vLLM, SGLang, read 2026-11).
"""

from collections.abc import Iterator
from json import loads

from turnlint.api import (
    Asked,
    Case,
    Example,
    Finding,
    Fix,
    Parsed,
    Put,
    Raw,
    Rule,
    Severity,
    called,
    converted,
    kept_raw,
    parsed_arguments,
)

RULE = Rule("ST106", "unreadable-arguments", "warning", fix="lossless", triggers=frozenset({"arguments"}))

BAD = (
    Example("""
        user       What is 15 times 4?
        assistant
          call     c1 calculate raw:15 * 4             <- ST106
          result   c1 60
        assistant  60.
    """, wires=("openai-chat",)),
    Example("""
        user       What is 15 times 4?
        assistant
          call     c1 calculate raw:["15 * 4"]         <- ST106
          result   c1 60
        assistant  60.
    """),
    Example("""
        user       What is 15 times 4?
        assistant
          call     c1 calculate raw:<left>15</left><right>4</right>             <- ST106
          result   c1 60
        assistant  60.
    """, wires=("openai-chat",)),
)  # fmt: skip
GOOD = (
    Example("""
        user       What time is it?
        assistant
          call     c1 get_time raw:
          result   c1 18:04
        assistant  Four past six.
    """, wires=("openai-chat",)),
    Raw(
        "openai-chat",
        b'{"messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "custom",'
        b' "custom": {"name": "patch", "input": "*** Begin"}}]}, {"role": "tool", "tool_call_id": "c1",'
        b' "content": "ok"}]}\n',
    ),
)  # fmt: skip
MESSAGES: dict[str, tuple[Severity, str]] = {
    "broken": ("warning", "are not valid JSON"),
    "other": ("warning", "are valid JSON, but not an object"),
    "unfit": ("error", "are not an object"),
}


def check(case: Case) -> Iterator[Finding]:
    for interaction in case.ledger.interactions:
        call = interaction.asked.call
        message = MESSAGES.get(call.arguments)
        if message is not None and not case.is_no_object(interaction.asked):
            severity, text = message
            parsed = parsed_arguments(case, interaction.asked)
            yield RULE.at_call(
                case,
                interaction.asked,
                f"the arguments of {called(call)} {_named(parsed) if parsed else text}",
                key="body",
                severity=severity,
                fix=_fix(case, interaction.asked, parsed),
            )


def _named(parsed: Parsed) -> str:
    """Return the notation of arguments, in words, and why they have no clear reading."""
    reason = f": {parsed.reason}" if parsed.reason else ""
    return f"are {parsed.parser.title}, not JSON{reason}"


def _fix(case: Case, asked: Asked, parsed: Parsed | None) -> Fix | None:
    """Return the repair: the object that a string contains, otherwise an object that keeps the old value."""
    if parsed is not None:
        return converted(case, asked, parsed) or kept_raw(case, asked)
    call = asked.call
    place = (*call.at, *call.keys.body)
    value = case.said(asked.message, place) if call.arguments == "unfit" else None
    if isinstance(value, str) and _is_object(value):
        return Fix(
            "lossless",
            "replace the string with the object that it contains",
            (Put(place, value.encode(), asked.message),),
        )
    return kept_raw(case, asked)


def _is_object(text: str) -> bool:
    try:
        return isinstance(loads(text), dict)
    except (ValueError, RecursionError):
        return False
