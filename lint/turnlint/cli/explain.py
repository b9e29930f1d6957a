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
        raise click.UsageError(
            str(rulebook.UnknownRule(rule, rulebook.nearest(rule, rulebook.names_of(entries))))
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
            if isinstance(example, Example):
                click.echo(f"\n{title}\n{_dedent(example.text)}")


def _dedent(text: str) -> str:
    from textwrap import dedent, indent

    return indent(dedent(text).strip("\n").rstrip(), "    ")
