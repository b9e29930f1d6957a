"""`turnlint explain RULE|KEY|TOPIC`: show the documentation of a rule, a setting or a page of the reference.

A rule is shown with its examples, which are its tests.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from turnlint.cli import option
from turnlint.cli.look import colors, prose_width
from turnlint.cli.nearest import Named
from turnlint.cli.page_text import render_code, render_docs, render_page
from turnlint.cli.setting_text import document, find_key, lines
from turnlint.cli.settings import Asked, Plan, choosing
from turnlint.config.keys import keys
from turnlint.documents.source import Source
from turnlint.engine import Options
from turnlint.report.escape import fold
from turnlint.report.table import render_table
from turnlint.rulebook import OWN
from turnlint.text import did_you_mean, truncate

if TYPE_CHECKING:
    from turnlint.own_rules.rules import OwnRule
    from turnlint.rulebook import Entry

LONGEST = 600
TOPICS = {
    "canonical": "the canonical form of all formats, and its ids",
    "ci": "CI systems, pre-commit and GitHub Actions",
    "configuration": "all settings",
    "editors": "findings while you type: Neovim, Helix and VS Code",
    "formats": "supported file formats, each with an example",
    "library": "use from Python",
    "lifecycle": "states of a call, by all marks of its result",
    "mission": "what the source documents ask for, each with a command that shows it",
    "outputs": "report formats, each with an example",
    "providers": "supported providers and what each rejects",
    "pytest": "transcripts as tests, and an assertion",
    "reading": "formats, inspect, providers, ids, large and growing files",
    "repairs": "levels of fix, verification, undo, diffs and reports",
    "rules": "all rules, with bad and good examples and evidence",
    "settings": "a guide: settings, ignores, own rules and baselines",
}
"""Pages of the reference with their titles."""
DOCS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "docs")


@click.command("explain", epilog="Example: turnlint explain PA201")
@click.argument("what", metavar="RULE|KEY|TOPIC...", nargs=-1)
@choosing
@option(
    "--output-format", type=Named("output format", ("text", "markdown", "json")), default="text", show_default=True,
    help="Output format: text for terminals, json, or markdown (the source of a TOPIC).",
)  # fmt: skip
def command(what: tuple[str, ...], output_format: str) -> None:
    """Explain a rule, a setting or a topic.

    RULE is a code, a code prefix, a name or a family, or own/NAME for a rule of the current folder's settings. KEY
    is a setting, such as level or paths.level. TOPIC is canonical, ci, configuration, editors, formats, library,
    lifecycle, mission, outputs, providers, pytest, reading, repairs, rules or settings. Without an argument, it lists
    the topics.

    Exit codes: 0 explained, 2 usage error.
    """
    if not what:
        _list_topics(output_format)
        return
    found = {one.name: one for word in what for one in _explained(word)}
    if output_format == "json":
        from json import dumps

        from turnlint.report.escape import in_json

        click.echo(in_json(dumps([one.document() for one in found.values()], indent=1)))
        return
    if output_format == "markdown":
        for one in found.values():
            if not one.markdown:
                raise click.UsageError(f"{one.name} has no Markdown, only a TOPIC has; use text or json")
            click.echo(one.markdown, nl=False)
        return
    for number, one in enumerate(found.values()):
        click.echo(("\n\n" if number else "") + "\n".join(one.lines()))


def _list_topics(output_format: str) -> None:
    """Print the pages of the reference with their titles, and the other subjects of the command."""
    titles = {name: TOPICS.get(name, "") for name in topics()}
    if output_format == "json":
        from json import dumps

        click.echo(
            dumps(
                [{"kind": "topic", "name": name, "title": title} for name, title in titles.items()], indent=1
            )
        )
        return
    width = prose_width()
    lines = [
        *fold("Usage: turnlint explain TOPIC|RULE|KEY...", width, "  "),
        "",
        _bold("Topics"),
        *render_table([(f"  {name}", title) for name, title in titles.items()], (), width).split("\n"),
        "",
        _bold("Rules"),
        *fold(
            "  A code, a name or a family, such as PA201, orphan-result or pairing. `turnlint rules` lists them.",
            width,
            "  ",
        ),
        "",
        _bold("Settings"),
        *fold(
            "  A key, such as level or paths.level. `turnlint explain configuration` lists them.", width, "  "
        ),
    ]
    click.echo("\n".join(lines))


class Explained(Struct, frozen=True):
    """A subject that can be explained."""

    name: str
    lines: Callable[[], Iterable[str]]
    document: Callable[[], dict[str, Any]]
    markdown: str = ""
    """Source of a page."""


def _explained(word: str) -> Iterator[Explained]:
    """Yield the subjects that a word means: a page before a rule, a rule before a setting."""
    from turnlint import rulebook

    if word.lower() in topics():
        yield _page(word.lower())
        return
    if word.lower().startswith(OWN):
        own = _own(word.lower())
        yield Explained(word.lower(), partial(_own_lines, own), partial(_own_document, own))
        return
    entries = rulebook.everything()
    wanted = [one for one in entries if rulebook.is_named(one.rule, word.lower())]
    key = None if wanted else find_key(word)
    if key is not None:
        yield Explained(key.name, partial(lines, key), partial(document, key))
        return
    wanted = wanted or [one for one in entries if rulebook.matches(one.rule, word)]
    if not wanted:
        from turnlint.report.escape import visible

        error = rulebook.unknown(word, entries, (*rulebook.FAMILIES, *topics(), *keys()))
        raise click.UsageError(visible(str(error)))
    for one in wanted:
        if rulebook.is_former(one.rule, word):
            click.echo(f"turnlint: {word!r} is now called {one.rule.code} {one.rule.name}", err=True)
        yield Explained(one.rule.code, partial(_rule_lines, one), partial(rule_document, one))


def _page(name: str) -> Explained:
    with open(os.path.join(DOCS, f"{name}.md"), encoding="utf-8") as file:
        text = file.read()
    return Explained(
        name,
        lambda: render_page(text, prose_width(), _bold),
        lambda: {"kind": "page", "name": name, "text": text},
        text,
    )


def _bold(text: str) -> str:
    """Return a heading in bold if the terminal supports it."""
    return click.style(text, bold=True) if text and colors("auto") else text


def _rule_lines(entry: "Entry") -> Iterator[str]:
    rule, width = entry.rule, prose_width()
    title = f"{rule.code} {rule.name} [{rule.severity}, {rule.fault}, {rule.state} since {rule.since}]"
    yield from map(_bold, fold(title, width, "  "))
    yield from (*fold(entry.headline, width, ""), "")
    yield from render_docs(entry.docs, width, _bold)
    if rule.aliases:
        yield from ("", *fold(f"Former names: {', '.join(rule.aliases)}.", width, ""))
    for title, text in examples_of(entry):
        yield from ("", _bold(title))
        yield from (line for one in text.splitlines() for line in render_code(one, width))


def rule_document(entry: "Entry") -> dict[str, Any]:
    """Return all facts about a rule."""
    sections = sections_of(entry.docs)
    examples = [{"title": title, "text": text} for title, text in examples_of(entry)]
    return {"kind": "rule", **summary_of(entry), "sections": sections, "examples": examples}


def summary_of(entry: "Entry") -> dict[str, Any]:
    """Return a rule without its documentation."""
    keys = ("code", "name", "fault", "severity", "fix", "state", "since")
    about = {key: getattr(entry.rule, key) for key in keys}
    return {**about, "aliases": [*entry.rule.aliases], "summary": entry.headline}


def sections_of(docs: str) -> dict[str, str]:
    """Return the text under each heading."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in docs.splitlines():
        if line and not line[0].isspace():
            heading = line
        else:
            found.setdefault(heading, []).append(line.removeprefix("    "))
    return {name: "\n".join(some).strip("\n") for name, some in found.items() if any(some)}


def _own(name: str) -> "OwnRule":
    """Return a rule that the settings define."""
    from turnlint.report.escape import visible

    settings = Plan(Asked(), Options(), with_baselines=False).settings(Source("*", None))
    rules = {OWN + one.name: one for one in settings.rules} if settings else {}
    if not rules:
        raise click.UsageError(f"unknown rule {visible(name)!r}: the settings of this folder define no rules")
    if name not in rules:
        raise click.UsageError(f"unknown rule {did_you_mean(name, rules)}")
    return rules[name]


def _own_lines(one: "OwnRule") -> Iterator[str]:
    """Yield the description of a rule in the settings."""
    from turnlint.report.escape import visible

    width = prose_width()
    yield from fold(f"{OWN}{one.name} [{one.severity}, {OWN[:-1]}]", width, "  ")
    yield from fold(visible(one.message), width, "")
    if one.about:
        yield ""
        yield from (
            text for line in one.about.splitlines() for text in fold(f"    {visible(line)}", width, "    ")
        )
    yield from ("", *fold(f"Defined at {visible(one.origin)}.", width, ""))


def _own_document(one: "OwnRule") -> dict[str, Any]:
    return {
        "kind": "own", "name": OWN + one.name, "severity": one.severity, "summary": one.message,
        "about": one.about, "from": one.origin,
    }  # fmt: skip


def topics() -> list[str]:
    """Return the pages of the reference."""
    return sorted(name.removesuffix(".md") for name in os.listdir(DOCS) if name.endswith(".md"))


def examples_of(entry: "Entry") -> Iterator[tuple[str, str]]:
    """Yield the examples of a rule, each with a title."""
    from turnlint.api import Example

    for title, examples in (
        ("Wrong", getattr(entry.module, "BAD", ())),
        ("Right", getattr(entry.module, "GOOD", ())),
    ):
        for example in examples:
            where = "" if example.provider == "none" else f" at {example.provider}"
            text = _dedent(example.text) if isinstance(example, Example) else _lines(example.data)
            yield f"{title}{where}", text


def _lines(data: bytes) -> str:
    """Return an example in bytes as visible lines, truncated where they are long."""
    from turnlint.report.escape import visible

    lines = [visible(line.decode(errors="replace")) for line in data.splitlines()]
    return "\n".join(truncate(line, LONGEST) for line in lines)


def _dedent(text: str) -> str:
    from textwrap import dedent

    return dedent(text).strip("\n").rstrip()
