"""Config commands: the files of a run with reasons, a template of settings, and settings for one run."""

import json
import re
from pathlib import Path

import pytest

from settings import found, put, turnlint, unanswered

LOG = unanswered("s-1", "c1") + "\n"
SETTINGS = """\
provider: [openai, mistral]
exclude: [old/, '*.tmp.jsonl']
paths:
  - {path: 'b*', format: openai-chat, provider: kimi}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "old").mkdir()
    (tmp_path / "apart").mkdir()
    put(tmp_path, **{"a.jsonl": LOG, "b.jsonl": LOG, "old/c.jsonl": LOG, "apart/d.jsonl": LOG, "notes.txt": "x",
                     "turnlint.yaml": SETTINGS, "apart/turnlint.yaml": "format: openai-chat\n"})  # fmt: skip
    return tmp_path


def test_config_files_lists_the_files_of_a_lint(folder: Path) -> None:
    done = turnlint(folder, "config", "files")
    assert (done.returncode, done.stderr) == (0, "")
    assert [re.split(r"  +", line) for line in done.stdout.splitlines()] == [
        ["file", "settings", "format", "provider", "excluded by"],
        ["a.jsonl", "turnlint.yaml", "auto", "openai, mistral"],
        ["b.jsonl", "turnlint.yaml", "openai-chat", "kimi"],
        ["apart/d.jsonl", "apart/turnlint.yaml", "openai-chat", "auto"],
        ["old/c.jsonl", "turnlint.yaml", "-", "-", "old/ (turnlint.yaml:2:11)"],
        [""],
        ["3 files are read, 1 excluded"],
    ]


def test_config_files_agrees_with_lint(folder: Path) -> None:
    for arguments in (
        [], ["old/c.jsonl"], ["old"], ["old/c.jsonl", "b.jsonl", "--force-exclude"], ["--no-config"],
        ["--set", "exclude=b.jsonl"], ["--config", "apart/turnlint.yaml", "old"],
    ):  # fmt: skip
        run = turnlint(folder, "config", "files", *arguments, "--output-format", "json")
        listed = [load["path"] for load in json.loads(run.stdout) if load["read"]]
        rows = turnlint(folder, "lint", *arguments, "--output-format", "jsonl").stdout.splitlines()[:-1]
        assert listed == list(dict.fromkeys(json.loads(row)["path"] for row in rows)), arguments


def test_config_files_has_json_output(folder: Path) -> None:
    rows = json.loads(turnlint(folder, "config", "files", "--output-format", "json").stdout)
    one = {row["path"]: row for row in rows}
    assert one["b.jsonl"] == {
        "path": "b.jsonl", "read": True, "config": str(folder / "turnlint.yaml"), "excluded": None,
        "format": {"value": "openai-chat", "from": "turnlint.yaml:4:18 (paths: b*)"},
        "provider": {"value": "kimi", "from": "turnlint.yaml:4:39 (paths: b*)"},
    }  # fmt: skip
    assert one["old/c.jsonl"]["excluded"] == {"pattern": "old/", "from": "turnlint.yaml:2:11"}
    bare = json.loads(turnlint(folder, "config", "files", "--no-config", "--output-format", "json").stdout)
    assert {(row["config"], row["format"]["from"]) for row in bare} == {(None, "default")}


def test_config_files_fails_if_lint_fails(folder: Path) -> None:
    done = turnlint(folder, "config", "files", "old")
    assert (done.returncode, done.stderr) == (3, "turnlint: nothing to lint\n")
    assert turnlint(folder, "lint", "old").returncode == 3
    assert turnlint(folder, "config", "files", "old", "--force-exclude").returncode == 0
    assert turnlint(folder, "config", "files", "gone.jsonl").returncode == 2
    put(folder, **{"turnlint.yaml": "levl: lossy\n"})
    done = turnlint(folder, "config", "files")
    assert (done.returncode, "did you mean 'level'?" in done.stderr) == (2, True)


def test_config_init_writes_settings_without_effect(tmp_path: Path) -> None:
    put(tmp_path, **{"a.jsonl": LOG})
    done = turnlint(tmp_path, "config", "init")
    assert (done.returncode, done.stdout) == (
        0, "./turnlint.yaml written; `turnlint config show` prints the settings in effect\n",
    )  # fmt: skip
    text = (tmp_path / "turnlint.yaml").read_text()
    assert max(map(len, text.splitlines())) <= 100
    assert found(tmp_path) == found(tmp_path, "--no-config") == ["a.jsonl:PA201:error"]
    shown = turnlint(tmp_path, "config", "show", "a.jsonl").stdout
    assert re.findall(r"^(\S+) +(\S+) +turnlint.yaml:", shown, re.MULTILINE) == [
        ("provider", "auto"), ("fail-on", "error"), ("level", "placeholder"),
    ]  # fmt: skip


def test_the_examples_of_config_init_are_valid(tmp_path: Path) -> None:
    """Each example, after the removal of the `#` before it."""
    turnlint(tmp_path, "config", "init")
    (tmp_path / "logs" / "kimi").mkdir(parents=True)
    put(tmp_path, **{"logs/kimi/a.jsonl": LOG})
    text = (tmp_path / "turnlint.yaml").read_text()
    lines = [re.sub(r"^# (?=[a-z-]+:|  )", "", line) for line in text.splitlines()]
    (tmp_path / "turnlint.yaml").write_text("\n".join(lines) + "\n")
    shown = turnlint(tmp_path, "config", "show", "logs/kimi/a.jsonl")
    assert shown.returncode == 0, shown.stderr
    for key in ("exclude", "severity", "ignore"):
        assert re.search(rf"^{key} ", shown.stdout, re.MULTILINE), key
    assert "kimi" in shown.stdout
    assert turnlint(tmp_path, "lint").returncode == 1


@pytest.mark.parametrize("name", ["turnlint.yaml", "turnlint.yml", "pyproject.toml"])
def test_config_init_overwrites_no_file(tmp_path: Path, name: str) -> None:
    text = "[tool.turnlint]\nlevel = 'lossy'\n" if name == "pyproject.toml" else "level: lossy\n"
    put(tmp_path, **{name: text})
    done = turnlint(tmp_path, "config", "init", ".")
    assert (done.returncode, name in done.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir() if path.name != ".state"] == [name]
    assert (tmp_path / name).read_text() == text


def test_config_init_keeps_tables_of_other_tools(tmp_path: Path) -> None:
    put(tmp_path, **{"pyproject.toml": "[project]\nname = 'x'\n"})
    assert turnlint(tmp_path, "config", "init").returncode == 0
    (tmp_path / "gone.yaml").symlink_to("nowhere")
    assert turnlint(tmp_path, "config", "init", "no-folder").returncode == 2


# Settings for one run.


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        (["severity.PA201=info"], ["a.jsonl:PA201:info", "b.jsonl:PA201:info"]),
        (["severity={pairing: warning}"], ["a.jsonl:PA201:warning", "b.jsonl:PA201:warning"]),
        (["severity.PA201=info", "severity.PA201=warning"], ["a.jsonl:PA201:warning", "b.jsonl:PA201:warning"]),
        (["ignore=[PA201]"], []),
        (["ignore=[{path: a.jsonl, reason: known}]"], ["b.jsonl:PA201:error"]),
        (["select=ST"], []),
        (["exclude=b.jsonl"], ["a.jsonl:PA201:error"]),
        (["paths=[{path: a*, ignore: PA}]"], ["b.jsonl:PA201:error"]),
        (["rules=[{name: n, message: m, pointer: /id, when: {exists: true}}]", "select=own"],
         ["a.jsonl:own/n:warning", "b.jsonl:own/n:warning"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("config", [True, False])
def test_a_setting_applies_to_one_run(
    tmp_path: Path, given: list[str], rows: list[str], config: bool
) -> None:
    put(tmp_path, **{"a.jsonl": LOG, "b.jsonl": LOG})
    if config:
        put(tmp_path, **{"turnlint.yaml": "severity: {PA201: error}\nselect: all\n"})
    assert found(tmp_path, *[part for item in given for part in ("--set", item)]) == rows


def test_set_takes_precedence_over_sections_and_options_over_set(folder: Path) -> None:
    put(folder, **{"turnlint.yaml": "level: lossy\nfail-on: error\npaths: [{path: '*', fail-on: never}]\n"})
    assert turnlint(folder, "lint", "a.jsonl").returncode == 0
    assert turnlint(folder, "lint", "a.jsonl", "--set", "fail-on=error").returncode == 1
    assert turnlint(folder, "lint", "a.jsonl", "--set", "fail-on=error", "--fail-on", "never").returncode == 0
    assert turnlint(folder, "lint", "a.jsonl", "--no-config", "--set", "fail-on=never").returncode == 0
    assert (
        "nothing repaired" in turnlint(folder, "fix", "a.jsonl", "--check", "--set", "level=lossless").stdout
    )


def test_config_show_marks_settings_from_the_command_line(folder: Path) -> None:
    done = turnlint(folder, "config", "show", "b.jsonl", "--set", "level=lossless", "--set", "preview=true")
    assert re.search(r"^level +lossless +the command line \(--set\)$", done.stdout, re.MULTILINE)
    assert re.search(r"^preview +true +the command line \(--set\)$", done.stdout, re.MULTILINE)
    assert re.search(r"^provider +kimi +turnlint.yaml:4:39", done.stdout, re.MULTILINE)
    (row,) = json.loads(turnlint(folder, "config", "show", "--no-config", "--set", "level=lossless", "--output-format",
                                  "json").stdout)  # fmt: skip
    assert row["config"] is None
    assert {"key": "level", "value": "lossless", "from": "the command line (--set)"} in row["settings"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("levl=lossy", "--set: unknown key 'levl'; did you mean 'level'?"),
        ("level=lossi", "--set: level: unknown value 'lossi'; did you mean 'lossy'?"),
        ("level=", "--set: level: expected one of lossless, placeholder, lossy, got nothing"),
        ("level=[", "--set: level: '[' is not valid YAML: "),
        ("level", "--set: expected KEY=VALUE, got 'level'"),
        (".level=x", "--set: expected KEY=VALUE, got '.level=x'"),
        ("severity.PA999=info", "--set: severity.PA999: unknown rule 'PA999'; did you mean"),
        ("format=opnai-chat", "--set: format: unknown format 'opnai-chat'; did you mean 'openai-chat'?"),
        ("ignore=[{rule: PA201}]", "--set: ignore[0]: missing 'reason'"),
        ("extend=x.yaml", "--set: extend: only settings files can extend others; use --config FILE"),
        ("provider=nope", "--set: provider: "),
        ("level.x=1", "--set: level: "),
        ("\x1b[31m=1", "--set: unknown key '␛[31m'"),
    ],
)
def test_an_invalid_set_is_an_error_as_in_a_file(folder: Path, given: str, expected: str) -> None:
    for command in ("lint", "fix"):
        done = turnlint(folder, command, "a.jsonl", "--set", given)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert expected in done.stderr.replace("\\x1b", "␛").replace("\\\\x1b", "␛"), done.stderr


def test_an_ignore_by_set_that_matches_nothing_is_reported(folder: Path) -> None:
    done = turnlint(folder, "lint", "--set", "ignore=[{rule: ST110, reason: known}]")
    assert "turnlint: --set: unused ignore: it matches no finding; remove it\n" in done.stderr
