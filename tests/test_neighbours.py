"""Files of formats that are not supported are named, judged by no rule, and changed by no repair."""

import gzip
import io
import json
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from turnlint.cli import cli


def run(folder: Path, *arguments: str) -> Result:
    """Run a command of turnlint on files of a folder, in process."""
    names = [str(folder / one) if (folder / one).exists() else one for one in arguments]
    return CliRunner().invoke(cli, names)


CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("samples/1.json", '{"messages": []}\n' * 40)


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("create table messages(data text)")
        base.execute('insert into messages values (\'{"role": "user"}\')')


def _tar(path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as file:
        file.addfile(tarfile.TarInfo("a.json"))
    path.write_bytes(gzip.compress(packed.getvalue()))


CONTAINERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a.eval": (_zip, "is a zip archive"),
    "a.db": (_sqlite, "is an SQLite database"),
    "a.tar.gz": (_tar, "is a tar archive"),
    "a.parquet": (
        lambda path: path.write_bytes(b"PAR1\x15\x04\x15" + bytes(40) + b"PAR1"),
        "is a Parquet file",
    ),
    "a.bin": (lambda path: path.write_bytes(bytes(range(256)) * 9), "is a binary file"),
    "a.jsonl.gz": (
        lambda path: path.write_bytes(gzip.compress(b"SQLite format 3\0" + bytes(99))),
        "is an SQLite",
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize(
    "command", [["lint"], ["fix"], ["fix", "--level", "lossy"], ["ids", "--canonical"], ["inspect"]]
)
def test_a_container_is_named_in_one_sentence(command: list[str], name: str, tmp_path: Path) -> None:
    make, sentence = CONTAINERS[name]
    make(tmp_path / name)
    before = (tmp_path / name).read_bytes()
    done = run(tmp_path, *command, name)
    assert sentence in " ".join((done.output).split())
    assert (done.exit_code, (tmp_path / name).read_bytes()) == (3, before)


KIMI = [
    {"role": "_system_prompt", "content": "s"},
    {"role": "user", "content": "hi"},
    {"role": "_checkpoint", "id": 1},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "_usage", "token_count": 9},
    {"role": "tool", "tool_call_id": "c1", "content": "x"},
]
FAMILIES: dict[str, tuple[list[Any], str]] = {
    "kimi": (KIMI, "a Kimi CLI context"),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_known_family_is_named_and_left(name: str, tmp_path: Path) -> None:
    records, family = FAMILIES[name]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in records))
    before = log.read_bytes()
    for command in (["lint"], ["fix"], ["fix", "--level", "lossy"], ["ids", "--canonical"]):
        done = run(tmp_path, *command, "log.jsonl")
        assert f"looks like {family}; not supported yet" in done.output, command
        assert (done.exit_code, log.read_bytes()) == (3, before)
    inspected = run(tmp_path, "inspect", "log.jsonl")
    assert f"looks like {family}; not supported yet" in " ".join(inspected.output.split())
