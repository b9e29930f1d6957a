"""Read the facts of a request around a conversation, for all wires.

The facts are the model, the host, the declared tools and the settings. Every wire spells them differently, and no
spelling has another meaning on another wire.
"""

from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Any

from msgspec import Raw, Struct, json

from turnlint.carrying.raws import NOTHING, given, head, string
from turnlint.model import Declared, Pointer, Record, Request

HOSTS = ("host", "url", "base_url", "api_base", "endpoint")
_SENT = (
    "max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "stream", "generationConfig",
    "inferenceConfig", "tool_choice", "toolConfig", "parallel_tool_calls", "response_format", "thinking", "options",
    "seed", "top_p", "stop", "n", "store", "include", "stream_options", "reasoning_effort", "random_seed", "modelId",
)  # fmt: skip
"""Keys that only a request has, not a stored conversation."""
_sent = attrgetter(*_SENT)
_PATHS = (
    "/chat/completions", "/v1/messages", "/responses", "/api/chat", "/v1/chat", "/v2/chat", ":generateContent",
    ":streamGenerateContent", ":rawPredict", ":streamRawPredict", "/converse", "/converse-stream", "/invoke",
    "/invoke-with-response-stream",
)  # fmt: skip
"""The ends of addresses that take requests: what was sent to one is a request, with or without settings."""
_OWN = frozenset({"function", "custom"})
_LISTS = ("functionDeclarations", "function_declarations")
_HOLDERS = {"function": "openai-function", "custom": "openai-custom", "toolSpec": "bedrock-tool-spec"}
"""The keys of a tool that hold all of it, and the style of such a tool."""
_STYLES = {
    "input_schema": "anthropic-input-schema", "inputSchema": "mcp-input-schema",
    "parameter_definitions": "cohere-parameter-definitions", "parameters": "flat-function",
}  # fmt: skip
"""The keys of the schema in a tool with its name beside them, and the style of such a tool."""
_SCHEMAS = ("parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema")
"""The keys of the JSON Schema of a tool's arguments."""
GEMINI_STYLE, LEGACY_STYLE, PROVIDER_STYLE, NO_STYLE = (
    "gemini-function-declaration", "openai-legacy-function", "provider-tool", "no-schema",
)  # fmt: skip
_NO_TOOLS = frozenset({"cachePoint"})
"""Entries of the list of tools that are no tools."""


class _Named(Struct, gc=False):
    name: Raw = NOTHING


class _Tool(Struct, gc=False):
    type: Raw = NOTHING
    name: Raw = NOTHING
    function: Raw = NOTHING
    custom: Raw = NOTHING
    toolSpec: Raw = NOTHING
    input_schema: Raw = NOTHING
    inputSchema: Raw = NOTHING
    parameters: Raw = NOTHING
    parameter_definitions: Raw = NOTHING


class _Settings(Struct, gc=False):
    tools: Raw = NOTHING
    type: Raw = NOTHING
    mode: Raw = NOTHING
    any: Raw = NOTHING
    tool: Raw = NOTHING
    functionCallingConfig: Raw = NOTHING
    function_calling_config: Raw = NOTHING
    toolChoice: Raw = NOTHING
    function: Raw = NOTHING


_NO_SETTINGS = _Settings()
_named = json.Decoder(_Named)
_tool = json.Decoder(_Tool)
_keys = json.Decoder(dict[str, Raw])
_settings = json.Decoder(_Settings)
_items = json.Decoder(list[Raw])


def request_of(outer: Any, body: Any, record: Record, at: Pointer, *, key: str) -> Request:
    """Return the facts of one request body in its record; `key` names its messages, empty where it has none."""
    model = first_string((body, outer), ("model", "modelId")) or _model_in_address(outer)
    tools, tools_at = _tools(body, at)
    host = _host(outer)
    if host is None and body is not outer:
        host = _host(body)
    return Request(
        record,
        at,
        key,
        whole=bool(key)
        and (
            tools is not None
            or (key == "input" and model is not None)
            or has_settings(body)
            or (body is not outer and _was_sent(outer))
        ),
        model=model,
        host=host,
        tools=tools,
        tools_at=tools_at,
        thinking=_thinking(body.thinking),
        thinking_at=(*at, *body.thinking_place()),
        forced=_forced(body),
        store={b"t": True, b"f": False}.get(head(body.store)),
    )


def has_settings(body: Any) -> bool:
    """Whether a body has a setting that only a request has, not a stored conversation."""
    return _sent(body).count(NOTHING) < len(_SENT)


_AROUND: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "messages": (
        frozenset({"model", "modelId"}),
        frozenset({
            "max_tokens", "max_completion_tokens", "temperature", "top_p", "stream", "stream_options", "tools",
            "tool_choice", "parallel_tool_calls", "response_format", "reasoning_effort", "system", "thinking", "stop",
            "stop_sequences", "seed", "random_seed", "n", "store", "metadata", "user", "frequency_penalty",
            "presence_penalty", "service_tier",
        }),
    ),
    "contents": (
        frozenset({"generationConfig", "generation_config", "systemInstruction", "system_instruction"}),
        frozenset({
            "tools", "toolConfig", "tool_config", "safetySettings", "safety_settings", "labels", "model",
        }),
    ),
    "input": (
        frozenset({"model"}),
        frozenset({
            "instructions", "max_output_tokens", "include", "reasoning", "text", "store", "stream", "tools", "tool_choice",
            "temperature", "top_p", "parallel_tool_calls", "metadata", "truncation", "user", "service_tier",
        }),
    ),
}  # fmt: skip
"""For each key of messages: keys of which a request body has at least one, and its other settings."""


def lacks_messages(data: bytes, key: str) -> bool:
    """Whether a record is a request body of only settings, without the key of its messages."""
    named, settings = _AROUND.get(key, (frozenset[str](), frozenset[str]()))
    try:
        body = _keys.decode(data)
    except (ValueError, RecursionError):
        return False
    given_keys = body.keys() - {key}
    lacking = body.get(key, NOTHING)
    return (
        not named.isdisjoint(given_keys)
        and given_keys <= named | settings
        and (head(lacking) == b"n" if key in body else len(given_keys) > 1)
    )


def has_empty_messages(data: bytes, key: str) -> bool:
    """Whether a record is a request body of only settings, with an empty list of messages or null.

    A record with other keys may be a stored session, and so may one with `messages` or `input` and no model. Only
    requests have `contents`.
    """
    named, settings = _AROUND.get(key, (frozenset[str](), frozenset[str]()))
    try:
        body = _keys.decode(data)
        is_empty = key in body and (head(body[key]) == b"n" or _items.decode(body[key]) == [])
    except (ValueError, RecursionError):
        return False
    given_keys = body.keys() - {key}
    is_request = key == "contents" or not named.isdisjoint(given_keys)
    return is_empty and is_request and given_keys <= named | settings


def first_string(holders: tuple[Any, ...], names: tuple[str, ...]) -> str | None:
    for holder in holders:
        for name in names:
            raw = getattr(holder, name)
            if raw is not NOTHING and (text := string(raw)):
                return text
    return None


def _model_in_address(value: Any) -> str | None:
    """Return the model from the path of a URL.

    Google and Amazon name it there: `/models/NAME:generateContent`, `/model/NAME/converse`.
    """
    text = _address(value) or ""
    for mark in ("/models/", "/model/"):
        _, found, rest = text.partition(mark)
        if found:
            name = rest.split("/", 1)[0]
            return name.rsplit(":", 1)[0] if mark == "/models/" else name
    return None


def _host(value: Any) -> str | None:
    """Return the host name, from a host or a URL."""
    text = _address(value)
    if text is None:
        return None
    rest = text.split("://", 1)[-1]
    name = rest.split("/", 1)[0].rsplit("@", 1)[-1].split(":", 1)[0].lower()
    return name if "." in name or "://" in text or name == "localhost" else None


def _was_sent(value: Any) -> bool:
    """Whether a record names the address to which its request was sent."""
    return (_address(value) or "").partition("?")[0].endswith(_PATHS)


def _address(value: Any) -> str | None:
    text = first_string((value,), HOSTS)
    if text is None and head(value.request) == b"{" and _opens(value):
        return first_string((json.decode(value.request, type=type(value)),), HOSTS)
    return text


def _opens(value: Any) -> bool:
    try:
        json.decode(value.request, type=type(value))
    except (ValueError, RecursionError):
        return False
    return True


def _members(raw: Raw) -> list[Raw]:
    try:
        return _items.decode(raw) if head(raw) == b"[" else []
    except (ValueError, RecursionError):
        return []


def _tools(body: Any, at: Pointer) -> tuple[tuple[Declared, ...] | None, Pointer]:
    """Return the tools that a body declares, and their pointer; none where it has no key for them."""
    config = _read(body.toolConfig)
    for raw, place in (
        (body.tools, ("tools",)),
        (body.functions, ("functions",)),
        (config.tools, ("toolConfig", "tools")),
    ):
        there = (*at, *place)
        first = head(raw)
        if first == b"{":  # Google's servers accept one tool as a list of one
            return tuple(_declared(raw, there)), there
        if first == b"[":
            data = bytes(raw)
            return (_known_in if len(data) < _OFTEN else _declared_in)(data, there), there
    return None, ()


def _declared_in(data: bytes, there: Pointer) -> tuple[Declared, ...]:
    items = enumerate(_members(Raw(data)))
    return tuple(one for index, item in items for one in _declared(item, (*there, index)))


_OFTEN = 1 << 16
"""The size limit of cached lists. One client sends the same tools in all its requests."""
_known_in = lru_cache(maxsize=16)(_declared_in)


def _declared(raw: Raw, at: Pointer) -> Iterator[Declared]:
    try:
        tool = _tool.decode(raw)
    except (ValueError, RecursionError):
        return
    for key, style in _HOLDERS.items():
        if head(getattr(tool, key)) == b"{":
            yield Declared((*at, key, "name"), _name_of(getattr(tool, key)), style=style)
            return
    kind = string(tool.type)
    if kind is not None or given(tool.name):
        own = "function" if kind is None or kind in _OWN else kind
        yield Declared((*at, "name"), string(tool.name), own, _style_of(tool, own, kind, at))
    else:
        yield from _named_by_key(_keys.decode(raw), at)


def _style_of(tool: _Tool, own: str, kind: str | None, at: Pointer) -> str:
    """Return the style of a tool with its name and its schema at one level."""
    if own != "function":
        return PROVIDER_STYLE
    style = next((style for key, style in _STYLES.items() if given(getattr(tool, key))), NO_STYLE)
    is_legacy = kind is None and style == "flat-function" and at[-2:-1] == ("functions",)
    return LEGACY_STYLE if is_legacy else style


def _named_by_key(keys: dict[str, Raw], at: Pointer) -> Iterator[Declared]:
    """Yield tools without a type: functions in lists, and the provider's own tools by their keys."""
    for key, raw in keys.items():
        if key in _LISTS:
            lone = head(raw) == b"{"
            for index, inner in enumerate([raw] if lone else _members(raw)):
                place = (*at, key, *(() if lone else (index,)), "name")
                yield Declared(place, _name_of(inner), style=GEMINI_STYLE)
        elif key not in _NO_TOOLS:
            yield Declared((*at, key), _name_of(raw), key, PROVIDER_STYLE)


def schema_in(tool: dict[str, Any]) -> dict[str, Any] | None:
    """Return the JSON Schema of the arguments of a declared tool, from the object with its name."""
    for key in _SCHEMAS:
        schema = tool.get(key)
        if isinstance(schema, dict):  # Bedrock has the schema in one more object
            inner = schema.get("json")
            return inner if isinstance(inner, dict) and schema.keys() == {"json"} else schema
    return None


def _name_of(raw: Raw) -> str | None:
    try:
        return string(_named.decode(raw).name) if head(raw) == b"{" else None
    except (ValueError, RecursionError):
        return None


def _read(raw: Raw) -> _Settings:
    if raw is NOTHING:
        return _NO_SETTINGS
    try:
        return _settings.decode(raw) if head(raw) == b"{" else _Settings()
    except (ValueError, RecursionError):
        return _Settings()


def _thinking(raw: Raw) -> Any:
    kind = string(_read(raw).type)
    return {"enabled": "budget", "adaptive": "adaptive", "disabled": "off"}.get(kind or "", "unsaid")


def _forced(body: Any) -> bool:
    """Whether the model must call a tool: by a word, by the name of a tool, or by a mode."""
    if body.tool_choice is NOTHING and body.toolConfig is NOTHING:
        return False
    choice = string(body.tool_choice)
    if choice is not None:
        return choice.lower() in ("required", "any")
    setting = _read(body.tool_choice)
    if string(setting.type) in ("any", "tool", "function") or given(setting.function):
        return True
    config = _read(body.toolConfig)
    bedrock = _read(config.toolChoice)
    google = _read(config.functionCallingConfig or config.function_calling_config)
    return given(bedrock.any) or given(bedrock.tool) or (string(google.mode) or "").upper() == "ANY"
