"""The files that the last run of `fix` changed, for `turnlint undo --last`.

A file in the state folder has one line for each changed file: its path, and the journal if the user named one. A lone
surrogate in a path represents a byte that is not UTF-8; JSON escapes it.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress

from turnlint.errors import WriteError
from turnlint.keeping.journal import state_folder

NAME = "last-run.jsonl"


class LastRun:
    """The note of one run; it replaces that of the run before."""

    def __init__(self) -> None:
        self.is_new = True

    def add(self, path: str, journal: str | None) -> None:
        """Note a changed file. A failure is ignored: the journal of the file is complete without the note."""
        line = json.dumps([os.path.realpath(path), journal and os.path.abspath(journal)]) + "\n"
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if self.is_new else os.O_APPEND)
        with suppress(OSError, WriteError):
            file = os.open(_place(), flags, 0o600)
            try:
                os.write(file, line.encode("ascii"))
            finally:
                os.close(file)
            self.is_new = False


def forget() -> None:
    """Remove the note: the last run was undone, or kept no journal."""
    with suppress(OSError, WriteError):
        os.unlink(_place())


def changed_files() -> list[tuple[str, str | None]]:
    """Return path and journal of each file that the last run changed; nothing where no run is known."""
    try:
        with open(_place(), "rb") as file:
            return [*_read(file.read())]
    except (OSError, WriteError):
        return []


def _read(data: bytes) -> Iterator[tuple[str, str | None]]:
    for line in data.splitlines():
        try:
            path, journal = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            continue  # a killed run left half a line
        if isinstance(path, str) and "\0" not in path and isinstance(journal, str | None):
            yield path, journal


def _place() -> str:
    return os.path.join(state_folder(), NAME)
