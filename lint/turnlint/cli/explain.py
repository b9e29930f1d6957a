"""`turnlint explain RULE|TOPIC`.

This module owns how a rule's own documentation is shown, with the examples that are its tests, and how the pages of
the reference reach a reader. It refuses to make those pages.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from turnlint.cli.settings import Asked, Plan, choosing
from turnlint.documents.source import Source
from turnlint.engine import Options
from turnlint.rulebook import OWN

if TYPE_CHECKING:
    from turnlint.rulebook import Entry

LONGEST = 600
DOCS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "docs")


@click.command("explain")
@click.argument("rule", metavar="RULE|TOPIC")
@choosing
def command(rule: str) -> None:
    """Say what a rule means, why it matters and what fix does, or show a page of the reference.

    RULE is a code or a name, own/NAME one of the configuration of this folder; TOPIC is rules, providers, formats, configuration, outputs, library, pytest, editors or ci.
    """
    from turnlint import rulebook

    if rule.lower() in topics():
        with open(os.path.join(DOCS, f"{rule.lower()}.md"), encoding="utf-8") as file:
            click.echo(file.read(), nl=False)
        return
    if rule.lower().startswith(OWN):
        click.echo("\n".join(_own(rule.lower())))
        return
    entries = rulebook.everything()
    wanted = next((one for one in entries if rule.lower() in (one.rule.code.lower(), one.rule.name)), None)
    if wanted is None:
        from turnlint.report.escape import visible

        near = rulebook.nearest(rule, [*rulebook.names_of(entries), *topics()])
        raise click.UsageError(visible(str(rulebook.UnknownRule(rule, near))))
    nature = wanted.rule
    click.echo(
        f"{nature.code} {nature.name} [{nature.severity}, {nature.fault}]\n{wanted.headline}\n\n{wanted.docs}"
    )
    for title, text in examples_of(wanted):
        click.echo(f"\n{title}\n" + "\n".join(f"    {line}".rstrip() for line in text.splitlines()))


def _own(name: str) -> Iterator[str]:
    """What the configuration says of a rule that stands in it."""
    from turnlint.cli.nearest import or_nearest
    from turnlint.report.escape import visible

    settings = Plan(Asked(), Options(), with_baselines=False).settings(Source("*", None))
    rules = {OWN + one.name: one for one in settings.rules} if settings else {}
    if not rules:
        raise click.UsageError(f"there is no rule {visible(name)!r}: the settings of this folder have none")
    if name not in rules:
        raise click.UsageError(f"there is no rule {or_nearest(name, rules)}")
    one = rules[name]
    yield f"{name} [{one.severity}, {OWN[:-1]}]"
    yield visible(one.message)
    yield from ("", *(f"    {visible(line)}" for line in one.about.splitlines())) if one.about else ()
    yield from ("", f"It is written at {visible(one.origin)}.")


def topics() -> list[str]:
    """The pages of the reference."""
    return sorted(name.removesuffix(".md") for name in os.listdir(DOCS) if name.endswith(".md"))


def examples_of(entry: "Entry") -> Iterator[tuple[str, str]]:
    """The examples of a rule, each with what is to be thought of it."""
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
    """An example that is about bytes, as far as it fits."""
    from turnlint.report.escape import visible

    lines = [visible(line.decode(errors="replace")) for line in data.splitlines()]
    return "\n".join(f"{line[:LONGEST]}{'…' if len(line) > LONGEST else ''}" for line in lines)


def _dedent(text: str) -> str:
    from textwrap import dedent

    return dedent(text).strip("\n").rstrip()
