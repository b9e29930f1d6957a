"""Complete arguments in a shell: rules, providers, settings and files.

The metavar of a parameter decides what completes it, so that a new option needs no code here. Errors give no
completions, since a message would disturb the user.
"""

from collections.abc import Callable, Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

Items = list[CompletionItem]
Names = Callable[[], Iterator[tuple[str, str]]]
"""Function that yields names with a description of each."""


def rules() -> Iterator[tuple[str, str]]:
    """Yield codes first, then names, then families."""
    from turnlint import rulebook

    yield from _single_rules()
    yield from ((family, "all rules of this family") for family in rulebook.FAMILIES)


def _single_rules() -> Iterator[tuple[str, str]]:
    from turnlint import rulebook

    entries = rulebook.everything()
    yield from ((one.rule.code, f"{one.rule.name}: {one.headline}") for one in entries)
    yield from ((one.rule.name, one.headline) for one in entries)


def explained() -> Iterator[tuple[str, str]]:
    from turnlint.cli.explain import topics

    yield from _single_rules()
    yield from ((name, "a reference page") for name in topics())
    yield from settings()


def settings() -> Iterator[tuple[str, str]]:
    """Yield the keys of the settings."""
    from turnlint.config.keys import keys

    yield from ((key.name, key.about) for key in keys().values())


def providers() -> Iterator[tuple[str, str]]:
    """Yield the providers; their versions follow once the name is complete."""
    from turnlint.packages import packages
    from turnlint.providers import Providers

    known = Providers(packages())
    for name in known.names():
        versions = known.versions(name)
        yield name, versions[0].title
        yield from ((one.label, one.about or one.title) for one in versions if one.version)


def any_provider() -> Iterator[tuple[str, str]]:
    yield "auto", "detect the provider of each record"
    yield "none", "apply no provider's rules"
    yield from providers()


class Fitting(click.ParamType[str]):
    """Type of a parameter, for completion only."""

    name = "fitting"

    def __init__(self, names: Names | None, *, several: bool = False) -> None:
        self.names = names
        self.several = several
        """Whether several names may follow each other, separated by commas."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:  # noqa: ARG002
        if self.names is None:
            return [CompletionItem(incomplete, type="file")]
        before, comma, typed = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        try:
            known = list(self.names())
        except Exception:  # noqa: BLE001 - foreign rules or profiles may not load; only a run reports that
            return []
        fitting = [(name, about) for name, about in known if name.lower().startswith(typed.lower())]
        if "@" not in typed:
            fitting = [(name, about) for name, about in fitting if "@" not in name]
        return [CompletionItem(before + comma + name, help=about) for name, about in fitting]


FILES = Fitting(None)
PLACES: dict[str, Fitting] = {
    "RULE": Fitting(rules, several=True),
    "RULE|KEY|TOPIC...": Fitting(explained),
    "KEY=VALUE": Fitting(lambda: ((f"{name}=", about) for name, about in settings())),
    "NAME[@VERSION]": Fitting(any_provider, several=True),
    "[NAME[@VERSION]]": Fitting(providers),
    "PROVIDER": Fitting(providers),
    "N|auto": Fitting(lambda: iter([("auto", "one per core")])),
}


def teach(command: click.Command, ctx: click.Context) -> click.Command:
    """Add completion to parameters of a command that have none."""
    for parameter in command.params:
        place: Any = parameter.make_metavar(ctx)
        if place in PLACES:
            parameter.type = PLACES[place]
        elif "FILE" in place.split(":")[0] or "PATH" in place:
            parameter.type = FILES
    return command
