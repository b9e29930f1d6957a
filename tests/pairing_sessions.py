"""Conversations as sessions of agents, written and parsed.

This module spells the abstract conversation of `breaking` as the lines of Claude Code, Codex, pi and Gemini CLI.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from breaking import Conversation, Piece, Turn
from breaking_wires import (
    WIRES,
    Value,
    _anthropic,
    _item,
    _marked,
    _read_anthropic,
    _read_item,
    _result,
    present,
)

TIME = "2026-06-02T14:11:20.000Z"


@dataclass
class Session:
    """The spelling of a session by an agent."""

    name: str
    traits: str
    """The wire whose ids and kinds of pieces the agent uses."""
    spell: Callable[[Conversation], Iterator[Value]]
    read: Callable[[Value], Turn | None]


def _linked(lines: Iterator[Value], own: str, parent: str, root: Value) -> Iterator[Value]:
    last = None
    for number, line in enumerate(lines):
        yield {own: f"u-{number:05}", parent: last, **root, **line}
        last = f"u-{number:05}"


def _claude_lines(conversation: Conversation) -> Iterator[Value]:
    for number, turn in enumerate(conversation):
        if turn.role != "model":
            yield {
                "type": "user",
                "message": {"role": "user", "content": [_anthropic(piece) for piece in turn.pieces]},
            }
            continue
        for piece in turn.pieces:
            message = {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
            }
            content = [_anthropic(piece)]
            yield {"type": "assistant", "message": {**message, "content": content, "stop_reason": None}}


def _claude(conversation: Conversation) -> Iterator[Value]:
    root = {"isSidechain": False, "sessionId": "s-1", "version": "2.1.0", "timestamp": TIME}
    yield from _linked(_claude_lines(conversation), "uuid", "parentUuid", root)


def _read_claude(line: Value) -> Turn | None:
    if line.get("type") not in ("user", "assistant"):
        return None
    content = line["message"]["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return Turn(
        "model" if line["type"] == "assistant" else "tool", [_read_anthropic(block) for block in blocks]
    )


def _codex(conversation: Conversation) -> Iterator[Value]:
    yield {"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "cwd": "/repo"}}
    for turn in conversation:
        for piece in turn.pieces:
            payload = _item(turn.role, piece)
            if payload.get("role") == "user":
                content = [{"type": "input_text", "text": payload["content"]}]
                payload = {"type": "message", "role": "user", "content": content}
            yield {"timestamp": TIME, "type": "response_item", "payload": payload}


def _read_codex(line: Value) -> Turn | None:
    if line.get("type") != "response_item":
        return None
    item = line["payload"]
    if item.get("type") == "message":
        texts = [Piece("text", entry["text"]) for entry in item["content"]]
        return Turn("model" if item["role"] == "assistant" else "user", texts)
    return _read_item(item)


def _pi_block(piece: Piece) -> Value:
    if piece.kind == "call":
        named = {"name": piece.name, "arguments": {"k": piece.mark}}
        return {"type": "toolCall", **present(id=piece.id), **named}
    return {"type": "text", "text": piece.words}


def _pi_lines(conversation: Conversation) -> Iterator[Value]:
    for turn in conversation:
        if turn.role == "model":
            blocks = [_pi_block(piece) for piece in turn.pieces if piece.kind in ("call", "text")]
            if blocks:
                yield {"role": "assistant", "content": blocks, "stopReason": "stop", "timestamp": 2}
        for piece in turn.pieces:
            if piece.kind in ("result", "partial"):
                own = {
                    **present(toolCallId=piece.id),
                    "toolName": piece.name,
                    "isError": False,
                    "timestamp": 3,
                }
                yield {"role": "toolResult", **own, "content": [{"type": "text", "text": piece.words}]}
            elif turn.role != "model" and piece.kind == "text":
                yield {"role": "user", "content": [{"type": "text", "text": piece.words}], "timestamp": 1}


def _pi(conversation: Conversation) -> Iterator[Value]:
    yield {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/repo"}
    lines = ({"type": "message", "timestamp": TIME, "message": line} for line in _pi_lines(conversation))
    yield from _linked(lines, "id", "parentId", {})


def _read_pi(line: Value) -> Turn | None:
    if line.get("type") != "message":
        return None
    message = line["message"]
    if message["role"] == "toolResult":
        return Turn("tool", [_result(message["content"], message.get("toolCallId"), message.get("toolName"))])
    pieces = [
        Piece("call", "", _marked(item["arguments"]), item.get("id"), item["name"])
        if item["type"] == "toolCall"
        else Piece("text", item["text"])
        for item in message["content"]
    ]
    return Turn("model" if message["role"] == "assistant" else "user", pieces)


def _gemini_cli(conversation: Conversation) -> Iterator[Value]:
    """Calls and results as parts, in the spelling of a checkpoint's history."""
    yield {"sessionId": "s1", "projectHash": "p1", "startTime": TIME}
    for number, turn in enumerate(conversation):
        (value,) = (item.value for item in WIRES["gemini"].spell([turn]))
        kind = "gemini" if turn.role == "model" else "user"
        yield {"id": f"m{number}", "timestamp": TIME, "type": kind, "content": value["parts"]}


def _read_gemini_cli(line: Value) -> Turn | None:
    if line.get("type") not in ("gemini", "user"):
        return None
    role = "model" if line["type"] == "gemini" else "user"
    calls = [
        Piece("call", "", _marked(call["args"]), call.get("id"), call["name"])
        for call in line.get("toolCalls") or ()
    ]
    content = line["content"] if isinstance(line["content"], list) else [{"text": line["content"]}]
    turn = WIRES["gemini"].read({"role": role, "parts": content})
    return Turn(role, [*turn.pieces, *calls])


SESSIONS = {
    item.name: item
    for item in (
        Session("claude-code", "anthropic", _claude, _read_claude),
        Session("codex", "openai-responses", _codex, _read_codex),
        Session("pi", "openai-chat", _pi, _read_pi),
        Session("gemini-cli", "gemini", _gemini_cli, _read_gemini_cli),
    )
}


def written(lines: Iterator[Value]) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def turns_in(session: Session, data: bytes) -> Conversation:
    found: list[Any] = [session.read(json.loads(line)) for line in data.splitlines() if line.strip()]
    return [item for item in found if item is not None]
