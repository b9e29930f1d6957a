"""Examples as tests.

This module owns the short conversation notation in which rules write their examples, and its spelling
on each wire. A line is `user`, `assistant` or `system` with a text, or, indented or not, one of

    call     ID NAME ARGUMENTS      result   ID [(NAME)] [error:] TEXT
    think    TEXT                   server-call / server-result   ID NAME BODY

An ID or NAME of `-` is absent, `""` is empty; `raw:` before arguments takes them to the letter. What
stands after `<-` at the end of a line are the codes expected there, and no others anywhere.
"""

import re
from collections.abc import Callable
from json import dumps, loads
from typing import Any

from msgspec import Struct

from turnlint.model import Pointer

_LINE = re.compile(r"^\s*(?P<kind>[a-z-]+)(?:[ \t]+(?P<rest>.*?))?[ \t]*(?:<-[ \t]*(?P<codes>[A-Z0-9, ]+))?$")
_ABSENT = object()


class Step(Struct, frozen=True):
    """One line of the notation."""

    kind: str
    text: str
    id: Any = _ABSENT
    name: Any = _ABSENT
    body: str = ""
    codes: tuple[str, ...] = ()


class Expected(Struct, frozen=True):
    """A finding that must be there: its code and the place its line became."""

    code: str
    at: Pointer


class Written(Struct, frozen=True):
    """A conversation on a wire."""

    record: dict[str, Any]
    expected: tuple[Expected, ...]

    @property
    def data(self) -> bytes:
        return dumps(self.record, ensure_ascii=False).encode() + b"\n"


def parse(text: str) -> list[Step]:
    """Read the notation."""
    steps = []
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _LINE.match(line)
        assert match, f"not a line of a conversation: {line!r}"
        codes = tuple(code.strip() for code in (match["codes"] or "").split(",") if code.strip())
        steps.append(_step(match["kind"], match["rest"] or "", codes))
    return steps


def _step(kind: str, rest: str, codes: tuple[str, ...]) -> Step:
    if kind in ("user", "assistant", "system", "think"):
        return Step(kind, rest, codes=codes)
    first, _, after = rest.partition(" ")
    if kind == "result":
        name: Any = _ABSENT
        after = after.strip()
        if after.startswith("("):
            said, _, after = after[1:].partition(")")
            name = said
        return Step(kind, "", _word(first), name, after.strip(), codes)
    assert kind in ("call", "server-call", "server-result"), f"no such line: {kind}"
    second, _, body = after.strip().partition(" ")
    return Step(kind, "", _word(first), _word(second), body.strip(), codes)


def _word(text: str) -> Any:
    return _ABSENT if text == "-" else "" if text == '""' else text


def _present(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not _ABSENT}


class _Writer:
    """A conversation being written: messages, and what is expected where."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.messages: list[dict[str, Any]] = []
        self.expected: list[Expected] = []

    def expect(self, step: Step, *below: str | int) -> None:
        at = (self.key, len(self.messages) - 1, *below)
        self.expected += [Expected(code, at) for code in step.codes]

    def done(self, **more: Any) -> Written:
        return Written({**more, self.key: self.messages}, tuple(self.expected))


def openai_chat(steps: list[Step]) -> Written:
    out = _Writer("messages")
    for step in steps:
        if step.kind in ("user", "assistant", "system"):
            out.messages.append({"role": step.kind, "content": step.text})
            out.expect(step)
        elif step.kind == "call":
            message = out.messages[-1]
            calls = message.setdefault("tool_calls", [])
            message["content"] = message["content"] or None
            function = _present(name=step.name, arguments=_arguments_text(step.body))
            calls.append(_present(id=step.id, type="function", function=function))
            out.expect(step, "tool_calls", len(calls) - 1)
        elif step.kind == "result":
            text = step.body.removeprefix("error:").strip()
            out.messages.append(_present(role="tool", tool_call_id=step.id, name=step.name, content=text))
            out.expect(step)
        else:
            assert step.kind == "think", f"openai-chat has no {step.kind}"
            out.messages[-1]["reasoning_content"] = step.text
    return out.done(model="gpt-4.1")


def _arguments_text(body: str) -> str:
    return body.removeprefix("raw:") if body.startswith("raw:") else body or "{}"


def _arguments_value(body: str) -> Any:
    return loads(_arguments_text(body))


def anthropic(steps: list[Step]) -> Written:
    out = _Writer("messages")
    for step in steps:
        if step.kind in ("user", "assistant", "system"):
            blocks = [{"type": "text", "text": step.text}] if step.text else []
            out.messages.append({"role": step.kind, "content": blocks})
            out.expect(step)
            continue
        if step.kind == "result":
            if not (
                out.messages and out.messages[-1].get("role") == "user" and _only_results(out.messages[-1])
            ):
                out.messages.append({"role": "user", "content": []})
            text = step.body.removeprefix("error:").strip()
            failed = True if step.body.startswith("error:") else _ABSENT
            block = _present(
                type="tool_result", tool_use_id=step.id, name=step.name, content=text, is_error=failed
            )
        elif step.kind == "call":
            block = _present(type="tool_use", id=step.id, name=step.name, input=_arguments_value(step.body))
        elif step.kind == "server-call":
            block = _present(
                type="server_tool_use", id=step.id, name=step.name, input=_arguments_value(step.body)
            )
        elif step.kind == "server-result":
            block = _present(type=f"{step.name}_tool_result", tool_use_id=step.id, content=[])
        else:
            block = {"type": "thinking", "thinking": step.text, "signature": "c2ln"}
        out.messages[-1]["content"].append(block)
        out.expect(step, "content", len(out.messages[-1]["content"]) - 1)
    return out.done(model="claude-sonnet-4-5", max_tokens=64)


def _only_results(message: dict[str, Any]) -> bool:
    blocks = message["content"]
    return bool(blocks) and all(block["type"] == "tool_result" for block in blocks)


def canonical(steps: list[Step]) -> Written:
    out = _Writer("history")
    speakers = {"user": "human", "assistant": "ai", "system": "system"}
    for step in steps:
        if step.kind in speakers:
            blocks = [{"type": "text", "text": step.text}] if step.text else []
            out.messages.append({"speaker": speakers[step.kind], "blocks": blocks})
            out.expect(step)
            continue
        if step.kind == "result":
            if not (out.messages and out.messages[-1]["speaker"] == "tool"):
                out.messages.append({"speaker": "tool", "blocks": []})
            failed = step.body.startswith("error:")
            text = step.body.removeprefix("error:").strip()
            ending = {"error": text} if failed else {"result": {"output": text}}
            block = _present(type="tool_response", callId=step.id, toolName=step.name) | ending
        elif step.kind == "call":
            block = _present(
                type="tool_call", id=step.id, name=step.name, parameters=_arguments_value(step.body)
            )
        else:
            assert step.kind == "think", f"canonical has no {step.kind}"
            block = {"type": "thinking", "thought": step.text}
        out.messages[-1]["blocks"].append(block)
        out.expect(step, "blocks", len(out.messages[-1]["blocks"]) - 1)
    return out.done()


WRITERS: dict[str, Callable[[list[Step]], Written]] = {
    "openai-chat": openai_chat,
    "anthropic": anthropic,
    "canonical": canonical,
}
"""How each wire spells the notation."""


def write(text: str, wire: str) -> Written:
    """An example on a wire."""
    return WRITERS[wire](parse(text))
