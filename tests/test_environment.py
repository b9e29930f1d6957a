"""Options of `lint` and `fix` that variables set."""

from pathlib import Path

import click
import pytest

from settings import put, turnlint, unanswered
from turnlint.cli import cli
from turnlint.cli.environment import variable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path, **{"a.jsonl": unanswered("s-1", "c1") + "\n"})
    return tmp_path


def test_a_variable_is_an_option(folder: Path) -> None:
    assert turnlint(folder, "lint").returncode == 1
    assert turnlint(folder, "lint", TURNLINT_LINT_FAIL_ON="never").returncode == 0
    assert turnlint(folder, "lint", TURNLINT_LINT_SELECT="ST101,ST102 ST103").stdout.startswith("No findings")
    assert turnlint(folder, "lint", TURNLINT_LINT_OUTPUT_FORMAT="concise").stdout.startswith("a.jsonl:1:")
    assert turnlint(folder, "lint", TURNLINT_LINT_SET="ignore=[PA201]").stdout.startswith("No findings")
    assert turnlint(folder, "lint", TURNLINT_LINT_JOBS="2", TURNLINT_LINT_CACHE="0").returncode == 1
    done = turnlint(folder, "fix", "a.jsonl", TURNLINT_FIX_CHECK="1", TURNLINT_FIX_LEVEL="lossless")
    assert "nothing repaired" in done.stdout


def test_options_take_precedence_over_variables_and_these_over_settings(folder: Path) -> None:
    put(folder, **{"turnlint.yaml": "fail-on: error\n"})
    assert turnlint(folder, "lint", TURNLINT_LINT_FAIL_ON="never").returncode == 0
    assert turnlint(folder, "lint", "--fail-on", "error", TURNLINT_LINT_FAIL_ON="never").returncode == 1


def test_the_variables_of_one_command_do_not_affect_another(folder: Path) -> None:
    assert turnlint(folder, "lint", TURNLINT_FIX_FAIL_ON="never").returncode == 1
    for command in (["rules"], ["config", "show"], ["baseline", "check"]):
        assert "nope" not in turnlint(folder, *command, TURNLINT_LINT_FORMAT="nope").stderr


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("FAIL_ON", "nope", "Invalid value for the variable TURNLINT_LINT_FAIL_ON: unknown level 'nope'"),
        ("JOBS", "many", "Invalid value for the variable TURNLINT_LINT_JOBS: expected auto or a number"),
        ("STATISTICS", "perhaps", "Invalid value for the variable TURNLINT_LINT_STATISTICS: "),
        (
            "SELECT",
            "PA999",
            "'PA999'; `turnlint rules` lists them\n(from the environment: TURNLINT_LINT_SELECT)",
        ),
        ("SET", "levl=x", "did you mean 'level'?\n(from the environment: TURNLINT_LINT_SET)"),
        ("BASELINE", "gone", "(from the environment: TURNLINT_LINT_BASELINE)"),
        ("PROVIDER", "opnai", "(from the environment: TURNLINT_LINT_PROVIDER)"),
    ],
)
def test_a_bad_value_names_its_variable(folder: Path, name: str, value: str, expected: str) -> None:
    done = turnlint(folder, "lint", **{f"TURNLINT_LINT_{name}": value})
    assert done.returncode == 2
    assert expected in done.stderr.replace("did you mean 'PA209'?", "`turnlint rules` lists them"), (
        done.stderr
    )


def test_a_day_is_named_by_its_own_variable_as_before(folder: Path) -> None:
    put(folder, **{"turnlint.yaml": "ignore: [{rule: PA201, reason: known, until: 2026-05-01}]\n"})
    for name in ("TURNLINT_TODAY", "TURNLINT_LINT_TODAY"):
        assert turnlint(folder, "lint", **{name: "2026-05-02"}).returncode == 1
        assert turnlint(folder, "lint", **{name: "2026-05-01"}).returncode == 0
        done = turnlint(folder, "lint", **{name: "soon"})
        assert f"the variable {name}: 'soon' is not a date" in done.stderr


def test_an_unknown_variable_is_reported(folder: Path) -> None:
    done = turnlint(folder, "lint", TURNLINT_LINT_FAILON="never")
    expected_text = (
        "turnlint: TURNLINT_LINT_FAILON is not a known variable; did you mean TURNLINT_LINT_FAIL_ON?\n"
    )
    assert (done.returncode, done.stderr) == (1, expected_text)
    done = turnlint(folder, "fix", "a.jsonl", "--check", TURNLINT_FIX_QQQQ="1")
    assert (
        done.stderr
        == "turnlint: TURNLINT_FIX_QQQQ is not a known variable; `turnlint fix --help` lists them\n"
    )


@pytest.mark.parametrize("name", ["lint", "fix"])
def test_every_option_has_a_variable_of_its_own(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    options = [param for param in command.params if isinstance(param, click.Option)]
    names = [variable(name, option) for option in options]
    assert len(options) == len(set(names)) > 12
    assert all(one in (option.envvar or ()) for one, option in zip(names, options, strict=True))
    assert f"TURNLINT_{name.upper()}_FAIL_ON" in names
