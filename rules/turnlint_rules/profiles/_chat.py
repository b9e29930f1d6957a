"""Table rows that several profiles of the OpenAI wire share, and the functions that build them.

Azure runs OpenAI's validators, and other providers copied their texts. This module defines no profile.
"""

from turnlint.api import (
    AnyClause,
    ArgumentsEncoding,
    CapabilitySource,
    ContentKey,
    ContentKind,
    EmptyRequest,
    IdForm,
    IdLength,
    Known,
    LastMessage,
    NameForm,
    OverLimit,
    RoleOrder,
    Severity,
    ToolsMissing,
    UnknownKey,
    Weight,
)

SAFE = "[a-zA-Z0-9_-]+"
IN_WORDS = "letters, digits, `_` and `-`"
ROLES = ("system", "assistant", "user", "function", "tool", "developer")
STREAM = "choices[].delta.tool_calls[].function.arguments"
CHAT, ANTHROPIC = ("openai-chat",), ("anthropic",)
CHAT_WIRE = CapabilitySource(
    of=("schema", "streaming"), source="openai-openapi f85dbe2, the description of this wire", date="2026-08"
)
VLLM_PARSER = "vLLM 0.33.0, the parser of its models, which reads several calls of a turn"

MISSING = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: {ids}"
)
ORPHAN = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
DUPLICATE = "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{first}] and messages[{index}]."
TOO_LONG = (
    "Invalid '{path}': string too long. Expected a string with maximum length {most}, "
    "but got a string with length {length} instead."
)
PATTERN = (
    "Invalid '{path}': string does not match pattern. "
    "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
)

KEYS: dict[str, tuple[str, ...]] = {
    "system": ("content", "name", "role"),
    "developer": ("content", "name", "role"),
    "user": ("content", "name", "role"),
    "assistant": ("audio", "content", "function_call", "name", "refusal", "role", "tool_calls"),
    "tool": ("content", "name", "role", "tool_call_id"),
    "function": ("content", "name", "role"),
    "call": ("custom", "function", "id", "type"),
    "in-function": ("arguments", "name"),
}
"""Keys of OpenAI's own types (openai 3.51.0); `name` beside a result was accepted (cdb83295ad11d8de)."""


def pairing(
    *, source: str, date: str, missing: str = "", orphan: str = "", duplicate: str = "",
    wires: tuple[str, ...] = (),
) -> tuple[Weight, ...]:  # fmt: skip
    """Return the weights of a provider that matches calls and results, with its texts for mismatches."""
    rows = {
        "unanswered-call": missing, "pending-call": missing, "misplaced-result": missing,
        "orphan-result": orphan, "result-before-call": orphan,
        "duplicate-result": duplicate, "conflicting-results": duplicate,
    }  # fmt: skip
    return tuple(
        Weight(rule=rule, says=says, source=source, date=date, wires=wires)
        for rule, says in rows.items()
        if says
    )


def unchecked(*, source: str, date: str, mild: tuple[str, ...] = ()) -> tuple[Weight, ...]:
    """Return the weights of a provider that does not match calls and results: the model gets them unchanged.

    Warnings of the `mild` rules are infos.
    """
    rules = (
        "unanswered-call", "misplaced-result", "orphan-result", "result-before-call", "duplicate-result",
        "reused-call-id", "replayed-call",
    )  # fmt: skip
    return tuple(
        Weight(rule=rule, severity="warning", mild="info" if rule in mild else None, source=source, date=date)
        for rule in rules
    )


def unlooked(*, source: str, date: str) -> tuple[Weight, ...]:
    """Return the weights of a server on the machine of the user, which checks neither pairs nor ids."""
    more = (
        Weight(rule=rule, severity="warning", source=source, date=date)
        for rule in ("conflicting-results", "missing-call-id")
    )
    return (*unchecked(source=source, date=date), *more)


def allowed(
    keys: dict[str, tuple[str, ...]], *, says: str, source: str, date: str, severity: Severity = "error",
    wires: tuple[str, ...] = (),
) -> tuple[UnknownKey, ...]:  # fmt: skip
    """Return the clauses with the accepted keys of messages of each role, of calls, and of `function`."""
    places = {"call": "call", "in-function": "function"}
    return tuple(
        UnknownKey(
            place=places.get(name, "message"), roles=() if name in places else (name,), known=known,
            says=says, source=source, date=date, severity=severity, wires=wires,
        )
        for name, known in keys.items()
    )  # fmt: skip


def without(keys: dict[str, tuple[str, ...]], *roles: str, **more: tuple[str, ...]) -> dict[str, tuple[str, ...]]:  # fmt: skip
    """Return the keys without those of some roles, and with more keys for others."""
    return {
        name: tuple(sorted({*known, *more.get(name, ())}))
        for name, known in keys.items()
        if name not in roles
    }


def no_messages(
    *, source: str, date: str, empty: str = "", absent: str = "", severity: Severity = "error",
    wires: tuple[str, ...] = CHAT, elsewhere: tuple[str, ...] = (),
) -> tuple[EmptyRequest, ...]:  # fmt: skip
    """Return the clauses for a request without messages, with the texts for an empty and an absent list."""
    return (
        EmptyRequest(
            what="empty",
            says=empty,
            source=source,
            date=date,
            severity=severity,
            wires=wires,
            elsewhere=elsewhere,
        ),
        EmptyRequest(what="absent", says=absent, source=source, date=date, severity=severity, wires=wires),
    )


NO_MESSAGES = no_messages(
    source="no accepted request of this wire, about 8,700 of twelve providers, is without messages",
    date="2026-11",
)


def id_length(most: int, *, source: str, date: str, severity: Severity = "error") -> IdLength:
    return IdLength(most=most, says=TOO_LONG, source=source, date=date, severity=severity)


def nine(*, says: str, source: str, date: str, severity: Severity = "error", models: str = "") -> IdForm:
    """Return the clause for Mistral's format of ids, which its templates also require on other servers."""
    return IdForm(
        pattern="[a-zA-Z0-9]{9}", wants="nine letters and digits", required=not models, says=says,
        source=source, date=date, severity=severity, models=models,
    )  # fmt: skip


def native_kimi(*, source: str, date: str, models: str = "") -> IdForm:
    """Return the clause for the ids in the training of Kimi K2. Others are accepted, but calls get worse."""
    return IdForm(
        pattern=r"(functions\.)?[\w.$-]+:\d+", wants="`functions.NAME:N`, where N counts all calls from 0",
        global_count=True, severity="warning", source=source, date=date, models=models,
    )  # fmt: skip


_SPEC = "openai-openapi f85dbe2; openai 3.51.0"


def _images(role: str) -> ContentKind:
    """Return the clause about images in messages of a role other than `user`."""
    return ContentKind(
        role=role, refused=("image_url",), severity="warning", date="2026-11",
        says="Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role 'user', but this message with role "
        f"'{role}' contains an image URL.",
        source="recorded df6f279d0c7a1b19 for results, openai-node 1030 for an assistant message; no accepted request has an image "
        "in such a message",
    )  # fmt: skip


OPENAI_CLAUSES: tuple[AnyClause, ...] = (
    *no_messages(
        empty="Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        absent="Missing required parameter: 'messages'.", source="CopilotKit 529; openai 3.51.0", date="2026-11",
    ),
    ToolsMissing(
        empty=True, history=False, source="openai-openapi f85dbe2", date="2026-08",
        says="Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ),
    ContentKey(
        what="result-name", roles=("function",), source="recorded c0e5c02f0158bb42", date="2025-12",
        says="Missing parameter 'name': messages with role 'function' must have a 'name'.",
    ),
    NameForm(
        of="call", pattern=SAFE, wants=IN_WORDS, says=PATTERN, date="2026-08",
        source=f"{_SPEC}; live capture stored:61511184616",
    ),
    NameForm(of="call", most=64, says=TOO_LONG, source=f"{_SPEC}, FunctionObject.name", date="2026-08"),
    NameForm(of="tool", pattern=SAFE, wants=IN_WORDS, says=PATTERN, source=_SPEC, date="2026-08"),
    NameForm(of="tool", most=64, says=TOO_LONG, source=_SPEC, date="2026-08"),
    NameForm(of="author", pattern=SAFE, wants=IN_WORDS, says=PATTERN, source="stored:48303386668", date="2026-11"),
    NameForm(of="result", pattern=SAFE, wants=IN_WORDS, says=PATTERN, source="stored:48303386668", date="2026-11"),
    ArgumentsEncoding(
        wants="text", says="Invalid type for '{path}': expected a string, but got an object instead.",
        source="live capture stored:61511184616; nine requests with a text that is no JSON were accepted, "
        "such as bde57792f76e592e", date="2026-08",
    ),
    ContentKey(
        what="content", kinds=("null", "absent"), roles=("assistant",), with_calls=False,
        says="Invalid value for 'content': expected a string, got null.",
        source="live capture stored:61511184616; null and absent beside calls were accepted 1,383 times", date="2026-08",
    ),
    ContentKey(
        what="content", kinds=("null",), roles=("system", "developer", "user", "tool"),
        says="Invalid value for 'content': expected a string, got null.",
        source="live capture stored:61511184616", date="2026-08",
    ),
    ContentKey(
        what="content", kinds=("absent",), roles=("system", "developer", "user", "tool"),
        says="Missing required parameter: 'messages[{index}].content'.",
        source="live capture stored:61511184616", date="2026-08",
    ),
    ContentKey(
        what="call-type", says="Missing required parameter: '{path}.type'.", source="langchain-azure 35", date="2026-11"
    ),
    ContentKey(
        what="calls", source="live capture stored:61511184616", date="2026-08",
        says="Invalid 'messages[{index}].tool_calls': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
    ),
    OverLimit(
        what="calls", most=128, source="openai-dotnet 317, copilot-cli 669", date="2025-11",
        says="Invalid 'messages[{index}].tool_calls': array too long. Expected an array with maximum length {most}, "
        "but got an array with length {count} instead.",
    ),
    OverLimit(
        what="tools", most=128, source="openai-openapi f85dbe2; Tools4AI 16, zed 32946", date="2026-08",
        says="Invalid 'tools': array too long. Expected an array with maximum length {most}, "
        "but got an array with length {count} instead.",
    ),
    RoleOrder(
        roles=ROLES, source="live capture stored:61511184616", date="2026-08",
        says="Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', "
        "and 'developer'.",
    ),
    LastMessage(open_calls=True, says=MISSING, source="recorded 640045b2ab2a78f1", date="2026-11"),
    _images("system"),
    _images("developer"),
    UnknownKey(
        place="message", severity="warning", says="Unknown parameter: '{path}'.", date="2026-11",
        refused=("reasoning_content", "reasoning_signature", "thinking_blocks"),
        source="reports; older models ignore them: refused by current models",
    ),
)  # fmt: skip
OPENAI_WEIGHTS = (
    Weight(
        rule="malformed-message", at="message", source="recorded 26cfbd28a89c5133", date="2026-11",
        says="Invalid type for 'messages[{index}]': expected an object, but got {kind} instead.",
    ),
    Weight(
        rule="malformed-message", at="content", source="recorded cb06787a1f0c4175", date="2026-11",
        says="Invalid type for 'messages[{index}].content': expected one of a string or array of objects, but got {kind} "
        "instead.",
    ),
    *pairing(
        missing=MISSING, orphan=ORPHAN, duplicate=DUPLICATE, date="2026-11",
        source="recorded 8ce17577974dac49 and 640045b2ab2a78f1; GhidrAssist 45; agno 5116",
    ),
    Weight(
        rule="missing-call-id", severity="error", says="Missing required parameter: '{path}'.",
        source="openai-openapi f85dbe2", date="2026-08",
    ),
    Weight(
        rule="reused-call-id", mild="info", date="2026-11",
        source="the id of another call, used again in a later turn, was accepted: recorded 31ca6daa99ff8ea3",
    ),
    Weight(
        rule="unreadable-arguments", mild="info", date="2026-11",
        source="a text that is never parsed: recorded bde57792f76e592e and 8 more",
    ),
)  # fmt: skip

_IDS = r"(?P<ids>[\w:|=+/-]+(?:\.[\w:|=+/-]+)*(?:, [\w:|=+/-]+(?:\.[\w:|=+/-]+)*)*)"
_Q = r"\\?['‘’]?"
_PATH = r"(?P<path>messages\[(?P<index>\d+)\]"
OPENAI_KNOWN = (
    Known(
        pattern=rf"(?<!nvalid request: )\bAn assistant message with {_Q}tool_calls{_Q} must be followed by tool messages "
        rf"responding to each {_Q}tool_call_id{_Q}(?:\.(?!\s*\(insufficient)|(?=\W*$))"
        rf"(?:\s+The following tool_call_ids did not have response messages: {_IDS})?",
        rules=("PA201", "PA203", "PA206", "PA202", "PA204", "PA205", "PR311"), date="2026-11",
        sample="An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: call_PhKwFaRyuF54ysE7rufWae9v",
        source="recorded 8ce17577974dac49",
    ),
    Known(
        pattern=rf"\bmessages with role {_Q}tool{_Q} must be a response to a preceeding message with {_Q}tool_calls",
        rules=("PA202", "PA204", "PA203", "PR318", "PA201"), source="GhidrAssist 45", date="2025-09",
        sample="Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
        "'tool_calls'.",
    ),
    Known(
        pattern=rf"{_Q}tool_call_id{_Q} of {_Q}(?P<ids>[^'‘’]{{0,500}}?){_Q} not found in {_Q}tool_calls{_Q} of previous message",
        rules=("PA202", "PA203", "ST104"), source="public reports", date="2026-11",
        sample="Invalid parameter: 'tool_call_id' of 'call_x' not found in 'tool_calls' of previous message.",
    ),
    Known(
        pattern=rf"Duplicate value for {_Q}tool_call_id{_Q} of {_Q}(?P<ids>[^'‘’,]{{0,500}}){_Q}, in messages.(?P<index>\d+)",
        rules=("PA205", "ST107", "ST109", "ST108"), source="agno 5116, search2ai 30", date="2025-10",
        sample="Invalid parameter: Duplicate value for 'tool_call_id' of 'call_x', in messages[7] and messages[8].",
    ),
    Known(
        pattern=rf"Invalid {_Q}{_PATH}\.(?:tool_calls\[\d+\]\.id|tool_call_id)){_Q}: string too long",
        rules=("PR302",), source="autogen 6377, litellm 11392, azure-dev 7324", date="2026-03",
        sample="Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, "
        "but got a string with length 41 instead.",
    ),
    Known(
        pattern=rf"Invalid {_Q}(?P<path>messages\[(?P<index>\d+)\]\.tool_calls\[\d+\]\.function\.name|"
        rf"tools\[\d+\]\.function\.name|messages\[\d+\]\.name){_Q}: (?:string|empty string)",
        rules=("PR306", "ST105"), source="live capture stored:61511184616; stored:48303386668", date="2026-08",
        sample="Invalid 'messages[9].tool_calls[0].function.name': string does not match pattern. Expected a string "
        "that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ),
    Known(
        pattern=rf"Invalid type for {_Q}{_PATH}\.tool_calls\[\d+\]\.function\.arguments){_Q}: expected a string",
        rules=("PR307",), source="live capture stored:61511184616", date="2026-08",
        sample="Invalid type for 'messages[2].tool_calls[0].function.arguments': expected a string, but got an object "
        "instead.",
    ),
    Known(
        pattern=rf"Invalid {_Q}{_PATH}\.tool_calls){_Q}: empty array", rules=("PR318", "PA202"), date="2026-08",
        sample="Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        source="live capture stored:61511184616", about="an assistant message has an empty list of calls: omit the key",
    ),
    Known(
        pattern=rf"Invalid {_Q}(?P<path>(?:messages\[(?P<index>\d+)\]\.tool_calls|tools)){_Q}: array too long",
        rules=("PR319",), source="openai-dotnet 317, copilot-cli 669, Tools4AI 16", date="2025-11",
        sample="Invalid 'messages[21].tool_calls': array too long. Expected an array with maximum length 128, but got "
        "an array with length 131 instead.",
    ),
    Known(
        pattern=rf"Invalid {_Q}tools{_Q}: empty array", rules=("PR316",), source="openai-openapi f85dbe2", date="2026-08",
        sample="Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        status="templated",
    ),
    Known(
        pattern=rf"Invalid value for {_Q}content{_Q}: expected a string, got null", rules=("PR318",), date="2026-08",
        sample="Invalid value for 'content': expected a string, got null.", source="live capture stored:61511184616",
    ),
    Known(
        pattern=rf"Missing required parameter: {_Q}{_PATH}\.(?:content|tool_call_id|role|tool_calls\[\d+\]\.\w+)){_Q}",
        rules=("PR318", "ST104", "ST105", "ST103"), source="live capture stored:61511184616; langchain-azure 35",
        date="2026-08", sample="Missing required parameter: 'messages[2].tool_calls[0].type'.",
    ),
    Known(
        pattern=r"Missing parameter .?name.?: messages with role .?function.? must have a .?name", rules=("ST105",),
        sample="Missing parameter 'name': messages with role 'function' must have a 'name'.",
        source="recorded c0e5c02f0158bb42", date="2026-11",
    ),
    Known(
        pattern=rf"Invalid {_Q}{_PATH}){_Q}\. (?:Image URLs are only allowed|Content blocks are expected to be either text)",
        rules=("PR321", "PR325", "ST116"), source="recorded df6f279d0c7a1b19", date="2026-11",
        sample="Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with "
        "role 'tool' contains an image URL.",
    ),
    Known(
        pattern=rf"Invalid type for {_Q}{_PATH}\.content){_Q}: expected one of a string or array of objects",
        rules=("ST103",), source="recorded 4a701ec87220729f", date="2026-11",
        sample="Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an object "
        "instead.",
    ),
    Known(
        pattern=r"Invalid value: .?(?P<role>\w*).?\. Supported values are: .?system.?, .?assistant.?, .?user.?, .?function",
        rules=("ST103", "PR310", "ST116"), source="live capture stored:61511184616", date="2026-08",
        sample="Invalid value: 'bogus'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and "
        "'developer'.",
    ),
    Known(
        pattern=r"Invalid value: .?(?P<kind>[\w-]*).?\. Supported values are: .?text.?, .?image_url", rules=("ST116", "PR321"),
        sample="Invalid value: 'pdf'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and "
        "'file'.",
        source="recorded 7eb46d0729d3084f", date="2026-11", about="a content part has a type that this API does not have",
    ),
    Known(
        pattern=rf"Unknown parameter: {_Q}{_PATH}[^'‘’]*)", rules=("PR317", "ST116"), source="public reports",
        sample="Unknown parameter: 'messages[1].reasoning_signature'.", date="2026-11",
    ),
)  # fmt: skip
