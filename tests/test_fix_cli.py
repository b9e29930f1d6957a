"""`turnlint fix` for scripts: options, output files, errors, and exit codes."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner

from broken_logs import BROKEN, FOREIGN, OPEN, SOUND, TORN, fix, fixed, log, settle
from commands import run_cli
from turnlint.cli.fix import command
from turnlint.cli.undo import command as undo
from turnlint.errors import SourceError

PACKINGS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (gzip.compress, gzip.decompress),
    ".zst": (zstandard.compress, lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


# Exit codes.


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["sound.jsonl"], 0),
        (["broken.jsonl"], 0),
        (["broken.jsonl", "--check"], 1),
        (["broken.jsonl", "--diff"], 1),
        (["broken.jsonl", "--diff", "--check"], 1),
        (["sound.jsonl", "--check"], 0),
        (["sound.jsonl", "--diff"], 0),
        (["broken.jsonl", "--level", "lossless"], 1),
        (["broken.jsonl", "--level", "lossless", "--fail-on", "never"], 0),
        (["broken.jsonl", "--level", "lossless", "--check", "--fail-on", "never"], 1),
        (["broken.jsonl", "-o", "new.jsonl"], 0),
        (["broken.jsonl", "-o", "-"], 0),
        (["."], 1),
        (["*.jsonl", "--check"], 1),
        (["hard.jsonl"], 1),
        (["hard.jsonl", "-o", "-"], 1),
        (["hard.jsonl", "--report", "r.json"], 1),
        (["hard.jsonl", "--fail-on", "never"], 0),
        (["open.jsonl"], 0),
        (["open.jsonl", "--fail-on", "warning"], 1),
        (["open.jsonl", "--fail-on", "warning", "--close-pending"], 0),
        (["foreign.jsonl"], 3),
        (["foreign.jsonl", "-o", "-"], 3),
        (["foreign.jsonl", "sound.jsonl"], 0),
        (["none*.jsonl"], 3),
        ([], 2),
        (["missing.jsonl"], 2),
        (["sound.jsonl", "--level", "bold"], 2),
        (["sound.jsonl", "--select", "PA999"], 2),
        (["sound.jsonl", "--provider", "antropic"], 2),
    ],
)
def test_exit_codes(folder: Path, arguments: list[str], code: int) -> None:
    (folder / "open.jsonl").write_bytes(log(OPEN))
    (folder / "hard.jsonl").write_bytes(SOUND + TORN + SOUND)
    run = fix(*arguments)
    assert run.exit_code == code, run.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["broken.jsonl", "sound.jsonl", "-o", "new.jsonl"], "-o needs exactly one input file"),
        ([".", "-o", "new.jsonl"], "-o needs exactly one input file"),
        (["broken.jsonl", "-o", "broken.jsonl"], "omit -o to fix it in place"),
        (["broken.jsonl", "-o", "link.jsonl"], "omit -o to fix it in place"),
        (["broken.jsonl", "-o", "new.jsonl", "--check"], "cannot be combined with -o"),
        (["broken.jsonl", "-o", "new.jsonl", "--diff"], "cannot be combined with -o"),
        (["broken.jsonl", "--journal", "j", "--no-journal"], "--journal and --no-journal cannot be combined"),
        (["broken.jsonl", "--journal", "broken.jsonl"], "--journal broken.jsonl is the input file"),
        (["sound.jsonl", "broken.jsonl", "--journal", "link.jsonl"], "is the input file"),
        (
            ["broken.jsonl", "--journal", "j", "-o", "new.jsonl"],
            "works only for files that are fixed in place",
        ),
        (["-", "--journal", "j"], "works only for files that are fixed in place"),
        (["broken.jsonl", "--journal", "-"], "--journal needs a file name"),
        (["broken.jsonl", "--report", "broken.jsonl"], "--report broken.jsonl is the input file"),
        (["broken.jsonl", "--report", "no/such/r.json"], "no such folder"),
        (["broken.jsonl", "--report", "x", "--journal", "x"], "two outputs have the same file name"),
        (["-", "--report", "-"], "cannot carry both a transcript and the report"),
        (["broken.jsonl", "--diff", "--report", "-"], "cannot carry both a diff and the report"),
        (
            ["broken.jsonl", "--canonical", "--provider", "mistral"],
            "--canonical and --provider cannot be combined",
        ),
        (["broken.jsonl", "--level", "losless"], "did you mean 'lossless'"),
    ],
)
def test_incompatible_options_are_refused_before_any_change(
    folder: Path, arguments: list[str], words: str
) -> None:
    (folder / "link.jsonl").symlink_to(folder / "broken.jsonl")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run = fix(*arguments, stdin=BROKEN)
    assert run.exit_code == 2
    assert words in " ".join(run.stderr.split()), run.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# Output.


def test_a_file_is_fixed_in_place_and_restored(folder: Path) -> None:
    path = folder / "broken.jsonl"
    run = fix("broken.jsonl")
    assert path.read_bytes() == fixed() != BROKEN
    printed = run.stdout.partition("to undo: ")[2]
    assert printed.split()[:4] == ["turnlint", "undo", "broken.jsonl", "(journal:"]
    assert printed.startswith("turnlint undo broken.jsonl\n")
    again = fix("broken.jsonl")
    assert (again.exit_code, again.stdout) == (0, "1 file: nothing to repair\n")
    assert CliRunner().invoke(undo, ["broken.jsonl"]).exit_code == 0
    assert path.read_bytes() == BROKEN


def test_the_printed_undo_command_restores_the_file(folder: Path) -> None:
    (folder / "-a b.jsonl").write_bytes(BROKEN)
    for arguments in (
        ["./-a b.jsonl"],
        ["./-a b.jsonl", "--journal", "j'.jsonl"],
        ["broken.jsonl", "./-a b.jsonl"],
    ):
        printed = fix(*arguments).stdout.partition("to undo: ")[2].splitlines()[0]
        words = printed.partition(" (")[0]
        done = subprocess.run(["sh", "-c", words], capture_output=True, check=False, env=os.environ)
        assert done.returncode == 0, (words, done.stderr)
        assert (folder / "-a b.jsonl").read_bytes() == BROKEN


@pytest.mark.parametrize("arguments", [["--check"], ["--diff"], ["--check", "--diff"]])
def test_a_dry_run_writes_nothing(folder: Path, tmp_path: Path, arguments: list[str]) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert fix("broken.jsonl", "sound.jsonl", *arguments).exit_code == 1
    assert fix("-", *arguments, stdin=BROKEN).exit_code == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("suffix", ["", *PACKINGS])
def test_another_file_is_packed_according_to_its_name(folder: Path, suffix: str) -> None:
    run = fix("broken.jsonl", "-o", f"new.jsonl{suffix}")
    unpack = PACKINGS[suffix][1] if suffix else bytes
    assert unpack((folder / f"new.jsonl{suffix}").read_bytes()) == fixed()
    assert (folder / "broken.jsonl").read_bytes() == BROKEN
    assert f"written to new.jsonl{suffix}" in run.stdout
    assert "undo" not in run.output


def test_another_file_is_written_even_without_changes(folder: Path) -> None:
    for name, data in {"sound": SOUND, "foreign": FOREIGN}.items():
        fix(f"{name}.jsonl", "-o", f"new-{name}.jsonl")
        assert (folder / f"new-{name}.jsonl").read_bytes() == data
        fix("-", "-o", f"newer-{name}.jsonl", stdin=data)
        assert (folder / f"newer-{name}.jsonl").read_bytes() == data
    mode = (folder / "newer-sound.jsonl").stat().st_mode & 0o777
    (folder / "touched").touch()
    assert mode == (folder / "touched").stat().st_mode & 0o777


def test_standard_input_goes_to_standard_output_and_the_summary_to_standard_error() -> None:
    run = fix("-", "--stdin-filename", "live.jsonl", stdin=BROKEN)
    assert (run.exit_code, run.stdout_bytes) == (0, fixed())
    assert run.stderr.startswith("live.jsonl: 5 conversations repaired: ")
    assert "undo" not in run.stderr
    assert fix("broken.jsonl", "-o", "-").stdout_bytes == run.stdout_bytes


@pytest.mark.parametrize("data", [SOUND, FOREIGN, b"", b"no JSON", b"\x00\xff", SOUND[:-1], SOUND + TORN])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])
def test_sound_input_passes_through_byte_for_byte(data: bytes, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(data)
    assert fix("-", stdin=packed).stdout_bytes == packed


@pytest.mark.parametrize("suffix", PACKINGS)
def test_packed_input_gives_packed_output(folder: Path, suffix: str) -> None:
    pack, unpack = PACKINGS[suffix]
    (folder / f"a.jsonl{suffix}").write_bytes(pack(BROKEN))
    for run in (fix("-", stdin=pack(BROKEN)), fix(f"a.jsonl{suffix}", "-o", "-")):
        assert run.stdout_bytes[:2] == pack(b"")[:2]
        assert unpack(run.stdout_bytes) == fixed()
    assert fix(f"a.jsonl{suffix}").exit_code == 0
    assert unpack((folder / f"a.jsonl{suffix}").read_bytes()) == fixed()


def test_truncated_packed_data_stay_unchanged(folder: Path) -> None:
    torn = gzip.compress(BROKEN * 50, 1)[:-40]
    run = fix("-", stdin=torn)
    assert (run.exit_code, run.stdout_bytes) == (2, torn)
    assert "the compressed data are truncated" in run.stderr
    (folder / "torn.jsonl.gz").write_bytes(torn)
    run = fix("torn.jsonl.gz", "broken.jsonl")
    assert run.exit_code == 2
    assert (folder / "torn.jsonl.gz").read_bytes() == torn
    assert (folder / "broken.jsonl").read_bytes() == fixed()
    assert "1 not read or not written (see above)" in run.stdout


def test_an_unknown_format_is_reported_and_stays_unchanged() -> None:
    run = fix("foreign.jsonl", "sound.jsonl")
    assert "turnlint: foreign.jsonl: unrecognized format; " in run.stderr
    assert "unchanged" in run.stderr
    assert run.stdout == "1 file: nothing to repair; 1 file skipped: unrecognized format\n"
    assert "foreign" not in fix(".").stderr


def test_a_pipe_is_read_once_and_not_written_in_place(folder: Path) -> None:
    if not Path("/dev/fd").is_dir():
        pytest.skip("there are no pipes with names here")
    for arguments in (["-o", "-"], ["-o", "new.jsonl"], ["--check"], []):
        reading, writing = os.pipe()
        command = [
            sys.executable,
            "-m",
            "turnlint",
            "fix",
            "--level",
            "lossy",
            f"/dev/fd/{reading}",
            *arguments,
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[reading], cwd=folder
        ) as run:
            os.close(reading)
            with open(writing, "wb") as pipe:
                pipe.write(BROKEN)
            out, err = run.communicate(timeout=60)
        assert run.returncode == {"-o": 0, "--check": 1}.get(arguments[0] if arguments else "", 2), err
        if arguments == ["-o", "-"]:
            assert out == fixed()
    assert b"is not a regular file; write elsewhere with -o" in err
    assert (folder / "new.jsonl").read_bytes() == fixed()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("arguments", [["-o", "-"], ["-o", "new.jsonl"], ["--check"], []], ids=" ".join)
def test_a_named_pipe_is_refused_without_waiting_for_its_writer(folder: Path, arguments: list[str]) -> None:
    os.mkfifo(folder / "pipe")
    run = run_cli("fix", "--level", "lossy", "pipe", *arguments)
    assert run.returncode == 2
    assert run.stderr.startswith(b"turnlint: pipe: is a named pipe, not a file\n")
    assert not (folder / "new.jsonl").exists()


# Errors.


def test_a_file_that_another_program_writes_stays_and_the_others_are_fixed(folder: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux reports open files")
    (folder / "busy.jsonl").write_bytes(BROKEN)
    with (folder / "busy.jsonl").open("ab"):
        run = fix("busy.jsonl", "broken.jsonl")
    assert run.exit_code == 2
    assert "turnlint: busy.jsonl is open for writing in another program" in run.stderr
    assert (folder / "busy.jsonl").read_bytes() == BROKEN
    assert (folder / "broken.jsonl").read_bytes() == fixed()
    assert fix("busy.jsonl").exit_code == 0


def test_a_file_whose_journal_cannot_be_written_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = fix("broken.jsonl", "--journal", "no/such/folder.jsonl")
    assert run.exit_code == 2
    assert "the journal no/such/folder.jsonl cannot be written" in run.stderr
    monkeypatch.setenv("TURNLINT_STATE_DIR", str(folder / "sound.jsonl"))
    run = fix("broken.jsonl")
    assert run.exit_code == 2
    assert "another place with --journal" in run.stderr
    assert (folder / "broken.jsonl").read_bytes() == BROKEN
    assert fix("broken.jsonl", "--no-journal").exit_code == 0
    assert (folder / "broken.jsonl").read_bytes() == fixed()


def test_a_journal_that_was_named_is_used_and_found(folder: Path, tmp_path: Path) -> None:
    (folder / "b.jsonl").write_bytes(BROKEN)
    run = fix("broken.jsonl", "b.jsonl", "--journal", "fixes.jsonl")
    assert "to undo: turnlint undo --journal fixes.jsonl PATH... (journal: fixes.jsonl)" in run.stdout
    assert not (tmp_path / "state").exists()
    assert len((folder / "fixes.jsonl").read_bytes().splitlines()) == 2
    assert CliRunner().invoke(undo, ["--journal", "fixes.jsonl", "b.jsonl", "broken.jsonl"]).exit_code == 0
    assert (folder / "b.jsonl").read_bytes() == (folder / "broken.jsonl").read_bytes() == BROKEN
    run = fix("broken.jsonl", "--no-journal")
    assert "undo" not in run.output
    assert CliRunner().invoke(undo, ["broken.jsonl"]).exit_code == 2


def test_a_repair_that_cannot_be_verified_is_not_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "turnlint.repair.fixing.fault_of", lambda *_: "it would\n::error::lose \x1b[2Jsomething"
    )
    run = fix("broken.jsonl", "--report", "r.json")
    assert run.exit_code == 4
    assert (folder / "broken.jsonl").read_bytes() == BROKEN
    lines = run.stdout.splitlines()
    assert lines[0] == "broken.jsonl: unchanged"
    assert "  line 1: unchanged: it would \\u{3a}:error::lose \\u{1b}[2Jsomething" in lines
    assert "5 conversations could not be repaired safely" in run.stdout
    report = json.loads((folder / "r.json").read_text())
    assert report["complete"] is False
    assert [item["line"] for item in report["files"][0]["not_verified"]] == [1, 2, 3, 4, 5]
    assert fix("-", stdin=BROKEN).stdout_bytes == BROKEN


@pytest.mark.parametrize(
    "wrong", [RuntimeError("rule"), SourceError("a", "it changed"), OSError(5, "Broken disk")]
)
def test_input_bytes_are_written_unchanged_if_fix_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch, wrong: Exception
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise wrong

    monkeypatch.setattr("turnlint.cli.fix_one.fix", fails)
    code = 4 if isinstance(wrong, RuntimeError) else 2
    run = fix("-", stdin=BROKEN)
    assert (run.exit_code, run.stdout_bytes) == (code, BROKEN)
    run = fix("broken.jsonl", "sound.jsonl", "--report", "r.json")
    assert (run.exit_code, (folder / "broken.jsonl").read_bytes()) == (code, BROKEN)
    assert run.stderr.count("turnlint: ") == 2, "the next file is tried all the same"
    assert json.loads((folder / "r.json").read_text())["complete"] is False


def test_an_interrupted_run_reports_its_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from turnlint.cli import fix_one

    real = fix_one.fix

    def stopped(source: Any, *more: Any, **named: Any) -> Any:
        if source.name == "sound.jsonl":
            raise KeyboardInterrupt
        return real(source, *more, **named)

    monkeypatch.setattr(fix_one, "fix", stopped)
    run = CliRunner().invoke(
        command, ["broken.jsonl", "sound.jsonl", "--report", "r.json", "--level", "lossy"]
    )
    assert run.exit_code == 1
    assert "Aborted!" in run.stderr
    assert "1 file repaired" in run.stdout
    report = json.loads((folder / "r.json").read_text())
    assert (report["complete"], [file["path"] for file in report["files"]]) == (False, ["broken.jsonl"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "arguments", [["broken.jsonl"], ["broken.jsonl", "--diff"], ["broken.jsonl", "-o", "-"]]
)
def test_a_closed_output_stops_no_repair(folder: Path, arguments: list[str]) -> None:
    (folder / "broken.jsonl").write_bytes(BROKEN * 100)
    program = (
        "import os, sys; r, w = os.pipe(); os.dup2(w, 1); os.close(r); os.close(w)\n"
        f"sys.argv = ['turnlint', 'fix', '--level', 'lossy', *{arguments!r}]\nfrom turnlint.cli import main\nmain()\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, env=os.environ)
    assert run.returncode == (1 if "--diff" in arguments else 0), run.stderr
    assert b"Traceback" not in run.stderr
    changed = (folder / "broken.jsonl").read_bytes() != BROKEN * 100
    assert changed is (arguments == ["broken.jsonl"])


def test_a_closed_standard_input_is_reported() -> None:
    run = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m turnlint fix - <&-"],
        capture_output=True,
        check=False,
        env=os.environ,
    )
    assert run.returncode == 2
    assert b"Traceback" not in run.stderr
