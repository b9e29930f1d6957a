"""Examples on Anthropic's wire.

This module owns that spelling. It refuses to know what is expected of it.
"""

from typing import Any

from turnlint.writing import ABSENT, Draft, Step, Written, arguments_value, present


def write(steps: list[Step]) -> Written:
    out = Draft("messages")
    for step in steps:
        if step.kind in ("user", "assistant", "system"):
            blocks = [{"type": "text", "text": step.text}] if step.text else []
            out.messages.append({"role": step.kind, "content": blocks})
            out.expect(step)
            continue
        if step.kind == "result" and not (out.messages and _waits(out.messages[-1])):
            out.messages.append({"role": "user", "content": []})
        out.messages[-1]["content"].append(_block(step))
        out.expect(step, "content", len(out.messages[-1]["content"]) - 1)
    tools = {step.name: 0 for step in steps if step.kind in ("call", "server-call")}
    declared = [
        {"name": name, "input_schema": {"type": "object"}} for name in tools if isinstance(name, str) and name
    ]
    return out.done(model="claude-sonnet-4-5", max_tokens=64, **({"tools": declared} if declared else {}))


def _block(step: Step) -> dict[str, Any]:
    if step.kind == "result":
        failed = True if step.failed else ABSENT
        return present(
            type="tool_result", tool_use_id=step.id, name=step.name, content=step.answer, is_error=failed
        )
    if step.kind in ("call", "server-call"):
        kind = "tool_use" if step.kind == "call" else "server_tool_use"
        return present(type=kind, id=step.id, name=step.name, input=arguments_value(step.body))
    if step.kind == "server-result":
        return present(type=f"{step.name}_tool_result", tool_use_id=step.id, content=[])
    return {"type": "thinking", "thinking": step.text, "signature": "c2ln"}


def _waits(message: dict[str, Any]) -> bool:
    """Whether it holds nothing but results, so that another may stand in it."""
    blocks = message["content"]
    return (
        message["role"] == "user" and bool(blocks) and all(block["type"] == "tool_result" for block in blocks)
    )
