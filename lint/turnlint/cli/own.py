"""Read provider profiles that the user names on the command line, and report errors in them."""

from collections.abc import Iterable

import click

from turnlint.profiles import Profile

SUFFIXES = (".yaml", ".yml")


def own_profiles(
    files: Iterable[str], named: Iterable[str] = ()
) -> tuple[tuple[str, ...], tuple[Profile, ...]]:
    """Return the provider names and the profiles of some files.

    A provider may be named by the file of its profiles.
    """
    names = list(named)
    paths = list(dict.fromkeys([*files, *(name for name in names if name.endswith(SUFFIXES))]))
    if not paths:
        return tuple(names), ()
    from turnlint.errors import ProfilesError
    from turnlint.own_profiles import read
    from turnlint.packages import packages
    from turnlint.report.escape import visible

    try:
        found = read(paths, packages())
    except ProfilesError as error:
        raise click.UsageError("\n".join(map(visible, error.lines))) from None
    told = [one for name in names for one in _names_in(found[name] if name.endswith(SUFFIXES) else name)]
    return tuple(told), tuple(profile for path in paths for profile in found[path])


def _names_in(named: str | tuple[Profile, ...]) -> list[str]:
    return [named] if isinstance(named, str) else list(dict.fromkeys(profile.name for profile in named))


def tell_unused(named: tuple[str, ...], own: tuple[Profile, ...]) -> None:
    """Warn about profiles that no conversation can select, if the user named no provider."""
    if set(named) - {"auto"} or not own:
        return
    from turnlint.packages import packages
    from turnlint.providers import Providers
    from turnlint.report.escape import visible

    known = Providers(packages()).names()
    for profile in own:
        if not (profile.hosts or profile.models or profile.name in known):
            name = visible(profile.name)
            click.echo(
                f"turnlint: the profile {name} has no hosts and no models, so it is never selected; add --provider {name}",
                err=True,
            )
