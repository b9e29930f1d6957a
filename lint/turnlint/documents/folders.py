"""Find logs inside a folder, in a fixed order.

The walk skips hidden folders, installed packages, virtual environments and, inside a repository, files that git
ignores. It counts the logs that it skips, so that a run can report the numbers.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator

from turnlint.documents.gitignore import Patterns, chain_above, is_ignored, is_root, patterns_in

USUAL = frozenset({"node_modules", "bower_components", "site-packages", "venv", "virtualenv", "__pycache__"})
"""Folders with installed packages or compiled files."""
VENV_MARK = "pyvenv.cfg"
MAYBE_LOGS = frozenset(
    [
        ".7z",
        ".arrow",
        ".avro",
        ".bz2",
        ".csv",
        ".db",
        ".duckdb",
        ".eval",
        ".feather",
        ".har",
        ".log",
        ".msgpack",
        ".parquet",
        ".pb",
        ".pkl",
        ".sqlite",
        ".sqlite3",
        ".tar",
        ".tgz",
        ".traj",
        ".trajectory",
        ".tsv",
        ".xz",
        ".zip",
    ]
)
"""Suffixes of logs, tables and containers that are not supported. Other files are not counted."""


class Walk:
    """The logs of some folders, and counts of other files."""

    def __init__(self, is_wanted: Callable[[str], bool], *, gitignore: bool = True) -> None:
        self.is_wanted = is_wanted
        self.gitignore = gitignore
        self.unsupported: Counter[str] = Counter()
        """Files in formats that are not supported, by suffix."""
        self.no_files = 0
        """The number of log names that belong to a device, a named pipe, a socket or a link to no regular file."""
        self.ignored = 0
        """The number of logs that git ignores."""
        self.ignored_folders = 0

    def over(self, folder: str) -> Iterator[str]:
        """Yield the paths of logs, sorted, a folder's own files first. Raises `OSError` for the folder itself."""
        os.scandir(folder).close()
        top = os.path.abspath(folder)
        chains: dict[str, tuple[Patterns, ...] | None] = {
            folder: chain_above(top) if self.gitignore else None
        }
        for where, folders, files in os.walk(folder):
            chain = chains.pop(where, None)
            here = top if where == folder else os.path.join(top, os.path.relpath(where, folder))
            folders[:] = self._kept(where, here, folders, chain)
            for name in folders:
                below = os.path.join(here, name)
                if self.gitignore and is_root(below):
                    chains[os.path.join(where, name)] = patterns_in(below)
                elif chain is not None:
                    chains[os.path.join(where, name)] = (*chain, *patterns_in(below))
            for name in sorted(files):
                path = os.path.join(where, name)
                if not self._is_log(path, name):
                    continue
                if chain and is_ignored(os.path.join(here, name), chain, folder=False):
                    self.ignored += 1
                else:
                    yield path.removeprefix("./") if folder == "." else path

    def _kept(
        self, where: str, here: str, folders: list[str], chain: tuple[Patterns, ...] | None
    ) -> list[str]:
        kept = []
        for name in sorted(folders):
            if name.startswith(".") or name in USUAL or os.path.exists(os.path.join(where, name, VENV_MARK)):
                continue
            if chain and is_ignored(os.path.join(here, name), chain, folder=True):
                self.ignored_folders += 1
            else:
                kept.append(name)
        return kept

    def _is_log(self, path: str, name: str) -> bool:
        """Whether a file may be a log, by its name. A pipe is no log, since reading it could block."""
        if self.is_wanted(name):
            found = os.path.isfile(path)
            self.no_files += not found
            return found
        suffix = os.path.splitext(name)[1].lower()
        if suffix in MAYBE_LOGS and not name.startswith(".") and os.path.isfile(path):
            self.unsupported[suffix] += 1
        return False
