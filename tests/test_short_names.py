"""Short options mean what their long names mean, and nothing that is a value is taken for one."""

from pathlib import Path

import pytest

from commands import run_cli


def say(folder: Path, *arguments: str) -> tuple[int, str]:
    run = run_cli("lint", *arguments, cwd=folder, text=True)
    return run.returncode, run.stdout + run.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("-j", "log.jsonl"):
        (tmp_path / name).write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    return tmp_path


@pytest.mark.parametrize("jobs", [("-j", "2"), ("-j2",), ("--jobs", "2"), ("--jobs=2",)])
def test_a_short_option_has_its_value(folder: Path, jobs: tuple[str, ...]) -> None:
    assert say(folder, "log.jsonl", *jobs) == say(folder, "log.jsonl")
    assert say(folder, *jobs, "log.jsonl", "-q", "-q") == (0, "")


def test_what_is_wrong_with_it_is_said_by_its_name(folder: Path) -> None:
    code, said = say(folder, "log.jsonl", "-j")
    assert code == 2
    assert "Option '-j' requires an argument." in said
    code, said = say(folder, "log.jsonl", "-j", "none")
    assert code == 2
    assert "Invalid value for '-j' / '--jobs'" in said


def test_a_value_is_no_option(folder: Path) -> None:
    code, said = say(folder, "log.jsonl", "--baseline", "-j", "-q")
    assert code == 2
    assert "Error: -j:1: " in said
    assert "2 files" in say(folder, "log.jsonl", "--", "-j")[1]
