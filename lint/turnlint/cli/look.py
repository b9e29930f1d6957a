"""How text for people is to look: width and colour, from the terminal and the environment.

This module owns that reading. It refuses to write anything.
"""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from turnlint.rulebook import Entry

DEFAULT_WIDTH = 100


class Look(Struct, frozen=True):
    """How text for people is to look."""

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
    """Columns of a line of text: from COLUMNS, else from the terminal; nothing where neither sets a limit."""
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


def width() -> int:
    """Columns of a line of text, with a default where nothing sets a limit."""
    return line_limit() or DEFAULT_WIDTH


def prose_width() -> int:
    """Columns of a line of prose: longer lines are hard to read."""
    return min(width(), DEFAULT_WIDTH)
