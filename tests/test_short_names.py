"""Short options equal their long names, and values are not parsed as options."""

from pathlib import Path

import pytest

from commands import run_cli


def output_of(folder: Path, *arguments: str) -> tuple[int, str]:
    run = run_cli("lint", *arguments, cwd=folder, text=True)
    return run.returncode, run.stdout + run.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("-j", "log.jsonl"):
        (tmp_path / name).write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    return tmp_path


@pytest.mark.parametrize("jobs", [("-j", "2"), ("-j2",), ("--jobs", "2"), ("--jobs=2",)])
def test_a_short_option_has_its_value(folder: Path, jobs: tuple[str, ...]) -> None:
    assert output_of(folder, "log.jsonl", *jobs) == output_of(folder, "log.jsonl")
    assert output_of(folder, *jobs, "log.jsonl", "-q", "-q") == (0, "")


def test_an_error_in_a_short_option_uses_its_name(folder: Path) -> None:
    code, printed = output_of(folder, "log.jsonl", "-j")
    assert code == 2
    assert "Option '-j' requires an argument." in printed
    code, printed = output_of(folder, "log.jsonl", "-j", "none")
    assert code == 2
    assert "Invalid value for '-j' / '--jobs'" in printed


def test_a_value_is_no_option(folder: Path) -> None:
    code, printed = output_of(folder, "log.jsonl", "--baseline", "-j", "-q")
    assert code == 2
    assert "Error: -j:1: " in printed
    assert "2 files" in output_of(folder, "log.jsonl", "--", "-j")[1]
