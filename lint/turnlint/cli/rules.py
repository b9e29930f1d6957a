"""`turnlint rules`: list the rules for people and programs."""

from typing import TYPE_CHECKING

import click

from turnlint.cli import option
from turnlint.cli.look import line_limit
from turnlint.cli.nearest import Named
from turnlint.report.table import render_table

if TYPE_CHECKING:
    from turnlint.api import Rule


@click.command("rules", epilog="Example: turnlint rules --output-format json")
@option(
    "--output-format", type=Named("output format", ("table", "json", "markdown")), default="table",
    show_default=True, help="Output format: table, json or markdown.",
)  # fmt: skip
def command(output_format: str) -> None:
    """List all rules.

    The column `fix up to` has the highest level that a repair may need; - means that there is no repair.

    Exit codes: 0 printed, 2 usage error.
    """
    from turnlint import rulebook

    entries = rulebook.everything()
    if output_format == "json":
        from json import dumps

        from turnlint.cli.explain import summary_of

        click.echo(dumps([summary_of(entry) for entry in entries], indent=1))
        return
    table = [
        (one.rule.code, one.rule.name, one.rule.severity, one.rule.fix or "-", lived(one.rule), one.headline)
        for one in entries
    ]
    headers = ("code", "rule", "severity", "fix up to", "since", "what it finds")
    if output_format == "markdown":
        from tabulate import tabulate

        click.echo(tabulate(table, headers=headers, tablefmt="github", disable_numparse=True))
    else:
        click.echo(render_table(table, headers, line_limit()))


def lived(rule: "Rule") -> str:
    """Return the version that added a rule, and its state if it is not stable."""
    return rule.since if rule.state == "stable" else f"{rule.since} {rule.state}"
