"""`turnlint why`: the options of the command, its input and its exit code."""

import os
import sys
from typing import TYPE_CHECKING

import click

from turnlint.carriers import NAMES
from turnlint.cli import option
from turnlint.cli.nearest import Named
from turnlint.cli.own import own_profiles

if TYPE_CHECKING:
    from turnlint.cli.why_found import Explained, Looked
    from turnlint.profiles import Profile

EXIT_OPEN, EXIT_USAGE, EXIT_NOTHING, EXIT_INTERNAL = 1, 2, 3, 4
STDIN = "-"
LONGEST_PATH = 4096
MOST_BYTES = 32 << 20
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@click.command("why", epilog="Example: turnlint why 'messages: roles must alternate' request.json")
@click.argument("text", required=False, metavar="[TEXT|-]")
@click.argument("path", required=False, metavar="[PATH]")
@option(
    "--provider",
    metavar="NAME[@VERSION]",
    help="Provider that returned the error. Default: detected from the text.",
)
@option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="FILE",
    help="YAML file with provider profiles of your own.",
)
@option(
    "--format", "format_name", type=Named("format", ("auto", *NAMES)), default="auto", show_default=True,
    help="Format of PATH; `turnlint formats` lists the names.",
)  # fmt: skip
@option(
    "--output-format", type=Named("output format", ("text", "json")), default="text", show_default=True,
    help="Output format: text or json.",
)  # fmt: skip
def command(
    text: str | None, path: str | None, provider: str | None, profiles: tuple[str, ...], format_name: str,
    output_format: str,
) -> None:  # fmt: skip
    """Explain a provider's error message and find its cause in a transcript.

    TEXT is the error as an SDK, a gateway, curl or a log printed it, a part of it, or a word of it. Without TEXT,
    or with -, it is read from standard input. With PATH, that transcript is checked, and the findings that match the text come first.

    Exit codes: 0 explained, 1 unknown text, or PATH does not contain the cause, 2 usage error, 3 no transcript in
    PATH, 4 internal error.
    """
    told = _text(text, path)
    names, own = own_profiles(profiles, (provider,) if provider not in (None, "auto") else ())
    explained = _explained(told, names, own)
    looked = None
    if path is not None and not explained.recognised:
        _check_order(told, path)
    if path is not None and explained.reasons:
        looked = _looked(explained, path, format_name, own)
    if output_format == "json":
        from turnlint.cli.why_text import in_json

        click.echo(in_json(explained, looked))
    else:
        from turnlint.cli.why_text import in_words

        in_words(explained, looked, sys.stdout.write, path)
        if not explained.recognised and not explained.word and text is not None:
            _hint_at_file(text)
    raise click.exceptions.Exit(_exit_code(explained, looked, path))


def _exit_code(explained: "Explained", looked: "Looked | None", path: str | None) -> int:
    if not explained.recognised and not explained.word:
        return EXIT_OPEN
    if looked is None:
        return 0 if path is None else EXIT_OPEN
    if looked.tally.crashes:
        return EXIT_INTERNAL
    if looked.unreadable:
        return EXIT_USAGE
    if not looked.tally.files:
        return EXIT_NOTHING
    return 0 if looked.shown else EXIT_OPEN


def _text(text: str | None, path: str | None) -> str:
    """Return the error text from the argument or from standard input."""
    if text not in (None, STDIN):
        found = str(text)
    elif path == STDIN:
        raise click.UsageError("TEXT and PATH cannot both be read from standard input")
    elif sys.stdin is None or (text is None and sys.stdin.isatty()):
        raise click.UsageError("no error text; give it as TEXT or on standard input")
    else:
        data = sys.stdin.buffer.read(MOST_BYTES)
        found = data.decode(_BOMS.get(data[:2], "utf-8-sig"), errors="replace")
    if not found.strip():
        raise click.UsageError("the error text is empty")
    return found


def _explained(text: str, names: tuple[str, ...], own: "tuple[Profile, ...]") -> "Explained":
    from turnlint.cli.why_found import explain
    from turnlint.errors import BrokenRulesError, UnknownProviderError

    try:
        return explain(text, names, own)
    except (UnknownProviderError, BrokenRulesError) as error:
        from turnlint.report.escape import visible

        raise click.UsageError(visible(str(error))) from None


def _looked(explained: "Explained", path: str, format_name: str, own: "tuple[Profile, ...]") -> "Looked":
    from turnlint.cli.why_found import look
    from turnlint.errors import SourceError

    try:
        return look(explained, path, None if format_name == "auto" else format_name, own)
    except SourceError as error:
        from turnlint.report.escape import visible

        raise click.UsageError(f"{visible(error.name)}: {error.reason}") from None


def _check_order(text: str, path: str) -> None:
    """Report that the file is missing, or that the file comes after the error text."""
    from turnlint.report.escape import visible

    if path == STDIN or os.path.exists(path) or any(mark in path for mark in "*?["):
        return
    if _is_file(text):
        raise click.UsageError(f"the error text comes first: turnlint why TEXT {visible(text)}")
    raise click.UsageError(f"{visible(path)}: no such file or folder")


def _is_file(text: str) -> bool:
    return len(text) < LONGEST_PATH and "\0" not in text and os.path.isfile(text)


def _hint_at_file(text: str) -> None:
    from turnlint.report.escape import visible

    if _is_file(text):
        click.echo(
            f"turnlint: {visible(text)} is a file; to read the error text from it, run: turnlint why - < FILE",
            err=True,
        )
