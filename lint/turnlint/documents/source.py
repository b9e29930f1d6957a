"""Find and open sources: files, folders, patterns and standard input, compressed or not.

The only content that this module inspects is the magic number of a compressed file.
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
"""A longer record is no request: no provider accepts 128 MiB (32 MB at Anthropic, 50 MB at OpenAI; 2026-11)."""
PIECE = 1 << 20
"""The number of bytes that are read or decompressed at once."""
_FEED = 1 << 17
Packing = Literal["gzip", "zstd"]
Edit = tuple[int, int, bytes]
"""The start and the end of a range of a file, and the bytes that replace it."""
MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""The magic numbers of compressed files."""


class Part(Struct, frozen=True):
    """A range of whole lines of a plain file."""

    start: int
    end: int
    size: int
    """The number of bytes of the file."""
    format: str
    """The format of the file, detected from its beginning."""
    returned: bool = False
    """Whether its lines are already known to end with carriage returns."""
    line: int = 1
    """The number of its first line if known; else lines count from 1."""


class Source(Struct, frozen=True):
    """A source to lint, with its display name."""

    name: str
    path: str | None
    """`None` is standard input."""
    named: bool = True
    """Whether the user named this source, so that no folder walk found it."""
    data: bytes | None = None
    """The content of a source in memory."""
    part: Part | None = None
    """The part to read; none for the whole source."""
    limit: int = MAX_RECORD_BYTES
    """The maximum number of bytes of a record. Longer records are skipped."""
    grows: bool = False
    """Whether more lines may be appended. A split record at the end is then not parsed until it is complete."""
    fallback: str | None = None
    """The format of a repaired file before its repair, for a result that no longer shows any format."""
    edits: Sequence[Edit] = ()
    """The edits of a repair. The source is the edited file."""
    selection: "Selection | None" = None
    """The lines to parse, if an earlier reading found that no other line has a finding."""

    @property
    def is_log(self) -> bool:
        """Whether the source is to be linted, by its suffix or because the user named it."""
        return self.named or says_lines(self.name)

    @property
    def again(self) -> bool:
        """Whether the source can be read a second time. A pipe cannot."""
        if self.edits:
            return False
        return self.data is not None or (self.path is not None and os.path.isfile(self.path))


_KINDS = (
    (modes.S_ISDIR, "a folder"), (modes.S_ISFIFO, "a named pipe"), (modes.S_ISSOCK, "a socket"),
    (modes.S_ISCHR, "a device"), (modes.S_ISBLK, "a device"),
)  # fmt: skip
_OPENED = r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+"
"""Names of streams that are already open, as a shell passes them for `<(command)`."""
_OPENING = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


def open_regular(path: str, buffering: int = -1) -> Any:
    """Open a regular file for reading. Raises `OSError` for any other kind, which could block or never end."""
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
    """Return the kind of a name that is no regular file, such as "a named pipe"; none for a file or a missing name."""
    try:
        return _kind_of(os.stat(path))
    except OSError:
        return None


def refuse_endless(stream: Any) -> None:
    """Raise `OSError` for an endless device. A file, a pipe, a terminal or the null device is accepted."""
    try:
        status = os.fstat(stream.fileno())
        endless = modes.S_ISCHR(status.st_mode) and not stream.isatty()
        if endless and not os.path.samestat(status, os.stat(os.devnull)):
            raise OSError(errno.EINVAL, "is a device, not a file or a pipe")
    except (AttributeError, ValueError, UnsupportedOperation):
        return  # a stream in memory


def packed_as(start: bytes) -> Packing | None:
    """Return the compression of a file from its first bytes (at least four), or none."""
    return next((packing for magic, packing in MAGIC.items() if start.startswith(magic)), None)


def packing_at(path: str) -> Packing | None:
    """Return the compression of a file, from its first bytes."""
    with open_regular(path, buffering=0) as file:
        return packed_as(file.read(4))


def packing_of(source: Source) -> Packing | None:
    """Return the compression of a source, whatever its name. None for a source that can be read only once."""
    if source.data is not None:
        return packed_as(source.data[:4])
    if not source.again:
        return None
    try:
        return packing_at(source.path or "")
    except OSError:
        return None


def says_lines(name: str) -> bool:
    """Whether a file's name shows that it holds one record per line."""
    suffixes = name.lower().rsplit("/", 1)[-1].split(".")[1:]
    return "jsonl" in suffixes or "ndjson" in suffixes


def wanted(name: str) -> bool:
    """Whether a walk through a folder includes a file of this name."""
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
    """Return why a path does not exist."""
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


def has_bytes(source: Source, words: Sequence[bytes]) -> bool:
    """Whether a source may have one of some words. A source that can be read only once may."""
    if not source.again:
        return True
    try:
        longest = max(map(len, words))
        with open_source(source) as stream:
            before = b""
            while piece := stream.read(PIECE):
                both = before + piece
                if any(word in both for word in words):
                    return True
                before = piece[-longest:]
    except (SourceError, DecompressionError, OSError):
        return False  # the parser reports the error
    return False


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
        """Return the offset in the file, which record offsets use."""
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
    """One member of a compressed file, decompressed in bounded pieces, so that a zip bomb cannot exhaust the memory."""

    def __init__(self, decompressor: Any) -> None:
        self.decompressor = decompressor

    @property
    def eof(self) -> bool:
        return bool(self.decompressor.eof)

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Decompress bytes. Return the output, and the input that remains to be fed."""
        piece = self.decompressor.decompress(data, PIECE)
        return piece, self.decompressor.unused_data if self.eof else self.decompressor.unconsumed_tail


class _ZstdFrame(_Frame):
    """A frame whose decompressor gives all output at once, so that it is fed a few blocks at a time."""

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
    """A compressed file as a stream. It yields all intact data before it reports damage."""

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
        """Return the next piece that is not empty, up to 1 MiB; none at the end."""
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
    """A stream that ends at damage instead of raising an exception through every layer."""

    def __init__(self, stream: Any, name: str, progress: Progress | None) -> None:
        self.stream = stream
        self.name = name
        self.progress = progress
        self.count = 0
        self.damage: str | None = None
        self.failure: SourceError | None = None
        """The error that ended the stream. The records before it are still linted."""
        self.start = b""
        """Bytes that `peek` has read ahead."""

    def peek(self, size: int) -> bytes:
        """Return the first bytes. The next read returns them again."""
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
