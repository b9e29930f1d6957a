"""Groups of commands with complete help texts, and suggestions for unknown names."""

import click

from turnlint.text import did_you_mean

LONGEST_HELP = 200


class Verbs(click.Group):
    """A group inside of `turnlint`, such as `turnlint config`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or name the nearest one."""
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            ctx.fail(f"unknown command {did_you_mean(args[0], names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first sentence of each command: click cuts it at the width of a line."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(LONGEST_HELP)) for name, one in found if one])
