"""`turnlint lint`.

This module owns the options of that command, where its output goes, and the code it exits with.
"""

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

import click

from turnlint.cli.asking import rules_of_a_run, shown, sources_of, words
from turnlint.cli.look import DEFAULT_WIDTH, Look, colors, is_terminal, width
from turnlint.cli.loose import Command, Loose
from turnlint.cli.nearest import Named
from turnlint.cli.settings import Asked, Plan, configured, given, levels
from turnlint.cli.waiting import bar
from turnlint.documents.source import Progress, Source
from turnlint.engine import Book, Content, Crash, Options, Skipped, Tally
from turnlint.model import SEVERITIES
from turnlint.report import COUNTED, FORMATS, KINDS, Sink, open_sink
from turnlint.spread.here import Done, Failure, here

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turnlint.cli.timing import Timing
    from turnlint.engine import Event
    from turnlint.spread.here import Told

MOST_JOBS = 256
SAID = {"model": ("model",), "day": ("day",)}
"""What has to be asked of records for a table."""
EXIT_FINDINGS, EXIT_USAGE, EXIT_NOTHING, EXIT_INTERNAL = 1, 2, 3, 4


def _jobs(_: click.Context, __: click.Parameter, value: str) -> int:
    """How many processes; none is as many as there are cores."""
    if value == "auto":
        return 0
    if not value.isdecimal() or not 0 < int(value) <= MOST_JOBS:
        raise click.BadParameter(f"wants auto, or a number from 1 to {MOST_JOBS}")
    return int(value)


@click.command("lint", cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATH...|-]")
@rules_of_a_run
@configured
@click.option(
    "--baseline", metavar="FILE",
    help="Findings that were there before: they are not told of again. `turnlint baseline write` makes it.",
)  # fmt: skip
@click.option(
    "--fail-on", type=Named("level", (*SEVERITIES, "never")), default="error", show_default=True,
    help="The mildest severity that makes the exit code 1.",
)  # fmt: skip
@click.option(
    "--output-format", type=Named("output format", FORMATS), default="text", show_default=True,
    help="What to write to standard output: " + ", ".join(FORMATS) + ".",
)  # fmt: skip
@click.option(
    "--output", "outputs", multiple=True, metavar="FORMAT:FILE", help="Write a report to a file as well."
)
@click.option("--stdin-filename", metavar="NAME", default="<stdin>", help="What to call standard input.")
@click.option(
    "--show-content", type=Named("amount", ("none", "excerpt", "full")),
    help="How much of the messages to show. Default: excerpts on a terminal, none elsewhere.",
)  # fmt: skip
@click.option(
    "-j", "--jobs", metavar="N|auto", default="auto", show_default=True, callback=_jobs,
    help="How many processes read: a number, or as many as there are cores.",
)  # fmt: skip
@click.option(
    "--cache", is_flag=True,
    help="Remember what was found, and do not read again what is the same. Kept in the user's cache folder, or "
    "in the one that TURNLINT_CACHE names.",
)  # fmt: skip
@click.option(
    "--statistics", cls=Loose, bare="rule", type=Named("statistics by", COUNTED), metavar="[=BY]",
    help="Add a table of findings, to text and JSON: by " + ", ".join(COUNTED) + ". Default: by rule.",
)  # fmt: skip
@click.option(
    "--profile-rules", is_flag=True, help="Say on standard error how long each rule took, and of how much."
)
@click.option(
    "--color",
    type=Named("choice", ("auto", "always", "never")),
    default="auto",
    help="Colours: auto, always, never.",
)
def command(
    paths: tuple[str, ...], format_name: str, providers: tuple[str, ...], profiles: tuple[str, ...],
    select: tuple[str, ...], ignore: tuple[str, ...], baseline: str | None, fail_on: str, output_format: str, outputs: tuple[str, ...],
    stdin_filename: str, show_content: str | None, jobs: int, cache: bool, statistics: str | None, profile_rules: bool,
    color: str,
) -> None:  # fmt: skip
    """Find what is wrong in transcripts.

    PATH is a file, a folder, a pattern, or - for standard input; without one, the folder you are in.
    Exit code: 0 nothing at or above --fail-on, 1 something, 2 usage, 3 nothing to lint, 4 internal.
    """
    content = show_content or ("excerpt" if is_terminal(sys.stdout) and not os.environ.get("CI") else "none")
    kinds = [KINDS[kind] for kind in (output_format, *(_split(output)[0] for output in outputs))]
    options = Options(
        format=None if format_name == "auto" else format_name,
        select=words(select),
        ignore=words(ignore),
        view=any(kind.views for kind in kinds),
        content=cast("Content", content),
        fingerprints=any(kind.fingerprints for kind in kinds),
        spans=any(kind.spans for kind in kinds),
        conversations=any(kind.conversations for kind in kinds),
        says=SAID.get(statistics or "", ()),
    )
    asked = Asked(
        given("format_name", format_name), words(providers), profiles, options.select, options.ignore,
        fail_on=given("fail_on", fail_on), baseline=baseline,
    )  # fmt: skip
    timing = _timing() if profile_rules else None
    plan = Plan(asked, options, book=timing.book if timing else Book)
    sources = plan.read(sources_of(paths, stdin_filename, [path for _, path in map(_split, outputs)]))
    if not _is_ready(plan, sources):
        raise click.exceptions.Exit(EXIT_INTERNAL)
    fails = {source.name: levels(plan.of(source).fail_on) for source in sources}
    own = plan.own_rules()
    look = Look(width(), colors(color), statistics or "", fails, is_terminal(sys.stdout), own)
    with ExitStack() as files:
        sinks = [open_sink(output_format, sys.stdout.write, look)]
        for output in outputs:
            kind, path = _split(output)
            write = _open_output(path, files, "a" if KINDS[kind].added else "w")
            sinks.append(open_sink(kind, write, Look(DEFAULT_WIDTH, False, statistics or "", fails, own=own)))
        # What other processes did, or a run before, is not seen here.
        once = timing is not None
        code = _run(
            sources, plan, sinks, 1 if once else jobs, cache=cache and not once, quiet=output_format != "text"
        )
        if timing:
            timing.tell()
        if code < EXIT_USAGE and plan.account is not None:
            from turnlint.cli.unused import tell_unused

            tell_unused(plan, paths, sources)
        raise click.exceptions.Exit(code)


def _timing() -> "Timing":
    from turnlint.cli.timing import SAID, Timing

    click.echo(SAID, err=True)
    return Timing()


def _is_ready(plan: Plan, sources: list[Source]) -> bool:
    """Work out what holds for each source, before anything is read or opened."""
    from turnlint.providers import UnknownProvider
    from turnlint.rulebook import BrokenRules, UnknownRule

    try:
        plan.prepare(sources)
    except (UnknownRule, UnknownProvider) as error:
        raise click.UsageError(str(error)) from None
    except BrokenRules as error:
        click.echo(f"turnlint: {shown(str(error))}", err=True)
        return False
    return True


def _run(sources: list[Source], plan: Plan, sinks: list[Sink], jobs: int, *, cache: bool, quiet: bool) -> int:
    total = Tally()
    unreadable = failed = False
    passed_over = 0
    with bar(sources, "linting") as progress:
        told = _told(sources, plan, jobs, progress, cache=cache)
        for source in sources:
            terms = plan.of(source)
            for event in terms.sift(_until_done(told)):
                if isinstance(event, Tally):
                    failed |= terms.fails(event)
                    total.add(event)
                elif isinstance(event, Failure):
                    unreadable = True
                    click.echo(f"turnlint: {shown(event.name)}: {event.reason}", err=True)
                else:
                    _tell(event)
                    passed_over += isinstance(event, Skipped) and not event.source.named
                    for sink in sinks:
                        sink.take(event)
    for sink in sinks:
        sink.finish(total, complete=not total.crashes and not unreadable)
    if passed_over and quiet:
        files = "1 file" if passed_over == 1 else f"{passed_over:,} files"
        click.echo(f"turnlint: {files} of no known format skipped", err=True)
    sys.stdout.flush()
    return _exit_code(total, failed=failed, unreadable=unreadable)


def _until_done(told: "Iterator[Told]") -> "Iterator[Event | Failure]":
    """All that is told of the source that comes next."""
    for event in told:
        if isinstance(event, Done):
            return
        yield event


def _told(
    sources: list[Source], plan: Plan, jobs: int, progress: Progress | None, *, cache: bool
) -> "Iterator[Told]":
    """Of each source in order: from the cache what is known, the rest by one process or by several."""

    def run(some: list[Source]) -> "Iterator[Told]":
        # One source that can be read but once, and little to do, are best left to one process.
        if jobs != 1 and all(source.path is not None for source in some):
            from turnlint.spread.cutting import cores, is_worth_it

            count = jobs or cores()
            if count > 1 and is_worth_it(some):
                from turnlint.spread.running import spread

                return spread(some, plan.of, count, progress)
        return here(some, plan.of, progress)

    if not cache:
        return run(sources)
    from turnlint.spread.cache import Cache, UnsafeFolder, folder

    try:
        return Cache(folder(), plan.of).run(sources, run)
    except (OSError, UnsafeFolder) as error:
        click.echo(f"turnlint: no cache: {shown(str(error))}", err=True)
        return run(sources)


def _exit_code(total: Tally, *, failed: bool, unreadable: bool) -> int:
    if total.crashes:
        return EXIT_INTERNAL
    if unreadable:
        return EXIT_USAGE
    if not total.files:
        click.echo("turnlint: nothing to lint", err=True)
        return EXIT_NOTHING
    return EXIT_FINDINGS if failed else 0


def _tell(event: object) -> None:
    if isinstance(event, Skipped) and event.source.named:
        name = shown(event.source.name)
        click.echo(
            f"turnlint: {name}: no known format; `turnlint formats` lists them, --format forces one", err=True
        )
    if isinstance(event, Crash):
        click.echo(f"turnlint: {event.rule} crashed at {shown(event.path)}:{event.line}", err=True)


def _split(output: str) -> tuple[str, str]:
    kind, colon, path = output.partition(":")
    if not colon or not path or kind not in FORMATS:
        from turnlint.cli.nearest import or_nearest

        why = (
            f"there is no output format {or_nearest(kind, FORMATS)}"
            if colon and path
            else "wants FORMAT:FILE"
        )
        raise click.BadParameter(why, param_hint="--output")
    return kind, path


def _open_output(path: str, files: ExitStack, mode: str) -> Any:
    try:
        return files.enter_context(open(path, mode, encoding="utf-8", errors="backslashreplace")).write
    except OSError as error:
        raise click.UsageError(f"{shown(path)}: {(error.strerror or 'cannot be written').lower()}") from None
