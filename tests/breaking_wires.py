"""Spell conversations on each wire, and parse them.

Writes and reads the abstract conversation. Written from the specifications of the wires, independent of the linter.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from breaking import NAMES, Conversation, Piece, Traits, Turn

Value = dict[str, Any]


@dataclass
class Spelled:
    """A message of a wire, and the part of the conversation that it holds."""

    value: Value
    pieces: list[Piece]
    turn: Turn


def present(**values: Any) -> Value:
    return {key: value for key, value in values.items() if value is not None}


def words_of(pieces: list[Piece]) -> str:
    return " ".join(piece.words for piece in pieces if piece.kind == "text")


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def _marked(arguments: Any) -> int:
    value = json.loads(arguments) if isinstance(arguments, str) else arguments
    return int(value["k"])


def _result(value: Any, identifier: str | None, name: str | None) -> Piece:
    words = " ".join(strings(value))
    mark = re.match(r"result-of-(\d+)\.", words)
    return Piece("result", words, int(mark[1]) if mark else -1, identifier, name or "")


# Messages whose results are messages.


def _chat(conversation: Conversation, call: Callable[[Piece], Value], result: Callable[[Piece], Value], silent: Value, plan: str) -> Iterator[Spelled]:  # fmt: skip
    for turn in conversation:
        calls = turn.all("call")
        if turn.role == "model" and (calls or words_of(turn.pieces)):
            content = {plan if calls else "content": words_of(turn.pieces)} if turn.all("text") else silent
            tool_calls = {"tool_calls": [call(item) for item in calls]} if calls else {}
            yield Spelled({"role": "assistant", **content, **tool_calls}, turn.pieces, turn)
            continue
        for piece in turn.pieces if turn.role != "model" else ():
            value = result(piece) if piece.kind == "result" else {"role": "user", "content": piece.words}
            yield Spelled(value, [piece], turn)


def _function(piece: Piece, *, encoded: bool) -> Value:
    arguments: Any = json.dumps({"k": piece.mark}) if encoded else {"k": piece.mark}
    function = {"name": piece.name, "arguments": arguments}
    return present(id=piece.id, type="function" if encoded else None, function=function)


def _tool(piece: Piece, name_key: str = "") -> Value:
    named = {name_key: piece.name} if name_key else {}
    return {"role": "tool", **present(tool_call_id=piece.id), **named, "content": piece.words}


def _read_chat(message: Value) -> Turn:
    if message["role"] == "tool":
        name = message.get("name") or message.get("tool_name")
        return Turn("tool", [_result(message.get("content"), message.get("tool_call_id"), name)])
    texts = [
        Piece("text", string) for key in ("content", "tool_plan") for string in strings(message.get(key))
    ]
    calls = [
        Piece("call", "", _marked(call["function"]["arguments"]), call.get("id"), call["function"]["name"])
        for call in message.get("tool_calls") or ()
    ]
    return Turn("model" if message["role"] == "assistant" else "user", [*texts, *calls])


# Messages of blocks.


def _blocks(conversation: Conversation, block: Callable[[Piece], Value], roles: dict[str, str], keys: tuple[str, str]) -> Iterator[Spelled]:  # fmt: skip
    for turn in conversation:
        blocks = [block(piece) for piece in turn.pieces]
        yield Spelled({keys[0]: roles[turn.role], keys[1]: blocks}, turn.pieces, turn)


def _anthropic(piece: Piece) -> Value:
    search = {
        "type": "web_search_result",
        "url": "https://example.org/",
        "title": "t",
        "encrypted_content": "RQ==",
    }
    found: dict[str, Callable[[], Value]] = {
        "text": lambda: {"type": "text", "text": piece.words},
        "thought": lambda: {"type": "thinking", "thinking": piece.words, "signature": f"c2ln{piece.mark:04}"},
        "call": lambda: {**present(type="tool_use", id=piece.id), "name": piece.name, "input": {"k": piece.mark}},
        "result": lambda: {**present(type="tool_result", tool_use_id=piece.id), "content": piece.words},
        "served": lambda: {
            "type": "server_tool_use", "id": piece.id, "name": "web_search", "input": {"query": f"search-{piece.mark}."}
        },
        "found": lambda: {"type": "web_search_tool_result", "tool_use_id": piece.id, "content": [search]},
    }  # fmt: skip
    return found[piece.kind]()


def _read_anthropic(block: Value) -> Piece:
    match block["type"]:
        case "tool_use":
            return Piece("call", "", _marked(block["input"]), block.get("id"), block["name"])
        case "tool_result":
            return _result(block.get("content"), block.get("tool_use_id"), None)
        case "thinking":
            return Piece("thought", block["thinking"], int(block["signature"][4:]))
        case "server_tool_use":
            return Piece("served", "", -1, block["id"])
        case "web_search_tool_result":
            return Piece("found", "", -1, block["tool_use_id"])
    return Piece("text", block["text"])


def _bedrock(piece: Piece) -> Value:
    if piece.kind == "call":
        inside = {**present(toolUseId=piece.id), "name": piece.name, "input": {"k": piece.mark}}
        return {"toolUse": inside}
    if piece.kind == "result":
        return {"toolResult": {**present(toolUseId=piece.id), "content": [{"text": piece.words}]}}
    if piece.kind == "thought":
        signed = {"text": piece.words, "signature": f"c2ln{piece.mark:04}"}
        return {"reasoningContent": {"reasoningText": signed}}
    return {"text": piece.words}


def _read_bedrock(block: Value) -> Piece:
    if call := block.get("toolUse"):
        return Piece("call", "", _marked(call["input"]), call.get("toolUseId"), call["name"])
    if result := block.get("toolResult"):
        return _result(result["content"], result.get("toolUseId"), None)
    if thought := block.get("reasoningContent"):
        return Piece("thought", thought["reasoningText"]["text"])
    return Piece("text", block["text"])


def _gemini(piece: Piece) -> Value:
    if piece.kind == "call":
        inside = {**present(id=piece.id), "name": piece.name, "args": {"k": piece.mark}}
        return {"functionCall": inside, "thoughtSignature": f"c2ln{piece.mark:04}"}
    if piece.kind == "result":
        inside = {**present(id=piece.id), "name": piece.name, "response": {"output": piece.words}}
        return {"functionResponse": inside}
    return {"text": piece.words}


def _read_gemini(block: Value) -> Piece:
    if call := block.get("functionCall"):
        return Piece("call", "", _marked(call["args"]), call.get("id"), call["name"])
    if result := block.get("functionResponse"):
        return _result(result["response"], result.get("id"), result["name"])
    return Piece("text", block["text"])


def _canonical(piece: Piece) -> Value:
    if piece.kind == "call":
        return {
            "type": "tool_call",
            **present(id=piece.id),
            "name": piece.name,
            "parameters": {"k": piece.mark},
        }
    if piece.kind == "result":
        named = {**present(callId=piece.id), "toolName": piece.name}
        return {"type": "tool_response", **named, "result": {"output": piece.words}}
    if piece.kind == "thought":
        return {"type": "thinking", "thought": piece.words}
    return {"type": "text", "text": piece.words}


def _read_canonical(block: Value) -> Piece:
    if block["type"] == "tool_call":
        return Piece("call", "", _marked(block["parameters"]), block.get("id"), block["name"])
    if block["type"] == "tool_response":
        body = block.get("result") or block.get("error")
        return _result(body, block.get("callId"), block.get("toolName"))
    return Piece(
        "thought" if block["type"] == "thinking" else "text", block.get("thought") or block.get("text", "")
    )


def _read_blocks(key: str, roles: dict[str, str], read: Callable[[Value], Piece]) -> Callable[[Value], Turn]:
    def turn(message: Value) -> Turn:
        content = message[key]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        role = roles.get(message.get("role") or message.get("speaker") or "", "user")
        return Turn(role, [read(block) for block in blocks])

    return turn


# Items.


def _items(conversation: Conversation) -> Iterator[Spelled]:
    for turn in conversation:
        for piece in turn.pieces:
            yield Spelled(_item(turn.role, piece), [piece], turn)


def _item(role: str, piece: Piece) -> Value:
    number = f"{piece.mark:08}"
    match piece.kind:
        case "call":
            own = {"type": "function_call", "id": f"fc_{number}", **present(call_id=piece.id)}
            return {**own, "name": piece.name, "arguments": json.dumps({"k": piece.mark})}
        case "result":
            return {"type": "function_call_output", **present(call_id=piece.id), "output": piece.words}
        case "thought":
            summary = [{"type": "summary_text", "text": piece.words}]
            return {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": summary,
                "encrypted_content": "gAAA",
            }
    if role == "model":
        text = {"type": "output_text", "text": piece.words, "annotations": []}
        return {"type": "message", "role": "assistant", "status": "completed", "content": [text]}
    return {"role": "user", "content": piece.words}


def _read_item(item: Value) -> Turn:
    match item.get("type"):
        case "function_call":
            mark = _marked(item["arguments"])
            return Turn("model", [Piece("call", "", mark, item.get("call_id"), item["name"])])
        case "function_call_output":
            return Turn("tool", [_result(item["output"], item.get("call_id"), None)])
        case "reasoning":
            return Turn("model", [Piece("thought", " ".join(strings(item["summary"])))])
    texts = [Piece("text", string) for string in strings(item["content"]) if string != "output_text"]
    return Turn("model" if item["role"] == "assistant" else "user", texts)


# Wires.


@dataclass
class Wire:
    name: str
    provider: str
    traits: Callable[[Random], Traits]
    spell: Callable[[Conversation], Iterator[Spelled]]
    read: Callable[[Value], Turn]
    body: Value
    key: str = "messages"


def _ids(form: str) -> Callable[[int, str], str | None]:
    return lambda number, name: form.format(number, name=name)


def _maybe(rng: Random, form: str) -> Callable[[int, str], str | None]:
    """Ids in half of the conversations."""
    return _ids(form) if rng.random() < 0.5 else lambda *_: None


SCHEMA = {"type": "object", "properties": {"k": {"type": "integer"}}}
FUNCTIONS = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES]
USER_MODEL = {"user": "user", "tool": "user", "model": "assistant"}
MODEL_USER = {"assistant": "model", "model": "model", "ai": "model", "tool": "tool"}


def _chat_wire(name: str, provider: str, model: str, make_id: Callable[[Random], Any], silent: Value,
               *, plan: str = "content", encoded: bool = True, name_key: str = "") -> Wire:  # fmt: skip
    return Wire(
        name, provider, lambda rng: Traits(make_id(rng)),
        lambda conversation: _chat(conversation, lambda item: _function(item, encoded=encoded), lambda item: _tool(item, name_key), silent, plan),
        _read_chat, {"model": model, "temperature": 0.5, "tools": FUNCTIONS},
    )  # fmt: skip


def _block_wire(name: str, provider: str, traits: Callable[[Random], Traits], block: Callable[[Piece], Value],
                read: Callable[[Value], Piece], body: Value, *, roles: dict[str, str] = USER_MODEL,
                keys: tuple[str, str] = ("role", "content"), key: str = "messages") -> Wire:  # fmt: skip
    return Wire(
        name, provider, traits, lambda conversation: _blocks(conversation, block, roles, keys),
        _read_blocks(keys[1], MODEL_USER, read), body, key,
    )  # fmt: skip


WIRES = {
    item.name: item
    for item in (
        _chat_wire("openai-chat", "openai", "gpt-5.1", lambda _: _ids("call_{:03}x"), {"content": None}),
        _chat_wire("mistral", "mistral", "mistral-large-2411", lambda _: _ids("a{:07}z"), {"content": ""}, name_key="name"),
        _chat_wire("cohere", "cohere", "command-a-03-2025", lambda _: _ids("{name}_{:06}"), {}, plan="tool_plan"),
        _chat_wire("ollama", "ollama", "gpt-oss:20b", lambda rng: _maybe(rng, "call_{:08}"), {"content": ""},
                   encoded=False, name_key="tool_name"),
        _block_wire(
            "anthropic", "anthropic", lambda _: Traits(_ids("toolu_{:06}"), thoughts=True, server=True, separate=False),
            _anthropic, _read_anthropic,
            {"model": "claude-sonnet-4-5", "max_tokens": 999, "tools": [
                *({"name": name, "input_schema": SCHEMA} for name in NAMES),
                {"type": "web_search_20250305", "name": "web_search"}]},
        ),
        _block_wire(
            "bedrock", "bedrock", lambda _: Traits(_ids("tooluse_{:06}"), thoughts=True, separate=False),
            _bedrock, _read_bedrock,
            {"modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0", "inferenceConfig": {"maxTokens": 99}, "toolConfig": {
                "tools": [{"toolSpec": {"name": name, "inputSchema": {"json": SCHEMA}}} for name in NAMES]}},
        ),
        _block_wire(
            "gemini", "gemini", lambda rng: Traits(_maybe(rng, "fc-{}"), separate=False), _gemini, _read_gemini,
            {"generationConfig": {"temperature": 1},
             "tools": [{"functionDeclarations": [{"name": name, "parameters": SCHEMA} for name in NAMES]}]},
            roles={"user": "user", "tool": "user", "model": "model"}, keys=("role", "parts"), key="contents",
        ),
        _block_wire(
            "canonical", "none", lambda _: Traits(_ids("hist_tool_{:024}"), thoughts=True, separate=False),
            _canonical, _read_canonical, {}, roles={"user": "human", "tool": "tool", "model": "ai"},
            keys=("speaker", "blocks"), key="history",
        ),
        Wire("openai-responses", "openai-responses", lambda _: Traits(_ids("call_{:06}"), thoughts=True), _items,
             _read_item, {"model": "gpt-5.1", "store": False, "tools": [
                 {"type": "function", "name": name, "parameters": SCHEMA} for name in NAMES]}, "input"),
    )
}  # fmt: skip
