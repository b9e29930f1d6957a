"""Run the command line: each command is a module of this package, imported on its call.

Every failure gives the user a message and an exit code, and never a traceback.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NoReturn, TextIO, cast

# Objects that modules create on import stay. To search them for garbage some thirty times takes 3 of the 40
# ms of a small run (2026-11).
_collects = gc.isenabled()
gc.disable()

import click  # noqa: E402

from turnlint import __version__  # noqa: E402


def _collect() -> None:
    """Enable garbage collection again, but exclude the present objects."""
    if _collects:
        gc.freeze()
        gc.enable()


_collect()

COMMANDS = {
    "lint": "Check transcripts and report what is wrong.",
    "fix": "Repair transcripts in place.",
    "undo": "Undo the last fix of a file.",
    "rules": "List all rules.",
    "explain": "Explain a rule, a setting or a topic.",
    "inspect": "Describe a file: its format, its contents, and what lint and fix can do.",
    "why": "Explain a provider's error message and find its cause in a transcript.",
    "profiles": "List the supported providers, or print the rules of one.",
    "config": "Show, explain and create settings.",
    "baseline": "Record known findings, so that only new ones are reported.",
    "ids": "Show the ids that calls and results would get for a provider.",
    "formats": "List the supported file formats.",
    "lsp": "Run the language server for editors.",
    "schema": "Print a JSON Schema.",
    "completion": "Print the completion script for a shell.",
}
"""Names with their one-line help, so that `--help` imports no command. A test compares both with the modules."""

EXIT_USAGE = 2
EXIT_INTERNAL = 4
EXIT_INTERRUPTED = 130


def _load(name: str) -> object:
    """Return the command of a module."""
    gc.disable()
    try:
        return import_module(f"turnlint.cli.{name}").command
    finally:
        _collect()


class Option(click.Option):
    """An option with a help text that needs no cleaning: click would import a module for that."""

    def __init__(self, *args: Any, help: str | None = None, **more: Any) -> None:  # noqa: A002 - click's own name for it
        super().__init__(*args, **more)
        self.help = help


option = partial(click.option, cls=Option)


class HelpContext(click.Context):
    """A context whose help pages fit narrow terminals as well."""

    def make_formatter(self) -> click.HelpFormatter:
        from turnlint.cli.help_text import open_formatter

        return open_formatter()


class Helped(click.Command):
    """A command with a help option of its own: click would first load modules to translate the help text.

    That takes 0.6 ms of a small run (click 8.5, 2026-11).
    """

    _help: click.Option | None = None

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        names = self.get_help_option_names(ctx)
        if not names or not self.add_help_option:
            return None
        if self._help is None:
            self._help = Option(
                [*names, "_help"], is_flag=True, expose_value=False, is_eager=True,
                help="Show this message and exit.", callback=_show(click.Context.get_help),
            )  # fmt: skip
        return self._help


def _show(said: Callable[[click.Context], str]) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return the callback of an option that prints a text and ends the run."""

    def show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            click.echo(said(ctx), color=ctx.color)
            ctx.exit()

    return show


class Commands(Helped, click.Group):
    """Subcommands by name; an unknown name gets a suggestion."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = _load(cmd_name)
        assert isinstance(command, click.Command)
        if ctx.resilient_parsing:  # a shell requests completions
            from turnlint.cli.completing import teach

            return teach(command, ctx)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from turnlint.text import did_you_mean

            ctx.fail(f"unknown command {did_you_mean(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@option(
    "-V", "--version", is_flag=True, expose_value=False, is_eager=True, help="Show the version and exit.",
    callback=_show(lambda _: f"turnlint, version {__version__}"),
)  # fmt: skip
def cli() -> None:
    """A linter for logged LLM conversations.

    It finds broken tool calls, damaged records and requests that a provider would reject. It says what is wrong,
    where, and what to do, and it can repair the file.

    \b
    Start with:  turnlint lint FILE
    Repair:      turnlint fix FILE
    Explain:     turnlint why "ERROR" FILE
    """  # noqa: D301 - the mark that keeps these lines is click's


def main() -> NoReturn:
    """Run the command line, and exit with a code that scripts can use."""
    _prepare_streams()
    click.Command.context_class = HelpContext  # for all commands, also those of groups
    _end_in_order()
    if os.environ.get("_TURNLINT_COMPLETE", "").startswith("powershell"):  # a shell without support in click
        import_module("turnlint.cli.powershell")
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        _leave(EXIT_INTERRUPTED, "stopped")
    except Terminated as ended:
        os._exit(128 + ended.number)
    except click.ClickException as error:
        _make_safe(error)
        error.show()
        _leave(error.exit_code)
    except OSError as error:
        _leave(EXIT_USAGE, f"stopped: {(error.strerror or type(error).__name__).lower()}")
    except Exception as error:
        if os.environ.get("TURNLINT_TRACEBACK"):
            raise
        if reason := _broken_package(error):
            _leave(EXIT_INTERNAL, reason)
        _leave(
            EXIT_INTERNAL, f"internal error: {type(error).__name__}; set TURNLINT_TRACEBACK=1 for a traceback"
        )
    _leave(code if isinstance(code, int) else 0)


def _broken_package(error: Exception) -> str:
    """Return the sentence about another package that cannot be loaded; empty for any other error."""
    from turnlint.errors import BrokenRulesError
    from turnlint.report.escape import visible

    return visible(str(error)) if isinstance(error, BrokenRulesError) else ""


def _make_safe(error: click.ClickException) -> None:
    """Escape the message of an error, so that quoted text controls no terminal and no build runner."""
    from turnlint.report.escape import line_start

    message = "\n".join(map(line_start, error.format_message().split("\n")))
    error.format_message = lambda: message  # type: ignore[method-assign]


def _prepare_streams() -> None:
    """Accept any character on all streams, and discard output to closed ones."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the whole run
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if os.environ.get("COLUMNS") or sys.stderr.isatty():
        from turnlint.cli.folding import Folded
        from turnlint.cli.look import line_limit

        if limit := line_limit(sys.stderr):
            sys.stderr = cast("TextIO", Folded(sys.stderr, limit))


class Terminated(BaseException):
    """A signal to end the process: temporary files are removed before the exit."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _end_in_order() -> None:
    """Clean up when a signal ends the process. A signal that was ignored before stays ignored, as under `nohup`."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

    def end(number: int, _: object) -> None:
        for one in numbers:
            signal.signal(one, signal.SIG_IGN)  # a second signal must not interrupt the cleanup
        raise Terminated(number)

    for one in numbers:
        if signal.getsignal(one) == signal.SIG_DFL:
            signal.signal(one, end)


def _leave(code: int, word: str | None = None) -> NoReturn:
    """Exit at once. A regular shutdown of the interpreter takes as long as a small run (5 of 33 ms, 2026-11)."""
    if word:
        click.echo(f"turnlint: {word}", err=True)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            pass  # the reader closed the pipe, which is no error
        except (OSError, ValueError):
            code = EXIT_USAGE
    os._exit(code)
