"""Unpacking gives pieces of bounded size, for any packing and any size of input."""

import gzip
import os
from functools import cache
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import examples
from turnlint.documents.blocks import MOST, Blocks
from turnlint.documents.source import PIECE, Source, Unpacked, open_source

BLOCK = 1 << 17
SWOLLEN = 64 << 20
PACKS = {
    "gzip": lambda data: gzip.compress(data, 9),
    "zstandard": lambda data: zstandard.compress(data, 3),
    "a zstandard with a checksum": zstandard.ZstdCompressor(level=19, write_checksum=True).compress,
    "a zstandard without its size": zstandard.ZstdCompressor(write_content_size=False).compress,
    "two frames": lambda data: zstandard.compress(data[: len(data) // 3]) + zstandard.compress(data[len(data) // 3 :]),
    "a zstandard with a small window": zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters(window_log=10)
    ).compress,
}  # fmt: skip


def mixed(size: int) -> bytes:
    """Partly compressible, partly incompressible bytes."""
    return b"".join(
        os.urandom(9000) + b"x" * 200_000 + b"abcdefg" * 9000 for _ in range(size // 272_000 + 1)
    )[:size]


@cache
def example(name: str) -> tuple[bytes, bytes]:
    data = mixed(2_000_000)
    return data, PACKS[name](data)


def pieces(path: Path) -> list[bytes]:
    with open_source(Source(str(path), str(path))) as stream:
        assert isinstance(stream, Unpacked)
        return list(iter(stream.next, None))


@pytest.mark.parametrize("name", PACKS)
def test_highly_compressed_data_are_unpacked_in_pieces(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log.packed"
    path.write_bytes(PACKS[name](b"0" * SWOLLEN))
    assert path.stat().st_size < SWOLLEN // 200
    found = pieces(path)
    assert sum(map(len, found)) == SWOLLEN
    assert max(map(len, found)) <= PIECE


@pytest.mark.parametrize("name", PACKS)
def test_all_bytes_are_unpacked(name: str, tmp_path: Path) -> None:
    data = mixed(5_000_000)
    path = tmp_path / "log.packed"
    path.write_bytes(PACKS[name](data))
    with open_source(Source(str(path), str(path))) as stream:
        found = list(iter(lambda: stream.read(300_000), b""))
    assert b"".join(found) == data
    assert max(map(len, found)) <= 300_000


@settings(max_examples=examples(40), deadline=None)
@given(
    st.sampled_from(sorted(set(PACKS) - {"gzip", "two frames"})),
    st.lists(st.integers(1, 40_000) | st.just(1 << 17), min_size=1),
)
def test_a_few_blocks_are_fed_at_a_time(name: str, sizes: list[int]) -> None:
    data, packed = example(name)
    found: list[bytes]
    blocks, unpacker, found, at, turn = Blocks(), zstandard.ZstdDecompressor().decompressobj(), [], 0, 0
    while at < len(packed):
        size = sizes[turn % len(sizes)]
        room = blocks.room(packed[at : at + size])
        assert 0 < room <= size
        found.append(unpacker.decompress(packed[at : at + room]))
        at, turn = at + room, turn + 1
    assert b"".join(found) == data
    assert max(map(len, found)) <= MOST * BLOCK == PIECE


def test_formats_without_blocks_are_fed_in_small_pieces() -> None:
    blocks, data = Blocks(), b"PK" + bytes(100_000)
    assert all(blocks.room(data) < 1000 for _ in range(5))
