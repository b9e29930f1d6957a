"""`lint --exit-zero`, `-q`, `-qq`, and `lint --fix`, which is `turnlint fix`."""

import json
from pathlib import Path

import pytest

from commands import run_cli
from hostile import ENVIRONMENT, FORMATS, lint
from reporting import conversation, lines

BROKEN = lines(conversation("s-1"), conversation("s-2", sound=False))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "notes.json").write_text('{"a": 1}\n', encoding="utf-8")
    return tmp_path


# The exit code.


def test_findings_do_not_fail_a_run_with_exit_zero(logs: Path) -> None:
    for kind in FORMATS:
        plain = lint("a.jsonl", "--output-format", kind, cwd=logs)
        zero = lint("a.jsonl", "--output-format", kind, "--exit-zero", cwd=logs)
        assert (plain.returncode, zero.returncode) == (1, 0)
        assert zero.stdout == plain.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("nowhere.jsonl",), 2), (("--select", "nothing"), 2), (("/proc/self/mem",), 2), (("notes.json",), 3)],
)
@pytest.mark.parametrize("quiet", [(), ("-q",), ("-qq",)])
def test_nothing_else_is_hidden(
    logs: Path, arguments: tuple[str, ...], code: int, quiet: tuple[str, ...]
) -> None:
    done = lint(*arguments, "--exit-zero", *quiet, cwd=logs)
    assert done.returncode == code
    assert done.stderr


@pytest.mark.parametrize("quiet", ["", "-q", "-qq"])
def test_a_rule_that_crashes_is_not_hidden_either(logs: Path, quiet: str) -> None:
    program = (
        "import sys\nfrom turnlint_rules.pairing import orphan_result as rule\n"
        "def check(case): raise KeyError\nrule.check = check\n"
        f"sys.argv = 'turnlint lint a.jsonl --exit-zero {quiet}'.split()\nfrom turnlint.cli import main\nmain()"
    )
    done = run_cli(program=program, cwd=logs, text=True)
    assert done.returncode == 4
    assert "turnlint: rule orphan-result crashed at a.jsonl:2" in done.stderr


# Quiet.


def test_quiet_prints_findings_without_a_summary(logs: Path) -> None:
    (logs / "turnlint.yaml").write_text("ignore: [{rule: empty-turn, reason: x}]\n", encoding="utf-8")
    loud = lint(".", "--statistics", cwd=logs)
    quiet = lint(".", "--statistics", "-q", cwd=logs)
    assert b"unused ignore: it matches no finding" in loud.stderr
    assert (quiet.returncode, quiet.stderr) == (1, b"")
    assert loud.stdout.startswith(quiet.stdout)
    assert loud.stdout.removeprefix(quiet.stdout).startswith(b"rule ")
    assert quiet.stdout.count(b"a.jsonl:2:") == 2
    assert lint("a.jsonl", "--select", "ST101", "-q", cwd=logs).stdout == b""
    loud, quiet = (lint(".", "--output-format", "concise", *more, cwd=logs) for more in ((), ("-q",)))
    assert (loud.stdout, b"1 file skipped: unrecognized format" in loud.stderr) == (quiet.stdout, True)
    assert quiet.stderr == b""


@pytest.mark.parametrize("kind", FORMATS[2:])
def test_a_document_is_whole_at_any_quietness(logs: Path, kind: str) -> None:
    plain = lint("a.jsonl", "--output-format", kind, cwd=logs)
    assert lint("a.jsonl", "--output-format", kind, "-q", cwd=logs).stdout == plain.stdout
    silent = lint(
        "a.jsonl", "notes.json", "-qq", "--output", f"{kind}:out", "--output-format", "text", cwd=logs
    )
    assert (silent.returncode, silent.stdout, silent.stderr) == (1, b"", b"")
    assert (logs / "out").read_bytes() == lint(
        "a.jsonl", "notes.json", "--output-format", kind, cwd=logs
    ).stdout


# Fix.


@pytest.mark.parametrize(
    "arguments",
    [("--diff",), ("--check",), (), ("--level", "lossless"), ("--report", "report.json", "--no-journal"), ("--select", "PA201"), ("--help",),
     ("--fail-on", "info"), ("--no-such",), ("-o", "out.jsonl"), ("--color", "always", "--diff")],
)  # fmt: skip
def test_lint_fix_is_fix(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    results = []
    for command in (("fix",), ("lint", "--fix")):
        folder = tmp_path / command[0]
        folder.mkdir()
        (folder / "a.jsonl").write_text(BROKEN, encoding="utf-8")
        env = {**ENVIRONMENT, "XDG_STATE_HOME": str(tmp_path / "state")}
        done = run_cli(*command, "a.jsonl", *arguments, cwd=folder, env=env, text=True)
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        texts = (text.replace(str(folder), "") for text in (done.stdout, done.stderr))
        results.append((done.returncode, [_without_journal(text) for text in texts], files))
    assert results[0] == results[1]


def _without_journal(text: str) -> str:
    return "\n".join(line.split(" (journal:")[0] for line in text.split("\n"))


@pytest.mark.parametrize(
    "option", ["--output-format=json", "--statistics", "--cache", "--follow", "--exit-zero", "-j1"]
)
def test_options_of_lint_alone_are_an_error_with_fix(logs: Path, option: str) -> None:
    done = lint("--fix", option, "a.jsonl", cwd=logs)
    assert done.returncode == 2
    assert (
        f"which has no option {option[:2] if option[1] != '-' else option.partition('=')[0]}"
        in done.stderr.decode()
    )
    assert (logs / "a.jsonl").read_text(encoding="utf-8") == BROKEN


def test_a_file_named_like_an_option_is_a_file(logs: Path) -> None:
    (logs / "--fix").write_text(BROKEN, encoding="utf-8")
    done = lint("--output-format", "json", "--", "--fix", cwd=logs)
    assert done.returncode == 1
    assert {finding["path"] for finding in json.loads(done.stdout)["findings"]} == {"--fix"}
    assert lint("--fix", cwd=logs).returncode == 2  # fix requires the files to repair
