"""What there is to read: files, folders, patterns, standard input, compressed or not.

This module owns paths and open streams. It refuses to know what is in them, but for the bytes
that tell a compressed file from a plain one.
"""

import errno
import os
import re
import stat as modes
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader, BytesIO, UnsupportedOperation
from typing import IO, TYPE_CHECKING, Any, Literal, Self, cast

from msgspec import Struct

from turnlint.errors import DecompressionError, SourceError

if TYPE_CHECKING:
    from turnlint.documents.blocks import Blocks
    from turnlint.documents.folders import Walk
    from turnlint.documents.selection import Selection

SUFFIXES = (".jsonl", ".ndjson", ".json")
COMPRESSED = (".gz", ".zst")
STDIN = "-"
Progress = Callable[[int], None]
MAX_RECORD_BYTES = 1 << 27
"""A longer record is no request: no provider takes one of 128 MiB (32 MB at Anthropic, 50 MB at OpenAI; 2026-11)."""
PIECE = 1 << 20
"""So much is read, or unpacked, at once."""
_FEED = 1 << 17
Packing = Literal["gzip", "zstd"]
Edit = tuple[int, int, bytes]
"""The start and the end of a range of a file, and the bytes that replace it."""
MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""The bytes with which a compressed file begins."""


class Part(Struct, frozen=True):
    """Some whole lines of a plain file."""

    start: int
    end: int
    size: int
    """How many bytes the file has."""
    format: str
    """Whose records the file holds, as its beginning tells."""
    returned: bool = False
    """It is known already that its lines end with carriage returns."""
    line: int = 1
    """The number of its first line, once that is known; else it counts its own."""


class Source(Struct, frozen=True):
    """Something to lint, and the name to show for it."""

    name: str
    path: str | None
    """`None` is standard input."""
    named: bool = True
    """Asked for by this very name, rather than found in a folder."""
    data: bytes | None = None
    """What it holds, where that is no file but in memory."""
    part: Part | None = None
    """Nothing where all of it is meant."""
    limit: int = MAX_RECORD_BYTES
    """A record of more bytes is passed over."""
    grows: bool = False
    """More lines may be appended: a split record at the end is left until it is whole."""
    fallback: str | None = None
    """The format of a repaired file before its repair, for a result that no longer shows any format."""
    edits: Sequence[Edit] = ()
    """What a repair changes in the file: the source is the result."""
    selection: "Selection | None" = None
    """The lines to parse, if an earlier reading knows that no other line gives a finding."""

    @property
    def is_log(self) -> bool:
        """Whether it was meant to be read: by its name, or because it was asked for."""
        return self.named or says_lines(self.name)

    @property
    def again(self) -> bool:
        """Whether it can be read a second time: a pipe cannot."""
        if self.edits:
            return False
        return self.data is not None or (self.path is not None and os.path.isfile(self.path))


_KINDS = (
    (modes.S_ISDIR, "a folder"), (modes.S_ISFIFO, "a named pipe"), (modes.S_ISSOCK, "a socket"),
    (modes.S_ISCHR, "a device"), (modes.S_ISBLK, "a device"),
)  # fmt: skip
_OPENED = r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+"
"""Names of streams that are open already, as a shell gives them for `<(command)`."""
_OPENING = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


def open_regular(path: str, buffering: int = -1) -> Any:
    """Open a regular file for reading. Raises `OSError` for anything else, which could wait or go on for ever."""
    _refuse_odd(os.stat(path))  # some sockets and devices cannot even be opened
    file = os.open(path, _OPENING)
    try:
        _refuse_odd(os.fstat(file))
        return open(file, "rb", buffering)
    except BaseException:
        os.close(file)
        raise


def _refuse_odd(status: os.stat_result) -> None:
    if (kind := _kind_of(status)) is not None:
        raise OSError(errno.EINVAL, f"is {kind}, not a file")


def _kind_of(status: os.stat_result) -> str | None:
    return next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), None)


def odd_kind(path: str) -> str | None:
    """What stands under a name that is no regular file: "a named pipe"; nothing for a file, or where nothing is."""
    try:
        return _kind_of(os.stat(path))
    except OSError:
        return None


def refuse_endless(stream: Any) -> None:
    """Standard input may be a file, a pipe, a terminal or the null device; another device has no end."""
    try:
        status = os.fstat(stream.fileno())
        endless = modes.S_ISCHR(status.st_mode) and not stream.isatty()
        if endless and not os.path.samestat(status, os.stat(os.devnull)):
            raise OSError(errno.EINVAL, "is a device, not a file or a pipe")
    except (AttributeError, ValueError, UnsupportedOperation):
        return  # a stream in memory


def packed_as(start: bytes) -> Packing | None:
    """How a file is compressed that starts with these bytes, four at least, if it is."""
    return next((packing for magic, packing in MAGIC.items() if start.startswith(magic)), None)


def packing_at(path: str) -> Packing | None:
    """How a file is compressed, by the bytes that reading goes by."""
    with open_regular(path, buffering=0) as file:
        return packed_as(file.read(4))


def packing_of(source: Source) -> Packing | None:
    """How it is compressed, whatever its name says. Of what can be read once nothing is known."""
    if source.data is not None:
        return packed_as(source.data[:4])
    if not source.again:
        return None
    try:
        return packing_at(source.path or "")
    except OSError:
        return None


def says_lines(name: str) -> bool:
    """Whether a file's name says that it holds one record a line."""
    suffixes = name.lower().rsplit("/", 1)[-1].split(".")[1:]
    return "jsonl" in suffixes or "ndjson" in suffixes


def wanted(name: str) -> bool:
    """True for a file name that a walk through a folder picks up."""
    lower = name.lower()
    for suffix in COMPRESSED:
        lower = lower.removesuffix(suffix)
    return lower.endswith(SUFFIXES)


def find(paths: Iterable[str], stdin_name: str = "<stdin>", walk: "Walk | None" = None) -> Iterator[Source]:
    """Turn arguments into sources, in a fixed order: arguments as given, folders sorted."""
    stdin_taken = False
    for path in paths:
        if path == STDIN:
            if stdin_taken:
                raise SourceError(path, "standard input can be read once")
            stdin_taken = True
            yield Source(stdin_name, None)
        elif os.path.isdir(path):
            yield from _walk(path, walk)
        elif os.path.exists(path):
            yield Source(path, path)
        elif any(mark in path for mark in "*?["):
            from glob import glob

            for match in sorted(glob(path, recursive=True)):
                if os.path.isfile(match):
                    yield Source(match, match, named=False)
        else:
            raise SourceError(path or "''", _missing(path))


def _missing(path: str) -> str:
    """Why a path leads to nothing."""
    if not path:
        return "an empty name; name a file or a folder"
    return "a link to a file that does not exist" if os.path.islink(path) else "no such file or folder"


def _walk(folder: str, walk: "Walk | None") -> Iterator[Source]:
    from turnlint.documents.folders import Walk

    try:
        for path in (walk or Walk(wanted)).over(folder):
            yield Source(path, path, named=False)
    except OSError as error:
        raise SourceError(folder, (error.strerror or "cannot be read").lower()) from None


def size_of(source: Source) -> int:
    try:
        return os.path.getsize(source.path) if source.path else 0
    except OSError:
        return 0


def open_source(source: Source) -> IO[bytes]:
    """Open for reading, decompressed. Raises `SourceError` with a reason a user can act on."""
    try:
        plain: Any = _open_plain(source)
        if source.part is not None:
            plain.seek(source.part.start)
            return cast("IO[bytes]", _Bounded(plain, source.part.end - source.part.start))
        kind = packed_as(plain.peek(4))
    except OSError as error:
        raise SourceError(source.name, (error.strerror or "cannot be read").lower()) from None
    stream: Any = plain
    if kind is not None:
        frames = _gzip_frames() if kind == "gzip" else _zstd_frames(source, plain)
        stream = Unpacked(plain, frames)
    return cast("IO[bytes]", _Edited(stream, source.edits) if source.edits else stream)


class _Bounded:
    """A part of a plain file as a stream."""

    def __init__(self, plain: Any, size: int) -> None:
        self.plain = plain
        self.left = size

    def read(self, size: int, /) -> bytes:
        piece: bytes = self.plain.read(min(size, self.left))
        self.left -= len(piece)
        return piece

    def tell(self) -> int:
        """The place in the file, where records have theirs."""
        place: int = self.plain.tell()
        return place

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.plain.close()


class _Edited:
    """A stream with some of its bytes replaced."""

    def __init__(self, stream: Any, edits: Sequence[Edit]) -> None:
        self.stream = stream
        self.pieces = self._pieces(edits)
        self.piece = b""
        self.position = 0

    def _pieces(self, edits: Sequence[Edit]) -> Iterator[bytes]:
        at = 0
        for start, end, new in edits:
            while at < start and (piece := self.stream.read(min(PIECE, start - at))):
                at += len(piece)
                yield piece
            while at < end and (piece := self.stream.read(min(PIECE, end - at))):
                at += len(piece)
            yield new
        while piece := self.stream.read(PIECE):
            yield piece

    def read(self, size: int, /) -> bytes:
        while len(self.piece) < size and (piece := next(self.pieces, None)) is not None:
            self.piece += piece
        data, self.piece = self.piece[:size], self.piece[size:]
        self.position += len(data)
        return data

    def tell(self) -> int:
        return self.position

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stream.__exit__(*error)


class _Frame:
    """One member of a compressed file, unpacked a bounded piece at a time: one made to swell cannot fill the memory."""

    def __init__(self, decompressor: Any) -> None:
        self.decompressor = decompressor

    @property
    def eof(self) -> bool:
        return bool(self.decompressor.eof)

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """What some packed bytes hold, and what of them is still to be fed."""
        piece = self.decompressor.decompress(data, PIECE)
        return piece, self.decompressor.unused_data if self.eof else self.decompressor.unconsumed_tail


class _ZstdFrame(_Frame):
    """One whose decompressor gives all that it was fed at once, so that it is fed a few blocks at a time."""

    def __init__(self, decompressor: Any, blocks: "Blocks") -> None:
        super().__init__(decompressor)
        self.blocks = blocks

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        room = self.blocks.room(data)
        piece = self.decompressor.decompress(data[:room])
        return piece, (self.decompressor.unused_data if self.eof else b"") + data[room:]


def raise_trim_threshold() -> None:
    """Let glibc keep up to 8 MiB of free memory, so that read buffers are reused instead of unmapped.

    glibc keeps twice the longest mapped block that was freed. This halves the page faults of a run (2026-11).
    """
    bytes(1 << 22)


class Unpacked:
    """A compressed file as a stream. Gives all that can be had before it says that there is damage."""

    def __init__(self, packed: Any, frames: Callable[[], _Frame]) -> None:
        raise_trim_threshold()
        self.packed = packed
        self.frames = frames
        self.frame: _Frame | None = None
        self.left = b""
        self.piece = b""
        self.at = 0
        self.position = 0
        self.damage: str | None = None

    def read(self, size: int, /) -> bytes:
        got: list[bytes] = []
        need = size
        while need:
            if self.at == len(self.piece):
                self.piece, self.at = self.next() or b"", 0
                if not self.piece:
                    break
            part = self.piece[self.at : self.at + need]
            self.at += len(part)
            need -= len(part)
            got.append(part)
        self.position += size - need
        if need == size and self.damage:
            raise DecompressionError(self.damage)
        return b"".join(got)

    def tell(self) -> int:
        return self.position

    def next(self) -> bytes | None:
        """The next piece that is not empty, of any size up to 1 MiB; or nothing at the end."""
        while self.damage is None:
            data = self.left or self.packed.read(_FEED)
            self.left = b""
            if self.frame is None or self.frame.eof:
                data = data.lstrip(b"\0") if self.frame else data  # tapes and some tools pad with zeros
                if data:
                    self.frame = self.frames()
                elif self.packed.peek(1):
                    continue
            if not data:
                if self.frame is not None and not self.frame.eof:
                    self.damage = "the compressed data are truncated"
                return None
            assert self.frame is not None
            try:
                piece, self.left = self.frame.feed(data)
            except Exception:  # noqa: BLE001 - each library has its own; all mean the same here
                self.damage = "the compressed data are damaged"
                return None
            if piece:
                return piece
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.packed.close()


def _gzip_frames() -> Callable[[], _Frame]:
    try:
        from isal import isal_zlib as zlib  # three times as quick, where the extra `fast` is installed
    except ImportError:
        import zlib  # type: ignore[no-redef]

    return lambda: _Frame(zlib.decompressobj(wbits=31))


def _zstd_frames(source: Source, plain: Any) -> Callable[[], _Frame]:
    from turnlint.documents.blocks import Blocks

    try:
        if sys.version_info >= (3, 14):
            from compression import zstd

            return lambda: _ZstdFrame(zstd.ZstdDecompressor(), Blocks())
        import zstandard
    except ImportError:
        plain.close()
        raise SourceError(source.name, "reading .zst needs an extra: pip install 'turnlint[zstd]'") from None
    decompressor = zstandard.ZstdDecompressor()
    return lambda: _ZstdFrame(decompressor.decompressobj(), Blocks())


def _open_plain(source: Source) -> Any:
    if source.data is not None:
        return BufferedReader(cast("Any", BytesIO(source.data)), PIECE)
    if source.path is None:
        if sys.stdin is None:
            raise OSError(9, "standard input is closed")
        raw: Any = sys.stdin.buffer
        refuse_endless(raw)
        return BufferedReader(getattr(raw, "raw", raw), PIECE)
    return open_named(source.path, PIECE)


def open_named(path: str, buffering: int = -1) -> Any:
    """Open a source by its name: a regular file, or a pipe that a shell has open."""
    if (
        path.startswith(("/dev/", "/proc/"))
        and re.fullmatch(_OPENED, path)
        and modes.S_ISFIFO(os.stat(path).st_mode)
    ):
        return open(path, "rb", buffering)
    return open_regular(path, buffering)


class Guarded:
    """A stream whose damage ends it instead of raising through every layer."""

    def __init__(self, stream: Any, name: str, progress: Progress | None) -> None:
        self.stream = stream
        self.name = name
        self.progress = progress
        self.count = 0
        self.damage: str | None = None
        self.failure: SourceError | None = None
        """What stopped it for good; what came before is judged all the same."""
        self.start = b""
        """Bytes that were read ahead."""

    def peek(self, size: int) -> bytes:
        """The first bytes, which the next read gives again."""
        while len(self.start) < size and (piece := self._read(size - len(self.start))):
            self.start += piece
        return self.start

    def read(self, size: int, /) -> bytes:
        start, self.start = self.start[:size], self.start[size:]
        return start + self._read(size - len(start)) if len(start) < size else start

    def _read(self, size: int) -> bytes:
        try:
            piece: bytes = self.stream.read(size)
        except DecompressionError as damage:
            self.damage = str(damage)
            return b""
        except OSError as error:
            self.failure = SourceError(self.name, (error.strerror or "cannot be read").lower())
            return b""
        self.count += len(piece)
        if self.progress:
            self.progress(len(piece))
        return piece
