"""Examples on the wire of Responses.

This module owns that spelling. It refuses to know what is expected of it.
"""

from itertools import count, takewhile
from typing import Any

from turnlint.writing import Draft, Step, Written, arguments_text, present

_MESSAGES = ("user", "assistant", "system")


def write(steps: list[Step]) -> Written:
    out = Draft("input")
    numbers = count(1)
    following = iter(range(len(steps)))
    for index in following:
        step = steps[index]
        if step.kind == "assistant":
            thoughts = list(takewhile(lambda one: one.kind == "think", steps[index + 1 :]))
            for thought in thoughts:  # they stand before what came of them
                next(following)
                _add(out, thought, _reasoning(thought, next(numbers)))
            after = steps[index + 1 + len(thoughts) :][:1]
            calls = bool(after) and after[0].kind == "call"
            if step.text or step.codes or not calls:
                _add(out, step, {"role": "assistant", "content": step.text})
        elif step.kind in _MESSAGES:
            _add(out, step, {"role": step.kind, "content": step.text})
        elif step.kind == "think":
            _add(out, step, _reasoning(step, next(numbers)))
        else:
            _add(out, step, _item(step))
    names = {step.name: 0 for step in steps if step.kind == "call"}
    declared = [_declared(name) for name in names if isinstance(name, str) and name]
    return out.done(model="gpt-5.1", **({"tools": declared} if declared else {}))


def _add(out: Draft, step: Step, item: dict[str, Any]) -> None:
    out.messages.append(item)
    out.expect(step)


def _reasoning(step: Step, number: int) -> dict[str, Any]:
    said = [{"type": "summary_text", "text": step.text}] if step.text else []
    return {"type": "reasoning", "id": f"rs_{number}", "summary": said}


def _item(step: Step) -> dict[str, Any]:
    if step.kind == "call":
        return present(
            type="function_call", call_id=step.id, name=step.name, arguments=arguments_text(step.body)
        )
    assert step.kind == "result", f"openai-responses has no {step.kind}"
    return present(type="function_call_output", call_id=step.id, name=step.name, output=step.answer)


def _declared(name: str) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": {"type": "object"}}
