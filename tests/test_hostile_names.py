"""Names that strangers chose, of tools, ids, roles, keys and files, in every report.

This module owns that no such name steers a terminal or a build runner or makes a line endless.
"""

import json
import os
from pathlib import Path

import pytest

from hostile import ORPHAN, POISONS, WIRES, assert_ended_well, lint, lint_in_all_formats
from turnlint.report.escape import columns


def _twice(key: str) -> bytes:
    """A record with a key of that name twice, inside and outside of a message: no dictionary can say that."""
    name = json.dumps(key)
    message = f'{{"role": "user", "content": "a", {name}: NaN, {name}: 2}}'
    return f'{{"messages": [{message}], {name}: 01, {name}: None}}'.encode()


@pytest.mark.parametrize("poison", POISONS)
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
    assert missing.returncode == (3 if b"[" in x else 2)  # a bracket makes it a pattern
