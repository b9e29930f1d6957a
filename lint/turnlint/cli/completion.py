"""`turnlint completion SHELL`: print the completion script for a shell."""

import click

from turnlint.cli.nearest import Named

SHELLS = ("bash", "zsh", "fish", "powershell")
VARIABLE = "_TURNLINT_COMPLETE"


@click.command("completion")
@click.argument("shell", type=Named("shell", SHELLS))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    Write it to a file that the shell reads, then start a new shell.

    \b
    turnlint completion bash \\
      > ~/.local/share/bash-completion/completions/turnlint

    \b
    turnlint completion zsh \\
      > "${fpath[1]}/_turnlint"

    \b
    turnlint completion fish \\
      > ~/.config/fish/completions/turnlint.fish

    \b
    turnlint completion powershell `
      >> $PROFILE

    Exit codes: 0 printed, 2 usage error.
    """  # noqa: D301 - the mark that keeps these lines is click's
    from click.shell_completion import get_completion_class

    from turnlint.cli import cli, powershell

    assert powershell.NAME in SHELLS
    kind = get_completion_class(shell)
    assert kind is not None
    completer = kind(cli, {}, "turnlint", VARIABLE)
    click.echo(completer.source_template % completer.source_vars())
