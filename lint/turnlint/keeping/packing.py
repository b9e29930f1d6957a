"""Write gzip and zstd."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from turnlint.documents.source import Packing
from turnlint.errors import WriteError

_SUFFIXES: dict[str, Packing] = {".gz": "gzip", ".zst": "zstd"}


def packing_by_name(path: str) -> Packing | None:
    """Return the compression for a file of this name."""
    return next((packing for suffix, packing in _SUFFIXES.items() if path.lower().endswith(suffix)), None)


def packed(pieces: Iterable[bytes], packing: Packing | None) -> Iterator[bytes]:
    """Compress pieces of bytes. The output depends on the bytes alone: it has no name and no time."""
    if packing is None:
        yield from pieces
        return
    packer = _gzip() if packing == "gzip" else _zstd()
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def _gzip() -> Any:
    import zlib

    return zlib.compressobj(wbits=31)


def _zstd() -> Any:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd

            return zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})
        import zstandard
    except ImportError:
        raise WriteError("writing .zst needs an extra package", "pip install 'turnlint[zstd]'") from None
    return zstandard.ZstdCompressor(write_checksum=True).compressobj()
