"""`turnlint profiles`: list the providers for people and programs, with a table of their capabilities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from turnlint.cli import option
from turnlint.cli.look import line_limit, prose_width
from turnlint.cli.nearest import Named
from turnlint.report.table import render_table

if TYPE_CHECKING:
    from turnlint.profiles import Profile
    from turnlint.providers import Providers

HEADERS = ("profile", "versions", "title", "wires", "clauses")
MATRIX = (
    ("format", "format"), ("parallel_calls", "parallel calls"), ("max_calls", "calls a turn"), ("max_tools", "tools"),
    ("max_messages", "messages"), ("schema", "tool schema"), ("requires_schema", "tools required"),
    ("parallel_switch", "one at a time by"),
    ("streaming", "arguments in a stream"), ("quirks", "quirks"),
)  # fmt: skip
NARROW = 7
"""Number of columns that fit on a terminal; the other values are written below."""
UNKNOWN = "?"


@click.command("profiles", epilog="Example: turnlint profiles mistral@v13")
@click.argument("name", required=False, metavar="[NAME[@VERSION]]")
@option("--matrix", is_flag=True, help="Print a table of provider features.")
@option(
    "--profile",
    "files",
    multiple=True,
    metavar="FILE",
    help="YAML file with provider profiles of your own, to list with the others.",
)
@option(
    "--output-format", type=Named("output format", ("table", "json", "markdown")), default="table",
    show_default=True, help="Output format: table, json or markdown; for a single profile YAML or json.",
)  # fmt: skip
def command(name: str | None, files: tuple[str, ...], output_format: str, *, matrix: bool) -> None:
    """List the supported providers, or print the rules of one.

    NAME prints one profile as YAML, with the evidence for each clause. Save it, change it, and use it with
    `turnlint lint --profile FILE`. In the matrix, ? means unknown.

    Exit codes: 0 printed, 2 usage error.
    """
    from turnlint.cli.own import own_profiles
    from turnlint.packages import packages
    from turnlint.providers import Providers

    _, own = own_profiles(files)
    providers = Providers(packages(), own)
    if name is not None:
        if matrix:
            raise click.UsageError("--matrix shows all providers; it takes no NAME")
        _print(providers, name, output_format)
    elif matrix:
        _matrix(providers, output_format)
    else:
        _list(providers, output_format)


def _print(providers: "Providers", name: str, output_format: str) -> None:
    from turnlint.errors import UnknownProviderError
    from turnlint.report.escape import in_json, visible

    try:
        versions = providers.named(name)
    except UnknownProviderError as error:
        raise click.UsageError(visible(str(error))) from None
    for remark in providers.remarks:
        click.echo(f"turnlint: {visible(remark)}", err=True)
    if output_format == "markdown":
        raise click.UsageError("a single profile is written as YAML, or with --output-format json")
    if output_format == "json":
        from json import dumps

        from msgspec import to_builtins

        click.echo(in_json(dumps([to_builtins(one) for one in versions], indent=1)))
        return
    from turnlint.cli.profile_text import text_of

    click.echo(text_of(versions), nl=False)


def _list(providers: "Providers", output_format: str) -> None:
    rows: list[dict[str, Any]] = [
        {
            "profile": name,
            "versions": [one.version for one in versions],
            "title": versions[0].title,
            "wires": list(versions[0].wires),
            "clauses": len(versions[0].clauses),
        }
        for name in providers.names()
        if (versions := providers.versions(name))
    ]
    if output_format == "json":
        _json(rows)
        return
    table = [
        (
            row["profile"],
            ", ".join(version or "(default)" for version in row["versions"]) if any(row["versions"]) else "",
            row["title"],
            ", ".join(row["wires"]),
            str(row["clauses"]),
        )
        for row in rows
    ]
    _table(table, HEADERS, output_format)


def _matrix(providers: "Providers", output_format: str) -> None:
    profiles = [one for name in providers.names() for one in _distinct(providers.versions(name))]
    if output_format == "json":
        from msgspec import to_builtins

        _json(
            [
                {"profile": one.label, **to_builtins(one.capabilities), "sources": _sources(one)}
                for one in profiles
            ]
        )
        return
    columns = MATRIX if output_format == "markdown" else MATRIX[:NARROW]
    table = [
        (one.label, *(cell_of(getattr(one.capabilities, key)) for key, _ in columns)) for one in profiles
    ]
    _table(table, ("profile", *(title for _, title in columns)), output_format)
    if output_format == "table":
        for one in profiles:
            _notes(one)


def _sources(profile: "Profile") -> dict[str, dict[str, str]]:
    """Return the source and the date of each known value."""
    return {
        key: {"source": source, "date": date} for key, (source, date) in profile.capability_sources.items()
    }


def _notes(profile: "Profile") -> None:
    """Print the values that do not fit into a column."""
    from textwrap import wrap

    from turnlint.report.escape import visible

    offers = profile.capabilities
    titled = [
        f"{title}: {value}" for key, title in MATRIX[NARROW:-1] if (value := getattr(offers, key)) is not None
    ]
    notes = [*titled, *offers.quirks]
    if notes:
        click.echo(f"\n{visible(profile.label)}")
    for note in notes:
        click.echo(
            "\n".join(wrap(visible(note), prose_width(), initial_indent="  ", subsequent_indent="    "))
        )


def _distinct(versions: "tuple[Profile, ...]") -> "list[Profile]":
    """Return the first version, and those with other capabilities."""
    return [one for one in versions if one is versions[0] or one.capabilities != versions[0].capabilities]


def cell_of(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return UNKNOWN if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _table(rows: Sequence[tuple[str, ...]], headers: tuple[str, ...], output_format: str) -> None:
    from turnlint.report.escape import visible

    shown = [list(map(visible, row)) for row in rows]
    if output_format == "markdown":
        from tabulate import tabulate

        escaped = [[cell.replace("|", "\\|") for cell in row] for row in shown]
        click.echo(tabulate(escaped, headers=headers, tablefmt="github", disable_numparse=True))
    else:
        click.echo(render_table(shown, headers, line_limit()))


def _json(rows: list[dict[str, Any]]) -> None:
    from json import dumps

    from turnlint.report.escape import in_json

    click.echo(in_json(dumps(rows, indent=1)))
