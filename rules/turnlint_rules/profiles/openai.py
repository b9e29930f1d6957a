"""The profile of OpenAI Chat Completions.

The maximum length of an id depends on the deployment. Without a version, the profile has both limits, with
the lower one as a warning. `@40` and `@64` have one limit.
"""

from turnlint.api import (
    Capabilities,
    IdLength,
    Profile,
    ResultContent,
    accepted_format,
    accepted_parallel_calls,
    accepted_switch,
    accepted_without_tools,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import (
    CHAT,
    CHAT_WIRE,
    OPENAI_CLAUSES,
    OPENAI_KNOWN,
    OPENAI_WEIGHTS,
    STREAM,
    id_length,
)

_WIDE = id_length(64, source="openclaw 875; 51 accepted in vercel/ai 17233", date="2026-07")
_NARROW = id_length(40, source="autogen 6377, agno 5382: most deployments", date="2026-03")
_NARROW_FOR_SOME = id_length(40, source=_NARROW.source, date=_NARROW.date, severity="warning")
_MEDIA = ResultContent(
    parts=("text", "image_url"),
    says="Invalid 'messages[{index}]'. Content blocks are expected to be either text or image_url type.",
    source="public reports; lists of both were accepted 17 times, such as 06815a357f1d4af0", date="2026-11",
)  # fmt: skip
_IMAGES = ResultContent(
    refused=("image_url",), severity="warning", other_models=r"gpt-(4\.1|[5-9])|^o[134]",
    says="Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role 'user', but this message "
    "with role 'tool' contains an image URL.",
    source="recorded df6f279d0c7a1b19 (gpt-4o at Azure); accepted by gpt-4.1-nano and gpt-5-nano (06815a357f1d4af0)",
    date="2026-11",
)  # fmt: skip
_CAPABILITIES = Capabilities(
    format="openai-chat",
    parallel_calls=True,
    parallel_switch="parallel_tool_calls",
    max_calls=128,
    max_tools=128,
    schema="JSON Schema",
    requires_schema=False,
    streaming=STREAM,
    quirks=(
        "arguments are a string that is not parsed",
        "results of one turn may have any order, each in its own message",
        "an assistant message may be the last one, and is not continued",
    ),
    sources=(
        accepted_format(6036),
        accepted_parallel_calls(314, "9bfdb8465a94df1a", 30),
        accepted_switch(368, "3a870b6c35ed8ba3"),
        CHAT_WIRE,
        accepted_without_tools(57, "ed719b1944529d7c"),
        source_of_quirks(),
    ),
)


def _profile(version: str, about: str, models: str, *lengths: IdLength) -> Profile:
    return Profile(
        name="openai",
        version=version,
        title="OpenAI Chat Completions",
        about=about,
        wires=CHAT,
        hosts=("api.openai.com",),
        models=models,
        capabilities=_CAPABILITIES,
        clauses=(*lengths, *OPENAI_CLAUSES, _MEDIA, _IMAGES),
        weights=OPENAI_WEIGHTS,
        known=OPENAI_KNOWN,
    )


PROFILES = (
    _profile(
        "",
        "any deployment: ids over 64 characters are rejected, over 40 characters by some deployments",
        r"^(gpt-[3-9]|chatgpt-|o[134](-|$)|ft:(gpt-[3-9]|o[134]-))",
        _WIDE,
        _NARROW_FOR_SOME,
    ),
    _profile("40", "deployments that accept ids of up to 40 characters", "", _NARROW),
    _profile("64", "deployments that accept ids of up to 64 characters", "", _WIDE),
)
