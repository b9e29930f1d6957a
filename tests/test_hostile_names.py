"""Hostile names of tools, ids, roles, keys and files in every report.

No such name may control a terminal or a build runner, or make an endless line.
"""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from hostile import ORPHAN, POISON_NAMES, POISONS, WIRES, assert_ended_well, lint, lint_in_all_formats
from turnlint.cli import cli
from turnlint.report.escape import columns


def _twice(key: str) -> bytes:
    """A record with a key of that name twice, inside and outside of a message, which no dictionary can hold."""
    name = json.dumps(key)
    message = f'{{"role": "user", "content": "a", {name}: NaN, {name}: 2}}'
    return f'{{"messages": [{message}], {name}: 01, {name}: None}}'.encode()


@pytest.mark.parametrize("poison", POISON_NAMES)
def test_names_ids_and_roles_cannot_steer_a_terminal_or_a_runner(poison: str, tmp_path: Path) -> None:
    x = POISONS[poison]
    paths = []
    for wire, records in WIRES.items():
        lines = [json.dumps(record).encode() for record in records(x)]
        if poison not in ("lone surrogates", "long"):  # which have no spelling in UTF-8, or none other
            lines += [json.dumps(record, ensure_ascii=False).encode() for record in records(x)]
        path = tmp_path / f"{wire}.jsonl"
        path.write_bytes(b"\n".join([*lines, _twice(x), b'{"messages": [{"role": "user", "content": "', b""]))
        paths.append(path)
    reports = lint_in_all_formats(*paths, "--show-content", "full", "--statistics", folder=tmp_path)
    summary = json.loads(reports["json"])["summary"]
    assert summary["files"] == 3
    assert len(summary["rules"]) >= 15
    names = max(map(len, map(str, paths)))
    for kind in ("text", "concise"):
        longest = max(reports[kind].decode().split("\n"), key=columns)
        assert columns(longest) < names + 700, f"{kind}: {longest[:200]}"


@pytest.mark.parametrize("poison", [name for name in POISONS if not name.startswith(("long", "nul"))])
def test_file_names_cannot_steer_a_terminal_or_a_runner(poison: str, tmp_path: Path) -> None:
    x = POISONS[poison].replace("/", "")[:60].encode("utf-8", "surrogatepass") + b"\xff"
    bad, skipped, stdin_name = (os.fsdecode(part) for part in (b"1" + x + b".jsonl", x + b".jsonl", x))
    (tmp_path / bad).write_bytes(ORPHAN + b"{\n")
    (tmp_path / skipped).write_bytes(b'{"nothing": "known"}\n')
    arguments = (bad, skipped, "-", "--stdin-filename", stdin_name)
    reports = lint_in_all_formats(*arguments, folder=tmp_path, cwd=tmp_path, stdin=ORPHAN)
    assert json.loads(reports["json"])["summary"]["rules"] == {"orphan-result": 2, "unreadable-record": 1}
    missing = lint(stdin_name + "-is-missing", cwd=tmp_path)
    assert_ended_well(missing)
    assert missing.returncode == (3 if b"[" in x else 2)  # the bracket makes the name a pattern


LONGEST = "n" * 249 + ".jsonl"


def test_names_of_the_maximum_length_of_a_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNLINT_STATE_DIR", str(tmp_path / "state"))
    path = tmp_path / LONGEST
    path.write_bytes(ORPHAN)
    report, baseline, journal = (letter * 250 + ".json" for letter in "rbj")
    for arguments, code in (
        (["lint", LONGEST, "--output", f"json:{report}"], 1),
        (["fix", LONGEST, "--level", "lossy", "--journal", journal], 0),
        (["undo", LONGEST, "--journal", journal], 0),
        (["fix", LONGEST, "--level", "lossy", "-o", "o" * 255], 0),
        (["fix", LONGEST, "--level", "lossy"], 0),
        (["undo", LONGEST], 0),
        (["baseline", "write", LONGEST, "--baseline", baseline], 0),
        (["lint", LONGEST, "--baseline", baseline], 0),
        (["lint", "x" * 300], 2),
        (["fix", LONGEST, "-o", "x" * 300], 2),
    ):
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == code, (arguments[0], done.output)
        assert "Traceback" not in done.output
    assert path.read_bytes() == ORPHAN
    names = [path.name for path in tmp_path.iterdir()]
    assert sorted(names) == sorted([LONGEST, report, baseline, journal, "o" * 255, "state"])
