"""`turnlint lint`: the options of the command, its output and its exit code."""

import sys
from collections import Counter
from contextlib import ExitStack, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import click

from turnlint.cli import option
from turnlint.cli.asking import (
    SKIP_UNKNOWN,
    as_found,
    no_conversation_in,
    rules_of_a_run,
    shown,
    skipped_in_folders,
    tell_nothing,
    words,
)
from turnlint.cli.lint_way import Lint, Way, sinks_of
from turnlint.cli.look import is_terminal
from turnlint.cli.loose import Loose
from turnlint.cli.nearest import Named
from turnlint.cli.settings import Asked, Plan, Terms, configured, given
from turnlint.documents.source import Progress, Source
from turnlint.engine import Book, Content, Crash, Options, Skipped, Tally
from turnlint.model import SEVERITIES
from turnlint.neighbours import reason_of, sentence_of
from turnlint.report import COUNTED, FORMATS, Sink
from turnlint.rows import Row
from turnlint.spread.here import Done, Failure, here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from turnlint.cli.timing import Timing
    from turnlint.engine import Event
    from turnlint.spread.here import Told

MOST_JOBS = 256
LEAST_POLL, MOST_POLL = 0.01, 3600
SAID = frozenset({"model", "day"})
"""Statistics that need fields of records."""
EXIT_FINDINGS, EXIT_USAGE, EXIT_NOTHING, EXIT_INTERNAL = 1, 2, 3, 4


def _jobs(_: click.Context, __: click.Parameter, value: str) -> int:
    """Return the number of processes; 0 means one for each core."""
    if value == "auto":
        return 0
    if not value.isdecimal() or not 0 < int(value) <= MOST_JOBS:
        raise click.BadParameter(f"expected auto or a number from 1 to {MOST_JOBS}")
    return int(value)


def _seconds(_: click.Context, __: click.Parameter, value: str) -> float:
    """Return the time between two looks at a log that grows."""
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not LEAST_POLL <= seconds <= MOST_POLL:
        raise click.BadParameter(f"expected a number from {LEAST_POLL} to {MOST_POLL:,}")
    return seconds


@click.command(
    "lint", cls=Lint, epilog="Example: turnlint lint logs/ --provider anthropic --output sarif:report.sarif"
)
@click.argument("paths", nargs=-1, metavar="[PATH...|-]")
@rules_of_a_run
@configured
@option(
    "--baseline", metavar="FILE",
    help="Report only findings that are not in this baseline file. Create one with `turnlint baseline write`.",
)  # fmt: skip
@option(
    "--fail-on", type=Named("level", (*SEVERITIES, "never")), default="error", show_default=True,
    help="Lowest severity that makes the exit code 1: error, warning, info or never.",
)  # fmt: skip
@option(
    "--fail-on-skipped", is_flag=True,
    help="Exit with 1 if a named file is empty or has an unrecognized format.",
)  # fmt: skip
@SKIP_UNKNOWN
@option(
    "--output-format", type=Named("output format", FORMATS), default="text", show_default=True,
    help="Format of standard output: " + ", ".join(FORMATS) + ".",
)  # fmt: skip
@option(
    "--output",
    "outputs",
    multiple=True,
    metavar="FORMAT:FILE",
    help="Also write a report to a file, such as sarif:report.sarif; repeatable.",
)
@option("--stdin-filename", metavar="NAME", default="<stdin>", help="File name to report for standard input.")
@option(
    "--show-content", type=Named("amount", ("none", "excerpt", "full")),
    help="Message content to show: none, excerpt or full. Default: excerpt on a terminal, none otherwise.",
)  # fmt: skip
@option(
    "--show-info", is_flag=True,
    help="Also show findings of severity info in text output. All other formats always contain them, and so does text "
    "with --select or --fail-on info.",
)  # fmt: skip
@option(
    "-j", "--jobs", metavar="N|auto", default="auto", show_default=True, callback=_jobs,
    help="Number of processes; auto uses one per core.",
)  # fmt: skip
@option(
    "--cache", is_flag=True,
    help="Reuse the results of unchanged files. The cache is in the user's cache folder, or in the folder "
    "that TURNLINT_CACHE names.",
)  # fmt: skip
@option(
    "--statistics", cls=Loose, bare="rule", type=Named("grouping", COUNTED), metavar="[=BY]",
    help="Add a table of findings to text and JSON output, grouped by " + ", ".join(COUNTED) + ". Default: rule.",
)  # fmt: skip
@option(
    "--diagnostics", is_flag=True,
    help="List the ids of all conversations in json and jsonl output, and the decisions about them.",
)  # fmt: skip
@option("--profile-rules", is_flag=True, help="Print the time spent in each rule to standard error.")
@option("--exit-zero", is_flag=True, help="Exit with 0 instead of 1 when there are findings.")
@option(
    "-q", "--quiet", count=True,
    help="Print findings only, without summary and hints; -qq also prints no findings.",
)  # fmt: skip
@option(
    "--fix",
    is_flag=True,
    expose_value=False,
    help="Repair the files: the same as `turnlint fix`, with its options.",
)
@option(
    "--follow",
    is_flag=True,
    help="Keep running and check records as they are appended, and new files in the folders. Stop with Ctrl-C.",
)
@option(
    "--poll", default="1", metavar="SECONDS", show_default=True, callback=_seconds,
    help="Seconds between two checks of --follow.",
)  # fmt: skip
@option(
    "--color",
    type=Named("choice", ("auto", "always", "never")),
    default="auto",
    help="Use colors: auto, always or never.  [default: auto]",
)
def command(
    paths: tuple[str, ...], format_name: str, providers: tuple[str, ...], profiles: tuple[str, ...],
    select: tuple[str, ...], ignore: tuple[str, ...], baseline: str | None, fail_on: str, **how: Any,
) -> None:  # fmt: skip
    """Check transcripts and report what is wrong.

    PATH is a file, a folder, a glob pattern, or - for standard input. Default: the current folder. Files are never
    changed.

    Exit codes: 0 no finding at or above --fail-on, 1 findings, 2 usage error or unreadable file, 3 no
    input in a known format, 4 internal error.
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
        diagnostics=way.diagnostics,
        says=way.statistics in SAID,
    )
    asked = Asked(
        given("format_name", format_name), words(providers), profiles, options.select, options.ignore,
        fail_on=given("fail_on", fail_on), baseline=baseline,
    )  # fmt: skip
    timing = _timing() if way.profile_rules else None
    plan = Plan(asked, options, book=timing.book if timing else Book)
    sources = as_found(plan.read(way.find(paths)), skips_unknown=way.skip_unknown)
    if not is_ready(plan, sources):
        raise click.exceptions.Exit(EXIT_INTERNAL)
    with ExitStack() as files:
        sinks = sinks_of(way, plan, sources, files)
        if way.follow:
            from turnlint.cli.follow import follow

            seen = follow(lambda: plan.read(way.find(paths, missing=True)), sources, plan, sinks, way)
        else:
            seen = _run(sources, plan, sinks, way)
        if not way.quiet:
            for line in skipped_in_folders():
                click.echo(f"turnlint: {line}", err=True)
        if way.skip_unknown and sources and not (seen.total.files or seen.total.crashes or seen.unreadable):
            raise click.exceptions.Exit(0)
        code = _exit_code(seen, fails_on_skipped=way.fail_on_skipped)
        if timing:
            timing.tell()
        if code < EXIT_USAGE and plan.account is not None and not way.quiet:
            from turnlint.cli.unused import tell_unused

            tell_unused(plan, paths, sources)
        raise click.exceptions.Exit(0 if code == EXIT_FINDINGS and way.exit_zero else code)


def _timing() -> "Timing":
    from turnlint.cli.timing import SAID, Timing

    click.echo(SAID, err=True)
    return Timing()


def is_ready(plan: Plan, sources: list[Source]) -> bool:
    """Resolve the settings of each source before any source is read; return whether all are usable."""
    from turnlint.errors import UnknownProviderError

    try:
        plan.prepare(sources)
    except UnknownProviderError as error:
        raise click.UsageError(str(error)) from None
    except Exception as error:
        from turnlint.errors import BrokenRulesError, UnknownRuleError

        if isinstance(error, UnknownRuleError):
            raise click.UsageError(str(error)) from None
        if not isinstance(error, BrokenRulesError):
            raise
        click.echo(f"turnlint: {shown(str(error))}", err=True)
        return False
    return True


def _run(sources: list[Source], plan: Plan, sinks: list[Sink], way: Way) -> "Seen":
    seen = Seen(way.quiet)
    # Work of other processes or of an earlier run cannot be timed.
    jobs, cache = (1, False) if way.profile_rules else (way.jobs, way.cache)
    with _bar(sources) as progress:
        told = _told(sources, plan, jobs, progress, cache=cache)
        for source in sources:
            seen.take(_until_done(told), plan.of(source), sinks, source)
    seen.finish(sinks)
    if seen.passed_over and way.output_format != "text" and not way.quiet:
        from turnlint.report.words import skipped

        click.echo(f"turnlint: {skipped(seen.passed_over)}", err=True)
    if not way.outputs:
        sys.stdout.flush()
    return seen


class Seen:
    """The results of a run."""

    def __init__(self, quiet: int) -> None:
        self.quiet = quiet
        self.total = Tally()
        self.failed = self.unreadable = False
        self.passed_over: Counter[str] = Counter()
        """Files of folders that were not read, by the reason."""
        self.named_skipped = 0
        """Number of named files without a conversation."""

    def take(
        self, told: "Iterable[Event | Failure]", terms: Terms, sinks: list[Sink], source: Source | None = None
    ) -> None:
        """Pass the events of a source to the sinks, and keep the values for the end of the run."""
        whole = Tally()  # a file that is read in parts has a tally of each
        for event in _aggregated(terms.sift(told)):
            if isinstance(event, Tally):
                self.failed |= terms.fails(event)
                whole.add(event)
                self.total.add(event)
            elif isinstance(event, Failure):
                self.unreadable = True
                click.echo(f"turnlint: {shown(event.name)}: {event.reason}", err=True)
            else:
                if self.quiet < 2 or isinstance(event, Crash):
                    _tell(event)
                if isinstance(event, Skipped):
                    if event.source.named:
                        self.named_skipped += 1
                    else:
                        self.passed_over[reason_of(event.near)] += 1
                for sink in sinks:
                    sink.take(event)
        if source is not None and source.named and _is_empty(whole):
            self.named_skipped += 1
            self._say_empty(source)

    def _say_empty(self, source: Source) -> None:
        if self.quiet < 2:
            click.echo(f"turnlint: {no_conversation_in(source)}", err=True)

    def finish(self, sinks: list[Sink]) -> None:
        for sink in sinks:
            sink.finish(self.total, complete=not self.total.crashes and not self.unreadable)


def _aggregated(events: "Iterable[Event | Failure]") -> "Iterator[Event | Failure]":
    """Yield the events, with one finding for many equal ones.

    Files without findings do not load the module for that.
    """
    rest = iter(events)
    for event in rest:
        if isinstance(event, Row):
            from turnlint.aggregation import aggregate

            yield from aggregate(chain((event,), rest))
        else:
            yield event


def _is_empty(tally: Tally) -> bool:
    """Whether a source was read and has no conversation."""
    return bool(tally.files) and not tally.conversations


def _bar(sources: list[Source]) -> "AbstractContextManager[Progress | None]":
    """Return a progress bar if standard error is a terminal."""
    if not is_terminal(sys.stderr):
        return nullcontext()
    from turnlint.cli.waiting import bar

    return bar(sources, "linting")


def _until_done(told: "Iterator[Told]") -> "Iterator[Event | Failure]":
    """Yield all events of the next source."""
    for event in told:
        if isinstance(event, Done):
            return
        yield event


def _told(
    sources: list[Source], plan: Plan, jobs: int, progress: Progress | None, *, cache: bool
) -> "Iterator[Told]":
    """Yield the events of each source in order: from the cache if possible, the rest from one process or several."""

    def run(some: list[Source]) -> "Iterator[Told]":
        # A source that can be read only once, and a small amount of work, stay in one process.
        if jobs != 1 and all(source.path is not None for source in some):
            from turnlint.spread.worth import cores, is_worth_it

            count = jobs or cores()
            if count > 1 and is_worth_it(some):
                from turnlint.spread.running import spread

                return spread(some, plan.of, count, progress)
        return here(some, plan.of, progress)

    if not cache:
        return run(sources)
    from turnlint.errors import UnsafeFolderError
    from turnlint.spread.cache import Cache, folder

    try:
        return Cache(folder(), plan.of).run(sources, run)
    except (OSError, UnsafeFolderError) as error:
        click.echo(f"turnlint: the cache is disabled: {shown(str(error))}", err=True)
        return run(sources)


def _exit_code(seen: Seen, *, fails_on_skipped: bool) -> int:
    if seen.total.crashes:
        return EXIT_INTERNAL
    if seen.unreadable:
        return EXIT_USAGE
    if fails_on_skipped and seen.named_skipped:
        return EXIT_FINDINGS
    if not seen.total.files:
        is_told = bool(seen.named_skipped) and seen.quiet < 2
        is_skipped = bool(seen.passed_over) or (bool(seen.named_skipped) and not is_told)
        tell_nothing("lint", skipped=is_skipped, named=is_told)
        return EXIT_NOTHING
    return EXIT_FINDINGS if seen.failed else 0


def _tell(event: object) -> None:
    if isinstance(event, Skipped) and event.source.named:
        name = shown(event.source.name)
        click.echo(f"turnlint: {name}: {sentence_of(event.near)}", err=True)
    if isinstance(event, Crash):
        click.echo(f"turnlint: {event.rule} crashed at {shown(event.path)}:{event.line}", err=True)
