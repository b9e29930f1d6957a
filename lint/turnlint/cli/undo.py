"""`turnlint undo`: the options of the command, the files that it takes, and what it prints."""

import os

import click

from turnlint.cli import option
from turnlint.cli.folding import LEAST_WIDTH
from turnlint.cli.look import line_limit
from turnlint.documents.source import STDIN
from turnlint.errors import JournalMismatchError, WriteError
from turnlint.keeping.journal import AS_BEFORE, Missing, find, forget, known_in
from turnlint.keeping.last_run import changed_files
from turnlint.keeping.last_run import forget as forget_last_run
from turnlint.keeping.restoring import restore
from turnlint.report.escape import fold, line_start, visible

EXIT_NOT_DONE, EXIT_UNPROVEN = 2, 4


@click.command("undo", epilog="Example: turnlint undo session.jsonl")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@option("--last", is_flag=True, help="Restore all files that the last run of fix changed.")
@option(
    "--journal", metavar="FILE",
    help="Journal that `turnlint fix --journal FILE` wrote. Default: the journal that fix keeps for the file.",
)  # fmt: skip
def command(paths: tuple[str, ...], last: bool, journal: str | None) -> None:
    """Undo the last fix of a file.

    PATH is a file that `turnlint fix` changed, or a folder with such files. A file that something else changed since
    then stays as it is. The others get back exactly the bytes that they had. After several fixes, each undo reverts
    one of them.

    Exit codes: 0 restored, 2 nothing to restore or not written, 4 the journal does not match the file.
    """
    if last and (paths or journal):
        raise click.UsageError("--last takes no PATH and no --journal")
    if not last and not paths:
        raise click.UsageError("Missing argument 'PATH...': name files or folders, or give --last")
    if STDIN in paths:
        raise click.UsageError("standard input cannot be restored; name the file")
    raise click.exceptions.Exit(_undo_last() if last else max([_undo_path(path, journal) for path in paths]))


def _undo_last() -> int:
    files = changed_files()
    if not files:
        return _said("no run of fix is recorded; name the files or folders", EXIT_NOT_DONE)
    here = os.getcwd()
    codes = [_undo(_short(path, here), journal) for path, journal in files]
    if not any(codes):
        forget_last_run()
    return _summed(codes)


def _undo_path(path: str, journal: str | None) -> int:
    if not os.path.isdir(path):
        return _undo(path, journal)
    try:
        files = [file for file in known_in(path, journal) if not _is_as_before(file, journal)]
    except WriteError as error:
        return _said(error.what, EXIT_NOT_DONE)
    if not files:
        return _said(f"{path}: no journal for a file in this folder", EXIT_NOT_DONE)
    return _summed([_undo(file, journal) for file in files])


def _is_as_before(path: str, journal: str | None) -> bool:
    found = find(path, journal)
    return isinstance(found, Missing) and found.reason == AS_BEFORE


def _summed(codes: list[int]) -> int:
    if len(codes) > 1:
        done = codes.count(0)
        rest = f", {len(codes) - done:,} unchanged" if done < len(codes) else ""
        _print(f"{done:,} of {len(codes):,} files restored{rest}" if rest else f"{done:,} files restored")
    return max(codes)


def _short(path: str, folder: str) -> str:
    """Return a path below the working folder relative to it."""
    return path[len(folder) + 1 :] if path.startswith(folder + os.sep) else path


def _undo(path: str, journal: str | None) -> int:
    document = find(path, journal)
    if isinstance(document, Missing):
        return _said(f"{path}: {document.reason}", EXIT_NOT_DONE)
    try:
        count = restore(path, document)
    except WriteError as error:
        return _said(error.what, EXIT_NOT_DONE)  # the hint of the error is an option of fix
    except JournalMismatchError as error:
        return _said(f"{path}: {error}", EXIT_UNPROVEN)
    if journal is None:
        forget(document)
    places = "1 place" if count == 1 else f"{count:,} places"
    _print(f"{line_start(path)}: restored to the bytes before the fix ({places} changed back)")
    return 0


def _print(line: str) -> None:
    limit = line_limit()
    click.echo("\n".join(fold(line, max(LEAST_WIDTH, limit), "    ") if limit else [line]))


def _said(sentence: str, code: int) -> int:
    click.echo(f"turnlint: {visible(sentence)}", err=True)
    return code
