"""Logs to measure with, generated from a seed and equal on every machine.

Texts are of log-normal length, some with escapes, some with characters beyond ASCII; a conversation has some tens of
messages; a faulty one has lost a result.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORDS = [
    "build",
    "parse",
    "token",
    "stream",
    "value",
    "record",
    "field",
    "index",
    "offset",
    "result",
    "answer",
    "question",
    "window",
    "cursor",
    "branch",
    "merge",
    "commit",
    "revert",
    "patch",
    "module",
    "import",
    "return",
    "assert",
    "table",
    "column",
    "row",
    "key",
    "lock",
    "queue",
    "worker",
    "signal",
    "retry",
]
KINDS = ("openai-chat", "anthropic")


class Writer:
    """Generates conversations from one seed."""

    def __init__(self, seed: int, faulty: float) -> None:
        self.random = random.Random(seed)
        self.faulty = faulty

    def text(self, mean: float) -> str:
        words = self.random.choices(WORDS, k=1 + int(self.random.lognormvariate(mean, 1)))
        return " ".join(words) + self.random.choice(["", '\nsaid "so"\n', " größer 日本", ""])

    def name(self, prefix: str) -> str:
        return prefix + "".join(self.random.choices("abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ", k=24))

    def turns(self) -> Iterator[tuple[str, list[str]]]:
        """Roles, with the ids of the calls of an assistant."""
        for _ in range(self.random.randint(1, 8)):
            yield "user", []
            for _ in range(self.random.randint(0, 3)):
                yield "assistant", [self.name("call_") for _ in range(self.random.choice((1, 1, 1, 2, 3)))]
            yield "assistant", []

    def conversation(self, kind: str) -> dict[str, Any]:
        messages: list[dict[str, Any]] = []
        answers: list[int] = []
        for role, ids in self.turns():
            if kind == "openai-chat":
                messages.append(self._chat(role, ids))
                answers += range(len(messages), len(messages) + len(ids))
                messages += [
                    {"role": "tool", "tool_call_id": identifier, "content": self.text(4.5)}
                    for identifier in ids
                ]
            else:
                messages.append(self._blocks(role, ids))
                if ids:
                    answers.append(len(messages))
                    blocks = [
                        {"type": "tool_result", "tool_use_id": identifier, "content": self.text(4.5)}
                        for identifier in ids
                    ]
                    messages.append({"role": "user", "content": blocks})
        messages.append({"role": "user", "content": "go on"})
        if answers and self.random.random() < self.faulty:
            del messages[self.random.choice(answers)]
        return {
            "model": "gpt-4.1" if kind == "openai-chat" else "claude-haiku-4-5",
            **_around(kind),
            "messages": messages,
        }

    def _chat(self, role: str, ids: list[str]) -> dict[str, Any]:
        if not ids:
            return {"role": role, "content": self.text(3.5)}
        calls = [
            {
                "id": identifier,
                "type": "function",
                "function": {"name": "read", "arguments": json.dumps({"q": self.text(1.5)})},
            }
            for identifier in ids
        ]
        return {"role": role, "content": self.random.choice([None, self.text(2.5)]), "tool_calls": calls}

    def _blocks(self, role: str, ids: list[str]) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": self.text(3)}]
        blocks += [
            {"type": "tool_use", "id": identifier, "name": "read", "input": {"q": self.text(1.5)}}
            for identifier in ids
        ]
        return {"role": role, "content": blocks}


def _around(kind: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    if kind == "openai-chat":
        return {"tools": [{"type": "function", "function": {"name": "read", "parameters": schema}}]}
    return {"max_tokens": 900, "tools": [{"name": "read", "input_schema": schema}]}


def requests(path: Path, kind: str, size: int, *, faulty: float = 0.0, seed: int = 11) -> Path:
    """One conversation per line."""
    writer = Writer(seed, faulty)
    lines = [_line(writer.conversation(kind)) for _ in range(min(2000, 1 + size // 8000))]
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(writer.random.choice(lines))
    return path


def sessions(path: Path, kind: str, size: int, *, faulty: float = 0.0, seed: int = 12) -> Path:
    """One message per line, each with the name of its conversation."""
    writer = Writer(seed, faulty)
    with path.open("wb") as file:
        while file.tell() < size:
            name = writer.name("c-")
            for message in writer.conversation(kind)["messages"]:
                file.write(_line({"conversation_id": name, **message}))
    return path


def agent(path: Path, size: int, *, seed: int = 13) -> Path:
    """One session of Claude Code, a block per line, each the child of the one before it."""
    writer = Writer(seed, 0.0)
    before = None
    with path.open("wb") as file:
        while file.tell() < size:
            for message in writer.conversation("anthropic")["messages"]:
                content = message["content"]
                parted = message["role"] == "assistant"
                for part in [[block] for block in content] if parted else [content]:
                    record = {
                        "parentUuid": before, "isSidechain": False, "sessionId": "s", "uuid": writer.name(""),
                        "type": message["role"], "message": {"role": message["role"], "content": part},
                        "timestamp": "2026-03-01T12:00:00.000Z", "cwd": "/repo", "version": "2.0.1",
                    }  # fmt: skip
                    file.write(_line(record))
                    before = record["uuid"]
    return path


def rollout(path: Path, size: int, *, seed: int = 14) -> Path:
    """One session of Codex: an item per line, and repeated display events."""
    writer = Writer(seed, 0.0)
    with path.open("wb") as file:

        def put(kind: str, payload: dict[str, Any]) -> None:
            file.write(_line({"timestamp": "2026-03-01T12:00:00.000Z", "type": kind, "payload": payload}))

        put("session_meta", {"id": "s", "cwd": "/repo", "instructions": writer.text(5)})
        while file.tell() < size:
            for message in writer.conversation("openai-chat")["messages"]:
                for call in message.get("tool_calls", ()):
                    put("response_item", {"type": "function_call", "call_id": call["id"], **call["function"]})
                if "tool_call_id" in message:
                    output = {"call_id": message["tool_call_id"], "output": message["content"]}
                    put("response_item", {"type": "function_call_output", **output})
                elif "tool_calls" not in message:
                    kind = "output_text" if message["role"] == "assistant" else "input_text"
                    parts = [{"type": kind, "text": message["content"]}]
                    put("response_item", {"type": "message", "role": message["role"], "content": parts})
                    put("event_msg", {"type": f"{message['role']}_message", "message": message["content"]})
    return path


def long_conversation(path: Path, count: int, *, faulty: bool = False) -> Path:
    """One conversation of `count` messages. A faulty one has a result without a call, and so is read."""
    messages: list[dict[str, Any]] = [
        {"role": ("user", "assistant")[number % 2], "content": f"message {number}"} for number in range(count)
    ]
    if faulty:
        messages.append({"role": "tool", "tool_call_id": "call_00000001", "content": "done"})
    path.write_bytes(_line({"messages": messages}))
    return path


def wide_turn(path: Path, count: int) -> Path:
    """One turn with `count` calls, all with results."""
    ids = [f"call_{number:08}" for number in range(count)]
    calls = [
        {"id": identifier, "type": "function", "function": {"name": "read", "arguments": "{}"}}
        for identifier in ids
    ]
    answers = [{"role": "tool", "tool_call_id": identifier, "content": "done"} for identifier in ids]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    path.write_bytes(_line({"messages": [{"role": "user", "content": "go"}, message, *answers]}))
    return path


def repeated_results(path: Path, count: int) -> Path:
    """One call with `count` results."""
    call = {"id": "call_00000001", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "call_00000001", "content": "done"}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    path.write_bytes(_line({"messages": [{"role": "user", "content": "go"}, message, *[answer] * count]}))
    return path


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
