"""a tool's name does not have the form that the provider wants

What it does
    Reports names of calls, results, declared tools and speakers with characters, a length or a repetition
    that the provider does not take, and server tools that it does not have. A missing name is
    `missing-tool-name`.

Why it matters
    The whole request is refused, at the first such name.

How it happens
    Names with dots, slashes or spaces from MCP servers and plug-ins; a name that one provider takes in
    a history (200 characters at Anthropic) and another does not (64).

What fix does
    Nothing: a name is what the tool is known by. Rename the tool where it is declared, and in the log.

Evidence
    OpenAI: "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'"; Anthropic's API reference,
    and forgecode 892 for "Tool names must be unique"; mistral-common 1.13.0; botocore 1.43.11, shape
    ToolName; google-genai 3.3.0.
"""

import re
from collections.abc import Iterator

from turnlint.api import Case, Example, Finding, NameForm, Rule, quote

RULE = Rule("PR306", "tool-name-form", "error")

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_1 weather.get {"city": "Paris"}   <- PR306
          result   call_1 18 degrees
        assistant  It is 18 degrees.
    """, wires=("openai-chat",), provider="openai"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     call_1 weather-get_2 {"city": "Paris"}
          result   call_1 18 degrees
        assistant  It is 18 degrees.
    """, wires=("openai-chat",), provider="openai"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(NameForm, spelled=False):
        if clause.of in ("call", "server"):
            for asked in case.asked:
                name = asked.call.name
                other = asked.call.server != (clause.of == "server") or (
                    clause.kinds and asked.call.kind not in clause.kinds
                )
                if name and not other and (wrong := _wrong(name, clause)):
                    yield RULE.at_call(
                        case, asked, _named(f"the tool name {quote(name)}", wrong, asked.call.id), key="name",
                        label=wrong, under=clause, told=_told(name, clause),
                    )  # fmt: skip
        elif case.spelled and clause.of == "result":
            for answered, _ in case.answered:
                name = answered.result.name
                if name and (wrong := _wrong(name, clause)):
                    yield RULE.at_result(
                        case, answered, _named(f"the tool name {quote(name)}", wrong, answered.result.id), key="name",
                        label=wrong, under=clause, told=_told(name, clause),
                    )  # fmt: skip
        elif case.spelled and clause.of == "author":
            for index, message in enumerate(case.messages):
                if message.name is not None and (wrong := _wrong(message.name, clause)):
                    yield RULE.at_message(
                        case, index, f"the name {quote(message.name)} of a speaker {wrong}", below=("name",),
                        label=wrong, under=clause, told=_told(message.name, clause),
                    )  # fmt: skip
        elif clause.of == "tool":
            yield from _declared(case, clause)


def _declared(case: Case, clause: NameForm) -> Iterator[Finding]:
    request = case.transcript.request
    seen: set[str] = set()
    for tool in (request.tools if request else None) or ():
        name = tool.name
        if tool.kind != "function" or name is None:
            continue
        wrong = "stands twice" if clause.unique and name in seen else _wrong(name, clause)
        seen.add(name)
        if wrong:
            yield RULE.at_request(
                case, tool.at, f"the declared tool {quote(name)} {wrong}", label=wrong, under=clause,
                told=_told(name, clause),
            )  # fmt: skip


def _wrong(name: str, clause: NameForm) -> str:
    if clause.most and len(name) > clause.most:
        return f"is longer than {clause.most} characters"
    if len(name) < clause.least:
        return f"is shorter than {clause.least} characters"
    if clause.names and name not in clause.names:
        return "is none of this provider's tools"
    if clause.pattern and not re.fullmatch(clause.pattern, name):
        return f"does not have the form: {clause.wants}"
    return ""


def _named(what: str, wrong: str, identifier: str | None) -> str:
    return f"{what} of call {quote(identifier)} {wrong}" if identifier else f"{what} {wrong}"


def _told(name: str, clause: NameForm) -> dict[str, object]:
    return {"name": name, "length": len(name), "most": clause.most}
