"""Identify the provider that wrote an error text.

The marks are phrases, forms of a position and names of wrappers that only one or a few providers use. This is
the only such table; the profiles have the texts of providers about calls and results.
"""

import re
from collections.abc import Iterable

from turnlint.profiles import Profile

MARKS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern), names)
    for pattern, names in (
        (r"\bpreceeding message with 'tool_calls'", ("openai", "azure-openai")),
        (r"\bpreceding message with 'tool_calls'", ("deepseek",)),
        (r"<\d{3}> InternalError\.|message\[\d+\]\.role|\bDashscopeException\b", ("qwen",)),
        (r"\(insufficient tool messages following|\bDeepseekException\b", ("deepseek",)),
        (r"Invalid request: an assistant message|\bMoonshotException\b", ("kimi",)),
        (r"invalid request: |\bCohereException\b", ("cohere",)),
        (r"messages\.\d+\.content\.\d+\.|\bAnthropic(?:Error|Exception)\b|\banthropic\.\w+Error\b", ("anthropic",)),
        (r"messages\.\d+\.member\.|\bConverse(?:Stream)? operation|\bBedrock\w*(?:Error|Exception)\b|\bbotocore\b",
         ("bedrock",)),
        (r"The model returned the following errors: |\bInvokeModel\w* operation", ("bedrock",)),
        (r"\bInvalid '(?:messages|tools)\[\d+\]", ("openai", "azure-openai", "deepseek")),
        (r"\binput\[\d+\]", ("openai-responses", "openai")),
        (r"for 'role:\w+' the following must be satisfied|\bGroqException\b", ("groq",)),
        (r"\(2013\)|\bMinimaxException\b", ("minimax",)),
        (r"\b1214\b|messages 参数非法", ("glm",)),
        (r"Client specified an invalid argument|\bXaiException\b", ("xai",)),
        (r"\* GenerateContentRequest\.|\bGeminiException\b|INVALID_ARGUMENT", ("gemini", "vertex")),
        (r"Unable to submit request because|\bVertexAI(?:Error|Exception)\b", ("vertex", "gemini")),
        (r", field: 'messages\[|\bFireworksAI(?:Error|Exception)\b", ("fireworks",)),
        (r"\bTool call id (?:was|has to be|must be)\b|\bfor serving but got\b", ("mistral",)),
        (r"\bextra_forbidden\b|\b3230\b|\b3280\b|\bMistral(?:Exception|Error)\b|\bSDKError\b", ("mistral",)),
        (r"\bAzureException\b|\bopenai\.azure\.com\b", ("azure-openai",)),
        (r"\bTogether(?:AI|_ai)?Exception\b", ("together",)),
        (r"ChatRequest\.messages|\bOllamaException\b", ("ollama",)),
        (r"jinja2\.|chat template|\bvllm\b|\bsglang\b", ("vllm",)),
    )
)  # fmt: skip
CARRIERS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"The model returned the following errors: |\bInvokeModel\w* operation|\bConverse(?:Stream)? operation", "bedrock"),
        (r"\bVertexAI(?:Error|Exception)\b|aiplatform\.googleapis\.com|\bvertex-anthropic\b", "vertex"),
        (r"\bAzureException\b|\bopenai\.azure\.com\b", "azure-openai"),
    )
)  # fmt: skip
"""Marks of the services that pass on the messages of other providers."""
SERVICES = frozenset(name for _, name in CARRIERS)


def marked(texts: Iterable[str], profiles: Iterable[Profile]) -> tuple[str, ...]:
    """Return the providers whose marks are in some texts, the best match first: by phrases, then by hosts."""
    whole = "\n".join(texts)
    found: dict[str, int] = {}
    for pattern, names in MARKS:
        if pattern.search(whole):
            for weight, name in zip((3, 2, 1), names, strict=False):
                found[name] = found.get(name, 0) + weight
    for profile in profiles:
        if any(host in whole for host in profile.hosts):
            found[profile.name] = found.get(profile.name, 0) + 2
    return tuple(sorted(found, key=lambda name: -found[name]))


def carried_by(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the services that passed a text on."""
    whole = "\n".join(texts)
    return tuple(name for pattern, name in CARRIERS if pattern.search(whole))
