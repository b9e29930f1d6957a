"""Decide width and color of text for people, from the terminal and the environment."""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from turnlint.rulebook import Entry

DEFAULT_WIDTH = 100


class Look(Struct, frozen=True):
    """The appearance of text for people."""

    width: int
    color: bool
    statistics: str
    fails: Mapping[str, tuple[str, ...]] = {}
    folds: bool = False
    infos: bool = True
    own: "tuple[Entry, ...]" = ()


def is_terminal(stream: Any) -> bool:
    return bool(getattr(stream, "isatty", bool)())


def colors(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_terminal(sys.stdout)


def line_limit(stream: Any = None) -> int | None:
    """Return the columns of a line of text, from COLUMNS or else from the terminal; nothing without a limit."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    stream = sys.stdout if stream is None else stream
    if not is_terminal(stream):
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def within_limit(sentence: str) -> str:
    """Return a visible sentence, broken at the limit of a line if there is one."""
    from turnlint.report.escape import fold

    limit = line_limit()
    return "\n".join(fold(sentence, limit, "    ")) if limit else sentence


def width() -> int:
    """Return the columns of a line of text, with a default where there is no limit."""
    return line_limit() or DEFAULT_WIDTH


def prose_width() -> int:
    """Return the columns of a line of prose: longer lines are hard to read."""
    return min(width(), DEFAULT_WIDTH)
