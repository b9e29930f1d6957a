"""Examples on Ollama's own wire.

This module owns that spelling. It refuses to know what is expected of it.
"""

from typing import Any

from turnlint.writing import ABSENT, Draft, Step, Written, arguments_value, present
from turnlint.writing.mistral import declared


def write(steps: list[Step]) -> Written:
    out = Draft("messages")
    waiting: list[Step] = []
    names: dict[Any, Any] = {}
    for step in steps:
        if step.kind in ("user", "assistant", "system"):
            out.messages.append({"role": step.kind, "content": step.text})
            out.expect(step)
        elif step.kind == "call":
            waiting.append(step)
            calls = out.messages[-1].setdefault("tool_calls", [])
            function = present(name=step.name, arguments=arguments_value(step.body))
            calls.append(present(id=step.id, function=function))
            out.expect(step, "tool_calls", len(calls) - 1)
        elif step.kind == "result":
            name = _name(step, waiting, names) if step.name is ABSENT else step.name
            out.messages.append(
                present(role="tool", tool_name=name, tool_call_id=step.id, content=step.answer)
            )
            out.expect(step)
        else:
            assert step.kind == "think", f"ollama has no {step.kind}"
            out.messages[-1]["thinking"] = step.text
            out.expect(step, "thinking")
    return out.done(model="llama3.3", stream=False, **declared(steps))


def _name(result: Step, waiting: list[Step], names: dict[Any, Any]) -> Any:
    """The tool's name, which a result has on this wire even where an example leaves it out."""
    lost = result.id is ABSENT or not result.id
    call = next((call for call in waiting if lost or call.id == result.id), None)
    if call is None:
        return names.get(result.id, ABSENT)
    waiting.remove(call)
    names[call.id] = call.name
    return call.name
