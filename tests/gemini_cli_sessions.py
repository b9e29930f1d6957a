"""Sessions of Gemini CLI made of a few records, for tests."""

import json
from typing import Any

from turnlint import carriers, testing
from turnlint.model import Call, Message, Record, Result, Transcript

CARRIER = carriers.carrier("gemini-cli")
HEAD = {"sessionId": "s1", "projectHash": "p1", "startTime": "2026-04-23T16:12:42.783Z"}
LOST = "The tool execution result was lost due to context management truncation."


def user(identifier: str, *content: Any) -> dict[str, Any]:
    parts = [{"text": item} if isinstance(item, str) else item for item in content]
    return {"id": identifier, "timestamp": "t", "type": "user", "content": parts}


def gemini(identifier: str, content: Any = "", *tools: Any, **more: Any) -> dict[str, Any]:
    message = {"id": identifier, "timestamp": "t", "type": "gemini", "content": content, **more}
    return message | {"toolCalls": list(tools)} if tools else message


def call(identifier: str | None = "c1", name: str = "run") -> dict[str, Any]:
    own = {"id": identifier} if identifier else {}
    return {"functionCall": {**own, "name": name, "args": {"a": 1}}}


def response(identifier: str | None = "c1", text: str = "done", name: str = "run") -> dict[str, Any]:
    own = {"id": identifier} if identifier else {}
    return {"functionResponse": {**own, "name": name, "response": {"output": text}}}


def tool(identifier: str = "c1", *results: Any, name: str = "run", **more: Any) -> dict[str, Any]:
    result = list(results) or None
    return {
        "id": identifier, "name": name, "args": {"a": 1}, "result": result, "status": "success", **more,
    }  # fmt: skip


def data_of(*records: Any) -> bytes:
    return b"".join(
        (item if isinstance(item, bytes) else json.dumps(item, separators=(",", ":")).encode()) + b"\n"
        for item in (HEAD, *records)
    )


def every(*records: Any) -> list[Transcript]:
    found, offset = [], 0
    for number, line in enumerate(data_of(*records).splitlines(), 1):
        found.append(Record(number, offset, line))
        offset += len(line) + 1
    read = CARRIER.read(map(CARRIER.shape.read, found))
    return [item for item in read if isinstance(item, Transcript)]


def messages(*records: Any) -> tuple[Message, ...]:
    (found,) = [item for item in every(*records) if not item.dead]
    return found.messages


def blocks(*records: Any) -> list[Any]:
    return [block for message in messages(*records) for block in message.blocks]


def pieces(*records: Any) -> list[tuple[str, str | None]]:
    return [
        (type(block).__name__, getattr(block, "id", None))
        for block in blocks(*records)
        if isinstance(block, (Call, Result))
    ]


def codes(data: bytes) -> list[tuple[str, int]]:
    rows = testing.rows_of(data, "gemini-cli")
    return [(row.finding.code, row.place.line) for row in rows if row.finding.severity != "info"]


def lines_of(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


def fixed(*records: Any) -> list[Any]:
    """The records after a repair, without the first."""
    return lines_of(testing.fixed(data_of(*records), "gemini-cli"))[1:]
