"""The command line for scripts: exit codes, options, suggestions."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from commands import run_cli

CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
USER = {"role": "user", "content": "go"}
SOUND = json.dumps({"messages": [USER]}) + "\n"
BROKEN = (
    json.dumps({"messages": [USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}, USER]})
    + "\n"
)
EMPTY = json.dumps({"messages": [USER, {"role": "assistant", "content": ""}]}) + "\n"


def turnlint(*arguments: str, cwd: Path, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("CI", "GITHUB", "NO_COLOR"))
    }
    return run_cli(*arguments, cwd=cwd, env={**clean, **env}, input=stdin, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"sound": SOUND, "broken": BROKEN, "empty": EMPTY}.items():
        (tmp_path / f"{name}.jsonl").write_text(text)
    (tmp_path / "package.json").write_text('{"name": "left-pad"}')
    (tmp_path / "notes.txt").write_text("nothing for anyone")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["sound.jsonl"], 0),
        (["broken.jsonl"], 1),
        (["sound.jsonl", "broken.jsonl"], 1),
        (["empty.jsonl"], 0),
        (["empty.jsonl", "--fail-on", "warning"], 1),
        (["broken.jsonl", "--fail-on", "never"], 0),
        (["broken.jsonl", "--ignore", "PA201"], 0),
        (["broken.jsonl", "--ignore", "pairing"], 0),
        (["broken.jsonl", "--ignore", "unanswered-call,ST1"], 0),
        (["broken.jsonl", "--select", "state"], 0),
        (["broken.jsonl", "--select", "PA2"], 1),
        (["broken.jsonl", "--provider", "none"], 1),
        (["broken.jsonl", "--format", "openai-chat"], 1),
        (["."], 1),
        ([], 1),
        (["bro*.jsonl"], 1),
        (["missing.jsonl"], 2),
        (["missing.jsonl", "sound.jsonl"], 2),
        (["sound.jsonl", "--format", "nonsense"], 2),
        (["sound.jsonl", "--select", "PA999"], 2),
        (["sound.jsonl", "--provider", "antropic"], 2),
        (["sound.jsonl", "--output", "json"], 2),
        (["sound.jsonl", "--output", "xml:x"], 2),
        (["--nonsense"], 2),
        (["none*.jsonl"], 3),
        (["package.json"], 3),
    ],
)
def test_exit_codes(folder: Path, arguments: list[str], code: int) -> None:
    run = turnlint("lint", *arguments, cwd=folder)
    assert (run.returncode, "Traceback" in run.stderr) == (code, False), run.stderr


@pytest.mark.parametrize("kind", ["text", "concise", "json", "jsonl"])
def test_exit_codes_do_not_depend_on_the_format(folder: Path, kind: str) -> None:
    assert turnlint("lint", "broken.jsonl", "--output-format", kind, cwd=folder).returncode == 1
    assert turnlint("lint", "sound.jsonl", "--output-format", kind, cwd=folder).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lnt", "x"], "did you mean 'lint'"),
        (["lint", "x", "--fromat", "x"], "--format"),
        (["lint", "sound.jsonl", "--format", "openai_chat"], "did you mean 'openai-chat'"),
        (["lint", "sound.jsonl", "--select", "orphan-results"], "did you mean 'orphan-result'"),
        (["lint", "sound.jsonl", "--output-format", "jsn"], "did you mean 'json'"),
        (["lint", "gone.jsonl"], "gone.jsonl: no such file or folder"),
        (["lint", "package.json"], "unrecognized format"),
        (["explain", "PA299"], "did you mean 'PA2"),
        (["schema", "reprot"], "did you mean 'report'"),
        (["lint", "sound.jsonl", "--provider", "antropic"], "anthropic"),
    ],
)
def test_a_misspelled_word_gets_a_suggestion(folder: Path, arguments: list[str], words: str) -> None:
    run = turnlint(*arguments, cwd=folder)
    assert run.returncode in (2, 3)
    assert words in " ".join(run.stderr.split()), run.stderr


def test_standard_input_is_read_under_a_name(folder: Path) -> None:
    run = turnlint(
        "lint", "-", "--stdin-filename", "live.jsonl", "--output-format", "json", cwd=folder, stdin=BROKEN
    )
    assert run.returncode == 1
    assert {finding["path"] for finding in json.loads(run.stdout)["findings"]} == {"live.jsonl"}


def test_several_reports_of_one_run_agree(folder: Path) -> None:
    run = turnlint(
        "lint", "broken.jsonl", "--output", "json:out.json", "--output", "concise:out.txt", cwd=folder
    )
    assert "PA201" in run.stdout
    (finding,) = json.loads((folder / "out.json").read_text())["findings"]
    assert (
        (folder / "out.txt")
        .read_text()
        .startswith(f"broken.jsonl:{finding['line']}:{finding['column']}: PA201")
    )


def test_a_report_is_never_written_onto_a_log(folder: Path) -> None:
    log = (folder / "broken.jsonl").read_bytes()
    (folder / "link.json").symlink_to(folder / "broken.jsonl")
    for target in ("broken.jsonl", "link.json"):
        run = turnlint("lint", "broken.jsonl", "--output", f"json:{target}", cwd=folder)
        assert (run.returncode, (folder / "broken.jsonl").read_bytes()) == (2, log)
    (folder / "report.json").write_text("precious")
    assert turnlint("lint", "gone.jsonl", "--output", "json:report.json", cwd=folder).returncode == 2
    assert (folder / "report.json").read_text() == "precious"
    run = turnlint("lint", ".", "--output", "json:report.json", "--output-format", "jsonl", cwd=folder)
    assert "report.json" not in run.stdout


def test_a_file_named_twice_is_read_once(folder: Path) -> None:
    run = turnlint("lint", "broken.jsonl", "./broken.jsonl", ".", "--output-format", "jsonl", cwd=folder)
    assert [json.loads(line).get("code") for line in run.stdout.splitlines()] == ["PA201", "ST110", None]


def test_content_is_shown_as_far_as_requested(folder: Path) -> None:
    long = "all of it " * 60 + "to the end"
    record = {"messages": [USER, {"role": "tool", "tool_call_id": "gone", "content": long}]}
    (folder / "long.jsonl").write_text(json.dumps(record))
    shown = {
        amount: "".join(turnlint("lint", "long.jsonl", "--show-content", amount, cwd=folder).stdout.split())
        for amount in ("none", "excerpt", "full")
    }
    assert "allofit" not in shown["none"]
    assert "allofit" in shown["excerpt"]
    assert "totheend" not in shown["excerpt"]
    assert "totheend" in shown["full"].replace("|", "")


def test_a_folder_is_walked_in_order_and_only_for_transcripts(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "a.jsonl").write_text(BROKEN)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "a.jsonl").write_text(BROKEN)
    run = turnlint("lint", ".", "--output-format", "jsonl", cwd=folder)
    *findings, last = map(json.loads, run.stdout.splitlines())
    assert [finding["path"] for finding in findings] == ["broken.jsonl", "empty.jsonl", "deep/a.jsonl"]
    assert (last["summary"]["files"], last["summary"]["skipped"]) == (4, 1)


def test_runs_are_equal_byte_for_byte(folder: Path) -> None:
    runs = [
        turnlint("lint", ".", "--output-format", kind, cwd=folder, PYTHONHASHSEED=seed).stdout
        for kind in ("text", "json")
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert runs[2] == runs[3]


def test_no_file_is_written_beside_the_input(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    turnlint("lint", ".", cwd=folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_colour_only_where_requested(folder: Path) -> None:
    assert "\x1b[" not in turnlint("lint", "broken.jsonl", cwd=folder).stdout
    assert "\x1b[" in turnlint("lint", "broken.jsonl", cwd=folder, FORCE_COLOR="1").stdout
    assert "\x1b[" in turnlint("lint", "broken.jsonl", "--color", "always", cwd=folder).stdout
    assert "\x1b[" not in turnlint("lint", "broken.jsonl", cwd=folder, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_the_rules_are_listed_as_text_and_json(folder: Path) -> None:
    assert "unanswered-call" in turnlint("rules", cwd=folder).stdout
    assert turnlint("rules", "--output-format", "markdown", cwd=folder).stdout.startswith("| code")
    listed = json.loads(turnlint("rules", "--output-format", "json", cwd=folder).stdout)
    assert {"code": "PA202", "name": "orphan-result", "fault": "pairing", "severity": "error", "fix": "lossy",
            "state": "stable", "since": "0.1.0", "aliases": [], "summary": "a result has no matching call"} in listed  # fmt: skip


def test_schemas_are_printed(folder: Path) -> None:
    for name in ("report", "transcript"):
        assert json.loads(turnlint("schema", name, cwd=folder).stdout)["$schema"].endswith("2020-12/schema")


PLUGIN = '''"""a user says go

What it does
    Shows that a rule may come from anywhere.
"""
from turnlint.api import Rule

RULE = Rule("XX901", "says-go", "warning")


def check(case):
    for index, message in enumerate(case.messages):
        if message.role == "user":
            yield RULE.at_message(case, index, "a user speaks")
            {more}
'''


@pytest.mark.parametrize(
    "text", ["raise OSError('no')", PLUGIN.replace('"warning"', '"grave"').replace("{more}", "pass")]
)
def test_broken_rules_of_other_packages_are_reported_without_a_traceback(folder: Path, text: str) -> None:
    site = folder / "site"
    (site / "others_rules-1.0.dist-info").mkdir(parents=True)
    (site / "others_rules-1.0.dist-info" / "METADATA").write_text("Name: others-rules\nVersion: 1.0\n")
    (site / "others_rules-1.0.dist-info" / "entry_points.txt").write_text(
        "[turnlint.rules]\nothers = others_rules\n"
    )
    (site / "others_rules.py").write_text(text)
    run = turnlint("lint", "sound.jsonl", cwd=folder, PYTHONPATH=str(site))
    assert run.returncode == 4
    assert "others_rules" in run.stderr or "says-go" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("crashes", [False, True])
def test_rules_of_other_packages_are_loaded_in_the_same_way(folder: Path, crashes: bool) -> None:
    site = folder / "site"
    (site / "others_rules-1.0.dist-info").mkdir(parents=True)
    (site / "others_rules-1.0.dist-info" / "METADATA").write_text("Name: others-rules\nVersion: 1.0\n")
    (site / "others_rules-1.0.dist-info" / "entry_points.txt").write_text(
        "[turnlint.rules]\nothers = others_rules\n"
    )
    (site / "others_rules.py").write_text(
        PLUGIN.replace("{more}", "raise KeyError(index)" if crashes else "pass")
    )
    run = turnlint("lint", "sound.jsonl", "--output-format", "json", cwd=folder, PYTHONPATH=str(site))
    document = json.loads(run.stdout)
    if crashes:
        assert (run.returncode, document["complete"]) == (4, False)
        assert "says-go crashed at sound.jsonl:1" in run.stderr
        assert "Traceback" not in run.stderr
    else:
        assert [finding["code"] for finding in document["findings"]] == ["XX901"]
