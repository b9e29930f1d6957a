"""Describe one key of the settings for people and for programs, from the schema."""

from collections.abc import Iterator
from typing import Any

import click

from turnlint.cli.look import prose_width
from turnlint.cli.page_text import render_code
from turnlint.cli.yaml_text import inline, lines_of
from turnlint.config.keys import Key, example_of, keys
from turnlint.report.escape import fold
from turnlint.text import did_you_mean


def key_of(name: str) -> Key:
    """Return a key by its name. An unknown name is a usage error with the nearest name."""
    found = find_key(name)
    if found is None:
        raise click.UsageError(f"unknown setting {did_you_mean(name, keys())}")
    return found


def find_key(name: str) -> Key | None:
    known = keys()
    plain = name.lower().replace("[]", "").strip(".")
    return known.get(plain)


def lines(key: Key) -> Iterator[str]:
    width = prose_width()
    yield f"{key.name} [setting]"
    yield from fold(key.about, width, "")
    yield ""
    table = [("takes", key.kind), ("default", "nothing" if key.default is None else inline(key.default))]
    table += [("required", "yes")] if key.required else []
    table += [("has", ", ".join(key.below))] if key.below else []
    table += [("also", ", ".join(also(key)))] if also(key) else []
    for name, value in table:
        yield from fold(f"{name:<13}  {value}", width, " " * 15)
    yield from ("", "Example")
    yield from (text for line in lines_of(example_of(key.name)) for text in render_code(line, width))


def also(key: Key) -> list[str]:
    """Return keys with the same last part in other places."""
    last = key.name.rpartition(".")[2]
    return [name for name in keys() if name != key.name and name.rpartition(".")[2] == last]


def document(key: Key) -> dict[str, Any]:
    return {
        "kind": "setting",
        "name": key.name,
        "takes": key.kind,
        "default": key.default,
        "required": key.required,
        "summary": key.about,
        "keys": [*key.below],
        "also": also(key),
        "example": example_of(key.name),
        "yaml": "".join(f"{line}\n" for line in lines_of(example_of(key.name))),
        "schema": key.shape,
    }
