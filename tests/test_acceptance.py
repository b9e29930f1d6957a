"""`fix --provider X --level lossy` writes a file that X accepts, or reports the errors; `fuzz_acceptance` checks more."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from broken_logs import settle
from fuzz_acceptance import Case, case_of, repaired, wrong
from fuzz_pairs import FORMS, PROVIDERS
from turnlint.cli.fix import command as fix_command
from turnlint.cli.lint import command as lint_command

TIME = "2026-06-02T14:11:20.000Z"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


@pytest.mark.parametrize("form", FORMS)
def test_an_accepted_result_has_no_error(form: str) -> None:
    cases = [case_of(form, provider, number, 1) for provider in PROVIDERS for number in range(2)]
    problems = {(case.provider, case.data): [*wrong(case, repaired(case))] for case in cases}
    assert {name: faults for name, faults in problems.items() if faults} == {}


@pytest.mark.parametrize("form", FORMS)
def test_the_exit_code_and_the_last_lines_are_those_of_lint(form: str, folder: Path) -> None:
    answers = []
    for number, provider in enumerate(PROVIDERS[::4]):
        (folder / "a.jsonl").write_bytes(case_of(form, provider, number, 2).data)
        options = ["a.jsonl", "--format", form, "--provider", provider]
        done = CliRunner().invoke(fix_command, [*options, "--level", "lossy"])
        found = CliRunner().invoke(lint_command, options)
        assert done.exit_code == found.exit_code, done.output
        answers.append(f"accepted by {provider}: {'no, ' if found.exit_code else ''}" in done.output)
    assert all(answers)


def test_the_check_sees_a_wrong_answer() -> None:
    sound = {"messages": [{"role": "user", "content": "go"}, {"role": "user", "content": "on"}]}
    case = Case("openai-chat", "openai", json.dumps(sound).encode())
    answer = repaired(case)
    assert [*wrong(case, answer)] == []
    answer.fixed.refused = {"openai": {"PR318 content-key": 1}}
    assert [*wrong(case, answer)]


def test_a_repair_that_changes_nothing_is_named(folder: Path) -> None:
    """A message of Gemini with the id of a call of Chat Completions has no equal message in that format."""
    messages = [
        {"role": "user", "content": "go"},
        {"role": "model", "tool_call_id": "c1", "content": "said"},
        {"role": "user", "content": "on"},
    ]
    (folder / "a.jsonl").write_text(json.dumps({"model": "glm-4.6", "messages": messages}))
    done = CliRunner().invoke(fix_command, ["a.jsonl", "--provider", "glm", "--level", "lossy"])
    assert done.exit_code == 1
    expected = "no repair of ST116: the message has a part, a key or arguments that the format of the conversation does not have"
    assert f"line 1: {expected}" in " ".join(done.output.split())
    assert "accepted by glm: no, 1 error remains: ST116 mixed-dialect (1)" in done.output.splitlines()


def test_a_last_call_without_a_result_is_no_repair_that_changes_nothing(folder: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    (folder / "a.jsonl").write_text(json.dumps({"messages": messages}))
    done = CliRunner().invoke(fix_command, ["a.jsonl"])
    assert "no repair of" not in done.output


@pytest.mark.parametrize("provider", ["vertex", "gemini"])
def test_no_repair_is_offered_where_a_session_accepts_no_message(provider: str, folder: Path) -> None:
    call = {"functionCall": {"id": "f1", "name": "run", "args": {}}, "thoughtSignature": "c2lnbmVk"}
    response = {"functionResponse": {"id": "f1", "name": "run", "response": {"output": "ok"}}}
    lines = [
        {"sessionId": "s1", "projectHash": "p1", "startTime": TIME},
        {"id": "m1", "timestamp": TIME, "type": "gemini", "content": [call]},
        {"id": "m2", "timestamp": TIME, "type": "user", "content": [response]},
    ]
    (folder / "a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    found = CliRunner().invoke(lint_command, ["a.jsonl", "--provider", provider])
    assert "fix: none; a repair adds no user message to the session of an agent" in " ".join(
        found.output.split()
    )
    done = CliRunner().invoke(fix_command, ["a.jsonl", "--provider", provider, "--level", "lossy"])
    assert done.exit_code == 1
    assert f"accepted by {provider}: no, 1 error remains: PR310 role-order (1)" in done.output
