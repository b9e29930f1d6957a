"""`turnlint schema`: print a JSON Schema, from a file or, for a profile, made from its types."""

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

    SCHEMA is report (of `turnlint lint`), repair (of `turnlint fix --report`), inspect, transcript (the format
    canonical), config (the settings file) or profile (a provider profile).

    Exit codes: 0 printed, 2 usage error.
    """
    if name == MADE:
        from json import dumps

        from turnlint.own_profiles.shape import schema

        click.echo(dumps(schema(), indent=2, ensure_ascii=False))
        return
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schemas")
    with open(os.path.join(folder, FILES[name]), encoding="utf-8") as file:
        click.echo(file.read().rstrip("\n"))
