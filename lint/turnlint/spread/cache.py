"""Cache the findings of files that did not change.

Each file has one entry. Its key covers the bytes of the file, its name, the version of the program and the
settings of the run. An incomplete entry counts as missing. Two runs may write at once, and no other user may
write in the folder.
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
from turnlint.packages import GRAMMARS, PARSERS, WIRES, additions, packages
from turnlint.spread.here import Done, Of, Told
from turnlint.spread.keeping import Kept, kept_event, restored_event

FOLDER_NAMED = "TURNLINT_CACHE"
"""Environment variable that names another folder than the user's default one."""
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
    """Return the folder of the entries, and make it if it does not exist. Raises `UnsafeFolderError`."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = os.environ.get(FOLDER_NAMED) or os.path.join(base, _OWN)
    os.makedirs(path, mode=0o700, exist_ok=True)
    found = os.stat(path)
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not mine or (os.name == "posix" and found.st_mode & 0o022):
        raise UnsafeFolderError(f"{path}: other users can write there")
    return path


class Cache:
    """The entries for the settings of a run."""

    def __init__(self, path: str, of: Of) -> None:
        self.path = path
        self.of = of
        self.program = json.encode((__version__, sys.version, _stamp()))
        self.asked: dict[int, tuple[Options, bytes]] = {}

    def run(self, sources: list[Source], run: Run) -> Iterator[Told]:
        """Yield all events of the sources in order: from the cache where an entry exists, else from a run."""
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
        """Return the key of a source, or nothing if the source cannot be read twice; the run reports errors.

        Also return nothing if a rule declares no triggers: such a rule may read more than conversations.
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
        """Return the settings of a source in bytes."""
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
        """Write an entry atomically: a reader gets all of it or nothing. A failure to write is ignored."""
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
        except (OSError, UnicodeEncodeError):  # a lone surrogate, in a view or in a name
            return

    def _tidy(self) -> None:
        """Discard the entries that were used longest ago."""
        try:
            with os.scandir(self.path) as entries:
                times = [(entry.stat().st_mtime_ns, entry.path) for entry in entries if entry.is_file()]
            for _, path in sorted(times)[:-_MOST_ENTRIES]:
                os.unlink(path)
        except OSError:
            return


def _spelled(value: Any) -> str:
    """Return a text of a value with the names of its types: values of different types have different texts."""
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
    """Return the state of the program's files: the version does not change while a program is in development."""
    found = []
    added = (
        module.partition(".")[0]
        for group in (WIRES, PARSERS, GRAMMARS)
        for module in additions(group).values()
    )
    for name in dict.fromkeys(("turnlint", *packages(), *added)):
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
