"""Find the settings file of a path.

Most searches find nothing, so a search takes few system calls and imports nothing.
"""

import os
import re

NAMES = ("turnlint.yaml", "turnlint.yml")
TABLES = "pyproject.toml"
_HAS_TABLE = rb"""(?m)^\s*\[{0,2}\s*["']?tool["']?\s*(?:\.\s*["']?turnlint|\]|=)"""
_MOST = 1 << 20


class Nearest:
    """The nearest settings file of each folder; each folder is searched once."""

    def __init__(self) -> None:
        self.known: dict[str, str | None] = {}

    def of(self, folder: str) -> str | None:
        """Return the settings file of a folder: its own, or that of the nearest parent, within a repository."""
        passed = []
        while folder not in self.known:
            passed.append(folder)
            found = _in(folder)
            above = os.path.dirname(folder)
            if found or above == folder or os.path.exists(os.path.join(folder, ".git")):
                self.known[folder] = found
                break
            folder = above
        found = self.known[folder]
        self.known.update(dict.fromkeys(passed, found))
        return found


def _in(folder: str) -> str | None:
    for name in NAMES:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    path = os.path.join(folder, TABLES)
    return path if os.path.isfile(path) and has_table(path) else None


def has_table(path: str) -> bool:
    """Whether a TOML file may have the table of turnlint. An unreadable file has none."""
    try:
        with open(path, "rb") as file:
            return re.search(_HAS_TABLE, file.read(_MOST)) is not None
    except OSError:
        return False
