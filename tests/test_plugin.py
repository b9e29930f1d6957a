"""A package of rules by another author: built, installed beside turnlint, and used like the built-in rules."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands import run_cli
from settings import put

ROOT = Path(__file__).parent.parent
PLUGIN = ROOT / "fixtures" / "plugin"
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
LOG = {
    "messages": [
        {"role": "user", "content": "and?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "18"},
    ]
}


def install(source: Path, target: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--target", str(target), str(source)],
        check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(PLUGIN, folder / "source")
    install(folder / "source", folder / "site")
    put(folder, **{"log.jsonl": json.dumps(LOG) + "\n"})
    return folder


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def turnlint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "NO_COLOR": "1"}
    return run_cli(*arguments, cwd=folder, env=env, text=True)


def test_its_rule_reports_its_fault(site_folder: Path) -> None:
    run = turnlint(site_folder, "lint", "log.jsonl", "--output-format", "concise")
    assert run.stdout == (
        "log.jsonl:1:160: HR101[warning] retired-tool: tool `weather` of call `c1` is retired; there is `get_weather`\n"
    )
    assert turnlint(site_folder, "lint", "log.jsonl", "--fail-on", "warning").returncode == 1
    assert turnlint(site_folder, "lint", "log.jsonl", "--ignore", "retired-tool").stdout.startswith(
        "No findings"
    )
    assert "HR101" in turnlint(site_folder, "lint", "log.jsonl", "--select", "HR").stdout


def test_settings_accept_its_rule(site_folder: Path) -> None:
    put(site_folder, **{"strict.yaml": "severity: {retired-tool: error}\n"})
    assert turnlint(site_folder, "lint", "log.jsonl", "--config", "strict.yaml").returncode == 1
    put(
        site_folder, **{"known.yaml": "ignore: [{rule: HR101, call: c1, reason: a recording of last year}]\n"}
    )
    run = turnlint(site_folder, "lint", "log.jsonl", "--config", "known.yaml", "--fail-on", "warning")
    assert (run.returncode, run.stdout.endswith("Not shown: 1 ignored.\n")) == (0, True)


def test_its_rule_is_listed_and_explained(site_folder: Path) -> None:
    assert re.search(r"^HR101 +retired-tool +warning", turnlint(site_folder, "rules").stdout, re.MULTILINE)
    assert "a call to a tool that is not offered any more" in turnlint(site_folder, "explain", "HR101").stdout


def test_its_examples_are_its_tests(site_folder: Path) -> None:
    run = python(site_folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "source/tests")
    assert (run.returncode, "1 passed" in run.stdout) == (0, True), run.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        ('RETIRED = {"weather"', 'RETIRED = {"climate"', "marked but not found: HR101"),
        ("         <- HR101", "", "not marked: HR101"),
        ("Why it matters\n", "", "the headings are"),
        ('message, key="name"', 'message + ".", key="name"', "a message is lower case and has no full stop"),
        ("for asked in case.asked:", "for asked in case.nothing:", "rule retired-tool crashed"),
    ],
)
def test_a_rule_that_differs_from_its_description_fails_its_tests(
    tmp_path: Path, was: str, now: str, expected: str
) -> None:
    shutil.copytree(PLUGIN, tmp_path / "source")
    rule = tmp_path / "source" / "turnlint_house_rules" / "retired_tool.py"
    text = rule.read_text(encoding="utf-8")
    assert was in text
    rule.write_text(text.replace(was, now), encoding="utf-8")
    install(tmp_path / "source", tmp_path / "site")
    run = python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "source/tests", "-vv")
    assert run.returncode == 1
    assert expected in run.stdout


def test_a_package_that_is_not_selected_is_reported(tmp_path: Path) -> None:
    run = python(tmp_path, "-c", "from turnlint.testing import problems_in; print(*problems_in('left_pad'))")
    assert run.stdout == "left_pad: not installed, or not named in the entry-point group turnlint.rules\n"
