"""Read and write a file of known findings.

The file has a sorted line for each finding, with its fingerprint. So it merges like any list and changes only
where findings do. It has no line numbers and no dates.
"""

import os
from collections.abc import Iterable
from json import dumps
from typing import Any

import msgspec
from msgspec import Struct

from turnlint.documents.source import open_regular
from turnlint.errors import BaselineError
from turnlint.report.escape import in_json
from turnlint.rows import Row
from turnlint.text import truncate

SCHEMA = "turnlint/baseline-v1"
NAME = "turnlint.baseline"
"""Default name; a search in folders does not take it for a log."""
LONGEST_NAME = 200
MOST_BYTES = 1 << 28
"""Limit of the file: room for more than a million entries. Untrusted settings may name a device without an end."""
_HEAD = f'{{"baseline": "{SCHEMA}"}}'
"""First line; it sorts before all entries."""
_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


class Entry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One known finding."""

    path: str
    """Path relative to the folder of the baseline, with slashes."""
    code: str
    fingerprint: str
    rule: str
    conversation: str | None = None
    call: str | None = None
    reason: str = ""

    @property
    def line(self) -> str:
        return in_json(dumps(msgspec.to_builtins(self)))


class Baseline:
    """The entries of a file, and those that matched a finding in this run."""

    def __init__(self, path: str, entries: Iterable[Entry] = ()) -> None:
        self.path = path
        self.root = os.path.dirname(os.path.abspath(path))
        self.entries = {entry.fingerprint: entry for entry in entries}
        self.met: set[str] = set()

    def knows(self, row: Row) -> Entry | None:
        """Return the entry of a finding, and mark it as matched."""
        entry = self.entries.get(row.fingerprint)
        if entry is not None:
            self.met.add(entry.fingerprint)
        return entry

    def entry_of(self, row: Row, file: str | None, reason: str) -> Entry:
        """Return the entry for a finding; the reason of an existing entry is kept."""
        finding = row.finding
        known = self.entries.get(row.fingerprint)
        return Entry(
            path=self.seen(file, row.path), code=finding.code, fingerprint=row.fingerprint, rule=finding.rule,
            conversation=truncate(finding.conversation, LONGEST_NAME), call=truncate(finding.call_id, LONGEST_NAME),
            reason=reason or (known.reason if known else ""),
        )  # fmt: skip

    def seen(self, file: str | None, name: str) -> str:
        """Return the path of a file for entries; the name alone where it is no file."""
        return name if file is None else os.path.relpath(file, self.root).replace(os.sep, "/")

    def stale(self, paths: Iterable[str]) -> list[Entry]:
        """Return entries without a finding, in these files and in files that no longer exist."""
        here = set(paths)
        return [
            entry
            for entry in self.entries.values()
            if entry.fingerprint not in self.met
            and (entry.path in here or not os.path.exists(os.path.join(self.root, entry.path)))
        ]


def read(path: str, *, must_exist: bool = True) -> Baseline:
    """Read the baseline in a file. Raises `BaselineError`."""
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        if not must_exist:
            return Baseline(path)
        raise BaselineError(f"{path}: no such file; `turnlint baseline write` makes one") from None
    except OSError as error:
        raise BaselineError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    if len(data) > MOST_BYTES:
        raise BaselineError(f"{path}: is larger than {MOST_BYTES >> 20} MiB, which no baseline is")
    lines = data.splitlines()
    return Baseline(
        path, [entry for number, line in enumerate(lines, 1) for entry in _entries(path, number, line)]
    )


def _entries(path: str, number: int, line: bytes) -> list[Entry]:
    if not line.strip():
        return []
    if line.startswith(_MARKS):
        raise BaselineError(f"{path}:{number}: a merge was not finished here; keep the lines of both sides")
    try:
        value: Any = msgspec.json.decode(line)
        if isinstance(value, dict) and "baseline" in value:
            if value["baseline"] != SCHEMA:
                raise BaselineError(f"{path}:{number}: is of another version than {SCHEMA}")
            return []
        return [msgspec.convert(value, Entry)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BaselineError(f"{path}:{number}: not a baseline entry: {str(error).lower()}") from None


def write(path: str, entries: Iterable[Entry]) -> None:
    """Write a baseline atomically, sorted by bytes, as `sort` does in the C locale. Raises `BaselineError`."""
    lines = sorted({entry.line for entry in entries})
    data = "".join(f"{line}\n" for line in (_HEAD, *lines))
    from turnlint.keeping.disk import new_file_beside

    try:
        file, temporary = new_file_beside(os.path.abspath(path), 0o666)
        try:
            with open(file, "w", encoding="ascii") as stream:
                stream.write(data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise BaselineError(f"{path}: {(error.strerror or 'cannot be written').lower()}") from None
