"""`turnlint config init`: write the first settings file of a project.

It has the defaults, and behind `#` the settings that are used most often. An existing file is never
overwritten.
"""

import os
from collections.abc import Iterator
from textwrap import wrap

import click

from turnlint.cli.asking import shown
from turnlint.cli.look import within_limit
from turnlint.cli.yaml_text import lines_of
from turnlint.config.keys import example_of, keys
from turnlint.config.nearest import NAMES, TABLES, has_table
from turnlint.report.escape import line_start

WIDTH = 100
WRITTEN = ("provider", "fail-on", "level")
"""Keys that are written with their default."""
OFFERED = ("exclude", "severity", "ignore", "paths")
"""Keys that are written as comments, with an example."""
HEAD = """\
# Settings of turnlint for the transcripts below this folder.
# `turnlint explain configuration` lists all of them, `turnlint config explain KEY` says what one
# means, and `turnlint config show PATH` what holds for a file.
"""


@click.command("init", epilog="Example: turnlint config init")
@click.argument("folder", metavar="[FOLDER]", default=".")
def command(folder: str) -> None:
    """Write a turnlint.yaml with all settings, most of them commented out.

    FOLDER is the folder to write it to. Default: the current folder.

    Exit codes: 0 written, 2 settings exist already.
    """
    there = [name for name in NAMES if os.path.lexists(os.path.join(folder, name))]
    table = os.path.join(folder, TABLES)
    if there:
        raise click.UsageError(f"{shown(os.path.join(folder, there[0]))} already exists")
    if os.path.isfile(table) and has_table(table):
        raise click.UsageError(
            f"{shown(table)} may already contain settings, which a new turnlint.yaml would hide"
        )
    path = os.path.join(folder, NAMES[0])
    if not os.path.isdir(folder):
        raise click.UsageError(f"{shown(folder)}: no such folder; make it first")
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text())
    except OSError as error:
        raise click.UsageError(f"{shown(path)}: {(error.strerror or 'cannot be written').lower()}") from None
    said = f"{line_start(path)} written; `turnlint config show` prints the settings in effect"
    click.echo(within_limit(said))


def text() -> str:
    """Return the text of the file."""
    return HEAD + "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    known = keys()
    for name in (*WRITTEN, *OFFERED):
        yield ""
        yield from (f"# {line}" for line in wrap(known[name].about, WIDTH - 2, break_on_hyphens=False))
        if name in WRITTEN:
            yield from lines_of({name: known[name].default})
        else:
            yield from (f"# {line}" for line in lines_of(example_of(name)))
