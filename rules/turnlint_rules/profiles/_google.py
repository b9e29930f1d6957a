"""Clauses, weights and texts that the profiles of the Gemini API and of Vertex AI share.

Each of the two profiles adds its differences. This module defines no profile.
"""

import re

from turnlint.api import (
    ArgumentsEncoding,
    Capabilities,
    CapabilitySource,
    Known,
    LastMessage,
    NameForm,
    ResultContent,
    ResultNotFirst,
    ResultsTogether,
    RoleOrder,
    Severity,
    ThoughtSignature,
    UnknownKey,
    Weight,
    accepted_without_tools,
    source_of,
    source_of_quirks,
)

GEMINI_3 = r"gemini-(?:[3-9]|\d\d)"
GEMINI_2 = r"gemini-[12](?!\d)"
OTHERS = r"^(?!.*gemini-\d).*(?:gemini|gemma|learnlm)"
"""Names that do not contain the generation of the model, such as `gemini-flash-latest`."""

_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
_AFTER_CALL = "Please ensure that function response turn comes immediately after a function call turn."
_AFTER_USER = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
_FROM_3_5 = r"gemini-(?:3\.[5-9]|3\.\d\d|[4-9]|\d\d)"
_LAST_3_5 = "Requests ending with a model turn are not supported."
_LAST = "Please ensure that single turn requests end with a user role or the role field is empty."
_ARGUMENTS = "Invalid value at 'contents[{index}].parts[{block}].function_call.args' (type.googleapis.com/google.protobuf.Struct)"
_RESPONSE = (
    "Invalid value at 'contents[{index}].parts[{block}].function_response.response' "
    "(type.googleapis.com/google.protobuf.Struct)"
)
_REPORTS = "gemini-cli, langchain-google and litellm reports"

_BARE = (
    "a turn with no response at all behind it is accepted by 1.5, 2.0 and 2.5, at both services (26 recorded, such as "
    "29d6f0edad9cff2d), and the model may call again"
)

SHARED = (
    NameForm(
        of="tool", pattern="[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}", date="2026-11",
        wants="letters, digits, `_`, `.`, `:` and `-`, a letter or `_` first, at most 128",
        says="Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), "
        "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.",
        source="documentation and google-genai 3.3.0: 128; the text still says 64",
    ),
    NameForm(
        of="tool", most=64, severity="warning", source="older servers", date="2026-11",
        wants="at most 64 characters",
    ),
    NameForm(
        of="tool", unique=True, says="Duplicate function declaration found: {name}", source="public reports, of both",
        date="2026-09",
    ),
    NameForm(
        of="call", pattern="[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}", severity="warning", date="2026-11",
        wants="letters, digits, `_`, `.`, `:` and `-`, a letter or `_` first, at most 128",
        source="the text was only seen for declarations; names of responses are not looked at: 557 accepted ones are "
        "ids of their calls (2ffd5fd134f8ecd9)",
    ),
    ArgumentsEncoding(
        wants="object", optional=True, says=_ARGUMENTS, source="public reports, live with gemini-3.5-flash-lite",
        date="2026-08",
    ),
    ResultContent(
        written=("object", "absent", "null"), says=_RESPONSE, date="2026-08",
        source="public reports; all 1,325 accepted responses are objects",
    ),
    ResultNotFirst(
        alone=True, severity="warning", models=_FROM_3_5, unnamed="silent", says=_LAST_3_5, date="2026-09",
        source="envoyproxy/ai-gateway 2686 (gemini-3.7-flash on Vertex), another report of 3.6; 2.x and the previews of 3 took "
        "texts and pictures beside responses 29 times, such as b03cac6f79c461e2",
    ),
    RoleOrder(
        role="call", only_after=("user", "function", "result", ""), says=_AFTER_USER, source=_REPORTS, date="2026-11",
    ),
    RoleOrder(
        role="result", only_after=("call", "result", "start"), says=_AFTER_CALL, date="2026-11",
        source=f"{_REPORTS}; none of 1,670 accepted requests has anything between",
    ),
    LastMessage(open_calls=True, answered="some", says=_COUNT, source=_REPORTS, date="2026-11"),
    LastMessage(open_calls=True, answered="none", severity="warning", source=_BARE, date="2026-11"),
    LastMessage(
        roles=("user", "function"), severity="warning", models=_FROM_3_5, doubtful="silent", says=_LAST_3_5, date="2026-11",
        source=f"envoyproxy/ai-gateway 2686, {_REPORTS}; 2.0 and 2.5 took a text of the model at the end 43 times, such as "
        "91000a4f3fd66ec9",
    ),
    ThoughtSignature(
        what="unfit", source="google-genai 3.3.0: bytes, written as a text in base64", date="2026-11",
    ),
)  # fmt: skip


def signed(says: str) -> ThoughtSignature:
    return ThoughtSignature(
        what="missing", says=says, date="2026-11", other_models="-image", unnamed="error",
        source="documentation, also that Gemini 3 Pro Image answers without; Gemini 3 took 51 steps back, each with a signed "
        "first call; 2.0 and 2.5 took 767 without",
    )  # fmt: skip


_PARTS = {
    "message": "role parts",
    "part": "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult thought "
    "thoughtSignature videoMetadata mediaResolution toolCall toolResponse partMetadata audioTranscription mediaProcessing "
    "speechMetadata",
    "functionCall": "id name args partialArgs willContinue",
    "functionResponse": "id name response parts willContinue scheduling",
}
_AT = {"message": "", "part": ".parts[{block}]"}


def snake(name: str) -> str:
    """Return a key in snake_case; the servers accept both cases (48061a33a400fe49)."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def keys(severity: Severity, source: str) -> tuple[UnknownKey, ...]:
    """Return the clauses with the keys of contents and parts, in both cases."""
    found = []
    for place, known in _PARTS.items():
        at = _AT.get(place, f".parts[{{block}}].{snake(place)}")
        names = tuple(dict.fromkeys(case for name in known.split() for case in (name, snake(name))))
        found += [
            UnknownKey(
                place=case, known=names, severity=severity, source=source, date="2026-11",
                says=f"Invalid JSON payload received. Unknown name \"{{key}}\" at 'contents[{{index}}]{at}': Cannot find field.",
            )
            for case in dict.fromkeys((place, snake(place)))
        ]  # fmt: skip
    return tuple(found)


def together(*, says: str, source: str, date: str, severity: Severity = "error") -> ResultsTogether:
    return ResultsTogether(says=says or _COUNT, source=source, date=date, severity=severity)


def weights(**more: str) -> tuple[Weight, ...]:
    """Return the weights with the error texts of both services, and with more texts of one service."""
    says = {
        "unanswered-call": _COUNT,
        "pending-call": _COUNT,
        "misplaced-result": _COUNT,
        "duplicate-result": _COUNT,
        "conflicting-results": _COUNT,
        "orphan-result": _AFTER_CALL,
        "result-before-call": _AFTER_CALL,
        "unreadable-arguments": _ARGUMENTS,
        **{rule.replace("_", "-"): text for rule, text in more.items()},
    }
    waiting = (
        Weight(rule=rule, severity="warning", source=_BARE, date="2026-11", when="no-results")
        for rule in ("unanswered-call", "pending-call")
    )
    refused = (Weight(rule=rule, says=text, source=_REPORTS, date="2026-11") for rule, text in says.items())
    twice = Weight(
        rule="reused-call-id", severity="warning", date="2026-11",
        source="553c53127563abd8 was accepted with one id on two calls of a turn",
    )  # fmt: skip
    named = Weight(
        rule="name-mismatch", severity="info", date="2026-11",
        source="responses are counted; 557 accepted ones bear another name, many an id",
    )  # fmt: skip
    role = Weight(
        rule="malformed-message", at="role", says="Please use a valid role: user, model.", date="2026-11",
        source="recorded 84341f026bd262a0, 9960b54e2cadae89, 59bf837e20b5b0d9",
    )  # fmt: skip
    return (*waiting, *refused, named, twice, role)


KNOWN = (
    Known(
        pattern=r"Requests ending with a model turn are not supported", rules=("PR308", "PR311"), date="2026-09",
        sample="Requests ending with a model turn are not supported.", source="envoyproxy/ai-gateway 2686",
    ),
    Known(
        pattern=r"number of function response parts is equal to the number of function call parts",
        rules=("PA201", "PA206", "PR309", "PA202", "PA205", "PA203", "ST107", "PR311"), sample=_COUNT,
        source="gemini-cli 5443, 6513, 6608, 16415, 16984", date="2026-11",
    ),
    Known(
        pattern=r"function call turn comes immediately after a user turn", rules=("PR310", "PA202", "ST110"),
        sample=_AFTER_USER, source=_REPORTS, date="2026-11",
    ),
    Known(
        pattern=r"function response turn comes immediately after a function call turn",
        rules=("PA202", "PA203", "PR310", "PA204", "PR309", "PA205"), sample=_AFTER_CALL, source=_REPORTS, date="2026-11",
    ),
    Known(
        pattern=r"functionResponse\.id does not match functionCall\.id", rules=("PA202", "PA201", "ST104"),
        sample="functionResponse.id does not match functionCall.id", source="CLIProxyAPI 5199", date="2026-11",
    ),
    Known(
        pattern=r"Duplicate function declaration found: (?P<name>\S+)", rules=("PR306",),
        sample="Duplicate function declaration found: web_fetch", source="public reports, of both", date="2026-09",
    ),
    Known(
        pattern=r"Invalid function name\. Must start with a letter or an underscore", rules=("PR306",),
        sample="Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), "
        "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.",
        source="public reports", date="2026-11",
    ),
    Known(
        pattern=r"Invalid value at '?(?P<path>(?:request\.)?contents\[(?P<index>\d+)\][\w.\[\]]*function_call\.args)",
        rules=("ST106", "PR307"), source="public reports, live with gemini-3.5-flash-lite", date="2026-08",
        sample="Invalid value at 'contents[1].parts[0].function_call.args' (type.googleapis.com/google.protobuf.Struct), \"{\"",
    ),
    Known(
        pattern=r"Invalid value at '?(?P<path>(?:request\.)?contents\[(?P<index>\d+)\][\w.\[\]]*function_response\.response)",
        rules=("PR321", "ST103"), source="public reports", date="2026-08",
        sample="Invalid value at 'contents[2].parts[0].function_response.response' "
        '(type.googleapis.com/google.protobuf.Struct), "done"',
    ),
    Known(
        pattern=r"Proto field is not repeating, cannot start list", rules=("PR321", "ST103", "ST106", "PR307"),
        sample="Invalid JSON payload received. Unknown name \"response\" at 'contents[2].parts[0].function_response': Proto "
        "field is not repeating, cannot start list.", source="public reports", date="2026-11",
        about="a list is in place of an object; a list of types in the schema of a tool has the same effect",
    ),
    Known(
        pattern=r"Unknown name \"?(?P<key>[\w-]+)\"? at '?(?P<path>(?:request\.)?contents\[(?P<index>\d+)\][\w.\[\]]*)'?: Cannot",
        rules=("PR317", "ST116"), status="templated", date="2026-11",
        sample="Invalid JSON payload received. Unknown name \"tool_calls\" at 'contents[1]': Cannot find field.",
        source="recorded e089c902cd29ac0d, for another place",
    ),
    Known(
        pattern=r"Corrupted thought signature", rules=("PR320",), sample="Corrupted thought signature.", date="2026-11",
        source="public reports; documentation", about="AI Studio and Vertex reject each other's signatures, and a log "
        "does not show the origin of one: replace it with the bypass word",
    ),
    Known(
        pattern=r"[Ii]nvalid thought[_ ]?[Ss]ignature", rules=("PR320",), sample="Invalid thought signature", date="2026-11",
        source="public reports", about="a signature of another backend, or a truncated one: replace it with the bypass word",
    ),
    Known(
        pattern=r"Request contains an invalid argument", rules=("ST108", "PR305", "PA207"), source="watt-mind/coach 280, tried live",
        sample="Request contains an invalid argument.", date="2026-07",
        about="two calls of one content have the same id, or the name of a response is not a tool; often another setting",
    ),
    Known(
        pattern=r"single turn requests end with a user role", rules=("PR311", "PA206"), sample=_LAST, source=_REPORTS,
        date="2026-11",
    ),
    Known(
        pattern=r"multiturn requests alternate between user and model", rules=("PR310",), date="2026-11",
        sample="Please ensure that multiturn requests alternate between user and model.", source=_REPORTS,
        about="older models; consecutive user contents are accepted now (d9319c7eeddecd8d)",
    ),
    Known(
        pattern=r"Please use a valid role: user, model", rules=("PR310", "ST116", "ST103"), date="2026-11",
        sample="Please use a valid role: user, model.", source="public reports",
        about="on Vertex also if a content has no role",
    ),
    Known(
        pattern=r"input token count \(?(?P<length>\d+)?\)? ?exceeds the maximum number of tokens", rules=(),
        sample="The input token count (1250060) exceeds the maximum number of tokens allowed (1048575).", date="2026-11",
        source="recorded e30eb3a629504913, 748b4b397271e421",
        about="the conversation exceeds the context window of the model; shorten it",
    ),
)  # fmt: skip


def capabilities(*more: str, sources: tuple[CapabilitySource, ...]) -> Capabilities:
    return Capabilities(
        format="gemini",
        parallel_calls=True,
        schema="OpenAPI subset",
        requires_schema=False,
        streaming="whole parts",
        quirks=(
            "without ids, a response belongs to a call by name and order",
            "a response may have any name",
            "keys are accepted in camelCase and snake_case",
            "a single part, content or tool is accepted without a list around it",
            "skip_thought_signature_validator is accepted in place of the signature of a call",
            *more,
        ),
        sources=(
            *sources,
            source_of("schema", source="google-genai 3.3.0, Schema"),
            source_of("streaming", source="8 recorded streams have whole calls, such as 78e229ff96639023"),
            accepted_without_tools(23, "8c5210972c36e9df"),
            source_of_quirks(),
        ),
    )
