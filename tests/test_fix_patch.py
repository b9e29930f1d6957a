"""`fix --diff=unified` is a patch that programs apply, and `--diff=semantic` shows changes of values."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broken_logs import BROKEN, DONE, GAP, LATE, USER, call, calling, fix, log, result, settle
from budgets import examples
from hostile import ENVIRONMENT, POISONS, assert_safe
from turnlint.documents.source import Source
from turnlint.keeping.patches import Patch, patched
from turnlint.repair.outcome import Fixed
from turnlint.report.escape import columns
from turnlint.report.unified import patch_of

FIXTURES = Path(__file__).parent.parent / "fixtures"
LOGS = [
    path.with_name(path.name.replace(".fixed.", "."))
    for folder in ("rules", "formats")
    for path in sorted((FIXTURES / folder).rglob("*.fixed.json*"))
]
PROGRAMS = {"patch": ("patch", "-p0", "--binary", "-s", "-i"), "git": ("git", "apply", "-p0")}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def apply(program: str, name: str, patch: bytes, folder: Path, data: bytes) -> bytes:
    """The result of a program that applies a patch to a file, in a folder of its own."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    place = folder / "applied"
    shutil.rmtree(place, ignore_errors=True)
    file = place / name
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    (folder / "a.patch").write_bytes(patch)
    subprocess.run([*PROGRAMS[program], str(folder / "a.patch")], cwd=place, check=True, capture_output=True)
    return file.read_bytes()


# A patch for programs.


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}: {path.name}")
def test_a_patch_gives_exactly_the_bytes_of_the_repair(folder: Path, path: Path) -> None:
    data = path.read_bytes()
    (folder / path.name).write_bytes(data)
    shown = fix(path.name, "--diff=unified")
    fix(path.name, "-o", "fixed")
    fixed = (folder / "fixed").read_bytes()
    assert (folder / path.name).read_bytes() == data
    if "latin-1" in path.name:
        assert (shown.exit_code, shown.stdout_bytes) == (2, b"")
        return
    if fixed == data:
        assert shown.stdout_bytes == b""
        return
    assert shown.exit_code == 1
    for program in PROGRAMS:
        assert apply(program, path.name, shown.stdout_bytes, folder, data) == fixed


def test_the_fixtures_exist() -> None:
    assert len(LOGS) > 40


TEXTS = st.text(st.sampled_from('ab\n\r"é'), max_size=60).map(str.encode)


@settings(
    max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=TEXTS, cuts=st.lists(st.integers(0, 80), max_size=8), new=st.lists(TEXTS, min_size=4, max_size=4))
def test_any_patches_of_any_lines(folder: Path, data: bytes, cuts: list[int], new: list[bytes]) -> None:
    ends = [0, *(at for at in range(1, len(data)) if data[at] & 0xC0 != 0x80), len(data)]
    places = sorted({min(ends, key=lambda end: abs(end - cut)) for cut in cuts})
    pairs = zip(places[::2], places[1::2], new, strict=False)
    patches = [Patch(start, end, text) for start, end, text in pairs]
    (folder / "x").write_bytes(data)
    source = Source("x", str(folder / "x"))
    fixed = b"".join(patched(source, patches))
    patch = b"".join(patch_of(Fixed(source, patches), reader="file"))
    if fixed != data and b"\n@@" in patch and data and fixed:
        assert apply("patch", "x", patch, folder, data) == fixed


@pytest.mark.parametrize(
    "name", ["a b.jsonl", "é.jsonl", 'q"\\.jsonl', "deep/er/x.jsonl", "tab\t.jsonl", "-x.jsonl"]
)
def test_any_file_name_works(folder: Path, name: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(log(GAP))
    patch = fix(f"./{name}", "--diff=unified").stdout_bytes
    fix(f"./{name}", "-o", "fixed")
    for program in PROGRAMS:
        assert apply(program, name, patch, folder, log(GAP)) == (folder / "fixed").read_bytes()


def test_several_files_are_one_patch(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.jsonl").write_bytes(log(GAP, LATE))
    shown = fix("one.jsonl", "two.jsonl", "--diff=unified")
    assert shown.stdout_bytes.count(b"\n+++ ") == 2
    assert b"would repair" not in shown.stdout_bytes
    assert b"would repair" in shown.stderr_bytes


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.jsonl.gz", None, "compressed files cannot be patched as text"),
        ("a.jsonl", log(GAP).replace(b"hunter2", b"\xff"), "not valid UTF-8"),
    ],
)
def test_files_without_a_possible_patch_are_reported(
    folder: Path, name: str, data: bytes | None, expected: str
) -> None:
    if data is None:
        import gzip

        data = gzip.compress(log(GAP))
    (folder / name).write_bytes(data)
    shown = fix(name, "--diff=unified")
    assert (shown.exit_code, shown.stdout_bytes) == (2, b"")
    assert expected in shown.stderr


def hostile_log(poison: str) -> bytes:
    history = [{"role": "user", "content": poison}, calling(call("c1")), USER, DONE]
    text = json.dumps({"messages": history}, ensure_ascii=False)
    return f"{text}\n::error::pwned\n".encode("utf-8", "replace")


def on_a_terminal(folder: Path, *arguments: str) -> tuple[int, bytes]:
    shown, there = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "turnlint", *arguments],
        cwd=folder,
        stdout=there,
        stderr=there,
        env=ENVIRONMENT,
    )
    os.close(there)
    output = b""
    while True:
        try:
            piece = os.read(shown, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(shown)
    return run.wait(), output


def test_a_patch_that_controls_a_terminal_or_a_runner_is_not_shown_on_a_terminal(folder: Path) -> None:
    (folder / "a.jsonl").write_bytes(hostile_log(POISONS["bidi marks"]))
    code, printed = on_a_terminal(folder, "fix", "a.jsonl", "--diff=unified")
    assert (code, b"redirect it to a file" in printed, b"pwned" in printed) == (2, True, False)
    (folder / "b.jsonl").write_bytes(log(GAP))
    code, printed = on_a_terminal(folder, "fix", "b.jsonl", "--diff=unified")
    assert (code, b"\n+++ b.jsonl" in printed) == (1, True)
    command = [sys.executable, "-m", "turnlint", "fix", "a.jsonl", "--diff=unified"]
    in_ci = subprocess.run(
        command, cwd=folder, capture_output=True, check=False, env={**ENVIRONMENT, "CI": "true"}
    )
    assert (in_ci.returncode, in_ci.stdout) == (2, b"")
    with (folder / "out").open("wb") as out:
        subprocess.run(command, cwd=folder, stdout=out, check=False, env={**ENVIRONMENT, "CI": "true"})
    fix("a.jsonl", "-o", "fixed")
    patch = (folder / "out").read_bytes()
    assert (
        apply("patch", "a.jsonl", patch, folder, (folder / "a.jsonl").read_bytes())
        == (folder / "fixed").read_bytes()
    )


# Changes of values.


def semantic(folder: Path, data: bytes, *more: str, name: str = "a.jsonl") -> list[str]:
    (folder / name).write_bytes(data)
    shown = fix(name, "--diff=semantic", *more)
    assert shown.exit_code == 1
    head = shown.stdout.splitlines()
    assert head[:2] == [f"--- {name}", f"+++ {name} (repaired)"]
    return head[2:]


def test_added_and_removed_values_have_their_pointers(folder: Path) -> None:
    late = [USER, calling(call("c1")), USER, result("c1")]
    assert semantic(folder, log([USER, DONE], late)) == [
        "@@ line 2 @@",
        '+ /messages/2  {"role": "tool", "tool_call_id": "c1", "content": "ok"}',
        '- /messages/3  {"role": "tool", "tool_call_id": "c1", "content": "ok"}',
    ]


def test_a_changed_value_is_shown_before_and_after(folder: Path) -> None:
    history = [USER, calling(call("a b")), result("a b"), DONE]
    rows = semantic(folder, log(history), "--canonical")
    new = rows[2].rpartition("  ")[2]
    assert new not in ('"a b"', "")
    assert rows == [
        "@@ line 1 @@",
        '- /messages/1/tool_calls/0/id  "a b"',
        f"+ /messages/1/tool_calls/0/id  {new}",
        '- /messages/2/tool_call_id  "a b"',
        f"+ /messages/2/tool_call_id  {new}",
    ]


def test_a_document_has_pointers_from_its_root(folder: Path) -> None:
    records = [{"messages": [USER, DONE]}, {"messages": [USER, result("c9"), DONE]}]
    data = json.dumps(records, indent=1).encode()
    (place, line) = semantic(folder, data, name="a.json")
    assert place == f"@@ line {data[: data.rindex(b'messages')].count(10)} @@"
    assert line.startswith('- /1/messages/1  {"role": "tool", "tool_call_id": "c9"')


def test_added_or_removed_records_are_shown_whole(folder: Path) -> None:
    def keyed(one: dict[str, Any]) -> bytes:
        return json.dumps({"conversation_id": "k", **one}).encode() + b"\n"

    rows = semantic(
        folder, keyed(USER) + keyed(calling(call("c1"))) + keyed(USER) + keyed(result("c9")) + keyed(DONE)
    )
    assert rows[0] == "@@ new, line 3 @@"
    assert rows[1].startswith(
        '+ (the whole record)  {"conversation_id": "k", "role": "tool", "tool_call_id": "c1"'
    )
    assert rows[2] == "@@ line 4, removed @@"
    assert rows[3].startswith(
        '- (the whole record)  {"conversation_id": "k", "role": "tool", "tool_call_id": "c9"'
    )
    assert len(rows) == 4


def test_few_of_many_changes_are_shown_and_the_rest_is_counted(folder: Path) -> None:
    rows = semantic(folder, log(*[GAP] * 70))
    assert sum(row.startswith("@@") for row in rows) == 60
    assert rows[-1] == "… 10 more records; --report FILE lists all"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_row_is_wider_than_the_terminal(folder: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    name = f"{'long-' * 12}name.jsonl"
    (folder / name).write_bytes(log([*GAP, {"role": "user", "content": "漢字 é" * 60}]))
    rows = fix(name, "--diff=semantic").stdout.splitlines()
    assert max(map(columns, rows)) <= width, rows


@pytest.mark.parametrize("poison", POISONS)
def test_no_part_of_a_diff_controls_a_terminal(folder: Path, poison: str) -> None:
    (folder / "a.jsonl").write_bytes(hostile_log(POISONS[poison]))
    shown = fix("a.jsonl", "--diff=semantic")
    assert shown.exit_code == 1
    assert_safe(shown.stdout_bytes, "semantic")
    assert max(map(len, shown.stdout.splitlines())) <= 100


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}: {path.name}")
def test_every_repair_has_something_to_show(folder: Path, path: Path) -> None:
    (folder / path.name).write_bytes(path.read_bytes())
    if fix(path.name, "--check").exit_code == 1 and fix(path.name, "--diff").stdout:
        shown = fix(path.name, "--diff=semantic").stdout.splitlines()
        assert sum(row[:2] in ("- ", "+ ", "  ") for row in shown) >= 1


def test_a_diff_without_a_kind_is_unchanged(folder: Path) -> None:
    plain = fix("broken.jsonl", "--diff").stdout
    assert plain == fix("broken.jsonl", "--diff=windowed").stdout == fix("--diff", "broken.jsonl").stdout
    assert (folder / "broken.jsonl").read_bytes() == BROKEN
    assert "did you mean 'unified'" in fix("broken.jsonl", "--diff=unfied").stderr
