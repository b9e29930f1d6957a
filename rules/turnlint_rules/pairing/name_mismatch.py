"""a result names a different tool than its call

What it does
    Reports a result with a tool name that differs from the name in its call. On Gemini and Chat Completions,
    a result whose name is no tool name, such as an id, is only counted in the summary.

Why it matters
    Servers that pair by id ignore the name, but readers of the log are misled. Servers that pair by name and
    order, such as Gemini and Ollama, assign the result to the wrong call.

How it happens
    A framework writes a constant such as `tool` as the name. A tool was renamed between two versions. The
    results of parallel calls were swapped.

What fix does
    lossy: writes the name of the call into the result that has its id. The journal keeps the old name.

Evidence
    The rule is a warning, because Mistral's API accepted 27 recorded results named `tool` for calls with
    other names, such as bebf12395567cb73. Gemini and Vertex accepted 414 requests in which results have an id
    as their name, such as 2ffd5fd134f8ecd9. Gemini pairs by name and order where ids are absent (google-genai
    3.3.0).
"""

from collections.abc import Iterator
from json import dumps

from turnlint.api import (
    Answered,
    Asked,
    Case,
    Example,
    Finding,
    Fix,
    Put,
    Rule,
    is_foreign,
    is_named_otherwise,
    near_call,
    quote,
    tool_names,
)

RULE = Rule("PA207", "name-mismatch", "warning", fix="lossy", triggers=frozenset({"renamed"}))

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          call     c2 read_file {"path": "a.txt"}
          result   c1 (read_file) 18 degrees          <- PA207
          result   c2 (read_file) empty
        assistant  It is 18 degrees.
    """),
)
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 (get_weather) 18 degrees
        assistant  It is 18 degrees.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    names = tool_names(case.transcript, case.ledger)
    for interaction in case.ledger.interactions:
        asked, answer = interaction.asked, interaction.answer
        if answer is not None and is_named_otherwise(interaction):
            if is_foreign(case.transcript, interaction, names):
                continue
            yield RULE.at_result(
                case,
                answer,
                f"the result {_describe_id(answer.result.id or asked.call.id)} names the tool {quote(answer.result.name)}, "
                f"but its call names {quote(asked.call.name)}",
                key="name",
                label="a different tool",
                related=(near_call(case, asked, "its call", key="name"),),
                fix=_fix(asked, answer),
            )


def _fix(asked: Asked, answer: Answered) -> Fix:
    place = (*answer.result.at, *answer.result.keys.name)
    name = dumps(asked.call.name).encode()
    return Fix(
        "lossy",
        "set the name to that of the call",
        (Put(place, name, answer.message),),
    )


def _describe_id(identifier: str | None) -> str:
    return f"for {quote(identifier)}" if identifier else "of a call"
