"""What was found before, in files that are still the same.

This module owns the entries: one for each file, by the digest of its bytes, its name, the version of the program
and all that a run asks. An entry that is not whole is none, two runs may write at once, and nobody else may look.
It refuses to know what is in a report.
"""

import os
import sys
from collections.abc import Callable, Iterator
from datetime import date
from hashlib import blake2b
from importlib.util import find_spec
from typing import Any

from msgspec import DecodeError, Struct, json, msgpack

from turnlint import __version__
from turnlint.documents.source import Source
from turnlint.engine import Options, Tally
from turnlint.errors import UnsafeFolderError
from turnlint.packages import packages
from turnlint.spread.here import Done, Of, Told
from turnlint.spread.keeping import Kept, kept_event, restored_event

FOLDER_NAMED = "TURNLINT_CACHE"
"""The variable that names another folder than the user's own."""
_OWN = os.path.join("turnlint", "lint")
_MOST_EVENTS = 10_000
_MOST_ENTRIES = 4_096
_SIZE = 32


class _Entry(Struct):
    events: list[Kept]
    tally: Tally


_decoder = msgpack.Decoder(_Entry)
Run = Callable[[list[Source]], Iterator[Told]]


def folder() -> str:
    """Where entries are kept: a folder of the user's alone, made where it is not there yet."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = os.environ.get(FOLDER_NAMED) or os.path.join(base, _OWN)
    os.makedirs(path, mode=0o700, exist_ok=True)
    found = os.stat(path)
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not mine or (os.name == "posix" and found.st_mode & 0o022):
        raise UnsafeFolderError(f"{path}: other users can write there")
    return path


class Cache:
    """The entries for what a run asks."""

    def __init__(self, path: str, of: Of) -> None:
        self.path = path
        self.of = of
        self.program = json.encode((__version__, sys.version, _stamp()))
        self.asked: dict[int, tuple[Options, bytes]] = {}

    def run(self, sources: list[Source], run: Run) -> Iterator[Told]:
        """All events of some sources in order, of those that are known from before, of the others by running."""
        keys = {source: self._key(source) for source in sources}
        known = {source: found for source in sources if (found := self._read(keys[source]))}
        waiting = iter(sources)
        fresh = [source for source in sources if source not in known]
        yield from self._until_fresh(waiting, known)
        found = _Entry([], Tally())
        whole = True
        for told in run(fresh):
            if isinstance(told, Done):
                if (
                    whole
                    and len(found.events) <= _MOST_EVENTS
                    and self._key(told.source) == keys[told.source]
                ):
                    self._write(keys[told.source], found)
                found, whole = _Entry([], Tally()), True
                yield told
                yield from self._until_fresh(waiting, known)
                continue
            if isinstance(told, Tally):
                found.tally.add(told)
            elif (one := kept_event(told)) is None:
                whole = False
            elif len(found.events) <= _MOST_EVENTS:
                found.events.append(one)
            yield told
        self._tidy()

    def _until_fresh(self, waiting: Iterator[Source], known: dict[Source, _Entry]) -> Iterator[Told]:
        for source in waiting:
            if source not in known:
                return
            yield from map(restored_event, known[source].events)
            yield known[source].tally
            yield Done(source)

    def _key(self, source: Source) -> str | None:
        """Nothing for what cannot be read twice, or not at all: that is for the run to say.

        Nothing, too, if a rule declares no triggers: it may look at more than conversations.
        """
        if not source.again or source.path is None or not self.of(source).book.has_triggers:
            return None
        digest = blake2b(self.program, digest_size=_SIZE)
        digest.update(self._asked(source))
        digest.update(repr((source.name, os.path.abspath(source.path), source.named, source.limit)).encode())
        try:
            with open(source.path, "rb", buffering=0) as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
        except OSError:
            return None
        return digest.hexdigest()

    def _asked(self, source: Source) -> bytes:
        """All that is asked of a source, in bytes."""
        options = self.of(source).options
        if id(options) not in self.asked:
            self.asked[id(options)] = options, _spelled(options).encode()
        return self.asked[id(options)][1]

    def _read(self, key: str | None) -> _Entry | None:
        if key is None:
            return None
        path = os.path.join(self.path, key)
        try:
            with open(path, "rb") as file:
                data = file.read()
            if data[:_SIZE] != _check(data[_SIZE:]):
                return None
            found = _decoder.decode(data[_SIZE:])
            os.utime(path)
        except (OSError, DecodeError, ValueError):
            return None
        return found

    def _write(self, key: str | None, found: _Entry) -> None:
        """At one stroke: whoever reads meets all of it or nothing. A cache that cannot be written is no fault."""
        if key is None:
            return
        from tempfile import NamedTemporaryFile

        try:
            data = msgpack.encode(found)
            with NamedTemporaryFile(dir=self.path, prefix=".new-", delete=False) as file:
                try:
                    file.write(_check(data) + data)
                    os.replace(file.name, os.path.join(self.path, key))
                except BaseException:
                    os.unlink(file.name)
                    raise
        except (OSError, UnicodeEncodeError):  # half a character, in what is shown or in a name
            return

    def _tidy(self) -> None:
        """Keep the entries that were used last."""
        try:
            with os.scandir(self.path) as entries:
                times = [(entry.stat().st_mtime_ns, entry.path) for entry in entries if entry.is_file()]
            for _, path in sorted(times)[:-_MOST_ENTRIES]:
                os.unlink(path)
        except OSError:
            return


def _spelled(value: Any) -> str:
    """A value with the names of its kinds: two that are of different kinds are never the same."""
    if isinstance(value, Struct):
        inside = [_spelled(getattr(value, name)) for name in value.__struct_fields__]
        return f"{type(value).__name__}({','.join(inside)})"
    if isinstance(value, (tuple, list)):
        return f"[{','.join(map(_spelled, value))}]"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_spelled, value)))}}}"
    if isinstance(value, dict):
        return f"<{','.join(sorted(_spelled(item) for item in value.items()))}>"
    assert value is None or isinstance(value, (str, bytes, bool, int, float, date)), type(value)
    return repr(value)


def _check(data: bytes) -> bytes:
    return blake2b(data, digest_size=_SIZE).digest()


def _stamp() -> list[tuple[str, int, int]]:
    """The program as it stands: a version says nothing of one that is being worked on."""
    found = []
    for name in ("turnlint", *packages()):
        spec = find_spec(name)
        roots = (spec.submodule_search_locations if spec else None) or ()
        paths = [
            os.path.join(where, one)
            for root in roots
            for where, _, names in os.walk(root)
            for one in names
            if one.endswith(".py")
        ]
        if spec is not None and not roots and spec.origin is not None:  # a package of one file
            paths.append(spec.origin)
        found += [(path, (one := os.stat(path)).st_mtime_ns, one.st_size) for path in paths]
    return sorted(found)
