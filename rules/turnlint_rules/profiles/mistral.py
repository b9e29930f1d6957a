"""The profiles of Mistral's hosted API and of the validators of mistral-common, by version of the tokenizer.

The hosted API requires ids of nine letters and digits and a fixed order of roles. Servers with mistral-common
validate by the tokenizer of the model. `@v3` to `@v15` are its validators, executed in serving mode; `@v1` is
valid for v1 and v2.
"""

from turnlint.api import (
    AnyClause,
    Capabilities,
    ContentKey,
    EmptyContent,
    IdCollision,
    IdForm,
    IdUnique,
    Known,
    LastMessage,
    NameForm,
    Profile,
    ResultContent,
    RoleOrder,
    ThinkingForm,
    Weight,
    accepted_format,
    accepted_parallel_calls,
    accepted_switch,
    accepted_without_tools,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import IN_WORDS, SAFE, allowed, nine, no_messages, pairing

_EXECUTED = "mistral-common 1.13.0, executed"
_DATE = "2026-11"
_NAME = (
    "Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, "
    "with a maximum length of 64."
)
_ID = "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
_LAST = "Expected last role User or Tool (or Assistant with prefix) for serving but got {role}"
_COUNT = "Not the same number of function calls and responses"
_ORDER = "Unexpected role '{role}' after role '{after}'"
_NO_MESSAGES = "Conversation must have at least one message"
_NO_ID, _NO_ID_OF_CALL = "Tool call id has to be defined.", "Tool call id has to be defined in serving mode."
_EITHER = "Assistant message must have either content or tool_calls, but not both."
_NO_TEXT = (
    '[{{"type": "string_type", "loc": ["body", "messages", {index}, "{role}", "content", "str"], "msg": "Input should be a '
    'valid string", "input": …}}'
)
_NO_LIST = (
    '{{"type": "list_type", "loc": ["body", "messages", {index}, "{role}", "content", "list[tagged-union[KINDS]]"], "msg": '
    '"Input should be a valid list", "input": …}}'
)
_SERVED = ("system", "user", "tool", "prefix")

_DECLARED = NameForm(
    of="tool", pattern=SAFE, most=64, wants=IN_WORDS, says=_NAME, source=_EXECUTED, date=_DATE
)
_NAMES = tuple(
    NameForm(of=of, pattern=SAFE, most=64, wants=IN_WORDS, says=_NAME, source=_EXECUTED, date=_DATE)
    for of in ("call", "result")
)
_HOSTED_NAMES = tuple(
    NameForm(
        of=of, pattern=SAFE, most=64, wants=IN_WORDS, says=_NAME, date=_DATE, severity="warning",
        source=f"{_EXECUTED}; the hosted API took a call with another name (ec567cb5cee319fe, 7c9d1b2f98bc7bc4)",
    )
    for of in ("call", "result")
)  # fmt: skip
_CLAUSES: tuple[AnyClause, ...] = (
    _DECLARED,
    *no_messages(
        source=f"{_EXECUTED}; mistralai 3.7.0; none of 789 accepted requests is without messages", date=_DATE,
        empty=_NO_MESSAGES, wires=("mistral", "openai-chat"),
    ),
    RoleOrder(
        role="tool", only_after=("assistant", "tool", "start"), says=_ORDER, date=_DATE,
        source=f"{_EXECUTED}; mistral-inference 135, crush 279",
    ),
    RoleOrder(
        role="system", after=("assistant", "tool"), says=_ORDER, date=_DATE,
        source=f"{_EXECUTED}; recorded 794aa3b4506cc972, ed7ad341dda2f362, f5bcf8c0b5ba82bd",
    ),
    RoleOrder(
        needs=("system", "user", "assistant"), source=_EXECUTED, date=_DATE,
        says="Conversation must start with a user message or system message",
    ),
    LastMessage(
        only_prefix=True, says="Assistant message with prefix True must be last message", source=_EXECUTED, date=_DATE
    ),
)  # fmt: skip
"""Clauses of all versions."""
_COUNTED = RoleOrder(
    role="call", after=("start",), says="Not the same number of function calls and responses", date=_DATE,
    source=f"{_EXECUTED}: calls of a first message are not counted, so that their results are too many",
)  # fmt: skip

_HOSTED: tuple[AnyClause, ...] = (
    nine(says=_ID, source="eca 233, opencode 1680; 385 of 385 accepted requests", date="2026-08"),
    IdCollision(
        keep="[a-zA-Z0-9]", most=9, severity="warning", source="vercel/ai 16183: the first nine are kept",
        date=_DATE,
    ),
    IdUnique(
        over="message", severity="warning", source=f"{_EXECUTED}, from v11 on", date=_DATE,
        says="Duplicate tool call id {id} in assistant message",
    ),
    RoleOrder(
        role="user", after=("tool",), severity="warning", says=_ORDER, date="2026-08",
        source="avante 2695, datapizza-ai 98, pipecat-flows 178; accepted in a6fe070726002a21 and three more",
    ),
    RoleOrder(
        roles=("system", "user", "assistant", "tool"), source="mistralai 3.7.0, ChatCompletionRequest", date=_DATE
    ),
    LastMessage(
        roles=_SERVED, open_calls=True, date="2025-12", source=f"rig 1130, AiNiee 641; {_EXECUTED}",
        says="Expected last role User or Tool (or Assistant with prefix True) for serving but got {role}",
    ),
    EmptyContent(
        what="message", roles=("assistant",), source="OpenHands 8685, solbrowse 16", date="2025-06",
        says="Assistant message must have either content or tool_calls, but not none.",
    ),
    ContentKey(
        what="content", kinds=("absent",), roles=("system", "user", "tool"), date=_DATE,
        source="mistralai 3.7.0: required in these messages",
    ),
    *allowed(
        {
            "system": ("content", "role"), "user": ("content", "role"),
            "assistant": ("content", "prefix", "role", "tool_calls"),
            "tool": ("content", "name", "role", "tool_call_id"),
            "call": ("function", "id", "index", "type"), "in-function": ("arguments", "name"),
        },
        says='{{"type": "extra_forbidden", "loc": ["body", "messages", {index}, "{role}", "{key}"], '
        '"msg": "Extra inputs are not permitted"}}',
        source="mistralai 3.7.0; `index` accepted in 993f6939b2a73a58; 422 in public reports", date=_DATE,
    ),
)  # fmt: skip


def _no_ids(*, source: str, of_call: str = _NO_ID_OF_CALL, of_result: str = _NO_ID) -> tuple[Weight, ...]:
    """Return the weights for a call and for a result without an id, which have different error texts."""
    return tuple(
        Weight(rule="missing-call-id", found=kind, severity="error", says=says, source=source, date=_DATE)
        for kind, says in (("tool", of_result), ("", of_call))
    )


_HOSTED_WEIGHTS = (
    *pairing(missing=_COUNT, orphan=_COUNT, duplicate=_COUNT, date=_DATE, source="client-ts 106, camel 1467; code 3230"),
    *_no_ids(source=f"mistral-go 8, vercel/ai 2477, autogen 2735; code 3280; {_EXECUTED}"),
    Weight(
        rule="malformed-message", at="content", found="an object", role="user", date=_DATE,
        source="recorded c0ca61a23ba9361e, 3661fa5d99ebe47d, 9dc3c6e390bff38e; `…` replaces the content, which a report does not repeat",
        says=_NO_TEXT + ", " + _NO_LIST.replace("KINDS", "TextChunk,ImageURLChunk,DocumentURLChunk,ReferenceChunk,BBoxChunk,"
        "FileURLChunk,AudioChunk") + "]",
    ),
    Weight(
        rule="malformed-message", at="content", found="an object", date=_DATE,
        source="as in messages of users (c0ca61a23ba9361e); the kinds of content of the role are not known",
        says=_NO_TEXT + ", " + _NO_LIST.replace("KINDS", "…") + "]",
    ),
    Weight(
        rule="name-mismatch", severity="info", date="2026-11",
        source="15 recorded requests with another name in their results were accepted",
    ),
)  # fmt: skip


def _last() -> LastMessage:
    return LastMessage(roles=_SERVED, open_calls=True, says=_LAST, source=_EXECUTED, date=_DATE)


def _either() -> tuple[AnyClause, ...]:
    """Return the clauses that require either content or calls in an assistant message, but not both."""
    return (
        ContentKey(
            what="content", kinds=("text", "parts"), roles=("assistant",), with_calls=True, says=_EITHER,
            source=_EXECUTED, date=_DATE,
        ),
        EmptyContent(what="message", roles=("assistant",), says=_EITHER, source=_EXECUTED, date=_DATE),
    )  # fmt: skip


def _texts_only(*, thoughts: bool) -> tuple[AnyClause, ...]:
    """Return the clauses that reject an image in a result (before v15) and thinking (before v11)."""
    image = ResultContent(
        refused=("image_url",), says="Unexpected content chunk types in tool message: ['ImageURLChunk']",
        source=_EXECUTED, date=_DATE,
    )  # fmt: skip
    thought = ThinkingForm(
        what="taken", says="Unexpected content chunk types in assistant message: ['ThinkChunk']",
        source=_EXECUTED, date=_DATE,
    )  # fmt: skip
    return (image,) if thoughts else (image, thought)


def _nine() -> IdForm:
    return nine(says=_ID, source=_EXECUTED, date=_DATE)


def _any_id() -> IdForm:
    return IdForm(
        wants="any text but `null`", required=True, source=_EXECUTED, date=_DATE,
        says="Tool call id must be a non-empty string other than 'null' for tokenizer version 13 or newer.",
    )  # fmt: skip


def _unique() -> IdUnique:
    return IdUnique(
        over="message", says="Duplicate tool call id {id} in assistant message", source=_EXECUTED, date=_DATE
    )


def _counted(*, ids: bool) -> tuple[Weight, ...]:
    """Return the weights up to v7, which count results and do not match them: a repeated id is no fault."""
    unread = Weight(rule="missing-call-id", severity="warning", source=_EXECUTED, date=_DATE)
    missing = _no_ids(source=_EXECUTED) if ids else (unread,)
    reused = Weight(rule="reused-call-id", severity="warning", source=_EXECUTED, date=_DATE)
    counted = pairing(missing=_COUNT, orphan=_COUNT, duplicate=_COUNT, source=_EXECUTED, date=_DATE)
    return (*counted, *missing, reused)


def _matched(of_call: str, of_result: str) -> tuple[Weight, ...]:
    pairs = pairing(
        missing=_COUNT, orphan="Unexpected tool call id {id} in tool results",
        duplicate="Duplicate tool call id {id} in tool results", source=_EXECUTED, date=_DATE,
    )  # fmt: skip
    return (*pairs, *_no_ids(source=_EXECUTED, of_call=of_call, of_result=of_result))


_V13_ID = _any_id()
_VERSIONS = (
    ("v1", "tokenizers v1 and v2", (*_either(), *_texts_only(thoughts=False)), _counted(ids=False)),
    ("v3", "tokenizer v3", (_nine(), *_either(), *_texts_only(thoughts=False)), _counted(ids=True)),
    ("v7", "tokenizer v7", (_nine(), *_texts_only(thoughts=False)), _counted(ids=True)),
    (
        "v11", "tokenizer v11", (_nine(), _unique(), *_texts_only(thoughts=True)),
        _matched(_NO_ID_OF_CALL, _NO_ID),
    ),
    ("v13", "tokenizer v13", (_V13_ID, _unique(), *_texts_only(thoughts=True)), _matched(_V13_ID.says, _V13_ID.says)),
    ("v15", "tokenizer v15", (_V13_ID, _unique()), _matched(_V13_ID.says, _V13_ID.says)),
)  # fmt: skip

_KNOWN = (
    Known(
        pattern=r"Tool call id was (?P<ids>.{0,500}?) but must be a-z, A-Z, 0-9, with a length of 9", rules=("PR303", "PR304"),
        sample="Tool call id was call_123 but must be a-z, A-Z, 0-9, with a length of 9.", source=f"eca 233; {_EXECUTED}",
        date="2026-08",
    ),
    Known(
        pattern=r"Tool call id has to be defined in serving mode", rules=("ST104", "PR303"), source=_EXECUTED, date=_DATE,
        sample="Tool call id has to be defined in serving mode.",
    ),
    Known(
        pattern=r"Tool call id must be a non-empty string other than .?null", rules=("ST104", "PR303"), date=_DATE,
        sample="Tool call id must be a non-empty string other than 'null' for tokenizer version 13 or newer.",
        source=_EXECUTED,
    ),
    Known(
        pattern=r"Tool call id has to be defined\.?(?! in serving)", rules=("ST104", "PR318", "PA202"), date=_DATE,
        sample="Tool call id has to be defined.", source=f"mistral-go 8; {_EXECUTED}",
    ),
    Known(
        pattern=r"Function name was (?P<name>.{0,500}?) but must be a-z, A-Z, 0-9, or contain underscores and dashes",
        rules=("PR306", "ST105"), source=_EXECUTED, date=_DATE, sample=_NAME.format(name="a.b"),
    ),
    Known(
        pattern=r"Not the same number of function calls and responses",
        rules=("PA201", "PA206", "PA202", "PA205", "PA203", "ST109", "ST104", "PR311"),
        sample=_COUNT, source=f"client-ts 106, camel 1467; {_EXECUTED}", date=_DATE,
    ),
    Known(
        pattern=r"Duplicate tool call id (?P<ids>\S+) in tool results", rules=("PA205", "ST107", "ST108"), date=_DATE,
        sample="Duplicate tool call id aaaaaaaaa in tool results", source=_EXECUTED,
    ),
    Known(
        pattern=r"Unexpected tool call id (?P<ids>\S+) in tool results", rules=("PA202", "ST104", "PA203"), date=_DATE,
        sample="Unexpected tool call id ccccccccc in tool results", source=_EXECUTED,
    ),
    Known(
        pattern=r"Duplicate tool call id (?P<ids>\S+) in assistant message", rules=("PR305", "ST108", "ST109"), date=_DATE,
        sample="Duplicate tool call id aaaaaaaaa in assistant message", source=_EXECUTED,
    ),
    Known(
        pattern=r"Unexpected role .?(?P<role>\w+).? after role .?(?P<after>\w+)", source="recorded 794aa3b4506cc972",
        rules=("PR310", "PA202", "PA203", "PA204"), sample="Unexpected role 'system' after role 'assistant'", date=_DATE,
    ),
    Known(
        pattern=r"Unexpected role RoleEnum\.(?P<role>\w+)", rules=("PR310", "PA202"), sample="Unexpected role RoleEnum.tool",
        source="mistral-inference 135", date="2024-03",
    ),
    Known(
        pattern=_NO_MESSAGES, rules=("PR323",), sample=_NO_MESSAGES, source=_EXECUTED, date=_DATE,
    ),
    Known(
        pattern=r"Conversation must start with a user message or system message", rules=("PR310", "PA202", "PR311"),
        sample="Conversation must start with a user message or system message", source=_EXECUTED, date=_DATE,
    ),
    Known(
        pattern=r"Expected last role User or Tool(?: \(or Assistant with prefix(?: True)?\) for serving but got (?P<role>\w+))?",
        rules=("PR311", "PA206"), source="rig 1130, AiNiee 641", date="2025-12",
        sample="Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    ),
    Known(
        pattern=r"Assistant message with prefix True must be last message", rules=("PR311",), source=_EXECUTED, date=_DATE,
        sample="Assistant message with prefix True must be last message",
        about="a message with `prefix` is not the last one",
    ),
    Known(
        pattern=r"Assistant message must have either content or tool_calls, but not (?:both|none)",
        rules=("PR318", "PR312", "ST110"), source=f"langchain 21196, OpenHands 8685; {_EXECUTED}", date=_DATE,
        sample="Assistant message must have either content or tool_calls, but not both.",
    ),
    Known(
        pattern=r"Unexpected content chunk types in (?P<role>\w+) message", rules=("PR321", "PR314"), date=_DATE,
        sample="Unexpected content chunk types in tool message: ['ImageURLChunk']", source=_EXECUTED,
    ),
    Known(
        pattern=r"messages\W+(?P<index>\d+)\W+(?:assistant|user|tool|system)\W+\w+.{0,80}?Extra inputs are not permitted|"
        r"extra_forbidden.{0,200}?Extra inputs are not permitted",
        rules=("PR317", "ST116"), source="HTTP 422 in public reports", date=_DATE,
        sample='{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning_content"],'
        '"msg":"Extra inputs are not permitted"}]}',
    ),
    Known(
        pattern=r"string_type\W+loc\W+body\W+messages\W+(?P<index>\d+)\W+\w+\W+content", rules=("ST103", "PR318", "ST116"),
        sample='[{"type": "string_type", "loc": ["body", "messages", 0, "user", "content", "str"], "msg": "Input should be '
        'a valid string"}]',
        source="recorded c0ca61a23ba9361e", date=_DATE, status="abridged",
    ),
)  # fmt: skip


def _capabilities(*more: str) -> Capabilities:
    return Capabilities(
        format="mistral",
        parallel_calls=True,
        parallel_switch="parallel_tool_calls",
        schema="JSON Schema",
        requires_schema=False,
        streaming="whole calls",
        quirks=("arguments are a string or an object", *more),
        sources=(
            accepted_format(817),
            accepted_parallel_calls(182, "fd4c7ab4e45d73fe", 3),
            accepted_switch(22, "e41e93eed2555ff5"),
            source_of("schema", "streaming", source="mistralai 3.7.0, Function and the events of a stream"),
            accepted_without_tools(8, "5544db5ac04f67de"),
            source_of_quirks(),
        ),
    )


PROFILES = (
    Profile(
        name="mistral",
        version="hosted",
        title="Mistral",
        about="the hosted API",
        wires=("mistral", "openai-chat"),
        hosts=("api.mistral.ai", "codestral.mistral.ai"),
        models=r"^((mistral|ministral|codestral|magistral|pixtral|devstral|voxtral)-([a-z0-9.]+-)*(latest|\d{4})"
        r"|open-mi[sx]tral-[a-z0-9-]+)$",
        capabilities=_capabilities("some models reject a user message directly after a result"),
        clauses=(*_CLAUSES, *_HOSTED_NAMES, *_HOSTED),
        weights=_HOSTED_WEIGHTS,
        known=_KNOWN,
    ),
    *(
        Profile(
            name="mistral",
            version=version,
            title="Mistral",
            about=f"servers with mistral-common 1.13, {about}",
            wires=("mistral", "openai-chat"),
            capabilities=_capabilities(),
            clauses=(*_CLAUSES, *_NAMES, _last(), _COUNTED, *clauses),
            weights=weights,
            known=_KNOWN,
        )
        for version, about, clauses, weights in _VERSIONS
    ),
)
