"""`turnlint lint`.

This module owns the options of that command, where its output goes, and the code it exits with.
"""

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

import click
from msgspec import Struct

from turnlint.cli.asking import rules_of_a_run, shown, sources_of, words
from turnlint.cli.look import DEFAULT_WIDTH, Look, colors, is_terminal, width
from turnlint.cli.loose import Command, Loose
from turnlint.cli.nearest import Named
from turnlint.cli.settings import Asked, Plan, Terms, configured, given, levels
from turnlint.cli.waiting import bar
from turnlint.documents.source import Progress, Source
from turnlint.engine import Book, Content, Crash, Options, Skipped, Tally
from turnlint.model import SEVERITIES
from turnlint.report import COUNTED, FLOWING, FORMATS, KINDS, Kind, Sink, open_sink
from turnlint.spread.here import Done, Failure, here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    "--follow",
    is_flag=True,
    help="Go on: tell what is wrong in what is appended to the files, and in new files of the folders. Ctrl-C ends it.",
)
@click.option(
    "--poll", type=click.FloatRange(0.01, 3600), default=1.0, metavar="SECONDS", show_default=True,
    help="How long --follow waits before it looks again.",
)  # fmt: skip
@click.option(
    "--color",
    type=Named("choice", ("auto", "always", "never")),
    default="auto",
    help="Colours: auto, always, never.",
)
def command(
    paths: tuple[str, ...], format_name: str, providers: tuple[str, ...], profiles: tuple[str, ...],
    select: tuple[str, ...], ignore: tuple[str, ...], baseline: str | None, fail_on: str, **how: Any,
) -> None:  # fmt: skip
    """Find what is wrong in transcripts.

    PATH is a file, a folder, a pattern, or - for standard input; without one, the folder you are in.
    Exit code: 0 nothing at or above --fail-on, 1 something, 2 usage, 3 nothing to lint, 4 internal.
    """
    way = Way(**how)
    kinds = way.kinds()
    options = Options(
        format=None if format_name == "auto" else format_name,
        select=words(select),
        ignore=words(ignore),
        view=any(kind.views for kind in kinds),
        content=cast("Content", way.content()),
        fingerprints=way.follow or any(kind.fingerprints for kind in kinds),
        spans=any(kind.spans for kind in kinds),
        conversations=any(kind.conversations for kind in kinds),
        says=SAID.get(way.statistics or "", ()),
    )
    asked = Asked(
        given("format_name", format_name), words(providers), profiles, options.select, options.ignore,
        fail_on=given("fail_on", fail_on), baseline=baseline,
    )  # fmt: skip
    timing = _timing() if way.profile_rules else None
    plan = Plan(asked, options, book=timing.book if timing else Book)
    sources = plan.read(way.find(paths))
    if not is_ready(plan, sources):
        raise click.exceptions.Exit(EXIT_INTERNAL)
    with ExitStack() as files:
        sinks = _sinks(way, plan, sources, files)
        if way.follow:
            from turnlint.cli.follow import follow

            seen = follow(lambda: plan.read(way.find(paths, missing=True)), sources, plan, sinks, way.poll)
        else:
            seen = _run(sources, plan, sinks, way)
        code = _exit_code(seen)
        if timing:
            timing.tell()
        if code < EXIT_USAGE and plan.account is not None:
            from turnlint.cli.unused import tell_unused

            tell_unused(plan, paths, sources)
        raise click.exceptions.Exit(code)


class Way(Struct, frozen=True):
    """How a run reads and tells, whatever it looks for."""

    output_format: str
    outputs: tuple[str, ...]
    stdin_filename: str
    show_content: str | None
    jobs: int
    cache: bool
    statistics: str | None
    profile_rules: bool
    follow: bool
    poll: float
    color: str

    def kinds(self) -> list[Kind]:
        """The formats that are written."""
        names = (self.output_format, *(_split(output)[0] for output in self.outputs))
        stuck = [name for name in names if self.follow and name not in FLOWING]
        if stuck:
            raise click.UsageError(
                f"--follow has no end, and {stuck[0]} is nothing without one; there are {', '.join(FLOWING)}"
            )
        if self.follow and self.cache:
            raise click.UsageError("--follow and --cache exclude each other")
        return [KINDS[name] for name in names]

    def content(self) -> str:
        private = os.environ.get("CI") or not is_terminal(sys.stdout)
        return self.show_content or ("none" if private else "excerpt")

    def find(self, paths: tuple[str, ...], *, missing: bool = False) -> list[Source]:
        """What to read. What is missing may be, where it was there before."""
        if missing:
            paths = tuple(
                path for path in paths or (".",) if os.path.exists(path) or any(map(path.count, "*?["))
            )
            if not paths:
                return []
        found = sources_of(paths, self.stdin_filename, [path for _, path in map(_split, self.outputs)])
        if self.follow and any(source.path is None for source in found):
            raise click.UsageError("--follow wants files and folders; standard input is read to its end")
        return found


def _timing() -> "Timing":
    from turnlint.cli.timing import SAID, Timing

    click.echo(SAID, err=True)
    return Timing()


def _sinks(way: Way, plan: Plan, sources: list[Source], files: ExitStack) -> list[Sink]:
    """Where findings go: standard output, and the files that were named."""
    fails = {source.name: levels(plan.of(source).fail_on) for source in sources}
    own = plan.own_rules()
    counted = way.statistics or ""
    look = Look(width(), colors(way.color), counted, fails, is_terminal(sys.stdout), own)
    sinks = [open_sink(way.output_format, sys.stdout.write, look)]
    for output in way.outputs:
        kind, path = _split(output)
        write = _open_output(path, files, "a" if KINDS[kind].added else "w", by_line=way.follow)
        sinks.append(open_sink(kind, write, Look(DEFAULT_WIDTH, False, counted, fails, own=own)))
    return sinks


def is_ready(plan: Plan, sources: list[Source]) -> bool:
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


def _run(sources: list[Source], plan: Plan, sinks: list[Sink], way: Way) -> "Seen":
    seen = Seen()
    # What other processes did, or a run before, is not timed.
    jobs, cache = (1, False) if way.profile_rules else (way.jobs, way.cache)
    with bar(sources, "linting") as progress:
        told = _told(sources, plan, jobs, progress, cache=cache)
        for source in sources:
            seen.take(_until_done(told), plan.of(source), sinks)
    seen.finish(sinks)
    if seen.passed_over and way.output_format != "text":
        files = "1 file" if seen.passed_over == 1 else f"{seen.passed_over:,} files"
        click.echo(f"turnlint: {files} of no known format skipped", err=True)
    sys.stdout.flush()
    return seen


class Seen:
    """What a run met."""

    def __init__(self) -> None:
        self.total = Tally()
        self.failed = self.unreadable = False
        self.passed_over = 0

    def take(self, told: "Iterable[Event | Failure]", terms: Terms, sinks: list[Sink]) -> None:
        """Hand on what is told of a source, and keep what the end of the run depends on."""
        for event in terms.sift(told):
            if isinstance(event, Tally):
                self.failed |= terms.fails(event)
                self.total.add(event)
            elif isinstance(event, Failure):
                self.unreadable = True
                click.echo(f"turnlint: {shown(event.name)}: {event.reason}", err=True)
            else:
                _tell(event)
                self.passed_over += isinstance(event, Skipped) and not event.source.named
                for sink in sinks:
                    sink.take(event)

    def finish(self, sinks: list[Sink]) -> None:
        for sink in sinks:
            sink.finish(self.total, complete=not self.total.crashes and not self.unreadable)


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


def _exit_code(seen: Seen) -> int:
    if seen.total.crashes:
        return EXIT_INTERNAL
    if seen.unreadable:
        return EXIT_USAGE
    if not seen.total.files:
        click.echo("turnlint: nothing to lint", err=True)
        return EXIT_NOTHING
    return EXIT_FINDINGS if seen.failed else 0


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


def _open_output(path: str, files: ExitStack, mode: str, *, by_line: bool) -> Any:
    try:
        buffering = 1 if by_line else -1
        return files.enter_context(open(path, mode, buffering, "utf-8", "backslashreplace")).write
    except OSError as error:
        raise click.UsageError(f"{shown(path)}: {(error.strerror or 'cannot be written').lower()}") from None
