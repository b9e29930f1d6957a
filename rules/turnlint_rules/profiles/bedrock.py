"""The profile of Amazon Bedrock's Converse: requirements of boto3, of the service, and of some models.

Errors of Claude have a prefix, and the `anthropic` profile has their texts. This module contains the
requirements of Converse itself, with former character sets of ids and names. InvokeModel is not covered: it
has other wires.
"""

from turnlint.api import (
    AnyClause,
    ArgumentsEncoding,
    BlockAfterCall,
    Capabilities,
    EmptyContent,
    EmptyRequest,
    IdCharset,
    IdCollision,
    IdForm,
    IdLength,
    IdUnique,
    LastMessage,
    NameForm,
    Profile,
    ResultContent,
    ResultNotFirst,
    ResultsTogether,
    RoleOrder,
    ThinkingForm,
    ToolsMissing,
    TrailingSpace,
    UnknownKey,
    Weight,
    accepted_format,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._anthropic_texts import NO_PREFILL, mid_system
from turnlint_rules.profiles._bedrock_texts import KNOWN

_CLAUDE = "claude|anthropic"
_MISTRAL = "mistral|ministral|magistral|pixtral|voxtral|devstral"
_WRITER = "writer|palmyra"
_NOVA = r"amazon\.nova"
_OTHERS = f"^(?!.*(?:{_MISTRAL}|{_WRITER}))"
_ARN = "^arn:"
"""A profile of the client, which does not show the vendor of its model."""
_ANY_FIRST = f"{_CLAUDE}|qwen|zai|glm|moonshot|kimi|{_ARN}"

_BY_CLAUDE = "The model returned the following errors: "
_NO_PREFILL_WITH_TOOLS = (
    _BY_CLAUDE
    + "Your API request included an `assistant` message in the final position, which would pre-fill the "
    "`assistant` response. When using tools, pre-filling the `assistant` response is not supported."
)
_AT = "messages.{index}.content.{block}"
_BRACKETS = "messages[{index}].content[{block}]"
"""The service writes paths with dots, boto3 with brackets."""
_EXPECTED = "Expected toolResult blocks at messages.{next}.content for the following Ids: {ids}"
_EXPECTED_ELSEWHERE = _EXPECTED.replace("{next}", "{behind}")
_EXCEEDS = "The number of toolResult blocks at messages.{index}.content exceeds the number of toolUse blocks of previous turn."
_NO_TOOLS = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
_BLANK = (
    f"The text field in the ContentBlock object at {_AT} is blank. Add text to the text field, and try again."
)
_INPUT = f"The format of the value at {_AT}.toolUse.input is invalid. Provide a json object for the field and try again."
_PATTERN = (
    "1 validation error detected: Value at '{{path}}' failed to satisfy constraint: Member must satisfy regular "
    "expression pattern: {pattern}"
)
_LENGTH = (
    "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must have length less than or "
    "equal to 64"
)


def _characters(pattern: str, wants: str, source: str, date: str) -> IdCharset:
    return IdCharset(
        pattern=pattern, wants=wants, says=_PATTERN.format(pattern=pattern), source=source, date=date
    )


def _names(pattern: str, wants: str, source: str, date: str) -> tuple[NameForm, ...]:
    says = _PATTERN.format(pattern=pattern)
    return tuple(
        NameForm(of=of, pattern=pattern, wants=wants, says=says, source=source, date=date)
        for of in ("call", "tool")
    ) + tuple(
        NameForm(of=of, most=64, wants="at most 64 characters", says=_LENGTH, source=source, date=date)
        for of in ("call", "tool")
    )


def _roles(*roles: str, source: str, date: str) -> RoleOrder:
    return RoleOrder(
        roles=roles, source=source, date=date,
        says="1 validation error detected: Value '{role}' at 'messages.{next}.member.role' failed to satisfy constraint: "
        f"Member must satisfy enum value set: [{', '.join(roles)}]",
    )  # fmt: skip


_NOW: tuple[AnyClause, ...] = (
    _characters(
        "[a-zA-Z0-9_.:-]+", "letters, digits, `_`, `.`, `:` and `-`", "botocore 1.43.0 and later", "2026-11"
    ),
    *_names(
        "[a-zA-Z0-9_-]+", "of letters, digits, `_` and `-`", "botocore 1.44.3, shape ToolName", "2026-11"
    ),
    _roles("user", "assistant", "system", source="botocore 1.44.3, shape ConversationRole", date="2026-11"),
)
_IN_2024: tuple[AnyClause, ...] = (
    _characters("[a-zA-Z0-9_-]+", "letters, digits, `_` and `-`", "botocore until 1.41", "2025-10"),
    *_names(
        "[a-zA-Z][a-zA-Z0-9_]*",
        "of letters, digits and `_`, a letter first",
        "botocore until 1.36",
        "2025-02",
    ),
    _roles("user", "assistant", source="public reports", date="2024-12"),
)
_FOR_MISTRAL: tuple[AnyClause, ...] = (
    IdForm(
        pattern="[a-zA-Z0-9]{9}", wants="nine letters and digits", severity="warning", date="2026-09",
        says=_BY_CLAUDE + "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
        source="opencode 48843, live: short ids refused, the service's own long ones taken; vercel/ai 11802: those too",
    ),
    IdCollision(
        keep="[a-zA-Z0-9]", most=9, severity="warning", source="vercel/ai 11863: nine letters and digits are kept",
        date="2026-01",
    ),
)  # fmt: skip
_NO_STATUS = "This model doesn't support the status field. Remove status and try again."
_FIRST_MISTRAL = "mistral-7b|mixtral|mistral-(?:large|small)-24"
_WITHOUT_STATUS: tuple[AnyClause, ...] = (
    UnknownKey(
        place="toolResult", refused=("status",), says=_NO_STATUS, models=f"{_FIRST_MISTRAL}|{_WRITER}", date="2026-11",
        source="public reports, models of Writer and Mistral; strands 554",
    ),
    UnknownKey(
        place="toolResult", refused=("status",), says=_NO_STATUS, other_models=f"{_FIRST_MISTRAL}|{_WRITER}|pixtral",
        severity="warning", source="reported of the first models of Mistral; Pixtral took it in 7defcbf6401ae434", date="2026-11",
    ),
)  # fmt: skip

_ALL: tuple[AnyClause, ...] = (
    IdLength(most=64, says=_LENGTH, source="botocore 1.44.3, shape ToolUseId; litellm 34239", date="2026-11"),
    IdCollision(
        keep="[a-zA-Z0-9_-]", replace="_", most=64, severity="warning", source="litellm 1.109.1, pi-ai 0.73.1",
        date="2026-11",
    ),
    IdUnique(
        of="call", over="request", models=_CLAUDE, date="2026-11", source="Claude's own validators, as on its own wire",
        says=_BY_CLAUDE + "messages.{index}.content.{block}: `tool_use` ids must be unique",
    ),
    ArgumentsEncoding(
        wants="object", says=_INPUT, source="public reports; boto3 lets a text pass (executed)", date="2026-11"
    ),
    ArgumentsEncoding(wants="no-empty-key", says=_INPUT, source="public reports", date="2026-11"),
    ResultsTogether(
        says=_EXPECTED_ELSEWHERE, source="genkit aws-bedrock-js-plugin 664, zeroclaw 1476", date="2026-11"
    ),
    ResultNotFirst(
        models=_CLAUDE, date="2026-11", source="langchain-aws 389, 451",
        says=_BY_CLAUDE + "messages.{next}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}",
    ),
    BlockAfterCall(
        models=_CLAUDE, severity="warning", date="2026-11",
        source="Anthropic's validators answer here too: 610f3c5b201d5b69 was refused on their own wire",
        says=_BY_CLAUDE + "messages.{next}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}",
    ),
    ResultNotFirst(
        alone=True, other_models=f"{_CLAUDE}|{_NOVA}|{_ARN}", unnamed="silent", date="2026-11",
        source="strands 1.62; public reports. Nova and Claude take both (b93e88ee9b6cefa4, 688a5b97caca52bd)",
        says="Conversation blocks and tool result blocks cannot be provided in the same turn.",
    ),
    ResultContent(
        parts=("text", "json", "json-other", "image", "document", "video", "searchResult"), written=("list", "absent"),
        source="botocore 1.44.3, executed: content is a list of these", date="2026-11",
    ),
    ResultContent(
        written=("list", "text", "object", "null", "other"), source="botocore 1.44.3, executed", date="2026-11",
        says=f'Parameter validation failed:\nMissing required parameter in {_BRACKETS}.toolResult: "content"',
    ),
    ResultContent(
        refused=("json-other",), source="public reports, aichat 1550; boto3 lets it pass (executed)", date="2026-11",
        says=f"The format of the value at {_AT}.toolResult.content.0.json is invalid. Provide a json object for the "
        "field and try again.",
    ),
    ResultContent(
        refused=("document", "video"), models=_NOVA, unnamed="silent", severity="warning", date="2026-02",
        says=_BY_CLAUDE + "Malformed input request: #/messages/{index}/content/{block}: extraneous key [toolResult] is not "
        "permitted, please reformat your input and try again.",
        source="recorded 4c6b042a0be13af5, 2f6c9cf2b588ac43, both with an s3Location; pictures were accepted 7 times",
    ),
    EmptyContent(
        what="error-result", source="public reports", date="2026-11",
        says=f"The content field at {_AT}.toolResult cannot be empty when status value is error.",
    ),
    EmptyContent(
        what="empty-text", says=_BLANK, source="public reports; no accepted request has one", date="2026-11",
    ),
    EmptyContent(
        what="white-text", alone=True, models=_CLAUDE, says=_BLANK, date="2026-11",
        source="public reports; no accepted request of Claude has a message of nothing else",
    ),
    EmptyContent(
        what="white-text", severity="warning", says=_BLANK, date="2026-11",
        source="public reports; accepted beside other content on Claude (bcea3a302d23d02e, 5ff4b8b0f3078039) and alone on "
        "Nova (0825075b4d8c2155)",
    ),
    EmptyContent(
        what="message", source="public reports", date="2026-11",
        says="The content field in the Message object at messages.{index} is empty. Add a ContentBlock object to the "
        "content field and try again.",
    ),
    EmptyRequest(
        what="empty", other_models=":prompt/", unnamed="error", date="2026-11", source="none of 723 accepted requests has "
        "an empty list; a stored prompt brings messages of its own (botocore 1.44.3)",
    ),
    TrailingSpace(
        models=_CLAUDE, says=_BY_CLAUDE + "messages: final assistant content cannot end with trailing whitespace",
        source="public reports", date="2026-11",
    ),
    RoleOrder(
        first=("user",), other_models=_ANY_FIRST, source="langchain-aws 238; pydantic-ai 2.66.0, by model", date="2026-11",
        says="A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    ),
    *mid_system(
        behind=_BY_CLAUDE, models=_CLAUDE, severity="warning",
        source="as on Claude's own wire; no request of Converse with such a message is recorded",
    ),
    LastMessage(
        roles=("user", "system"), models=NO_PREFILL, date="2026-09", source="lobehub 12373; Nova and older Claude take one "
        "(e7192bb8734b1e94, f28c111dbb53a459)",
        says=_BY_CLAUDE + "This model does not support assistant message prefill. The conversation must end with a user "
        "message.",
    ),
    LastMessage(
        roles=("user", "system"), after_results=True, models=_CLAUDE, other_models=NO_PREFILL, unnamed="error", date="2026-11",
        says=_NO_PREFILL_WITH_TOOLS, source="recorded 6ef353233be98dbf, 8d8cdcbf90682670, with results in the turn before; "
        "accepted without tools (f28c111dbb53a459)",
    ),
    LastMessage(
        roles=("user", "system"), with_tools=True, models=_CLAUDE, other_models=NO_PREFILL, severity="warning", date="2026-11",
        says=_NO_PREFILL_WITH_TOOLS, source="the text names no results; accepted without them (6ff4cec78051420c)",
    ),
    LastMessage(open_calls=True, says=_EXPECTED, source="public reports", date="2026-11"),
    ToolsMissing(
        empty=True, history=False, source="genkit aws-bedrock-js-plugin 43", date="2025-11",
        says="1 validation error detected: Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length "
        "greater than or equal to 1",
    ),
    ToolsMissing(says=_NO_TOOLS, source="public reports; all 138 accepted requests with calls have it", date="2026-11"),
    ThinkingForm(
        what="unsigned", models=_CLAUDE, source="as on Claude's own wire; Nova's thoughts have none (botocore, recorded)",
        says=f"{_BY_CLAUDE}{_AT}.thinking.signature: Field required", date="2026-11",
    ),
    ThinkingForm(
        what="blank-signature", models=_CLAUDE, source="as on Claude's own wire", date="2026-11",
        says=f"{_BY_CLAUDE}{_AT}: Invalid `signature` in `thinking` block",
    ),
    ThinkingForm(
        what="turn-start", models=_CLAUDE, date="2026-02", source="Roo-Code 11238, langchain-aws 844; all accepted requests with "
        "a budget and calls start with a thought (843b59284ab9846b, e04d89e83707bc5a)",
        says=f"{_BY_CLAUDE}messages.{{index}}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{{kind}}`. "
        "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set "
        "of `tool_use` and `tool_result` blocks).",
    ),
    ThinkingForm(what="unfit-signature", source="botocore 1.44.3, shape ReasoningTextBlock", date="2026-11"),
)  # fmt: skip

_KEYS = {
    "message": "role content",
    "part": "text image document video audio toolUse toolResult guardContent cachePoint reasoningContent "
    "citationsContent searchResult toolAddition toolRemoval",
    "toolUse": "toolUseId name input type",
    "toolResult": "toolUseId content status type",
    "reasoningContent": "reasoningText redactedContent",
    "image": "format source error name",
    "document": "format name source context citations",
    "video": "format source",
    "audio": "format source error",
    "cachePoint": "type ttl",
    "searchResult": "source title content citations",
    "citationsContent": "content citations",
    "guardContent": "text image",
    "toolAddition": "tool",
    "toolRemoval": "tool",
}


def _known_keys() -> tuple[UnknownKey, ...]:
    return tuple(
        UnknownKey(
            place=place, known=tuple(known.split()), severity="warning", date="2026-11",
            says=f'Parameter validation failed:\nUnknown parameter in {{place}}: "{{key}}", must be one of: '
            f"{', '.join(known.split())}",
            source="botocore 1.44.3 refuses it before it is sent; the service took a strange key in an image "
            "(d52599535d958a42, 6cebdcd71bf902cb, eb2c01d06d513744)",
        )
        for place, known in _KEYS.items()
    )  # fmt: skip


def _weights() -> tuple[Weight, ...]:
    """Return the weights of rules about pairs, arguments and names, with the error texts of the service."""
    says = {
        "unanswered-call": _EXPECTED,
        "pending-call": _EXPECTED,
        "misplaced-result": _EXPECTED_ELSEWHERE,
        "orphan-result": _EXCEEDS,
        "result-before-call": _EXCEEDS,
        "duplicate-result": _EXCEEDS,
        "conflicting-results": _EXCEEDS,
        "unreadable-arguments": _INPUT,
        "missing-tool-name": f'Parameter validation failed:\nMissing required parameter in {_BRACKETS}.toolUse: "name"',
    }
    return tuple(
        Weight(rule=rule, says=text, source="public reports, as in the list of known texts", date="2026-11")
        for rule, text in says.items()
    )


def _profile(version: str, about: str, models: str, *own: AnyClause) -> Profile:
    return Profile(
        name="bedrock",
        version=version,
        about=about,
        title="Amazon Bedrock Converse",
        wires=("bedrock",),
        paths="members",
        hosts=("amazonaws.com", "amazonaws.com.cn", "api.aws"),
        models=models,
        capabilities=Capabilities(
            format="bedrock",
            schema="JSON Schema",
            requires_schema=True,
            streaming="contentBlockDelta.delta.toolUse.input",
            quirks=(
                "parallel calls depend on the model",
                "all results of a turn are in the next message; only Claude and Nova accept other content in it",
                "consecutive messages of one role are merged",
                "boto3 rejects missing and unknown keys; it does not check patterns, roles or the type of an input",
            ),
            sources=(
                accepted_format(755),
                source_of(
                    "schema", "streaming", source="botocore 1.43.11, the description of bedrock-runtime"
                ),
                source_of_quirks(
                    "botocore 1.43.11 (executed), and recorded requests, as in the clauses of this profile"
                ),
            ),
        ),
        clauses=(*own, *_ALL, *_known_keys()),
        weights=_weights(),
        known=KNOWN,
    )


PROFILES = (
    _profile("", "the current service, all models except those of Mistral and Writer", _OTHERS, *_NOW),
    _profile("2024", "ids without dots and colons, names that start with a letter", "", *_IN_2024),
    _profile(
        "mistral", "models of Mistral: ids of nine characters, results without a status", _MISTRAL,
        *_NOW, *_FOR_MISTRAL, *_WITHOUT_STATUS,
    ),
    _profile("writer", "models of Writer: results without a status", _WRITER, *_NOW, *_WITHOUT_STATUS),
)  # fmt: skip
