"""`fix --to canonical`: the form of sources 000 and 001, each sentence of which names its test."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

import fuzz_pairs
import turnlint
from breaking import Piece, Turn
from turnlint import carriers, notation
from turnlint.canonical_form import Form, Refusal, write_forms
from turnlint.canonical_form.metadata import METADATA_KEYS
from turnlint.cli.fix import command
from turnlint.documents.source import Source
from turnlint.ids import canonical_id, is_canonical
from turnlint.ledger import usable
from turnlint.library import to_canonical
from turnlint.model import Call, Record, Transcript

ROOT = Path(__file__).parent.parent
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "lint" / "turnlint" / "schemas" / "transcript.json").read_text())
)
FIXTURES = sorted(
    path for path in (ROOT / "fixtures" / "formats").rglob("*") if path.name.endswith((".json", ".jsonl"))
)
CONVERSATION = """
user       What is the weather in Paris and in Lyon?
assistant  I look.
  call     call_a1 get_weather {"city": "Paris", "days": 2}
  call     call_b2 get_weather {"city": "Lyon"}
result     call_a1 18 degrees
result     call_b2 20 degrees
assistant  It is warm.
user       And the time?
assistant
  call     call_c3 get_time {"zone": "CET"}
result     call_c3 noon
assistant  It is noon.
"""


def forms(data: bytes, format_name: str | None = None, origin: str | None = None) -> list[Form | Refusal]:
    def prepare(transcript: Transcript) -> Transcript:
        return turnlint_replace(transcript, origin)

    return [*write_forms(Source("log.jsonl", None, data=data), format_name, prepare)]


def turnlint_replace(transcript: Transcript, origin: str | None) -> Transcript:
    from msgspec import structs

    return structs.replace(transcript, origin=origin)


def form_of(*records: Any, origin: str | None = None) -> dict[str, Any]:
    (form,) = forms(b"\n".join(json.dumps(one).encode() for one in records), origin=origin)
    assert isinstance(form, Form), form
    found: dict[str, Any] = json.loads(form.data)
    return found


def blocks(form: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [one for content in form["history"] for one in content["blocks"] if one["type"] == kind]


def ids(form: dict[str, Any]) -> list[str]:
    return [one["id"] for one in blocks(form, "tool_call")]


def run(*arguments: str, data: bytes | None = None) -> Any:
    return CliRunner().invoke(command, arguments, input=data)


def records_of(text: str, format_name: str) -> list[Any]:
    return [json.loads(line) for line in notation.write(text, format_name).data.splitlines()]


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


# Ids.

PAIRS = [*itertools.combinations(notation.example_formats(), 2)]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_same_call_gets_the_same_id_on_every_wire(one: str, other: str) -> None:
    """`providerName` is the provider that made the call, not the wire's name."""
    first = form_of(*records_of(CONVERSATION, one), origin="openai")
    second = form_of(*records_of(CONVERSATION, other), origin="openai")
    assert ids(first) == ids(second)
    assert len({*ids(first)}) == 3


CALLS = [
    Turn("user", [Piece("text", "Look.")]),
    Turn("model", [Piece("call", "c", 1, "call_a1", "look"), Piece("call", "c", 2, "call_b2", "see")]),
    Turn("tool", [Piece("result", "r1", 1, "call_a1", "look"), Piece("result", "r2", 2, "call_b2", "see")]),
    Turn("model", [Piece("call", "c", 3, "call_c3", "look")]),
    Turn("tool", [Piece("result", "r3", 3, "call_c3", "look")]),
    Turn("model", [Piece("text", "Done.")]),
]
WITH_IDS = [name for name in fuzz_pairs.FORMS if name not in fuzz_pairs.IDLESS]


@pytest.mark.parametrize("name", WITH_IDS)
def test_the_same_call_gets_the_same_id_in_the_logs_of_agents(name: str) -> None:
    """Every format against Chat Completions; the wires are compared with each other above."""

    def ids_in(form: str) -> list[str]:
        data = fuzz_pairs.data_of(fuzz_pairs.Case(form, CALLS, [], "lossless", "none"))
        (found,) = forms(data, form, origin="openai")
        assert isinstance(found, Form), found
        return ids(json.loads(found.data))

    assert ids_in(name) == ids_in("openai-chat")
    assert len({*ids_in(name)}) == 3


@pytest.mark.parametrize("absent", ["", None])
@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "canonical", "gemini", "ollama"])
def test_a_call_without_an_id_gets_the_same_id_on_every_wire(wire: str, absent: str | None) -> None:
    """Source 000 lines 86 and 88: an id of the wire does not come between, and results pair by position."""
    text = re.sub(r"call_\w+", "-", CONVERSATION)
    (record,) = records_of(text, wire)
    if absent is not None:
        record = _with_empty_ids(record)
    (found,) = to_canonical([record], format=wire, origin="openai").value
    (expected,) = to_canonical(records_of(text, "openai-chat"), format="openai-chat", origin="openai").value
    assert ids(found) == ids(expected)
    assert len({*ids(found)}) == 3
    calls = [(one["callId"], str(one["result"])) for one in blocks(found, "tool_response")]
    assert [name for name, _ in calls] == ids(found)
    assert all(word in text for (_, text), word in zip(calls, ("18", "20", "noon"), strict=True))
    raw = {one["metadata"].get("rawId") for one in blocks(found, "tool_call")}
    assert raw <= {None, ""}


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "canonical", "gemini", "bedrock"])
def test_calls_that_share_an_id_keep_it_as_raw_id_and_get_distinct_ids(wire: str) -> None:
    """Source 000 lines 39 and 51: the index and the turn separate them, and the raw id is that of the log."""
    text = re.sub(r"call_\w+", "call_0", CONVERSATION)
    (found,) = to_canonical(records_of(text, wire), format=wire, origin="openai").value
    (other,) = to_canonical(records_of(text, "openai-chat"), format="openai-chat", origin="openai").value
    assert ids(found) == ids(other)
    assert len({*ids(found)}) == 3
    assert {one["metadata"]["rawId"] for one in blocks(found, "tool_call")} == {"call_0"}
    assert [one["callId"] for one in blocks(found, "tool_response")] == ids(found)


def _with_empty_ids(value: Any) -> Any:
    """Return a record in which calls and results without an id have an empty one."""
    if isinstance(value, list):
        return [_with_empty_ids(one) for one in value]
    if not isinstance(value, dict):
        return value
    kind, more = value.get("type"), {}
    if "function" in value or kind in ("tool_use", "tool_call"):
        more = {"id": ""}
    elif kind == "tool_result":
        more = {"tool_use_id": ""}
    elif kind == "tool_response":
        more = {"callId": ""}
    elif value.get("role") == "tool":
        more = {"tool_call_id": ""}
    return more | {key: _with_empty_ids(one) for key, one in value.items()}


def chat(**more: Any) -> dict[str, Any]:
    return {**records_of(CONVERSATION, "openai-chat")[0], **more}


def test_the_provider_comes_from_the_host_the_model_or_the_option() -> None:
    named = {
        "openai": form_of(chat(model="gpt-5.1")),
        "mistral": form_of(chat(model="mistral-large-latest")),
        "groq": form_of(chat(model="x", base_url="https://api.groq.com/openai/v1")),
        "own-server": form_of(chat(model="gpt-5.1"), origin="own-server"),
    }
    for provider, form in named.items():
        call = blocks(form, "tool_call")[0]
        key = next(one["metadata"]["turnId"] for one in form["history"] if one["speaker"] == "ai")
        assert call["metadata"]["provider"] == provider
        assert call["id"] == canonical_id(provider, "call_a1", "get_weather", key, 0)


def test_the_key_of_a_turn_depends_on_parsed_values() -> None:
    """Values that compression, key order, spelling and pruning do not change; never an array index."""
    plain = chat()
    spelled = json.loads(json.dumps(plain))
    function = spelled["messages"][1]["tool_calls"][0]["function"]
    function["arguments"] = ' {"days" : 2.0, "city": "\\u0050aris"}'
    pruned = {**plain, "messages": plain["messages"][5:]}
    compressed = json.loads(json.dumps(plain))
    for message in compressed["messages"]:
        if message["role"] == "tool":
            message["content"] = "[cleared]"
    known = ids(form_of(plain))
    assert ids(form_of(spelled)) == known
    assert ids(form_of(compressed)) == known
    assert ids(form_of(pruned)) == known[2:]


def test_equal_turns_keep_their_ids_once_the_form_has_their_keys() -> None:
    """The key is written into the form, so that pruning leaves every id as it is (000 L40-45, L91, L117)."""
    turn: list[dict[str, Any]] = [
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "r"}}}]},
    ]
    form = form_of({"contents": [{"role": "user", "parts": [{"text": "x"}]}, *turn, *turn, *turn]})
    known = ids(form)
    assert len({*known}) == 3
    pruned = {**form, "history": [form["history"][0], *form["history"][3:]]}
    assert ids(form_of(pruned)) == known[1:]


@pytest.mark.parametrize("identifier", ["hist_tool_1", "hist_tool_" + "a" * 24, "hist_tool_a-b_C"])
def test_every_safe_internal_id_is_canonical_whatever_its_length(identifier: str) -> None:
    """001 section 7 has ids such as `hist_tool_1`."""
    form = form_of(json.loads(json.dumps(chat()).replace("call_a1", identifier)))
    assert ids(form)[0] == identifier
    assert is_canonical(identifier)


@pytest.mark.parametrize(
    ("provider", "prefix"),
    [
        ("openai", "call_"),
        ("anthropic", "toolu_"),
        ("gemini", "call_"),
        ("bedrock", "tooluse_"),
        ("ollama", "call_"),
    ],
)
def test_a_named_provider_gets_internal_ids_under_its_prefix(provider: str, prefix: str) -> None:
    """`hist_tool_*` becomes `call_*`, `toolu_*` and kin (000 L56-68, 001 section 7.4)."""
    record = json.loads(
        json.dumps(chat()).replace("call_a1", "hist_tool_1").replace("call_b2", "hist_tool_2")
    )
    fixed = turnlint.fix(record, provider=provider, level="lossless").value
    found = [call["id"] for one in fixed["messages"] for call in one.get("tool_calls", ())]
    results = [one["tool_call_id"] for one in fixed["messages"] if one["role"] == "tool"]
    assert found[:2] == [f"{prefix}1", f"{prefix}2"]
    assert results == found
    assert turnlint.fix(fixed, provider=provider, level="lossless").changes == ()


DEGENERATE = [
    ("", "hist_tool_", "call_"),
    ("toolu_", "hist_tool_call_", "call_hist_tool_"),
    ("call_", "", "toolu_"),
    ("hist_tool_", "hist_tool_call_", "call_"),
    ("", "", "call_"),
    ("", "", ""),
]


@pytest.mark.parametrize(
    "wire", ["openai-chat", "anthropic", "bedrock", "gemini", "ollama", "openai-responses"]
)
@pytest.mark.parametrize("chosen", DEGENERATE)
def test_degenerate_ids_stay_distinct(wire: str, chosen: tuple[str, ...]) -> None:
    """Injective also for empty and bare-prefix ids on every profile (001 section 6.4)."""
    records = [_with_ids(one, dict(zip(("call_a1", "call_b2", "call_c3"), chosen, strict=True)))
               for one in records_of(CONVERSATION, wire)]  # fmt: skip
    name = {"openai-chat": "openai"}.get(wire, wire)
    fixed = turnlint.fix(records[0], provider=name, level="lossless", format=wire).value
    found = ids(form_of(fixed))
    assert len({*found}) == 3
    (written,) = turnlint_read(fixed, wire)
    kept = [block.id for one in written.messages for block in one.blocks if isinstance(block, Call)]
    named = [one for one in kept if usable(one)]
    assert len({*named}) == len(named)
    # One empty id is distinct, and these providers accept calls without ids.
    assert len(named) == 3 or (wire in ("gemini", "ollama") and chosen.count("") == 1)
    assert turnlint.fix(fixed, provider=name, level="lossless", format=wire).changes == ()


def turnlint_read(record: Any, wire: str) -> list[Transcript]:
    carrier = carriers.carrier(wire)
    found = carrier.read([carrier.shape.read(Record(1, 0, json.dumps(record).encode()))])
    return [one for one in found if isinstance(one, Transcript)]


def _with_ids(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _with_ids(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_ids(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def test_every_format_has_a_writer_or_is_read() -> None:
    assert set(notation.example_formats()) <= set(carriers.NAMES)


# What the source says stays, also where it is no value of the form.


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
