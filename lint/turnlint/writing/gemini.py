"""Examples on Gemini's wire.

This module owns that spelling. It refuses to know what is expected of it.
"""

from typing import Any

from turnlint.writing import ABSENT, Draft, Expected, Step, Written, arguments_value, present

_ROLES = {"user": "user", "assistant": "model"}


def write(steps: list[Step]) -> Written:
    out = Draft("contents")
    waiting: list[Step] = []
    names: dict[Any, Any] = {}
    instructions: list[dict[str, Any]] = []
    for step in steps:
        if step.kind == "system":
            out.expected += [
                Expected(code, ("systemInstruction", "parts", len(instructions))) for code in step.codes
            ]
            instructions.append({"text": step.text})
            continue
        if step.kind in _ROLES:
            parts = [{"text": step.text}] if step.text else []
            out.messages.append({"role": _ROLES[step.kind], "parts": parts})
            out.expect(step)
            continue
        if step.kind == "result" and not (out.messages and _waits(out.messages[-1])):
            out.messages.append({"role": "user", "parts": []})
        out.messages[-1]["parts"].append(_part(step, waiting, names))
        out.expect(step, "parts", len(out.messages[-1]["parts"]) - 1)
    tools = dict.fromkeys(step.name for step in steps if step.kind == "call")
    declared = [{"name": name} for name in tools if isinstance(name, str) and name]
    return out.done(
        model="gemini-2.5-flash",
        **({"systemInstruction": {"parts": instructions}} if instructions else {}),
        **({"tools": [{"functionDeclarations": declared}]} if declared else {}),
    )


def _part(step: Step, waiting: list[Step], names: dict[Any, Any]) -> dict[str, Any]:
    if step.kind == "result":
        name = _called(step, waiting, names) if step.name is ABSENT else step.name
        response = {"error" if step.failed else "output": step.answer}
        return {"functionResponse": present(id=step.id, name=name, response=response)}
    if step.kind == "call":
        waiting.append(step)
        return {"functionCall": present(id=step.id, name=step.name, args=arguments_value(step.body))}
    assert step.kind == "think", f"gemini has no {step.kind}"
    return {"text": step.text, "thought": True}


def _called(step: Step, waiting: list[Step], names: dict[Any, Any]) -> Any:
    """The name of the call that a result answers: on this wire a result has it even where an example has not."""
    lost = step.id is ABSENT or not step.id
    call = next((call for call in waiting if lost or call.id == step.id), None)
    if call is None:
        return names.get(step.id, ABSENT)
    waiting.remove(call)
    names[call.id] = call.name
    return call.name


def _waits(message: dict[str, Any]) -> bool:
    """Whether it holds nothing but results, or nothing yet, so that another may stand in it."""
    parts = message["parts"]
    return message["role"] == "user" and all("functionResponse" in part for part in parts)
