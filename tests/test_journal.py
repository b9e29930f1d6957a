"""The journal: its content, its folder, and its permissions."""

import base64
import gzip
import json
import os
import stat
import sys
from pathlib import Path
from typing import IO

import pytest

from fixing import OLD, fix
from turnlint.documents.source import Source
from turnlint.errors import WriteError
from turnlint.keeping.disk import Digest, Digests, Patch, digest_of
from turnlint.keeping.journal import entry, save, save_repair, state_folder

posix = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNLINT_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "a.jsonl"
    file.write_bytes(OLD)
    return str(file)


def test_a_journal_has_the_old_bytes_and_their_positions(path: str, tmp_path: Path) -> None:
    Path(path).write_bytes("grün \xff und rot\n".encode("latin-1").replace(b"\xfc", "ü".encode()))
    patches = (Patch(0, 5, "grön".encode()), Patch(6, 7, b""), Patch(12, 15, b"rot"))
    digests = Digests(digest_of(path), Digest("0" * 64, 15))
    made = entry(Source("a", path), patches, digests, [{"note": "\ud800", "at": (1, 2)}])
    assert made.path == os.path.realpath(path)
    assert (made.before, made.after, made.compressed, made.original) == (
        digests.before,
        digests.after,
        None,
        None,
    )
    assert [(edit.offset, edit.length, edit.text, edit.base64) for edit in made.edits] == [
        (2, 2, "ü", None),
        (6, 0, None, base64.b64encode(b"\xff").decode()),
    ]
    where = save(made, str(tmp_path / "journal"))
    [line] = Path(where).read_bytes().splitlines()
    assert line.isascii()
    document = json.loads(line)
    assert list(document)[:2] == ["schema", "version"]
    assert document["schema"] == "turnlint/journal-v1"
    assert document["changes"] == [{"note": "\ud800", "at": [1, 2]}]


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_journal_written_in_pieces_is_the_same(is_compressed: bool, path: str, tmp_path: Path) -> None:
    data = gzip.compress(OLD * 40_000, compresslevel=0) if is_compressed else OLD
    Path(path).write_bytes(data)
    patches, changes = (Patch(0, 1, b"ab"), Patch(2, 3, b"")), [{"note": "\ud800"}, {"note": "ü"}]
    digests = Digests(digest_of(path), Digest("0" * 64, 15))
    source = Source("a", path)
    whole = save(entry(source, patches, digests, changes), str(tmp_path / "whole"))
    pieces = save_repair(source, patches, digests, iter(changes), str(tmp_path / "pieces"))
    assert Path(whole).read_bytes() == Path(pieces).read_bytes()
    document = json.loads(Path(pieces).read_bytes())
    assert len(document["edits"]) == 2
    assert document["original"] == (base64.b64encode(data).decode() if is_compressed else None)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_a_full_folder_for_temporary_files_leaves_the_file_as_it_is(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_full(*_: object, **__: object) -> IO[bytes]:
        return open("/dev/full", "wb", buffering=0)

    monkeypatch.setattr("tempfile.SpooledTemporaryFile", open_full)
    digests = Digests(digest_of(path), Digest("0" * 64, 15))
    with pytest.raises(WriteError, match=r"temporary file: the disk is full; .*a\.jsonl is unchanged"):
        save_repair(Source("a", path), (Patch(0, 1, b"ab"),), digests, (), None)


@pytest.mark.parametrize(
    ("old", "new", "kept"), [("aüb", "aļb", "ü"), ("aüb", "aýb", "ü"), ("süß", "süss", "ß"), ("ü", "", "ü"), ("", "ü", "")]
)  # fmt: skip
def test_only_differences_are_stored_and_no_character_is_cut(
    old: str, new: str, kept: str, path: str
) -> None:
    Path(path).write_bytes(f"<{old}>".encode())
    digest = digest_of(path)
    patch = Patch(1, 1 + len(old.encode()), new.encode())
    [edit] = entry(Source("a", path), (patch,), Digests(digest, digest), ()).edits
    assert edit.text == kept


def test_the_same_fix_writes_the_same_journal(path: str, state: Path) -> None:
    seen = []
    for moment in (1, 2):
        Path(path).write_bytes(OLD)
        os.utime(path, (moment, moment))
        fix(path)
        [kept] = state.iterdir()
        seen.append((kept.name, kept.read_bytes()))
    assert seen[0] == seen[1]


def test_a_file_that_is_no_journal_is_not_overwritten(path: str, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_bytes(b'{"role": "user"}\n')
    with pytest.raises(WriteError, match=r"is not a journal; name another place with --journal"):
        fix(path, where=str(tmp_path / "mine.jsonl"))
    assert (tmp_path / "mine.jsonl").read_bytes() == b'{"role": "user"}\n'
    with pytest.raises(WriteError, match=r"is a directory|no regular file|no permission"):
        fix(path, where=str(tmp_path))
    with pytest.raises(WriteError, match=r"cannot be written: no such file or directory; .* is unchanged"):
        fix(path, where=str(tmp_path / "none" / "journal"))
    assert Path(path).read_bytes() == OLD


@posix
def test_only_the_user_can_read_journals(path: str, state: Path, tmp_path: Path) -> None:
    usual = os.umask(0)
    try:
        fix(path)
        Path(path).write_bytes(OLD)
        fix(path, where=str(tmp_path / "journal"))
    finally:
        os.umask(usual)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    for file in (*state.iterdir(), tmp_path / "journal"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "/home/u/.local/state/turnlint/journal"),
        ("linux", {"XDG_STATE_HOME": "/var/s"}, "/var/s/turnlint/journal"),
        ("linux", {"XDG_STATE_HOME": "not/absolute"}, "/home/u/.local/state/turnlint/journal"),
        ("linux", {"XDG_STATE_HOME": "/var/s", "TURNLINT_STATE_DIR": "/mine"}, "/mine"),
        ("darwin", {}, "/home/u/Library/Application Support/turnlint/journal"),
        ("win32", {"LOCALAPPDATA": "/c/local"}, "/c/local/turnlint/journal"),
        ("win32", {}, "/home/u/AppData/Local/turnlint/journal"),
    ],
)
def test_journals_are_in_the_state_folder_of_each_system(
    platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_STATE_HOME", "TURNLINT_STATE_DIR", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/u", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert state_folder() == expected
