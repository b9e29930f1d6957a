"""`turnlint schema`.

This module owns how the shipped JSON Schemas reach a user.
"""

import os

import click

from turnlint.cli.nearest import Named

NAMES = {"report": "report-v1.json", "transcript": "transcript.json"}


@click.command("schema")
@click.argument("name", type=Named("schema", tuple(NAMES)))
def command(name: str) -> None:
    """Print a JSON Schema: of the report, or of a canonical transcript."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schemas")
    with open(os.path.join(folder, NAMES[name]), encoding="utf-8") as file:
        click.echo(file.read().rstrip("\n"))
