"""Refusals as users receive them: texts of profiles, and the wrappings of SDKs, gateways and logs.

The tests define the explanations.
"""

import html
import json
import textwrap
from collections.abc import Callable
from typing import Any

from turnlint.providers import Providers
from turnlint.rulebook import BUILTIN

PROVIDERS = Providers([BUILTIN])
KNOWN = [
    (name, known)
    for name in PROVIDERS.names()
    for profile in PROVIDERS.versions(name)[:1]
    for known in profile.known
]
UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: call_b07"
)


def body(text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "invalid_request_error", "param": None, "code": None}}


def nested(text: str, depth: int) -> str:
    for _ in range(depth):
        text = json.dumps({"error": {"message": text, "code": 400}})
    return text


def in_javascript(text: str) -> str:
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
    return (
        "APICallError [AI_APICallError]: Bad Request\n    at postToApi (/app/node_modules/sdk/index.js:12:3) {\n"
        "  cause: undefined,\n  url: 'https://gateway.example/v1',\n  requestBodyValues: { model: 'm' },\n"
        f"  statusCode: 400,\n  data: {{ error: {{ message: {quoted}, code: null }} }},\n  isRetryable: false\n}}"
    )


WRAPPERS: dict[str, Callable[[str], str]] = {
    "nothing": lambda text: text,
    "JSON body": lambda text: json.dumps(body(text)),
    "JSON body, pretty and beyond ASCII": lambda text: json.dumps(body(text), indent=2, ensure_ascii=False),
    "Anthropic body": lambda text: json.dumps(
        {"type": "error", "error": {"type": "invalid_request_error", "message": text}, "request_id": "req_011"}
    ),
    "FastAPI detail": lambda text: json.dumps({"detail": text}),
    "JSON in JSON": lambda text: nested(text, 2),
    "JSON in JSON in JSON": lambda text: nested(text, 6),
    "Python SDK": lambda text: f"Error code: 400 - {body(text)!r}",
    "Python traceback": lambda text: (
        'Traceback (most recent call last):\n  File "/app/run.py", line 3, in <module>\n    main()\n'
        f"openai.BadRequestError: Error code: 400 - {body(text)!r}\n"
    ),
    "JavaScript SDK": lambda text: f"BadRequestError: 400 {text}\n    at APIError.generate (file:///app/error.mjs:41:20)",
    "Vercel AI SDK": in_javascript,
    "AWS SDK for JavaScript": lambda text: (
        f"ValidationException: {text}\n    at de_ValidationExceptionRes (/app/node_modules/client.js:1:1) {{\n"
        "  '$fault': 'client',\n  '$metadata': { httpStatusCode: 400 }\n}"
    ),
    "OpenRouter": lambda text: json.dumps(
        {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps(body(text))}}}
    ),
    "OpenRouter, raw text": lambda text: json.dumps(
        {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": text}}}
    ),
    "LiteLLM": lambda text: f"litellm.BadRequestError: CustomException - {text}",
    "LiteLLM, body": lambda text: f"litellm.exceptions.BadRequestError: CustomException - {json.dumps(body(text))}",
    "LiteLLM, bytes": lambda text: f"litellm.APIError: CustomException - {json.dumps(body(text)).encode()!r}",
    "botocore": lambda text: f"An error occurred (ValidationException) when calling the Converse operation: {text}",
    "Bedrock": lambda text: (
        "botocore.errorfactory.ValidationException: An error occurred (ValidationException) when calling the "
        f"InvokeModel operation: The model returned the following errors: {text}"
    ),
    "DashScope": lambda text: f"<400> InternalError.Algo.InvalidParameter: {text}",
    "LangChain": lambda text: f"langchain_core.exceptions.LangChainException: Error calling model `m`: {text}",
    "pydantic-ai": lambda text: f"status_code: 400, model_name: gpt-x, body: {body(text)['error']!r}",
    "curl -i": lambda text: (
        "HTTP/2 400 \r\ncontent-type: application/json\r\ncontent-length: 300\r\nx-request-id: req_1\r\n\r\n"
        + json.dumps(body(text))
    ),
    "log line": lambda text: (
        "2026-11-18T09:12:44.120Z INFO  agent - asking\n"
        f"2026-11-18T09:12:45.001Z ERROR agent - turn 7 failed: {json.dumps(body(text))}\n"
        "2026-11-18T09:12:45.002Z INFO  agent - giving up\n"
    ),
    "JSON log line": lambda text: json.dumps({"level": "error", "ts": 1, "err": f"Error code: 400 - {body(text)!r}"}),
    "colours": lambda text: f"\x1b[1m\x1b[31mAPI Error: 400\x1b[0m {json.dumps(body(text))}",
    "hard wraps": lambda text: "\n".join(
        textwrap.wrap(f"Error: {text}", 72, break_long_words=False, break_on_hyphens=False)
    ),
    "HTML": lambda text: f"<pre>{html.escape(text)}</pre>",
    "quoted in mail": lambda text: textwrap.indent(f"It says:\n{text}", "> ", lambda _: True),
    "shell": lambda text: f"$ curl https://gateway.example\n{json.dumps(body(text))}%",
}  # fmt: skip
