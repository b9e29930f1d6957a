"""Keep a journal of the bytes that a fix removed, so that they can be restored.

A document is found again from the path and the present bytes of its file. It is one line of JSON in ASCII,
the same for the same fix on every day. It has text of conversations, so only its user may read it. It is read
as untrusted input.
"""

import json
import os
import stat as modes
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import IO, Any, Literal

from msgspec import Struct, ValidationError, convert, structs, to_builtins

from turnlint import __version__
from turnlint.documents.source import Packing, Source, odd_kind, packing_at
from turnlint.errors import WriteError
from turnlint.keeping.disk import Count, Digest, Digests, Hex, digest_of, put, sync_folder
from turnlint.keeping.ends import common_end, common_start
from turnlint.keeping.patches import PIECE, Patch, taken
from turnlint.keeping.system import SYSTEM, System, sentences

SCHEMA: Literal["turnlint/journal-v1"] = "turnlint/journal-v1"
_PART = 16
"""Number of characters of a digest in a file name. The document has the full digest, which is compared."""
MAX_BYTES_IN_MEMORY = 1 << 20
"""A longer line of a journal is kept in a temporary file until it is written."""
_ANOTHER = "name another place with --journal"
_TEMPORARY = "set TMPDIR to a folder with more space"
AS_BEFORE = "already restored: the file is as it was before the fix"
_START = b'{"schema": "' + SCHEMA.encode() + b'"'


class Edit(Struct, frozen=True, omit_defaults=True):
    """A range of the file after the fix, and the bytes that were there before."""

    offset: Count
    length: Count
    sha256: Hex
    after_sha256: Hex
    text: str | None = None
    base64: str | None = None


class Entry(Struct, frozen=True):
    """One repair of one file."""

    schema: Literal["turnlint/journal-v1"]
    version: str
    path: str
    before: Digest
    after: Digest
    compressed: Packing | None
    edits: tuple[Edit, ...]
    original: str | None
    """The whole file in base64, where it was compressed: compressing again does not give the same bytes."""
    changes: list[Any]


class Missing(Struct, frozen=True):
    """The reason why there is nothing to restore."""

    reason: str


def entry(source: Source, patches: Sequence[Patch], digests: Digests, changes: Sequence[Any] = ()) -> Entry:
    """Return the document of these patches. Call it while the source is unchanged."""
    head = _head_of(source, digests)
    original = None if head.compressed is None else "".join(_original(source))
    return structs.replace(
        head, edits=tuple(_edits(source, patches)), original=original, changes=list(changes)
    )


def _head_of(source: Source, digests: Digests) -> Entry:
    """Return a document without its long parts."""
    assert source.path is not None
    path = os.path.realpath(source.path)
    return Entry(
        schema=SCHEMA,
        version=__version__,
        path=spelled(path),
        before=digests.before,
        after=digests.after,
        compressed=packing_at(path),
        edits=(),
        original=None,
        changes=[],
    )


def _original(source: Source) -> Iterator[str]:
    """Yield a compressed file in base64, in pieces."""
    with open(source.path or "", "rb") as file:
        while piece := file.read(3 << 18):  # multiples of three bytes take no padding
            yield b64encode(piece).decode()


def spelled(path: str) -> str:
    """Return a path as text; it may have bytes that are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _edits(source: Source, patches: Sequence[Patch]) -> Iterator[Edit]:
    moved = 0
    for patch, old in zip(patches, taken(source, patches), strict=True):
        start = common_start(old, patch.data)
        end = common_end(old, patch.data, min(len(old), len(patch.data)) - start)
        before, after = old[start : len(old) - end], patch.data[start : len(patch.data) - end]
        if before or after:
            yield _edit(patch.start + moved + start, before, after)
        moved += len(patch.data) - len(old)


def _edit(offset: int, before: bytes, after: bytes) -> Edit:
    digests = sha256(before).hexdigest(), sha256(after).hexdigest()
    try:
        return Edit(offset, len(after), *digests, text=before.decode())
    except UnicodeDecodeError:
        return Edit(offset, len(after), *digests, base64=b64encode(before).decode())


def save(document: Entry, where: str | None, system: System = SYSTEM) -> str:
    """Write a document and sync it to the disk; return the path. Raises `WriteError`.

    The default folder has a file for each path and each state of it, with a line for each way to that state.
    A file that the user names gets one more line, so that it can hold the fixes of several runs.
    """
    return _save(document, {}, where, system)


def save_repair(
    source: Source, patches: Sequence[Patch], digests: Digests, changes: Iterable[Any], where: str | None,
    system: System = SYSTEM,
) -> str:  # fmt: skip
    """Write the document of these patches, as `save` does, without all of it in memory.

    Call it while the source is unchanged.
    """
    head = _head_of(source, digests)
    parts: dict[str, Iterable[Any]] = {"edits": _edits(source, patches), "changes": changes}
    if head.compressed is not None:
        parts["original"] = _original(source)
    return _save(head, parts, where, system)


def _save(document: Entry, parts: Mapping[str, Iterable[Any]], where: str | None, system: System) -> str:
    from tempfile import SpooledTemporaryFile  # few runs need it

    with SpooledTemporaryFile(MAX_BYTES_IN_MEMORY, prefix="turnlint-") as line:
        with sentences(document.path, "the journal cannot be written to a temporary file: ", _TEMPORARY):
            for piece in _line_of(document, parts):
                line.write(piece)
        return _save_line(document, line, where, system)


def _line_of(document: Entry, parts: Mapping[str, Iterable[Any]]) -> Iterator[bytes]:
    """Yield the line of a document in pieces. A part replaces a field."""
    yield b"{"
    for number, name in enumerate(Entry.__struct_fields__):
        value = parts.get(name, getattr(document, name))
        yield (f', "{name}": ' if number else f'"{name}": ').encode()
        if name in ("edits", "changes"):
            yield b"["
            for place, element in enumerate(value):
                yield (b", " if place else b"") + json.dumps(to_builtins(element)).encode()
            yield b"]"
        elif name in parts:
            yield b'"'
            for piece in value:
                yield piece.encode()
            yield b'"'
        else:
            yield json.dumps(to_builtins(value)).encode()
    yield b"}\n"


def _save_line(document: Entry, line: IO[bytes], where: str | None, system: System) -> str:
    if where is not None:
        with sentences(document.path, f"the journal {where} cannot be written: ", _ANOTHER):
            _append(where, line, system)
        return where
    folder = state_folder()
    path = os.path.join(folder, _name(document.path, document.after.sha256))
    with sentences(document.path, f"the journal {path} cannot be written: ", _ANOTHER):
        _make(folder, system)
        if not _holds(path, line):
            _append(path, line, system)
    return path


def _holds(path: str, line: IO[bytes]) -> bool:
    """Whether the last line of a journal is the same: the file was fixed, restored, and fixed again."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        start = file.seek(0, os.SEEK_END) - line.seek(0, os.SEEK_END)
        if start < 0:
            return False
        file.seek(max(start - 1, 0))
        if start and file.read(1) != b"\n":
            return False
        line.seek(0)
        return all(piece == file.read(len(piece)) for piece in _pieces(line))


def _pieces(line: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: line.read(PIECE), b"")


def _name(path: str, digest: str) -> str:
    return f"{_prefix(path)}{digest[:_PART]}.json"


def _prefix(path: str) -> str:
    return f"{sha256(path.encode()).hexdigest()[:_PART]}-"


def state_folder() -> str:
    """Return the folder of journals, by the convention of the system."""
    if chosen := os.environ.get("TURNLINT_STATE_DIR"):
        return os.path.abspath(chosen)
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        place = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        place = os.path.join(home, "Library", "Application Support")
    else:
        place = os.environ.get("XDG_STATE_HOME", "")
        place = place if os.path.isabs(place) else os.path.join(home, ".local", "state")
    if not os.path.isabs(place):
        raise WriteError("no home folder for the journal", "set TURNLINT_STATE_DIR, or use --journal")
    return os.path.join(place, "turnlint", "journal")


def _make(folder: str, system: System) -> None:
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    _make(parent, system)
    try:
        system.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
    sync_folder(parent, system)


def _append(where: str, line: IO[bytes], system: System) -> None:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    new = not os.path.exists(where)
    file = system.open(where, flags, 0o600)
    try:
        status = system.stat(file)
        if not modes.S_ISREG(status.st_mode):
            raise WriteError(f"the journal {where} is not a regular file", _ANOTHER)
        start = system.read(file, len(_START))
        if not _START.startswith(start):
            raise WriteError(f"{where} is not a journal", _ANOTHER)
        try:
            line.seek(0)
            _add(file, chain((_after_torn(file, status.st_size, system),), _pieces(line)), system)
        except BaseException:  # also where a signal ends the run
            system.truncate(file, status.st_size)
            if new:
                system.unlink(where)
            raise
    finally:
        system.close(file)
    if new:
        sync_folder(os.path.dirname(os.path.abspath(where)), system)


def _after_torn(file: int, size: int, system: System) -> bytes:
    """Return the line end that completes a line of a killed run."""
    if not size:
        return b""
    system.seek(file, -1, os.SEEK_END)
    return b"" if system.read(file, 1) == b"\n" else b"\n"


def _add(file: int, pieces: Iterable[bytes], system: System) -> None:
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            rest = rest[system.write(file, rest) :]
    system.fsync(file)


def find(path: str, where: str | None) -> Entry | Missing:
    """Return the document of the fix that produced the present bytes of a file."""
    if not os.path.isfile(path):
        kind = odd_kind(path)
        return Missing(f"is {kind}; name the file" if kind else "no such file")
    real = spelled(os.path.realpath(path))
    try:
        now = digest_of(path)
        found = list(_about(real, now, where))
    except OSError as error:
        return Missing((error.strerror or "cannot be read").lower())
    except WriteError as error:
        return Missing(str(error))
    return _chosen(found, real, now, where)


def known_in(folder: str, where: str | None) -> Iterator[str]:
    """Yield the files below a folder that have a journal.

    Raises `WriteError` where there is no folder for journals.
    """
    known = _prefixes(where)
    for place, folders, names in os.walk(folder) if known else ():
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            if not os.path.islink(path) and _prefix(spelled(os.path.realpath(path))) in known:
                yield path


def _prefixes(where: str | None) -> set[str]:
    """Return the start of each journal's name, which depends on the path of the file alone."""
    if where is None:
        folder = state_folder()
        names = os.listdir(folder) if os.path.isdir(folder) else ()
        return {name[: _PART + 1] for name in names}
    try:
        with open(where, "rb") as file:
            found = [_read(line, where) for line in file]
    except OSError as error:
        raise WriteError(f"{where}: {(error.strerror or 'cannot be read').lower()}", _ANOTHER) from None
    return {_prefix(one.path) for one in found if isinstance(one, Entry)}


def _chosen(found: list[Entry | Missing], real: str, now: Digest, where: str | None) -> Entry | Missing:
    entries = [one for one in found if isinstance(one, Entry)]
    fitting = [one for one in entries if one.after == now]
    own = [one for one in entries if one.path == real]
    if fitting:  # a file that was moved has another name and the same bytes
        return next((one for one in reversed(fitting) if one.path == real), fitting[-1])
    damaged = [one for one in found if isinstance(one, Missing)]
    if damaged:
        return damaged[-1]
    if any(one.before == now for one in own):
        return Missing(AS_BEFORE)
    if own:
        return Missing("the file changed after the fix; nothing was restored")
    return Missing("no journal for this file" + ("" if where is None else f" in {where}"))


def _about(real: str, now: Digest, where: str | None) -> Iterator[Entry | Missing]:
    """Yield all documents about a file of this path or these bytes, in the order of writing."""
    if where is not None:
        if not os.path.isfile(where):
            yield Missing(f"no journal {where}")
            return
        marks = (now.sha256.encode(), json.dumps(real).encode())
        with open(where, "rb") as file:
            yield from (_read(line, where) for line in file if any(mark in line for mark in marks))
        return
    folder = state_folder()
    names = os.listdir(folder) if os.path.isdir(folder) else ()
    for name in sorted(names):
        place = os.path.join(folder, name)
        if name.startswith(_prefix(real)) and name.endswith(".json") and os.path.isfile(place):
            with open(place, "rb") as file:
                yield from (_read(line, place) for line in file.read().splitlines(keepends=True) or [b""])


def _read(data: bytes, place: str) -> Entry | Missing:
    try:
        found = convert(json.loads(data), Entry)
    except (ValueError, ValidationError, RecursionError):
        return Missing(f"its journal is damaged: {place}")
    return found


def forget(document: Entry, system: System = SYSTEM) -> None:
    """Remove a restored document from the default folder; other documents of the same bytes stay."""
    place = os.path.join(state_folder(), _name(document.path, document.after.sha256))
    try:
        with open(place, "rb") as file:
            lines = file.read().splitlines(keepends=True)
        done = next((n for n in reversed(range(len(lines))) if _read(lines[n], place) == document), None)
        left = b"".join(line for n, line in enumerate(lines) if n != done)
        if left:
            put(place, left, system)
        else:
            system.unlink(place)
    except OSError:
        return  # a document that stays has no effect
    sync_folder(os.path.dirname(place), system)
