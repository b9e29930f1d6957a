"""What `fix` promises, on fixtures with random faults; `fuzz_promises` checks many more."""

import json

import pytest

from fuzz_promises import ROOT, Case, case_of, repaired, wrong
from turnlint.repair.choosing import LEVELS


@pytest.mark.parametrize("seed", range(4))
def test_one_run_suffices_brings_in_nothing_and_counts_as_lint_does(seed: int) -> None:
    names = [f"{seed}-{number}" for number in range(60)]
    assert {name: told for name in names if (told := [*wrong(case_of(name))])} == {}


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
    data = b"".join(json.dumps(one).encode() + b"\n" for one in answers)
    for level in LEVELS:
        case = Case("log.jsonl", data, level, "ollama", canonical=False, faults=())
        assert [*wrong(case)] == []
        assert repaired(case, data)[1] == data


@pytest.mark.parametrize("rest", [b"", b"\n", b"  \n", b"\r\n"])
def test_a_line_of_only_a_byte_order_mark_leaves_no_record(rest: bytes) -> None:
    case = Case("log.jsonl", b"\xef\xbb\xbf" + rest, "lossless", "auto", canonical=False, faults=())
    assert [*wrong(case)] == []
    assert repaired(case, case.data)[1] == rest
