"""`turnlint config`: show settings with their origins and meaning."""

import os
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from turnlint.cli import option
from turnlint.cli.asking import shown
from turnlint.cli.look import line_limit, width
from turnlint.cli.nearest import Named
from turnlint.cli.settings import Asked, Plan, choosing
from turnlint.cli.verbs import Verbs
from turnlint.config.given import ORIGIN
from turnlint.config.keys import keys
from turnlint.documents.source import Source
from turnlint.engine import Options
from turnlint.report.escape import fold, line_start
from turnlint.report.table import render_table

if TYPE_CHECKING:
    from turnlint.config.settings import Said, Settings
    from turnlint.ignores import Ignore

ALWAYS = ("format", "provider", "select", "fail-on", "level")
"""Keys that are shown with their default where no file sets them."""
ALL = "default"
APART = ("files", "init")
VALUE_COLUMNS = 56
Line = tuple[str, Any, str]
"""Key, value and origin."""


class Lazily(Verbs):
    """A group that imports commands in other modules on their call."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *APART})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in APART:
            found = import_module(f"turnlint.cli.config_{cmd_name}").command
            assert isinstance(found, click.Command)
            return found
        return super().get_command(ctx, cmd_name)


@click.group("config", cls=Lazily, epilog="Example: turnlint config show logs/today.jsonl")
def command() -> None:
    """Show, explain and create settings.

    Settings are in turnlint.yaml, or in the table tool.turnlint of pyproject.toml. For each input file, the nearest
    settings file in its folder or above applies. `turnlint schema config` prints the schema.
    """


@command.command("show")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@choosing
@option(
    "--output-format", type=Named("output format", ("text", "json")), default="text", show_default=True,
    help="Output format: text or json.",
)  # fmt: skip
def show(paths: tuple[str, ...], output_format: str) -> None:
    """Print the settings for a path, and where each comes from.

    PATH need not exist. Default: the current folder.

    Exit codes: 0 printed, 2 unusable settings.
    """
    plan = Plan(Asked(), Options(), with_baselines=False)
    found = [(path, _settings(plan, path)) for path in paths or (".",)]
    if output_format == "json":
        from json import dumps

        from turnlint.report.escape import in_json

        click.echo(in_json(dumps([_document(*one) for one in found], indent=1)))
        return
    for number, (path, settings) in enumerate(found):
        click.echo("\n".join([""] * bool(number) + [*_text(path, settings)]))


@command.command("explain")
@click.argument("names", metavar="KEY", nargs=-1, required=True)
@option(
    "--output-format", type=Named("output format", ("text", "json")), default="text", show_default=True,
    help="Output format: text or json.",
)  # fmt: skip
def explain(names: tuple[str, ...], output_format: str) -> None:
    """Explain a setting: its meaning, its values and its default.

    KEY is the name of a setting, with its parents: level, paths.level, ignore.until.

    Exit codes: 0 explained, 2 usage error.
    """
    from turnlint.cli.setting_text import document, key_of, lines

    found = [key_of(name) for name in names]
    if output_format == "json":
        from json import dumps

        click.echo(dumps([document(key) for key in found], indent=1))
        return
    click.echo("\n\n\n".join("\n".join(lines(key)) for key in found))


def _settings(plan: Plan, path: str) -> "Settings | None":
    """Return the settings for a path; for a folder, those of files directly in it."""
    source = Source(os.path.join(path, "*") if os.path.isdir(path) else path, None)
    plan.prepare([source])
    return plan.settings(source)


def _lines(settings: "Settings | None") -> Iterator[Line]:
    for key in ALWAYS:
        said = getattr(settings, key.replace("-", "_"), None)
        yield (key, keys()[key].default, ALL) if said is None else (key, said.value, origin_of(said))
    if settings is None:
        return
    if settings.preview:
        yield "preview", settings.preview.value, origin_of(settings.preview)
    for key, some in (
        ("exclude", settings.excluded), ("profile", settings.profiles), ("ignore", settings.ignore),
    ):  # fmt: skip
        yield from ((key, said.value, origin_of(said)) for said in some)
    for key, some in (("severity", settings.severities), ("levels", settings.levels)):
        yield from ((key, {said.value[0]: said.value[1]}, origin_of(said)) for said in some)
    for key, one in (
        ("baseline", settings.baseline),
        ("ignores-in-records", settings.ignores_in_records),
        ("max-record-size", settings.max_record_size),
    ):
        if one:
            yield key, one.value, origin_of(one)
    for ignore in settings.ignores:
        yield "ignore", _ignored(ignore), place_of(ignore.origin)
    for rule in settings.rules:
        yield (
            "rule",
            {"name": f"own/{rule.name}", "severity": rule.severity, "message": rule.message},
            place_of(rule.origin),
        )


def _ignored(ignore: "Ignore") -> dict[str, Any]:
    """Return an ignore as a mapping, without its empty fields."""
    said = {
        "rule": ignore.rules, "path": ignore.paths, "conversation": ignore.conversations,
        "call": ignore.calls, "pointer": ignore.pointers,
        "fingerprint": ignore.fingerprints, "model": ignore.models, "before": ignore.before, "after": ignore.after,
        "reason": ignore.reason, "until": ignore.until,
    }  # fmt: skip
    return {key: value if isinstance(value, str) else [*value] for key, value in said.items() if value}


def origin_of(said: "Said") -> str:
    """Describe the origin of a setting."""
    origin = place_of(said.origin)
    return f"{origin} (paths: {said.section})" if said.section else origin


def place_of(origin: str) -> str:
    return f"the command line ({ORIGIN})" if origin == ORIGIN else origin


def _document(path: str, settings: "Settings | None") -> dict[str, Any]:
    return {
        "path": path,
        "config": settings.file or None if settings else None,
        "settings": [{"key": key, "value": value, "from": origin} for key, value, origin in _lines(settings)],
    }


def _text(path: str, settings: "Settings | None") -> Iterator[str]:
    yield from fold(line_start(path), width(), "  ")
    limit = line_limit()
    table = [
        (key, _wrapped(shown(_words(value)), limit), shown(origin)) for key, value, origin in _lines(settings)
    ]
    yield render_table(table, (), limit)
    if settings is None or not settings.file:
        yield "no settings file found"


def _wrapped(text: str, limit: int | None) -> str:
    """Return a value in lines of a moderate length, if the table does not break it at the width of the terminal."""
    return text if limit else "\n".join(fold(text, VALUE_COLUMNS, ""))


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_words(one)}" for key, one in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
