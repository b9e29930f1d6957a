"""Test the GitHub Action: arguments and environment that its inputs become, for any content."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from turnlint.report import FORMATS

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
SCRIPT = ROOT / ".ci" / "action.sh"
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
BROKEN = {
    "messages": [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c1", "content": "1"}]
}


def test_no_input_is_in_the_text_of_a_script() -> None:
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert len(scripts) == 2
    assert not any("${{" in script for script in scripts)


def test_every_input_reaches_the_script_and_no_other_does() -> None:
    given = {name: value for step in STEPS for name, value in step.get("env", {}).items()}
    assert set(given) == {f"INPUT_{name.upper().replace('-', '_')}" for name in ACTION["inputs"]} - {
        "INPUT_PYTHON_VERSION"
    }
    for name, value in given.items():
        wanted = name.removeprefix("INPUT_").lower().replace("_", "-")
        assert value == f"${{{{ inputs.{wanted} }}}}"
    assert set(re.findall(r"INPUT_[A-Z_]+", SCRIPT.read_text())) == set(given)


def test_defaults_are_valid_choices() -> None:
    assert ACTION["inputs"]["output-format"]["default"] in FORMATS
    for name, value in ACTION["inputs"].items():
        assert value["description"], name
        assert "default" in value, name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "turnlint").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m turnlint "$@"\n')
    (programs / "turnlint").chmod(0o755)
    here = tmp_path / "workspace"
    here.mkdir()
    (here / "a.jsonl").write_text(json.dumps(BROKEN))
    return here


def run(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script in an environment like that of a runner."""
    env = {"PATH": f"{folder.parent / 'programs'}{os.pathsep}{os.environ['PATH']}", "GITHUB_OUTPUT": str(folder.parent / "said"),
        "GITHUB_STEP_SUMMARY": str(folder.parent / "summary"),
           "PYTHONPATH": os.pathsep.join(sys.path)}  # fmt: skip
    return subprocess.run(
        ["bash", str(SCRIPT)], cwd=folder, capture_output=True, text=True, check=False,
        env={**env, **{f"INPUT_{name.upper()}": value for name, value in inputs.items()}},
    )  # fmt: skip


def outputs_in(folder: Path) -> str:
    return (folder.parent / "said").read_text()


def test_a_step_with_findings_fails_and_prints_the_exit_code(folder: Path) -> None:
    done = run(folder)
    assert done.returncode == 1
    assert re.match(r"::error file=a\.jsonl,line=1,.*title=PA202 orphan-result::result for `c1`", done.stdout)
    assert outputs_in(folder) == "exit-code=1\n"
    assert "`orphan-result`" in (folder.parent / "summary").read_text()


def test_without_inputs_the_settings_of_the_project_apply(folder: Path) -> None:
    (folder / "turnlint.yaml").write_text(
        "fail-on: never\nformat: openai-chat\nprovider: mistral\nselect: projection\n"
    )
    done = run(folder, **{name.replace("-", "_"): one["default"] for name, one in ACTION["inputs"].items()})
    assert (done.returncode, "at mistral" in done.stdout, "PA202" in done.stdout) == (0, True, False)
    assert run(folder, fail_on="warning").returncode == 1


def test_inputs_are_the_options_of_the_command(folder: Path) -> None:
    done = run(
        folder, paths="  a.jsonl\n\n*.json*\n", provider="openai, mistral\nkimi", ignore="PA202\nprojection",
        select="pairing,state", fail_on="info", output_format="concise", outputs="json:report.json\njsonl:r e p.jsonl",
        format="openai-chat",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert outputs_in(folder) == "exit-code=0\n"
    assert json.loads((folder / "report.json").read_text())["complete"] is True
    assert (folder / "r e p.jsonl").exists()


HOSTILE = (
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "x\n--help",
    "--help",
    "a b",
    "&& touch pwned",
    "'\"",
    "*",
)


@pytest.mark.parametrize(
    "name", ["format", "provider", "select", "ignore", "fail_on", "output_format", "outputs"]
)
@pytest.mark.parametrize("value", HOSTILE)
def test_an_invalid_input_ends_the_step_before_the_command_runs(folder: Path, name: str, value: str) -> None:
    done = run(folder, **{name: value})
    assert done.returncode == 2
    assert done.stdout == ""
    assert "has an invalid value" in done.stderr or "names standard input" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("value", [*HOSTILE[:5], "-", "-o\nx", "$HOME", "::error::x"])
def test_paths_are_paths_and_nothing_else(folder: Path, value: str) -> None:
    done = run(folder, paths=value)
    assert done.returncode == 2
    assert "no such file or folder" in done.stderr or "standard input" in done.stderr
    assert not done.stderr.startswith("::")
    assert "Usage: turnlint [" not in done.stdout
    assert [path.name for path in folder.iterdir()] == ["a.jsonl"]


def test_a_file_with_a_strange_name_is_linted(folder: Path) -> None:
    name = "-$(touch pwned) '\".jsonl"
    (folder / "a.jsonl").rename(folder / name)
    done = run(folder, paths=name)
    assert done.returncode == 1
    assert "PA202" in done.stdout
    assert [path.name for path in folder.iterdir()] == [name]
