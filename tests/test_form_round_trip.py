"""A canonical form, rendered to the wire of its source and read back, keeps calls, results, flags, arguments and texts.

The writers of the formats render it, as they render the examples of the rules.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kin import NEEDS_CORPUS
from test_corpus import FORMATS, exchanges
from turnlint import notation
from turnlint.canonical_form import Form, write_forms
from turnlint.carrying.examples import ABSENT, NotationLine
from turnlint.documents.source import Source

ROOT = Path(__file__).parent.parent
SPEAKERS = {"human": "user", "ai": "assistant", "system": "system"}
FIXTURES = sorted(
    path
    for name in notation.example_formats()
    for path in (ROOT / "fixtures" / "formats" / name).iterdir()
    if path.name.endswith((".json", ".jsonl"))
)
Value = dict[str, Any]


def forms_in(data: bytes, name: str) -> Iterator[Value]:
    for one in write_forms(Source("log", None, data=data), name, lambda transcript: transcript):
        if isinstance(one, Form):
            yield json.loads(one.data)


def lines_of(form: Value) -> Iterator[NotationLine]:
    """Yield the lines of a form."""
    for content in form["history"]:
        speaker = SPEAKERS.get(content["speaker"])
        texts = [block["text"] for block in content["blocks"] if block["type"] == "text"]
        if speaker is not None and content["blocks"]:
            yield NotationLine(speaker, "\n".join(texts))
        for block in content["blocks"]:
            if block["type"] == "tool_call":
                body = json.dumps(block["parameters"], ensure_ascii=False)
                yield NotationLine("call", "", block["id"], block["name"], body)
            elif block["type"] == "tool_response":
                text = block.get("error") if "error" in block else unwrapped(block.get("result", ""))
                error = "error: " if "error" in block else ""
                yield NotationLine(
                    "result", "", block["callId"], block.get("toolName", ABSENT), f"{error}{text}"
                )


def unwrapped(result: Any) -> Any:
    """Return the text of a result that some writers put into an object."""
    only = isinstance(result, dict) and len(result) == 1
    return next(iter(result.values())) if only else result


def is_plain(form: Value) -> bool:
    """Whether the notation has all parts of a form: texts, calls of functions and results that are texts."""
    history = form["history"]
    blocks = [block for content in history for block in content["blocks"]]
    results = [block for block in blocks if block["type"] == "tool_response"]
    plain = {"text", "tool_call", "tool_response"}
    return (
        bool(blocks)
        and any(block.get("text", "x").strip() for block in blocks)
        and history[0]["speaker"] in SPEAKERS
        and not any(content["speaker"] == "system" for content in history[1:])
        and all(block["type"] in plain for block in blocks)
        and all(isinstance(one.get("error", unwrapped(one.get("result", ""))), str) for one in results)
        and not any(
            block["metadata"].keys() & {"server", "type", "rawInput"} for block in blocks if "id" in block
        )
    )


def summary(form: Value) -> list[tuple[Any, ...]]:
    """Return the texts of a form, its calls, and its results with their flags, in order."""
    found: list[tuple[Any, ...]] = []
    for line in lines_of(form):
        if line.kind == "call":
            found.append(("call", line.id, line.name, json.loads(line.body)))
        elif line.kind == "result":
            found.append(("result", line.id, line.failed, line.answer))
        else:  # several texts of a speaker may be one text on the wire
            found += [(line.kind, one) for one in line.text.split("\n") if one.strip()]
    return found


def rendered(form: Value, name: str) -> Iterator[Value]:
    """Yield the form of a form on a wire."""
    yield from forms_in(notation.render_example([*lines_of(form)], name).data, name)


def test_fixtures_are_the_same_after_a_round_trip() -> None:
    """Reading it back and rendering to the first wire keeps every call, result, flag, argument value and text."""
    checked: dict[str, int] = {}
    for path in FIXTURES:
        name = path.parent.name
        for form in filter(is_plain, forms_in(path.read_bytes(), name)):
            assert [*map(summary, rendered(form, name))] == [summary(form)], path
            checked[name] = checked.get(name, 0) + 1
    assert checked.keys() == {*notation.example_formats()}
    assert min(checked.values()) >= 4


@NEEDS_CORPUS
@pytest.mark.slow
def test_recorded_requests_are_the_same_after_a_round_trip() -> None:
    checked = 0
    for one in exchanges():
        name = FORMATS.get(one["wire"]) if one.get("accepted", True) else None
        if name is None or name not in notation.example_formats():
            continue
        for form in filter(is_plain, forms_in(json.dumps(one["request"]).encode(), name)):
            assert [*map(summary, rendered(form, name))] == [summary(form)], one["id"]
            checked += 1
    assert checked >= 10_000
