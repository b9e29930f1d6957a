"""Shell completion at every position of every command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete

from turnlint import rulebook
from turnlint.cli import COMMANDS, cli
from turnlint.cli.completing import Fitting
from turnlint.cli.completion import SHELLS
from turnlint.cli.nearest import Named

FREE = {"--poll", "--quiet", "--stdin-filename", "--model", "--today", "[TEXT|-]", "--output"}
"""Positions for free words, and for a combination of two values."""


def offered(*line: str) -> list[CompletionItem]:
    return ShellComplete(cli, {}, "turnlint", "_TURNLINT_COMPLETE").get_completions(list(line[:-1]), line[-1])


def names(*line: str) -> list[str]:
    return [item.value for item in offered(*line)]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (["comple"], ["completion"]),
        (["explain", "pa20"], [f"PA20{number}" for number in range(1, 10)]),
        (["explain", "orphan"], ["orphan-result"]),
        (["explain", "provi"], ["providers"]),
        (["lint", "--select", "PA201,ST10"], [f"PA201,ST10{number}" for number in range(1, 10)]),
        (["fix", "--ignore", "proj"], ["projection"]),
        (["lint", "--provider", "mis"], ["mistral"]),
        (["lint", "--provider", "mistral@v1"], ["mistral@v1", "mistral@v11", "mistral@v13", "mistral@v15"]),
        (["lint", "--provider", "no"], ["none"]),
        (["profiles", "a"], ["anthropic", "azure-openai"]),
        (["ids", "--provider", "kimi,an"], ["kimi,anthropic"]),
        (["lint", "--format", "openai"], ["openai-chat", "openai-responses"]),
        (["lint", "--output-format", "jsonl"], ["jsonl"]),
        (["lint", "--fail-on", "w"], ["warning"]),
        (["fix", "--level", "loss"], ["lossless", "lossy"]),
        (["schema", "rep"], ["report", "repair"]),
        (["completion", ""], list(SHELLS)),
    ],
)
def test_names_that_fit_are_offered(line: list[str], wanted: list[str]) -> None:
    found = names(*line)
    assert [name for name in found if name in wanted] == wanted
    assert all(name.lower().startswith(line[-1].lower()) for name in found)


def test_every_rule_is_offered_by_code_and_by_name_with_its_headline() -> None:
    found = {item.value: item.help for item in offered("explain", "")}
    for entry in rulebook.load(rulebook.BUILTIN):
        assert entry.headline in str(found[entry.rule.code])
        assert found[entry.rule.name] == entry.headline


@pytest.mark.parametrize("line", [["lint", "lo"], ["fix", "a.jsonl", "lo"], ["fix", "-o", "lo"], ["why", "text", "lo"],
                                  ["undo", "lo"], ["lint", "--profile", "lo"], ["fix", "--journal", "lo"],
                                  ["fix", "--history", "lo"]])  # fmt: skip
def test_paths_are_left_to_the_shell(line: list[str]) -> None:
    assert [(item.value, item.type) for item in offered(*line)] == [("lo", "file")]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_place_of_every_command_is_completed(name: str) -> None:
    context = cli.make_context("turnlint", [], resilient_parsing=True)
    command = cli.get_command(context, name)
    assert command is not None
    for parameter in command.params:
        shown = parameter.opts[-1] if isinstance(parameter, click.Option) else parameter.make_metavar(context)
        if not getattr(parameter, "is_flag", False) and shown not in FREE:
            assert isinstance(parameter.type, Named | Fitting), shown


def test_rules_that_cannot_be_loaded_do_not_stop_completion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rulebook, "everything", lambda: rulebook.load("no.such.package"))
    assert names("explain", "PA") == []


BASH = """
eval "$("$PYTHON" -m turnlint completion bash)"
COMP_WORDS=(turnlint lint --select PA20)
COMP_CWORD=3
_turnlint_completion turnlint
echo "${COMPREPLY[@]}"
"""


def test_the_script_for_bash_works() -> None:
    scripts = Path(sys.executable).parent
    env = {**os.environ, "PYTHON": sys.executable, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    if not (scripts / "turnlint").exists():
        pytest.skip("the command is not installed beside this Python")
    shown = subprocess.run(["bash", "-c", BASH], env=env, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == [f"PA20{number}" for number in range(1, 10)]
    assert shown.stderr == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_the_same_on_every_machine(shell: str) -> None:
    script = subprocess.check_output([sys.executable, "-m", "turnlint", "completion", shell], text=True)
    assert "_TURNLINT_COMPLETE=" + shell + "_complete" in script.replace(" = '", "=")
    assert sys.executable not in script


POWERSHELL = """
Invoke-Expression ((& $env:PYTHON -m turnlint completion powershell) -join "`n")
$line = 'turnlint lint --select PA20'
[System.Management.Automation.CommandCompletion]::CompleteInput($line, $line.Length, $null).CompletionMatches |
    ForEach-Object { $_.CompletionText }
"""


def test_the_script_for_powershell_works() -> None:
    pwsh = shutil.which("pwsh")
    scripts = Path(sys.executable).parent
    if pwsh is None or not (scripts / "turnlint").exists():
        pytest.skip("PowerShell, or the command beside this Python, is not installed")
    env = {**os.environ, "PYTHON": sys.executable, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    shown = subprocess.run(
        [pwsh, "-NoProfile", "-Command", POWERSHELL], env=env, capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == [f"PA20{number}" for number in range(1, 10)]


def test_the_script_for_powershell_has_the_required_shape() -> None:
    script = subprocess.check_output(
        [sys.executable, "-m", "turnlint", "completion", "powershell"], text=True
    )
    assert script.startswith("Register-ArgumentCompleter -Native -CommandName turnlint -ScriptBlock {")
    assert "%(" not in script
    for opens, closes in ("{}", "()", "[]"):
        assert script.count(opens) == script.count(closes)


def completed_by_powershell(words: list[str], typed: str) -> list[list[str]]:
    program = [
        sys.executable,
        "-c",
        "import sys; sys.argv = ['turnlint']; from turnlint.cli import main; main()",
    ]
    environment = {"_TURNLINT_COMPLETE": "powershell_complete", "COMP_WORDS": "\n".join(words)}
    env = {**os.environ, **environment, **({"COMP_CWORD": typed} if typed else {})}
    done = subprocess.run(program, env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_powershell_is_answered_line_by_line() -> None:
    rules = completed_by_powershell(["turnlint", "lint", "--select"], "PA20")
    assert [value for _, value, _ in rules] == [f"PA20{number}" for number in range(1, 10)]
    assert {kind for kind, _, _ in rules} == {"plain"}
    assert all(about for _, _, about in rules)
    assert completed_by_powershell(["turnlint", "lint"], "lo") == [["file", "lo", ""]]
    commands = completed_by_powershell(["turnlint"], "")
    assert {value for _, value, _ in commands} == set(COMMANDS)
