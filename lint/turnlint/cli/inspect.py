"""`turnlint inspect`: the options of the command, its JSON output and its exit code."""

import os
import sys
from collections.abc import Iterable, Iterator

import click

from turnlint.carriers import NAMES
from turnlint.cli import option
from turnlint.cli.asking import NO_GITIGNORE, shown, skipped_in_folders, sources_of, tell_nothing
from turnlint.cli.nearest import Named
from turnlint.documents.source import Source
from turnlint.errors import SourceError
from turnlint.inspecting.facts import Inspection
from turnlint.text import truncate

EXIT_USAGE, EXIT_NOTHING, EXIT_INTERNAL = 2, 3, 4
SCHEMA = "turnlint/inspect-v1"
LONGEST_TEXT = 500


@click.command("inspect", epilog="Example: turnlint inspect session.jsonl")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...|-")
@option(
    "--format", "format_name", type=Named("format", ("auto", *NAMES)), default="auto", show_default=True,
    help="Format of the input files; `turnlint formats` lists the names.",
)  # fmt: skip
@option(
    "--output-format", type=Named("output format", ("text", "json")), default="text", show_default=True,
    help="Output format: text or json (described by `turnlint schema inspect`).",
)  # fmt: skip
@option(
    "--show-content", type=Named("amount", ("none", "excerpt")), default="none", show_default=True,
    help="Content of the example call to show in text output: none, excerpt or full. JSON never contains it.",
)  # fmt: skip
@NO_GITIGNORE
@option("--stdin-filename", metavar="NAME", default="<stdin>", help="File name to report for standard input.")
def command(
    paths: tuple[str, ...], format_name: str, output_format: str, show_content: str, stdin_filename: str
) -> None:
    """Describe a file: its format, its contents, and what lint and fix can do.

    Shows the detected format and the evidence for it, the providers, models, tools and ids, one example call, and
    counts. For an unknown format, it lists the nearest formats and their missing keys. Shows names, keys and types,
    but no content. PATH is a file, a folder, a glob pattern, or - for standard input.

    Exit codes: 0 described, 2 usage error or unreadable file, 3 no file has a known format, 4 internal error.
    """
    run = _Run(None if format_name == "auto" else format_name, show_content == "excerpt")
    told = run.over(sources_of(paths, stdin_filename, []))
    write_json(told, run) if output_format == "json" else write_text(told)
    for line in skipped_in_folders():
        click.echo(f"turnlint: {line}", err=True)
    if not run.seen:
        tell_nothing("inspect", skipped=False, named=run.unreadable)
    raise click.exceptions.Exit(run.code)


class _Run:
    """The files of one run and their results."""

    def __init__(self, format_name: str | None, excerpts: bool) -> None:
        from turnlint.packages import has_additions, packages
        from turnlint.providers import Providers

        if has_additions():
            from turnlint.additions import check_additions

            check_additions()
        self.format = format_name
        self.excerpts = excerpts
        self.providers = Providers(packages())
        self.seen = self.known = self.crashes = 0
        self.unreadable = False

    @property
    def code(self) -> int:
        if self.crashes:
            return EXIT_INTERNAL
        if self.unreadable:
            return EXIT_USAGE
        return 0 if self.known else EXIT_NOTHING

    def over(self, sources: list[Source]) -> Iterator[Inspection]:
        from turnlint.cli.waiting import bar
        from turnlint.inspecting.inspection import inspect

        with bar(sources, "inspecting") as progress:
            for source in sources:
                try:
                    found = inspect(
                        source, self.format, self.providers, shown=self.excerpts, progress=progress
                    )
                except SourceError as error:
                    self.unreadable = True
                    click.echo(f"turnlint: {shown(error.name)}: {error.reason}", err=True)
                    continue
                except OSError:
                    raise
                except Exception as error:
                    if os.environ.get("TURNLINT_TRACEBACK"):
                        raise
                    self.crashes += 1
                    click.echo(
                        f"turnlint: the parser crashed at {shown(source.name)}: {type(error).__name__}",
                        err=True,
                    )
                    continue
                self.seen += 1
                self.known += found.content is not None
                yield found


def write_text(told: Iterable[Inspection]) -> None:
    from turnlint.cli.inspect_text import text_of
    from turnlint.cli.look import width

    columns = width()
    for number, one in enumerate(told):
        click.echo(("\n" if number else "") + text_of(one, columns), nl=False)


def write_json(told: Iterable[Inspection], run: _Run) -> None:
    """Write one JSON document with a file on each line."""
    from json import dumps

    from msgspec import to_builtins

    from turnlint.report.escape import in_json

    start = (
        f'{{"schema": "{SCHEMA}", "files": ['  # written with the first file: a progress bar needs a free line
    )
    for number, one in enumerate(told):
        plain = to_builtins(one)
        del plain["named"]
        if plain["content"] and plain["content"]["example"]:
            del plain["content"]["example"]["shown"]
        sys.stdout.write((",\n  " if number else f"{start}\n  ") + in_json(dumps(_short(plain))))
    complete = dumps(not run.crashes and not run.unreadable)
    end = f'], "complete": {complete}}}\n'
    sys.stdout.write(f"\n{end}" if run.seen else f"{start}{end}")


def _short(value: object) -> object:
    """Truncate texts, as in all reports: a file may have a name of any length."""
    if isinstance(value, str):
        return truncate(value, LONGEST_TEXT)
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_short(item) for item in value]
    return value
