"""Read options from environment variables, and report variables with unusable values or unknown names."""

import os
from typing import Any

import click
from click.core import ParameterSource

from turnlint.cli import Helped
from turnlint.text import nearest_name

PREFIX = "TURNLINT"


class FromEnvironment(Helped):
    """A command whose options may be set by variables: that of `--fail-on` of `lint` is `TURNLINT_LINT_FAIL_ON`."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        for option in self.params:
            if isinstance(option, click.Option):
                more = [option.envvar] if isinstance(option.envvar, str) else []
                option.envvar = [*more, variable(str(self.name), option)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        self._warn(ctx)
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            option = error.param
            if isinstance(option, click.Option) and _is_set(ctx, option):
                error.param_hint = f"the variable {_set_by(option)}"
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            found = [
                _set_by(one) for one in self.params if isinstance(one, click.Option) and _is_set(ctx, one)
            ]
            if not found:
                raise
            said = f"{error.format_message()}\n(from the environment: {', '.join(found)})"
            raise click.UsageError(said, error.ctx) from None

    def _warn(self, ctx: click.Context) -> None:
        """Warn about variables with the prefix of the command that match no option."""
        if ctx.resilient_parsing:
            return
        start = f"{PREFIX}_{str(self.name).upper()}_"
        for name in sorted(one for one in os.environ if one.startswith(start)):
            known = [variable(str(self.name), one) for one in self.params if isinstance(one, click.Option)]
            if name not in known:
                near = nearest_name(name.removeprefix(start), [one.removeprefix(start) for one in known])
                more = f"did you mean {start}{near}?" if near else f"`turnlint {self.name} --help` lists them"
                click.echo(f"turnlint: {name} is not a known variable; {more}", err=True)


def variable(command: str, option: click.Option) -> str:
    """Return the name of the variable of an option."""
    name = max(option.opts, key=len).lstrip("-").replace("-", "_")
    return f"{PREFIX}_{command}_{name}".upper()


def _is_set(ctx: click.Context, option: click.Option) -> bool:
    return ctx.get_parameter_source(str(option.name)) is ParameterSource.ENVIRONMENT


def _set_by(option: click.Option) -> str:
    names = [option.envvar] if isinstance(option.envvar, str) else [*(option.envvar or ())]
    return next((name for name in names if os.environ.get(name)), names[-1])
