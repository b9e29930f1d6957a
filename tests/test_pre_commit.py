"""The hooks as pre-commit runs them: they report, they repair, and they print nothing for sound files.

A full run, with an environment that pre-commit makes, takes long and needs a package index: it runs if `TRY_REPO` is
set.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
HOOKS: list[dict[str, Any]] = YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")
PROGRAMS = Path(sys.executable).parent
USER = {"role": "user", "content": "hi"}
ASKS = {
    "role": "assistant", "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}  # fmt: skip
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "1"}
SOUND, APART, LOST = (
    {"messages": item} for item in ([USER, ASKS, ANSWER], [USER, ASKS, USER, ANSWER], [USER, ANSWER])
)


def test_the_manifest_is_one() -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    assert [item["id"] for item in clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")] == [
        "turnlint",
        "turnlint-fix",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "transcripts/a.jsonl", "transcript/a.json", "tests/data/transcripts/2026/11/a.ndjson", "conversations/a.jsonl.gz",
        "chats/a.jsonl.zst", "tests/fixtures/a.jsonl", "pkg/tests/fixtures/agent/a.json", "test/fixtures/a.json.gz",
        "support.chat.jsonl", "tests/data/one.transcript.json", "x.conversation.jsonl.gz",
    ],
)  # fmt: skip
def test_files_with_names_of_transcripts_are_selected(name: str) -> None:
    assert all(re.search(hook["files"], name) for hook in HOOKS)


@pytest.mark.parametrize(
    "name",
    [
        "package.json", "data/train.jsonl", "tsconfig.json", "transcripts/README.md", "transcripts/a.py", "chat.json",
        "src/chats.json", "tests/fixtures.json", "fixtures/a.json", "tests/fixtures/a.py", "transcripts.json", "chats/.hidden.json", "mytranscripts/a.json", "a.chat.json.bak", "a.chat.txt",
    ],
)  # fmt: skip
def test_files_with_other_names_are_not_selected(name: str) -> None:
    assert not any(re.search(hook["files"], name) for hook in HOOKS)


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def write(folder: Path, *conversations: Any) -> None:
    path = folder / "transcripts" / "a.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(conversation) + "\n" for conversation in conversations))
    git(folder, "add", ".")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("pre_commit")
    if not (PROGRAMS / "turnlint").exists():
        pytest.skip("the command is not installed beside this Python")
    here = tmp_path / "repository"
    here.mkdir()
    git(here, "init", "-q")
    (here / "package.json").write_text('{"name": "x"}')
    local = [{**hook, "language": "system"} for hook in HOOKS]
    (here / ".pre-commit-config.yaml").write_text(json.dumps({"repos": [{"repo": "local", "hooks": local}]}))
    write(here, SOUND)
    git(here, "commit", "-q", "-m", "first")
    return here


def pre_commit(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *arguments], cwd=folder, capture_output=True, text=True, check=False,
        env={**env, "PATH": f"{PROGRAMS}{os.pathsep}{env['PATH']}", "PRE_COMMIT_HOME": str(folder.parent / "cache"),
             "XDG_STATE_HOME": str(folder.parent / "state")},
    )  # fmt: skip


def test_hooks_print_nothing_for_sound_files(folder: Path) -> None:
    done = pre_commit(folder, "run", "--all-files")
    assert done.returncode == 0
    assert re.fullmatch(r"turnlint\.+Passed\nturnlint fix\.+Passed\n", done.stdout)


def test_transcripts_under_tests_fixtures_are_found_by_default(folder: Path) -> None:
    place = folder / "tests" / "fixtures"
    place.mkdir(parents=True)
    (place / "settings.json").write_text('{"name": "x"}')
    (place / "lost.json").write_text(json.dumps(LOST))
    git(folder, "add", ".")
    done = pre_commit(folder, "run", "turnlint")
    assert done.returncode == 1
    assert re.findall(r"tests/fixtures/\w+\.json:\d+", done.stdout) == ["tests/fixtures/lost.json:1"]
    assert "orphan-result" in done.stdout


def test_fixtures_of_other_kinds_are_passed_over(folder: Path) -> None:
    place = folder / "tests" / "fixtures"
    place.mkdir(parents=True)
    (place / "settings.json").write_text('{"name": "x"}')
    git(folder, "add", ".")
    done = pre_commit(folder, "run")
    assert (done.returncode, done.stdout.count("Passed")) == (0, 2)


def test_hooks_skip_a_commit_without_transcripts(folder: Path) -> None:
    (folder / "package.json").write_text("{}")
    git(folder, "add", ".")
    done = pre_commit(folder, "run")
    assert done.returncode == 0
    assert done.stdout.count("(no files to check)Skipped") == 2


def test_the_first_hook_reports_and_the_second_makes_lossless_repairs(folder: Path) -> None:
    write(folder, SOUND, APART)
    found = pre_commit(folder, "run", "turnlint")
    assert found.returncode == 1
    assert "PA203[error] misplaced-result" in found.stdout
    assert "transcripts/a.jsonl:2:" in found.stdout
    repaired = pre_commit(folder, "run", "turnlint-fix")
    assert repaired.returncode == 1
    assert "files were modified by this hook" in repaired.stdout
    lines = (folder / "transcripts" / "a.jsonl").read_text().splitlines()
    assert json.loads(lines[1]) == {"messages": [USER, ASKS, ANSWER, USER]}
    git(folder, "add", ".")
    assert pre_commit(folder, "run").returncode == 0
    assert not (folder.parent / "state").exists(), "git keeps what was there before"


def test_a_lossy_repair_is_left_out_and_reported(folder: Path) -> None:
    write(folder, LOST)
    before = (folder / "transcripts" / "a.jsonl").read_bytes()
    done = pre_commit(folder, "run", "turnlint-fix")
    assert done.returncode == 1
    assert "orphan-result" in done.stdout
    assert (folder / "transcripts" / "a.jsonl").read_bytes() == before


def test_excluded_files_stay_unchanged(folder: Path) -> None:
    write(folder, APART)
    (folder / "turnlint.yaml").write_text("exclude: transcripts/\n")
    before = (folder / "transcripts" / "a.jsonl").read_bytes()
    done = pre_commit(folder, "run")
    assert (done.returncode, done.stdout.count("Passed")) == (0, 2)
    assert (folder / "transcripts" / "a.jsonl").read_bytes() == before


@pytest.mark.skipif(not os.environ.get("TRY_REPO"), reason="installs the package from an index")
def test_pre_commit_installs_and_runs_the_hooks_of_this_repository(folder: Path) -> None:
    write(folder, SOUND, APART)
    found = pre_commit(folder, "try-repo", str(ROOT), "turnlint", "--all-files")
    assert "PA203[error] misplaced-result" in found.stdout, found.stdout + found.stderr
    repaired = pre_commit(folder, "try-repo", str(ROOT), "turnlint-fix", "--all-files")
    assert "files were modified by this hook" in repaired.stdout
    git(folder, "add", ".")
    for hook in ("turnlint", "turnlint-fix"):
        assert re.search(
            r"\.+Passed\n$", pre_commit(folder, "try-repo", str(ROOT), hook, "--all-files").stdout
        )
