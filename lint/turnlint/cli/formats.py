"""`turnlint formats`.

This module owns the list of formats as people see it.
"""

import click


@click.command("formats")
def command() -> None:
    """List the formats that are read."""
    from tabulate import tabulate

    from turnlint.carriers import NAMES, carrier

    rows = [(one.name, one.title, one.about) for one in map(carrier, NAMES)]
    click.echo(
        tabulate(rows, headers=["format", "what it is", "read as"], tablefmt="plain", disable_numparse=True)
    )
