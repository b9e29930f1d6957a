"""The cache of a run is never stale, and never changes a result."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import run_cli

BROKEN = '{"messages": [{"role": "tool", "tool_call_id": "c1", "content": "x"}]}\n'
SOUND = '{"messages": [{"role": "user", "content": "hi"}]}\n'


class Runs:
    """Runs of the command over one folder, with one cache."""

    def __init__(self, folder: Path) -> None:
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.kept = folder / "kept"

    def lint(self, *more: str, **variables: str) -> tuple[str, str, int]:
        env = {**os.environ, "TURNLINT_CACHE": str(self.kept), "COLUMNS": "100", **variables}
        run = run_cli("lint", "logs", "--cache", *more, cwd=self.logs.parent, env=env, text=True)
        return run.stdout, run.stderr, run.returncode

    def entries(self) -> list[Path]:
        return sorted(self.kept.iterdir()) if self.kept.is_dir() else []


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    made = Runs(tmp_path)
    (made.logs / "a.jsonl").write_text(BROKEN)
    (made.logs / "b.jsonl").write_text(SOUND)
    (made.logs / "c.jsonl").write_text(BROKEN * 2)
    return made


@pytest.mark.parametrize("output", ["text", "concise", "json", "jsonl"])
def test_a_second_run_gives_the_same_output(runs: Runs, output: str) -> None:
    plain = runs.lint("--output-format", output, "--show-content", "full")
    assert len(runs.entries()) == 3
    assert runs.lint("--output-format", output, "--show-content", "full") == plain
    assert len(runs.entries()) == 3
    assert plain[2] == 1


def test_a_changed_file_is_read_again(runs: Runs) -> None:
    assert runs.lint()[2] == 1
    for name in ("a.jsonl", "c.jsonl"):
        path = runs.logs / name
        times = path.stat()
        path.write_text(
            SOUND.replace("hi", "h" * (len(BROKEN) - len(SOUND) + 2)) if name == "a.jsonl" else SOUND
        )
        os.utime(
            path, ns=(times.st_atime_ns, times.st_mtime_ns)
        )  # as a tool does that keeps modification times
    assert runs.lint()[2] == 0


def test_options_are_part_of_the_key(runs: Runs) -> None:
    assert runs.lint()[2] == 1
    assert runs.lint("--ignore", "pairing", "--ignore", "state", "--ignore", "projection")[2] == 0
    assert runs.lint("--provider", "none")[2] == 1
    assert runs.lint()[2] == 1


def test_the_name_of_the_file_is_part_of_the_key(runs: Runs) -> None:
    runs.lint()
    (runs.logs / "a.jsonl").rename(runs.logs / "z.jsonl")
    out, _, _ = runs.lint("--output-format", "jsonl")
    paths = {json.loads(line)["path"] for line in out.splitlines()[:-1]}
    assert paths == {os.path.join("logs", "c.jsonl"), os.path.join("logs", "z.jsonl")}


@pytest.mark.parametrize("spoil", [b"", b"x", None])
def test_a_damaged_entry_is_not_used(runs: Runs, spoil: bytes | None) -> None:
    before = runs.lint("--output-format", "jsonl")
    for entry in runs.entries():
        data = entry.read_bytes()
        entry.write_bytes(data[:-5] + b"\xc1" + data[-4:] if spoil is None else spoil)
    assert runs.lint("--output-format", "jsonl") == before
    assert all(len(entry.read_bytes()) > 40 for entry in runs.entries())


def test_only_the_user_can_read_the_folder(runs: Runs) -> None:
    runs.lint()
    assert runs.kept.stat().st_mode & 0o077 == 0
    assert all(entry.stat().st_mode & 0o077 == 0 for entry in runs.entries())
    runs.kept.chmod(0o777)
    before = runs.entries()
    (runs.logs / "d.jsonl").write_text(BROKEN)
    _, err, code = runs.lint()
    assert "the cache is disabled" in err
    assert code == 1
    assert runs.entries() == before


def test_two_simultaneous_runs_do_not_interfere(runs: Runs) -> None:
    for number in range(40):
        (runs.logs / f"n{number}.jsonl").write_text(BROKEN)
    expected = runs.lint("--output-format", "jsonl")
    for entry in runs.entries():
        entry.unlink()
    command = [sys.executable, "-c", "from turnlint.cli import main; main()", "lint", "logs", "--cache", "--output-format", "jsonl"]  # fmt: skip
    env = {**os.environ, "TURNLINT_CACHE": str(runs.kept)}
    some = [
        subprocess.Popen(command, cwd=runs.logs.parent, env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [item.communicate()[0] for item in some] == [expected[0]] * 3
    assert len(runs.entries()) == 43
    assert runs.lint("--output-format", "jsonl") == expected


RULE = '''"""a call without a result"""
from turnlint.api import Rule
RULE = Rule("XX901", "no-result", "warning"{triggers})
def check(case):
    for one in case.ledger.orphans:
        yield RULE.at_result(case, one, "{text}")
'''


def test_results_of_other_packages_are_cached_if_their_rules_declare_triggers(
    runs: Runs, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    (site / "more_rules-1.0.dist-info").mkdir(parents=True)
    (site / "more_rules-1.0.dist-info" / "METADATA").write_text("Name: more-rules\nVersion: 1.0\n")
    (site / "more_rules-1.0.dist-info" / "entry_points.txt").write_text(
        "[turnlint.rules]\nmore = more_rules\n"
    )
    module = site / "more_rules.py"
    for triggers, count in (("", 0), (', triggers=frozenset({"orphan"})', 3)):
        module.write_text(RULE.format(triggers=triggers, text="first"))
        assert "first" in runs.lint(PYTHONPATH=str(site))[0]
        assert len(runs.entries()) == count
    module.write_text(RULE.format(triggers=triggers, text="and then"))
    output = runs.lint(PYTHONPATH=str(site))[0]
    assert "and then" in output
    assert "first" not in output
