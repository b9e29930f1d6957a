"""Stream a source with some of its bytes replaced.

Memory holds one piece and one patch at a time.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from msgspec import Struct

from turnlint.documents.source import Source, open_source
from turnlint.errors import DecompressionError, SourceError, WriteError

PIECE = 1 << 20


class Patch(Struct, frozen=True):
    """A range of the decompressed source and the bytes that replace it; `start == end` inserts."""

    start: int
    end: int
    data: bytes


def patched(source: Source, patches: Sequence[Patch]) -> Iterator[bytes]:
    """Yield the bytes of the source with the patches applied. Patches are sorted and do not overlap."""
    _in_order(patches)
    with _reading(source) as stream:
        at = 0
        for patch in patches:
            yield from _exactly(stream, patch.start - at, source)
            for _ in _exactly(stream, patch.end - patch.start, source):
                pass
            at = patch.end
            if patch.data:
                yield patch.data
        while piece := stream.read(PIECE):
            yield piece


def taken(source: Source, patches: Sequence[Patch]) -> Iterator[bytes]:
    """Yield the bytes that each patch removes, in the order of the patches."""
    _in_order(patches)
    with _reading(source) as stream:
        at = 0
        for patch in patches:
            for _ in _exactly(stream, patch.start - at, source):
                pass
            at = patch.end
            yield b"".join(_exactly(stream, patch.end - patch.start, source))


def _in_order(patches: Sequence[Patch]) -> None:
    at = 0
    for patch in patches:
        if not at <= patch.start <= patch.end:
            raise ValueError("patches overlap or are out of order")
        at = patch.end


@contextmanager
def _reading(source: Source) -> Iterator[IO[bytes]]:
    try:
        with open_source(source) as stream:
            yield stream
    except SourceError as error:
        raise WriteError(f"{error.name}: {error.reason}") from None
    except DecompressionError as damage:
        raise WriteError(f"{source.name} is unchanged: {damage}") from None


def _exactly(stream: IO[bytes], size: int, source: Source) -> Iterator[bytes]:
    while size:
        try:
            piece = stream.read(min(size, PIECE))
        except OSError as error:
            raise WriteError(f"{source.name}: {(error.strerror or 'cannot be read').lower()}") from None
        if not piece:
            raise changed(source.name)
        size -= len(piece)
        yield piece


def changed(name: str) -> WriteError:
    return WriteError(f"{name} changed while it was read; nothing was written", "run again")
