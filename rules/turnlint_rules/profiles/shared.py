"""The profile of all OpenAI-compatible servers, for providers without a profile.

It rejects only requests that no known server accepts. Its capabilities are conservative: one call per turn,
no streamed arguments, plain JSON Schema. It has the error texts of gateways and of providers without a
profile.
"""

from turnlint.api import (
    Capabilities,
    Known,
    OverLimit,
    Profile,
    RoleOrder,
    accepted_format,
    accepted_without_tools,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._chat import CHAT_WIRE, no_messages

_ALTERNATE = "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s)."
_LOADING_KEYS = ("model", "messages", "tools", "format", "options", "stream", "keep_alive", "think")
"""Keys of Ollama's `/api/chat`, which loads a model if the list of messages is empty."""
_KNOWN = (
    Known(
        pattern=r"(?P<path>(?:messages\W{1,2}(?P<index>\d+)\W{1,2})?tool_calls\W{1,2}\d+\W{1,2}function\.arguments)(?::? arguments)? "
        r"must be a valid JSON object string",
        rules=("PR307", "ST106", "ST115"), source="stored:61699651360, 71094299011; codegraff 752 (OpenRouter, NVIDIA)",
        sample="messages[1].tool_calls[0].function.arguments must be a valid JSON object string", date="2026-11",
    ),
    Known(
        pattern=r"(?P<path>messages\.(?P<index>\d+)\.\w+\.\w+): property .?[^'\"]+.? is unsupported", rules=("PR317",),
        sample="messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
        source="Cerebras, code wrong_api_format", date="2026-11",
    ),
    Known(
        pattern=r"(?P<path>messages\.(?P<index>\d+)\.(?:system|user|assistant|tool)\.content): Input should be a valid string",
        rules=("PR318", "PR325", "ST103"), sample="body.messages.0.system.content: Input should be a valid string",
        source="musistudio/llms 25 (Cerebras)", date="2025-08", about="the content is a list of parts; the server accepts a text",
    ),
    Known(
        pattern=r"(?P<path>messages\.(?P<index>\d+)\.\w+): Extra inputs are not permitted", rules=("PR317", "PA203"),
        sample="messages.0.reasoning_content: Extra inputs are not permitted", source="Databricks", date="2026-11",
    ),
    Known(
        pattern=r"missing `?messages\.content`? parameter", rules=("PR318", "ST110"), source="AstrBot 6852 (Volcengine)",
        sample="The request failed because it is missing `messages.content` parameter.", date="2026-03",
        about="a message has no content, or null",
    ),
    Known(
        pattern=r"[Mm]essage content as a list is only supported for user messages", rules=("PR318", "PR325"), date="2026-02",
        sample="Message content as a list is only supported for user messages.", source="pi 1574 (NVIDIA NIM)",
        about="the content of an assistant or system message is a list of parts; the server accepts a text",
    ),
    Known(
        pattern=r"Tool name is required for Gemini requests", rules=("ST116", "ST105"), source="copilot-cli 4914", date="2026-09",
        sample="Tool name is required for Gemini requests", about="a call of the type `custom` is in the history of a Gemini model",
    ),
    Known(
        pattern=r"user or tool message\(s\) should alternate with assistant message\(s\)", rules=("PR310", "PA202"),
        sample=_ALTERNATE,
        source="Perplexity, recorded 5df5f7296693dde2", date="2026-11",
        about="roles do not alternate; a system message in the middle counts as well",
    ),
    Known(
        pattern=r"maximum (?:context|prompt) length is [\d,]+|exceed(?:ed|s) (?:max |the )?context length|size limit exceeded by",
        rules=(), source="recorded a884d3a1ebecaee1, 63b36eefac4647e6, f1b26f3d82afd0f9, a6f1f9fe5bfa765e", date="2026-11",
        sample="This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens",
        about="the conversation exceeds the context window of the model; shorten it", status="abridged",
    ),
)  # fmt: skip

PROFILES = (
    Profile(
        name="shared",
        title="any OpenAI-compatible server",
        wires=("openai-chat",),
        capabilities=Capabilities(
            format="openai-chat",
            parallel_calls=False,
            max_calls=1,
            schema="JSON Schema",
            requires_schema=False,
            quirks=("the provider is unknown, so only common rules apply",),
            sources=(
                accepted_format(3462, " by servers without a profile"),
                source_of(
                    "parallel_calls",
                    "max_calls",
                    source="assumed for an unknown provider. 369 recorded requests with up to "
                    "3 calls in a turn were accepted, so a lower number than the limit of OpenAI is no finding",
                ),
                source_of("schema", source=CHAT_WIRE.source, date=CHAT_WIRE.date),
                accepted_without_tools(16, "6182b28b79bf41f4"),
                source_of_quirks("assumed for an unknown provider"),
            ),
        ),
        clauses=(
            *no_messages(
                source="all providers that are known refuse it; no accepted request of this wire has it. Ollama's own API, "
                "another wire, loads a model",
                date="2026-11",
                elsewhere=_LOADING_KEYS,
            ),
            OverLimit(
                what="calls",
                most=128,
                severity="warning",
                date="2025-11",
                source="the limit of OpenAI (openai-dotnet 317), the only one that is known; more than 34 calls in a turn "
                "were recorded at no provider",
            ),
            RoleOrder(
                role="system",
                after=("user", "assistant", "tool"),
                severity="warning",
                models=r"^(perplexity/)?sonar",
                unnamed="silent",
                says=_ALTERNATE,
                source="Perplexity, recorded 5df5f7296693dde2: one refusal",
                date="2026-11",
            ),
        ),
        known=_KNOWN,
    ),
)
