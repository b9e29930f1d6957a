"""Copy a source that can be read only once to the disk."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import structs

from turnlint.documents.source import PIECE, Source, open_named, refuse_endless
from turnlint.errors import SourceError

MAX_PIPE_BYTES = 1 << 33
"""A longer pipe is refused, since its copy could fill the disk."""


@contextmanager
def at_rest(source: Source) -> Iterator[Source]:
    """Yield a source that can be read again: a copy of a pipe in a temporary file, or a regular file itself."""
    if source.again:
        yield source
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="turnlint-") as folder:
        path = os.path.join(folder, "stdin")
        try:
            with _open_once(source) as stream, open(path, "wb") as file:
                _copy(stream, file, source.name)
        except OSError as error:
            raise SourceError(source.name, (error.strerror or "cannot be read").lower()) from None
        yield structs.replace(source, path=path)


@contextmanager
def _open_once(source: Source) -> Iterator[Any]:
    """Open the source without decompressing it."""
    if source.path is not None:
        with open_named(source.path) as file:
            yield file
    elif sys.stdin is None:
        raise OSError(9, "standard input is closed")
    else:
        refuse_endless(sys.stdin.buffer)
        yield sys.stdin.buffer


def _copy(stream: Any, file: Any, name: str) -> None:
    from shutil import disk_usage

    limit = min(MAX_PIPE_BYTES, disk_usage(os.path.dirname(file.name)).free // 2)
    size = 0
    while piece := stream.read(PIECE):
        size += len(piece)
        if size > limit:
            advice = "write it to a file, and name that file"
            raise SourceError(name, f"is a pipe of more than {limit:,} bytes; {advice}")
        file.write(piece)
