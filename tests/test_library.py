"""`from turnlint import lint, fix`: Python objects in, values out."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest

import turnlint
from commands import run_cli
from histories import APART, ORPHAN, SOUND, USER, answer, calling, codes
from turnlint import fix, lint
from turnlint.library import TurnlintError
from turnlint.notation import example_formats, write

FIXTURES = Path(__file__).parent.parent / "fixtures"


# The public interface.


def test_two_functions_are_public_and_loaded_on_demand() -> None:
    assert turnlint.__all__ == ["fix", "lint"]
    program = (
        "import sys, turnlint; print([n for n in sys.modules if n.startswith(('turnlint.', 'msgspec'))])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'lnit'"):
        turnlint.lnit  # noqa: B018


SESSIONS = [
    path
    for name in ("claude-code", "codex", "gemini-cli", "pi")
    for path in sorted((Path(__file__).parent.parent / "fixtures" / "formats" / name).glob("*.fixed.jsonl"))
]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name}: {path.name}")
def test_the_events_of_a_session_are_read_and_repaired_as_its_file_is(path: Path) -> None:
    broken = [
        json.loads(line)
        for line in path.with_name(path.name.replace(".fixed", "")).read_text().splitlines()
        if line
    ]
    fixed = fix(broken, level="lossy")
    assert fixed.changes
    assert fixed.value == [json.loads(line) for line in path.read_text().splitlines() if line]
    for finding in lint(broken):
        at: Any = broken
        for part in finding.pointer.split("/")[1:]:
            at = at[int(part) if isinstance(at, list) else part]


def test_a_list_of_one_record_is_returned_as_a_list() -> None:
    only = [
        {
            "custom_id": "r1",
            "response": {"status_code": 200, "body": {"choices": [{"index": 0, "message": calling("c1")}]}},
        }
    ]
    assert lint(only) == lint(only[0])
    assert fix(only).value == only


def test_findings_are_frozen_values_with_one_line_of_text() -> None:
    (finding,) = lint(APART)
    assert (finding.code, finding.rule, finding.severity) == ("PA203", "misplaced-result", "error")
    assert (finding.pointer, finding.message_index, finding.call_id) == ("/3/tool_call_id", 3, "c1")
    assert finding.fix is not None
    assert finding.fix.level == "lossless"
    assert [item.pointer for item in finding.related] == ["/1/tool_calls/0/id"]
    assert str(finding) == (
        "PA203[error] misplaced-result: result for `c1` is not directly after its call (/3/tool_call_id)"
    )
    with pytest.raises(AttributeError):
        finding.code = "PA999"  # type: ignore[misc]
    assert len({finding, *lint(APART)}) == 1


def test_names_are_those_of_the_json_report(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"messages": [*ORPHAN, calling("c1"), USER]}))
    shown = run_cli("lint", str(path), "--output-format", "json", text=True).stdout
    rows = json.loads(shown)["findings"]
    found = [msgspec.to_builtins(finding) for finding in lint({"messages": [*ORPHAN, calling("c1"), USER]})]
    assert len(rows) == len(found) == 2
    for row, one in zip(rows, found, strict=True):
        one.pop("conversation_index")
        one["related"] = [{**related, "line": 1} for related in one["related"]]
        assert one.items() <= row.items()


# Options.


def test_a_provider_a_format_and_rules_can_be_named() -> None:
    assert codes(lint(SOUND)) == []
    assert "PR303" in codes(lint(SOUND, provider="mistral"))
    assert {finding.provider for finding in lint(SOUND, provider=["mistral", "kimi"])} <= {"mistral", "kimi"}
    assert codes(lint(ORPHAN, ignore="PA202")) == []
    assert codes(lint([*ORPHAN, calling("c1"), USER], select=["unanswered-call"])) == ["PA201"]
    assert lint([], format="anthropic") == ()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"provider": "anthropc"}, "unknown provider 'anthropc'; did you mean 'anthropic'?"),
        ({"provider": "mistral@v0"}, "unknown version 'v0' of mistral"),
        ({"provider": ("none", "openai")}, "cannot be combined with other providers"),
        ({"provider": (1,)}, "names of providers and rules must be strings"),
        ({"format": "openai_chat"}, "unknown format 'openai_chat'; did you mean 'openai-chat'?"),
        ({"select": "PA999"}, "unknown rule 'PA999'"),
        ({"ignore": "orphan-reslt"}, "did you mean 'orphan-result'?"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_nearest(options: Any, expected: str) -> None:
    for verb in (lint, fix):
        with pytest.raises(TurnlintError, match=expected.replace("?", r"\?")):
            verb(SOUND, **options)


def test_options_of_fix_alone_are_checked_too() -> None:
    with pytest.raises(TurnlintError, match="unknown level 'lossles'; did you mean 'lossless'"):
        fix(SOUND, level="lossles")  # type: ignore[call-overload]
    with pytest.raises(TurnlintError, match="canonical and provider cannot be combined"):
        fix(SOUND, canonical=True, provider="openai")


# Fix.


def test_fix_gives_the_repaired_messages_and_the_changes() -> None:
    given = deepcopy(APART)
    fixed = fix(given)
    assert fixed.value == [USER, calling("c1"), answer("c1"), USER]
    (change,) = fixed.changes
    assert (change.what, change.code, change.level, change.pointer) == ("moved", "PA203", "lossless", "/3")
    assert fixed.left == ()
    assert given == APART


def test_a_whole_request_is_returned_as_one() -> None:
    request = {"model": "gpt-5", "messages": APART, "tools": []}
    assert fix(request).value == {**request, "messages": [USER, calling("c1"), answer("c1"), USER]}


def test_sound_input_is_returned_as_an_equal_copy() -> None:
    fixed = fix(SOUND)
    assert fixed.value == SOUND
    assert fixed.changes == fixed.left == fixed.unverified == ()
    fixed.value[0]["content"] = "changed"
    assert USER["content"] == "How is the weather?"


def test_unrepaired_findings_are_listed_as_left() -> None:
    assert codes(fix(ORPHAN, level="lossless").left) == ["PA202"]
    assert fix(ORPHAN, level="lossy").value == [USER]
    assert fix(ORPHAN).value == ORPHAN
    pending = [USER, calling("c1")]
    assert fix(pending).value == pending
    closed = fix(pending, close_pending=True)
    assert [item["role"] for item in closed.value] == ["user", "assistant", "tool"]
    assert fix(SOUND, canonical=True).value[1]["tool_calls"][0]["id"] != "c1"


@pytest.mark.parametrize("wire", example_formats())
def test_every_wire_is_repaired_as_the_command_repairs_it(wire: str) -> None:
    text = """
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
        user       Never mind.
        assistant  As you wish.
    """
    record = write(text, wire).record
    fixed = fix(record, format=wire, provider="none", level="lossy")
    assert codes(lint(record, format=wire, provider="none")) == ["PA201"]
    assert [change.what for change in fixed.changes] == ["added"]
    assert fixed.left == ()
    assert fix(fixed.value, format=wire, provider="none", level="lossy").changes == ()


def test_several_conversations_are_distinguished() -> None:
    found = lint([{"messages": SOUND}, {"messages": ORPHAN}])
    assert [(item.conversation_index, item.pointer) for item in found] == [(1, "/1/messages/1/tool_call_id")]
    assert fix([{"messages": SOUND}, {"messages": ORPHAN}], level="lossy").value[1] == {"messages": [USER]}
