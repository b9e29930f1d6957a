"""The pytest plugin: runs of pytest and their output."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import run_cli
from neighbouring import LINES

USER = {"role": "user", "content": "In Celsius, please."}
ASKS = {
    "role": "assistant", "content": None,
    "tool_calls": [{"id": "call_a91", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}],
}  # fmt: skip
ANSWER = {"role": "tool", "tool_call_id": "call_a91", "content": "18 °C, sunny"}
SOUND = [USER, ASKS, ANSWER]
APART = [USER, ASKS, USER, ANSWER]


def records(*conversations: Any) -> str:
    return "".join(json.dumps(conversation) + "\n" for conversation in conversations)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "sound.jsonl").write_text(records({"id": "s-1", "messages": SOUND}, {"messages": SOUND}))
    (logs / "broken.jsonl").write_text(
        records({"id": "s-2", "messages": SOUND}, {"id": "s-3", "messages": APART})
    )
    return tmp_path


def run(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    known = "ignore::pytest.PytestAssertRewriteWarning"  # the warm process has imported the program
    options = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-W", known, "-rA", *arguments)
    program = "import sys, pytest; sys.exit(pytest.main())"
    environment = {**clean, "COLUMNS": "100", "NO_COLOR": "1", **env}
    return run_cli(*options, program=program, cwd=folder, env=environment, text=True)


def outcomes(shown: str) -> dict[str, str]:
    return {name: word for word, name in re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", shown, re.MULTILINE)}


# The assertion.

TEST = f"""
from turnlint.pytest_plugin import assert_valid_transcript

SOUND, APART = {SOUND!r}, {APART!r}

def test_sound():
    assert_valid_transcript(SOUND, provider="openai", format="openai-chat")

def test_broken():
    assert_valid_transcript(APART, provider="openai")

def test_by_fixture(assert_valid_transcript):
    assert_valid_transcript(SOUND, provider="mistral")

def test_what_it_passes_over(assert_valid_transcript):
    assert_valid_transcript(APART, ignore="PA203")

def test_milder(assert_valid_transcript):
    assert_valid_transcript([*SOUND, {ASKS!r}], fail_on="info")

def test_a_typo(assert_valid_transcript):
    assert_valid_transcript(SOUND, provider="opnai")
"""


def test_a_failed_assertion_shows_the_conversation_with_the_finding_at_its_place(folder: Path) -> None:
    (folder / "test_it.py").write_text(TEST, encoding="utf-8")
    done = run(folder)
    assert done.returncode == 1
    assert outcomes(done.stdout) == {
        "test_it.py::test_sound": "PASSED",
        "test_it.py::test_broken": "FAILED",
        "test_it.py::test_by_fixture": "FAILED",
        "test_it.py::test_what_it_passes_over": "PASSED",
        "test_it.py::test_milder": "FAILED",
        "test_it.py::test_a_typo": "FAILED",
    }
    picture = """\
>       assert_valid_transcript(APART, provider="openai")
E       AssertionError: PA203[error] misplaced-result: result for `call_a91` is not directly after its call
E         --> transcript   /3/tool_call_id
E           |
E         1 | assistant   call_a91 get_weather
E           |             -------------------- its call
E         2 | user        "In Celsius, please."
E         3 | tool        call_a91  "18 °C, sunny"
E           |             ^^^^^^^^ should be directly after its call
E           |
"""
    assert picture in done.stdout
    assert "PR303[error] id-form at mistral" in done.stdout
    assert "pytest_plugin.py" not in done.stdout.split("test_a_typo")[0], "the trace ends at the test"
    assert "unknown provider 'opnai'; did you mean 'openai'?" in done.stdout


@pytest.mark.slow
def test_on_a_build_server_no_content_is_shown(folder: Path) -> None:
    (folder / "test_it.py").write_text(
        f"def test_it(assert_valid_transcript):\n    given = {[APART]!r}[0]\n    assert_valid_transcript(given)\n"
    )
    assert '"18 °C, sunny"\n' in run(folder, "--tb=short").stdout
    assert "18 °C, sunny" not in run(folder, "--tb=short", CI="1").stdout


# Files.


def test_nothing_is_collected_by_default(folder: Path) -> None:
    assert "no tests ran" in run(folder).stdout


def test_each_conversation_of_a_file_is_a_test(folder: Path) -> None:
    done = run(folder, "--turnlint", "logs")
    assert outcomes(done.stdout) == {
        "logs/sound.jsonl::records": "PASSED",
        "logs/sound.jsonl::s-1": "PASSED",
        "logs/sound.jsonl::#1": "PASSED",
        "logs/broken.jsonl::records": "PASSED",
        "logs/broken.jsonl::s-2": "PASSED",
        "logs/broken.jsonl::s-3": "FAILED",
    }
    picture = """\
PA203[error] misplaced-result: result for `call_a91` is not directly after its call
  --> logs/broken.jsonl:2:@   conversation "s-3"   /messages/3/tool_call_id
    |
  1 | assistant   call_a91 get_weather
    |             -------------------- its call
  2 | user        "In Celsius, please."
  3 | tool        call_a91  "18 °C, sunny"
    |             ^^^^^^^^ should be directly after its call
"""
    assert picture in re.sub(r"jsonl:2:\d+", "jsonl:2:@", done.stdout)
    assert "Traceback" not in done.stdout
    assert outcomes(run(folder, "--turnlint", "logs/broken.jsonl::s-2").stdout) == {
        "logs/broken.jsonl::s-2": "PASSED"
    }


def test_an_unreadable_file_fails_a_test_of_its_own(folder: Path) -> None:
    (folder / "logs" / "torn.jsonl").write_text(records({"id": "s-4", "messages": SOUND}) + '{"messages": [')
    done = run(folder, "--turnlint", "logs/torn.jsonl")
    assert outcomes(done.stdout) == {"logs/torn.jsonl::records": "FAILED", "logs/torn.jsonl::s-4": "PASSED"}
    assert "ST101[error] unreadable-record: the record is truncated" in done.stdout


def test_names_are_shown_safely_and_are_distinguished(folder: Path) -> None:
    ids = ("a", "a", "\x1b[31mred\n::error::x", "records")
    (folder / "logs" / "names.jsonl").write_text(
        records(*({"id": identifier, "messages": SOUND} for identifier in ids))
    )
    done = run(folder, "--turnlint", "logs/names.jsonl", "-v")
    for name in ("names.jsonl::a PASSED", "names.jsonl::a#1 PASSED", "names.jsonl::records#3 PASSED"):
        assert name in done.stdout
    assert "\x1b" not in done.stdout
    assert "\n::error" not in done.stdout


@pytest.mark.slow
def test_files_of_the_configuration_run_with_the_others(folder: Path) -> None:
    (folder / "tests").mkdir()
    (folder / "tests" / "test_it.py").write_text("def test_it():\n    pass\n")
    (folder / "pytest.ini").write_text(
        "[pytest]\ntestpaths = tests\nturnlint_files = logs/so*.jsonl logs/br*\n"
    )
    found = outcomes(run(folder).stdout)
    assert found["tests/test_it.py::test_it"] == "PASSED"
    assert found["logs/broken.jsonl::s-3"] == "FAILED"
    assert len(found) == 7
    assert outcomes(run(folder, "tests").stdout) == {"tests/test_it.py::test_it": "PASSED"}
    assert len(outcomes(run(folder, "logs/sound.jsonl").stdout)) == 3
    assert len(outcomes(run(folder, ".").stdout)) == 7
    assert len(outcomes(run(folder, "-n", "2").stdout)) == 7


def test_the_configuration_selects_the_options_and_rules_of_files(folder: Path) -> None:
    (folder / "pytest.ini").write_text(
        "[pytest]\nturnlint_files = logs/sound.jsonl\nturnlint_provider = mistral openai\n"
        "turnlint_format = openai-chat\nturnlint_fail_on = warning\n"
    )
    done = run(folder)
    assert outcomes(done.stdout)["logs/sound.jsonl::s-1"] == "FAILED"
    assert "PR303[error] id-form at mistral" in done.stdout


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("turnlint_files = logs/*.ndjson", "turnlint_files: no file matches 'logs/*.ndjson' in "),
        ("turnlint_files = logs/*\nturnlint_provider = opnai", "unknown provider 'opnai'; did you mean 'openai'?"),
        ("turnlint_files = logs/*\nturnlint_format = opnai-chat", "did you mean 'openai-chat'?"),
        ("turnlint_files = logs/*\nturnlint_fail_on = eror", "unknown severity 'eror'; did you mean 'error'?"),
        ("turnlint_files = foreign.json", "foreign.json: unrecognized format; `turnlint formats` lists the supported ones"),
    ],
)  # fmt: skip
def test_an_invalid_configuration_is_an_error_with_a_sentence(folder: Path, line: str, expected: str) -> None:
    (folder / "foreign.json").write_text('{"a": 1}')
    (folder / "pytest.ini").write_text(f"[pytest]\n{line}\n")
    done = run(folder)
    assert done.returncode != 0
    assert expected in done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


@pytest.mark.slow
def test_other_json_is_skipped_in_a_folder_and_reported_by_name(folder: Path) -> None:
    (folder / "logs" / "package.json").write_text('{"name": "x"}')
    assert len(outcomes(run(folder, "--turnlint").stdout)) == 6
    assert "unrecognized format" in run(folder, "--turnlint", "logs/package.json").stdout
    (folder / "logs" / "context.jsonl").write_text("".join(json.dumps(item) + "\n" for item in LINES["kimi"]))
    assert len(outcomes(run(folder, "--turnlint").stdout)) == 6
    named = run(folder, "--turnlint", "logs/context.jsonl").stdout
    assert "context.jsonl: looks like a Kimi CLI context; not supported yet" in named


def test_the_plugin_loads_nothing_before_it_is_used() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import turnlint.pytest_plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    shown = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert shown == "['turnlint', 'turnlint.pytest_plugin']\n"
