"""What somebody sees who waits for a long run.

This module owns the bar on standard error. It refuses to know what is being done.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from turnlint.cli.look import is_terminal
from turnlint.documents.source import Progress, Source, size_of

LONG_RUN = 32 << 20


@contextmanager
def bar(sources: list[Source], label: str, *, quiet: bool = False) -> Iterator[Progress | None]:
    """A bar where somebody watches and there is something to wait for; else nothing to tell how far it is."""
    total = 0 if quiet or not is_terminal(sys.stderr) else sum(map(size_of, sources))
    if total < LONG_RUN:
        yield None
        return
    with click.progressbar(length=total, label=label, file=sys.stderr) as shown:
        yield shown.update
