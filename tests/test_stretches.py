"""A long record says for a format what it says as several short ones."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnlint import carriers
from turnlint.carriers import _stretches
from turnlint.documents.census import is_plain
from turnlint.documents.source import Source
from turnlint.model import Record
from turnlint.reading import read

FORMATS = Path(__file__).parent.parent / "fixtures" / "formats"


def records() -> Iterator[tuple[str, bytes, int]]:
    """Records of the fixtures that are mostly a list, said four times, and how long it is once."""
    for path in sorted(FORMATS.rglob("*.jsonl")):
        for line in path.read_bytes().splitlines()[:3]:
            if line.startswith(b"{") and is_plain(line):
                said = json.loads(line)
                key = max(said, key=lambda one: len(json.dumps(said[one])))
                if isinstance(said[key], list) and said[key]:
                    size = sum(len(json.dumps(one)) for one in said[key])
                    yield (
                        f"{path.parent.name}/{path.name}",
                        json.dumps({**said, key: said[key] * 4}).encode(),
                        size,
                    )


RECORDS = list(records())


@pytest.mark.parametrize(("name", "line", "size"), RECORDS, ids=[name for name, *_ in RECORDS])
def test_the_same_format_is_best(name: str, line: bytes, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said four times says for each format the same when it is cut in four."""
    record = Record(1, 0, line)
    whole = carriers.best_for([record])
    monkeypatch.setattr(carriers, "LONG", 0)
    monkeypatch.setattr(_stretches, "_STRETCH", size)
    assert len([*_stretches.stretches(line)]) > 1
    assert carriers.best_for([record]) == whole, name


@given(
    st.recursive(
        st.none() | st.text(max_size=9),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    )
)
def test_nothing_is_lost(value: object) -> None:
    """What stands around the longest list is there once, and each of its elements is, in order."""
    data = json.dumps(value).encode()
    found = [json.loads(one) for one in _stretches.stretches(data)]
    assert found == [value] or value == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_stretches, "_STRETCH", 1)
        found = [json.loads(one) for one in _stretches.stretches(data)]
    assert _joined(found) == value


def _joined(found: list[Any]) -> Any:
    first, *others = found or [[]]
    if isinstance(first, list):
        return [*first, *(one for some in others for one in some)]
    if not others:
        return first
    *beside, key = others[0]
    assert all(one[name] == first[name] for one in others for name in beside)
    return {**first, key: _joined([one[key] for one in found])}


def test_a_long_log_of_short_messages_is_known(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    said = [{"role": role, "content": "a"} for role in ("user", "assistant")] * 30_000
    path.write_text(json.dumps({"model": "gpt-4.1", "messages": said}))
    assert path.stat().st_size > carriers.LONG
    (found,) = read(Source(path.name, str(path)))
    assert found.wire.name == "openai-chat"  # type: ignore[union-attr]
