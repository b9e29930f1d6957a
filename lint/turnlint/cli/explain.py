"""`turnlint explain RULE`.

This module owns how a rule's own documentation is shown, with the examples that are its tests.
"""

import click


@click.command("explain")
@click.argument("rule")
def command(rule: str) -> None:
    """Say what a rule means, why it matters and what fix does. RULE is a code or a name."""
    from turnlint import rulebook
    from turnlint.api import Example

    entries = rulebook.everything()
    wanted = next((one for one in entries if rule.lower() in (one.rule.code.lower(), one.rule.name)), None)
    if wanted is None:
        from turnlint.report.escape import visible

        raise click.UsageError(
            visible(str(rulebook.UnknownRule(rule, rulebook.nearest(rule, rulebook.names_of(entries)))))
        )
    nature = wanted.rule
    click.echo(
        f"{nature.code} {nature.name} [{nature.severity}, {nature.fault}]\n{wanted.headline}\n\n{wanted.docs}"
    )
    for title, examples in (
        ("Wrong", getattr(wanted.module, "BAD", ())),
        ("Right", getattr(wanted.module, "GOOD", ())),
    ):
        for example in examples:
            where = "" if example.provider == "none" else f" at {example.provider}"
            text = _dedent(example.text) if isinstance(example, Example) else _lines(example.data)
            click.echo(f"\n{title}{where}\n{text}")


LONGEST = 600


def _lines(data: bytes) -> str:
    """An example that is about bytes, as far as it fits."""
    from turnlint.report.escape import visible

    lines = [visible(line.decode(errors="replace")) for line in data.splitlines()]
    return "\n".join(f"    {line[:LONGEST]}{'…' if len(line) > LONGEST else ''}" for line in lines)


def _dedent(text: str) -> str:
    from textwrap import dedent, indent

    return indent(dedent(text).strip("\n").rstrip(), "    ")
