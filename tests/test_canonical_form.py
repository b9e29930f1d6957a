"""`fix --to canonical`: the form of sources 000 and 001, each sentence of which names its test."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec import Raw

from canonical_forms import CONVERSATION, blocks, chat, form_of, forms, ids, records_of, run
from turnlint import notation
from turnlint.canonical_form import Form, Refusal
from turnlint.canonical_form.metadata import METADATA_KEYS
from turnlint.ids import canonical_id
from turnlint.library import to_canonical

ROOT = Path(__file__).parent.parent
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "lint" / "turnlint" / "schemas" / "transcript.json").read_text())
)
FIXTURES = sorted(
    path for path in (ROOT / "fixtures" / "formats").rglob("*") if path.name.endswith((".json", ".jsonl"))
)


# The form itself.


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_fixture_has_a_canonical_form_that_is_valid_and_stable(path: Path, tmp_path: Path) -> None:
    """Valid by `turnlint schema transcript`; writing it again changes no byte."""
    first, second = tmp_path / "form.jsonl", tmp_path / "again.jsonl"
    done = run(
        str(path), "--to", "canonical", "-o", str(first), "--level", "lossy", "--format", path.parent.name
    )
    assert done.exit_code in (0, 1, 4), done.output
    text = first.read_text()
    for line in text.splitlines():
        SCHEMA.validate(json.loads(line))
    if not text:
        return
    again = run(
        str(first), "--to", "canonical", "-o", str(second), "--level", "lossy", "--format", "canonical"
    )
    assert again.exit_code in (0, 1)
    assert second.read_text() == text


def leaves(value: Any) -> Iterator[Any]:
    """Yield the texts and numbers of a value, and those in texts that are JSON."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    elif isinstance(value, str) and value.startswith(("{", "[")):
        try:
            yield from leaves(json.loads(value))
        except ValueError:
            yield value
    elif value not in (None, ""):
        yield value


@pytest.mark.parametrize("name", notation.example_formats())
def test_no_text_argument_or_result_is_lost(name: str) -> None:
    """Reading it back and rendering keeps every call, result, flag, argument value and text."""
    records = records_of(CONVERSATION, name)
    kept = {repr(one) for one in leaves(form_of(*records))}
    spelled = {"type", "role", "speaker", "from"}
    for record in records:
        written = {repr(one) for one in leaves(_without(record, spelled))}
        assert written - kept == set()


def _without(value: Any, keys: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(one, keys) for key, one in value.items() if key not in keys}
    return [_without(one, keys) for one in value] if isinstance(value, list) else value


def test_the_form_has_blocks_ids_turns_states_and_origins() -> None:
    """Blocks of the content model, `metadata.turnId`, the raw id, its provider and model in metadata (000 L43, L51)."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.50}'}}
    form = form_of({
        "id": "s-1",
        "model": "gpt-5.1",
        "temperature": 0.5,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "x"}}]},
            {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "r"}]},
        ],
    })  # fmt: skip
    key = form["history"][2]["metadata"]["turnId"]
    known = canonical_id("openai", "c1", "f", key, 0)
    assert form["id"] == "s-1"
    assert form["metadata"] == {"provider": "openai", "model": "gpt-5.1", "format": "openai-chat"}
    assert form["settings"] == {"temperature": 0.5}
    assert form["tools"][0]["function"]["name"] == "f"
    assert [content["speaker"] for content in form["history"]] == ["system", "human", "ai", "tool"]
    assert form["history"][0]["metadata"]["role"] == "developer"
    assert form["history"][1]["blocks"][1]["part"] == {"type": "image_url", "image_url": {"url": "x"}}
    assert blocks(form, "tool_call") == [{
        "type": "tool_call", "id": known, "name": "f", "parameters": {"a": 1.5},
        "metadata": {"rawId": "c1", "provider": "openai", "model": "gpt-5.1", "state": "complete"},
    }]  # fmt: skip
    assert blocks(form, "tool_response") == [{
        "type": "tool_response", "callId": known, "toolName": "f", "result": "r", "isComplete": True,
        "metadata": {"rawId": "c1", "state": "complete"},
    }]  # fmt: skip
    assert form["history"][3]["metadata"] == {"turnId": key}
    assert form["history"][2]["blocks"][0] == {
        "type": "thinking", "thought": "Hm.", "metadata": {"key": "reasoning_content"},
    }  # fmt: skip


def test_the_page_shows_the_form_of_a_request() -> None:
    page = (ROOT / "lint" / "turnlint" / "docs" / "canonical.md").read_text()
    shown = json.loads(page.partition("```json\n")[2].partition("```")[0])
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
    }
    request = {"id": "s-17", "model": "gpt-5.1", "temperature": 0.5, "tools": [], "messages": [
        {"role": "user", "content": "What is the weather in Paris?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
    ]}  # fmt: skip
    assert form_of(request) == shown


def test_numbers_and_texts_are_written_as_the_record_has_them() -> None:
    arguments = '{"big": 12345678901234567890123, "small": 1.50e-7, "text": "\\u00e9 \\ud83d\\ude00"}'
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    record = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}]}
    (form,) = forms(json.dumps(record).encode())
    assert isinstance(form, Form)
    assert b'"big":12345678901234567890123,"small":1.50e-7,"text":"\\u00e9 \\ud83d\\ude00"' in form.data


STATES: list[tuple[dict[str, Any], str, str]] = [
    ({"content": "done"}, "complete", "result"),
    ({"content": "boom", "is_error": True}, "error", "error"),
    ({"content": "", "is_error": True}, "error", "error"),
    ({"content": [{"type": "text", "text": "boom"}], "is_error": True}, "error", "error"),
    ({"content": "done", "is_error": False}, "complete", "result"),
]


@pytest.mark.parametrize(("result", "state", "key"), STATES)
def test_a_result_keeps_its_state_when_the_form_is_read_back(
    result: dict[str, Any], state: str, key: str
) -> None:
    """Lifecycle state of each interaction: payload or error, completion marker (001 section 5.1)."""
    record = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", **result}, {"type": "text", "text": "y"}]},
    ]}  # fmt: skip
    form = form_of(record)
    (response,) = blocks(form, "tool_response")
    assert (response["metadata"]["state"], response["isComplete"], key in response) == (state, True, True)
    (again,) = blocks(form_of(form), "tool_response")
    assert again == response
    assert [content["speaker"] for content in form["history"]] == ["human", "ai", "tool", "human"]


def test_arguments_that_are_no_object_are_kept_as_raw_input() -> None:
    """003 section 1: `raw_input` where text was parsed."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "[1, 2]"}}
    record = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}]}
    (block,) = blocks(form_of(record), "tool_call")
    assert (block["parameters"], block["metadata"]["rawInput"]) == ({}, "[1, 2]")


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("<a>1</a>", {"a": "1"}),
        ("{'a': 1}", {}),
        ("[1, 2]", {}),
        ('{"a": "b', {}),
        ("just text", {}),
    ],
)
@pytest.mark.parametrize("level", ["lossless", "lossy"])
def test_the_text_of_arguments_is_raw_input_also_after_a_repair(
    text: str, parameters: Any, level: Any
) -> None:
    """003 section 1, and section 7: JSON first, then XML."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": text}}
    history = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "y"},
    ]
    found = to_canonical(history, level=level)
    (block,) = blocks(found.value[0], "tool_call")
    assert (block["parameters"], block["metadata"]["rawInput"]) == (parameters, text)
    assert found.left == found.unverified == ()
    assert to_canonical(found.value[0], format="canonical", level=level).value == found.value


def test_a_custom_tool_keeps_its_type_and_its_input() -> None:
    """003 section 1: `type`."""
    items = [
        {"type": "message", "role": "user", "content": "x"},
        {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"},
    ]
    (block,) = blocks(form_of({"model": "gpt-5.1", "input": items}), "tool_call")
    assert (block["parameters"], block["metadata"]["type"]) == ({"input": "*** Begin"}, "custom")


def test_damage_and_unknown_roles_are_refused_with_a_reason(tmp_path: Path) -> None:
    path, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    sound = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
    odd = {"messages": [{"role": "user", "content": "x"}, {"role": "", "content": "y"}]}
    path.write_text(f"{json.dumps(sound)}\n{json.dumps(odd)}\n")
    done = run(str(path), "--to", "canonical", "-o", str(out))
    assert done.exit_code == 4
    assert "line 2: unchanged: it has no canonical form: message 1 has the unknown role ''" in " ".join(
        done.output.split()
    )
    assert len(out.read_text().splitlines()) == 1
    assert path.read_text() == f"{json.dumps(sound)}\n{json.dumps(odd)}\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--to needs -o FILE"),
        (("-o", "x", "--diff"), "cannot be combined with --to"),
        (("-o", "x", "--canonical"), "cannot be combined with --canonical"),
        (("-o", "x", "--provider", "openai"), "--to and --provider cannot be combined"),
    ],
)
def test_options_that_conflict_with_a_form(options: tuple[str, ...], message: str) -> None:
    done = run(str(ROOT / "fixtures" / "examples" / "session.jsonl"), "--to", "canonical", *options)
    assert done.exit_code == 2
    assert message in done.output


def test_the_report_has_the_repairs_and_the_form(tmp_path: Path) -> None:
    """What was decided is in the report."""
    path, out, report = (tmp_path / name for name in ("log.jsonl", "out.jsonl", "report.json"))
    path.write_bytes((ROOT / "fixtures" / "examples" / "session.jsonl").read_bytes())
    assert run(str(path), "--to", "canonical", "-o", str(out), "--report", str(report)).exit_code == 0
    found = json.loads(report.read_text())
    schema = json.loads((ROOT / "lint" / "turnlint" / "schemas" / "repair-v1.json").read_text())
    jsonschema.validate(found, schema)
    assert found["files"][0]["form"] == {"conversations": 1, "calls": 2, "results": 2, "changes": []}
    assert {change["what"] for change in found["changes"]} == {"moved", "added"}
    (content,) = [one for one in json.loads(out.read_text())["history"] if one["speaker"] == "tool"]
    assert [one["metadata"].get("synthetic") for one in content["blocks"]] == [None, True]


def test_a_form_with_another_result_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnlint.canonical_form.form.payload_in", lambda _: Raw(b'"another text"'))
    (refused,) = forms(json.dumps(chat()).encode())
    assert isinstance(refused, Refusal)
    assert refused.reason == "the result of a call does not read back"


def test_the_library_writes_the_same_form(tmp_path: Path) -> None:
    path, out = ROOT / "fixtures" / "examples" / "session.jsonl", tmp_path / "out.jsonl"
    run(str(path), "--to", "canonical", "-o", str(out))
    found = to_canonical(json.loads(path.read_text()))
    assert [*found.value] == [json.loads(line) for line in out.read_text().splitlines()]
    assert found.left == found.unverified == ()
    assert {change.what for change in found.changes} == {"moved", "added"}


def test_the_report_names_the_ids_that_were_written(tmp_path: Path) -> None:
    """Emitted ids and the provider format of source 001 section 10, and the map of source 000 line 92."""
    path, out, report = (tmp_path / name for name in ("log.jsonl", "out.jsonl", "report.json"))
    sound, *_ = records_of(CONVERSATION, "gemini")
    late = {
        "contents": [
            {"role": "user", "parts": [{"text": "Go."}]},
            {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "run", "args": {}}}]},
            {"role": "user", "parts": [{"text": "Wait."}]},
            {"role": "model", "parts": [{"text": "Yes."}]},
        ]
    }
    path.write_text("".join(f"{json.dumps(one)}\n" for one in (sound, late)))
    options = ("--to", "canonical", "-o", str(out), "--report", str(report), "--format", "gemini")
    for more, places in (((), [1]), (("--diagnostics",), [0, 1])):
        run(str(path), *options, *more)
        found = json.loads(report.read_text())
        written = [json.loads(line) for line in out.read_text().splitlines()]
        assert [one["index"] for one in found["conversations"]] == places
        for one in found["conversations"]:
            form = written[one["index"]]
            answers = [block["callId"] for block in blocks(form, "tool_response")]
            assert one["emitted_call_ids"] == one["canonical_ids_seen"] == ids(form)
            assert one["emitted_result_ids"] == answers
            assert one["provider_format"] == {"wire": "canonical", "providers": []}
        (completion,) = found["conversations"][-1]["synthetic_completions"]
        assert (completion["tool"], completion["rule"]) == ("run", "unanswered-call")
        assert found["ids"]["a"] == found["files"][0]["ids"]["a"] == ids(written[1])


# Values of the source that the form has no place for.


def _values(value: Any, keys: set[str]) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (one for key, one in value.items() if key in keys)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _values(inner, keys)


def canonical_record(**more: Any) -> dict[str, Any]:
    call = {"type": "tool_call", "id": "c1", "name": "f", "parameters": {}}
    response = {"type": "tool_response", "callId": "c1", "toolName": "f", "result": "r"}
    history = [
        {"speaker": "human", "blocks": [{"type": "text", "text": "x"}]},
        {"speaker": "ai", "blocks": [call | more.get("call", {})]} | more.get("ai", {}),
        {"speaker": "tool", "blocks": [response | more.get("response", {})]},
    ]
    return {"history": history} | more.get("record", {})


WRONG_KINDS: list[tuple[dict[str, Any], Any]] = [
    ({"record": {"metadata": ["m"]}}, {"metadata": ["m"]}),
    ({"record": {"tools": "t", "settings": 5}}, {"tools": "t", "settings": 5}),
    ({"record": {"id": {"a": 1}}}, {"id": {"a": 1}}),
    ({"record": {"metadata": {"model": 4}}}, {"metadata": {"model": 4}}),
    ({"ai": {"metadata": "m"}}, {"metadata": "m"}),
    ({"ai": {"metadata": {"turnId": ["t"], "misfits": 3}}}, {"metadata": {"turnId": ["t"], "misfits": 3}}),
    ({"call": {"metadata": {"rawId": 5, "state": "odd"}}}, {"metadata": {"rawId": 5, "state": "odd"}}),
    ({"call": {"metadata": True}}, {"metadata": True}),
    ({"response": {"isComplete": "yes", "toolName": 4}}, {"isComplete": "yes", "toolName": 4}),
    ({"response": {"error": {"code": 4}}}, {"error": {"code": 4}}),
    ({"ai": {"blocks": [{"type": "thinking", "thought": ["t"], "signature": 7}]}}, {"thought": ["t"], "signature": 7}),
]  # fmt: skip


@pytest.mark.parametrize(("more", "kept"), WRONG_KINDS, ids=lambda one: json.dumps(one)[:40])
def test_values_of_wrong_kinds_are_kept_as_misfits(more: dict[str, Any], kept: Any) -> None:
    (form,) = forms(json.dumps(canonical_record(**more)).encode(), "canonical")
    assert isinstance(form, Form), form
    found = json.loads(form.data)
    SCHEMA.validate(found)
    assert kept in [*_values(found, {"misfits"})]
    (again,) = forms(form.data, "canonical")
    assert isinstance(again, Form)
    assert again.data == form.data


@pytest.mark.parametrize("identifier", [7, ["a"], True, 1.5])
def test_an_id_that_is_no_text_is_kept(identifier: Any) -> None:
    call = {"id": identifier, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    record = {"messages": [
        {"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": identifier, "content": "r"},
    ]}  # fmt: skip
    (written,) = forms(json.dumps(record).encode(), "openai-chat")
    assert isinstance(written, Form)
    form = json.loads(written.data)
    kept = [one["metadata"]["part"] for kind in ("tool_call", "tool_response") for one in blocks(form, kind)]
    assert kept == [{"id": identifier}, {"tool_call_id": identifier}]


def test_settings_beside_nested_tools_are_kept() -> None:
    form = form_of({
        "messages": [{"role": "user", "content": [{"text": "x"}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}], "toolChoice": {"tool": {"name": "f"}}},
    })  # fmt: skip
    assert form["tools"] == [{"toolSpec": {"name": "f"}}]
    assert form["settings"]["toolConfig"] == {"toolChoice": {"tool": {"name": "f"}}}


def test_a_thought_keeps_its_spelling() -> None:
    thought = '"r\\u2192s"'
    record = '{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y", "thinking": %s}]}'
    (form,) = forms((record % thought).encode(), "ollama")
    assert isinstance(form, Form)
    assert thought.encode() in form.data
    (again,) = forms(form.data, "canonical")
    assert isinstance(again, Form)
    assert again.data == form.data


REUSED = ["", "c1", "hist_tool_1"]


@pytest.mark.parametrize("identifier", REUSED)
@pytest.mark.parametrize("level", ["lossless", "lossy"])
def test_the_raw_id_is_the_id_of_the_source(identifier: str, level: Any) -> None:
    """The raw id in metadata (000 L51): no id that a repair made."""
    call = {"id": identifier, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": identifier, "content": "r"},
    ]
    (form,) = to_canonical({"messages": [{"role": "user", "content": "x"}, *turn, *turn]}, level=level).value
    found = [one["metadata"].get("rawId", one["id"]) for one in blocks(form, "tool_call")]
    assert found == [identifier, identifier]
    assert len({*ids(form)}) == 2


def test_a_record_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    path.write_text(f"{json.dumps(chat())}\n{json.dumps(chat())[:-30]}\n{json.dumps(chat())}\n")
    done = run(str(path), "--to", "canonical", "-o", str(out))
    assert done.exit_code == 4
    assert "line 2: unchanged: it has no canonical form: the record is unreadable" in " ".join(
        done.output.split()
    )
    assert len(out.read_text().splitlines()) == 2


def test_every_key_of_metadata_in_the_schema_has_a_place_in_their_order() -> None:
    found = {key for one in _values(SCHEMA.schema, {"metadata"}) for key in one.get("properties", ())}
    assert found - {"id", "misfits"} == set(METADATA_KEYS)
