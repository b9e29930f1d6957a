"""Repair one source for `turnlint fix`: in place, to another file, to standard output, or without writing.

Where a repair is impossible, standard output gets the input unchanged.
"""

import os
import sys
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, field, structs

from turnlint.cli.look import is_terminal
from turnlint.documents.piped import at_rest
from turnlint.documents.source import Progress, Source, packing_at
from turnlint.engine import Book, Options
from turnlint.errors import DecompressionError, SourceError, WriteError
from turnlint.keeping import journal, last_run
from turnlint.keeping.disk import Digests, Stamp, replace, stamp, write_to
from turnlint.keeping.packing import packed
from turnlint.keeping.patches import changed, patched
from turnlint.keeping.system import ELSEWHERE
from turnlint.repair.choosing import Policy
from turnlint.repair.history import History, Index
from turnlint.repair.outcome import Fixed
from turnlint.repair.passes import Linter, fix
from turnlint.report import Look
from turnlint.report.escape import visible
from turnlint.report.repaired import Done

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turnlint.report.unified import Reader

_PIECE = 1 << 20
STDOUT = "-"


class Way(Struct, frozen=True):
    """The output of a repair."""

    write: bool = True
    diff: str = ""
    """Kind of the diff, or empty."""
    output: str | None = None
    journal: str | None = None
    keep: bool = True
    """Whether a journal is written."""
    form: str = ""
    """The form to write, if it is not that of the source."""

    def to_stdout(self, source: Source) -> bool:
        """Whether the bytes go to standard output: for standard input that is the default."""
        return self.write and (self.output == STDOUT or (self.output is None and source.path is None))


class Pipe:
    """Standard output or standard error. After the reader closed it, output is discarded."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.open = True

    def line(self, text: str) -> None:
        self._write(self.stream, f"{text}\n")

    def bytes(self, data: bytes) -> None:
        self._write(self.stream.buffer, data)

    def flush(self) -> None:
        self._write(self.stream, "")

    def _write(self, stream: Any, data: Any) -> None:
        if not self.open:
            return
        try:
            stream.write(data)
            if stream is self.stream:
                stream.flush()
        except BrokenPipeError:
            self.open = False


class Run(Struct, frozen=True):
    """Values that all sources share."""

    options: Options
    book: Book
    policy: Policy
    way: Way
    look: Look
    out: Pipe
    linter: Linter | None = None
    """Function that lints the result as `turnlint lint` with these options."""
    last: last_run.LastRun = field(default_factory=last_run.LastRun)
    history: Index = field(default_factory=lambda: Index(()))
    """The calls in the files of `--history`."""
    tells_all: bool = False
    """Whether the report lists all conversations."""


def repair(run: Run, source: Source, progress: Progress | None) -> Done:
    """Repair one source. A failure is stored in the result, so that the next source can be repaired."""
    done = Done(source.name)
    try:
        with at_rest(source) as still:
            _repair(run, source, still, done, progress)
    except (SourceError, WriteError) as error:
        done.problem = str(error)
    return done


def _repair(run: Run, source: Source, still: Source, done: Done, progress: Progress | None) -> None:
    try:
        before = _stamp(still)
        fixed = done.fixed = _fixed(run, source, still, before, done, progress)
        if fixed.failures and _stamp(still) != before:  # the passes saw different bytes
            done.fixed = None
            raise changed(source.name)
        done.changed = bool(fixed.patches)
        if run.way.diff:
            _show(run, fixed)
        elif run.way.form:
            _write_form(run, source, still, done)
        elif run.way.write:
            _write(run, source, still, before, done)
    except (SourceError, WriteError) as error:
        done.problem = str(error)
        done.changed = done.wrote = False
        if run.way.to_stdout(source):
            _pass_on(still, run.out)
    if done.fixed:
        done.fixed.patches = []  # they may be as large as the file, and there may be many files


def _stamp(still: Source) -> Stamp:
    assert still.path is not None
    try:
        return stamp(still.path)
    except OSError as error:
        raise SourceError(still.name, _reason(error)) from None


def _fixed(
    run: Run, source: Source, still: Source, before: Stamp, done: Done, progress: Progress | None
) -> Fixed:
    try:
        book = run.book.with_history(History(run.history, source.path))
        fixed = fix(still, run.options, book, run.policy, progress, run.linter, tells_all=run.tells_all)
    except (SourceError, WriteError):
        raise
    except OSError as error:
        raise SourceError(still.name, _reason(error)) from None
    except DecompressionError as damage:
        raise SourceError(still.name, str(damage)) from None
    except Exception as error:
        if os.environ.get("TURNLINT_TRACEBACK"):
            raise
        if _stamp(still) != before:
            raise changed(still.name) from None
        done.crashed = True
        raise SourceError(still.name, f"a rule or a parser crashed ({type(error).__name__})") from None
    if fixed.problem:
        raise fixed.problem
    return fixed


def _reason(error: OSError) -> str:
    return (error.strerror or "cannot be read").lower()


def _show(run: Run, fixed: Fixed) -> None:
    try:
        if run.way.diff == "unified":
            from turnlint.report.unified import patch_of

            for piece in patch_of(fixed, reader=_reader()):
                run.out.bytes(piece)
            return
        if run.way.diff == "semantic":
            from turnlint.report.semantic import differences as shown
        else:
            from turnlint.report.changes import changes as shown
        lines = list(shown(fixed, run.look))
    except OSError as error:
        raise SourceError(fixed.source.name, _reason(error)) from None
    for line in lines:
        run.out.line(line)


def _reader() -> "Reader":
    """Return the reader of standard output: a terminal or the log of a build shows it; a pipe may lead to either."""
    if is_terminal(sys.stdout):
        return "screen"
    try:
        is_file = S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return "file"
    return "file" if is_file else "screen" if os.environ.get("CI") else "pipe"


def _write(run: Run, source: Source, still: Source, before: Stamp, done: Done) -> None:
    way, fixed = run.way, done.fixed
    assert fixed is not None
    if way.to_stdout(source):
        _to_stdout(still, fixed, run.out)
        done.to = STDOUT
    elif way.output is not None:
        # Standard input has no permissions to copy: the new file gets the default ones.
        like = still if still is source else Source(source.name, None)
        write_to(way.output, patched(still, fixed.patches), like=like)
        done.to = way.output
    elif fixed.patches:
        if still is not source:
            raise WriteError(f"{source.name} is not a regular file", ELSEWHERE)
        if fixed.bound:
            raise WriteError(f"{source.name} is not rewritten in place: {fixed.bound}", ELSEWHERE)
        replace(
            still, fixed.patches, expected=before, before_replace=lambda digests: _keep(way, done, digests)
        )
        _note(run, done)
    else:
        return
    done.wrote = True


def _write_form(run: Run, source: Source, still: Source, done: Done) -> None:
    """Write the conversations in the canonical form."""
    from turnlint.canonical_form.conversion import converted

    assert done.fixed is not None
    if done.fixed.foreign:
        return
    with converted(still, done.fixed, run.options, run.policy) as (pieces, done.form):
        if run.way.to_stdout(source):
            for piece in pieces:
                run.out.bytes(piece)
            done.to = STDOUT
        else:
            assert run.way.output is not None
            write_to(run.way.output, pieces, like=Source(source.name, None))
            done.to = run.way.output
    done.wrote = done.changed = True
    done.fixed.failures += done.form.failures


def _keep(way: Way, done: Done, digests: Digests) -> None:
    if way.keep and done.fixed:
        changes = map(structs.asdict, done.fixed.changes)
        done.journal = journal.save_repair(
            done.fixed.source, done.fixed.patches, digests, changes, way.journal
        )
        done.own_journal = way.journal is not None


def _note(run: Run, done: Done) -> None:
    """Record a replaced file for `turnlint undo --last`."""
    if done.fixed is None or done.fixed.source.path is None:
        return
    if done.journal is None:
        last_run.forget()
    else:
        run.last.add(done.fixed.source.path, done.journal if done.own_journal else None)


def _to_stdout(still: Source, fixed: Fixed, out: Pipe) -> None:
    """Write the result to standard output, compressed as the source was.

    Compressed output is complete before it is written, so that a damaged source gives no partial output.
    """
    assert still.path is not None
    packing = packing_at(still.path)
    if not fixed.patches:
        _pass_on(still, out)
        return
    pieces: Iterable[bytes] = patched(still, fixed.patches)
    if packing is None:
        for piece in pieces:
            out.bytes(piece)
        return
    from tempfile import TemporaryFile

    with TemporaryFile(prefix="turnlint-") as file:
        for piece in packed(pieces, packing):
            file.write(piece)
        file.seek(0)
        while piece := file.read(_PIECE):
            out.bytes(piece)


def _pass_on(still: Source, out: Pipe) -> None:
    """Write the bytes unchanged."""
    assert still.path is not None
    with open(still.path, "rb") as file:
        while piece := file.read(_PIECE):
            out.bytes(piece)


def tell(done: Done) -> None:
    """Report a failure on standard error."""
    if done.problem:
        click.echo(f"turnlint: {visible(done.problem)}", err=True)
