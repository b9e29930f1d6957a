"""Write a call with some results as a record of each wire."""

from collections.abc import Callable
from typing import Any

Piece = dict[str, Any]
Build = Callable[..., Any]


def chat(*results: Piece) -> Any:
    call = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    answers = [{"role": "tool", "tool_call_id": "call_1", **one} for one in results]
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    messages = [{"role": "user", "content": "go"}, said, *answers, {"role": "assistant", "content": "so"}]
    return {"model": "gpt-4.1", "messages": [*messages, {"role": "user", "content": "on"}]}


def anthropic(*results: Piece) -> Any:
    call = {"type": "tool_use", "id": "toolu_1", "name": "run", "input": {}}
    answers = [{"type": "tool_result", "tool_use_id": "toolu_1", **one} for one in results]
    return {
        "model": "claude-x", "max_tokens": 9, "messages": [
            {"role": "user", "content": "go"}, {"role": "assistant", "content": [call]},
            {"role": "user", "content": answers}, {"role": "assistant", "content": "so"},
            {"role": "user", "content": "on"},
        ],
    }  # fmt: skip


def canonical(*results: Piece) -> Any:
    call = {"type": "tool_call", "id": "hist_tool_1", "name": "run", "parameters": {}}
    answers = [
        {"type": "tool_response", "callId": "hist_tool_1", "toolName": "run", **one} for one in results
    ]
    said = [
        {"speaker": "human", "blocks": [{"type": "text", "text": "go"}]}, {"speaker": "ai", "blocks": [call]},
        *({"speaker": "tool", "blocks": [one]} for one in answers),
        {"speaker": "ai", "blocks": [{"type": "text", "text": "so"}]},
        {"speaker": "human", "blocks": [{"type": "text", "text": "on"}]},
    ]  # fmt: skip
    return {"history": said}


def of_gemini(*results: Piece) -> Any:
    call = {"functionCall": {"id": "c1", "name": "run", "args": {}}}
    answers = [{"functionResponse": {"id": "c1", "name": "run", **one}} for one in results]
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]}, {"role": "model", "parts": [call]},
            {"role": "user", "parts": answers}, {"role": "model", "parts": [{"text": "so"}]},
            {"role": "user", "parts": [{"text": "on"}]},
        ],
    }  # fmt: skip


def bedrock(*results: Piece) -> Any:
    call = {"toolUse": {"toolUseId": "t1", "name": "run", "input": {}}}
    answers = [{"toolResult": {"toolUseId": "t1", **one}} for one in results]
    return {
        "modelId": "m", "messages": [
            {"role": "user", "content": [{"text": "go"}]}, {"role": "assistant", "content": [call]},
            {"role": "user", "content": answers}, {"role": "assistant", "content": [{"text": "so"}]},
            {"role": "user", "content": [{"text": "on"}]},
        ],
    }  # fmt: skip


def responses(*results: Piece) -> Any:
    call = {"type": "function_call", "call_id": "call_1", "name": "run", "arguments": "{}"}
    answers = [{"type": "function_call_output", "call_id": "call_1", **one} for one in results]
    return {
        "model": "gpt-4.1", "input": [
            {"role": "user", "content": "go"}, call, *answers, {"role": "assistant", "content": "so"},
            {"role": "user", "content": "on"},
        ],
    }  # fmt: skip


WIRES: dict[str, Build] = {
    "openai-chat": chat, "anthropic": anthropic, "canonical": canonical, "gemini": of_gemini, "bedrock": bedrock,
    "openai-responses": responses,
}  # fmt: skip
