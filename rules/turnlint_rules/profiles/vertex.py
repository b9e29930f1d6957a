"""The profile of Gemini on Vertex AI.

Vertex has the protocol of the Gemini API, but requires a role in each content and has other error texts.
`_google` has the shared rows. For Claude on Vertex, the `anthropic` profile applies: Anthropic's validators
run there.
"""

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

_MORE = " Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"
_NO_PARTS = (
    "Unable to submit request because it must include at least one parts field, which describes the prompt input."
    + _MORE
)
_NO_CONTENTS = "Unable to submit request because at least one contents field is required." + _MORE
_CLAUSES: tuple[AnyClause, ...] = (
    RoleOrder(
        roles=("user", "model", "function"), says="Please use a valid role: user, model.", date="2026-09",
        source="public reports, a content without a role among them; `function` is taken (81743027b77976af)",
    ),
    ContentKey(what="result-name", source="the Gemini API's reports; google-genai 3.3.0", date="2026-11"),
    EmptyContent(what="message", says=_NO_PARTS, source="vercel/ai 4859", date="2025-02"),
    together(
        says="", date="2026-08",
        source="replayed on 2026-08-27: 400 from gemini-2.5-flash and 3.1-flash-lite, and 200 with the results in one content",
    ),
    EmptyRequest(what="empty", says=_NO_CONTENTS, source="crewAI 3277", date="2025-08"),
    EmptyRequest(what="absent", says=_NO_CONTENTS, source="crewAI 3277", date="2025-08"),
    *keys("warning", "google-genai 3.3.0; recorded e089c902cd29ac0d at the Gemini API"),
)  # fmt: skip
_SIGNED = signed(
    "Unable to submit request because function call `default_api:{name}` in the {next}. content block is missing a "
    "`thought_signature`. Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"
)
_KNOWN = (
    Known(
        pattern=r"at least one contents field is required", rules=("PR323",), sample=_NO_CONTENTS, source="crewAI 3277",
        date="2025-08",
    ),
    Known(
        pattern=r"[Ff]unction call [`'\"]?(?:default_api:)?(?P<name>[^`'\" ]+)[`'\"]? in the [`'\"]?(?P<next>\d+)\.[`'\"]? "
        r"content block is missing a [`'\"]?thought_signature", rules=("PR320",), date="2026-11",
        sample="Unable to submit request because function call `default_api:webscraper` in the 2. content block is missing a "
        "`thought_signature`. Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures",
        source="dify 30729, LibreChat 11826",
    ),
    Known(
        pattern=r"Thought signature is not valid", rules=("PR320",), date="2026-03", source="9router 301",
        sample="Unable to submit request because Thought signature is not valid.",
        about="the signature is of another model, provider or conversation; a log does not show this",
    ),
    Known(
        pattern=r"must include at least one parts field", rules=("PR312", "ST110"), sample=_NO_PARTS, date="2025-02",
        source="vercel/ai 4859",
    ),
)  # fmt: skip


def _profile(version: str, about: str, models: str, *signature: ThoughtSignature) -> Profile:
    return Profile(
        name="vertex",
        version=version,
        about=about,
        title="Gemini on Vertex AI",
        wires=("gemini",),
        hosts=("googleapis.com",),
        models=models,
        capabilities=capabilities(
            "Vertex and the Gemini API reject each other's signatures",
            "each content needs a role",
            sources=(accepted_format(639), accepted_parallel_calls(42, "ba9b82460002f054", 3)),
        ),
        clauses=(*SHARED, *_CLAUSES, *signature),
        weights=weights(),
        known=(*KNOWN, *_KNOWN),
    )


PROFILES = (
    _profile("", "unknown generation of the model: signatures are not required", OTHERS),
    _profile("3", "Gemini 3 and later: calls need thought signatures", GEMINI_3, _SIGNED),
    _profile("2", "Gemini 2.5 and earlier: signatures are accepted and not required", GEMINI_2),
)
