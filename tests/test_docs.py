"""Documents say what is true: every command in them is run and compared."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from turnlint import rulebook
from turnlint.cli import COMMANDS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```(?:jsonl|yaml) (\S+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
BLOCKS = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
RUNS = [[found for found in COMMAND.findall(block) if found[1]] for block in BLOCKS]
RUNS = [block for block in RUNS if block]
"""Blocks of commands with the output that the document shows for each. `...` stands for what is left out."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("readme")
    for name, text in FILES:
        (path / name).write_text(text, encoding="utf-8")
    return path


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8",
        "XDG_STATE_HOME": str(folder / "state"),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8",
        check=False,
    )  # fmt: skip


def test_the_readme_shows_commands_with_their_output() -> None:
    assert sum(map(len, RUNS)) >= 8
    assert len(FILES) == 3


@pytest.mark.parametrize("block", RUNS, ids=[block[0][0] for block in RUNS])
def test_commands_print_what_the_readme_shows(
    folder: Path, tmp_path: Path, block: list[tuple[str, str]]
) -> None:
    """One after the other, for the next may be about what the last one did."""
    shutil.copytree(folder, tmp_path / "here")
    for command, shown in block:
        printed = run(shlex.split(command), tmp_path / "here").stdout
        start, cut, _ = shown.partition("...\n")
        assert printed.startswith(start) if cut else printed == shown


def test_every_command_has_help_and_the_line_that_the_list_shows(folder: Path) -> None:
    for name, line in COMMANDS.items():
        shown = run(["turnlint", name, "--help"], folder).stdout
        assert line.rstrip(".") in " ".join(shown.split()), name
        assert f"  {name}" in run(["turnlint", "--help"], folder).stdout


def test_every_rule_can_be_explained_by_code_and_by_name(folder: Path) -> None:
    for entry in rulebook.load(rulebook.BUILTIN):
        by_code, by_name = (
            run(["turnlint", "explain", word], folder) for word in (entry.rule.code, entry.rule.name)
        )
        assert by_code.returncode == 0
        assert by_code.stdout == by_name.stdout
        assert entry.headline in by_code.stdout


def test_the_page_about_the_house_names_every_room() -> None:
    page = (ROOT / "lint" / "turnlint" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = [path for path in (ROOT / "lint" / "turnlint").iterdir() if path.suffix == ".py" or path.is_dir()]
    for path in rooms:
        if not path.name.startswith("__"):
            assert f"`{path.name}" in page, path.name
    assert len(page.splitlines()) <= 120
