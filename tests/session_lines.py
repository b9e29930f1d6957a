"""Sessions of agents made by chance: mostly as those programs write them, and now and then as they do not.

In Claude Code's, lines hang on the one before them, on an earlier one, or nowhere; answers come in pieces, calls go side
by side, their results in any order; agents write between the lines of the main conversation. Codex writes item after
item, says much of it once more for people, and takes back or sums up what was said.
"""

import json
from random import Random
from typing import Any

Lines = list[dict[str, Any]]


def tree(chance: Random, name: str) -> Lines:
    """A session of a few lines that hang together by chance alone; most of its calls are answered at last."""
    lines: Lines = []
    waiting: list[tuple[str, str]] = []
    response = 0

    def add(parent: str | None, kind: str, content: Any = None, **more: Any) -> None:
        said = {"role": kind, "content": content, "id": f"{name}-msg-{response}"}
        own = {} if content is None else {"message": said}
        lines.append({
            "uuid": f"{name}-{len(lines)}", "parentUuid": parent, "sessionId": name, "type": kind, **own, **more,
        })  # fmt: skip

    def answer(place: int, *more: Any) -> None:
        call, asked = waiting.pop(place)
        result = {"type": "tool_result", "tool_use_id": call, "content": "done"}
        add(chance.choice([asked, lines[-1]["uuid"]]), "user", [result, *more])

    add(None, "user", "go")
    for _ in range(chance.choice([3, 4, 5, 6, 7, 8, 9])):
        spoken = [line["uuid"] for line in lines if line["type"] == "assistant"][-3:]
        parent = chance.choice([lines[-1]["uuid"]] * 3 + spoken)
        response += chance.random() < 0.3
        more = {"agentId": "agent-1"} if chance.random() < 0.05 else {}
        kind = chance.choice(["tool_use"] * 4 + ["text", "user", "system", "failed"] + ["result"] * 8)
        if kind == "tool_use":
            waiting.append((f"toolu_{name}_{len(lines):04}", f"{name}-{len(lines)}"))
            call = {"type": "tool_use", "id": waiting[-1][0], "name": "Read", "input": {}}
            add(parent, "assistant", [call], **more)
        elif kind in ("text", "failed"):
            failed = {"isApiErrorMessage": True} if kind == "failed" else {}
            add(parent, "assistant", [{"type": "text", "text": "so it is"}], **failed, **more)
        elif kind in ("user", "system"):
            add(parent, kind, "wait" if kind == "user" else None, **more)
        elif waiting:
            behind = [{"type": "text", "text": "a reminder"}] if chance.random() < 0.1 else []
            answer(chance.randrange(len(waiting)), *behind)
    while waiting and chance.random() < 0.95:
        answer(chance.randrange(len(waiting)))
    add(lines[-1]["uuid"], "assistant", [{"type": "text", "text": "so it is"}])
    return lines


class Sessions:
    """Writes sessions into one log, and remembers what a next line could hang on."""

    said: tuple[str, ...] = ("so it is", "done. ", "in [brackets]", "<b>", "<tool_call>x", "é")

    def __init__(self, chance: Random, wild: float) -> None:
        self.chance = chance
        self.wild = wild
        self.lines: Lines = []

    def often(self) -> bool:
        """Whether it is to be as the program writes it."""
        return self.chance.random() >= self.wild

    def name(self, kind: str) -> str:
        return f"{kind}-{self.chance.getrandbits(60):015x}"

    def add(self, kind: str, parent: str | None, **more: Any) -> str:
        chance, number = self.chance, len(self.lines)
        if not self.often():
            seen = [line["uuid"] for line in self.lines if "uuid" in line]
            parent = chance.choice([parent, None, "nobody", *seen[-6:]])
        line = {
            "parentUuid": parent, "isSidechain": False, "sessionId": "s-1", "version": "2.1.0", "type": kind,
            "uuid": self.name("u"), "timestamp": f"2026-11-01T00:{number // 60 % 60:02}:{number % 60:02}.000Z", **more,
        }  # fmt: skip
        if not self.often():
            line.update(chance.choice(_ODD))
        if not self.often() and self.lines:
            line["uuid"] = chance.choice(self.lines).get("uuid", line["uuid"])
        if not self.often():
            line.pop(chance.choice(list(line)))
        self.lines.append(line)
        return str(line.get("uuid"))

    def say(self, parent: str | None, **more: Any) -> str:
        content: Any = "go on"
        if self.chance.random() < 0.3:
            content = [
                {"type": "text", "text": "see here"},
                {"type": "image", "source": {"type": "base64", "data": "eA=="}},
            ]
        if not self.often():
            content = self.chance.choice(
                ["", " ", [], None, 5, [{"type": "text", "text": ""}], [{"type": "later"}]]
            )
        return self.add("user", parent, message={"role": "user", "content": content}, **more)

    def piece(self, parent: str | None, response: str | None, block: Any, **more: Any) -> str:
        message = {
            "id": response, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [block],
            "stop_reason": None, "usage": {"input_tokens": 3},
        }  # fmt: skip
        return self.add("assistant", parent, message=message, **more)

    def silent(self, parent: str | None, **more: Any) -> str:
        kind = self.chance.choice(["system", "attachment", "progress"])
        return self.add(kind, parent, content="a note", **more)

    def turn(self, at: str | None, **more: Any) -> str:
        """A prompt, and answers with calls until one has none."""
        chance = self.chance
        at = self.say(at, **more)
        for _ in range(chance.choice([0, 1, 1, 2])):
            at = self.round(at, **more)
        return self.piece(at, self.name("msg"), {"type": "text", "text": chance.choice(self.said)}, **more)

    def round(self, at: str, **more: Any) -> str:
        """Calls side by side, and their results: on a chain, or each on its own call."""
        chance, response = self.chance, self.name("msg")
        if chance.random() < 0.5:
            at = self.piece(at, response, chance.choice(_THOUGHTS), **more)
        calls = [self.name("toolu") for _ in range(chance.choice([1, 1, 2, 3]))]
        forks, mixed = chance.random() < 0.5, chance.random() < 0.3
        waiting = []
        for one in calls:
            call = {"type": "tool_use", "id": one, "name": "Read", "input": {"path": "x"}}
            at = asked = self.piece(at, response if self.often() else self.name("msg"), call, **more)
            if chance.random() < 0.1:
                silent = self.silent(at, **more)
                at = chance.choice([at, silent])
            if mixed:
                end = self.answer(one, asked if forks else at, **more)
                at = at if forks else end
            else:
                waiting.append((one, asked if self.often() else at))
        if chance.random() < 0.4:
            chance.shuffle(waiting)
        for one, asked in waiting:
            if self.often():
                at = self.answer(one, asked if forks else at, **more)
        if mixed and forks:
            at = end
        return at

    def answer(self, call: str, at: str, **more: Any) -> str:
        result: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": self.chance.choice(_RESULTS),
        }
        if self.chance.random() < 0.2:
            result["is_error"] = self.chance.random() < 0.5
        blocks: list[Any] = [result]
        if self.chance.random() < 0.1:
            blocks.append({"type": "text", "text": "a reminder"})
        if not self.often():
            blocks.insert(0, {"type": "text", "text": "before it"})
        return self.add(
            "user", at, message={"role": "user", "content": blocks}, toolUseResult={"a": [1]}, **more
        )

    def write(self) -> Lines:
        chance = self.chance
        at: dict[str, str | None] = {}
        agents: dict[str, str | None] = {}
        for _ in range(chance.choice([1, 2, 4])):
            session = chance.choice(["s-1", "s-1", "s-2"])
            before = len(self.lines)
            at[session] = self.turn(at.get(session), sessionId=session)
            if chance.random() < 0.3:
                agent = chance.choice([None, "agent-1", "agent-2"])
                named = {} if agent is None else {"agentId": agent}
                key = f"{session} {agent}" if agent else f"{len(self.lines)}"
                agents[key] = self.turn(agents.get(key), sessionId=session, isSidechain=True, **named)
            if chance.random() < 0.2:
                self.lines.append(chance.choice(_NOTES) | {"sessionId": session})
            if not self.often():
                chance.shuffle(self.lines[before:])
        return self.lines


_RESULTS: list[Any] = [
    "done", "", [{"type": "text", "text": "done"}], [{"type": "image", "source": {"type": "base64", "data": "eA=="}}],
    [{"type": "text", "text": ""}], None, [{"type": "tool_use", "id": "t", "name": "x", "input": {}}],
]  # fmt: skip
_THOUGHTS = [
    {"type": "thinking", "thinking": "let me see", "signature": "c2ln"}, {"type": "text", "text": "let me see"},
    {"type": "thinking", "thinking": "", "signature": "c2ln"}, {"type": "redacted_thinking", "data": "eA=="},
    {"type": "thinking", "thinking": "x"},
]  # fmt: skip
_NOTES: list[dict[str, Any]] = [
    {"type": "queue-operation", "operation": "enqueue"}, {"type": "summary", "summary": "x", "leafUuid": "nobody"},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}, {"type": "never-met"}, {"note": 1}, {"type": 5},
]  # fmt: skip
_ODD: list[dict[str, Any]] = [
    {"isMeta": True}, {"isApiErrorMessage": True}, {"teamName": "t"}, {"isSidechain": True}, {"agentId": "agent-1"},
    {"timestamp": "2026-01-01T00:00:00.000Z"}, {"timestamp": 5}, {"subtype": "compact_boundary"}, {"sessionId": "s-2"},
    {"sessionId": None}, {"compactMetadata": {"preserved": 1}}, {"isSidechain": 5}, {"type": "assistant"},
    {"type": "user"}, {"message": None}, {"parentUuid": ""}, {"sessionId": "s-3"}, {"leafUuid": "nobody"},
    {"isSidechain": True, "agentId": ""}, {"timestamp": ""}, {"uuid": "\\u0061"},
]  # fmt: skip


def rollout(chance: Random, wild: float = 0.02) -> bytes:
    """A log of one session of Codex."""
    lines: Lines = []

    def often() -> bool:
        return chance.random() >= wild

    def add(kind: str, said: dict[str, Any]) -> None:
        payload = dict(said)
        line: dict[str, Any] = {
            "timestamp": f"2026-11-01T00:00:{len(lines) % 60:02}.000Z",
            "type": kind,
            "payload": payload,
        }
        for place in (line, payload):
            if not often():
                place.update(chance.choice(_ODD_ITEMS))
            if not often() and place:
                place.pop(chance.choice(list(place)))
        lines.append(line)

    def say(role: str, text: str) -> None:
        part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
        content: Any = [part]
        if chance.random() < 0.1:
            content.append({"type": "input_image", "image_url": "data:x"})
        add(
            "response_item",
            {"type": "message", "role": role, "content": content if often() else chance.choice(_CONTENTS)},
        )

    add("session_meta", {"id": "s-1", "cwd": "/repo"})
    for _ in range(chance.choice([1, 2, 4])):
        say("user", chance.choice(["go", "<environment_context>x</environment_context>", "go on"]))
        add("event_msg", {"type": chance.choice(["user_message", "token_count"]), "message": "go"})
        for _ in range(chance.choice([0, 1, 2])):
            add("response_item", chance.choice(_BETWEEN))
            calls = [f"call_{chance.getrandbits(60):015x}" for _ in range(chance.choice([1, 1, 2]))]
            for one in calls:
                add("response_item", {"type": "function_call", "call_id": one, **chance.choice(_ASKED)})
            for one in calls:
                if often():
                    add("response_item", {**chance.choice(_OUTPUTS), "call_id": one if often() else calls[0]})
        say("assistant", chance.choice(["so it is", "done ", "<b>"] + ["<tool_call>x"] * (not often())))
        if not often():
            lines.append(chance.choice(_TURNING))
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


_CONTENTS: list[Any] = [
    "go",
    "",
    [],
    None,
    [{"type": "input_text", "text": " "}],
    [{"type": "text", "text": "x"}],
    [5],
]
_BETWEEN: list[dict[str, Any]] = [
    {"type": "reasoning", "summary": [], "encrypted_content": "eA=="}, {"type": "web_search_call", "status": "completed"},
    {"type": "reasoning", "summary": [], "content": None}, {"type": "ghost_snapshot", "ghost_commit": {}},
    {"type": "custom_tool_call_output", "call_id": "none", "output": "x"}, {"type": "tool_search_call", "call_id": None},
]  # fmt: skip
_ASKED: list[dict[str, Any]] = [
    {"name": "shell", "arguments": "{}"}, {"name": "shell", "arguments": '{"cmd": "ls"}'},
    {"type": "custom_tool_call", "name": "patch", "input": "x"}, {"name": "shell", "arguments": ""}, {"name": "", "arguments": "{}"},
    {"type": "local_shell_call", "action": {}}, {"name": "shell", "arguments": "{"}, {"name": "shell", "arguments": "{}", "id": "fc_1"},
]  # fmt: skip
_OUTPUTS: list[dict[str, Any]] = [
    {"type": "function_call_output", "output": "done"}, {"type": "function_call_output", "output": ""},
    {"type": "function_call_output", "output": [{"type": "input_text", "text": "x"}]},
    {"type": "custom_tool_call_output", "output": {"content": "x", "success": True}},
    {"type": "function_call_output", "output": None}, {"type": "local_shell_call_output", "output": "x"},
]  # fmt: skip
_TURNING: list[dict[str, Any]] = [
    {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}, {"type": "compacted", "payload": {"message": "x"}},
    {"type": "compacted", "payload": {"message": "x", "replacement_history": []}}, {"type": "event_msg", "payload": 5},
    {"type": "inter_agent_communication", "payload": {"content": "hi"}}, {"type": "later", "payload": {}}, {"type": "later"},
    {"type": "message", "role": "user", "content": "hi"}, {"record_type": "state"}, {"type": "session_meta", "payload": {"id": "s-2"}},
    {"type": "response_item", "payload": None}, {"payload": {"type": "message"}, "type": "response_item"},
]  # fmt: skip
_ODD_ITEMS: list[dict[str, Any]] = [
    {"id": 5}, {"id": None}, {"role": "tool"}, {"role": "developer"}, {"name": "x"}, {"name": None}, {"ordinal": 3},
    {"tool_calls": []}, {"tool_call_id": None}, {"type": "message"}, {"type": "reasoning"}, {"call_id": None}, {"parts": [1]},
    {"content": "x"}, {"status": "failed"}, {"approval_request_id": "x"}, {"type": 5}, {"instructions": "x"},
]  # fmt: skip


def cut(data: bytes, chance: Random) -> bytes:
    """Lines gone, twice or elsewhere, and a few bytes broken."""
    lines = data.splitlines(keepends=True)
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        line = lines.pop(chance.randrange(len(lines))) if lines else b"{}\n"
        for _ in range(chance.choice([0, 1, 1, 2])):
            lines.insert(chance.randrange(len(lines) + 1), line)
    data = b"".join(lines)
    for _ in range(chance.choice([0, 0, 0, 0, 1, 2])):
        at = chance.randrange(len(data) + 1)
        data = (
            data[:at]
            + chance.choice([b"", b'"', b"\\", b"}", b"\n", b"\xff", b"1"])
            + data[at + chance.choice([0, 1, 9]) :]
        )
    return data


def session_log(chance: Random, wild: float = 0.02) -> bytes:
    """A log of one or two sessions."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in Sessions(chance, wild).write())
