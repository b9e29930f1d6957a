"""First use of the program: each case was found in a trial from the view of a new user."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from commands import run_cli
from turnlint.cli import cli
from turnlint.cli.explain import TOPICS, topics
from turnlint.engine import Options
from turnlint.library import showing


def run(
    folder: Path, *arguments: str, module: str = "turnlint", stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    hidden = ("CI", "GITHUB", "PYTEST", "FORCE_COLOR")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    env["NO_COLOR"] = "1"
    if module == "turnlint":
        return run_cli(*arguments, cwd=folder, env=env, input=stdin, text=True)
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=folder, env=env, input=stdin, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


USER = {"role": "user", "content": "go"}
EMPTY_REPLY = {"role": "assistant", "content": ""}
CALLING = {
    "role": "assistant", "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
}  # fmt: skip
SOUND = {"messages": [USER]}
FINE = {"messages": [USER, EMPTY_REPLY, USER]}
MIXED = {"messages": [USER, EMPTY_REPLY, USER, CALLING, USER]}
"""A warning at message 1, which the tests turn into an info, and an error: no result for the call of message 3."""
AS_INFO = ("--set", "severity.ST110=info")


def write(path: Path, *records: Any) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


# Order, and findings of severity info.


def codes(text: str) -> list[str]:
    return [line.partition(" ")[0] for line in text.split("\n") if line[:2].isupper() and "[" in line[:8]]


def test_findings_of_a_conversation_are_sorted_by_severity(tmp_path: Path) -> None:
    for records in ([MIXED], [FINE, MIXED]):
        write(tmp_path / "log.jsonl", *records)
        for more, mild in (((), "ST110[warning]"), ((*AS_INFO, "--show-info"), "ST110[info]")):
            shown = run(tmp_path, "lint", "log.jsonl", *more).stdout
            assert codes(shown) == ["PA201[error]", *[mild] * len(records)]


def test_infos_are_hidden_in_text_and_counted(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", MIXED)
    done = run(tmp_path, "lint", "log.jsonl", *AS_INFO)
    assert codes(done.stdout) == ["PA201[error]"]
    assert done.stdout.endswith(
        " 1 info in 1 file (1 conversation, 5 messages). 1 info hidden: --show-info.\n"
    )
    for more in (["--show-info"], ["--fail-on", "info"], ["--select", "ST110,PA201"]):
        shown = run(tmp_path, "lint", "log.jsonl", *AS_INFO, *more).stdout
        assert codes(shown) == ["PA201[error]", "ST110[info]"], more
        assert "hidden" not in shown
    for kind in ("json", "jsonl", "concise", "markdown", "sarif"):
        assert "ST110" in run(tmp_path, "lint", "log.jsonl", *AS_INFO, "--output-format", kind).stdout, kind


def test_the_summary_of_pytest_names_the_finding_that_failed_the_test(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", MIXED)
    done = run(tmp_path, "-q", "-p", "no:cacheprovider", "--turnlint", "log.jsonl", module="pytest")
    assert "FAILED log.jsonl::#0 - PA201[error]" in done.stdout
    test = f"from turnlint.pytest_plugin import assert_valid_transcript\ndef test_it():\n    assert_valid_transcript({MIXED!r})\n"
    (tmp_path / "test_it.py").write_text(test, encoding="utf-8")
    done = run(tmp_path, "-q", "-p", "no:cacheprovider", "test_it.py", module="pytest")
    assert "FAILED test_it.py::test_it - AssertionError: PA201[error]" in done.stdout


def test_a_failed_assertion_hides_infos_and_counts_them() -> None:
    options = Options(severities=(("ST110", "info"),))
    hidden = showing.fault_of(MIXED, options, "error", 100)
    assert codes(hidden or "") == ["PA201[error]"]
    assert (hidden or "").endswith("\n\n1 info hidden: fail_on info shows them")
    assert codes(showing.fault_of(MIXED, options, "info", 100) or "") == ["PA201[error]", "ST110[info]"]


# Keys that a provider does not know.


def test_an_unknown_key_is_named_and_reported_once_per_file(tmp_path: Path) -> None:
    user = {"role": "user", "content": "go", "modelInfo": {}, "said in secret": 1}
    messages = [user, {"role": "assistant", "content": "yes", "modelInfo": 1}, user]
    record = {"model": "mistral-large-latest", "messages": messages}
    write(tmp_path / "log.jsonl", *[record] * 40)
    write(tmp_path / "other.jsonl", record)
    options = ("--provider", "mistral", "--select", "unknown-key", "--output-format")
    report = json.loads(run(tmp_path, "lint", "log.jsonl", "other.jsonl", *options, "json").stdout)
    places = [
        (finding["path"], finding["line"], finding["pointer"], finding.get("count", 1))
        for finding in report["findings"]
    ]
    assert places == [
        ("log.jsonl", 1, "/messages/0", 80),
        ("log.jsonl", 1, "/messages/0/modelInfo", 120),
        ("other.jsonl", 1, "/messages/0", 2),
        ("other.jsonl", 1, "/messages/0/modelInfo", 3),
    ]
    assert report["summary"]["rules"] == {"unknown-key": 4}
    assert sum(report["summary"]["findings"].values()) == 4
    message = report["findings"][1]["message"]
    assert message.endswith("the key `modelInfo` that is not accepted (120 times in this file)")
    shown = run(tmp_path, "lint", "log.jsonl", *options, "text").stdout
    assert shown.count("PR317[") == 2
    assert "^ `modelInfo` is not accepted" in shown, "the label says which"
    assert "secret" not in json.dumps(report) + shown, "a key that is no name may be what somebody said"


def test_more_unknown_keys_are_named_and_those_shown_have_their_message(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "go", f"key_{number}": 1, "often": 1} for number in range(7)]
    write(tmp_path / "log.jsonl", {"model": "llama-3.3-70b-versatile", "messages": messages})
    shown = run(tmp_path, "lint", "log.jsonl", "--provider", "groq", "--select", "unknown-key").stdout
    assert shown.count("PR317[") == shown.count("^ `") == 3
    assert "5 more findings like this, such as for `key_2`, `key_3`, `key_4`, `key_5`, `key_6`;" in shown


# Names of options, and commands without arguments.


def test_the_version_has_a_short_name(tmp_path: Path) -> None:
    assert run(tmp_path, "-V").stdout == run(tmp_path, "--version").stdout != ""


def test_explain_without_a_topic_lists_its_topics(tmp_path: Path) -> None:
    done = run(tmp_path, "explain")
    assert done.returncode == 0
    assert list(TOPICS) == topics()
    for name, title in TOPICS.items():
        assert f"  {name}" in done.stdout
        assert title in done.stdout
    report = json.loads(run(tmp_path, "explain", "--output-format", "json").stdout)
    assert [item["name"] for item in report] == topics()


def test_the_program_without_a_command_shows_the_first_command_to_try(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert "\n  Start with:  turnlint lint FILE\n" in done.stderr


# Next steps.


def test_a_finding_without_its_own_fix_names_the_page_with_details(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", {"messages": [{"role": "user", "content": 5}, CALLING, USER]})
    shown = run(tmp_path, "lint", "log.jsonl").stdout
    assert "`turnlint fix` has no repair for it; `turnlint explain ST103` says why" in shown
    assert shown.count("has no repair for it") == 1, "the other finding has a fix"


def test_a_run_without_input_names_the_expected_files(tmp_path: Path) -> None:
    write(tmp_path / "logs.txt", USER)
    for command, verb in (("lint", "lint"), ("fix", "fix")):
        done = run(tmp_path, command, ".")
        assert done.returncode == 3
        assert f"nothing to {verb}: no .jsonl, .ndjson or .json file to read\n" in done.stderr
    write(tmp_path / "other.jsonl", {"some": "record"})
    for command in ("lint", "fix"):
        done = run(tmp_path, command, ".")
        assert done.returncode == 3
        assert "no file has a known format; `turnlint inspect FILE` describes a file\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["lint", ""], "an empty name; name a file or a folder"),
        (["lint", "link.jsonl"], "link.jsonl: a link to a file that does not exist"),
        (
            ["lint", "log.jsonl", "--output", "sarif:gone/r.sarif"],
            "gone/r.sarif: no such folder; make it first",
        ),
        (["lint", "log.jsonl", "--poll", "often"], "expected a number from 0.01 to 3,600"),
        (["lint", "log.jsonl", "--level", "lossy"], "--level is an option of `turnlint fix`"),
        (["why", "Foo bar", "gone.jsonl"], "gone.jsonl: no such file or folder"),
        (["why", "log.jsonl", "Foo bar"], "the error text comes first: turnlint why TEXT log.jsonl"),
        (["lint", "log.jsonl", "--baseline", "log.jsonl"], "log.jsonl:1: not a baseline entry"),
        (["lint", "log.jsonl", "--statistics=x"], "unknown grouping 'x'; expected one of rule, file"),
        (["lint", "log.jsonl", "--provider", "gemini@9"], "unknown version '9' of gemini; expected one of"),
        (
            ["profiles", "--profile", "prose.yaml"],
            "prose.yaml:2:1: is not valid YAML: expected document start but found scalar",
        ),
        (["baseline", "chek"], "unknown command 'chek'; did you mean 'check'?"),
        (["config", "xyz"], "unknown command 'xyz'; expected one of explain, files, init, show"),
        (["config", "init", "gone"], "gone: no such folder; make it first"),
        (["schema"], "Missing argument 'SCHEMA'. Expected one of report, repair"),
        (["completion"], "Missing argument 'SHELL'. Expected one of bash, zsh"),
        (["explain", "level", "--output-format", "markdown"], "level has no Markdown, only a TOPIC has"),
    ],
)
def test_a_wrong_command_line_has_one_sentence_and_the_exit_code_of_usage(
    tmp_path: Path, arguments: list[str], expected: str
) -> None:
    write(tmp_path / "log.jsonl", SOUND)
    (tmp_path / "link.jsonl").symlink_to("gone.jsonl")
    (tmp_path / "prose.yaml").write_text("{a: 1}\nprose\n")
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("Error: ") == 1
    assert expected in " ".join(done.stderr.split())


def test_a_run_of_fix_counts_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(bytes(range(256)))
    done = run(tmp_path, "fix", "a.jsonl")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "turnlint: a.jsonl: is a binary file; it holds no JSON; unchanged\n"
    (tmp_path / "b.jsonl").write_bytes(bytes(range(256)))
    done = run(tmp_path, "fix", ".")
    assert (done.returncode, done.stdout) == (3, "2 files skipped: a binary file\n")


def test_fix_counts_a_repeated_key_as_often_as_lint(tmp_path: Path) -> None:
    """`lint` reports a key once for a file."""
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [USER | {"ts": 1}, USER | {"ts": 2}]}
    write(tmp_path / "log.jsonl", body, body)
    printed = " ".join(run(tmp_path, "fix", "log.jsonl", "--check").stdout.split())
    assert "1 error remains" in printed
    assert "1 error needs --level lossy: it would remove 4 values" in printed


def _commands(group: click.Group, *above: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*above, name), command
        if isinstance(command, click.Group):
            yield from _commands(command, *above, name)


ALL = dict(_commands(cli))


@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_a_help_page_lists_the_exit_codes(names: tuple[str, ...], tmp_path: Path) -> None:
    printed = " ".join(run(tmp_path, *names, "--help").stdout.split())
    assert ("Exit codes: 0 " in printed) != isinstance(ALL[names], click.Group)


def test_the_help_of_explain_names_every_topic(tmp_path: Path) -> None:
    printed = " ".join(run(tmp_path, "explain", "--help").stdout.split())
    listed = printed.partition("TOPIC is ")[2].partition(". ")[0].replace(" or ", ", ").split(", ")
    assert listed == sorted(TOPICS)


def test_the_help_of_a_group_shows_whole_sentences(tmp_path: Path) -> None:
    for group in ("config", "baseline"):
        assert "..." not in run(tmp_path, group, "--help").stdout.partition("Commands:")[2]
