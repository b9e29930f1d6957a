"""Report ignores and entries of a baseline without a finding, and expired ignores.

It reports nothing if the run did not read enough to decide.
"""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from turnlint.cli.settings import Plan
from turnlint.documents.source import Source
from turnlint.globs import is_plain

if TYPE_CHECKING:
    from turnlint.ignores import Ignore


def tell_unused(plan: Plan, paths: Iterable[str], sources: list[Source]) -> None:
    """Print the unused and expired ignores and entries to standard error, a line each."""
    from turnlint.report.escape import visible

    told = (*_ignores(plan, [*paths] or ["."], sources), *_records(plan), *_entries(plan, sources))
    for line in told:
        click.echo(f"turnlint: {visible(line)}", err=True)


def _ignores(plan: Plan, paths: list[str], sources: list[Source]) -> Iterator[str]:
    account = plan.account
    for config in plan.configs.values() if account else ():
        whole = any(_holds(path, config.root) for path in paths)
        files = {config.parts_of(source.path) for source in sources if source.path}
        for ignore in config.ignores:
            assert account is not None
            back = account.over.get(ignore.origin, 0)
            if back:
                number = "1 finding is" if back == 1 else f"{back:,} findings are"
                yield f"{ignore.origin}: this ignore expired after {ignore.until}; {number} reported again"
            elif (
                ignore.origin not in account.met and not plan.asked.narrows and (whole or _saw(ignore, files))
            ):
                yield f"{ignore.origin}: unused ignore: it matches no finding; remove it"


def _records(plan: Plan) -> Iterator[str]:
    """Yield the ignores in records that are invalid or match no finding."""
    account = plan.account
    if account is None:
        return
    for idle, some in ((False, account.remarks), (True, account.idle)):
        if idle and plan.asked.narrows:
            continue
        yield from (f"{one.path}:{one.line}: {one.words}" for one in some)
        if (more := account.counts[idle] - len(some)) > 0:
            yield f"and {more:,} more ignores in records that {'match no finding' if idle else 'are not valid'}"


def _holds(path: str, folder: str) -> bool:
    """Whether a linted folder has all files to which the settings apply."""
    if not os.path.isdir(path):
        return False
    above = os.path.realpath(path)
    return os.path.commonpath([above, os.path.realpath(folder)]) == above


def _saw(ignore: "Ignore", files: set[tuple[str, ...]]) -> bool:
    """Whether all files of an ignore were linted."""
    return bool(ignore.paths) and all(
        all(map(is_plain, one)) and one in files for one in (tuple(path.split("/")) for path in ignore.paths)
    )


def _entries(plan: Plan, sources: list[Source]) -> Iterator[str]:
    for baseline in plan.baselines.values() if not plan.asked.narrows else ():
        here = [baseline.seen(one.path, one.name) for one in sources if _has(plan, one, baseline)]
        if stale := baseline.stale(here):
            gone = "1 finding is" if len(stale) == 1 else f"{len(stale):,} findings are"
            yield f"{baseline.path}: {gone} gone; `turnlint baseline prune` removes them"


def _has(plan: Plan, source: Source, baseline: object) -> bool:
    sieve = plan.of(source).sieve
    return sieve is not None and sieve.baseline is baseline
