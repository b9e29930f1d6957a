"""The profile of Azure OpenAI, which runs OpenAI's validators in older versions of the API.

Ids have at most 40 characters. All other differences depend on the API version of a request, not on its
conversation.
"""

from turnlint.api import (
    Capabilities,
    Known,
    Profile,
    ResultContent,
    accepted_format,
    accepted_parallel_calls,
    accepted_without_tools,
    source_of,
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

_KNOWN = (
    Known(
        pattern=r"Unrecognized request argument supplied: (?P<key>\w+)", rules=(), date="2026-11",
        sample="Unrecognized request argument supplied: parallel_tool_calls", source="public reports",
        about="this API version does not support the setting; the conversation is not the cause",
    ),
    Known(
        pattern=r"Encrypted content is not supported with this model", rules=(), date="2026-11",
        sample="Encrypted content is not supported with this model.", source="public reports",
        about="the request asks for encrypted reasoning, which this model does not support; the conversation is not the cause",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="azure-openai",
        title="Azure OpenAI",
        wires=CHAT,
        hosts=("openai.azure.com", "cognitiveservices.azure.com", "openai.azure.us", "openai.azure.cn"),
        capabilities=Capabilities(
            format="openai-chat",
            parallel_calls=True,
            parallel_switch="parallel_tool_calls",
            max_calls=128,
            max_tools=128,
            schema="JSON Schema",
            requires_schema=False,
            streaming=STREAM,
            quirks=(
                "older API versions reject parallel_tool_calls and the role developer",
                "encrypted reasoning is valid for one deployment only",
            ),
            sources=(
                accepted_format(204),
                accepted_parallel_calls(15, "cf3f5842a8495366", 3),
                source_of(
                    "parallel_switch", source="openai-openapi f85dbe2; older versions of the API refuse it"
                ),
                CHAT_WIRE,
                accepted_without_tools(1, "a682d6fa632a25a5"),
                source_of_quirks(
                    "public reports: `Unrecognized request argument supplied`, and refusals of encrypted reasoning"
                ),
            ),
        ),
        clauses=(
            id_length(40, source="litellm 11392, Helicone 5575, azure-dev 7324", date="2026-03"),
            *OPENAI_CLAUSES,
            ResultContent(
                refused=("image_url",),
                models="gpt-4o",
                says="Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role 'user', but "
                "this message with role 'tool' contains an image URL.",
                source="recorded df6f279d0c7a1b19; accepted by gpt-4.1 (58730ae06adea8d5)",
                date="2026-11",
            ),
        ),
        weights=OPENAI_WEIGHTS,
        known=(*OPENAI_KNOWN, *_KNOWN),
    ),
)
