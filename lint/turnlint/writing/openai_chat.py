"""Examples on the wire of Chat Completions.

This module owns that spelling. It refuses to know what is expected of it.
"""

from turnlint.writing import Draft, Step, Written, arguments_text, present


def write(steps: list[Step]) -> Written:
    out = Draft("messages")
    for step in steps:
        if step.kind in ("user", "assistant", "system"):
            out.messages.append({"role": step.kind, "content": step.text})
            out.expect(step)
        elif step.kind == "call":
            message = out.messages[-1]
            calls = message.setdefault("tool_calls", [])
            message["content"] = message["content"] or None
            function = present(name=step.name, arguments=arguments_text(step.body))
            calls.append(present(id=step.id, type="function", function=function))
            out.expect(step, "tool_calls", len(calls) - 1)
        elif step.kind == "result":
            out.messages.append(
                present(role="tool", tool_call_id=step.id, name=step.name, content=step.answer)
            )
            out.expect(step)
        else:
            assert step.kind == "think", f"openai-chat has no {step.kind}"
            out.messages[-1]["reasoning_content"] = step.text
    return out.done(model="gpt-4.1")
