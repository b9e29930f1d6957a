"""Undo restores the bytes before a fix exactly, or changes nothing."""

import gzip
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from errno import EACCES, ENOSPC
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from fixing import OLD, fix
from hostile import assert_safe
from tampering import Counted, failing, killed_at_each_call, names_of, only
from turnlint.cli.undo import command
from turnlint.errors import WriteError
from turnlint.keeping.disk import Patch
from turnlint.keeping.journal import Entry, Missing, find
from turnlint.keeping.restoring import restore
from turnlint.keeping.system import System

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "a.jsonl": bytes,
    "a.jsonl.gz": gzip.compress,
    "a.jsonl.zst": zstandard.compress,
}
posix = pytest.mark.skipif(os.name != "posix", reason="modes and forks are those of POSIX")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNLINT_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "a.jsonl"
    file.write_bytes(OLD)
    return str(file)


def undo(*arguments: str) -> Result:
    result = CliRunner().invoke(command, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert_safe(result.output.encode(), "text")
    return result


@pytest.mark.parametrize("name", PACKINGS)
def test_undo_restores_the_exact_bytes(name: str, tmp_path: Path, state: Path) -> None:
    path = tmp_path / name
    path.write_bytes(PACKINGS[name](OLD))
    old = path.read_bytes()
    assert fix(str(path)) != old
    done = undo(str(path))
    assert (done.exit_code, done.stdout) == (
        0,
        f"{path}: restored to the bytes before the fix (3 places changed back)\n",
    )
    assert path.read_bytes() == old
    assert list(state.iterdir()) == [], "a journal whose work is done goes"
    again = undo(str(path))
    assert (again.exit_code, again.stdout) == (2, "")
    assert again.stderr == f"turnlint: {path}: no journal for this file\n"


@settings(deadline=None)
@given(st.binary(max_size=300), st.lists(st.integers(0, 300)), st.lists(st.binary(max_size=9)), st.data())
def test_any_patches_are_undone(old: bytes, cuts: list[int], texts: list[bytes], data: st.DataObject) -> None:
    cuts = sorted(min(cut, len(old)) for cut in cuts)
    spans = zip(cuts[::2], cuts[1::2], texts, strict=False)
    patches = tuple(
        Patch(start, end, data.draw(st.sampled_from([text, old[start:end]]))) for start, end, text in spans
    )
    name = data.draw(st.sampled_from(sorted(PACKINGS)))
    with tempfile.TemporaryDirectory() as folder:
        path, where = os.path.join(folder, name), os.path.join(folder, "journal")
        Path(path).write_bytes(PACKINGS[name](old))
        before = Path(path).read_bytes()
        fix(path, patches=patches, where=where)
        found = find(path, where)
        assert isinstance(found, Entry)
        assert restore(path, found) == len(found.edits)
        assert Path(path).read_bytes() == before


def test_fixes_are_undone_in_reverse_order(path: str, tmp_path: Path) -> None:
    where = str(tmp_path / "journal")
    for chosen in (None, where):
        arguments = (path,) if chosen is None else (path, "--journal", chosen)
        states = [OLD, fix(path, where=chosen), fix(path, patches=(Patch(0, 9, b"new"),), where=chosen)]
        for state in reversed(states[:-1]):
            assert undo(*arguments).exit_code == 0
            assert Path(path).read_bytes() == state
        assert undo(*arguments).exit_code == 2
    assert len(Path(where).read_bytes().splitlines()) == 2


def test_one_journal_for_many_files(tmp_path: Path) -> None:
    where = str(tmp_path / "all.jsonl")
    paths = [str(tmp_path / f"{number}.jsonl") for number in range(3)]
    for number, path in enumerate(paths):
        Path(path).write_bytes(b"%d" % number + OLD)
        fix(path, where=where)
    Path(tmp_path / "moved.jsonl").write_bytes(Path(paths[2]).read_bytes())
    Path(paths[2]).unlink()
    done = undo(*paths, str(tmp_path / "moved.jsonl"), "--journal", where)
    assert done.exit_code == 2
    assert done.stderr == f"turnlint: {paths[2]}: no such file\n"
    for number, path in enumerate([*paths[:2], str(tmp_path / "moved.jsonl")]):
        assert Path(path).read_bytes() == b"%d" % number + OLD


def test_a_line_of_a_killed_run_is_skipped(path: str, tmp_path: Path) -> None:
    where = tmp_path / "journal"
    for torn in (
        b'{"schema": "turn',
        b'{"schema": "turnlint/journal-v1", "path": "' + path.encode() + b'", "be',
    ):
        where.write_bytes(torn)
        Path(path).write_bytes(OLD)
        assert undo(path, "--journal", str(where)).exit_code == 2
        fix(path, where=str(where))
        assert undo(path, "--journal", str(where)).exit_code == 0
        assert Path(path).read_bytes() == OLD


@pytest.mark.parametrize("in_file", [False, True])
def test_a_file_that_changed_since_stays(path: str, in_file: bool, tmp_path: Path) -> None:
    where = str(tmp_path / "journal") if in_file else None
    arguments = (path, "--journal", where) if where else (path,)
    fixed = fix(path, where=where)
    Path(path).write_bytes(fixed + b"more\n")
    done = undo(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"turnlint: {path}: the file changed after the fix; nothing was restored\n"
    assert Path(path).read_bytes() == fixed + b"more\n"
    Path(path).write_bytes(OLD)
    assert "already restored: the file is as it was before the fix" in undo(*arguments).stderr


def test_a_file_that_changes_during_undo_stays(path: str) -> None:
    fixed = fix(path)
    found = find(path, None)
    assert isinstance(found, Entry)
    Path(path).write_bytes(fixed + b"more\n")
    with pytest.raises(WriteError, match="changed while it was read"):
        restore(path, found)
    assert Path(path).read_bytes() == fixed + b"more\n"


WRONG: dict[str, tuple[int, Callable[[dict[str, Any]], Any]]] = {
    "another schema": (2, lambda journal: journal.update(schema="turnlint/journal-v9")),
    "no path": (2, lambda journal: journal.pop("path")),
    "no digest": (2, lambda journal: journal["before"].update(sha256="../../etc")),
    "negative offset": (2, lambda journal: journal["edits"][0].update(offset=-1)),
    "an offset that is a text": (2, lambda journal: journal["edits"][0].update(offset="1")),
    "edits that are none": (2, lambda journal: journal.update(edits=[[[]]])),
    "beyond the end": (4, lambda journal: journal["edits"][-1].update(length=10**30)),
    "edits out of order": (4, lambda journal: journal["edits"].reverse()),
    "other bytes": (4, lambda journal: journal["edits"][0].update(text="rule")),
    "a surrogate": (4, lambda journal: journal["edits"][0].update(text="\ud800")),
    "no bytes": (4, lambda journal: journal["edits"][2].pop("text")),
    "no base64": (
        4,
        lambda journal: (journal["edits"][2].pop("text"), journal["edits"][2].update(base64="%%%")),
    ),
    "no ASCII": (
        4,
        lambda journal: (journal["edits"][2].pop("text"), journal["edits"][2].update(base64="ü")),
    ),
    "an edit missing": (4, lambda journal: journal["edits"].pop()),
    "another before": (4, lambda journal: journal["before"].update(sha256="0" * 64)),
    "another size": (4, lambda journal: journal["before"].update(size=1)),
    "an original": (4, lambda journal: journal.update(original="aGk=")),
    "a broken original": (4, lambda journal: journal.update(original="a")),
}


SENTENCES = {
    "other bytes": "the bytes in the journal are not the removed ones; nothing was changed",
    "no base64": "the journal's bytes cannot be read; nothing was changed",
    "beyond the end": "the journal does not match the file; nothing was changed",
    "another size": "the journal does not restore the original bytes; nothing was changed",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_manipulated_journal_changes_nothing(wrong: str, path: str, state: Path) -> None:
    code, tamper = WRONG[wrong]
    fixed = fix(path)
    [kept] = state.iterdir()
    document = json.loads(kept.read_bytes())
    tamper(document)
    kept.write_text(json.dumps(document))
    done = undo(path)
    assert (done.exit_code, done.stdout) == (code, ""), done.output
    assert len(done.stderr.splitlines()) == 1
    assert SENTENCES.get(wrong, "journal") in done.stderr
    assert Path(path).read_bytes() == fixed
    assert set(os.listdir(os.path.dirname(path))) == {"a.jsonl", "state"}


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe", b"[" * 100_000, b"null", b"9" * 5000, b'{"schema": NaN}', b'{"path": "' + b"x" * 99],
)
def test_an_invalid_journal_is_reported(data: bytes, path: str, state: Path) -> None:
    fixed = fix(path)
    [kept] = state.iterdir()
    kept.write_bytes(data)
    done = undo(path)
    assert (done.exit_code, done.stderr) == (2, f"turnlint: {path}: its journal is damaged: {kept}\n")
    assert Path(path).read_bytes() == fixed


def test_an_impossible_undo_is_reported(path: str, tmp_path: Path) -> None:
    for arguments, word in (
        ((str(tmp_path),), "no journal for a file in this folder"),
        (("--last",), "no run of fix is recorded"),
        (("--last", path), "--last takes no PATH"),
        ((str(tmp_path / "none"),), "no such file"),
        ((path, "--journal", str(tmp_path / "none")), f"no journal {tmp_path / 'none'}"),
        (("-",), "standard input cannot be restored; name the file"),
        ((), "Missing argument"),
    ):
        done = undo(*arguments)
        assert done.exit_code == 2
        assert word in done.stderr


@posix
@pytest.mark.parametrize(
    "name", ["::error ::\u202e\x1b[31m\n.jsonl", os.fsdecode(b"\xff\xfe.jsonl"), "x" * 250, "ü" * 120]
)
def test_any_name_is_kept_and_shown_safely(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(OLD)
    assert undo(name).exit_code == 2
    fix(name)
    assert undo(name).exit_code == 0
    assert Path(name).read_bytes() == OLD


@pytest.mark.parametrize("number", [ENOSPC, EACCES])
@pytest.mark.parametrize("in_file", [False, True])
def test_no_file_is_changed_whose_journal_failed(
    in_file: bool, number: int, path: str, tmp_path: Path
) -> None:
    where = tmp_path / "journal"
    where.write_bytes(b"")
    chosen = str(where) if in_file else None
    for late in (False, True):
        for at, name in enumerate(names_of(lambda system: _fixed_again(path, chosen, system))):
            try:
                _fixed_again(path, chosen, Counted(at, failing(number, late=late)).system)
            except WriteError:
                assert Path(path).read_bytes() == OLD, name
                assert all(map(json.loads, where.read_bytes().splitlines())), "no half of a line stays"
            else:
                assert isinstance(find(path, chosen), Entry), name
            assert not [item for item in tmp_path.rglob("*") if "turnlint-" in item.name]


@pytest.mark.slow
@posix
@pytest.mark.sampled(2)
@pytest.mark.parametrize("in_file", [True, False])
def test_a_fix_that_remains_after_a_kill_can_be_undone(in_file: bool, path: str, tmp_path: Path) -> None:
    chosen = str(tmp_path / "journal") if in_file else None
    seen = set()

    def start() -> None:
        shutil.rmtree(tmp_path / "state", ignore_errors=True)
        (tmp_path / "journal").unlink(missing_ok=True)
        only(path, OLD)

    for where in killed_at_each_call(lambda system: fix(path, where=chosen, system=system), start):
        changed = Path(path).read_bytes() != OLD
        found = find(path, chosen)
        assert isinstance(found, Entry if changed else Missing), where
        if isinstance(found, Entry):
            restore(path, found)
            assert Path(path).read_bytes() == OLD
        seen.add(changed)
    assert seen == {True, False}


@pytest.mark.slow
@posix
def test_a_kill_during_undo_leaves_the_fixed_file_or_the_old_one(path: str) -> None:
    fixed = fix(path)
    found = find(path, None)
    assert isinstance(found, Entry)
    seen = set()
    for where in killed_at_each_call(lambda system: restore(path, found, system), lambda: only(path, fixed)):
        now = Path(path).read_bytes()
        assert now in (OLD, fixed), where
        seen.add(now)
    assert seen == {OLD, fixed}


@posix
def test_undo_keeps_links_and_permissions(path: str, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    os.chmod(path, 0o640)
    fix(path)
    assert undo(str(link)).exit_code == 0
    assert link.is_symlink()
    assert Path(path).read_bytes() == OLD
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640


def _fixed_again(path: str, where: str | None, system: System) -> None:
    Path(path).write_bytes(OLD)
    fix(path, where=where, system=system)


def test_a_folder_is_restored_with_all_files_of_its_journals(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    (logs / "deep").mkdir(parents=True)
    paths = [logs / "a.jsonl", logs / "deep" / "b.jsonl", logs / "c.jsonl", tmp_path / "outside.jsonl"]
    for path in paths:
        path.write_bytes(OLD)
    (logs / "link.jsonl").symlink_to(paths[0])
    for path in (*paths[:2], paths[3]):
        fix(str(path))
    done = undo(str(logs))
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "2 files restored")
    assert [path.read_bytes() == OLD for path in paths] == [True, True, True, False]
    assert undo(str(logs)).exit_code == 2
    for path in paths[:2]:
        fix(str(path))
    paths[0].write_bytes(b"new")
    done = undo(str(logs))
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (2, "1 of 2 files restored, 1 unchanged")
    assert "the file changed after the fix" in done.stderr


def test_a_folder_is_restored_from_a_named_journal(tmp_path: Path) -> None:
    where = str(tmp_path / "journal")
    paths = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for path in paths:
        path.write_bytes(OLD)
        fix(str(path), where=where)
    assert undo(str(paths[1]), "--journal", where).exit_code == 0
    done = undo(str(tmp_path), "--journal", where)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "2 files restored")
    assert {path.read_bytes() for path in paths} == {OLD}


def test_the_last_run_is_undone_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    from broken_logs import BROKEN
    from broken_logs import fix as run

    monkeypatch.chdir(tmp_path)
    names = ("a.jsonl", "b.jsonl", "c.jsonl")
    for name in names:
        Path(name).write_bytes(BROKEN)
    run("c.jsonl")
    first = Path("c.jsonl").read_bytes()
    run("a.jsonl", "b.jsonl", "c.jsonl", "--journal", "own.jsonl")
    done = undo("--last")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "2 files restored")
    assert [Path(name).read_bytes() for name in names] == [BROKEN, BROKEN, first]
    assert undo("--last").exit_code == 2
    run("a.jsonl")
    run("b.jsonl", "--no-journal")
    assert undo("--last").exit_code == 2
    assert undo("a.jsonl").exit_code == 0
    run("a.jsonl", "--check")
    run("a.jsonl")
    (state / "last-run.jsonl").write_bytes((state / "last-run.jsonl").read_bytes() + b'["half')
    assert undo("--last").exit_code == 0
    assert Path("a.jsonl").read_bytes() == BROKEN
