"""`turnlint schema`.

This module owns how the JSON Schemas reach a user: those that are shipped as files, and that of a profile,
which is made from what a profile is.
"""

import os

import click

from turnlint.cli.nearest import Named

FILES = {
    "report": "report-v1.json",
    "repair": "repair-v1.json",
    "inspect": "inspect-v1.json",
    "transcript": "transcript.json",
    "config": "config-v1.json",
}
MADE = "profile"


@click.command("schema", epilog="Example: turnlint schema report")
@click.argument("name", type=Named("schema", (*FILES, MADE)))
def command(name: str) -> None:
    """Print a JSON Schema.

    SCHEMA names what it describes: a report, a repair report, an inspection, a canonical transcript, the settings,
    or a provider profile.
    """
    if name == MADE:
        from json import dumps

        from turnlint.own_profiles.shape import schema

        click.echo(dumps(schema(), indent=2, ensure_ascii=False))
        return
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schemas")
    with open(os.path.join(folder, FILES[name]), encoding="utf-8") as file:
        click.echo(file.read().rstrip("\n"))
