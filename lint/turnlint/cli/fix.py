"""`turnlint fix`: the options of the command, their conflicts, its messages and its exit code."""

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import click
from msgspec import Struct, structs

from turnlint.aggregation import aggregate
from turnlint.cli import option
from turnlint.cli.asking import (
    SKIP_UNKNOWN,
    as_found,
    is_same,
    no_conversation_in,
    rules_of_a_run,
    shown,
    skipped_in_folders,
    sources_of,
    tell_nothing,
    tell_unknown,
    words,
)
from turnlint.cli.fix_one import STDOUT, Pipe, Run, Way, repair, tell
from turnlint.cli.look import Look, colors, is_terminal, line_limit, width
from turnlint.cli.loose import Command, Loose
from turnlint.cli.nearest import Named
from turnlint.cli.settings import Asked, Plan, configured, given, levels
from turnlint.cli.waiting import bar
from turnlint.documents.source import STDIN, Source, odd_kind
from turnlint.engine import Book, Event, Options, lint
from turnlint.keeping.last_run import LastRun
from turnlint.model import SEVERITIES
from turnlint.neighbours import sentence_of
from turnlint.repair.choosing import LEVELS, Policy
from turnlint.repair.history import Index
from turnlint.repair.spool import Spool
from turnlint.report.repaired import Done

if TYPE_CHECKING:
    from turnlint.cli.report_file import Out, ReportFile
    from turnlint.report.accepted import Terms

DIFFS = ("windowed", "semantic", "unified")
EXIT_FINDINGS, EXIT_USAGE, EXIT_NOTHING, EXIT_INTERNAL = 1, 2, 3, 4


@click.command("fix", cls=Command, epilog="Example: turnlint fix session.jsonl --diff")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...|-")
@rules_of_a_run
@configured
@option(
    "--level", type=Named("level", LEVELS), default="placeholder", show_default=True,
    help="What repairs may do. lossless: move, rename, re-encode, remove exact copies and empty messages; "
    "placeholder: also add placeholder results and texts; lossy: also remove content.",
)  # fmt: skip
@option(
    "--history", "histories", multiple=True, metavar="FILE",
    help="Transcript in any format, such as a backup, with calls and results that the input lacks; repeatable. "
    "Each missing side of a pair is added again.",
)  # fmt: skip
@option("--canonical", is_flag=True, help="Give every call its canonical id, derived from its content.")
@option(
    "--to", "form", type=Named("form", ("canonical",)), metavar="canonical",
    help="Write the repaired conversations in the canonical form, one on each line, to the file of -o.",
)  # fmt: skip
@option(
    "--origin", metavar="PROVIDER", help="Provider that made the calls, for canonical ids, if the records do not show it."
)  # fmt: skip
@option(
    "--close-pending",
    is_flag=True,
    help="Also add placeholder results for unanswered calls at the end of a conversation.",
)
@option(
    "--diff", cls=Loose, bare=DIFFS[0], type=Named("diff", DIFFS), metavar="[=KIND]",
    help="Show the changes, including content, and write nothing. windowed: each change with its surroundings; "
    "semantic: values by JSON Pointer; unified: a patch for `patch -p0` and `git apply -p0`. Default: windowed.",
)  # fmt: skip
@option(
    "--check",
    "--dry-run",
    "check",
    is_flag=True,
    help="Write nothing; exit with 1 if a file would change.",
)
@SKIP_UNKNOWN
@option("-q", "--quiet", is_flag=True, help="Print no summary; problems still go to standard error.")
@option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the repaired file here instead of in place; - is standard output.",
)
@option(
    "--journal", "journal_file", metavar="FILE", help="File for the journal, which `turnlint undo` reads."
)
@option("--no-journal", is_flag=True, help="Keep no journal: `turnlint undo` will not work.")
@option(
    "--report", "report_file", metavar="FILE", help="Write a JSON report of all changes; - is standard output."
)  # fmt: skip
@option(
    "--diagnostics", is_flag=True,
    help="List the ids of all conversations in the report, with and without changes. Needs --report.",
)  # fmt: skip
@option("--stdin-filename", metavar="NAME", default="<stdin>", help="File name to report for standard input.")
@option(
    "--fail-on", type=Named("level", (*SEVERITIES, "never")), default="error", show_default=True,
    help="Lowest severity of remaining findings that makes the exit code 1: error, warning, info or never.",
)  # fmt: skip
@option(
    "--color", type=Named("choice", ("auto", "always", "never")), default="auto", help="Use colors: auto, always or never.  [default: auto]"
)  # fmt: skip
def command(
    paths: tuple[str, ...], format_name: str, providers: tuple[str, ...], profiles: tuple[str, ...],
    select: tuple[str, ...], ignore: tuple[str, ...], level: str, canonical: bool, form: str | None, origin: str | None, close_pending: bool,
    diff: str | None,
    check: bool, output: str | None, journal_file: str | None, no_journal: bool, report_file: str | None,
    diagnostics: bool, stdin_filename: str, fail_on: str, color: str, quiet: bool, histories: tuple[str, ...],
    skip_unknown: bool,
) -> None:  # fmt: skip
    """Repair transcripts in place.

    PATH is a file, a folder, a glob pattern, or - to repair standard input to standard output, with the same
    compression. Removed content is kept in a journal; `turnlint undo PATH` restores the file.

    Exit codes: 0 no finding at or above --fail-on remains, 1 findings remain, --check or --diff would change a
    file, or --canonical gave no canonical ids because a provider would refuse them, 2 usage error, or a file was not read or not written, 3 no input in a known format, 4 a
    repair could not be verified and was not written.
    """
    way = Way(not (diff or check), diff or "", output, journal_file, not no_journal, form or "")
    _refuse(way, paths, report_file)
    history = Index(map(_history_at, histories))
    if diagnostics and not report_file:
        raise click.UsageError("--diagnostics needs --report FILE")
    options = Options(
        format=None if format_name == "auto" else format_name, select=words(select), ignore=words(ignore), origin=origin,
    )  # fmt: skip
    asked = Asked(
        given("format_name", format_name), words(providers), profiles, options.select, options.ignore,
        fail_on=given("fail_on", fail_on), level=given("level", level),
    )  # fmt: skip
    if (canonical or form) and set(asked.providers) - {"auto", "none"}:
        raise click.UsageError(f"{'--to' if form else '--canonical'} and --provider cannot be combined")
    if form and canonical:
        raise click.UsageError("--to canonical writes canonical ids, and cannot be combined with --canonical")
    policy = Policy(close_pending=close_pending, canonical=canonical, select=bool(select))
    # An input that `-o` names is not skipped as an earlier report: it is read as any log, and then `-o` has
    # too many inputs.
    plan = Plan(asked, options, sifted=False)
    sources = plan.read(
        sources_of(
            paths, stdin_filename, [one for one in (report_file, journal_file) if one and one != STDOUT]
        )
    )
    sources = as_found(sources, skips_unknown=skip_unknown)
    if output and len(sources) > 1:
        raise click.UsageError("-o needs exactly one input file")
    carried = [name for name, is_so in _carried(way, sources, report_file).items() if is_so]
    if len(carried) > 1:
        raise click.UsageError(f"standard output cannot carry both {carried[0]} and {carried[1]}")
    sifted = Plan(asked, options, with_baselines=False)
    sifted.remarked = plan.remarked
    settings = _Settings(
        plan,
        sifted,
        policy,
        way,
        report_file,
        bool(carried),
        color,
        quiet,
        history,
        diagnostics,
        skip_unknown,
    )
    raise click.exceptions.Exit(_run(sources, settings))


class _Settings(Struct, frozen=True):
    """The options of a run."""

    plan: Plan
    sifted: Plan
    """The plan for linting the results: findings that the settings ignore are omitted."""
    policy: Policy
    way: Way
    report: str | None
    busy: bool
    """Whether standard output has a diff or output for programs, so that messages go to standard error."""
    color: str
    quiet: bool
    history: Index
    diagnostics: bool
    skip_unknown: bool


def _history_at(path: str) -> Source:
    """Return a file with a history."""
    if path == STDIN:
        raise click.UsageError("--history needs the name of a file")
    if not os.path.exists(path):
        raise click.UsageError(f"--history {shown(path)}: no such file")
    if (kind := odd_kind(path)) is not None:
        raise click.UsageError(f"--history {shown(path)} is {kind}, not a file")
    return Source(path, path)


def _refuse(way: Way, paths: tuple[str, ...], report: str | None) -> None:
    """Reject options that conflict, before any file is opened."""
    if way.journal and not way.keep:
        raise click.UsageError("--journal and --no-journal cannot be combined")
    if way.form and not way.write:
        raise click.UsageError("--check and --diff write nothing and cannot be combined with --to")
    if way.form and not way.output and any(path != STDIN for path in paths):
        raise click.UsageError("--to needs -o FILE: a file keeps its own format; -o - is standard output")
    if way.output and not way.write:
        raise click.UsageError("--check and --diff write nothing and cannot be combined with -o")
    if way.journal and (way.output or all(path == STDIN for path in paths)):
        raise click.UsageError("--journal works only for files that are fixed in place")
    if (
        way.output
        and report
        and report != STDOUT
        and os.path.realpath(report) == os.path.realpath(way.output)
    ):
        raise click.UsageError("-o and --report name the same file")
    if way.journal == STDOUT:
        raise click.UsageError("--journal needs a file name, for `turnlint undo` to read")
    for path in paths:
        if path == STDIN:
            continue
        if way.output and is_same(path, way.output):
            raise click.UsageError(f"-o {shown(path)} is the input file; omit -o to fix it in place")
        for name, file in (("--journal", way.journal), ("--report", report)):
            if file and is_same(path, file):
                raise click.UsageError(f"{name} {shown(path)} is the input file; name another file")


def _carried(way: Way, sources: list[Source], report: str | None) -> dict[str, bool]:
    """Return the outputs on standard output besides messages."""
    return {
        "a diff": bool(way.diff),
        "a transcript": any(map(way.to_stdout, sources)),
        "the report": report == STDOUT,
    }


def _run(sources: list[Source], settings: _Settings) -> int:
    from turnlint.errors import BrokenRulesError, UnknownProviderError, UnknownRuleError

    try:
        settings.plan.prepare(sources)
    except (UnknownRuleError, UnknownProviderError) as error:
        raise click.UsageError(str(error)) from None
    except BrokenRulesError as error:
        click.echo(f"turnlint: {shown(str(error))}", err=True)
        return EXIT_INTERNAL
    out = Pipe(sys.stdout)
    said = Pipe(sys.stderr) if settings.busy else out
    look = Look(width(), colors(settings.color), "", folds=line_limit() is not None)
    last = LastRun()
    runs = [_run_of(source, settings, look, out, last) for source in sources]
    words_look = structs.replace(look, color=look.color and (said is out or _colors_errors(settings.color)))
    done: list[Done] = []
    finished = False
    voice = None if settings.quiet else (said, words_look)
    terms = _terms(runs, sources, settings)
    report = _open_report(settings.report)
    try:
        _fix_all(runs, sources, done, voice, keep=report is not None)
        finished = True
    finally:
        _sum_up(done, voice, terms)
        if report is not None:
            try:
                _report(report, done, terms, complete=finished and not _failed(done))
            finally:
                report.drop()
        out.flush()
    for line in settings.history.problems:
        click.echo(f"turnlint: --history {shown(line)}", err=True)
    for line in skipped_in_folders():
        click.echo(f"turnlint: {line}", err=True)
    return _exit_code(done, sources, settings)


def _run_of(source: Source, settings: _Settings, look: Look, out: Pipe, last: LastRun) -> Run:
    """Return the repair of one source, with its settings."""
    terms = settings.plan.of(source)
    options, book, policy = terms.options, terms.book, settings.policy
    names = () if policy.canonical else options.providers
    named = frozenset(name.partition("@")[0] for name in names if name != "auto")
    policy = structs.replace(policy, level=cast("Any", terms.level), levels=terms.levels, named=named)
    if settings.way.form:
        from turnlint.canonical_form.conversion import repair_options, repair_policy

        options = repair_options(options)
        return Run(
            options,
            Book(options),
            repair_policy(policy),
            settings.way,
            look,
            out,
            None,
            last,
            settings.history,
            settings.diagnostics,
        )
    linted = terms
    if terms.options.without or terms.options.pardons:
        linted = settings.sifted.of(source)

    def linter(result: Source) -> Iterable[Event]:
        return aggregate(linted.sift(lint(result, linted.options, linted.book)))

    return Run(
        options, book, policy, settings.way, look, out, linter, last, settings.history, settings.diagnostics
    )


def _terms(runs: list[Run], sources: list[Source], settings: _Settings) -> "Terms":
    """Return the facts about the run for the summary and the report."""
    from turnlint.report.accepted import Terms

    way = settings.way
    named = dict.fromkeys(name for run in runs for name in run.options.providers if name != "auto")
    keeps = way.keep and way.output is None and any(source.path is not None for source in sources)
    narrowed = any(run.options.select or run.options.ignore or run.options.without for run in runs)
    lossless = any(run.policy.level == "lossless" for run in runs)
    unknown = frozenset(name for run in runs for name in run.book.providers.assumed)
    return Terms(not way.write, keeps, tuple(named), narrowed, lossless, settings.policy.canonical, unknown)


def _colors_errors(choice: str) -> bool:
    return choice == "always" or bool(os.environ.get("FORCE_COLOR")) or is_terminal(sys.stderr)


Voice = tuple[Pipe, Look]


def _fix_all(
    runs: list[Run], sources: list[Source], done: list[Done], voice: Voice | None, *, keep: bool
) -> None:
    from turnlint.report.repair_text import lines_of

    waiting: list[str] = []
    try:
        quiet = voice is None or any(bool(run.way.diff) for run in runs)
        with bar(sources, "fixing", quiet=quiet) as progress:
            for source, run in zip(sources, runs, strict=True):
                one = repair(run, source, progress)
                done.append(one)
                tell(one)
                if one.fixed and one.fixed.foreign and source.named:
                    name = shown(source.name)
                    click.echo(f"turnlint: {name}: {sentence_of(one.fixed.near)}; unchanged", err=True)
                elif one.fixed and not one.fixed.conversations and source.named and not one.problem:
                    click.echo(f"turnlint: {no_conversation_in(source)}", err=True)
                waiting += lines_of(one, voice[1], dry=not run.way.write) if voice else ()
                if one.fixed and not keep:
                    one.fixed.changes, one.fixed.told, one.fixed.whole = Spool(), Spool(), None
                if progress is None:
                    _say(voice, waiting)
    finally:
        _say(voice, waiting)


def _say(voice: Voice | None, lines: list[str]) -> None:
    if voice:
        for line in lines:
            voice[0].line(line)
    lines.clear()


def _sum_up(done: list[Done], voice: Voice | None, terms: "Terms") -> None:
    from turnlint.report.repair_text import last_lines

    if voice:
        said, look = voice
        for line in last_lines(done, look, terms):
            said.line(line)


def _open_report(path: str | None) -> "ReportFile | Out | None":
    """Open the report before any change: an error in opening it must come first."""
    if path is None:
        return None
    from turnlint.cli.report_file import Out, ReportFile

    return Out() if path == STDOUT else ReportFile(path)


def _report(file: "ReportFile | Out", done: list[Done], terms: "Terms", *, complete: bool) -> None:
    from turnlint.report.accepted import acceptances, as_json
    from turnlint.report.repaired import document

    accepted = [*map(as_json, acceptances(done, terms))]
    for piece in document(done, complete=complete, dry=terms.dry, acceptance=accepted):
        file.write(piece)
    file.keep()


def _failed(done: list[Done]) -> bool:
    return any(one.problem or (one.fixed and one.fixed.failures) for one in done)


def _exit_code(done: list[Done], sources: list[Source], settings: _Settings) -> int:
    if any(one.crashed or (one.fixed and one.fixed.failures) for one in done):
        return EXIT_INTERNAL
    if any(one.problem for one in done):
        return EXIT_USAGE
    if all(one.fixed is None or one.fixed.foreign for one in done):
        if settings.skip_unknown and sources:
            tell_unknown(sources)
            return 0
        named = any(source.named for source in sources)
        skipped = any(one.fixed is not None and one.fixed.foreign for one in done)
        tell_nothing("fix", skipped=skipped and not named, named=named)
        return EXIT_NOTHING
    if not settings.way.write and any(one.changed for one in done):
        return EXIT_FINDINGS
    if any(one.fixed and one.fixed.without_canonical for one in done):
        return EXIT_FINDINGS
    left = any(
        one.fixed and any(one.fixed.after[level] for level in levels(settings.plan.of(source).fail_on))
        for source, one in zip(sources, done, strict=True)
    )
    return EXIT_FINDINGS if left else 0
