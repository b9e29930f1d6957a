"""`turnlint undo`.

This module owns the options of that command and what is said about each file. It refuses to know how
bytes are put back.
"""

import click

from turnlint.cli import option
from turnlint.documents.source import STDIN
from turnlint.keeping.disk import NotWritten
from turnlint.keeping.journal import Missing, find, forget
from turnlint.keeping.restoring import Unproven, restore
from turnlint.report.escape import line_start, visible

EXIT_NOT_DONE, EXIT_UNPROVEN = 2, 4


@click.command("undo")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@option(
    "--journal", metavar="FILE",
    help="The journal that fix wrote with --journal, if not the one it keeps by itself.",
)  # fmt: skip
def command(paths: tuple[str, ...], journal: str | None) -> None:
    """Put back what the last fix took away.

    PATH is a file that fix changed and nobody since. It gets back the very bytes it had. After several
    fixes, each undo takes back one.
    Exit code: 0 done, 2 nothing to put back or not written, 4 the journal does not give back the old bytes.
    """
    if STDIN in paths:
        raise click.UsageError("standard input cannot be put back; name the file")
    raise click.exceptions.Exit(max([_undo(path, journal) for path in paths]))


def _undo(path: str, journal: str | None) -> int:
    document = find(path, journal)
    if isinstance(document, Missing):
        return _said(f"{path}: {document.reason}", EXIT_NOT_DONE)
    try:
        count = restore(path, document)
    except NotWritten as error:
        return _said(error.what, EXIT_NOT_DONE)  # the way out that it names is an option of fix
    except Unproven as error:
        return _said(f"{path}: {error}", EXIT_UNPROVEN)
    if journal is None:
        forget(document)
    places = "1 place" if count == 1 else f"{count:,} places"
    click.echo(f"{line_start(path)}: as it was before the fix ({places} put back)")
    return 0


def _said(sentence: str, code: int) -> int:
    click.echo(f"turnlint: {visible(sentence)}", err=True)
    return code
