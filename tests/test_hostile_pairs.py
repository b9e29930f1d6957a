"""Evidence against a pair of a call and a result, and agreement of the ids of `fix` and `ids`."""

import json
import os
from typing import Any

import pytest
from click.testing import CliRunner

import fuzz_pairs
from breaking import Piece, Turn
from ledger_oracle import BLOCKS, CHAT, outcome_of, parse_conversation, read
from turnlint import fix
from turnlint.cli.ids import command
from turnlint.ids import project
from turnlint.model import Call, Keys, Wire
from turnlint.packages import packages
from turnlint.providers import Providers
from turnlint.repeats import Known

CASES = [
    ("two turns share an id and one result is late", CHAT, "assistant ?c.f / assistant ?c.g / tool !c / user ~ / tool !c", "0 unanswered, 1 in-place 2, 3 orphan"),
    ("two turns share an id and both results are late", CHAT, "assistant ?c.f / user ~ / assistant ?c.g / user ~ / tool !c !c", "0 unanswered, 1 unanswered, 2 orphan, 3 orphan"),
    ("a later result may be that of the call without an id", CHAT, "assistant ?- / tool !x / assistant ~ / tool !y / user ~", "0 unanswered, 1 orphan, 2 orphan"),
    ("each turn lost the ids of its calls", CHAT, "assistant ?- / tool !x / assistant ?- / tool !y", "0 by-position 1, 2 by-position 3"),
    ("results of one turn parted by another turn", CHAT, "assistant ?c.f ?c.g / user ~ / tool !c.x / assistant ?d / tool !c.y", "0 unanswered, 1 unanswered, 2 orphan, 3 pending, 4 orphan"),
    ("a reused id beside a call that lost its own", CHAT, "assistant ?c.f / tool !c / assistant ?c.g / user ~ / assistant ?-.h / tool !c / user ~", "0 in-place 1, 2 unanswered, 3 unanswered, 4 orphan"),
    ("a result among calls that share an id, which has another spelling too", BLOCKS, "assistant ?\u00e9.f / user !\u00e9 / assistant ?e\u0301.f !e\u0301 ?e\u0301.g ?e\u0301.h / user !e\u0301 !e\u0301 / user ~", "0 in-place 1, 2 unanswered, 3 orphan, 4 unanswered, 5 unanswered, 6 orphan, 7 orphan"),
    ("fewer results than calls that share an id, which has another spelling too", BLOCKS, "assistant ?\u00e9.f / user !\u00e9 / assistant ?e\u0301.g ?e\u0301.h / user !e\u0301 / user ~", "0 in-place 1, 2 unanswered, 3 unanswered, 4 orphan"),
    ("as many results as calls that share an id, which has another spelling too", BLOCKS, "assistant ?\u00e9.f / user !\u00e9 / assistant ?e\u0301.g ?e\u0301.h / user !e\u0301 !e\u0301 / user ~", "0 in-place 1, 2 in-place 4, 3 in-place 5"),
    ("a name contradicts an id of another spelling", BLOCKS, "assistant ?\u00e9.f ?e\u0301.g / user !\u00e9.g / user ~", "0 unanswered, 1 unanswered, 2 orphan"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wire", "text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_contradictory_evidence_leaves_no_pair(wire: Wire, text: str, expected: str) -> None:
    outcome = sorted(outcome_of(read(parse_conversation(text), wire)).items())
    assert ", ".join(f"{seq} {what}" for seq, what in outcome) == expected


def _call(identifier: str, number: int, name: str = "run") -> dict[str, Any]:
    return {"type": "tool_call", "id": identifier, "name": name, "parameters": {"n": number}}


def _result_block(identifier: str, text: str, name: str = "run") -> dict[str, Any]:
    return {"type": "tool_response", "callId": identifier, "toolName": name, "result": text}


def test_a_call_with_other_arguments_is_no_copy() -> None:
    log = {"history": [
        {"speaker": "ai", "blocks": [_call("c1", 1)]}, {"speaker": "tool", "blocks": [_call("c1", 2), _result_block("c1", "two")]},
    ]}  # fmt: skip
    assert fix(log, format="canonical", level="lossy").value == log


def test_a_result_stays_beside_a_call_that_may_be_its_own() -> None:
    log = {"history": [
        {"speaker": "ai", "blocks": [_call("c1", 1)]}, {"speaker": "human", "blocks": [{"type": "text", "text": "go"}]},
        {"speaker": "ai", "blocks": [{"type": "text", "text": "wait"}]},
        {"speaker": "tool", "blocks": [_call("c1", 2), _result_block("c1", "two")]},
    ]}  # fmt: skip
    done = fix(log, format="canonical", level="lossless").value
    assert done == log


def test_a_copy_of_a_call_gets_the_new_id_of_the_call() -> None:
    use = {"toolUse": {"toolUseId": "bad id", "name": "run", "input": {"n": 1}}}
    message = {"toolResult": {"toolUseId": "bad id", "content": [{"text": "one"}]}}
    user = {"role": "user", "content": [{"text": "go"}]}
    log = {
        "messages": [
            user,
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [use, message]},
        ]
    }
    done = fix(log, format="bedrock", provider="bedrock", level="lossless").value
    copy = done["messages"][2]["content"][0]
    assert copy == done["messages"][1]["content"][0]
    assert copy != use


@pytest.mark.parametrize("value", [
    {"type": "function", "function": {"name": "run", "arguments": '{"n": 1}'}},
    {"functionCall": {"name": "run", "args": {"n": 1}}},
    {"toolUse": {"toolUseId": "c1", "name": "run", "input": {"n": 1}}},
    {"type": "tool_use", "id": "c1", "name": "run", "input": {"n": 1}},
])  # fmt: skip
def test_a_copy_is_recognized_on_each_wire(value: dict[str, Any]) -> None:
    keys = Keys(("id",), ("name",), ("arguments",))
    one, other = (Call((), keys, "c1", "run", b'{"n":%d}' % number, "object") for number in (1, 2))
    assert Known([other, one]).repeated(value) is one
    assert Known([other]).repeated(value) is None


def test_the_first_of_two_results_is_the_one_after_its_call() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "run", "input": {}}
    messages = [{"type": "tool_result", "tool_use_id": "t1", "content": text} for text in ("one", "other")]
    log = {
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [use, messages[0]]},
            {"role": "user", "content": [messages[1]]},
        ]
    }
    done = fix(log, format="anthropic", provider="anthropic", level="lossy").value
    assert done["messages"][1:] == [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [messages[0]]},
    ]


USER = {"role": "user", "content": "go"}


def _calling(identifier: str | None, name: str = "run") -> dict[str, Any]:
    made = {"id": identifier, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def test_a_call_without_an_id_does_not_take_the_result_of_another_name() -> None:
    """Two results under one id of no call: only the second one has the name of the call."""
    log = [USER, _calling("", "f"), {"role": "tool", "tool_call_id": "b", "name": "g", "content": "of g"},
           {"role": "tool", "tool_call_id": "b", "name": "f", "content": "of f"}, USER]  # fmt: skip
    done = fix(log, format="mistral", provider="mistral", level="lossy").value
    call = done[1]["tool_calls"][0]["id"]
    assert [item["content"] for item in done if item.get("tool_call_id") == call] == ["of f"]


@pytest.mark.parametrize("level", ["lossless", "placeholder", "lossy"])
def test_a_counted_id_is_never_that_of_a_stray_result(level: Any) -> None:
    stray = {"role": "tool", "tool_call_id": "functions.run:0", "content": "STALE"}
    log = [
        USER,
        stray,
        _calling("call_a"),
        {"role": "tool", "tool_call_id": "call_a", "content": "fresh"},
        USER,
    ]
    done = fix(log, format="openai-chat", provider="kimi", level=level).value
    assert [item["tool_calls"][0]["id"] for item in done if item.get("tool_calls")] == ["functions.run:1"]


def test_a_session_of_gemini_cli_is_split_at_a_result_in_an_answer() -> None:
    parts = [
        {"functionCall": {"name": "run", "args": {"n": 1}}},
        {"functionResponse": {"name": "run", "response": {"output": "one"}}},
    ]
    lines = [
        {"sessionId": "s1", "projectHash": "p1", "startTime": "2026-06-02T14:11:20.000Z"},
        {"id": "m0", "timestamp": "2026-06-02T14:11:20.000Z", "type": "gemini", "content": parts},
        {"id": "m1", "timestamp": "2026-06-02T14:11:20.000Z", "type": "user", "content": [{"text": "on"}]},
    ]
    done = fix(lines, format="gemini-cli", level="lossless").value
    assert [(item.get("type"), len(item.get("content", ()))) for item in done[1:]] == [
        ("gemini", 1),
        ("user", 1),
        ("user", 1),
    ]


@pytest.mark.parametrize("identifier", ["null", "REDACTED", "", "hist_tool_1"])
@pytest.mark.parametrize("form", ["gemini", "ollama", "canonical", "openai-chat", "openai-responses"])
@pytest.mark.parametrize("provider", ["openai", "gemini", "ollama", "mistral"])
def test_fix_writes_the_ids_that_ids_shows(form: str, provider: str, identifier: str) -> None:
    call = Piece("call", "", 1, identifier, "run")
    result = Piece("result", "result-of-1.", 1, identifier, "run")
    turns = [
        Turn("user", [Piece("text", "go")]),
        Turn("model", [call]),
        Turn("tool", [result]),
        Turn("user", [Piece("text", "on")]),
    ]
    assert [*fuzz_pairs.judged(fuzz_pairs.Case(form, turns, [], "lossless", provider))] == []


def test_ids_are_added_where_a_provider_requires_them() -> None:
    history = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "null", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "null", "content": "r"},
    ]  # fmt: skip
    repaired = fix(history, provider="mistral", level="lossless").value
    assert isinstance(repaired, list)
    (call,) = repaired[1]["tool_calls"]
    assert call["id"] == repaired[2]["tool_call_id"] != "null"


def test_an_internal_id_gets_the_prefix_of_a_provider_only_in_a_rewritten_id() -> None:
    (transcript,) = fuzz_pairs.read(fuzz_pairs.Source("t", None, data=json.dumps({"history": [
        {"speaker": "ai", "blocks": [_call("hist_tool_1", 1)]}, {"speaker": "tool", "blocks": [_result_block("hist_tool_1", "one")]},
    ]}).encode()), "canonical")  # fmt: skip
    profile = Providers(packages()).named("anthropic")[0]
    assert {entry.new for entry in project(transcript, None, profile).entries} == {"toolu_1"}
    assert {entry.new for entry in project(transcript, None, profile, in_place=True).entries} == {
        "hist_tool_1"
    }


@pytest.mark.parametrize("form", ["gemini", "ollama"])
def test_a_result_loses_an_empty_id_where_its_call_has_none(form: str) -> None:
    """These wires need no ids, so that no id can be given to the result."""
    calls = [Piece("call", "", number, None, "run") for number in (1, 2)]
    results = [
        Piece("result", f"result-of-{number}.", number, identifier, "run")
        for number, identifier in ((1, None), (2, "null"))
    ]
    turns = [Turn("user", [Piece("text", "go")]), Turn("model", calls), Turn("tool", results)]
    data = fuzz_pairs.data_of(fuzz_pairs.Case(form, turns, [], "lossless", "none"))
    done = fix(json.loads(data), format=form, provider="deepseek", level="lossless")
    assert done.left == ()
    after = fuzz_pairs.turns_of(form, json.dumps(done.value).encode())
    assert [item.words for turn in after for item in turn.all("result") if item.id is None] == [
        "result-of-1.",
        "result-of-2.",
    ]


def _turn(*calls: tuple[str, str]) -> dict[str, Any]:
    made = [
        {"id": identifier, "type": "function", "function": {"name": "run", "arguments": f'{{"n":"{text}"}}'}}
        for identifier, text in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _tool(identifier: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identifier, "content": text}


@pytest.mark.parametrize(
    ("messages", "kept"),
    [
        ((_tool("c", "one"), USER, _tool("c", "two")), ["one", "two"]),
        ((_tool("c", "one"), _tool("c", "one again"), _tool("c", "two")), ["one", "two"]),
        ((_tool("c", "one"), {"role": "assistant", "content": "so"}, _tool("c", "two")), []),
        ((_tool("c", "one"), _tool("c", "one again")), []),
    ],
)
def test_two_calls_of_one_id_keep_their_results_where_the_order_is_sure(
    messages: tuple[Any, ...], kept: list[str]
) -> None:
    """Two calls of a turn share an id. A later message of the assistant or a single result leaves two readings."""
    log = [USER, _turn(("c", "one"), ("c", "two")), *messages, USER]
    done = fix(log, format="openai-chat", provider="openai", level="lossy").value
    assert [
        item["content"] for item in done if item["role"] == "tool" and item["content"] in ("one", "two")
    ] == kept


def test_a_call_in_doubt_makes_the_next_result_of_its_turn_doubtful() -> None:
    use = [{"toolUse": {"toolUseId": "c", "name": "run", "input": {"n": number}}} for number in range(3)]
    messages = [{"toolResult": {"toolUseId": "c", "content": [{"text": text}]}} for text in ("one", "two")]
    user = {"role": "user", "content": [{"text": "go"}]}
    log = {"messages": [
        user, {"role": "assistant", "content": [*use[:2], messages[0], use[2]]}, {"role": "user", "content": [messages[1]]}, user,
    ]}  # fmt: skip
    done = json.dumps(fix(log, format="bedrock", provider="bedrock", level="lossy").value)
    assert '"one"' not in done
    assert '"two"' not in done


@pytest.mark.parametrize("earlier", [True, False])
def test_an_open_call_of_an_earlier_turn_makes_one_of_two_results_doubtful(earlier: bool) -> None:
    """Both results may be of the earlier call, which shares id and name with a call of the turn before them."""

    def calling(*calls: tuple[str, int]) -> dict[str, Any]:
        made = [
            {"id": "c", "type": "function", "function": {"name": name, "arguments": f'{{"n": {number}}}'}}
            for name, number in calls
        ]
        return {"role": "assistant", "content": "", "tool_calls": made}

    messages = [
        {"role": "tool", "tool_call_id": "c", "name": "write", "content": text} for text in ("one", "two")
    ]
    log = [
        USER, *([calling(("write", 1))] if earlier else []), calling(("read", 2), ("write", 3)), messages[0],
        *([{"role": "assistant", "content": "so"}, messages[1]] if earlier else []), USER,
    ]  # fmt: skip
    done = fix(log, format="mistral", level="lossy").value
    assert ("one" in {item["content"] for item in done}) is not earlier
    assert "two" not in {item["content"] for item in done}


def test_a_split_of_a_turn_leaves_a_result_in_doubt_without_a_call() -> None:
    """Two calls of one id and name have one result; a split before the second would make it the only one."""
    log = {"history": [
        {"speaker": "ai", "blocks": [
            _call("c", 1, "write"), _call("c", 2, "look"), _result_block("c", "two", "look"), _call("c", 3, "write"),
        ]},
        {"speaker": "tool", "blocks": [_result_block("c", "one", "write")]},
        {"speaker": "human", "blocks": [{"type": "text", "text": "on"}]},
    ]}  # fmt: skip
    done = fix(log, format="canonical", level="placeholder").value
    assert isinstance(done, dict)
    calls, results = done["history"][0]["blocks"], done["history"][1]["blocks"]
    texts = {result["callId"]: result.get("result") for result in results}
    assert [(call["parameters"]["n"], texts[call["id"]]) for call in calls] == [
        (1, None),
        (2, "two"),
        (3, None),
    ]
    assert "one" in json.dumps(done)


def ids_of(data: bytes, provider: str) -> list[dict[str, Any]]:
    """The ids that `turnlint ids` shows."""
    arguments = ["-", "--provider", provider, "--output-format", "json"]
    run = CliRunner().invoke(command, arguments, input=data)
    assert run.exit_code == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_a_copy_of_a_call_is_not_counted() -> None:
    log = [USER, _turn(("c", "one"), ("c", "one"), ("d", "two")), _tool("c", "1"), _tool("d", "2"), USER]
    done = fix(log, format="openai-chat", provider="kimi", level="lossy").value
    assert [call["id"] for call in done[1]["tool_calls"]] == ["functions.run:0", "functions.run:1"]
    shown = ids_of(json.dumps({"messages": log}).encode(), "kimi")
    assert [item["new"] for item in shown if item["piece"] == "call"] == [
        "functions.run:0",
        "functions.run:0",
        "functions.run:1",
    ]


def test_a_call_beside_two_results_does_not_get_the_id_of_another_tool() -> None:
    calls = [_call("c1", number, name) for number, name in enumerate(("read", "write"))]
    results = [_result_block("c1", name, name) for name in ("read", "write")]
    log = {
        "history": [
            {"speaker": "ai", "blocks": calls},
            {"speaker": "tool", "blocks": [_call("c1", 3, "read"), *results]},
        ]
    }
    done = fix(log, format="canonical", level="placeholder", canonical=True).value
    copy, _, other = done["history"][1]["blocks"]
    assert other["toolName"] == "write"
    assert copy["id"] != other["callId"]


def test_a_placeholder_is_replaced_by_a_result_of_its_id_only() -> None:
    """The log has a result without an id, after a call with a placeholder and a result."""
    log = [
        USER, _turn(("c", "one")), {"role": "tool", "content": "of another"}, _tool("c", "No result provided"),
        _tool("c", "one"), USER,
    ]  # fmt: skip
    done = fix(log, format="openai-chat", provider="openai", level="lossy").value
    assert [item["content"] for item in done if item["role"] == "tool"] == ["one"]


def test_a_result_among_calls_and_one_after_them_are_not_exchanged() -> None:
    use = [{"toolUse": {"toolUseId": "c", "name": "run", "input": {"n": number}}} for number in range(2)]
    messages = [{"toolResult": {"toolUseId": "c", "content": [{"text": text}]}} for text in ("one", "two")]
    user = {"role": "user", "content": [{"text": "go"}]}
    message = {"role": "assistant", "content": [*use, messages[0]]}
    log = {"messages": [user, message, {"role": "user", "content": [messages[1]]}, user]}
    done = fix(log, format="bedrock", provider="bedrock", level="lossy").value
    left = [
        part["toolResult"]["content"][0]["text"]
        for message in done["messages"]
        for part in message["content"]
        if "toolResult" in part
    ]
    assert "two" not in left[:1]


def test_a_result_without_an_id_is_not_paired_if_a_later_one_may_match() -> None:
    log = [
        USER, _turn(("c", "one")), {"role": "tool", "content": "of another"}, _tool("c", "No result provided"),
        {"role": "assistant", "content": "so"}, _tool("C", "one"), USER,
    ]  # fmt: skip
    done = fix(log, format="openai-chat", provider="openai", level="lossless").value
    assert [item["content"] for item in done if item.get("tool_call_id") == "c"] == ["No result provided"]


@pytest.mark.skipif(
    "TURNLINT_FUZZ" not in os.environ, reason="set TURNLINT_FUZZ to a number of conversations"
)
@pytest.mark.timeout(0)
@pytest.mark.parametrize("form", fuzz_pairs.FORMS)
def test_many_marked_conversations(form: str) -> None:
    count, _, seed = os.environ["TURNLINT_FUZZ"].partition(":")
    assert [*fuzz_pairs.run(form, int(seed or 1), int(count))] == []
