"""The output of `turnlint fix`, which no content of a log can manipulate."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import pytest

from broken_logs import (
    BROKEN,
    CONTENT,
    DONE,
    GAP,
    GOOD,
    OPEN,
    REUSED,
    SOUND,
    TORN,
    USER,
    call,
    calling,
    fix,
    log,
    result,
    settle,
)
from hostile import ENVIRONMENT, POISON_NAMES, POISONS, assert_safe


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def test_a_summary_lists_changes_remaining_findings_and_the_undo_command(folder: Path) -> None:
    (folder / "hard.jsonl").write_bytes(TORN + log(GAP, OPEN))
    run = fix("broken.jsonl", "hard.jsonl", "sound.jsonl", "--journal", "j.jsonl")
    assert run.stdout.splitlines() == [
        "broken.jsonl: 5 conversations repaired: moved 1 result to its call, added 1 placeholder result,",
        "    renamed 1 id, removed 1 copy of a result, removed 1 result without a call",
        "hard.jsonl: 1 conversation repaired: added 1 placeholder result",
        "  2 findings remain: pending-call (1 warning), unreadable-record (1 error)",
        "3 files: 2 repaired, 1 unchanged; 1 error and 1 warning remain, `turnlint lint` shows where",
        "--level lossy removed 1 result, 55 bytes; the journal keeps what was removed",
        "1 last call has no result yet; `turnlint fix --close-pending` adds a placeholder result",
        "to undo: turnlint undo --journal j.jsonl PATH... (journal: j.jsonl)",
    ]
    assert run.stderr == ""


def test_a_dry_run_uses_the_conditional() -> None:
    run = fix("broken.jsonl", "sound.jsonl", "--check", "--level", "lossless")
    assert run.stdout.splitlines() == [
        "broken.jsonl: would repair 3 conversations: moved 1 result to its call, renamed 1 id,",
        "    removed 1 copy of a result",
        "  2 findings would remain: orphan-result (1 error), unanswered-call (1 error)",
        "2 files: 1 would be repaired, 1 would stay unchanged;",
        "    2 errors would remain, `turnlint lint` shows where",
        "1 error needs --level placeholder: it would add placeholders and remove nothing",
        "1 error needs --level lossy: it would remove 1 result, 55 bytes; it would stay in the journal",
    ]


def test_a_record_without_a_conversation_is_not_counted(folder: Path) -> None:
    (folder / "mark.jsonl").write_bytes(b"\xef\xbb\xbf" + SOUND)
    printed = fix("mark.jsonl", "--check").stdout.splitlines()[0]
    assert printed == "mark.jsonl: would repair 1 record: rewrote 1 value (unreadable-record)"


def test_joined_and_parted_lines_are_counted(folder: Path) -> None:
    (folder / "apart.jsonl").write_bytes((SOUND + SOUND).replace(b", ", b",\n", 1))
    printed = fix("apart.jsonl", "--check").stdout.splitlines()[0]
    assert printed == "apart.jsonl: would repair 1 record: joined 2 lines to 1 record"
    (folder / "together.jsonl").write_bytes(SOUND.rstrip() + SOUND)
    printed = fix("together.jsonl", "--check").stdout.splitlines()[0]
    assert printed == "together.jsonl: would repair 1 record: inserted 1 line break between records"


def test_clean_files_give_one_short_line(folder: Path) -> None:
    for number in range(20):
        (folder / f"sound{number}.jsonl").write_bytes(SOUND)
    assert fix("sound*.jsonl").stdout == "21 files: nothing to repair\n"
    assert fix("sound.jsonl").stdout == "1 file: nothing to repair\n"
    assert fix("sound.jsonl", "--diff").stdout == ""


def test_no_content_is_printed_without_a_diff(folder: Path) -> None:
    data = BROKEN.replace(b'"ok"', f'"ok {CONTENT}"'.encode()).replace(b"{}", b'{\\"a\\": \\"hunter2\\"}')
    (folder / "broken.jsonl").write_bytes(data)
    for arguments in (["--check"], ["--check", "--report", "-"], ["-o", "new.jsonl", "--report", "r.json"]):
        assert CONTENT not in fix("broken.jsonl", *arguments).output
    assert CONTENT not in (folder / "r.json").read_text()
    assert CONTENT in fix("broken.jsonl", "--diff").stdout


@pytest.mark.parametrize("poison", POISON_NAMES)
def test_ids_and_names_cannot_steer_a_terminal_or_a_runner(poison: str, folder: Path) -> None:
    x = POISONS[poison]
    many = [
        [USER, calling(call(x), call(x + "2", x)), USER, result(x + "2", x), result(x + "3", x), DONE],
        REUSED,
    ]
    twice = [
        USER,
        calling(call(x, x)),
        result(x),
        result(x),
        calling(call(x, x + "y", '{"a": 1}')),
        result(x, "other"),
        DONE,
    ]
    records = [{"id": x, "messages": item} for item in (*many, twice)]
    (folder / "a.jsonl").write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    (folder / "a.json").write_text(json.dumps(records[0], indent=2))
    for arguments in (
        ["--check"],
        ["--diff"],
        ["--check", "--report", "-"],
        ["--diff", "--provider", "mistral"],
        [],
    ):
        run = fix("a.jsonl", "a.json", *arguments)
        assert_safe(run.stdout_bytes, "stdout", poison)
        assert_safe(run.stderr_bytes, "stderr", poison)
    assert run.exit_code in (0, 1)


@pytest.mark.parametrize("poison", [name for name in POISONS if not name.startswith(("long", "nul"))])
def test_file_names_cannot_steer_a_terminal_or_a_runner(poison: str, folder: Path) -> None:
    name = os.fsdecode(POISONS[poison].replace("/", "")[:60].encode("utf-8", "surrogatepass") + b"\xff.jsonl")
    for arguments in (["--check"], ["--diff"], ["--check", "--report", "-"], ["-o", f"{name}2"], [], []):
        (folder / name).write_bytes(BROKEN)
        run = fix(f"./{name}", *arguments)
        assert_safe(run.stdout_bytes, "stdout", poison)
        assert_safe(run.stderr_bytes, "stderr", poison)
    assert fix(*map(str, folder.glob("*")), "--check").exit_code == 1


def test_colours_and_width_are_as_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in (["--check"], ["--diff"]):
        plain, painted = fix("broken.jsonl", *arguments), fix("broken.jsonl", *arguments, "--color", "always")
        assert "\x1b[" not in plain.output
        assert "\x1b[" in painted.stdout
        assert "\x1b[" in (painted.stdout if arguments == ["--check"] else painted.stderr)
    monkeypatch.setenv("COLUMNS", "60")
    for line in fix("broken.jsonl", "--diff").output.splitlines():
        assert len(line) <= 75 if line.startswith("    ") else 70, line
    assert "--- broken.jsonl" in fix("broken.jsonl", "--diff").stdout.splitlines()


def test_a_long_run_shows_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    from turnlint.cli import waiting as module

    class Bar:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, count: int) -> None:
            seen.append(count)

    def bar(**options: Any) -> Bar:
        assert (options["length"], options["file"]) == (len(BROKEN), sys.stderr)
        return Bar()

    monkeypatch.setattr(module, "LONG_RUN", len(BROKEN))
    monkeypatch.setattr(module, "is_terminal", lambda stream: stream is sys.stderr)
    monkeypatch.setattr(module.click, "progressbar", bar)
    assert "5 conversations repaired" in fix("broken.jsonl").stdout
    assert sum(seen) == len(BROKEN)


def test_runs_are_equal_byte_for_byte() -> None:
    runs = {
        subprocess.run(
            [sys.executable, "-m", "turnlint", "fix", "broken.jsonl", "--check", "--report", "-", "--provider", name],
            capture_output=True, check=False, env={**ENVIRONMENT, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
        for name in ("mistral",)
    }  # fmt: skip
    assert len(runs) == 1
    assert json.loads(runs.pop())["schema"] == "turnlint/repair-v1"


def test_a_fix_of_a_sound_file_loads_no_diff_module_and_no_temporary_files(folder: Path) -> None:
    program = (
        "import sys, os; os._exit = lambda code: None\nsys.argv = ['turnlint', 'fix', 'sound.jsonl']\n"
        "from turnlint.cli import main\nmain()\nprint('\\n'.join(sys.modules), file=sys.stderr)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder
    )
    loaded = set(run.stderr.split())
    assert "turnlint.repair.fixing" in loaded
    assert not loaded & {
        "turnlint.report.changes",
        "turnlint.report.aligning",
        "tempfile",
        "jsonschema",
        "tabulate",
    }


def test_a_quiet_run_prints_no_summary(folder: Path) -> None:
    for arguments in (["-q"], ["--quiet", "--check"], ["-q", "--report", "r.json"]):
        (folder / "broken.jsonl").write_bytes(BROKEN)
        run = fix("broken.jsonl", *arguments)
        assert (run.stdout, run.stderr) == ("", ""), arguments
    assert json.loads((folder / "r.json").read_text())["summary"]["changed"] == 1
    assert fix("-q", "missing.jsonl").stderr


def test_dry_run_is_another_name_of_check(folder: Path) -> None:
    run = fix("broken.jsonl", "--dry-run")
    assert (run.exit_code, run.stdout) == (1, fix("broken.jsonl", "--check").stdout)
    assert (folder / "broken.jsonl").read_bytes() == BROKEN


def test_a_run_reports_whether_the_named_providers_accept_the_result(folder: Path) -> None:
    names = ("--provider", "openai,mistral")
    printed = fix("broken.jsonl", *names, "--level", "placeholder", "--check", "--report", "r.json").stdout
    assert "would be accepted by openai: no, 1 error remains: PA202 orphan-result (1)\n" in printed
    report = json.loads((folder / "r.json").read_text())
    assert report["acceptance"][0] == {
        "provider": "openai", "accepted": False, "missing": {"PA202": 1}, "reason": None,
    }  # fmt: skip
    assert report["summary"]["would_remove"] == {"pieces": {"result": 1}, "bytes": 62, "rewritten": 0}
    narrow = fix("broken.jsonl", *names, "--select", "pairing", "--check").stdout
    assert "would be accepted by openai: unknown; not all rules were applied\n" in narrow
    other = fix("broken.jsonl", "--provider", "anthropic", "--check").stdout
    assert "would be accepted by anthropic: unknown; conversations are in the format openai-chat\n" in other
    printed = fix("broken.jsonl", *names, "--level", "lossy").stdout
    assert "accepted by openai: yes\naccepted by mistral: yes\n" in printed


def test_doubt_about_a_pair_names_no_id_that_the_repair_made(folder: Path) -> None:
    calls = [
        {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("f", "g")
    ]
    results = [
        {"role": "tool", "tool_call_id": "c", "name": "f", "content": "1"},
        {"role": "tool", "tool_call_id": "", "content": "2"},
    ]
    messages = [USER, {"role": "assistant", "content": "ok", "tool_calls": calls}, *results, USER]
    (folder / "c.json").write_text(json.dumps({"model": "command-a-03-2025", "messages": messages}))
    run = fix("c.json", "--format", "cohere", "--provider", "cohere", "--level", "lossy")
    assert run.exit_code == 1
    expected_text = "line 1: unchanged: no evidence ties a result to the call to `g`; correct the id by hand"
    assert expected_text in " ".join(run.stdout.split())


def test_calls_at_the_end_of_a_doubtful_turn_name_the_command_that_completes_them(folder: Path) -> None:
    """Two last calls share an id, so that no result is paired. The option completes them, at each level as stated."""
    messages = [USER, calling(call("c", "f"), call("c", "g")), result("c", "one")]
    for level, option in (
        ("lossless", "--level placeholder --close-pending"),
        ("placeholder", "--close-pending"),
        ("lossy", "--level lossy --close-pending"),
    ):
        (folder / "m.jsonl").write_bytes(log(messages))
        printed = " ".join(fix("m.jsonl", "--level", level).stdout.split())
        shown = option.removeprefix("--level lossy ")
        sentence = f"2 last calls have no result yet; `turnlint fix {shown}` adds placeholder results"
        assert sentence in printed
        (folder / "m.jsonl").write_bytes(log(messages))
        run = fix("m.jsonl", *(option if "--level" in option else f"--level {level} {option}").split())
        assert "added 2 placeholder results" in run.stdout
        assert "no result yet" not in run.stdout


def test_a_dry_run_removes_nothing_and_lists_removals_of_a_higher_level(folder: Path) -> None:
    (folder / "strays.jsonl").write_bytes(log([USER, result("c9", "x" * 2000), DONE], GOOD))
    printed = fix("strays.jsonl", "--level", "placeholder").stdout
    assert (
        "1 error needs --level lossy: it would remove 1 result, 2.1 kB; it would stay in the journal"
        in printed
    )
    assert "stay in the journal" not in fix("strays.jsonl", "--level", "placeholder", "--no-journal").stdout
