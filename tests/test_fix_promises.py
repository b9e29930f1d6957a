"""Guarantees of `fix`, on fixtures with random faults; `fuzz_promises` checks many more."""

import json
from typing import Any

import pytest

from fuzz_promises import ROOT, Case, case_of, repaired, wrong
from turnlint.model import Level
from turnlint.repair.choosing import LEVELS


@pytest.mark.parametrize("seed", range(4))
def test_one_run_is_enough_adds_no_error_and_counts_as_lint_does(seed: int) -> None:
    names = [f"{seed}-{number}" for number in range(60)]
    assert {name: problems for name in names if (problems := [*wrong(case_of(name))])} == {}


def test_a_parent_link_whose_repair_shows_a_new_error_needs_a_higher_level() -> None:
    name = "claude-code/a-line-deleted-by-hand.jsonl"
    data = (ROOT / "fixtures" / "formats" / name).read_bytes()
    case = Case(name, data, "lossless", "auto", canonical=False, faults=())
    fixed, after = repaired(case, data)
    assert after == data
    assert fixed.needs == {"placeholder": {"error": 1}}
    assert not fixed.failures
    assert [*wrong(case._replace(level="placeholder"))] == []


def test_a_recorded_answer_stays_in_the_format_of_its_log_under_any_provider() -> None:
    """Chat Completions reads it as one line of a conversation, and would get a result that nothing ties to it."""
    answers = (
        {"id": "a", "message": True, "finish_reason": "TOOL_CALL", "usage": {}},
        {
            "id": "b",
            "message": {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "hm"}],
                "tool_calls": [
                    {"id": "x_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
                ],
            },
            "finish_reason": "TOOL_CALL",
        },
        {"id": "c", "message": "invalid request: all elements in history must have a message."},
    )
    data = b"".join(json.dumps(answer).encode() + b"\n" for answer in answers)
    for level in LEVELS:
        case = Case("log.jsonl", data, level, "ollama", canonical=False, faults=())
        assert [*wrong(case)] == []
        assert repaired(case, data)[1] == data


@pytest.mark.parametrize("rest", [b"", b"\n", b"  \n", b"\r\n"])
def test_a_line_of_only_a_byte_order_mark_leaves_no_record(rest: bytes) -> None:
    case = Case("log.jsonl", b"\xef\xbb\xbf" + rest, "lossless", "auto", canonical=False, faults=())
    assert [*wrong(case)] == []
    assert repaired(case, case.data)[1] == rest


LEGACY = {"name": "look", "arguments": "{}"}
"""A call that the format of Mistral does not have."""
EMPTY_SAMPLE = {
    "messages": [{"role": "User", "content": "And low water?"}, {"role": "Chatbot", "content": ""}],
}
"""A sample whose empty message is its only evidence for Cohere."""
SAMPLE = {
    "messages": [
        {"role": "User", "content": "And now?"},
        {"role": "Chatbot", "content": ""},
        {"role": "User", "content": "And low water?"},
        {"role": "Chatbot", "content": "At six."},
    ]
}


def _request(*messages: Any) -> dict[str, Any]:
    return {"model": "gpt-3.5-turbo-0613", "messages": [{"role": "user", "content": "go"}, *messages]}


IS_LEGACY = _request(
    {"role": "assistant", "content": None, "function_call": LEGACY},
    {"role": "function", "name": "look", "content": "dry"},
    {"role": "assistant", "content": "No rain."},
)
ENDS_WITH_ANSWER = _request({"role": "assistant", "content": "a"})
HAS_ORPHAN = _request(
    {"role": "tool", "tool_call_id": "c", "content": "42"}, {"role": "user", "content": "so"}
)
SHOWS_ANTHROPIC = [
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "42"}]},
    {"role": "user", "content": "How many?"},
    {"role": "assistant", "content": "Forty-two."},
    {},
    {"role": "assistant", "content": "One moment."},
]


@pytest.mark.parametrize(
    ("record", "other", "provider", "level", "reason"),
    [
        (IS_LEGACY, ENDS_WITH_ANSWER, "mistral", "lossless", "in the format mistral afterwards"),
        (EMPTY_SAMPLE, HAS_ORPHAN, "auto", "lossy", "the format of the record would be unknown"),
        (SHOWS_ANTHROPIC, HAS_ORPHAN, "cohere", "lossy", "the format of the record would be unknown"),
    ],
)
def test_a_repair_that_changes_the_format_is_omitted_alone(
    record: Any, other: Any, provider: str, level: Level, reason: str
) -> None:
    """The other records of the file are repaired."""
    alone = json.dumps(record).encode()
    case = Case("log.jsonl", alone, level, provider, canonical=False, faults=())
    assert [*wrong(case)] == []
    fixed, after = repaired(case, alone)
    assert after == alone
    assert not fixed.failures
    assert any(note.reason.startswith("no repair of") and reason in note.reason for note in fixed.notes)
    beside = json.dumps(other).encode()
    beside_after = repaired(case, beside)[1]
    assert beside_after != beside
    both = b"\n".join((alone, beside))
    assert repaired(case, both)[1] == b"\n".join((alone, beside_after))
    assert [*wrong(case._replace(data=both))] == []


def test_a_record_may_lose_the_only_evidence_of_its_format_beside_others_of_this_format() -> None:
    data = b"".join(json.dumps(item).encode() + b"\n" for item in (SAMPLE, EMPTY_SAMPLE))
    case = Case("log.jsonl", data, "placeholder", "auto", canonical=False, faults=())
    assert b'"content": ""' not in repaired(case, data)[1]
    assert [*wrong(case)] == []


def test_a_repair_of_lines_after_which_the_log_has_no_format_is_not_made() -> None:
    """Damaged lines count against the format, and the empty message is one of two that show it."""
    name = "claude-code/edited-prompt-leaves-a-branch.jsonl"
    lines = (ROOT / "fixtures" / "formats" / name).read_bytes().splitlines(keepends=True)
    *_, user, assistant = lines
    emptied = json.loads(assistant)
    emptied["message"]["content"] = [{"type": "text", "text": []}]
    data = b"".join((b"true\n" * 2, user, json.dumps(emptied).encode() + b"\n"))
    case = Case(name, data, "lossless", "auto", canonical=False, faults=())
    fixed, after = repaired(case, data)
    assert after == data
    assert [failure.reason for failure in fixed.failures] == [
        "the format of the file would be unknown afterwards"
    ]


@pytest.mark.parametrize("level", LEVELS)
def test_the_counts_hold_where_the_spelling_of_the_file_changes(level: Level) -> None:
    """No call has an id before the repair. Afterwards, only the orphan result has none."""
    call = {"type": "function", "function": {"name": "look", "arguments": {}}}
    user = {"role": "user", "content": "go"}
    calling = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "name": "look", "content": "42"}
    records = ([user, calling, result], [result, {"role": "assistant", "content": "a"}, user, calling])
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    data = b"".join(json.dumps({"messages": record, "tools": tools}).encode() + b"\n" for record in records)
    case = Case("log.jsonl", data, level, "azure-openai", canonical=False, faults=())
    assert [*wrong(case)] == []


def test_a_repair_after_which_a_conversation_resembles_another_format_is_omitted() -> None:
    """The result without a call is the only one whose id is a text."""
    ids = ("c0", 7)
    results = [
        {"type": "tool_response", "callId": identifier, "toolName": "look", "result": "a"}
        for identifier in ids
    ]
    call = {"type": "tool_call", "id": "c1", "name": "look", "parameters": {}}
    history = [
        {"speaker": "human", "blocks": [{"type": "text", "text": "go"}]},
        {"speaker": "tool", "blocks": results[:1]},
        {"speaker": "ai", "blocks": [call]},
        {"speaker": "tool", "blocks": results[1:]},
        {"speaker": "ai", "blocks": [{"type": "text", "text": "so"}]},
    ]
    sound = [{"speaker": "human", "blocks": [{"type": "text", "text": "hi"}]}]
    data = b"".join(json.dumps({"history": item}).encode() + b"\n" for item in (history, sound))
    case = Case("log.jsonl", data, "lossy", "vertex", canonical=False, faults=())
    fixed, _ = repaired(case, data)
    assert [*wrong(case)] == []
    assert any("unknown afterwards" in note.reason for note in fixed.notes)
