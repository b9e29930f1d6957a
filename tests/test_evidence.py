"""A result stays with its call: evidence for and against a pair, and refusals of the last check."""

import json
from typing import Any

import pytest
from msgspec import structs

import fuzz_pairs
from breaking import Piece, Turn
from ledger_oracle import BLOCKS, CHAT, ITEMS, outcome_of, parse_conversation, read
from turnlint import fix
from turnlint.ledger.alike import is_same_call, normal_form
from turnlint.model import Call, Keys, Message, Record, Result, Transcript, Wire
from turnlint.repair.evidence import untied

CASES = [
    ("an id that no call bears, a call without id, and another call open", CHAT, "assistant ?a ?- / tool !x / tool !y / user ~", "0 unanswered, 1 unanswered, 2 orphan, 3 orphan"),
    ("one of two calls without ids is answered", CHAT, "assistant ?- ?- / tool !-", "0 pending, 1 pending, 2 orphan"),
    ("one of two calls is answered, without an id", CHAT, "assistant ?a ?b / tool !-", "0 pending, 1 pending, 2 orphan"),
    ("only the name distinguishes two", CHAT, "assistant ?-.f ?-.g / tool !-.g", "0 pending, 1 by-position 2"),
    ("more results than calls without ids", CHAT, "assistant ?-.f / tool !-.f !-.g", "0 by-position 1, 2 orphan"),
    ("white space at the end of an id", CHAT, "assistant ?a / tool !a\u00a0", "0 in-place 1"),
    ("two forms of one letter", CHAT, "assistant ?\u00e9 / tool !e\u0301", "0 in-place 1"),
    ("names distinguish the results of two turns", BLOCKS, "assistant ?c.cat / user ~ / assistant ?c.ls / user !c.ls !c.cat", "0 late 3, 1 in-place 2"),
    ("names against numbers", CHAT, "assistant ?c.f ?c.g / tool !c.g !c.g / user ~", "0 unanswered, 1 in-place 2, 3 repeats 1"),
    ("an early result of an id that turns share", CHAT, "tool !c / assistant ?c.f / tool !c / assistant ?c.g", "0 orphan, 1 in-place 2, 3 pending"),
    ("an id before its call, and no id behind it", CHAT, "tool !a / assistant ?a / tool !- / user ~", "1 early 0, 2 orphan"),
    ("no id, behind another turn", ITEMS, "assistant ?a / user ~ / assistant ?b / tool !b / system ~ / tool !-", "0 unanswered, 1 in-place 2, 3 orphan"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wire", "text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_evidence_of_a_pair(wire: Wire, text: str, expected: str) -> None:
    outcome = sorted(outcome_of(read(parse_conversation(text), wire)).items())
    assert ", ".join(f"{seq} {what}" for seq, what in outcome) == expected


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", fuzz_pairs.FORMS)
def test_marked_conversations_keep_their_results(form: str) -> None:
    """A few draws of the fuzz; `TURNLINT_FUZZ=8000 pytest tests/test_hostile_pairs.py` runs more."""
    assert [*fuzz_pairs.run(form, 1, 25)] == []


def test_the_marks_detect_an_exchanged_pair() -> None:
    """The checks of the fuzz can fail."""
    calls = [Piece("call", "", mark, f"c{mark}", "read_file") for mark in (1, 2)]
    results = [Piece("result", f"result-of-{mark}.", mark, f"c{mark}", "read_file") for mark in (1, 2)]
    was = [Turn("model", calls), Turn("tool", results)]
    swapped = [
        Piece("result", result.words, result.mark, f"c{3 - result.mark}", result.name) for result in results
    ]
    case = fuzz_pairs.Case("openai-chat", was, [], "lossy", "auto")
    assert [*fuzz_pairs._mispaired(case, was, [Turn("model", calls), Turn("tool", swapped)])]
    assert not [*fuzz_pairs._mispaired(case, was, was)]


def _transcript(*blocks: Call | Result) -> Transcript:
    record = Record(1, 0, b"")
    roles = ["assistant" if isinstance(block, Call) else "tool" for block in blocks]
    messages = (Message(role, (), (one,), record) for role, one in zip(roles, blocks, strict=True))  # type: ignore[arg-type]
    return Transcript(Wire("openai-chat"), tuple(messages))


def _call(identifier: str, body: bytes = b"{}") -> Call:
    return Call((), Keys((), (), ()), identifier, "run", body, "object")


def _result(identifier: str, body: bytes) -> Result:
    return Result((), Keys((), (), ()), identifier, None, body)


def test_the_check_refuses_a_result_under_another_call() -> None:
    one, other = _call("a", b'{"n":1}'), _call("b", b'{"n":2}')
    before = _transcript(one, _result("a", b'"x"'), other, _result("b", b'"y"'))
    assert untied([before], [before]) is None
    after = _transcript(one, _result("a", b'"y"'), other, _result("b", b'"x"'))
    assert untied([before], [after]) is not None
    renamed = _transcript(_call("z", b'{"n":1}'), _result("z", b'"x"'), other, _result("b", b'"y"'))
    assert untied([before], [renamed]) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b'{"a":1,"b":[1]}', b'{"b": [1], "a": 1}', True),
        (b'{"a":1}', b'{"a":true}', False),
        (b'{"a":1}', b'{"a":"1"}', False),
        (b'{"a":1}', b'{"a":1.0}', True),
        (b'{"a":[1e2]}', b'{"a":[100]}', True),
        (b'{"a":1}', b'{"a":1.5}', False),
        (b'{"a":9007199254740993}', b'{"a":9007199254740992.0}', False),
        (b'{"a":', b'{"a": ', False),
    ],
)
def test_calls_are_equal_by_their_values(one: bytes, other: bytes, same: bool) -> None:
    assert is_same_call(_call("a", one), _call("a", other)) is same


def test_an_id_has_one_form() -> None:
    assert normal_form(" e\u0301\n") == normal_form("\u00e9")


def _chat(*messages: Any) -> list[Any]:
    return [{"role": "user", "content": "go"}, *messages, {"role": "user", "content": "on"}]


def _calling(*calls: tuple[str | None, str, str]) -> dict[str, Any]:
    made = [
        {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}
        for identifier, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _answering(identifier: str, text: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identifier, "content": text}


def test_results_under_other_ids_stay_orphans() -> None:
    calls = _calling(("call_1", "f", '{"n":1}'), ("", "f", '{"n":2}'))
    log = _chat(calls, _answering("call_one", "one"), _answering("call_two", "two"))
    done = fix(log, provider="openai", level="placeholder")
    assert [item["content"] for item in done.value if item["role"] == "tool"][-2:] == ["one", "two"]
    assert [item.call_id for item in done.left if item.rule == "orphan-result"] == ["call_one", "call_two"]


def test_a_name_in_the_id_of_a_result_contradicts_the_order() -> None:
    calls = _calling(("", "rm", "{}"), ("", "ls", "{}"))
    log = _chat(calls, _answering("", "listed"), _answering("functions.rm:0", "removed"))
    found = fix(log, provider="openai", level="placeholder").value[1:]
    call_ids = [call["id"] for call in found[0]["tool_calls"]]
    results = [(item["tool_call_id"], item["content"]) for item in found[1:] if item["role"] == "tool"]
    assert {text for _, text in results} >= {"listed", "removed"}
    assert not [
        text for identifier, text in results if identifier in call_ids and text in ("listed", "removed")
    ]


def test_white_space_does_not_become_the_id_of_a_call() -> None:
    log = _chat(_calling(("", "ls", "{}")), _answering(" ", "listed"))
    _, call, result, _ = fix(log, provider="openai", level="lossless").value
    assert call["tool_calls"][0]["id"] == result["tool_call_id"] != " "


def test_a_copy_with_other_white_space_is_a_copy() -> None:
    log = _chat(_calling(("c1", "f", '{"a":1}')), _calling(("c1", "f", '{"a": 1}')), _answering("c1", "one"))
    done = fix(log, provider="openai", level="lossless")
    assert [item.get("tool_calls") or item["content"] for item in done.value][1:3] == [
        log[1]["tool_calls"],
        "one",
    ]


@pytest.mark.parametrize(("provider", "empty"), [("openai", None), ("groq", None), ("groq", []), ("xai", [])])
def test_an_empty_result_that_is_rewritten_keeps_its_call_beside_another_empty_result(
    provider: str, empty: Any
) -> None:
    log = _chat(
        _calling(("c1", "f", '{"n":1}'), ("c2", "f", '{"n":2}')),
        _answering("c1", ""),
        _answering("c2", empty),
    )
    done = fix({"model": "m", "messages": log}, provider=provider, level="lossless")
    assert [message["content"] for message in done.value["messages"] if message["role"] == "tool"] == ["", ""]
    assert [item.rule for item in done.left] == []


@pytest.mark.parametrize("given", [("", "{}"), ("{}", "")])
def test_empty_arguments_that_are_rewritten_keep_their_result_beside_a_call_without_arguments(
    given: tuple[str, str],
) -> None:
    log = _chat(
        _calling(("c1", "f", given[0]), ("c2", "f", given[1])),
        _answering("c1", "one"),
        _answering("c2", "two"),
    )
    done = fix({"model": "m", "messages": log}, provider="qwen", level="lossless")
    assert [call["function"]["arguments"] for call in done.value["messages"][1]["tool_calls"]] == ["{}", "{}"]
    assert [item.rule for item in done.left] == []


def test_a_stray_result_does_not_get_the_id_that_a_provider_counts() -> None:
    log = _chat(
        _calling(("toolu_a", "rm", "{}")),
        {"role": "user", "content": "?"},
        _answering("functions.rm:0", "STALE"),
    )
    done = fix(log, provider="kimi", level="lossless")
    ids = json.dumps(done.value)
    assert ids.count("functions.rm:0") == 1


def test_gemini_results_are_paired_by_name() -> None:
    def call(name: str) -> dict[str, Any]:
        return {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": name, "args": {}}}]}

    def responses_of(*names: str) -> list[Any]:
        return [{"functionResponse": {"id": "c1", "name": name, "response": {"r": name}}} for name in names]

    user = {"role": "user", "parts": [{"text": "go"}]}
    log = {
        "contents": [
            user,
            call("cat"),
            user,
            call("ls"),
            {"role": "user", "parts": responses_of("ls", "cat")},
        ]
    }
    done = fix(log, provider="gemini", level="lossless")
    turn: list[str] = []
    for message in done.value["contents"]:
        for part in message["parts"]:
            if "functionCall" in part:
                turn = [part["functionCall"]["name"]]
            elif "functionResponse" in part:
                assert part["functionResponse"]["name"] in turn
                assert part["functionResponse"]["response"]["r"] in turn


def test_a_complete_result_takes_precedence_over_a_partial_one() -> None:
    responses_of = {"type": "tool_response", "callId": "hist_tool_1", "toolName": "f"}
    partial = {**responses_of, "result": "par", "isComplete": False}
    whole = {**responses_of, "result": "partial full", "isComplete": True}
    call = {"type": "tool_call", "id": "hist_tool_1", "name": "f", "parameters": {}}
    log = {"history": [{"speaker": "ai", "blocks": [call]}, {"speaker": "tool", "blocks": [partial, whole]}]}
    done = json.dumps(fix(log, format="canonical", level="lossy").value)
    assert '"partial full"' in done
    assert '"par"' not in done


def _sharing(results: str) -> dict[str, Any]:
    """Three calls of one turn, two of them under the id `c`, and results under the ids in the order given."""
    calls = [
        {"id": identifier, "type": "function", "function": {"name": "run", "arguments": f'{{"n":{number}}}'}}
        for number, identifier in enumerate("ccx")
    ]
    responses_of = [
        {"role": "tool", "tool_call_id": identifier, "content": f"{identifier}-{number}"}
        for number, identifier in enumerate(results)
    ]
    user = {"role": "user", "content": "go"}
    return {
        "messages": [user, {"role": "assistant", "content": None, "tool_calls": calls}, *responses_of, user]
    }


@pytest.mark.parametrize(("results", "kept"), [("ccx", 3), ("xcc", 3), ("cxc", 1), ("cx", 1)])
def test_the_order_of_results_is_evidence_only_where_no_other_result_contradicts_it(
    results: str, kept: int
) -> None:
    """In `cxc` some result is out of place, and no evidence shows which of the two under `c` that is."""
    done = fix(_sharing(results), format="openai-chat", provider="openai", level="lossy").value
    texts = [message["content"] for message in done["messages"] if message["role"] == "tool"]
    assert len(texts) == 3
    assert sum(len(text) == 3 for text in texts) == kept
    again = fix(_sharing(results), format="openai-chat", provider="openai", level="placeholder").value
    there = [message["content"] for message in again["messages"] if message["role"] == "tool"]
    assert {f"{identifier}-{number}" for number, identifier in enumerate(results)} <= {*there}


@pytest.mark.parametrize("count", [0, 1])
def test_only_a_call_that_the_assistant_made_too_is_an_echo(count: int) -> None:
    """A call in a turn of results is removed only where an assistant message has it as well; else it goes there."""
    call = {"type": "tool_call", "id": "hist_tool_1", "name": "f", "parameters": {}}
    responses_of = {"type": "tool_response", "callId": "hist_tool_1", "toolName": "f", "result": "found"}
    calling = [{"speaker": "ai", "blocks": [call]}] * count
    user = {"speaker": "human", "blocks": [{"type": "text", "text": "go"}]}
    log = {"history": [user, *calling, {"speaker": "tool", "blocks": [call, responses_of]}, user]}
    done = fix(log, format="canonical", level="lossy").value
    speakers = [item["speaker"] for item in done["history"] for block in item["blocks"] if block == call]
    assert speakers == ["ai"]
    kept = fix(log, format="canonical", level="placeholder").value
    assert kept == (log if count else done)


@pytest.mark.parametrize("identifier", ["call_", "toolu_"])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "mistral", "kimi"])
def test_fix_gives_a_bare_prefix_the_id_that_ids_shows(identifier: str, provider: str) -> None:
    calls = [Piece("call", "", mark, identifier, "run") for mark in (1, 2)]
    results = [Piece("result", f"result-of-{mark}.", mark, identifier, "run") for mark in (1, 2)]
    messages = [
        Turn("user", [Piece("text", "go")]),
        *(Turn(role, [piece]) for pair in zip(calls, results, strict=True) for role, piece in zip(("model", "tool"), pair, strict=True)),
        Turn("user", [Piece("text", "on")]),
    ]  # fmt: skip
    case = fuzz_pairs.Case("openai-chat", messages, [], "lossless", provider)
    assert [*fuzz_pairs.judged(case)] == []


def test_a_result_with_the_name_of_another_call_of_its_id_stays_without_a_call() -> None:
    """Two calls share an id, and the order would give a result of `b` to the call that has no name."""
    calls = [
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}]}
        for name in ("", "b")
    ]  # fmt: skip
    responses_of = [
        {"role": "tool", "tool_call_id": "c", "name": name, "content": f"of {name}"} for name in ("b", "x")
    ]
    user = {"role": "user", "content": "go"}
    log = {"messages": [user, *calls, user, *responses_of, user]}
    done = fix(log, format="openai-chat", provider="openai", level="placeholder")
    assert done.unverified == ()
    assert done.value["messages"][2].get("content") != "of b"
    assert sum(message.get("content") in ("of b", "of x") for message in done.value["messages"]) == 2


def test_two_results_of_one_name_fit_no_call_while_a_later_call_has_that_name() -> None:
    """A window has two results for its one call of the name and id, and the later call of both has none."""
    parts = [{"functionCall": {"id": "c", "name": name, "args": {}}} for name in ("write", "look")]
    responses_of = [
        {"functionResponse": {"id": "c", "name": "look", "response": {"output": text}}} for text in "32"
    ]
    late = {"functionCall": {"id": "c", "name": "look", "args": {"k": 3}}}
    user = {"role": "user", "parts": [{"text": "go"}]}
    log = {"contents": [user, {"role": "model", "parts": parts}, {"role": "user", "parts": responses_of},
                        {"role": "model", "parts": [late]}, user]}  # fmt: skip
    done = fix(log, format="gemini", level="placeholder")
    assert done.unverified == ()
    ids = {
        part["functionCall"]["id"]
        for content in done.value["contents"]
        for part in content["parts"]
        if "functionCall" in part
    }
    results = [
        part["functionResponse"]
        for content in done.value["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]
    kept = [result for result in results if result["response"].get("output") in ("2", "3")]
    assert len(kept) == 2
    assert not [item for item in kept if item["id"] in ids]


def test_the_check_refuses_a_result_of_one_of_two_calls_of_an_id() -> None:
    one, other = _call("a", b'{"n":1}'), _call("a", b'{"n":2}')
    calls = Message("assistant", (), (one, other), Record(1, 0, b""))
    before = _transcript(_result("a", b'"x"'))
    before = Transcript(before.wire, (calls, *before.messages))
    renamed = _call("b", b'{"n":2}'), _result("b", b'"x"')
    assert untied([before], [_transcript(one, *renamed)]) is not None
    assert untied([before], [before]) is None


def test_the_check_refuses_a_result_that_an_earlier_call_may_have() -> None:
    calls = [
        structs.replace(_call("a", b'{"n":%d}' % number), name=name)
        for number, name in enumerate(("f", "g", "f"))
    ]
    results = [structs.replace(_result("a", text), name="f") for text in (b'"x"', b'"y"')]
    record = Record(1, 0, b"")
    before = Transcript(Wire("openai-chat"), (
        Message("assistant", (), (calls[0],), record), Message("assistant", (), tuple(calls[1:]), record),
        Message("tool", (), (results[0],), record), Message("assistant", (), (), record),
        Message("tool", (), (results[1],), record),
    ))  # fmt: skip
    renamed = structs.replace(calls[2], id="b"), structs.replace(results[0], id="b")
    assert untied([before], [_transcript(*renamed)]) is not None
