"""`turnlint rules`.

This module owns the list of rules as people and programs see it.
"""

import click

from turnlint.cli.nearest import Named


@click.command("rules")
@click.option(
    "--output-format", type=Named("output format", ("table", "json", "markdown")), default="table",
    show_default=True, help="table, json or markdown.",
)  # fmt: skip
def command(output_format: str) -> None:
    """List the rules."""
    from turnlint import rulebook

    entries = rulebook.everything()
    if output_format == "json":
        from json import dumps

        keys = ("code", "name", "fault", "severity", "fix")
        rows = [
            {key: getattr(entry.rule, key) for key in keys} | {"summary": entry.headline} for entry in entries
        ]
        click.echo(dumps(rows, indent=1))
        return
    from tabulate import tabulate

    table = [
        (entry.rule.code, entry.rule.name, entry.rule.severity, entry.rule.fix or "-", entry.headline)
        for entry in entries
    ]
    style = "github" if output_format == "markdown" else "plain"
    click.echo(
        tabulate(
            table,
            headers=["code", "rule", "severity", "fix", "what it finds"],
            tablefmt=style,
            disable_numparse=True,
        )
    )
