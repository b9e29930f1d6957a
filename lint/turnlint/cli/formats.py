"""`turnlint formats`: list the formats for people and programs."""

from typing import Any

import click

from turnlint.cli import option
from turnlint.cli.look import line_limit
from turnlint.cli.nearest import Named
from turnlint.report.table import render_table

HEADERS = ("format", "what it is", "read", "fix", "render", "read as")


@click.command("formats", epilog="Example: turnlint formats")
@option(
    "--output-format", type=Named("output format", ("table", "json")), default="table", show_default=True,
    help="Output format: table or json.",
)  # fmt: skip
def command(output_format: str) -> None:
    """List the supported file formats.

    The columns show whether a format can be read, fixed and rendered. Where fix is `partly`, results are moved,
    renamed and removed, but not added.

    Exit codes: 0 printed, 2 usage error.
    """
    from turnlint.carriers import NAMES, carrier

    rows: list[dict[str, Any]] = [
        {
            "format": one.name,
            "title": one.title,
            "session": one.session,
            "read": True,
            "fix": "yes" if one.writer else "partly",
            "render": False,
            "read_as": one.about,
        }
        for one in map(carrier, NAMES)
    ]
    if output_format == "json":
        from json import dumps

        click.echo(dumps(rows, indent=1))
        return
    table = [
        (row["format"], row["title"], _word(row["read"]), row["fix"], _word(row["render"]), row["read_as"])
        for row in rows
    ]
    click.echo(render_table(table, HEADERS, line_limit()))


def _word(value: bool) -> str:
    return "yes" if value else "no"
