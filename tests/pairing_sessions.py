"""Conversations as sessions of agents, and read back.

This module spells the abstract conversation of `breaking` as the lines of Claude Code, Codex, pi and Gemini CLI.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from breaking import Piece, Talk, Turn
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
    """How an agent spells a session."""

    name: str
    traits: str
    """The wire whose ids and kinds of pieces the agent uses."""
    spell: Callable[[Talk], Iterator[Value]]
    read: Callable[[Value], Turn | None]


def _linked(lines: Iterator[Value], own: str, parent: str, root: Value) -> Iterator[Value]:
    last = None
    for number, line in enumerate(lines):
        yield {own: f"u-{number:05}", parent: last, **root, **line}
        last = f"u-{number:05}"


def _claude_lines(talk: Talk) -> Iterator[Value]:
    for number, turn in enumerate(talk):
        if turn.role != "model":
            yield {
                "type": "user",
                "message": {"role": "user", "content": [_anthropic(one) for one in turn.pieces]},
            }
            continue
        for piece in turn.pieces:
            said = {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
            }
            content = [_anthropic(piece)]
            yield {"type": "assistant", "message": {**said, "content": content, "stop_reason": None}}


def _claude(talk: Talk) -> Iterator[Value]:
    root = {"isSidechain": False, "sessionId": "s-1", "version": "2.1.0", "timestamp": TIME}
    yield from _linked(_claude_lines(talk), "uuid", "parentUuid", root)


def _read_claude(line: Value) -> Turn | None:
    if line.get("type") not in ("user", "assistant"):
        return None
    content = line["message"]["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return Turn("model" if line["type"] == "assistant" else "tool", [_read_anthropic(one) for one in blocks])


def _codex(talk: Talk) -> Iterator[Value]:
    yield {"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "cwd": "/repo"}}
    for turn in talk:
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
        texts = [Piece("text", one["text"]) for one in item["content"]]
        return Turn("model" if item["role"] == "assistant" else "user", texts)
    return _read_item(item)


def _pi_block(piece: Piece) -> Value:
    if piece.kind == "call":
        named = {"name": piece.name, "arguments": {"k": piece.mark}}
        return {"type": "toolCall", **present(id=piece.id), **named}
    return {"type": "text", "text": piece.words}


def _pi_lines(talk: Talk) -> Iterator[Value]:
    for turn in talk:
        if turn.role == "model":
            blocks = [_pi_block(one) for one in turn.pieces if one.kind in ("call", "text")]
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


def _pi(talk: Talk) -> Iterator[Value]:
    yield {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/repo"}
    lines = ({"type": "message", "timestamp": TIME, "message": one} for one in _pi_lines(talk))
    yield from _linked(lines, "id", "parentId", {})


def _read_pi(line: Value) -> Turn | None:
    if line.get("type") != "message":
        return None
    said = line["message"]
    if said["role"] == "toolResult":
        return Turn("tool", [_result(said["content"], said.get("toolCallId"), said.get("toolName"))])
    pieces = [
        Piece("call", "", _marked(one["arguments"]), one.get("id"), one["name"])
        if one["type"] == "toolCall"
        else Piece("text", one["text"])
        for one in said["content"]
    ]
    return Turn("model" if said["role"] == "assistant" else "user", pieces)


def _gemini_cli(talk: Talk) -> Iterator[Value]:
    """Calls and results as parts, in the spelling of a checkpoint's history."""
    yield {"sessionId": "s1", "projectHash": "p1", "startTime": TIME}
    for number, turn in enumerate(talk):
        (value,) = (one.value for one in WIRES["gemini"].spell([turn]))
        kind = "gemini" if turn.role == "model" else "user"
        yield {"id": f"m{number}", "timestamp": TIME, "type": kind, "content": value["parts"]}


def _read_gemini_cli(line: Value) -> Turn | None:
    if line.get("type") not in ("gemini", "user"):
        return None
    role = "model" if line["type"] == "gemini" else "user"
    calls = [
        Piece("call", "", _marked(one["args"]), one.get("id"), one["name"])
        for one in line.get("toolCalls") or ()
    ]
    content = line["content"] if isinstance(line["content"], list) else [{"text": line["content"]}]
    turn = WIRES["gemini"].read({"role": role, "parts": content})
    return Turn(role, [*turn.pieces, *calls])


SESSIONS = {
    one.name: one
    for one in (
        Session("claude-code", "anthropic", _claude, _read_claude),
        Session("codex", "openai-responses", _codex, _read_codex),
        Session("pi", "openai-chat", _pi, _read_pi),
        Session("gemini-cli", "gemini", _gemini_cli, _read_gemini_cli),
    )
}


def written(lines: Iterator[Value]) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def turns_in(session: Session, data: bytes) -> Talk:
    found: list[Any] = [session.read(json.loads(line)) for line in data.splitlines() if line.strip()]
    return [one for one in found if one is not None]
