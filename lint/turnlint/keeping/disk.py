"""Replace a file atomically.

The new file is complete or not there at all. A file is rejected if it changed, if another program writes it,
or if it is not a regular file.

A symbolic link stays, and its target is replaced. Where a file has several names (hard links), the given name
gets the new bytes. The other names keep the old ones, as in a backup made of links. A program killed midway
leaves `.NAME.turnlint-0000` beside the file, which no search for logs finds.
"""

import errno
import hashlib
import os
import re
import stat as modes
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from time import sleep
from typing import Annotated

from msgspec import Meta, Struct

from turnlint.documents.source import Source, open_regular, packing_at
from turnlint.errors import WriteError
from turnlint.keeping.attributes import take_over
from turnlint.keeping.packing import packed, packing_by_name
from turnlint.keeping.patches import PIECE, Patch, changed, patched
from turnlint.keeping.system import ELSEWHERE, SYSTEM, System, sentences

__all__ = [
    "Count", "Digest", "Digests", "Hex", "Patch", "Stamp", "digest_of", "is_open_for_writing",
    "patched", "put", "replace", "stamp", "swap", "sync_folder", "write_to",
]  # fmt: skip

Hex = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Count = Annotated[int, Meta(ge=0)]
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_LONG = 50
"""Number of characters of a long name in a temporary name: at most 200 of the 255 bytes of a name."""
_TRIES = 10_000
_WAITS, _WAIT_S = 20, 0.1
"""Number and seconds of the waits for a reader of a named pipe."""
_STREAM = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/(self|thread-self|\d+)/fd/\d+")


class Stamp(Struct, frozen=True):
    """The values that show a change of a file without reading it."""

    device: int
    inode: int
    size: int
    modified_ns: int


class Digest(Struct, frozen=True):
    """Digest of the bytes of a file as they are on the disk, compressed or not."""

    sha256: Hex
    size: Count


class Digests(Struct, frozen=True):
    before: Digest
    after: Digest


Before = Callable[[Digests], None]


def stamp(path: str, system: System = SYSTEM) -> Stamp:
    """Return the stamp of a file: taken before a read, it shows later whether the file changed."""
    return _stamp(system.stat(path))


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def replace(
    source: Source, patches: Sequence[Patch], *, expected: Stamp, before_replace: Before | None = None,
    system: System = SYSTEM,
) -> Digests:  # fmt: skip
    """Write the patched file in place of the old one, compressed as it was. Raises `WriteError`.

    `before_replace` is called when the new file is on the disk and not yet in place. If it raises, the old
    file stays.
    """
    if source.path is None:
        raise WriteError("standard input cannot be replaced", ELSEWHERE)
    try:
        packing = packing_at(source.path) if os.path.isfile(source.path) else None
    except OSError as error:
        raise WriteError(f"{source.name}: {(error.strerror or 'cannot be read').lower()}") from None
    pieces = packed(patched(source, patches), packing)
    return swap(source.path, pieces, expected=expected, before_replace=before_replace, system=system)


def swap(
    path: str, pieces: Iterable[bytes], *, expected: Stamp, before_replace: Before | None = None,
    system: System = SYSTEM,
) -> Digests:  # fmt: skip
    """Replace the content of a file that still has the expected stamp."""
    target = os.path.realpath(path)

    def check() -> None:
        if stamp(target, system) != expected:
            raise changed(path)
        if is_open_for_writing(target):
            lost = f"{path} is open for writing in another program, whose next lines would be lost"
            raise WriteError(lost, f"stop it, or {ELSEWHERE}")

    with sentences(path):
        status = system.stat(target)
        if not modes.S_ISREG(status.st_mode):
            raise WriteError(f"{path} is not a regular file", ELSEWHERE)
        _writable(target, path, system)
        check()
        before = digest_of(target)

        def last(after: Digest) -> None:
            check()
            if before_replace:
                before_replace(Digests(before, after))
                check()

        return Digests(before, _stand(target, pieces, status, last, system))


def write_to(path: str, pieces: Iterable[bytes], *, like: Source, system: System = SYSTEM) -> None:
    """Write to another file than the source; compress it according to its name.

    An existing file keeps its permissions. A new one gets those of the source, as far as the umask allows. A
    pipe or a device is written directly.
    """
    target = os.path.realpath(path)
    there = next((one for one in (path, target) if os.path.exists(one)), None)
    if like.path is not None and there is not None and os.path.samefile(there, like.path):
        raise WriteError(f"{path} is the input file", "omit -o to change it in place")
    pieces = packed(pieces, packing_by_name(path))
    with sentences(path):
        status = system.stat(there) if there is not None else None
        if status is not None and modes.S_ISDIR(status.st_mode):
            raise WriteError(f"{path} is a folder", "name a file")
        if _is_device(path, status):
            _write_plainly(path, pieces, system)
            return
        if not os.path.isdir(os.path.dirname(target)):
            raise WriteError(f"{path}: no such folder", "make it first")
        if status is not None:
            _writable(target, path, system)
            _stand(target, pieces, status, lambda _: None, system)
            return
        known = like.path is not None and os.path.isfile(like.path)
        mode = modes.S_IMODE(os.stat(like.path or "").st_mode) if known else 0o666
        _stand(target, pieces, None, lambda _: None, system, mode & 0o666)


def put(target: str, data: bytes, system: System = SYSTEM) -> None:
    """Write a small file of the program's own atomically, readable by its user alone."""
    _stand(target, (data,), None, lambda _: None, system, 0o600)


def digest_of(path: str) -> Digest:
    with open_regular(path, buffering=0) as file:
        return _digest(iter(lambda: file.read(PIECE), b""))


def _digest(pieces: Iterable[bytes]) -> Digest:
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    return Digest(digest.hexdigest(), size)


def is_open_for_writing(path: str) -> bool | None:
    """Whether another program has the file open for writing; nothing where the system cannot answer.

    Linux grants a read lease only while no process has the file open for writing (fcntl(2)). If a process
    opens the file during the lease, the kernel sends a signal that has no effect.
    """
    try:
        import fcntl
        from signal import SIGURG

        set_lease, set_signal = fcntl.F_SETLEASE, fcntl.F_SETSIG
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (ImportError, AttributeError, OSError):
        return None
    try:
        fcntl.fcntl(file, set_signal, SIGURG)
        fcntl.fcntl(file, set_lease, fcntl.F_RDLCK)
        fcntl.fcntl(file, set_lease, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(file)
    return False


def _writable(target: str, path: str, system: System) -> None:
    """Raise `WriteError` for a read-only file: its owner wants to keep it, although it could be replaced."""
    if not system.access(target, os.W_OK):
        raise WriteError(f"{path} is read-only", f"make it writable, or {ELSEWHERE}")


def _is_device(path: str, status: os.stat_result | None) -> bool:
    """Whether bytes must go to an open device or stream.

    `/dev/stdout` may be a file that a shell opened, so its name must not be replaced.
    """
    there = status is not None and not modes.S_ISREG(status.st_mode)
    return there or _STREAM.fullmatch(path) is not None


def _write_plainly(path: str, pieces: Iterable[bytes], system: System) -> None:
    file = open_stream(path, system)
    try:
        with suppress(BrokenPipeError):  # a reader may close the pipe
            for piece in _gathered(pieces):
                _write(system, file, piece)
    finally:
        system.close(file)


def open_stream(path: str, system: System = SYSTEM) -> int:
    """Open a device or a pipe for writing. Raises `WriteError` for a pipe from which nothing reads for a while."""
    flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
    for _ in range(_WAITS):
        try:
            file = system.open(path, flags | getattr(os, "O_NONBLOCK", 0))
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            sleep(_WAIT_S)
        else:
            if hasattr(os, "set_blocking"):
                os.set_blocking(file, True)
            return file
    raise WriteError(f"{path} is a named pipe from which nothing reads")


def is_stream(path: str) -> bool:
    """Whether a path is a device, a pipe, or a stream that is already open."""
    try:
        return _is_device(path, os.stat(path))
    except OSError:
        return _is_device(path, None)


def new_file_beside(target: str, mode: int) -> tuple[int, str]:
    """Make a new file in the folder of another; return its descriptor, open for writing, and its name."""
    return _create(target, mode, SYSTEM)


def _stand(
    target: str, pieces: Iterable[bytes], status: os.stat_result | None, last: Callable[[Digest], None],
    system: System, mode: int = 0o600,
) -> Digest:  # fmt: skip
    """Write, sync and read back a new file, then put it in place. An error before that leaves no file behind."""
    file, temp = _create(target, mode, system)
    try:
        try:
            digest = _digest(_written(file, pieces, system))
            if status is not None:
                take_over(system, target, status, file, temp)
            system.fsync(file)
            if _read_back(file, system) != digest:
                raise WriteError(
                    f"the disk returned different bytes than were written; {target} is unchanged"
                )
        finally:
            system.close(file)
        last(digest)
        system.replace(temp, target)
    except BaseException:
        _drop(temp, system)
        raise
    sync_folder(os.path.dirname(target), system)
    return digest


def _create(target: str, mode: int, system: System) -> tuple[int, str]:
    folder, name = os.path.split(target)
    shown = name if len(os.fsencode(name)) <= 4 * _LONG else name[:_LONG]
    for number in range(_TRIES):
        temp = os.path.join(folder, f".{shown}.turnlint-{number:04}")
        try:
            return system.open(temp, _NEW, mode), temp
        except FileExistsError:
            continue
    raise WriteError(
        f"{folder} contains too many temporary files of runs that were killed", "remove .*.turnlint-*"
    )


def _written(file: int, pieces: Iterable[bytes], system: System) -> Iterator[bytes]:
    """Yield the pieces, each after it was written to the file."""
    for piece in _gathered(pieces):
        _write(system, file, piece)
        yield piece


def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces large enough for one system call each."""
    some: list[bytes] = []
    size = 0
    for piece in pieces:
        some.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(some)
            some, size = [], 0
    if size:
        yield b"".join(some)


def _write(system: System, file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[system.write(file, rest) :]


def _read_back(file: int, system: System) -> Digest:
    system.seek(file, 0, os.SEEK_SET)
    return _digest(iter(lambda: system.read(file, PIECE), b""))


def _drop(temp: str, system: System) -> None:
    with suppress(OSError):  # the file may be in place already, and the error before it is the relevant one
        system.unlink(temp)


def sync_folder(folder: str, system: System = SYSTEM) -> None:
    """Sync a folder, so that a name survives a power cut. A failure is ignored: the file is already in place."""
    with suppress(OSError):
        file = system.open(folder, os.O_RDONLY)
        try:
            system.fsync(file)
        finally:
            system.close(file)
