"""Pages of help that fit the terminal: click lays them out for 50 columns at least."""

from collections.abc import Iterable

import click

from turnlint.cli.look import line_limit

MAX_COLUMNS = 80
MARGIN = 2
LEAST_WIDTH = 30
HYPHEN = "\u2011"
"""A hyphen at which click does not break a line: option names stay whole."""


class Formatter(click.HelpFormatter):
    """A formatter whose lists of options leave room for the descriptions."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the line of usage; below the name of the command where it is long."""
        if len(prog) + len(args) + len("Usage:  ") <= self.width:
            super().write_usage(prog, args, prefix)
            return
        from turnlint.report.escape import fold

        for line in fold(f"{prefix or 'Usage: '}{prog} {args}", self.width, "    "):
            self.write(f"{line}\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names and what they mean, side by side."""
        whole = [(name, about.replace("-", HYPHEN)) for name, about in rows]
        super().write_dl(whole, min(col_max, max(1, self.width // 2 - col_spacing)), col_spacing)

    def write_text(self, text: str) -> None:
        """Write a paragraph, broken at spaces."""
        super().write_text(text.replace("-", HYPHEN))

    def write(self, string: str) -> None:
        """Write a text with its hyphens as they were."""
        super().write(string.replace(HYPHEN, "-"))


def open_formatter() -> Formatter:
    """Return a formatter as wide as the terminal, up to a readable length."""
    limit = line_limit() or MAX_COLUMNS
    return Formatter(width=max(LEAST_WIDTH, min(limit, MAX_COLUMNS) - MARGIN))
