"""Examples on Mistral's wire.

This module owns that spelling, and the declaration of tools that other wires like it share. It refuses to
know what is expected of it.
"""

from typing import Any

from turnlint.writing import Draft, Step, Written, arguments_text, present


def write(steps: list[Step]) -> Written:
    out = Draft("messages")
    for step in steps:
        if step.kind in ("user", "assistant", "system"):
            out.messages.append({"role": step.kind, "content": step.text})
            out.expect(step)
        elif step.kind == "call":
            calls = out.messages[-1].setdefault("tool_calls", [])
            function = present(name=step.name, arguments=arguments_text(step.body))
            calls.append(present(id=step.id, type="function", function=function))
            out.expect(step, "tool_calls", len(calls) - 1)
        elif step.kind == "result":
            out.messages.append(
                present(role="tool", tool_call_id=step.id, name=step.name, content=step.answer)
            )
            out.expect(step)
        else:
            assert step.kind == "think", f"mistral has no {step.kind}"
            thought = [{"type": "text", "text": step.text}]
            put_before(out.messages[-1], {"type": "thinking", "thinking": thought})
            out.expect(step)
    return out.done(model="mistral-large-latest", **declared(steps))


def put_before(message: dict[str, Any], part: dict[str, Any]) -> None:
    """Write a part at the head of a content, and what was there after it."""
    content = message.get("content") or []
    message["content"] = [
        part,
        *([{"type": "text", "text": content}] if isinstance(content, str) else content),
    ]


def declared(steps: list[Step]) -> dict[str, Any]:
    """The tools that are called, declared as functions."""
    names = dict.fromkeys(step.name for step in steps if step.kind == "call")
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in names
        if isinstance(name, str) and name
    ]
    return {"tools": tools} if tools else {}
