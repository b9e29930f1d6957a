"""Folders are walked with git's rules for ignored files, and skipped files are counted."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from budgets import examples
from test_first_use import SOUND, run, write
from turnlint.documents.folders import Walk
from turnlint.documents.gitignore import MAX_PATTERN_BYTES, Glob, parse

GIT = (
    "git",
    "-c",
    "core.excludesFile=/dev/null",
    "-c",
    "core.ignoreCase=false",
    "-c",
    "core.quotePath=false",
)


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        [*GIT, *arguments], cwd=folder, input=stdin, capture_output=True, check=False, env=env
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def walked(folder: Path, *, gitignore: bool = True) -> list[str]:
    walk = Walk(lambda _: True, gitignore=gitignore)
    return [
        os.path.relpath(path, folder) for path in walk.over(str(folder)) if not path.endswith(".gitignore")
    ]


# Git reports the ignored files.

NAMES = ["a", "b", "ab", "a.b", "b.a", "aa", "A", "é", "[a]", "a b", "!a", "#a", "a\\b", "-"]
FOLDERS = ["", "a/", "b/", "a/b/", "ab/", "a/b/a/", "b/a.b/"]
ATOMS = ["a", "b", "A", ".", "*", "?", "[ab]", "[!a]", "[^b-]", "[a-", "[]a]", "[[:alpha:]]", "[[:x:]]", "[\\]a]", "\\", "\\a", "\\*", " ", "é", "-", "#", "!"]  # fmt: skip
SEGMENT = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4).map("".join)
PART = st.one_of(SEGMENT, SEGMENT, st.sampled_from(["**", "*", "a", "b"]))
LINE = st.builds(
    lambda sign, start, parts, end: sign + start + "/".join(parts) + end,
    st.sampled_from(["", "", "", "!", "\\!", "#"]), st.sampled_from(["", "", "/", "**/"]),
    st.lists(PART, min_size=1, max_size=3), st.sampled_from(["", "", "/", "/**", "/*", " ", "\\ ", "\r"]),
)  # fmt: skip
FILE = st.lists(LINE, max_size=5).map(lambda lines: "\n".join(lines) + "\n")


def is_comparable(text: str) -> bool:
    """Git before 2.52 reads `a**` in a path as if the stars were alone: it cuts off the literal prefix first."""
    return "**" not in text.replace("/**", "/").replace("\n**", "\n").removeprefix("**").replace(
        "**/", "/"
    ).replace("!**", "!")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    git(folder, "init", "-q")
    for place in FOLDERS:
        (folder / place).mkdir(parents=True, exist_ok=True)
    for place in FOLDERS:
        for name in NAMES:
            if not (folder / place / name).exists():
                (folder / place / name).write_text("")
    return folder


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(top=FILE, inner=FILE, deep=FILE)
@example(top="*\n!a/\n", inner="!b\n", deep="")
@example(top="a/b/\n!a/b/a\n", inner="", deep="")
@example(top="/a\n*.b\n!a.b\n", inner="/b\n", deep="**\n")
@example(top="a/**/a\n\\!a\n\\#a\na\\ b\n", inner="", deep="")
def test_files_that_git_ignores_are_skipped(tree: Path, top: str, inner: str, deep: str) -> None:
    texts = {"": top, "a/": inner, "a/b/": deep}
    if not all(map(is_comparable, texts.values())):
        return
    for place, text in texts.items():
        (tree / place / ".gitignore").write_bytes(text.encode())
    everything = walked(tree, gitignore=False)
    answer = git(
        tree, "check-ignore", "-z", "--stdin", "--no-index", stdin=b"\0".join(map(os.fsencode, everything))
    )
    ignored = set(map(os.fsdecode, answer.split(b"\0")))
    assert walked(tree) == [path for path in everything if path not in ignored], texts


def test_patterns_apply_inside_a_repository_only(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.jsonl\n")
    write(tmp_path / "log.jsonl", SOUND)
    assert walked(tmp_path) == ["log.jsonl"]
    git(tmp_path, "init", "-q")
    assert walked(tmp_path) == []
    (tmp_path / ".gitignore").unlink()
    (tmp_path / ".git" / "info" / "exclude").write_text("*.jsonl\n")
    assert walked(tmp_path) == []


def test_a_repository_inside_another_has_its_own_patterns(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("*.jsonl\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    write(inner / "log.jsonl", SOUND)
    assert walked(tmp_path) == ["inner/log.jsonl"]


def test_a_named_folder_is_read_although_it_is_ignored(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("logs/\n*.tmp.jsonl\n")
    (tmp_path / "logs" / "old").mkdir(parents=True)
    write(tmp_path / "logs" / "old" / "log.jsonl", SOUND)
    write(tmp_path / "other.tmp.jsonl", SOUND)
    for name in ("logs", "logs/old"):
        assert run(tmp_path, "lint", name).stdout.startswith("No findings in 1 file "), name
    assert run(tmp_path, "lint").returncode == 3
    assert run(tmp_path, "lint", "other.tmp.jsonl").returncode == 0


@pytest.mark.parametrize("pattern", [b"*a" * 2000 + b"b", b"**/a/" * 800 + b"b", b"[" * 4000, b"?*" * 2000])
def test_no_pattern_takes_long(pattern: bytes) -> None:
    for item in parse(pattern):
        assert not item.matches(
            b"a" * 255 + b"/" + b"a" * 255, b"a" * 255, folder=False
        ) or pattern.startswith(b"?")
    assert parse(b"a" * (MAX_PATTERN_BYTES + 1)) == ()
    assert Glob(b"*a" * 100, path=False).matches(b"a" * 255)


# Skipped files are counted.


def test_skipped_files_are_counted(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("drafts/\nold.jsonl\n")
    for name in ("node_modules/x", "venv/lib", "env", ".venv", "drafts", "src"):
        (tmp_path / name).mkdir(parents=True)
        write(tmp_path / name / "log.jsonl", SOUND)
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    write(tmp_path / "old.jsonl", SOUND)
    for name in ("a.traj", "b.traj", "c.parquet", "d.py", "e.md", "src/f.TRAJ", "LICENSE"):
        (tmp_path / name).write_text("")
    done = run(tmp_path, "lint", ".")
    assert done.stdout.startswith("No findings in 1 file ")
    assert done.stderr.splitlines() == [
        "turnlint: 3 .traj and 1 .parquet files skipped: not supported",
        "turnlint: 1 file and 1 folder skipped: ignored by git; --no-gitignore includes them",
    ]
    assert run(tmp_path, "lint", ".", "-q").stderr == ""
    every = run(tmp_path, "lint", ".", "--no-gitignore")
    assert every.stdout.startswith("No findings in 3 files ")
    assert "ignored by git" not in every.stderr
    for command in ("inspect", "config files", "fix --check", "ids --canonical"):
        assert ".traj and 1 .parquet files skipped" in run(tmp_path, *command.split(), ".").stderr, command


def test_special_files_are_counted(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", SOUND)
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name, target in {
        "zero.jsonl": "/dev/zero",
        "gone.json": "nothing",
        "log.ndjson": "log.jsonl",
    }.items():
        (tmp_path / name).symlink_to(target)
    for command in ("lint", "inspect", "fix --check", "ids --canonical"):
        done = run(tmp_path, *command.split(), ".")
        assert done.stderr == "turnlint: 3 files skipped: a device, a named pipe or a broken link\n", command
    assert run(tmp_path, "lint", ".", "-q").stderr == ""


# A named file that is no transcript.


def test_a_named_file_that_is_not_read_is_reported_and_may_fail_the_run(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", SOUND)
    write(tmp_path / "spans.jsonl", {"resourceSpans": [{"scopeSpans": []}]})
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "blank.jsonl").write_text("\n")
    for name, words in {
        "spans.jsonl": "looks like OpenTelemetry spans (OTLP); not supported yet",
        "empty.jsonl": "the file is empty",
        "blank.jsonl": "the file contains no conversation",
    }.items():
        done = run(tmp_path, "lint", "log.jsonl", name)
        assert (done.returncode, done.stderr) == (0, f"turnlint: {name}: {words}\n")
        assert run(tmp_path, "lint", "log.jsonl", name, "--fail-on-skipped").returncode == 1
        assert run(tmp_path, "lint", name, "--fail-on-skipped", "--output-format", "json").returncode == 1
    assert run(tmp_path, "lint", "log.jsonl", "--fail-on-skipped").returncode == 0
    assert run(tmp_path, "lint", ".", "--fail-on-skipped").returncode == 0


def test_skipped_files_of_a_folder_are_listed_by_their_apparent_format(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", SOUND)
    write(tmp_path / "package.json", {"name": "x"})
    for number in range(4):
        write(
            tmp_path / f"kimi-{number}.jsonl",
            {"role": "_checkpoint", "id": 1},
            {"role": "user", "content": "hi"},
        )
    kinds = "similar to a Kimi CLI context (4), unrecognized format (1)"
    printed = " ".join(run(tmp_path, "lint", ".").stdout.split())
    names = "kimi-0.jsonl and 3 more (similar to a Kimi CLI context); package.json (unrecognized format)."
    assert printed.endswith(f"Skipped: {names}")
    assert (
        f"turnlint: 5 files skipped: {kinds}\n"
        in run(tmp_path, "lint", ".", "--output-format", "json").stderr
    )
    assert f"5 files skipped: {kinds}" in " ".join(run(tmp_path, "fix", ".").stdout.split())
    assert f"5 files skipped: {kinds}" in run(tmp_path, "lint", ".", "--output-format", "sarif").stdout
    assert (
        f"5 files skipped: {kinds}" in run(tmp_path, "lint", ".", "--output-format", "github-summary").stdout
    )


def test_a_run_without_a_log_names_the_expected_files(tmp_path: Path) -> None:
    write(tmp_path / "package.json", {"name": "x"})
    done = run(tmp_path, "lint", "package.json")
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    done = run(tmp_path, "lint", "package.json", ".")
    assert done.stdout == ""
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "package.json", {"name": "x"})
    done = run(tmp_path, "lint", "package.json", "deep")
    names = "package.json, deep/package.json (unrecognized format)"
    assert done.stdout == f"Nothing checked. Skipped: {names}.\n"
    for command in ("lint", "fix", "ids --canonical", "inspect"):
        done = run(tmp_path, *command.split(), "*.jsonl")
        assert (done.returncode, done.stderr.rstrip().rpartition(": ")[2]) == (
            3,
            "no file matches *.jsonl",
        ), command


def test_fix_names_a_file_without_conversations(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "blank.jsonl").write_text("\n")
    done = run(tmp_path, "fix", "empty.jsonl", "blank.jsonl")
    assert done.stderr.splitlines() == [
        "turnlint: empty.jsonl: the file is empty",
        "turnlint: blank.jsonl: the file contains no conversation",
    ]


CONTAINERS = {
    "a.zip": (b"PK\x03\x04" + b"\0" * 40, "is a zip archive; unpack it and name the files in it"),
    "a.db": (b"SQLite format 3\0" + b"\0" * 40, "is an SQLite database; export its rows as JSON lines"),
    "a.parquet": (b"PAR1" + b"\0" * 40, "is a Parquet file; export its rows as JSON lines"),
    "a.har": (
        b'{"log": {"entries": [{"request": {}, "response": {}}]}}',
        "looks like a HAR file; not supported yet",
    ),
    "c.json": (
        b'{\n  // a comment\n  "a": 1,\n}\n',
        "is JSON with comments; it is a configuration file, not a transcript",
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_named_container_is_named_in_one_sentence(tmp_path: Path, name: str) -> None:
    data, words = CONTAINERS[name]
    (tmp_path / name).write_bytes(data)
    for command, end in (("lint", ""), ("fix", "; unchanged"), ("ids --canonical", None)):
        done = run(tmp_path, *command.split(), name)
        assert (done.returncode, done.stdout) == (3, "")
        if end is not None:
            assert done.stderr == f"turnlint: {name}: {words}{end}\n"
    shown = run(tmp_path, "why", "did not have response messages", name)
    assert (shown.returncode, f"{name}: {words}" in shown.stdout) == (3, True)


def test_a_file_has_the_same_name_in_a_folder_and_alone(tmp_path: Path) -> None:
    for name in ("a.zip", "c.json"):
        (tmp_path / name).with_suffix(".json").write_bytes(CONTAINERS[name][0])
    for name, words in (("a.json", "a zip archive"), ("c.json", "JSON with comments")):
        assert f"{name}: is {words}; " in run(tmp_path, "lint", name).stderr
        assert f"{name} ({words})" in run(tmp_path, "lint", ".").stdout
        assert f"{words} (1)" in run(tmp_path, "fix", ".").stdout
        assert f"{name}: unrecognized format: it is {words}\n" in run(tmp_path, "inspect", ".").stdout
        assert f"it is {words}; " in " ".join(run(tmp_path, "inspect", name).stdout.split())


def test_a_run_lists_the_five_most_frequent_reasons_for_skipped_files(tmp_path: Path) -> None:
    kinds = [b"PK\x03\x04", b"SQLite format 3\0", b"PAR1", b"ORC", b"%PDF-", b"GIF8", b"\x7fELF", b"BZh"]
    for number, start in enumerate(kinds):
        for copy in range(9 - number):
            (tmp_path / f"{number}-{copy}.jsonl").write_bytes(start + b"\0" * 40)
    done = run(tmp_path, "lint", ".", "--output-format", "json")
    words = "44 files skipped: a zip archive (9), an SQLite database (8), a Parquet file (7), an ORC file (6), a PDF document (5) and 9 others"
    assert f"turnlint: {words}\n" in done.stderr
    assert words in " ".join(run(tmp_path, "fix", ".").stdout.split())
    shown = " ".join(run(tmp_path, "lint", ".").stdout.split())
    assert shown.endswith("4-0.jsonl and 4 more (a PDF document); and 9 others.")
    assert shown.count("(") == 5


@pytest.mark.parametrize("body", ['{"messages": []}', '{"id": "s", "messages": [ ]}'])
def test_a_request_without_messages_is_named(tmp_path: Path, body: str) -> None:
    (tmp_path / "a.json").write_text(body)
    words = "a.json: looks like a request or a session with empty `messages`; no key names its format"
    assert words in run(tmp_path, "lint", "a.json").stderr
    assert words in " ".join(run(tmp_path, "why", "did not have response messages", "a.json").stdout.split())
