"""`turnlint baseline`: write a baseline, prune it, or check it against the findings."""

import os
from collections.abc import Callable
from typing import Any

import click
from msgspec import Struct, structs

from turnlint.baseline import NAME, Baseline, Entry, read, write
from turnlint.cli import option
from turnlint.cli.asking import rules_of_a_run, shown, sources_of, words
from turnlint.cli.look import within_limit
from turnlint.cli.settings import Asked, Plan, configured, given
from turnlint.cli.verbs import Verbs
from turnlint.cli.waiting import bar
from turnlint.documents.source import Source
from turnlint.engine import Crash, Options, Skipped, Tally, lint
from turnlint.errors import BaselineError, SourceError
from turnlint.neighbours import sentence_of
from turnlint.report.escape import line_start
from turnlint.rows import Row
from turnlint.sifting import Sieve
from turnlint.text import pluralize

EXIT_STALE, EXIT_USAGE, EXIT_NOTHING, EXIT_INTERNAL = 1, 2, 3, 4
MOST_SHOWN = 20
Command = Callable[..., Any]


@click.group("baseline", cls=Verbs, epilog="Example: turnlint baseline write logs/")
def command() -> None:
    """Record known findings, so that only new ones are reported.

    `turnlint lint --baseline FILE`, or `baseline: FILE` in the settings, hides the recorded findings. The file has
    one sorted line for each finding and merges in git. Reordered or appended records do not invalidate it.
    """


def _on_sources(verb: Command) -> Command:
    decorators = (
        click.argument("paths", nargs=-1, metavar="[PATH...|-]"),
        option(
            "--baseline", "file", metavar="FILE",
            help=f"Baseline file. Default: the one in the settings, else {NAME}.",
        ),
        rules_of_a_run,
        configured,
        option("--stdin-filename", metavar="NAME", default="<stdin>", help="File name to report for standard input."),
    )  # fmt: skip
    for decorate in reversed(decorators):
        verb = decorate(verb)
    return verb


class Found(Struct):
    """The findings of a run that belong to one baseline."""

    baseline: Baseline
    entries: list[Entry] = []
    paths: set[str] = set()
    """The files that were read."""
    codes: set[str] | None = None
    """The rules of the run, where the command line selects some."""

    def stale(self) -> list[Entry]:
        """Return entries without a finding, of the rules of the run."""
        met = {entry.fingerprint for entry in self.entries}
        self.baseline.met |= met
        return [
            one for one in self.baseline.stale(self.paths) if self.codes is None or one.code in self.codes
        ]


@command.command("write")
@_on_sources
@option("--reason", metavar="TEXT", default="", help="Reason to store with each new entry.")
def write_(reason: str, **asked: Any) -> None:
    """Write all current findings to the baseline.

    Entries of files that are not read in this run stay.

    Exit codes: 0 written, 2 usage error, 3 no input, 4 internal error.
    """
    for one in _found(asked, reason, must_exist=False):
        stale = {entry.fingerprint for entry in one.stale()}
        known = one.baseline.entries
        kept = [entry for name, entry in known.items() if name not in stale]
        new = [entry for entry in one.entries if entry.fingerprint not in known]
        _write(one.baseline.path, [*one.entries, *(entry for entry in kept if entry not in one.entries)])
        total = len(kept) + len(new)
        entries = pluralize(total, "entry", "entries")
        said = f"{line_start(one.baseline.path)}: {entries}, {len(new):,} new, {len(stale):,} gone"
        click.echo(within_limit(said))


@command.command("prune")
@_on_sources
def prune(**asked: Any) -> None:
    """Remove entries whose finding no longer exists. Adds nothing.

    Entries of files that are not read in this run stay, unless the file no longer exists.

    Exit codes: 0 done, 2 usage error, 3 no input, 4 internal error.
    """
    for one in _found(asked, ""):
        stale = one.stale()
        kept = [entry for entry in one.baseline.entries.values() if entry not in stale]
        if stale:
            _write(one.baseline.path, kept)
        entries = pluralize(len(kept), "entry", "entries")
        click.echo(within_limit(f"{line_start(one.baseline.path)}: {entries}, {len(stale):,} gone"))


@command.command("check")
@_on_sources
def check(**asked: Any) -> None:
    """List entries whose finding no longer exists. Writes nothing.

    Exit codes: 0 all entries still match, 1 some do not, 2 usage error, 3 no input, 4 internal error.
    """
    gone = 0
    for one in _found(asked, ""):
        stale = sorted(one.stale(), key=lambda entry: entry.line)
        gone += len(stale)
        for entry in stale[:MOST_SHOWN]:
            named = f' in conversation "{entry.conversation}"' if entry.conversation else ""
            about = f" of call {entry.call}" if entry.call else ""
            said = line_start(f"{entry.path}: {entry.code} {entry.rule}{about}{named} is gone")
            click.echo(within_limit(said))
        if len(stale) > MOST_SHOWN:
            click.echo(f"and {len(stale) - MOST_SHOWN:,} more")
        entries = pluralize(len(one.baseline.entries), "entry", "entries")
        click.echo(within_limit(f"{line_start(one.baseline.path)}: {entries}, {len(stale):,} gone"))
    raise click.exceptions.Exit(EXIT_STALE if gone else 0)


def _write(path: str, entries: list[Entry]) -> None:
    try:
        write(path, entries)
    except BaselineError as error:
        raise click.UsageError(shown(str(error))) from None


def _found(asked: dict[str, Any], reason: str, *, must_exist: bool = True) -> list[Found]:
    """Return the findings of a run by baseline.

    If a source cannot be read, exit, since entries may seem to be gone.
    """
    plan = _plan(asked)
    sources = plan.read(sources_of(asked["paths"], asked["stdin_filename"], []))
    found: dict[str, Found] = {}
    files = 0
    with bar(sources, "linting") as progress:
        for source in sources:
            one = _of(source, plan, asked["file"], found, must_exist=must_exist)
            terms = plan.of(source)
            options = structs.replace(terms.options, fingerprints=True, root=one.baseline.root)
            seen = one.baseline.seen(source.path, source.name)
            one.paths.add(seen)
            # An ignored finding does not belong into a baseline, and its entry is removed.
            sieve = Sieve(terms.sieve.ignores if terms.sieve else (), None, plan.today)
            if plan.asked.select or plan.asked.ignore:
                one.codes = (one.codes or set()) | {entry.rule.code for entry in terms.book.rules()}
            try:
                for event in sieve.sift(lint(source, options, terms.book, progress)):
                    if isinstance(event, Row):
                        one.entries.append(one.baseline.entry_of(event, source.path, reason))
                    elif isinstance(event, Crash):
                        _stop(
                            f"{event.rule} crashed at {event.path}:{event.line}; nothing was written",
                            EXIT_INTERNAL,
                        )
                    elif isinstance(event, Tally):
                        files += event.files
                    elif isinstance(event, Skipped) and source.named:
                        click.echo(f"turnlint: {shown(source.name)}: {sentence_of(event.near)}", err=True)
            except SourceError as error:
                _stop(f"{error.name}: {error.reason}", EXIT_USAGE)
    if not files:
        _stop("nothing to lint", EXIT_NOTHING)
    return list(found.values())


def _plan(asked: dict[str, Any]) -> Plan:
    name = asked["format_name"]
    select, ignore = words(asked["select"]), words(asked["ignore"])
    options = Options(format=None if name == "auto" else name, select=select, ignore=ignore)
    return Plan(
        Asked(given("format_name", name), words(asked["providers"]), asked["profiles"], select, ignore), options,
        with_baselines=False,
    )  # fmt: skip


def _of(source: Source, plan: Plan, file: str | None, found: dict[str, Found], *, must_exist: bool) -> Found:
    """Return the baseline of a source: that of the command line, or that of its settings."""
    path = file or plan.baseline_of(source) or NAME
    key = os.path.realpath(path)
    if key not in found:
        try:
            found[key] = Found(read(path, must_exist=must_exist))
        except BaselineError as error:
            raise click.UsageError(shown(str(error))) from None
    return found[key]


def _stop(why: str, code: int) -> None:
    click.echo(f"turnlint: {shown(why)}", err=True)
    raise click.exceptions.Exit(code)
