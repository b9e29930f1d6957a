"""`turnlint config files`: list the files that a lint of some paths reads, with the settings of each."""

import os
from collections.abc import Iterator
from typing import Any

import click

from turnlint.cli import option
from turnlint.cli.asking import NO_GITIGNORE, shown, skipped_in_folders, sources_of
from turnlint.cli.config import ALL, origin_of
from turnlint.cli.look import line_limit
from turnlint.cli.nearest import Named
from turnlint.cli.settings import EXCLUDING, Asked, Plan, choosing
from turnlint.config.keys import keys
from turnlint.config.settings import Said
from turnlint.documents.source import Source
from turnlint.engine import Options
from turnlint.report.escape import line_start
from turnlint.report.table import render_table

EXIT_NOTHING = 3
SHOWN = ("format", "provider")


@click.command("files", epilog="Example: turnlint config files logs/")
@click.argument("paths", nargs=-1, metavar="[PATH...|-]")
@choosing
@EXCLUDING
@NO_GITIGNORE
@option("--stdin-filename", metavar="NAME", default="<stdin>", help="File name to report for standard input.")
@option(
    "--output-format", type=Named("output format", ("text", "json")), default="text", show_default=True,
    help="Output format: text or json.",
)  # fmt: skip
def command(paths: tuple[str, ...], stdin_filename: str, output_format: str) -> None:
    """List the files that lint would read, with the settings of each.

    Shows for each file its settings file, its format, its provider (detected for auto), or the pattern that
    excludes it.

    Exit codes: 0 listed, 2 usage error, 3 no input, unless --force-exclude excluded all files.
    """
    plan = Plan(Asked(), Options(), with_baselines=False)
    sources = sources_of(paths, stdin_filename, [])
    found = [_document(source, plan) for source in sources]
    if output_format == "json":
        from json import dumps

        from turnlint.report.escape import in_json

        click.echo(in_json(dumps(found, indent=1)))
    else:
        for line in _text(found):
            click.echo(line)
        for line in skipped_in_folders():
            click.echo(f"turnlint: {line}", err=True)
    if not any(one["read"] for one in found) and not (found and plan.excludes_named):
        if output_format == "text":
            click.echo("turnlint: nothing to lint", err=True)
        raise click.exceptions.Exit(EXIT_NOTHING)


def _document(source: Source, plan: Plan) -> dict[str, Any]:
    settings = plan.settings(source)
    excluding = plan.excluding(source)
    return {
        "path": source.name,
        "read": excluding is None,
        "config": (settings.file or None) if settings else None,
        "excluded": {"pattern": excluding.value, "from": origin_of(excluding)} if excluding else None,
        **{key: _said(key, getattr(settings, key, None)) for key in SHOWN},
    }


def _said(key: str, said: Said | None) -> dict[str, Any]:
    if said is None:
        return {"value": keys()[key].default, "from": ALL}
    return {"value": said.value, "from": origin_of(said)}


def _text(found: list[dict[str, Any]]) -> Iterator[str]:
    headers = ("file", "settings", *SHOWN, "excluded by")
    table = [
        (
            line_start(one["path"]),
            shown(os.path.relpath(one["config"])) if one["config"] else "-",
            *(_words(one[key]["value"]) if one["read"] else "-" for key in SHOWN),
            shown(f"{one['excluded']['pattern']} ({one['excluded']['from']})") if one["excluded"] else "",
        )
        for one in found
    ]
    yield render_table(table, headers, line_limit())
    read = sum(one["read"] for one in found)
    left = len(found) - read
    yield ""
    yield f"{'1 file is' if read == 1 else f'{read:,} files are'} read" + (
        f", {left:,} excluded" if left else ""
    )


def _words(value: Any) -> str:
    return shown(", ".join(value) if isinstance(value, list) else str(value))
