"""A changed file is complete or unchanged, under any failure."""

import errno
import gzip
import os
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tampering import Counted, failing, in_child, killed_at_each_call, names_of, only
from turnlint.documents.source import Source, find, open_source, wanted
from turnlint.errors import WriteError
from turnlint.keeping import disk, patches
from turnlint.keeping.disk import Digest, Patch, digest_of, is_open_for_writing, patched, replace, stamp
from turnlint.keeping.system import SYSTEM, System

OLD = b'{"role": "user"}\n' * 40
PATCHES = (Patch(2, 6, b"ROLE"), Patch(100, 100, b"more" * 30), Patch(300, 400, b""))
NEW = OLD[:2] + b"ROLE" + OLD[6:100] + b"more" * 30 + OLD[100:300] + OLD[400:]
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "a.jsonl": bytes,
    "a.jsonl.gz": gzip.compress,
    "a.jsonl.zst": zstandard.compress,
}
posix = pytest.mark.skipif(os.name != "posix", reason="permissions and forks are those of POSIX")
root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "a.jsonl"
    file.write_bytes(OLD)
    return str(file)


@pytest.fixture
def public() -> Iterator[str]:
    """A folder that any user can reach, unlike the folders of the test run."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)  # noqa: S103 - holds nothing but this test's file
        yield folder


def fix(path: str, system: System = SYSTEM, **more: Any) -> None:
    replace(Source(path, path), PATCHES, expected=stamp(path), system=system, **more)


def as_unprivileged_user(act: Callable[[], Any]) -> str:
    """Run an action as a user without special rights, and return its error."""

    def run_in_child() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            act()
        except WriteError as error:
            os.write(write, str(error).encode())

    read, write = os.pipe()
    assert in_child(run_in_child) == 0
    os.close(write)
    with open(read, "rb") as pipe:
        return pipe.read().decode()


@given(st.binary(max_size=300), st.lists(st.integers(0, 300)), st.lists(st.binary(max_size=9)), st.data())
def test_patched_is_slicing(old: bytes, cuts: list[int], texts: list[bytes], data: st.DataObject) -> None:
    cuts = sorted(min(cut, len(old)) for cut in cuts)
    spans = list(zip(cuts[::2], cuts[1::2], texts, strict=False))
    whole = old
    for start, end, text in reversed(spans):
        whole = whole[:start] + text + whole[end:]
    name = data.draw(st.sampled_from(sorted(PACKINGS)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        Path(path).write_bytes(PACKINGS[name](old))
        source = Source(path, path)
        wanted_patches = [Patch(*span) for span in spans]
        assert b"".join(patched(source, wanted_patches)) == whole
        digests = replace(source, wanted_patches, expected=stamp(path))
        assert b"".join(patched(source, ())) == whole
        assert digests.after == digest_of(path)
        assert os.listdir(folder) == [name]


def test_patched_stores_one_piece_at_a_time(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "PIECE", 16)
    pieces = list(patched(Source(path, path), PATCHES))
    assert b"".join(pieces) == NEW
    assert max(map(len, pieces)) == len(PATCHES[1].data)


@pytest.mark.parametrize(
    "wrong", [(Patch(5, 9, b""), Patch(8, 9, b"")), (Patch(5, 5, b""), Patch(0, 1, b"")), (Patch(2, 1, b""),)]
)
def test_patches_out_of_order_are_no_patches(path: str, wrong: tuple[Patch, ...]) -> None:
    with pytest.raises(ValueError, match="overlap or are out of order"):
        replace(Source(path, path), wrong, expected=stamp(path))
    assert Path(path).read_bytes() == OLD


@pytest.mark.parametrize("name", PACKINGS)
def test_a_repacked_file_does_not_depend_on_the_date(name: str, tmp_path: Path) -> None:
    seen = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / name
        path.write_bytes(PACKINGS[name](OLD))
        os.utime(path, (1, len(seen)))
        fix(str(path))
        with open_source(Source(name, str(path))) as stream:
            assert stream.read(1 << 20) == NEW
        seen.append(path.read_bytes())
    assert seen[0] == seen[1]
    assert seen[0][:2] == PACKINGS[name](OLD)[:2]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EACCES, errno.EPERM])
def test_a_failed_system_call_leaves_the_old_file_or_the_new_one(
    path: str, number: int, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "PIECE", 200)
    calls = names_of(lambda system: fix(path, system))
    assert {"open", "write", "fsync", "read", "chmod", "close", "replace", "stat"} <= set(calls)
    refused, run_in_child = set(), set()
    for at, name in enumerate(calls):
        Path(path).write_bytes(OLD)
        try:
            fix(path, Counted(at, failing(number, late=late)).system)
        except WriteError as error:
            assert Path(path).read_bytes() == OLD, name
            run_in_child.add(f"{path} is unchanged" in str(error))
            refused.add(name)
        else:
            assert Path(path).read_bytes() == NEW, name
        assert os.listdir(os.path.dirname(path)) == ["a.jsonl"], name
    assert {"open", "write", "fsync", "close", "replace"} <= refused
    assert run_in_child == {True}


@pytest.mark.slow
@posix
def test_a_kill_leaves_the_old_file_or_the_new_one(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "PIECE", 200)
    seen, rest = set(), set()
    for where in killed_at_each_call(lambda system: fix(path, system), lambda: only(path, OLD)):
        now = Path(path).read_bytes()
        assert now in (OLD, NEW), where
        seen.add(now)
        rest.update(os.listdir(os.path.dirname(path)))
        assert [source.name for source in find([os.path.dirname(path)])] == [path]
        Path(path).write_bytes(OLD)
        fix(path)  # files of the killed run do not disturb the next one
        assert Path(path).read_bytes() == NEW
    assert seen == {OLD, NEW}
    assert rest == {"a.jsonl", ".a.jsonl.turnlint-0000"}
    assert not wanted(".a.jsonl.turnlint-0000")


def test_a_disk_with_short_writes_gets_all_bytes(path: str) -> None:
    slow = structs.replace(SYSTEM, write=lambda file, data: os.write(file, data[:7]))
    fix(path, slow)
    assert Path(path).read_bytes() == NEW


def test_other_bytes_read_back_from_a_disk_are_an_error(path: str) -> None:
    forgetful = structs.replace(SYSTEM, read=lambda file, size: os.read(file, size).replace(b"more", b"less"))
    with pytest.raises(WriteError, match="returned different bytes"):
        fix(path, forgetful)
    assert Path(path).read_bytes() == OLD


def test_a_file_with_a_concurrent_change_stays(path: str) -> None:
    before = stamp(path)
    with open(path, "ab") as file:
        file.write(b"more\n")
    with pytest.raises(WriteError, match=r"changed while it was read; nothing was written; run again"):
        replace(Source(path, path), PATCHES, expected=before)
    assert Path(path).read_bytes() == OLD + b"more\n"


@pytest.mark.parametrize("moment", ["chmod", "journal"])
def test_a_file_that_changes_while_the_new_one_is_written_stays(path: str, moment: str) -> None:
    def append(*_: Any) -> None:
        with open(path, "ab") as file:
            file.write(b"more\n")

    more: dict[str, Any] = {
        "chmod": {"system": structs.replace(SYSTEM, chmod=append)}, "journal": {"before_replace": append}
    }  # fmt: skip
    with pytest.raises(WriteError, match="changed while it was read"):
        fix(path, **more[moment])
    assert Path(path).read_bytes() == OLD + b"more\n"
    assert os.listdir(os.path.dirname(path)) == ["a.jsonl"]


def test_a_patch_beyond_the_end_means_that_the_file_changed(path: str) -> None:
    for wrong in (Patch(len(OLD) + 1, len(OLD) + 1, b"x"), Patch(3, len(OLD) + 1, b"")):
        with pytest.raises(WriteError, match="changed while it was read"):
            replace(Source(path, path), (wrong,), expected=stamp(path))
    assert Path(path).read_bytes() == OLD


def test_a_refusal_of_the_journal_prevents_the_write(path: str) -> None:
    def refuse(digests: disk.Digests) -> None:
        assert digests.before == digest_of(path)
        assert digests.after == Digest(digests.after.sha256, len(NEW))
        raise WriteError("no room for the journal")

    with pytest.raises(WriteError, match="no room for the journal"):
        fix(path, before_replace=refuse)
    assert Path(path).read_bytes() == OLD
    assert os.listdir(os.path.dirname(path)) == ["a.jsonl"]


def test_a_file_that_another_program_writes_stays(path: str) -> None:
    if is_open_for_writing(path) is None:
        pytest.skip("this system does not report open files")
    assert is_open_for_writing(path) is False
    writer = subprocess.Popen(["tail", "-f", "/dev/null"], stdout=open(path, "ab"))  # noqa: SIM115 - given away
    try:
        assert is_open_for_writing(path) is True
        with pytest.raises(WriteError) as run_in_child:
            fix(path)
    finally:
        writer.kill()
        writer.wait()
    assert str(run_in_child.value) == (
        f"{path} is open for writing in another program, whose next lines would be lost; "
        "stop it, or write elsewhere with -o"
    )
    assert Path(path).read_bytes() == OLD


@pytest.mark.skipif(sys.platform != "linux", reason="leases are those of Linux")
def test_a_writer_that_opens_the_file_during_the_check_does_not_end_the_program(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel notifies the holder of a lease with a signal, and the default signal ends a program."""
    import fcntl

    usual = fcntl.fcntl
    opened = []

    def fcntl_with_writer(file: int, what: int, value: int = 0) -> int:
        answer = usual(file, what, value)
        if (what, value) == (fcntl.F_SETLEASE, fcntl.F_RDLCK):
            with pytest.raises(BlockingIOError):
                os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            opened.append(file)
        return answer

    def check_for_writers() -> None:
        is_open_for_writing(path)
        assert opened

    if is_open_for_writing(path) is None:
        pytest.skip("this disk has no leases")
    monkeypatch.setattr(fcntl, "fcntl", fcntl_with_writer)
    assert in_child(check_for_writers) == 0


def test_damaged_and_special_files_stay(tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(OLD)[:-9])
    before = cut.read_bytes()
    with pytest.raises(WriteError, match="the compressed data are truncated"):
        fix(str(cut))
    assert cut.read_bytes() == before
    with pytest.raises(WriteError, match="is not a regular file"):
        fix(str(tmp_path))
    with pytest.raises(WriteError, match="standard input cannot be replaced"):
        replace(Source("<stdin>", None), (), expected=stamp(str(cut)))


@posix
def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    real, link, other = tmp_path / "deep" / "real.jsonl", tmp_path / "a.jsonl", tmp_path / "other"
    real.write_bytes(OLD)
    link.symlink_to(real)
    os.link(real, other)
    fix(str(link))
    assert link.is_symlink()
    assert real.read_bytes() == NEW
    assert not real.is_symlink()
    assert other.read_bytes() == OLD, "another name of the old file keeps the old bytes"
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "deep", "other"]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o777, 0o2750])
def test_permissions_are_kept(path: str, mode: int) -> None:
    os.chmod(path, mode)
    fix(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == mode


@root
def test_ownership_is_kept_if_permitted(path: str) -> None:
    os.chown(path, 1234, 5678)
    os.chmod(path, 0o4664)
    fix(path)
    now = os.stat(path)
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (1234, 5678, 0o4664)


@root
@pytest.mark.parametrize(("allowed", "mode"), [(False, 0o644), (True, 0o664)])
def test_a_file_whose_group_is_lost_is_not_open_to_another_group(path: str, allowed: bool, mode: int) -> None:
    def chown(file: int, user: int, group: int) -> None:
        if user != -1 or not allowed:
            raise PermissionError(errno.EPERM, "not permitted")
        os.chown(file, user, group)

    os.chown(path, 1234, 5678)
    os.chmod(path, 0o4664)
    fix(path, structs.replace(SYSTEM, chown=chown))
    assert stat.S_IMODE(os.stat(path).st_mode) == mode


ACCESS = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, may, owner_id)
    for tag, may, owner_id in ((1, 6, 0xFFFFFFFF), (2, 4, 1234), (4, 0, 0xFFFFFFFF), (16, 4, 0xFFFFFFFF), (32, 0, 0xFFFFFFFF))
)  # fmt: skip
"""An access control list in the kernel's encoding: its owner and the user 1234."""


@pytest.mark.skipif(sys.platform != "linux", reason="attributes are reached on Linux only")
def test_extended_attributes_and_access_control_lists_are_kept(path: str) -> None:
    name = "system.posix_acl_access"
    try:
        os.setxattr(path, "user.origin", b"there")
        os.setxattr(path, name, ACCESS)
    except OSError:
        pytest.skip("this disk has none")
    fix(path)
    assert os.getxattr(path, "user.origin") == b"there"
    assert os.getxattr(path, name) == ACCESS
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640

    def refused(file: int | str, key: str, value: bytes) -> None:
        raise PermissionError(errno.EPERM, f"{file} {key} {value!r}")

    Path(path).write_bytes(OLD)
    fix(path, structs.replace(SYSTEM, setxattr=refused))
    assert os.listxattr(path) == []
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, "the list's mask is no group's right"


@pytest.mark.skipif(sys.platform != "linux", reason="attributes are reached on Linux only")
def test_default_permissions_of_a_folder_are_not_inherited(path: str) -> None:
    try:
        os.setxattr(os.path.dirname(path), "system.posix_acl_default", ACCESS)
    except OSError:
        pytest.skip("this disk has none")
    os.chmod(path, 0o640)
    fix(path)
    assert os.listxattr(path) == []
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640


@posix
def test_a_missing_write_permission_is_reported(public: str) -> None:
    path = os.path.join(public, "a.jsonl")
    Path(path).write_bytes(OLD)
    os.chmod(path, 0o444)
    assert as_unprivileged_user(lambda: fix(path)) == (
        f"{path} is read-only; make it writable, or write elsewhere with -o"
    )
    os.chmod(path, 0o646)  # noqa: S103 - any user but for the folder
    assert as_unprivileged_user(lambda: fix(path)) == (
        f"no permission to write in its folder; {path} is unchanged; write elsewhere with -o"
    )
    assert Path(path).read_bytes() == OLD
    assert os.listdir(public) == ["a.jsonl"]
