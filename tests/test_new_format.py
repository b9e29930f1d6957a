"""A new format is recognized, checked and repaired; it is one module of `carriers`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import turnlint
import turnlint_rules

FORMAT = '''"""The log of a test: entries by `by`, each with one text, call or result."""

from collections.abc import Sequence
from typing import Any

from msgspec import Raw, Struct

from turnlint.carrying.carrier import SPEAKS
from turnlint.carrying.contents import arguments_in_place
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import NOTHING, given, is_blank
from turnlint.carrying.writer import MessageWriter
from turnlint.model import Call, Keys, Message, Misfit, Pointer, Record, Result, Role, Text, Wire


class Entry(Struct, gc=False):
    by: str | None = None
    text: Raw = NOTHING
    run: str | None = None
    ref: str | None = None
    args: Raw = NOTHING
    out: Raw = NOTHING


class Body(Envelope, gc=False, kw_only=True):
    entries: list[Entry] | None = None


ROLES: dict[str, Role] = {"person": "user", "bot": "assistant", "tool": "tool"}
CALL = Keys(("ref",), ("run",), ("args",))
RESULT = Keys(("ref",), (), ("out",))


def read_turn(turn: Entry, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    role = ROLES.get(turn.by or "", "other")
    misfits = [Misfit((*at, "by"), "a known name", "another")] if role == "other" else []
    blocks: list[Any] = [] if is_blank(turn.text) else [Text((), None)]
    if turn.run is not None:
        body, arguments = arguments_in_place(turn.args, required=False)
        blocks.append(Call((), CALL, turn.ref, turn.run, body, arguments, kind="run"))
    if role == "tool":
        blocks.append(Result((), RESULT, turn.ref, None, bytes(turn.out)))
    return Message(role, at, tuple(blocks), record, turn.by or "", empty=not blocks), misfits


class Writer(MessageWriter):
    """Write entries."""

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:
        return {"by": "tool", "ref": call.id, "out": " ".join(texts)}

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        return None if calls else {"by": {"user": "person"}.get(role, "bot"), "text": " ".join(texts)}


CARRIER = make_carrier(
    Dialect(
        wire=Wire("entries"), envelope=Body, turn=Entry, keys=("entries",), turn_key="by", listed="",
        read_turn=read_turn, is_turn=lambda one: given(one.by), lines=((),), replies=lambda _: [],
        ends_open=lambda _: False, evidence=lambda one: SPEAKS * (isinstance(one, Entry) and one.by in ROLES),
        writer=Writer(),
    ),
    title="Entries",
    about="the log of a test",
)
'''
LOG = [
    {"by": "person", "text": "Go on."},
    {"by": "bot", "run": "deploy", "ref": "c1", "args": {"to": "stage"}},
    {"by": "bot", "run": "check", "ref": "c2", "args": {}},
    {"by": "tool", "ref": "c1", "out": "done"},
    {"by": "person", "text": "And?"},
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with one more module."""
    folder = tmp_path_factory.mktemp("site")
    for package in (turnlint, turnlint_rules):
        assert package.__file__
        source = Path(package.__file__).parent
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "turnlint/carriers/entries.py").write_text(FORMAT, encoding="utf-8")
    return folder


def run(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "turnlint", *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_new_format_is_found_checked_and_repaired(site: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"entries": LOG}), encoding="utf-8")
    assert "entries" in run(site, tmp_path, "formats").stdout
    linted = run(site, tmp_path, "lint", "log.json", "--output-format", "jsonl")
    codes = [row["code"] for row in map(json.loads, linted.stdout.splitlines()) if "code" in row]
    assert codes == ["PA201", "PA203"], linted.stdout + linted.stderr
    assert run(site, tmp_path, "fix", "log.json").returncode == 0
    entries = json.loads(log.read_text(encoding="utf-8"))["entries"]
    assert [entry.get("ref") for entry in entries] == [None, "c1", "c1", "c2", "c2", None]
    assert all(item in entries for item in LOG)
    assert run(site, tmp_path, "lint", "log.json").returncode == 0
    assert "entries" not in run(Path(os.devnull), tmp_path, "formats").stdout
