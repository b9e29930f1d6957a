"""Examples on the wire of Cohere's second chat API.

This module owns that spelling. It refuses to know what is expected of it.
"""

from turnlint.writing import Draft, Step, Written, arguments_text, present
from turnlint.writing.mistral import declared, put_before


def write(steps: list[Step]) -> Written:
    out = Draft("messages")
    for step in steps:
        if step.kind in ("user", "assistant", "system"):
            out.messages.append({"role": step.kind, "content": step.text})
            out.expect(step)
        elif step.kind == "call":
            message = out.messages[-1]
            calls = message.setdefault("tool_calls", [])
            if not message.get("content"):
                message.pop("content", None)
            function = present(name=step.name, arguments=arguments_text(step.body))
            calls.append(present(id=step.id, type="function", function=function))
            out.expect(step, "tool_calls", len(calls) - 1)
        elif step.kind == "result":
            out.messages.append(present(role="tool", tool_call_id=step.id, content=step.answer))
            out.expect(step)
        else:
            assert step.kind == "think", f"cohere has no {step.kind}"
            put_before(out.messages[-1], {"type": "thinking", "thinking": step.text})
            out.expect(step)
    return out.done(model="command-a-03-2025", stream=False, **declared(steps))
