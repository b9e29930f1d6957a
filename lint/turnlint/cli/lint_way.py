"""Interpret the options of `turnlint lint` for input and output, and open its reports."""

import os
import sys
from contextlib import ExitStack
from typing import Any

import click
from msgspec import Struct

from turnlint.cli.asking import shown, sources_of
from turnlint.cli.look import DEFAULT_WIDTH, Look, colors, is_terminal, line_limit, width
from turnlint.cli.loose import Command
from turnlint.cli.settings import Plan, levels
from turnlint.documents.source import Source, odd_kind
from turnlint.engine import Tally
from turnlint.report import FLOWING, FORMATS, KINDS, Batched, Kind, Sink, open_sink
from turnlint.text import did_you_mean

DIAGNOSED = frozenset({"json", "jsonl"})
"""Formats of output that list the ids of conversations."""


class Lint(Command):
    """The command; with --fix it is `turnlint fix`, with the options of that command."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        end = args.index("--") if "--" in args else len(args)
        if "--fix" not in args[:end]:
            try:
                return super().make_context(info_name, args, parent, **extra)
            except click.NoSuchOption as error:
                from turnlint.cli.fix import command as fix

                if any(error.option_name in one.opts for one in fix.params):
                    words = f"{error.option_name} is an option of `turnlint fix`"
                    raise click.UsageError(words, error.ctx) from None
                raise
        from turnlint.cli.fix import command as fix

        args = [arg for arg in args[:end] if arg != "--fix"] + args[end:]
        try:
            return fix.make_context("fix", args, parent, **extra)
        except click.NoSuchOption as error:
            if any(error.option_name in one.opts for one in self.params):
                words = f"--fix runs `turnlint fix`, which has no option {error.option_name}"
                raise click.UsageError(words, error.ctx) from None
            raise


class Way(Struct, frozen=True):
    """The options for input and output."""

    output_format: str
    outputs: tuple[str, ...]
    stdin_filename: str
    show_content: str | None
    show_info: bool
    jobs: int
    cache: bool
    statistics: str | None
    diagnostics: bool
    profile_rules: bool
    follow: bool
    poll: float
    exit_zero: bool
    fail_on_skipped: bool
    skip_unknown: bool
    quiet: int
    color: str

    def kinds(self) -> list[Kind]:
        """Return the report formats of the run."""
        to_stdout = () if self.quiet > 1 else (self.output_format,)
        names = (*to_stdout, *(_split(output)[0] for output in self.outputs))
        stuck = [name for name in names if self.follow and name not in FLOWING]
        if stuck:
            raise click.UsageError(
                f"{stuck[0]} reports end with a summary and --follow does not end; expected one of {', '.join(FLOWING)}"
            )
        if self.skip_unknown and self.fail_on_skipped:
            raise click.UsageError("--skip-unknown and --fail-on-skipped cannot be combined")
        if self.diagnostics and DIAGNOSED.isdisjoint(names):
            raise click.UsageError("--diagnostics needs the output format json or jsonl")
        for name, is_given in (("--cache", self.cache), ("--diagnostics", self.diagnostics)):
            if self.follow and is_given:
                raise click.UsageError(f"--follow and {name} cannot be combined")
        return [KINDS[name] for name in names]

    def content(self) -> str:
        private = os.environ.get("CI") or not is_terminal(sys.stdout)
        return self.show_content or ("none" if private else "excerpt")

    def find(self, paths: tuple[str, ...], *, missing: bool = False) -> list[Source]:
        """Return the sources to read. With `missing`, paths that no longer exist are skipped."""
        if missing:
            paths = tuple(
                path for path in paths or (".",) if os.path.exists(path) or any(map(path.count, "*?["))
            )
            if not paths:
                return []
        found = sources_of(paths, self.stdin_filename, [path for _, path in map(_split, self.outputs)])
        if self.follow and any(source.path is None for source in found):
            raise click.UsageError("--follow needs files or folders, not standard input")
        if self.follow:
            for source in found:
                if source.named and (kind := odd_kind(source.path or "")):
                    raise click.UsageError(f"{shown(source.name)}: is {kind}, not a file")
        return found


def sinks_of(way: Way, plan: Plan, sources: list[Source], files: ExitStack) -> list[Sink]:
    """Return the sinks of the findings: standard output, and the named files."""
    fails = {source.name: levels(plan.of(source).fail_on) for source in sources}
    own = plan.own_rules()
    counted = way.statistics or ""
    infos = way.show_info or bool(plan.asked.select)
    look = Look(width(), colors(way.color), counted, fails, line_limit() is not None, infos, own)
    sinks: list[Sink] = []
    write = _write_out
    if way.outputs:
        from turnlint.cli.report_file import Out, ReportFile

        out = Out()
        write = out.write
        files.callback(out.flush)
    if way.quiet < 2:
        sink = open_sink(way.output_format, write, look)
        sinks.append(_Unsummed(sink) if way.quiet and isinstance(sink, Batched) else sink)
    for output in way.outputs:
        kind, path = _split(output)
        file = files.enter_context(ReportFile(path, added=KINDS[kind].added, flows=way.follow))
        sinks.append(
            open_sink(kind, file.write, Look(DEFAULT_WIDTH, False, counted, fails, infos=infos, own=own))
        )
    return sinks


def _write_out(text: str) -> None:
    sys.stdout.write(text)  # a progress bar replaces the stream during the run


class _Unsummed:
    """A sink without its summary."""

    def __init__(self, sink: Any) -> None:
        self.take, self.tell = sink.take, sink.tell

    def finish(self, tally: Tally, *, complete: bool) -> None:  # noqa: ARG002 - both are the last word
        self.tell()


def _split(output: str) -> tuple[str, str]:
    kind, colon, path = output.partition(":")
    if not colon or not path or kind not in FORMATS:
        why = (
            f"unknown output format {did_you_mean(kind, FORMATS)}"
            if colon and path
            else "expected FORMAT:FILE"
        )
        raise click.BadParameter(why, param_hint="--output")
    return kind, path
