"""Define the options that several commands share to check conversations against rules."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from turnlint.carriers import NAMES
from turnlint.cli import option
from turnlint.cli.nearest import Named
from turnlint.documents.source import STDIN, Source, find, size_of, wanted
from turnlint.errors import SourceError

if TYPE_CHECKING:
    from turnlint.documents.folders import Walk

Command = Callable[..., Any]
MAX_SUFFIXES = 3
_WALK, _NO_GITIGNORE = "turnlint.walk", "turnlint.no_gitignore"
NO_GITIGNORE = option(
    "--no-gitignore", is_flag=True, expose_value=False,
    callback=lambda ctx, _, value: ctx.meta.update({_NO_GITIGNORE: value}),
    help="Also read files in folders that git ignores. Named files are always read.",
)  # fmt: skip
SKIP_UNKNOWN = option(
    "--skip-unknown", is_flag=True,
    help="Treat named files as those in folders: skip a file of no known format. If no other file remains, exit with 0.",
)  # fmt: skip
OPTIONS = (
    option(
        "--format", "format_name", type=Named("format", ("auto", *NAMES)), default="auto", show_default=True,
        help="Format of the input files; `turnlint formats` lists the names.",
    ),
    option(
        "--provider", "providers", multiple=True, metavar="NAME[@VERSION]",
        help="Provider whose rules apply; repeatable. auto takes it from each record, none applies no provider's rules; `turnlint profiles` lists the names.  [default: auto]",
    ),
    option(
        "--profile", "profiles", multiple=True, metavar="FILE",
        help="YAML file with provider profiles of your own, to be named by --provider.",
    ),
    option(
        "--select", multiple=True, metavar="RULE", help="Run only these rules: a code, a code prefix, a name or a family; repeatable."
    ),
    option("--ignore", multiple=True, metavar="RULE", help="Skip these rules; repeatable."),
    NO_GITIGNORE,
)  # fmt: skip


def rules_of_a_run(command: Command) -> Command:
    """Add the options that choose providers and rules to a command."""
    for one in reversed(OPTIONS):
        command = one(command)
    return command


def providers_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named providers; `none` cannot be combined."""
    if "none" not in names:
        return names or ("auto",)
    if len(names) > 1:
        raise click.UsageError("--provider none cannot be combined with other providers")
    return ()


def shown(name: str) -> str:
    from turnlint.report.escape import visible

    return visible(name)


def sources_of(paths: tuple[str, ...], stdin_name: str, outputs: list[str]) -> list[Source]:
    """Return the sources to read, each once. An output never overwrites an input, and is never read as one."""
    walk = _walk_for(paths or (".",))
    try:
        found = list(find(paths or (".",), stdin_name, walk))
    except SourceError as error:
        raise click.UsageError(f"{shown(error.name)}: {error.reason}") from None
    if len(set(map(os.path.realpath, outputs))) < len(outputs):
        raise click.UsageError("two outputs have the same file name")
    sources: dict[str, Source] = {}
    folders: dict[str, str] = {}
    for source in found:
        if source.path is not None and any(is_same(source.path, output) for output in outputs):
            if source.named:
                raise click.UsageError(
                    f"{shown(source.name)} is both an input and an output; choose another output file"
                )
            continue
        sources.setdefault(STDIN if source.path is None else _real(source.path, folders), source)
    click.get_current_context().meta[_WALK] = walk
    return list(sources.values())


def _walk_for(paths: tuple[str, ...]) -> "Walk | None":
    if not any(map(os.path.isdir, paths)):
        return None
    from turnlint.documents.folders import Walk

    return Walk(wanted, gitignore=not click.get_current_context().meta.get(_NO_GITIGNORE))


def skipped_in_folders() -> list[str]:
    """Return a sentence for each kind of path that the search in folders skipped."""
    walk: Walk | None = click.get_current_context().meta.get(_WALK)
    if walk is None:
        return []
    told = []
    if walk.unsupported:
        ranked = sorted(walk.unsupported.items(), key=lambda item: (-item[1], item[0]))
        named = [f"{count:,} {shown(suffix)}" for suffix, count in ranked[:MAX_SUFFIXES]]
        if more := sum(count for _, count in ranked[MAX_SUFFIXES:]):
            named.append(f"{more:,} other")
        total = sum(walk.unsupported.values())
        told.append(
            f"{' and '.join(filter(None, (', '.join(named[:-1]), named[-1])))} {files(total)} skipped: not supported"
        )
    if walk.no_files:
        told.append(
            f"{walk.no_files:,} {files(walk.no_files)} skipped: a device, a named pipe or a broken link"
        )
    if walk.ignored or walk.ignored_folders:
        parts = [
            f"{count:,} {name if count == 1 else name + 's'}"
            for count, name in ((walk.ignored, "file"), (walk.ignored_folders, "folder"))
            if count
        ]
        told.append(f"{' and '.join(parts)} skipped: ignored by git; --no-gitignore includes them")
    return told


def as_found(sources: list[Source], *, skips_unknown: bool) -> list[Source]:
    """Return sources that the user named as if they were found in a folder, where that was asked for."""
    return [structs.replace(one, named=False) for one in sources] if skips_unknown else sources


def tell_unknown(sources: list[Source]) -> None:
    """Report that a run skipped all files, and why that is no fault."""
    count = len(sources)
    text = f"{count:,} {files(count)} skipped: {'it has' if count == 1 else 'all have'} no known format"
    click.echo(f"turnlint: {text}", err=True)


def tell_nothing(verb: str, *, skipped: bool, named: bool) -> None:
    """Report that a run read no conversation. A file that the user named has a message of its own, which suffices."""
    if message := _nothing_to(verb, skipped=skipped, named=named):
        click.echo(f"turnlint: {message}", err=True)


def _nothing_to(verb: str, *, skipped: bool, named: bool) -> str:
    paths: tuple[str, ...] = click.get_current_context().params.get("paths", ())
    unmatched = [one for one in paths if one != STDIN and not os.path.exists(one)]
    if unmatched and not (skipped or named):
        return f"nothing to {verb}: no file matches {', '.join(map(shown, unmatched))}"
    if skipped:
        return f"nothing to {verb}: no file has a known format; `turnlint inspect FILE` describes a file"
    return "" if named else f"nothing to {verb}: no .jsonl, .ndjson or .json file to read"


def no_conversation_in(source: Source) -> str:
    """Return the message about a file without a conversation."""
    is_blank = source.path is not None and size_of(source) == 0
    return f"{shown(source.name)}: the file {'is empty' if is_blank else 'contains no conversation'}"


def files(count: int) -> str:
    return "file" if count == 1 else "files"


def _real(path: str, folders: dict[str, str]) -> str:
    """Return the real path of a file. Links in the path of its folder are resolved once for all files in it."""
    folder, name = os.path.split(path)
    if name in ("", os.curdir, os.pardir) or os.path.islink(path):
        return os.path.realpath(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)


def is_same(path: str, output: str) -> bool:
    there = os.path.realpath(output)  # the path that will be opened, also below a folder that does not exist
    return os.path.exists(there) and os.path.samefile(path, there)


def words(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())
