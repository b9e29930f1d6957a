"""Examples on Bedrock's wire.

This module owns that spelling. It refuses to know what is expected of it.
"""

from typing import Any

from turnlint.writing import ABSENT, Draft, Expected, Step, Written, arguments_value, present


def write(steps: list[Step]) -> Written:
    out = Draft("messages")
    instructions: list[dict[str, Any]] = []
    for step in steps:
        if step.kind == "system":
            out.expected += [Expected(code, ("system", len(instructions))) for code in step.codes]
            instructions.append({"text": step.text})
            continue
        if step.kind in ("user", "assistant"):
            blocks = [{"text": step.text}] if step.text else []
            out.messages.append({"role": step.kind, "content": blocks})
            out.expect(step)
            continue
        if step.kind == "result" and not (out.messages and _waits(out.messages[-1])):
            out.messages.append({"role": "user", "content": []})
        out.messages[-1]["content"].append(_block(step))
        out.expect(step, "content", len(out.messages[-1]["content"]) - 1)
    return out.done(
        modelId="anthropic.claude-sonnet-4-5-20250929-v1:0",
        **({"system": instructions} if instructions else {}),
        **_tools(steps),
    )


def _block(step: Step) -> dict[str, Any]:
    if step.kind in ("result", "server-result"):
        status = "error" if step.failed else ABSENT
        kind = f"{step.name}_result" if step.kind == "server-result" else ABSENT
        result = present(toolUseId=step.id, content=[{"text": step.answer}], status=status, type=kind)
        return {"toolResult": result}
    if step.kind in ("call", "server-call"):
        kind = "server_tool_use" if step.kind == "server-call" else ABSENT
        return {
            "toolUse": present(toolUseId=step.id, name=step.name, input=arguments_value(step.body), type=kind)
        }
    return {"reasoningContent": {"reasoningText": {"text": step.text, "signature": "c2ln"}}}


def _tools(steps: list[Step]) -> dict[str, Any]:
    names = dict.fromkeys((step.name, step.kind) for step in steps if step.kind in ("call", "server-call"))
    declared = [
        {"systemTool": {"name": name}}
        if kind == "server-call"
        else {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}}
        for name, kind in names
        if isinstance(name, str) and name
    ]
    return {"toolConfig": {"tools": declared}} if declared else {}


def _waits(message: dict[str, Any]) -> bool:
    """Whether it holds nothing but results, or nothing yet, so that another may stand in it."""
    blocks = message["content"]
    return message["role"] == "user" and all("toolResult" in block for block in blocks)
