"""`-o` writes to another file than the input."""

import errno
import gzip
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from msgspec import structs

from tampering import Counted, failing, killed_at_each_call, names_of, only
from turnlint.documents.source import Source
from turnlint.errors import WriteError
from turnlint.keeping.disk import patched, write_to
from turnlint.keeping.system import SYSTEM, System

OLD, NEW = b"old\n" * 99, b"new\n" * 77
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "b.jsonl": bytes,
    "b.jsonl.gz": gzip.compress,
    "b.jsonl.zst": zstandard.compress,
}
posix = pytest.mark.skipif(os.name != "posix", reason="modes, pipes and forks are those of POSIX")


@pytest.fixture
def read(tmp_path: Path) -> Source:
    path = tmp_path / "a.jsonl"
    path.write_bytes(OLD)
    return Source("a.jsonl", str(path))


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("name", PACKINGS)
def test_a_file_is_packed_by_its_name(name: str, there: bool, read: Source, tmp_path: Path) -> None:
    target = tmp_path / name
    if there:
        target.write_bytes(b"something else")
    write_to(str(target), [NEW[:5], NEW[5:]], like=read)
    assert b"".join(patched(Source(name, str(target)), ())) == NEW
    assert target.read_bytes()[:2] == PACKINGS[name](NEW)[:2]
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", name]


def test_the_file_that_is_read_is_no_other_file(read: Source, tmp_path: Path) -> None:
    os.link(tmp_path / "a.jsonl", tmp_path / "same.jsonl")
    for name in ("a.jsonl", "same.jsonl"):
        with pytest.raises(WriteError, match="is the input file; omit -o to change it in place"):
            write_to(str(tmp_path / name), [NEW], like=read)
    assert (tmp_path / "a.jsonl").read_bytes() == OLD


@posix
@pytest.mark.parametrize(
    ("mode", "umask", "there", "expected"),
    [(0o640, 0o022, None, 0o640), (0o666, 0o027, None, 0o640), (0o755, 0o022, None, 0o644), (0o600, 0, 0o664, 0o664)],
)  # fmt: skip
def test_a_new_file_has_no_wider_permissions(
    mode: int, umask: int, there: int | None, expected: int, read: Source, tmp_path: Path
) -> None:
    target = tmp_path / "b.jsonl"
    os.chmod(tmp_path / "a.jsonl", mode)
    if there is not None:
        target.touch()
        os.chmod(target, there)
    usual = os.umask(umask)
    try:
        write_to(str(target), [NEW], like=read)
    finally:
        os.umask(usual)
    assert stat.S_IMODE(target.stat().st_mode) == expected


@posix
def test_a_link_stays(read: Source, tmp_path: Path) -> None:
    real, link, ahead = tmp_path / "real.jsonl", tmp_path / "link.jsonl", tmp_path / "ahead.jsonl"
    real.write_bytes(b"")
    link.symlink_to(real)
    ahead.symlink_to(tmp_path / "not yet.jsonl")
    for name in (link, ahead):
        write_to(str(name), [NEW], like=read)
        assert name.is_symlink()
        assert name.read_bytes() == NEW


@posix
def test_a_pipe_is_written_unpacked(read: Source, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    write_to(str(pipe), [NEW], like=read)
    assert reader.communicate()[0] == NEW
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader = subprocess.Popen(["head", "-c", "4", pipe], stdout=subprocess.PIPE)
    write_to(str(pipe), (NEW for _ in range(10_000)), like=read)  # the reader leaves early: no error message
    assert reader.communicate()[0] == NEW[:4]


@posix
def test_a_file_opened_for_append_is_not_replaced(read: Source, tmp_path: Path) -> None:
    target = tmp_path / "log.jsonl"
    target.write_bytes(b"before\n")
    program = (
        "from turnlint.documents.source import Source\n"
        "from turnlint.keeping.disk import write_to\n"
        f"write_to('/dev/stdout', [b'new\\n'], like=Source('a', {read.path!r}))\n"
    )
    with target.open("ab") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
    assert target.read_bytes() == b"before\nnew\n"


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no disk in memory")  # noqa: S108
def test_a_file_below_dev_is_a_file(read: Source) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for _ in ("new", "there"):
            write_to(f"{folder}/b.jsonl", [NEW], like=read)
            assert Path(folder, "b.jsonl").read_bytes() == NEW


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk to write to")
def test_a_full_disk_is_named(read: Source) -> None:
    with pytest.raises(WriteError, match="the disk is full"):
        write_to("/dev/full", [NEW], like=read)


def test_unwritable_targets_are_reported(read: Source, tmp_path: Path) -> None:
    (tmp_path / "fixed.jsonl").write_bytes(b"x")
    closed = structs.replace(SYSTEM, access=lambda *_: False)
    for name, system, word in (
        ("", SYSTEM, "is a folder; name a file"),
        ("none/b.jsonl", SYSTEM, "no such folder; make it first"),
        ("fixed.jsonl", closed, "is read-only; make it writable, or write elsewhere with -o"),
    ):
        with pytest.raises(WriteError, match=word):
            write_to(str(tmp_path / name), [NEW], like=read, system=system)
    assert (tmp_path / "fixed.jsonl").read_bytes() == b"x"


def test_without_zstd_the_error_names_the_package(
    read: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(
        WriteError, match=r"writing \.zst needs an extra package; pip install 'turnlint\[zstd\]'"
    ):
        write_to(str(tmp_path / "b.zst"), [NEW], like=read)
    assert os.listdir(tmp_path) == ["a.jsonl"]


@pytest.mark.parametrize("there", [False, True])
def test_a_failed_system_call_leaves_the_old_file(there: bool, read: Source, tmp_path: Path) -> None:
    target = tmp_path / "b.jsonl"

    def write(system: System) -> None:
        write_to(str(target), [NEW], like=read, system=system)

    before = {OLD} if there else {None}
    for at, name in enumerate(_prepared(target, there) or names_of(write)):
        _prepared(target, there)
        try:
            write(Counted(at, failing(errno.ENOSPC, late=False)).system)
        except WriteError:
            assert _now(target) in before, name
        else:
            assert _now(target) == NEW, name
        assert set(os.listdir(tmp_path)) <= {"a.jsonl", "b.jsonl"}, name


@pytest.mark.slow
@posix
def test_a_kill_leaves_the_old_file_or_the_new_one(read: Source, tmp_path: Path) -> None:
    target = tmp_path / "b.jsonl"

    def write(system: System) -> None:
        write_to(str(target), [NEW], like=read, system=system)

    seen = set()
    for where in killed_at_each_call(write, lambda: only(str(target), OLD)):
        seen.add(_now(target))
        assert seen <= {OLD, NEW}, where
    assert seen == {OLD, NEW}


def _prepared(target: Path, there: bool) -> None:
    if there:
        target.write_bytes(OLD)
    else:
        target.unlink(missing_ok=True)


def _now(target: Path) -> bytes | None:
    return target.read_bytes() if target.exists() else None
