"""Standard input gives the same results as a file with the same bytes: findings, their order, and repairs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from turnlint.cli.fix import command as fix
from turnlint.cli.lint import command as lint

FIXTURES = Path(__file__).parent.parent / "fixtures"
LOGS = sorted(
    path
    for folder in ("formats", "rules")
    for path in (FIXTURES / folder).glob("*/*")
    if path.suffix in {".json", ".jsonl"} and ".fixed." not in path.name
)
IDS = [f"{path.parent.name}/{path.name}" for path in LOGS]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep settings, caches and journals of this machine out of the runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNLINT_STATE_DIR", str(tmp_path / "state"))


def _linted(path: Path | str, data: bytes = b"") -> tuple[int, list[Any]]:
    """The exit code and the findings of a run, without the path and fields that depend on it."""
    run = CliRunner().invoke(lint, [str(path), "--output-format", "json"], input=data)
    assert run.exception is None or isinstance(run.exception, SystemExit), run.exception
    report = json.loads(run.stdout)
    for finding in report["findings"]:
        del finding["path"], finding["fingerprint"]
    return run.exit_code, report["findings"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", LOGS, ids=IDS)
def test_standard_input_gives_the_findings_of_the_file(path: Path) -> None:
    assert _linted("-", path.read_bytes()) == _linted(path)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", LOGS, ids=IDS)
def test_standard_input_gives_the_repair_of_the_file(path: Path, tmp_path: Path) -> None:
    written = tmp_path / "written"
    arguments = ["--level", "lossy"]
    as_file = CliRunner().invoke(fix, [*arguments, str(path), "-o", str(written)])
    through = CliRunner().invoke(fix, [*arguments, "-"], input=path.read_bytes())
    assert through.exit_code == as_file.exit_code
    assert through.stdout_bytes == written.read_bytes()
