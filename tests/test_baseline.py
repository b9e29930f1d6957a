"""A baseline hides old findings, shows new ones, and reports entries without a finding."""

import json
import random
from pathlib import Path

import pytest

from settings import put, turnlint, unanswered
from turnlint import baseline
from turnlint.errors import BaselineError

LINES = [unanswered("s-1", "c1"), unanswered("s-2", "c2", "c3"), unanswered(None, "c1", say="first"),
         unanswered(None, "c1", say="second"), unanswered(None, "c1", say="second"),
         '{"id": "e", "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": ""}]}']  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    put(tmp_path / "logs", **{"a.jsonl": "\n".join(LINES) + "\n", "b.jsonl": LINES[0] + "\n"})
    return tmp_path


def entries_in(folder: Path) -> list[dict[str, str]]:
    lines = (folder / "turnlint.baseline").read_text().splitlines()
    return [json.loads(line) for line in lines[1:]]


def lint(folder: Path, *arguments: str) -> tuple[int, int, str]:
    """The exit code, the number of findings, and standard error."""
    run = turnlint(folder, "lint", "--baseline", "turnlint.baseline", "--output-format", "jsonl", *arguments)
    return run.returncode, len(run.stdout.splitlines()) - 1, run.stderr


def test_findings_in_the_baseline_are_not_reported(folder: Path) -> None:
    run = turnlint(folder, "baseline", "write", "logs")
    assert (run.returncode, run.stdout) == (0, "turnlint.baseline: 8 entries, 8 new, 0 gone\n")
    assert lint(folder, "logs") == (0, 0, "")
    text = turnlint(folder, "lint", "logs", "--baseline", "turnlint.baseline", "--fail-on", "info")
    assert text.returncode == 0
    assert (
        text.stdout
        == "No findings in 2 files (7 conversations, 20 messages). Not shown: 8 in the baseline.\n"
    )
    assert turnlint(folder, "lint", "logs").returncode == 1


def test_the_file_is_sorted_lines_without_numbers_and_content(folder: Path) -> None:
    turnlint(folder, "baseline", "write", "logs", "--reason", "before we began")
    text = (folder / "turnlint.baseline").read_text()
    lines = text.splitlines()
    assert lines == sorted(lines)
    assert lines[0] == '{"baseline": "turnlint/baseline-v1"}'
    assert set(entries_in(folder)[0]) <= {
        "path",
        "code",
        "fingerprint",
        "rule",
        "conversation",
        "call",
        "reason",
    }
    assert {item["reason"] for item in entries_in(folder)} == {"before we began"}
    assert "first" not in text
    turnlint(folder, "baseline", "write", "logs")
    assert (folder / "turnlint.baseline").read_text() == text


def test_a_baseline_holds_after_changes_of_the_logs(folder: Path) -> None:
    """After a reordering, an append and a rewrite of records, only new findings are reported."""
    turnlint(folder, "baseline", "write", "logs")
    chance = random.Random(3)  # noqa: S311 - the same order in every run
    for _ in range(5):
        shuffled = chance.sample(LINES, len(LINES))
        sound = json.dumps({"messages": [{"role": "user", "content": "more"}]})
        put(folder / "logs", **{"a.jsonl": "\n".join([sound, *shuffled, sound]) + "\n"})
        assert lint(folder, "logs") == (0, 0, "")
    longer = json.loads(LINES[0])
    longer["messages"] += [{"role": "assistant", "content": "well"}, {"role": "user", "content": "on"}]
    rewritten = json.dumps(longer, indent=1).replace("\n", "")
    put(folder / "logs", **{"a.jsonl": "\n".join([*LINES[1:], rewritten, unanswered("s-9", "c9")]) + "\n"})
    assert lint(folder, "logs") == (1, 1, "")


def test_a_baseline_holds_from_any_working_folder(folder: Path) -> None:
    turnlint(folder, "baseline", "write", "logs")
    there = folder / "logs"
    run = turnlint(there, "lint", "a.jsonl", "--baseline", "../turnlint.baseline")
    assert run.returncode == 0
    run = turnlint(there, "lint", str(there), "--baseline", str(folder / "turnlint.baseline"))
    assert run.returncode == 0
    before = (folder / "turnlint.baseline").read_text()
    turnlint(there, "baseline", "write", ".", "--baseline", "../turnlint.baseline")
    assert (folder / "turnlint.baseline").read_text() == before


def test_entries_without_a_finding_are_reported_and_can_be_removed(folder: Path) -> None:
    turnlint(folder, "baseline", "write", "logs")
    put(folder / "logs", **{"a.jsonl": "\n".join(LINES[1:]) + "\n"})
    expected_text = "turnlint: turnlint.baseline: 1 finding is gone; `turnlint baseline prune` removes them\n"
    assert lint(folder, "logs") == (0, 0, expected_text)
    assert lint(folder, "logs/b.jsonl") == (0, 0, "")
    assert lint(folder, "logs", "--select", "PA") == (0, 0, "")
    check = turnlint(folder, "baseline", "check", "logs")
    assert check.returncode == 1
    assert check.stdout == (
        'logs/a.jsonl: PA201 unanswered-call of call c1 in conversation "s-1" is gone\n'
        "turnlint.baseline: 8 entries, 1 gone\n"
    )
    assert turnlint(folder, "baseline", "check", "logs/b.jsonl").returncode == 0
    put(folder / "logs", **{"n.jsonl": unanswered("n", "c1") + "\n"})
    assert turnlint(folder, "baseline", "prune", "logs").stdout == "turnlint.baseline: 7 entries, 1 gone\n"
    assert turnlint(folder, "baseline", "check", "logs").returncode == 0
    assert lint(folder, "logs")[:2] == (1, 1)


def test_entries_of_a_missing_file_are_removed(folder: Path) -> None:
    turnlint(folder, "baseline", "write", "logs")
    (folder / "logs" / "b.jsonl").unlink()
    assert (
        turnlint(folder, "baseline", "prune", "logs/a.jsonl").stdout
        == "turnlint.baseline: 7 entries, 1 gone\n"
    )


def test_writing_for_some_files_leaves_the_others_entries(folder: Path) -> None:
    turnlint(folder, "baseline", "write", "logs")
    put(folder / "logs", **{"b.jsonl": unanswered("s-7", "c7") + "\n"})
    run = turnlint(folder, "baseline", "write", "logs/b.jsonl", "--reason", "new")
    assert run.stdout == "turnlint.baseline: 8 entries, 1 new, 1 gone\n"
    assert lint(folder, "logs") == (0, 0, "")
    assert [item.get("reason") for item in entries_in(folder)].count("new") == 1
    run = turnlint(folder, "baseline", "write", "logs", "--select", "ST")
    assert run.stdout == "turnlint.baseline: 8 entries, 0 new, 0 gone\n"


def test_the_configuration_can_name_a_baseline(folder: Path) -> None:
    (folder / "ci").mkdir()
    put(folder, **{"turnlint.yaml": "baseline: ci/known\nignore: [{rule: ST110, reason: known}]\n"})
    assert turnlint(folder, "baseline", "write", "logs").stdout == "ci/known: 7 entries, 7 new, 0 gone\n"
    run = turnlint(folder, "lint", "logs", "--fail-on", "info")
    assert run.returncode == 0
    assert run.stdout.endswith("Not shown: 7 in the baseline, 1 ignored.\n")
    put(folder / "logs", **{"b.jsonl": "", "a.jsonl": LINES[0] + "\n"})
    assert (
        turnlint(folder, "fix", "--check", "logs").returncode == 1
    )  # a repair is welcome, in the baseline or not


def test_the_entries_of_both_sides_of_a_merge_hold(folder: Path) -> None:
    turnlint(folder, "baseline", "write", "logs/b.jsonl", "--baseline", "ours")
    turnlint(folder, "baseline", "write", "logs/a.jsonl", "--baseline", "theirs")
    both = (folder / "theirs").read_text() + "\n" + (folder / "ours").read_text()
    (folder / "turnlint.baseline").write_text(both)
    assert lint(folder, "logs") == (0, 0, "")
    turnlint(folder, "baseline", "write", "logs")
    assert set((folder / "turnlint.baseline").read_text().splitlines()) == set(both.split("\n")) - {""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<<<<<<< ours\n", "known:1: a merge was not finished here; keep the lines of both sides"),
        (
            '{"baseline": "turnlint/baseline-v9"}\n',
            "known:1: is of another version than turnlint/baseline-v1",
        ),
        ('\n{"path": "a"}\n', "known:2: not a baseline entry: object missing required field `code`"),
        ("nothing\n", "known:1: not a baseline entry:"),
        (
            '{"path": "a", "code": "b", "fingerprint": "c", "rule": "d", "line": 1}\n',
            "known:1: not a baseline entry",
        ),
        ("\udcff\n", "known:1: not a baseline entry:"),
        ("[" * 100_000, "known:1: not a baseline entry:"),
    ],
)
def test_an_invalid_baseline_is_an_error(folder: Path, text: str, expected: str) -> None:
    (folder / "known").write_bytes(text.encode(errors="surrogateescape"))
    for command in (["lint", "logs"], ["baseline", "check", "logs"], ["baseline", "write", "logs"]):
        run = turnlint(folder, *command, "--baseline", "known")
        assert run.returncode == 2
        assert expected in run.stderr
    assert (folder / "known").read_bytes() == text.encode(errors="surrogateescape")


def test_a_file_without_end_is_not_read_to_its_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "MOST_BYTES", 1 << 20)
    (folder / "endless").write_bytes(b"\n" * ((1 << 20) + 1))
    with pytest.raises(BaselineError, match="is larger than 1 MiB"):
        baseline.read(str(folder / "endless"))


def test_an_incomplete_run_writes_no_baseline(folder: Path) -> None:
    turnlint(folder, "baseline", "write", "logs")
    before = (folder / "turnlint.baseline").read_text()
    assert turnlint(folder, "baseline", "prune", "nothing-here").returncode == 2
    (folder / "empty").mkdir()
    assert turnlint(folder, "baseline", "prune", "empty").returncode == 3
    (folder / "logs" / "c.jsonl.gz").write_bytes(b"\x1f\x8b" + b"\x00" * 20)
    turnlint(folder, "baseline", "prune", "logs")
    assert (folder / "turnlint.baseline").read_text() == before
    assert turnlint(folder, "baseline", "prune", "logs", "--baseline", "none").returncode == 2
    assert not (folder / "none").exists()


def test_names_from_a_log_cannot_break_a_line(folder: Path) -> None:
    put(
        folder / "logs",
        **{"b.jsonl": unanswered('s\n{"x": 1}\u2028##[error]' + "n" * 500, "c\r1\x1b[31m") + "\n"},
    )
    turnlint(folder, "baseline", "write", "logs")
    text = (folder / "turnlint.baseline").read_text(encoding="utf-8")
    assert text.isascii()
    assert len(text.splitlines()) == 9
    assert "##[" not in text
    put(folder / "logs", **{"b.jsonl": LINES[0] + "\n"})
    assert "\x1b" not in turnlint(folder, "baseline", "check", "logs").stdout
    assert baseline.read(str(folder / "turnlint.baseline")).entries
