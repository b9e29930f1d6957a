"""Show a progress bar on standard error during a long run."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from turnlint.cli.look import is_terminal
from turnlint.documents.source import Progress, Source, size_of

LONG_RUN = 32 << 20


@contextmanager
def bar(sources: list[Source], label: str, *, quiet: bool = False) -> Iterator[Progress | None]:
    """Yield the update function of a bar if standard error is a terminal and the run is long; else nothing."""
    total = 0 if quiet or not is_terminal(sys.stderr) else sum(map(size_of, sources))
    if total < LONG_RUN:
        yield None
        return
    with click.progressbar(length=total, label=label, file=sys.stderr) as shown:
        yield shown.update
