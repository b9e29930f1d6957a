"""Linting a sound log stays as cheap as it is: counted in instructions, which are the same every time."""

from pathlib import Path

import pytest

import corpora
import measuring

pytest.importorskip("orjson")
MOST = {"openai-chat": 4.4, "anthropic": 4.8}
"""Over those of `orjson.loads`; measured 3.99 and 4.37 with CPython 3.11 and msgspec 0.22 on other logs than these."""


@pytest.mark.skipif(not measuring.has_valgrind(), reason="valgrind is not here")
@pytest.mark.parametrize("kind", MOST)
def test_instructions_per_byte(kind: str, tmp_path: Path) -> None:
    short = corpora.requests(tmp_path / "short.jsonl", kind, 500_000)
    long = corpora.requests(tmp_path / "long.jsonl", kind, 2_000_000)
    mine = measuring.per_byte(lambda path: measuring.lint(path, kind, "-j", "1"), short, long)
    assert mine / measuring.per_byte(measuring.read, short, long) < MOST[kind]
