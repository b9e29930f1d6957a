"""Options with a value that may be left out: `--statistics`, `--statistics=day`.

This module owns them. The value stands behind `=` or is not there: what follows such an option is the next argument, as it
was when it had no values yet.
"""

from typing import Any

import click

from turnlint.cli import Option
from turnlint.cli.environment import FromEnvironment


class Loose(Option):
    """An option that means `bare` where nothing is said."""

    def __init__(self, *args: Any, bare: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.bare = bare

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        found = super().get_help_record(ctx)
        return (found[0].replace(" [=", "[="), found[1]) if found else None


class Command(FromEnvironment):
    """A command that may have such options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        bare = {name: one.bare for one in self.params if isinstance(one, Loose) for name in one.opts}
        end = args.index("--") if "--" in args else len(args)
        said = [f"{arg}={bare[arg]}" if arg in bare else arg for arg in args[:end]]
        return super().parse_args(ctx, self._in_full(said) + args[end:])

    def _in_full(self, args: list[str]) -> list[str]:
        """The same by long names, but what may be the value of another option.

        A short name is looked for among the long ones first, and then what is near to it: 1 of the 40 ms of a small run
        (click 8.5, 2026-11).
        """
        full = {name: max(one.opts, key=len) for one in self.params for name in one.opts if len(name) == 2}
        before = ["", *args]
        return [
            full[arg] if arg in full and not last.startswith("-") and number + 1 < len(args) else arg
            for number, (last, arg) in enumerate(zip(before, args, strict=False))
        ]
