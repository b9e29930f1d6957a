"""the history has calls, but the request declares no tools

What it does
    Reports a request whose messages contain calls or results and that declares no tools.

Why it matters
    Some providers reject such a history.

How it happens
    A client requests a summary or a title of the old messages and leaves the tools out to save tokens.

What fix does
    lossless: removes an empty list of tools. Otherwise nothing: the log does not contain the
    declarations. Declare the tools again, or declare a tool that does nothing.

Evidence
    Bedrock: "The toolConfig field must be defined when using toolUse and toolResult content blocks" (many
    reports). Anthropic rejected it at one time ("Requests which include `tool_use` or `tool_result` blocks
    must define tools"). It accepted 12 recorded requests without tools, such as b59990e27f0e4b8e, and
    rejected none.
"""

from collections.abc import Iterator

from turnlint.api import Case, Finding, Fix, Raw, Rule, Take, ToolsMissing, called

RULE = Rule("PR316", "tools-missing", "error", fix="lossless", triggers=frozenset())

_TALK = (
    b'{%s"messages": [{"role": "user", "content": [{"text": "hi"}]}, {"role": "assistant", "content": [{"toolUse": '
    b'{"toolUseId": "t1", "name": "f", "input": {}}}]}, {"role": "user", "content": [{"toolResult": {"toolUseId": '
    b'"t1", "content": [{"text": "ok"}]}}]}], "inferenceConfig": {"maxTokens": 9}}\n'
)  # fmt: skip

BAD = (
    Raw("bedrock", _TALK % b'"modelId": "anthropic.claude-3", ', (("PR316", 1),), provider="bedrock"),
)  # fmt: skip
GOOD = (
    Raw(
        "bedrock",
        _TALK
        % b'"modelId": "anthropic.claude-3", "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]}, ',
        provider="bedrock",
    ),
)


DECLARE = "none; add the tool declarations to the request"


def check(case: Case) -> Iterator[Finding]:
    request = case.transcript.request
    if request is None or not request.whole:
        return
    asked = next((one for one in case.asked if not one.call.server), None)
    for clause in case.clauses(ToolsMissing):
        if clause.empty and request.tools == ():
            whole = request.tools_at[
                : len(request.at) + 1
            ]  # with the object around it, which has no other content
            yield RULE.at_request(
                case, request.tools_at, "`tools` is empty, but the history has calls" if asked else "`tools` is empty", label="empty", under=clause,
                fix=Fix("lossless", "remove the empty list", (Take(whole),)) if asked is None else Fix("lossless", DECLARE),
            )  # fmt: skip
            continue
        if clause.history and asked is not None and not request.tools:
            yield RULE.at_call(
                case, asked, f"the history has {called(asked.call)}, but the request declares no tools",
                key="whole", label="no tools are declared", under=clause,
                fix=Fix("lossless", DECLARE),
            )  # fmt: skip
