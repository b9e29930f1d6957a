"""The profile of the Gemini API of AI Studio: its differences from Vertex. `_google` has the shared rows.

From Gemini 3 on, the first call of each step of the current turn has the signature of the thought before it.
"""

from msgspec import structs

from turnlint.api import (
    AnyClause,
    ContentKey,
    EmptyContent,
    EmptyRequest,
    Known,
    Profile,
    RoleOrder,
    ThoughtSignature,
    accepted_format,
    accepted_parallel_calls,
)
from turnlint_rules.profiles._google import (
    GEMINI_2,
    GEMINI_3,
    KNOWN,
    OTHERS,
    SHARED,
    capabilities,
    keys,
    signed,
    together,
    weights,
)

_NO_PARTS = "* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty."
_NO_CONTENTS = "* GenerateContentRequest.contents: contents is not specified"
_NO_CONTENTS_SOURCE = (
    "recorded 475c5384b77f0207, bf06e413a7f70dde, 440884585e6a37f6; no accepted request is without"
)
_CLAUSES: tuple[AnyClause, ...] = (
    RoleOrder(
        roles=("user", "model", "function", ""), says="Please use a valid role: user, model.", date="2026-11",
        source="public reports; `function` is taken (66acbedbc08930f0), and so is none (57f06a838f65a909)",
    ),
    ContentKey(what="result-name", says="{path}: Name cannot be empty.", source="public reports", date="2026-11"),
    EmptyContent(
        what="no-data", source="FLIT 69 and public reports; none of 2,100 accepted requests has one", date="2026-05",
        says="* GenerateContentRequest.contents[{index}].parts[{block}].data: required oneof field 'data' must have one "
        "initialized field",
    ),
    EmptyContent(
        what="message", roles=("user", "function", ""), says=_NO_PARTS, date="2026-11",
        source="public reports; an empty text beside something else is taken (48061a33a400fe49)",
    ),
    EmptyContent(
        what="message", roles=("model",), severity="warning", says=_NO_PARTS, date="2026-11",
        source="public reports; gemini-2.5-flash took a content of the model without parts between others",
    ),
    together(
        says="", severity="warning", date="2026-11",
        source="gemini-cli 5443, 6513, 16415; accepted in 412845193411b636 and 5a1d4bfab2ecf1a9",
    ),
    EmptyRequest(what="empty", says=_NO_CONTENTS, source=_NO_CONTENTS_SOURCE, date="2026-11"),
    EmptyRequest(what="absent", says=_NO_CONTENTS, source=_NO_CONTENTS_SOURCE, date="2026-11"),
    *keys("error", "recorded e089c902cd29ac0d, for generation_config and the request itself; google-genai 3.3.0"),
)  # fmt: skip
_SIGNED = signed(
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:{name}` , position {next}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for "
    "more details."
)
_SIGNED_CHAT = structs.replace(
    _SIGNED,
    wires=("openai-chat",),
    source="Google's page on its endpoint for Chat Completions; refused there: openai-python 2758, securo 884",
)
_KNOWN = (
    Known(
        pattern=r"is missing a [`'\"]?thought_signature[`'\"]? in functionCall parts"
        r"(?:.*function call [`'\"]?(?:default_api:)?(?P<name>[^`'\" ]+)[`'\"]? ?, position (?P<next>\d+))?",
        rules=("PR320",), source="paws 103, dartantic 86, Antigravity-Manager 938", date="2026-02",
        sample="Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
        "correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call "
        "`default_api:shell` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for "
        "more details.",
    ),
    Known(
        pattern=r"(?P<path>contents\[(?P<index>\d+)\]\.parts\[\d+\]\.function_call\.name): Name cannot be empty",
        rules=("ST105",), source="public reports", date="2026-11",
        sample="* GenerateContentRequest.contents[1].parts[0].function_call.name: Name cannot be empty.",
    ),
    Known(
        pattern=r"(?P<path>contents\[(?P<index>\d+)\]\.parts\[\d+\]\.function_response\.name): Name cannot be empty",
        rules=("PR318",), source="public reports", date="2026-11",
        sample="* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.",
    ),
    Known(
        pattern=r"(?P<path>contents\[(?P<index>\d+)\]\.parts): contents\.parts must not be empty", rules=("PR312", "ST110"),
        sample="* GenerateContentRequest.contents[3].parts: contents.parts must not be empty.", source="public reports",
        date="2026-11",
    ),
    Known(
        pattern=r"(?P<path>contents\[(?P<index>\d+)\]\.parts\[\d+\])\.data: required oneof field", source="public reports",
        rules=("PR312", "ST116", "ST110"), date="2026-11",
        sample="* GenerateContentRequest.contents[21].parts[0].data: required oneof field 'data' must have one initialized "
        "field", about="the part is empty, or is in the format of another provider",
    ),
    Known(
        pattern=r"GenerateContentRequest\.contents: contents is not specified", rules=("PR323", "ST103"), date="2026-11",
        sample="* GenerateContentRequest.contents: contents is not specified", source="public reports",
        about="the request contains no conversation",
    ),
    Known(
        pattern=r"tools\[\d+\]\.tool_type: required one_of", rules=(), source="public reports", date="2026-11",
        sample="tools[0].tool_type: required one_of 'tool_type' must have one initialized field",
        about="an entry in the list of tools declares nothing",
    ),
)  # fmt: skip


def _profile(version: str, about: str, models: str, *signature: ThoughtSignature) -> Profile:
    return Profile(
        name="gemini",
        version=version,
        about=about,
        title="Gemini API",
        wires=("gemini",),
        paths="google",
        hosts=("generativelanguage.googleapis.com",),
        host_wires=("openai-chat",),
        models=models,
        capabilities=capabilities(
            sources=(accepted_format(2105), accepted_parallel_calls(99, "e6aa3a781d391ea8", 5))
        ),
        clauses=(*SHARED, *_CLAUSES, *signature),
        weights=weights(
            missing_tool_name="* GenerateContentRequest.contents[{index}].parts[{block}].function_call.name: Name cannot "
            "be empty."
        ),
        known=(*KNOWN, *_KNOWN),
    )


PROFILES = (
    _profile("", "unknown generation of the model: signatures are not required", OTHERS),
    _profile(
        "3",
        "Gemini 3 and later: calls need thought signatures",
        GEMINI_3,
        _SIGNED,
        _SIGNED_CHAT,
    ),
    _profile("2", "Gemini 2.5 and earlier: signatures are accepted and not required", GEMINI_2),
)
