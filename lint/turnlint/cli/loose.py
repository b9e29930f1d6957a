"""Options with a value that may be left out: `--statistics`, `--statistics=day`.

The value follows `=` or is left out: in `fix --diff log.jsonl` the file is no value. click, with `flag_value`, takes the next
argument as the value.
"""

from typing import Any

import click

from turnlint.cli import Option
from turnlint.cli.environment import FromEnvironment


class Loose(Option):
    """An option that means `bare` if it has no value."""

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
        return super().parse_args(ctx, said + args[end:])
