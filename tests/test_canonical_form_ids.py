"""The ids of the canonical form (source 000), and their projection for a provider."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

import fuzz_pairs
import turnlint
from breaking import Piece, Turn
from canonical_forms import CONVERSATION, blocks, chat, form_of, forms, ids, records_of
from turnlint import carriers, notation
from turnlint.canonical_form import Form
from turnlint.ids import canonical_id, is_canonical
from turnlint.ledger import usable
from turnlint.library import to_canonical
from turnlint.model import Call, Record, Transcript

ROOT = Path(__file__).parent.parent
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
