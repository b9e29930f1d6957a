"""Examples on the canonical wire.

This module owns that spelling. It refuses to know what is expected of it.
"""

from typing import Any

from turnlint.writing import Draft, Step, Written, arguments_value, present

_SPEAKERS = {"user": "human", "assistant": "ai", "system": "system"}


def write(steps: list[Step]) -> Written:
    out = Draft("history")
    for step in steps:
        if step.kind in _SPEAKERS:
            blocks = [{"type": "text", "text": step.text}] if step.text else []
            out.messages.append({"speaker": _SPEAKERS[step.kind], "blocks": blocks})
            out.expect(step)
            continue
        if step.kind == "result" and not (out.messages and out.messages[-1]["speaker"] == "tool"):
            out.messages.append({"speaker": "tool", "blocks": []})
        out.messages[-1]["blocks"].append(_block(step))
        out.expect(step, "blocks", len(out.messages[-1]["blocks"]) - 1)
    return out.done()


def _block(step: Step) -> dict[str, Any]:
    if step.kind == "result":
        ending = {"error": step.answer} if step.failed else {"result": {"output": step.answer}}
        return present(type="tool_response", callId=step.id, toolName=step.name) | ending
    if step.kind == "call":
        return present(type="tool_call", id=step.id, name=step.name, parameters=arguments_value(step.body))
    assert step.kind == "think", f"canonical has no {step.kind}"
    return {"type": "thinking", "thought": step.text}
