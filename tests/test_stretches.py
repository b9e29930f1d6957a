"""The score of a long record for a format is that of several short ones."""

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
    """Records of the fixtures that are mostly a list, with the list repeated four times, and the length of one list."""
    for path in sorted(FORMATS.rglob("*.jsonl")):
        for line in path.read_bytes().splitlines()[:3]:
            if line.startswith(b"{") and is_plain(line):
                record = json.loads(line)
                key = max(record, key=lambda item: len(json.dumps(record[item])))
                if isinstance(record[key], list) and record[key]:
                    size = sum(len(json.dumps(item)) for item in record[key])
                    yield (
                        f"{path.parent.name}/{path.name}",
                        json.dumps({**record, key: record[key] * 4}).encode(),
                        size,
                    )


RECORDS = list(records())


@pytest.mark.parametrize(("name", "line", "size"), RECORDS, ids=[name for name, *_ in RECORDS])
def test_the_same_format_is_best(name: str, line: bytes, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list repeated four times has the same score for each format when it is cut in four."""
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
    """Text around the longest list occurs once, and each of its elements occurs, in order."""
    data = json.dumps(value).encode()
    found = [json.loads(stretch) for stretch in _stretches.stretches(data)]
    assert found == [value] or value == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_stretches, "_STRETCH", 1)
        found = [json.loads(stretch) for stretch in _stretches.stretches(data)]
    assert _joined(found) == value


def _joined(found: list[Any]) -> Any:
    first, *others = found or [[]]
    if isinstance(first, list):
        return [*first, *(item for some in others for item in some)]
    if not others:
        return first
    *beside, key = others[0]
    assert all(other[name] == first[name] for other in others for name in beside)
    return {**first, key: _joined([item[key] for item in found])}


def test_a_long_log_of_short_messages_is_recognized(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    messages = [{"role": role, "content": "a"} for role in ("user", "assistant")] * 30_000
    path.write_text(json.dumps({"model": "gpt-4.1", "messages": messages}))
    assert path.stat().st_size > carriers.LONG
    (found,) = read(Source(path.name, str(path)))
    assert found.wire.name == "openai-chat"  # type: ignore[union-attr]
