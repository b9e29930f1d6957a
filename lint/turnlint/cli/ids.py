"""`turnlint ids`: the options of the command and the output of its map of ids.

A repair in memory gives the ids.
"""

from collections.abc import Iterator
from typing import Any

import click
from msgspec import Struct, structs

from turnlint.carriers import NAMES
from turnlint.cli import option
from turnlint.cli.asking import NO_GITIGNORE, skipped_in_folders, sources_of, tell_nothing
from turnlint.cli.look import line_limit, width
from turnlint.cli.nearest import Named
from turnlint.documents.piped import at_rest
from turnlint.documents.source import Source
from turnlint.errors import NoFittingIdError, SourceError, UnknownProviderError
from turnlint.ids import CANONICAL, Entry, Projection, project
from turnlint.ledger import read as paired
from turnlint.model import Location, Request, Transcript
from turnlint.neighbours import sentence_of
from turnlint.reading import Foreign, read
from turnlint.repair.tracing import IdMap, projection_after
from turnlint.report.escape import clip, fold, in_json, line_start, visible

EXIT_USAGE, EXIT_NOTHING = 2, 3
WIDTHS = {"conversation": 24, "pointer": 60, "tool": 32, "id": 72, "becomes": 72}
"""Limit of the characters shown in each column. The JSON output has all of them."""


class Row(Struct, frozen=True):
    """An id with its position in a file."""

    path: str
    transcript: tuple[str | None, int]
    """Id of the conversation, and its number in the file."""
    target: str
    order: int
    line: int
    pointer: str
    entry: Entry


@click.command("ids", epilog="Example: turnlint ids switch.jsonl --provider mistral")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...|-")
@option(
    "--provider", metavar="NAME[@VERSION]",
    help="Provider that will receive the ids; `turnlint profiles` lists the names. With --canonical, `none` stands for "
    "no provider.",
)  # fmt: skip
@option("--model", metavar="NAME", help="Model that will receive the ids, if it is not the one in the log.")
@option(
    "--origin", metavar="PROVIDER", help="Provider that made the calls, for canonical ids, if the records do not show it."
)  # fmt: skip
@option(
    "--canonical", is_flag=True,
    help="Show canonical ids, where the provider of a record accepts these. With --provider: derive every id from its "
    "canonical id, also ids that are valid.",
)  # fmt: skip
@option(
    "--format", "format_name", type=Named("format", ("auto", *NAMES)), default="auto", show_default=True,
    help="Format of the input files; `turnlint formats` lists the names.",
)  # fmt: skip
@option(
    "--output-format", type=Named("output format", ("text", "json")), default="text", show_default=True,
    help="Output format: text, or json with one record per line.",
)  # fmt: skip
@NO_GITIGNORE
def command(
    paths: tuple[str, ...], provider: str | None, model: str | None, origin: str | None, canonical: bool,
    format_name: str, output_format: str,
) -> None:  # fmt: skip
    """Show the ids that calls and results would get for a provider.

    An id that the provider accepts stays as it is. A result has the id of its call. `turnlint fix` with the same
    provider writes these ids. If it needs another level for a conversation, the ids are those of that level. No file
    is changed. PATH is a file, a folder, a glob pattern, or - for standard input.

    Exit codes: 0 shown, 2 usage error, 3 no input in a known format, 4 internal error.
    """
    if provider in (None, "none") and not canonical:
        raise click.UsageError("missing --provider NAME; or use --canonical for ids of no provider")
    try:
        ids = _Ids(provider, model, origin, canonical=canonical)
        sources = sources_of(paths, "<stdin>", [])
        code = _show(sources, None if format_name == "auto" else format_name, ids, output_format)
    except (UnknownProviderError, NoFittingIdError) as error:
        raise click.UsageError(visible(str(error))) from None
    raise click.exceptions.Exit(code)


class _Ids:
    """The ids that a run shows: those that `fix` writes, or those of a conversation that is written anew."""

    def __init__(
        self, provider: str | None, model: str | None, origin: str | None, *, canonical: bool
    ) -> None:
        from turnlint.cli.own import own_profiles
        from turnlint.engine import Book, Options
        from turnlint.repair.choosing import Policy

        self.model = model
        self.canonical = canonical
        names, own = own_profiles((), () if provider in (None, "none") else (provider,))
        providers = names or (() if provider else ("auto",))
        self.options = Options(providers=providers, profiles=own, origin=origin)
        self.book = Book(self.options)
        self.policy = Policy(named=frozenset(name.partition("@")[0] for name in names), canonical=canonical)
        self.named = tuple(one for name in names for one in self.book.providers.named(name))
        for remark in self.book.providers.remarks:
            click.echo(f"turnlint: {visible(remark)}", err=True)
        self.anew = model is not None or (canonical and bool(names))
        """Whether no repair gives these ids."""

    def repaired(self, source: Source, format_name: str | None) -> IdMap:
        """Return the ids after a repair of a source."""
        if self.anew:
            return {}
        from turnlint.repair.passes import fix

        options = structs.replace(self.options, format=format_name)
        fixed = fix(source, options, self.book, self.policy, traced=True)
        if fixed.problem:
            raise fixed.problem
        for one in (*fixed.failures, *fixed.notes):
            click.echo(
                f"turnlint: {visible(source.name)}: line {one.line:,}: {visible(one.reason)}", err=True
            )
        return fixed.ids or {}

    def of(self, transcript: Transcript, repaired: IdMap) -> Projection:
        """Return the ids of one conversation."""
        if self.options.origin is not None:
            transcript = structs.replace(transcript, origin=self.options.origin)
        pairs = paired(transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps)
        if self.anew:
            profile = self.book.providers.for_named(self.named, self._read_by(transcript)).profile
            return project(
                transcript,
                pairs,
                profile,
                canonical=self.canonical,
                model=self.model,
                in_place=not self.canonical,
            )
        label = CANONICAL
        if self.named:
            label = self.book.providers.for_named(self.named, transcript).profile.label
        return projection_after(transcript, pairs, label, repaired.get(transcript.index))

    def _read_by(self, transcript: Transcript) -> Transcript:
        """Return the conversation as a request to the named model."""
        if self.model is None or not transcript.messages:
            return transcript
        said = transcript.request or Request(transcript.messages[0].record)
        return structs.replace(transcript, request=structs.replace(said, model=self.model))


def _show(sources: list[Source], format_name: str | None, ids: _Ids, output_format: str) -> int:
    unreadable = False
    seen = _Seen()
    for source in sources:
        try:
            with at_rest(source) as still:
                rows = _rows(still, format_name, ids, seen)
        except SourceError as error:
            unreadable = True
            click.echo(f"turnlint: {visible(error.name)}: {error.reason}", err=True)
            continue
        if rows and output_format == "json":
            click.echo("\n".join(map(_json, rows)))
        elif rows:
            click.echo(_table(rows))
    for line in skipped_in_folders():
        click.echo(f"turnlint: {line}", err=True)
    if unreadable:
        return EXIT_USAGE
    if not seen.files:
        named = any(source.named for source in sources)
        tell_nothing("show", skipped=bool(sources) and not named, named=named)
        return EXIT_NOTHING
    if output_format == "text":
        click.echo("\n".join(fold(seen.sum(), width(), "")))
    return 0


class _Seen(Struct):
    """Counts for the last line."""

    files: int = 0
    conversations: int = 0
    ids: int = 0
    changed: int = 0

    def sum(self) -> str:
        what = f"{self.ids:,} ids" if self.ids != 1 else "1 id"
        where = f"{self.conversations:,} conversations" if self.conversations != 1 else "1 conversation"
        return f"{what} in {where}: {self.changed:,} changed, {self.ids - self.changed:,} kept."


def _rows(source: Source, format_name: str | None, ids: _Ids, seen: _Seen) -> list[Row]:
    """Return the ids of one source, in its order. Records that were released are read again for positions."""
    repaired = ids.repaired(source, format_name)
    ready: list[Row] = []
    gone: list[tuple[Location, Transcript, Projection, int]] = []
    seen.files += 1
    damages = 0
    for item in read(source, format_name, prefer=ids.book.wires):
        if isinstance(item, Foreign):
            seen.files -= 1
            if source.named:
                click.echo(f"turnlint: {visible(source.name)}: {sentence_of(item.near)}", err=True)
        elif isinstance(item, Transcript):
            seen.conversations += 1
            found = ids.of(item, repaired)
            places = [Location(item.messages[one.message].record, one.at) for one in found.entries]
            here = [(place, item, found, order) for order, place in enumerate(places)]
            ready += _placed(source, [one for one in here if one[0].record.data])
            gone += (one for one in here if not one[0].record.data)
        else:
            damages += 1
    if damages:
        some = "1 place is" if damages == 1 else f"{damages:,} places are"
        click.echo(
            f"turnlint: {visible(source.name)}: {some} damaged; run `turnlint lint` for details", err=True
        )
    if gone:
        from turnlint.documents.reread import reread

        for group in reread(source, gone, lambda one: (one[0].record,)):
            ready += _placed(source, group)
    ready.sort(key=lambda row: (row.transcript[1], row.order))
    seen.ids += len(ready)
    seen.changed += sum(row.entry.changed for row in ready)
    return ready


def _placed(source: Source, items: list[tuple[Location, Transcript, Projection, int]]) -> Iterator[Row]:
    from turnlint.placing import Placer, as_pointer

    places = Placer(location for location, _, _, _ in items)
    for location, transcript, found, order in items:
        pointer = as_pointer((*location.record.prefix, *location.at))
        line = places[location].line
        whose = (transcript.id, transcript.index)
        yield Row(source.name, whose, found.target, order, line, pointer, found.entries[order])


def _json(row: Row) -> str:
    from json import dumps

    entry = row.entry
    record: dict[str, Any] = {
        "path": row.path, "conversation": {"id": row.transcript[0], "index": row.transcript[1]},
        "message_index": entry.message, "line": row.line, "pointer": row.pointer, "piece": entry.piece,
        "call": None if entry.number < 0 else entry.number, "tool": entry.tool, "for": row.target,
        "old": entry.old, "new": entry.new, "changed": entry.changed,
    }  # fmt: skip
    return in_json(dumps(record))


def _table(rows: list[Row]) -> str:
    """Return a table of the ids of a file. With several providers, each row names its own."""
    from turnlint.report.table import render_table

    targets = list(dict.fromkeys(row.target for row in rows))
    headers = ["line", "conversation", "pointer", "of", "tool", "id", "becomes", ""]
    cells = [
        (
            str(row.line),
            _cell("conversation", row.transcript[0] or f"#{row.transcript[1]}"),
            _cell("pointer", row.pointer),
            row.entry.piece,
            _cell("tool", row.entry.tool),
            _cell("id", row.entry.old),
            _cell("becomes", row.entry.new),
            ("changed" if row.entry.changed else "kept")
            + (f" for {visible(row.target)}" if len(targets) > 1 else ""),
        )
        for row in rows
    ]
    limit = line_limit()
    table = render_table(cells, headers, limit)
    title = f"{line_start(rows[0].path)}: ids for {', '.join(map(visible, targets))}"
    lines = fold(title, limit, "  ") if limit else [title]
    return "\n".join([*lines, table]) + "\n"


def _cell(column: str, text: str | None) -> str:
    if text is None:
        return "(none)"
    most = WIDTHS[column]
    return clip(visible(text[: 4 * most]), most) or '""'
