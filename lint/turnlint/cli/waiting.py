"""Show a progress bar on standard error during a long run."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

import click

from turnlint.cli.look import is_terminal
from turnlint.documents.source import Progress, Source, size_of

LONG_RUN = 32 << 20
_SHOW_CURSOR = "\x1b[?25h"


@contextmanager
def bar(sources: list[Source], label: str, *, quiet: bool = False) -> Iterator[Progress | None]:
    """Yield the update function of a bar if standard error is a terminal and the run is long; else nothing.

    The bar is erased before any other text on the terminal, and at the end.
    """
    total = 0 if quiet or not is_terminal(sys.stderr) else sum(map(size_of, sources))
    if total < LONG_RUN:
        yield None
        return
    out, err = sys.stdout, sys.stderr
    below = _Below(err)
    sys.stderr = cast("TextIO", below)
    if is_terminal(out):
        sys.stdout = cast("TextIO", _Above(out, below))
    try:
        with click.progressbar(length=total, label=label, file=sys.stderr) as shown:
            yield shown.update
    finally:
        sys.stdout, sys.stderr = out, err


class _Below:
    """Standard error with a bar, which is erased before any other text."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.width = 0
        """Number of characters of the bar on the terminal."""

        self.is_beside = False
        """Whether the terminal has an unfinished line of other text, which the bar would overwrite."""

    def write(self, text: str) -> int:
        if text.startswith("\r"):
            if not self.is_beside:
                self.width = len(click.unstyle(text)) - 1
                self.stream.write(text)
        elif text == f"{_SHOW_CURSOR}\n" or (self.width and text == "\n"):  # written by `click` at the end
            self.erase()
            self.stream.write(text.removesuffix("\n"))
        else:
            self.write_above(self.stream, text)
        return len(text)

    def write_above(self, stream: TextIO, text: str) -> None:
        self.erase()
        stream.write(text)
        self.is_beside = not text.endswith("\n") if text else self.is_beside

    def erase(self) -> None:
        if self.width:
            self.stream.write(f"\r{' ' * self.width}\r")
            self.stream.flush()
            self.width = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Above:
    """Standard output above a bar."""

    def __init__(self, stream: TextIO, below: _Below) -> None:
        self.stream = stream
        self.below = below

    def write(self, text: str) -> int:
        self.below.write_above(self.stream, text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
